"""Which documents are versions of one, and which are in force: the rules of a screening, over a whole corpus.

Documents that can be versions of one another meet by what their metadata and titles name (`assay.guard.keys_of`), by
wording that they share, and where one says that it replaces another. Each such group is judged by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from assay.corpus.duplicates import OF_ONE_TEXT
from assay.corpus.state import State
from assay.guard import replaced_by, says_that_it_replaces, versions_of
from assay.retrieve import Passage

FORM: Final = 1
"""The version of the rules: another one judges all groups again."""
MOST_OF_ONE: Final = 400
"""Documents of a group that are checked against each other; a larger one is judged in parts of so many."""
READ: Final = 20_000
"""Characters from the beginning of a document by which versions are recognised."""
CLOSING: Final = 200
"""Characters of its end: a date of validity may be there."""
MOST_REPLACED: Final = 20
"""Documents that are looked at for one that says that it replaces another."""
_BATCH: Final = 200


def settle(state: State, as_of: date, progress: Callable[[int], None]) -> int:
    """Say of each document of which document it is a version, and how it stands to a day.

    Args:
        state: the corpus.
        as_of: the day.
        progress: called with how many more documents were settled.

    Returns:
        How many groups had to be judged in parts.
    """
    groups = _groups(state)
    grouped = {one for members in groups for one in members}
    in_parts = 0
    done = 0
    for members in groups:
        in_parts += len(members) > MOST_OF_ONE
        for at in range(0, len(members), MOST_OF_ONE):
            part = members[at : at + MOST_OF_ONE]
            _settle(state, part, as_of)
            done += len(part)
        if done >= _BATCH:
            state.db.commit()
            progress(done)
            done = 0
    for (document,) in state.db.execute("SELECT id FROM documents WHERE text IS NOT NULL ORDER BY id").fetchall():
        if document not in grouped:
            _settle(state, [document], as_of)
            done += 1
            if done >= _BATCH:
                state.db.commit()
                progress(done)
                done = 0
    state.db.commit()
    progress(done)
    return in_parts


def _groups(state: State) -> list[list[int]]:
    """The documents that may be versions of one another; those that stand alone are left out."""
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
    yield from state.db.execute("SELECT first, second FROM alike WHERE share >= ?", (OF_ONE_TEXT,))
    for (document,) in state.db.execute("SELECT id FROM documents WHERE replaces = 1 ORDER BY id").fetchall():
        for other in _named_in(state, document):
            yield document, other


def _named_in(state: State, document: int) -> Iterator[int]:
    """The documents that one says it replaces, among those whose titles are nearest to what it says."""
    item = state.passage(document).item
    said = replaced_by(item) or ""
    words = "".join(sign if sign.isalnum() else " " for sign in said).split()[:60]
    match = " OR ".join(f'"{word}"' for word in dict.fromkeys(word.lower() for word in words))
    if not match:
        return
    near = state.db.execute(
        "SELECT rowid FROM titles WHERE titles MATCH ? ORDER BY bm25(titles), rowid LIMIT ?", (match, MOST_REPLACED)
    ).fetchall()
    for (other,) in near:
        if other != document and says_that_it_replaces(item, state.passage(other).item):
            yield other


def _settle(state: State, members: Sequence[int], as_of: date) -> None:
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

    One that nothing names but its file, under a name that no other has, is known by its wording alone.
    """
    by_key: dict[str, int] = defaultdict(int)
    keys = {
        one: [row[0] for row in state.db.execute("SELECT key FROM keys WHERE document = ?", (one,))]
        for one in documents
    }
    for names in keys.values():
        for name in names:
            by_key[name] += 1
    made = []
    for one in documents:
        passage = state.passage(one)
        text = passage.item.text
        changes: dict[str, object] = {}
        if len(text) > READ + CLOSING:
            changes["text"] = f"{text[:READ]}\n\n{text[-CLOSING:]}"
        titled = json.loads(state.db.execute("SELECT told FROM documents WHERE id = ?", (one,)).fetchone()[0])["titled"]
        alone = all(by_key[name] == 1 for name in keys[one])
        if len(documents) > 1 and not titled and alone and passage.document is None:
            changes |= {"title": None, "source": None}
        made.append(replace(passage, item=passage.item.model_copy(update=changes)) if changes else passage)
    return made
