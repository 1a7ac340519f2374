"""Compares two runs over the same rows: the change of every figure with a paired interval, and the rows that flipped.

The interval of a change is that of the difference on the same resamples of documents (a paired bootstrap). Unlike two
overlapping intervals it shows whether the change is more than chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.figures.metrics import RESAMPLES, Figure, columns, differences, figures
from assay.evaluation.figures.summary import guard_scores
from assay.evaluation.rows.kept_rows import KeptRow
from assay.evaluation.rows.results import Result

LESS_IS_BETTER: Final = frozenset({"fpr", "fnr", "ece"})
"""Figures for which less is better."""


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
    """The verdict of the second run."""
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
    """Whether the change is for the better beyond chance, that is, its interval does not contain 0; none where it is
    within chance."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison."""

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
    """Compares two runs.

    Args:
        names: the names of the runs, for people.
        rows: the rows of either run; those without a label are ignored.
        first: the results of the first run by the digest of their row.
        second: those of the second run.
        threshold: flag below this score; without one the verdict decides.
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
    sides_results = [[results[row.digest] for row in shared] for results in (first, second)]
    sides_scored = [guard_scores("assay", side, threshold) for side in sides_results]
    data = [columns(shared, scores, side) for scores, side in zip(sides_scored, sides_results, strict=True)]
    measured = [figures(name, one, resamples).figures for name, one in zip(names, data, strict=True)]
    changes = differences(data[1], data[0], resamples)
    flips = []
    for index, row in enumerate(shared):
        right = [scores.flagged[index] == row.wrong for scores in sides_scored]
        if right[0] != right[1]:
            flips.append((right[0], _flip(row, sides_results[0][index], sides_results[1][index])))
    return Comparison(
        first=names[0],
        second=names[1],
        rows=len(shared),
        wrong=sum(row.wrong for row in shared),
        only_first=sum(digest in first and digest not in second for digest in by_digest),
        only_second=sum(digest in second and digest not in first for digest in by_digest),
        changes={
            name: Change(measured[0][name], measured[1][name], figure, _better(name, figure))
            for name, figure in changes.items()
            if figure.value is not None
        },
        regressions=_sorted(flip for was_right, flip in flips if was_right),
        fixes=_sorted(flip for was_right, flip in flips if not was_right),
    )


def _sorted(flips: Any) -> tuple[Flip, ...]:
    return tuple(sorted(flips, key=lambda flip: (-flip.change, flip.set, flip.id)))


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
