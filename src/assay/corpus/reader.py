"""Prepares one file of a corpus for comparison: its text, its metadata, its sentences, its MinHash signature.

`python -m assay.corpus.reader` does so for the files that it receives on standard input, one JSON text in each line,
and answers each with one line. It is a separate process because a file may be crafted to exhaust its reader: time and
memory for one file are limited, and exceeding them ends only this process (`assay.corpus.reader_pool`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from assay.corpus.formats import read_file
from assay.errors import AssayError, InputError
from assay.schema import Evidence

MAX_STATEMENTS: Final = 400
"""Sentences of a document that are compared with those of others at most: the first ones."""
MAX_PARAGRAPH: Final = 4_000
"""Characters of a paragraph that is processed as a whole."""
MIN_WRAPPED_LINE: Final = 40
"""Characters of a line from which its end may be a line wrap."""
MEMORY: Final = 3 << 30
"""Bytes of address space that the process may use."""
_NEW_LINE: Final = re.compile(r"[ \t]*(?:[-*+•◦▪|>#]|\d{1,3}[.)]|[a-zA-Z][.)]\s|\||=|~|`)")


def prepare(path: Path, name: str) -> dict[str, Any]:
    """Prepare a file; returns a JSON value as it is stored.

    Args:
        path: the path of the file.
        name: its path within the corpus.

    Raises:
        InputError: the file cannot be read; the message says why.
    """
    from assay.guard import keys_of, passage_of_file, replaced_by
    from assay.retrieve import folded_words, minhash_bands, read_passages, word_shingles
    from assay.text import find_orders

    read = read_file(path)
    try:
        (passage,) = read_passages([passage_of_file(read, name, name)])
    except InputError as error:
        raise InputError(f"its text or metadata cannot be used: {str(error)[:200]}") from error
    words = folded_words(read.text)
    shingles = word_shingles(words)
    orders = find_orders(f"{passage.item.title or ''}\n{read.text}")
    return {
        "text": read.text,
        "titled": bool((read.title or "").strip()),
        "item": _item_fields(passage.item),
        "document": passage.document,
        "written": None if passage.written is None else passage.written.isoformat(),
        "language": passage.language,
        "unread": list(passage.unread),
        "words": len(words),
        "bands": [band.hex() for band in minhash_bands(shingles)] if shingles else [],
        "wording": hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest(),
        "keys": list(keys_of(passage)),
        "replaces": replaced_by(passage.item) is not None,
        "orders": orders[0].text[:300] if orders else None,
        "statements": list(_statements(name, read.text)),
    }


def _item_fields(item: Evidence) -> dict[str, Any]:
    return item.model_dump(mode="json", include={"title", "version", "effective_date", "expiry_date"})


def _statements(name: str, text: str) -> Iterator[list[Any]]:
    """The sentences that can be compared: the range of the paragraph, the range of the sentence, and its facts."""
    from assay.guard import statements_of

    count = 0
    for start, end in paragraph_spans(text):
        paragraph = unwrap_lines(text[start:end])
        for one in statements_of(0, Evidence(id=name, text=paragraph), frozenset()):
            if count >= MAX_STATEMENTS:
                return
            count += 1
            yield [
                start,
                end,
                one.start,
                len(one.text),
                dict(one.stems),
                sorted(map(list, one.values)),
                one.negated,
                sorted(one.names),
                sorted(one.modals),
            ]


def paragraph_spans(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the paragraphs of a text, without headings and empty ones.

    >>> text = "# Leave\\n\\nTwo weeks.\\n\\nMore."
    >>> [text[start:end] for start, end in paragraph_spans(text)]
    ['Two weeks.', 'More.']
    """
    for found in re.finditer(r"[^\n]+(?:\n(?![ \t]*(?:\n|\Z))[^\n]*)*", text):
        start, end = found.span()
        while start < end and text[start] == "#":
            line = text.find("\n", start, end)
            start = end if line < 0 else line + 1
        while start < end:
            stop = min(end, start + MAX_PARAGRAPH)
            if stop < end:
                cut = max(text.rfind("\n", start, stop), text.rfind(". ", start, stop) + 1)
                stop = cut if cut > start else stop
            if text[start:stop].strip():
                yield start, stop
            start = stop


def unwrap_lines(paragraph: str) -> str:
    r"""Replace line wraps in a paragraph by spaces; its length stays the same, so that offsets stay valid.

    >>> unwrap_lines("The form has to be sent to the office\nwithin 14 days.\n- Vienna")
    'The form has to be sent to the office\nwithin 14 days.\n- Vienna'
    >>> unwrap_lines("The form has to be sent to the head office in Vienna\nwithin 14 days.\n- Vienna")
    'The form has to be sent to the head office in Vienna within 14 days.\n- Vienna'
    """
    lines = paragraph.split("\n")
    made = lines[0]
    for before, line in pairwise(lines):
        goes_on = len(before) >= MIN_WRAPPED_LINE and not before.lstrip().startswith("|") and not _NEW_LINE.match(line)
        made += (" " if goes_on else "\n") + line
    return made


# The process


def serve() -> None:
    """Answer requests on standard input until it is closed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # output printed by a parser must not reach the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    _bound_memory()
    _load()
    answers.write('{"ready": true}\n')
    answers.flush()
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(request)) + "\n")
        answers.flush()


def _load() -> None:
    """Import what every file needs, so that it does not count towards the time of the first file."""
    import assay.guard
    import assay.retrieve
    import assay.text

    names = (
        assay.guard.passage_of_file,
        assay.guard.statements_of,
        assay.retrieve.word_shingles,
        assay.text.find_orders,
    )
    del names  # packages load their modules lazily, on access


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    alarm = getattr(signal, "setitimer", None)
    if alarm is not None:  # the default action of the alarm signal ends the process at once
        alarm(signal.ITIMER_REAL, request["seconds"])
    try:
        return {"read": prepare(Path(os.fsdecode(bytes.fromhex(request["path"]))), request["name"])}
    except AssayError as error:
        return {"unreadable": str(error)}
    except MemoryError:
        return {"unreadable": "reading it takes more memory than a file may have"}
    except Exception as error:  # noqa: BLE001 any error of a parser: this file is unreadable, the check goes on
        return {"unreadable": f"it cannot be read: {type(error).__name__}: {str(error)[:120]}"}
    finally:
        if alarm is not None:
            alarm(signal.ITIMER_REAL, 0)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Unix: only the time is limited
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    least = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    except (ValueError, OSError):
        return


if __name__ == "__main__":
    serve()
