"""The use of a corpus according to the record: which documents were retrieved, and which questions had no answer.

A recorded passage belongs to a document if its source, id or title is the document's file, id or title, otherwise if
the document contains its sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from assay.corpus.state import STATEMENTS_PER_DOCUMENT, State, folded_text, text_hash

if TYPE_CHECKING:
    from assay.store.insights import RetrievedPassage

MAX_SENTENCES: Final = 12
"""Sentences of a passage that are used to find its document."""
MAX_DOCUMENTS: Final = 20
"""Documents that may contain one sentence; a sentence in more of them is ignored."""
_BATCH: Final = 500


def match_passages(
    state: State, passages: Iterable[RetrievedPassage], progress: Callable[[int], None]
) -> tuple[int, int]:
    """Count how often passages of each document were retrieved.

    Returns:
        The number of passages, and how many of them belong to a document of the corpus.
    """
    state.db.execute("DELETE FROM used")
    names = _names(state)
    seen = matched = 0
    for one in passages:
        seen += 1
        documents = _named(one, names) or _documents_containing(state, str(one.body.get("text") or ""))
        matched += bool(documents)
        iso_time = one.last.isoformat()
        for document in documents:
            state.db.execute(
                "INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (document) DO UPDATE SET "
                "times = times + excluded.times, last = max(last, excluded.last)",
                (document, one.runs, iso_time),
            )
        if seen % _BATCH == 0:
            progress(_BATCH)
    progress(seen % _BATCH)
    state.db.commit()
    return seen, matched


def _names(state: State) -> dict[int, int]:
    """The documents by the hashes of their names; a name of two documents identifies neither."""
    found: dict[int, int] = {}
    for row in state.rows("SELECT id, path, json_extract(told, '$.document') AS own FROM documents WHERE text NOTNULL"):
        path = PurePosixPath(row["path"])
        for name in {str(path), path.name, path.stem, str(path.with_suffix("")), row["own"] or ""} - {""}:
            number = text_hash(name.casefold())
            found[number] = 0 if found.get(number, row["id"]) != row["id"] else row["id"]
    return found


def _named(one: RetrievedPassage, names: dict[int, int]) -> list[int]:
    """The document that the source, the id or the metadata of a passage name."""
    metadata: Any = one.body.get("metadata")
    labels = [one.body.get("source"), one.evidence_id]
    if isinstance(metadata, dict):
        labels += [metadata.get(name) for name in ("source", "file_path", "file_name", "path", "document_id", "doc_id")]
    for value in labels:
        if not isinstance(value, str) or not value:
            continue
        parts = value.replace("\\", "/").split("#")[0].casefold().split("/")
        for at in range(len(parts)):  # the longest path first
            document = names.get(text_hash("/".join(parts[at:])))
            if document:
                return [document]
    return []


def _documents_containing(state: State, text: str) -> list[int]:
    """The document that contains most sentences of a passage."""
    from assay.text.sentences import split_sentences

    counts: Counter[int] = Counter()
    spans = split_sentences(text[:20_000])[:MAX_SENTENCES]
    for span in spans:
        rows = state.db.execute(
            "SELECT id FROM statements WHERE sentence = ? LIMIT ?",
            (text_hash(folded_text(text[span.start : span.end])), MAX_DOCUMENTS + 1),
        ).fetchall()
        documents = {row[0] // STATEMENTS_PER_DOCUMENT for row in rows}
        if len(documents) <= MAX_DOCUMENTS:
            counts.update(documents)
    most = max(counts.values(), default=0)
    return sorted(document for document, count in counts.items() if count == most) if 2 * most >= len(spans) else []


def iso_time(value: datetime) -> str:
    """A time in ISO 8601."""
    return value.isoformat(timespec="seconds")
