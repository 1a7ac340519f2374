"""Two runs over the same rows: how every figure changed, with paired intervals, and which rows flipped.

The interval of a change is that of the difference on the same resamples of documents (a paired bootstrap), which says
what two overlapping intervals do not: whether the change is more than chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.figures.metrics import RESAMPLES, Figure, columns, differences, figures
from assay.evaluation.figures.summary import scored_guard
from assay.evaluation.rows.kept import KeptRow
from assay.evaluation.rows.results import Result

LESS_IS_BETTER: Final = frozenset({"fpr", "fnr", "ece"})
"""Figures of which less is better."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A row that one run judged right and the other wrong."""

    set: str
    id: str
    label: str
    text: str
    question: str | None
    before: str
    """The verdict of the first run."""
    after: str
    """That of the second."""
    score_before: float | None
    score_after: float | None
    place: tuple[str, int] | None = None
    digest: str = ""
    """`Row.digest` of the row."""

    @property
    def change(self) -> float:
        """How far the score moved."""
        return abs((self.score_after or 0.0) - (self.score_before or 0.0))


@dataclass(frozen=True, slots=True)
class Change:
    """One figure in both runs."""

    first: Figure
    second: Figure
    difference: Figure
    """The second less the first."""
    better: bool | None
    """Whether the change is for the better beyond chance (its interval does not hold 0); none where it is not
    stated."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that a comparison found."""

    first: str
    second: str
    rows: int
    """Labelled rows in both runs."""
    wrong: int
    only_first: int
    """Labelled rows that only the first run has."""
    only_second: int
    changes: Mapping[str, Change]
    regressions: tuple[Flip, ...]
    """Rows that were right and are wrong now, the largest move first."""
    fixes: tuple[Flip, ...]
    """Rows that were wrong and are right now."""

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return asdict(self)


def compare(
    names: tuple[str, str],
    rows: Sequence[KeptRow],
    first: Mapping[str, Result],
    second: Mapping[str, Result],
    threshold: float | None = None,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Holds two runs against each other.

    Args:
        names: of the runs, for people.
        rows: the rows of either run; those without a label are passed over.
        first: results by the digest of their row.
        second: the same of the other run.
        threshold: flag below this score; the verdict decides without one.
        resamples: bootstrap resamples.

    Raises:
        InputError: the runs share no labelled row.
    """
    by_digest = {row.digest: row for row in rows if row.label is not None}
    shared = [row for digest, row in by_digest.items() if digest in first and digest in second]
    if not shared:
        raise InputError(
            "the two runs share no labelled row, so that there is nothing to compare; both should be runs of "
            "`assay eval` over the same files"
        )
    sides = [[results[row.digest] for row in shared] for results in (first, second)]
    scored = [scored_guard("assay", side, threshold) for side in sides]
    data = [columns(shared, one, side) for one, side in zip(scored, sides, strict=True)]
    measured = [figures(name, one, resamples).figures for name, one in zip(names, data, strict=True)]
    moved = differences(data[1], data[0], resamples)
    flips = []
    for index, row in enumerate(shared):
        right = [one.flagged[index] == row.wrong for one in scored]
        if right[0] != right[1]:
            flips.append((right[0], _flip(row, sides[0][index], sides[1][index])))
    return Comparison(
        first=names[0],
        second=names[1],
        rows=len(shared),
        wrong=sum(row.wrong for row in shared),
        only_first=sum(digest in first and digest not in second for digest in by_digest),
        only_second=sum(digest in second and digest not in first for digest in by_digest),
        changes={
            name: Change(measured[0][name], measured[1][name], one, _better(name, one))
            for name, one in moved.items()
            if one.value is not None
        },
        regressions=_sorted(flip for was_right, flip in flips if was_right),
        fixes=_sorted(flip for was_right, flip in flips if not was_right),
    )


def _sorted(flips: Any) -> tuple[Flip, ...]:
    return tuple(sorted(flips, key=lambda one: (-one.change, one.set, one.id)))


def _flip(row: KeptRow, before: Result, after: Result) -> Flip:
    return Flip(
        row.set,
        row.id,
        row.label or "",
        row.text,
        row.question,
        before.verdict,
        after.verdict,
        before.score,
        after.score,
        row.place,
        row.digest,
    )


def _better(name: str, difference: Figure) -> bool | None:
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return None
    return (difference.low > 0) != (name in LESS_IS_BETTER)
