"""Claims of scenarios that a network gets wrong, for a stage to read them once more.

A claim is misread where the network gives what its label allows less than half of the probability. What is read again
is not that row but its whole group, with evidence assembled anew: a margin is asked between the right and the wrong
claims of one scenario, and a network that is shown its mistakes without their right neighbours learns to doubt.
``train.stage --mistakes WEIGHTS`` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.models.interface import PairScorer
from train.mining import right_probability, score_pairs
from train.rows import Row, detokenise

Claim = tuple[str, str]
"""The batch of a claim and its text."""


def name_of(row: Row) -> Claim:
    """The claim of a row of scenarios; what was made of a claim is a claim of its own.

    >>> name_of(Row("scenario:v:twin", ("The fee is 40 euros.",), "It is 40.", "supported"))
    ('v', 'It is 40.')
    """
    return row.source.split(":")[1], row.claim


def misread(scorer: PairScorer, rows: Sequence[Row]) -> frozenset[Claim]:
    """The claims that the scorer judges wrongly.

    Args:
        scorer: the network.
        rows: of scenarios, evidence assembled as in use; one too long to be read at once is never misread.
    """
    scores = score_pairs(scorer, [(detokenise(" ".join(row.evidence)), detokenise(row.claim)) for row in rows])
    return frozenset(name_of(row) for row, one in zip(rows, scores, strict=True) if right_probability(row, one) < 0.5)


def read_again(rows: Iterable[Row], wrong: frozenset[Claim]) -> list[Row]:
    """The rows of groups that hold a misread claim, and misread rows without a group, in their order.

    Args:
        rows: of scenarios, read anew.
        wrong: what was misread.
    """
    every = list(rows)
    groups = {row.group for row in every if row.group is not None and name_of(row) in wrong}
    return [row for row in every if (row.group in groups if row.group is not None else name_of(row) in wrong)]
