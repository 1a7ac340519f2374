"""One file of a corpus made ready to be compared: its text, what is known of it, its sentences, its signature.

`python -m assay.corpus.reader` does so for the files that it is told on standard input, a JSON text a line, and answers
a line each. It is a process of its own because a file may be made to exhaust whoever reads it: time and memory of one
file are bounded, and what exceeds them costs this process and no more (`assay.corpus.reader_pool`).
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

MOST_STATEMENTS: Final = 400
"""Sentences of a document that are compared with those of others, the first ones."""
LONGEST_PIECE: Final = 4_000
"""Characters of a paragraph that is looked at whole."""
SHORTEST_LINE: Final = 40
"""Characters of a line from which on its end may be that of the page and not that of what it says."""
MEMORY: Final = 3 << 30
"""Bytes of address space that the process may have."""
_NEW_LINE: Final = re.compile(r"[ \t]*(?:[-*+•◦▪|>#]|\d{1,3}[.)]|[a-zA-Z][.)]\s|\||=|~|`)")


def prepare(path: Path, name: str) -> dict[str, Any]:
    """A file as it is kept, as a JSON value.

    Args:
        path: where it is.
        name: how it is called: its path within the corpus.

    Raises:
        InputError: it cannot be read; the message says why.
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
    runs = word_shingles(words)
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
        "bands": [band.hex() for band in minhash_bands(runs)] if runs else [],
        "wording": hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest(),
        "keys": list(keys_of(passage)),
        "replaces": replaced_by(passage.item) is not None,
        "orders": orders[0].text[:300] if orders else None,
        "statements": list(_statements(name, read.text)),
    }


def _item_fields(item: Evidence) -> dict[str, Any]:
    return item.model_dump(mode="json", include={"title", "version", "effective_date", "expiry_date"})


def _statements(name: str, text: str) -> Iterator[list[Any]]:
    """The sentences that can be compared: where their paragraph begins and ends, where they do, and what they have."""
    from assay.guard import statements_of

    count = 0
    for start, end in pieces_of(text):
        piece = unwrapped(text[start:end])
        for one in statements_of(0, Evidence(id=name, text=piece), frozenset()):
            if count >= MOST_STATEMENTS:
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


def pieces_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the paragraphs of a text begin and end; headings and empty ones are left out.

    >>> text = "# Leave\\n\\nTwo weeks.\\n\\nMore."
    >>> [text[start:end] for start, end in pieces_of(text)]
    ['Two weeks.', 'More.']
    """
    for found in re.finditer(r"[^\n]+(?:\n(?![ \t]*(?:\n|\Z))[^\n]*)*", text):
        start, end = found.span()
        while start < end and text[start] == "#":
            line = text.find("\n", start, end)
            start = end if line < 0 else line + 1
        while start < end:
            stop = min(end, start + LONGEST_PIECE)
            if stop < end:
                cut = max(text.rfind("\n", start, stop), text.rfind(". ", start, stop) + 1)
                stop = cut if cut > start else stop
            if text[start:stop].strip():
                yield start, stop
            start = stop


def unwrapped(piece: str) -> str:
    r"""A paragraph whose lines that only the page ended go on; as long as before, so that places stay.

    >>> unwrapped("The form has to be sent to the office\nwithin 14 days.\n- Vienna")
    'The form has to be sent to the office\nwithin 14 days.\n- Vienna'
    >>> unwrapped("The form has to be sent to the head office in Vienna\nwithin 14 days.\n- Vienna")
    'The form has to be sent to the head office in Vienna within 14 days.\n- Vienna'
    """
    lines = piece.split("\n")
    made = lines[0]
    for before, line in pairwise(lines):
        goes_on = len(before) >= SHORTEST_LINE and not before.lstrip().startswith("|") and not _NEW_LINE.match(line)
        made += (" " if goes_on else "\n") + line
    return made


# The process


def serve() -> None:
    """Answers requests on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # what a parser prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one ends it
    _bound_memory()
    _load()
    answers.write('{"ready": true}\n')
    answers.flush()
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(request)) + "\n")
        answers.flush()


def _load() -> None:
    """Load what every file needs: its time is not that of the first file."""
    import assay.guard
    import assay.retrieve
    import assay.text

    names = (
        assay.guard.passage_of_file,
        assay.guard.statements_of,
        assay.retrieve.word_shingles,
        assay.text.find_orders,
    )
    del names  # doors load what is behind them when it is asked for


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    alarm = getattr(signal, "setitimer", None)
    if alarm is not None:  # the default action of the alarm ends the process, whatever it is at
        alarm(signal.ITIMER_REAL, request["seconds"])
    try:
        return {"read": prepare(Path(os.fsdecode(bytes.fromhex(request["path"]))), request["name"])}
    except AssayError as error:
        return {"unreadable": str(error)}
    except MemoryError:
        return {"unreadable": "reading it takes more memory than a file may have"}
    except Exception as error:  # noqa: BLE001 a seam: what one file makes of a parser must not end the whole check
        return {"unreadable": f"it cannot be read: {type(error).__name__}: {str(error)[:120]}"}
    finally:
        if alarm is not None:
            alarm(signal.ITIMER_REAL, 0)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # another system: time is bounded all the same
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    least = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    except (ValueError, OSError):
        return


if __name__ == "__main__":
    serve()
