"""Finds documents with the same wording: identical, nearly identical, or one contained in another.

MinHash signatures (`assay.retrieve.near_duplicates`) are compared in the database: each document is measured against
the first one with which it shares a band, so that the work grows with the number of documents, not of pairs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from assay.corpus.state import State
from assay.guard import have_same_values, says_the_same
from assay.retrieve import folded_words, jaccard_and_containment, word_shingles

MIN_VERSION_JACCARD: Final = 0.5
"""The Jaccard index from which two documents may be versions of one text."""
MIN_CONTAINMENT: Final = 0.97
"""The share of the shorter document's wording from which it counts as contained in the longer one."""
MIN_NEAR_COPY_JACCARD: Final = 0.85
"""The Jaccard index from which two documents are near copies, and neither counts as contained in the other."""
EITHER_STAYS: Final = 2
"""The mark of two near copies with the same numbers and names; of other duplicates, marked 1, the longer one stays."""
_BATCH: Final = 200

Progress = Callable[[int], None]


def measure(state: State, progress: Progress) -> None:
    """Measure the similarity of the documents that have not been measured.

    Args:
        state: the corpus.
        progress: called with the number of documents measured since the last call.
    """

    @lru_cache(maxsize=128)
    def shingles(document: int) -> frozenset[int]:
        return word_shingles(folded_words(state.text(document)))

    while True:
        pending = state.db.execute(
            "SELECT id FROM documents WHERE measured = 0 AND text IS NOT NULL ORDER BY id LIMIT ?", (_BATCH,)
        ).fetchall()
        if not pending:
            return
        for (document,) in pending:
            for partner in _partners(state, document):
                jaccard, containment = jaccard_and_containment(shingles(partner), shingles(document))
                if jaccard < MIN_VERSION_JACCARD and containment < MIN_CONTAINMENT:
                    continue
                longer, shorter = sorted((state.text(partner), state.text(document)), key=lambda one: -len(one))
                same = says_the_same(longer, shorter, jaccard, containment)
                either = same and jaccard >= MIN_NEAR_COPY_JACCARD and have_same_values(longer, shorter)
                state.db.execute(
                    "INSERT OR REPLACE INTO alike VALUES (?, ?, ?, ?, ?)",
                    (
                        min(partner, document),
                        max(partner, document),
                        jaccard,
                        containment,
                        EITHER_STAYS if either else int(same),
                    ),
                )
            state.db.execute("UPDATE documents SET measured = 1 WHERE id = ?", (document,))
        state.db.commit()
        progress(len(pending))


def _partners(state: State, document: int) -> list[int]:
    """The first other document of each band."""
    found = set()
    for band, signed in state.db.execute("SELECT band, signed FROM bands WHERE document = ?", (document,)).fetchall():
        row = state.db.execute(
            "SELECT document FROM bands WHERE band = ? AND signed = ? AND document <> ? LIMIT 1",
            (band, signed, document),
        ).fetchone()
        if row is not None:
            found.add(int(row[0]))
    return sorted(found)


def mark_repeats(state: State) -> None:
    """Mark each document that only repeats another one of the same standing as its duplicate.

    Of near copies with the same numbers and names, the one with the most metadata is kept, then the longest; of others
    the longest.
    """
    near: dict[int, int] = {}
    rows = state.db.execute(
        "SELECT first, second, same FROM alike JOIN documents a ON a.id = first JOIN documents b ON b.id = second "
        "WHERE same > 0 AND a.standing = b.standing ORDER BY share DESC, first, second"
    ).fetchall()
    ranks = {one: _rank(state, one) for row in rows for one in row[:2]}
    for first, second, same in rows:
        one, other = _root(near, first), _root(near, second)
        if same == EITHER_STAYS and one != other:
            stays, goes = sorted((one, other), key=lambda place: ranks[place])
            near[goes] = stays
    roots = dict(near)
    for first, second, same in rows:
        longer, shorter = sorted((first, second), key=lambda place: ranks[place][1:])
        goes = _root(near, shorter)
        # What two longer documents contain is a copy of one of them, which makes none of them a copy of the other.
        if same != EITHER_STAYS and goes not in roots and _root(roots, longer) != goes:
            roots[goes] = longer
    state.db.execute("UPDATE documents SET repeats = NULL WHERE repeats IS NOT NULL")
    state.db.executemany(
        "UPDATE documents SET repeats = ? WHERE id = ?", [(_root(roots, one), one) for one in sorted(roots)]
    )
    state.db.commit()


def _root(roots: dict[int, int], place: int) -> int:
    while place in roots:
        place = roots[place]
    return place


def _rank(state: State, document: int) -> tuple[Any, ...]:
    path, characters, details = state.db.execute(
        "SELECT path, characters, told FROM documents WHERE id = ?", (document,)
    ).fetchone()
    read = json.loads(details)
    known = sum(read["item"][name] is not None for name in ("version", "effective_date", "expiry_date"))
    return -(known + (read["document"] is not None) + bool(read["titled"])), -characters, path
