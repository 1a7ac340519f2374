"""What the record says of how a corpus is used: which documents are retrieved, and what was asked in vain.

A recorded passage is of a document where its source, id or title names the document's file, id or title, and else where
its sentences are in one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from assay.corpus.state import OF_DOCUMENT, State, fold, number_of

if TYPE_CHECKING:
    from assay.store.insights import RetrievedPassage

MOST_SENTENCES: Final = 12
"""Sentences of a passage by which its document is looked for."""
MOST_OF_ONE: Final = 20
"""Documents that may hold one sentence; one that more have tells nothing."""
_BATCH: Final = 500


def match(state: State, passages: Iterable[RetrievedPassage], progress: Callable[[int], None]) -> tuple[int, int]:
    """Count for each document how often a passage of it was retrieved.

    Returns:
        How many passages there are, and how many of them are of a document of the corpus.
    """
    state.db.execute("DELETE FROM used")
    names = _names(state)
    seen = matched = 0
    for one in passages:
        seen += 1
        documents = _named(one, names) or _saying(state, str(one.body.get("text") or ""))
        matched += bool(documents)
        moment = one.last.isoformat()
        for document in documents:
            state.db.execute(
                "INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (document) DO UPDATE SET "
                "times = times + excluded.times, last = max(last, excluded.last)",
                (document, one.runs, moment),
            )
        if seen % _BATCH == 0:
            progress(_BATCH)
    progress(seen % _BATCH)
    state.db.commit()
    return seen, matched


def _names(state: State) -> dict[int, int]:
    """The documents by the numbers of what may name them; what names two names none."""
    found: dict[int, int] = {}
    for row in state.rows("SELECT id, path, json_extract(told, '$.document') AS own FROM documents WHERE text NOTNULL"):
        path = PurePosixPath(row["path"])
        for name in {str(path), path.name, path.stem, str(path.with_suffix("")), row["own"] or ""} - {""}:
            number = number_of(name.casefold())
            found[number] = 0 if found.get(number, row["id"]) != row["id"] else row["id"]
    return found


def _named(one: RetrievedPassage, names: dict[int, int]) -> list[int]:
    """The document that a passage's source, id or metadata name."""
    metadata: Any = one.body.get("metadata")
    labels = [one.body.get("source"), one.evidence_id]
    if isinstance(metadata, dict):
        labels += [metadata.get(name) for name in ("source", "file_path", "file_name", "path", "document_id", "doc_id")]
    for value in labels:
        if not isinstance(value, str) or not value:
            continue
        parts = value.replace("\\", "/").split("#")[0].casefold().split("/")
        for at in range(len(parts)):  # the longest path first
            document = names.get(number_of("/".join(parts[at:])))
            if document:
                return [document]
    return []


def _saying(state: State, text: str) -> list[int]:
    """The document in which most of a passage's sentences stand."""
    from assay.text.sentences import split_sentences

    counts: Counter[int] = Counter()
    spans = split_sentences(text[:20_000])[:MOST_SENTENCES]
    for span in spans:
        rows = state.db.execute(
            "SELECT id FROM statements WHERE sentence = ? LIMIT ?",
            (number_of(fold(text[span.start : span.end])), MOST_OF_ONE + 1),
        ).fetchall()
        documents = {row[0] // OF_DOCUMENT for row in rows}
        if len(documents) <= MOST_OF_ONE:
            counts.update(documents)
    most = max(counts.values(), default=0)
    return sorted(document for document, count in counts.items() if count == most) if 2 * most >= len(spans) else []


def moment(value: datetime) -> str:
    """A moment in ISO 8601."""
    return value.isoformat(timespec="seconds")
