"""All rows that are made here rather than labelled by people: which makers there are and how much each gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from train.edits import EDITABLE, make_rows
from train.edits.derived import derived_rows
from train.edits.governed import governed_rows
from train.edits.lexical import lexical_rows
from train.edits.relations import relation_rows
from train.edits.wordnet import Lexicon
from train.rows import Row

MAKERS = {"edits": 56_000, "governed": 5_500, "lexical": 4_500, "relations": 5_500, "derived": 5_500}
"""Rows by maker: single edits of true claims; what is only supposed or holds under a condition; one word exchanged;
moved properties, converses and two negations; derived numbers and statements over records."""


def make(maker: str, rows: Sequence[Row], count: int, seed: int, wordnet: Path | None = None) -> list[Row]:
    """About `count` rows of one of `MAKERS` from the documents of `rows`; the same seed gives the same rows.

    Args:
        maker: which one.
        rows: labelled rows; give those of the training side of the split.
        count: rows wanted.
        seed: of all choices.
        wordnet: the folder of a WordNet dictionary, which `lexical` needs.

    Raises:
        ValueError: rows of exchanged words are wanted without a dictionary.
    """
    if maker == "edits":
        return make_rows([row for row in rows if row.source in EDITABLE], count, seed)
    if maker == "lexical":
        if wordnet is None:
            raise ValueError(
                "rows of exchanged words need a WordNet dictionary: name its folder with --wordnet (Debian's package "
                "wordnet-base has one in /usr/share/wordnet), or ask for none with --lexical 0"
            )
        return lexical_rows(rows, count, seed, Lexicon.read(wordnet))
    makers: dict[str, Callable[[Sequence[Row], int, int], list[Row]]] = {
        "governed": governed_rows,
        "relations": relation_rows,
        "derived": derived_rows,
    }
    return makers[maker](rows, count, seed)
