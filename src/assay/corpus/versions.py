"""Finds versions of one document and which are in force, with the rules of screening, over a whole corpus.

Possible versions are found by the names in their metadata and titles (`assay.guard.keys_of`), by wording that they
share, and by statements that one replaces another. Each such group is judged separately.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from assay.corpus.duplicates import MIN_VERSION_JACCARD
from assay.corpus.state import State
from assay.guard import replaced_by, says_that_it_replaces, versions_of
from assay.retrieve import Passage

FORM: Final = 1
"""The version of the rules: with another one all groups are judged again."""
MAX_GROUP: Final = 400
"""Documents of a group that are judged together; a larger group is judged in parts of this size."""
HEAD_LENGTH: Final = 20_000
"""Characters at the beginning of a document that are used to recognise versions."""
TAIL_LENGTH: Final = 200
"""Characters at its end, where a date of validity may be."""
MAX_REPLACED: Final = 20
"""Candidates that are considered for a statement that a document replaces another."""
_BATCH: Final = 200


def settle_versions(state: State, as_of: date, progress: Callable[[int], None]) -> int:
    """Determine of which document each is a version, and its standing on a day.

    Args:
        state: the corpus.
        as_of: the day.
        progress: called with the number of documents settled since the last call.

    Returns:
        The number of groups that had to be judged in parts.
    """
    groups = _groups(state)
    grouped = {one for members in groups for one in members}
    in_parts = 0
    done = 0
    for members in groups:
        in_parts += len(members) > MAX_GROUP
        for at in range(0, len(members), MAX_GROUP):
            part = members[at : at + MAX_GROUP]
            _settle_group(state, part, as_of)
            done += len(part)
        if done >= _BATCH:
            state.db.commit()
            progress(done)
            done = 0
    for (document,) in state.db.execute("SELECT id FROM documents WHERE text IS NOT NULL ORDER BY id").fetchall():
        if document not in grouped:
            _settle_group(state, [document], as_of)
            done += 1
            if done >= _BATCH:
                state.db.commit()
                progress(done)
                done = 0
    state.db.commit()
    progress(done)
    return in_parts


def _groups(state: State) -> list[list[int]]:
    """Groups of documents that may be versions of one another; single documents are left out."""
    roots: dict[int, int] = {}

    def root(one: int) -> int:
        while roots.setdefault(one, one) != one:
            roots[one] = roots[roots[one]]
            one = roots[one]
        return one

    for first, second in _links(state):
        one, other = root(first), root(second)
        roots[max(one, other)] = min(one, other)
    members: dict[int, list[int]] = defaultdict(list)
    for one in sorted(roots):
        members[root(one)].append(one)
    return [ones for ones in members.values() if len(ones) > 1]


def _links(state: State) -> Iterator[tuple[int, int]]:
    shared = (
        "SELECT key, document FROM keys WHERE key IN (SELECT key FROM keys GROUP BY key HAVING count(*) > 1) "
        "ORDER BY key, document"
    )
    last: tuple[str, int] | None = None
    for key, document in state.db.execute(shared):
        if last is not None and last[0] == key:
            yield last[1], document
        last = key, document
    yield from state.db.execute("SELECT first, second FROM alike WHERE share >= ?", (MIN_VERSION_JACCARD,))
    for (document,) in state.db.execute("SELECT id FROM documents WHERE replaces = 1 ORDER BY id").fetchall():
        for other in _replaced_by_document(state, document):
            yield document, other


def _replaced_by_document(state: State, document: int) -> Iterator[int]:
    """The documents that one states it replaces, among those with the most similar titles."""
    item = state.passage(document).item
    reference = replaced_by(item) or ""
    words = "".join(sign if sign.isalnum() else " " for sign in reference).split()[:60]
    match = " OR ".join(f'"{word}"' for word in dict.fromkeys(word.lower() for word in words))
    if not match:
        return
    near = state.db.execute(
        "SELECT rowid FROM titles WHERE titles MATCH ? ORDER BY bm25(titles), rowid LIMIT ?", (match, MAX_REPLACED)
    ).fetchall()
    for (other,) in near:
        if other != document and says_that_it_replaces(item, state.passage(other).item):
            yield other


def _settle_group(state: State, members: Sequence[int], as_of: date) -> None:
    marks = ",".join("?" * len(members))
    rows = state.db.execute(
        f"SELECT id, path, wording, told, settled FROM documents WHERE id IN ({marks}) ORDER BY path",  # noqa: S608
        list(members),
    ).fetchall()
    content = json.dumps([FORM, as_of.isoformat(), [row[1:4] for row in rows]])
    key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    if all(row[4] == key for row in rows):
        return
    passages = _passages(state, [row[0] for row in rows])
    found = versions_of(passages, as_of)
    for (document, path, *_), passage in zip(rows, passages, strict=True):
        known = found.of[path]
        day = known.day or known.written or passage.item.effective_date
        state.db.execute(
            "UPDATE documents SET settled = ?, standing = ?, why = ?, other = ?, name = ?, known_by = ?, version = ?, "
            "day = ? WHERE id = ?",
            (
                key,
                known.standing.value,
                known.why or None,
                known.other,
                known.document,
                known.by,
                known.version,
                None if day is None else day.isoformat(),
                document,
            ),
        )


def _passages(state: State, documents: Sequence[int]) -> list[Passage]:
    """The documents as they are compared: the beginning and the end of each.

    A document that is named only by its file, with a name that no other has, is recognised only by its wording.
    """
    by_key: dict[str, int] = defaultdict(int)
    keys = {
        one: [row[0] for row in state.db.execute("SELECT key FROM keys WHERE document = ?", (one,))]
        for one in documents
    }
    for names in keys.values():
        for name in names:
            by_key[name] += 1
    passages = []
    for one in documents:
        passage = state.passage(one)
        text = passage.item.text
        changes: dict[str, object] = {}
        if len(text) > HEAD_LENGTH + TAIL_LENGTH:
            changes["text"] = f"{text[:HEAD_LENGTH]}\n\n{text[-TAIL_LENGTH:]}"
        titled = json.loads(state.db.execute("SELECT told FROM documents WHERE id = ?", (one,)).fetchone()[0])["titled"]
        unique_keys = all(by_key[name] == 1 for name in keys[one])
        if len(documents) > 1 and not titled and unique_keys and passage.document is None:
            changes |= {"title": None, "source": None}
        passages.append(replace(passage, item=passage.item.model_copy(update=changes)) if changes else passage)
    return passages
