"""All rows that are made here rather than labelled by people: which makers there are and how much each gives."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from train.edits import EDITABLE, make_rows
from train.edits.derived import derived_rows
from train.edits.governed import governed_rows
from train.edits.lexical import lexical_rows
from train.edits.relations import relation_rows
from train.edits.wordnet import Lexicon
from train.rows import Row

MAKERS = {"edits": 60_000, "lexical": 8_000, "governed": 8_000, "relations": 8_000, "derived": 8_000}
"""Rows by maker: single edits, exchanged words, what is only supposed or holds under a condition, moved properties and
converses, derived numbers and statements over records. About half of them are kept (`train.mining`)."""


def make(rows: Sequence[Row], counts: Mapping[str, int], seed: int, wordnet: Path | None = None) -> list[Row]:
    """Rows of every maker from the documents of `rows`, in an order that the seed decides.

    Args:
        rows: labelled rows; give those of the training side of the split.
        counts: rows wanted of each of `MAKERS`; 0 leaves one out.
        seed: the same seed gives the same rows.
        wordnet: the folder of a WordNet dictionary, which `lexical` needs.

    Raises:
        ValueError: rows of exchanged words are wanted without a dictionary.
    """
    if counts["lexical"] and wordnet is None:
        raise ValueError(
            "rows of exchanged words need a WordNet dictionary: name its folder with --wordnet (Debian's package "
            "wordnet-base has one in /usr/share/wordnet), or ask for none with --lexical 0"
        )
    made = make_rows([row for row in rows if row.source in EDITABLE], counts["edits"], seed)
    if wordnet is not None and counts["lexical"]:
        made += lexical_rows(rows, counts["lexical"], seed, Lexicon.read(wordnet))
    made += governed_rows(rows, counts["governed"], seed)
    made += relation_rows(rows, counts["relations"], seed)
    made += derived_rows(rows, counts["derived"], seed)
    random.Random(seed).shuffle(made)
    return made
