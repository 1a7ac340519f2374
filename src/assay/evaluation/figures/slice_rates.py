"""The shares of each slice: rows judged rightly, wrong rows missed, right rows flagged. Intervals are Wilson's, which
are valid for few rows and at 0 and 1 too, where every bootstrap resample is the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.evaluation.figures.gate_rates import Share, share
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.evaluation.rows.slices import slice_order, slices_of


@dataclass(frozen=True, slots=True)
class SliceRates:
    """The shares of one slice."""

    name: str
    right: Share
    """Rows judged as they are labelled; one that could not be judged is not among them."""
    missed: Share
    """Wrong rows that were not flagged."""
    alarms: Share
    """Right rows that were flagged."""


def is_flagged(result: Result, threshold: float | None) -> bool:
    """Whether a row counts as flagged: below the threshold, or without one by its verdict; always without a score."""
    if threshold is None:
        return not result.supported
    return result.score is None or result.score < threshold


def slice_rates(
    rows: Sequence[Row], results: Sequence[Result], threshold: float | None = None, keys: Sequence[str] = ()
) -> Mapping[str, tuple[SliceRates, ...]]:
    """The rates of the slices by way of slicing; ways with a single slice are left out.

    Args:
        rows: the rows; those without a label are ignored.
        results: one for each row.
        threshold: flag below this score; without one the verdict decides.
        keys: names in `meta` to slice by besides.
    """
    members: dict[str, dict[str, list[tuple[bool, bool, bool]]]] = {}
    for row, result in zip(rows, results, strict=True):
        if row.label is None:
            continue
        outcome = (row.wrong, is_flagged(result, threshold), result.score is None)
        for way, name in slices_of(row, keys).items():
            members.setdefault(way, {}).setdefault(name, []).append(outcome)
    return {
        way: tuple(
            _rates(name, outcomes) for name, outcomes in sorted(slices.items(), key=lambda item: slice_order(item[0]))
        )
        for way, slices in members.items()
        if len(slices) > 1
    }


def _rates(name: str, outcomes: Sequence[tuple[bool, bool, bool]]) -> SliceRates:
    wrong_flags = [flagged for is_wrong, flagged, _ in outcomes if is_wrong]
    right_flags = [flagged for is_wrong, flagged, _ in outcomes if not is_wrong]
    return SliceRates(
        name,
        share(sum(is_wrong == flagged and not unjudged for is_wrong, flagged, unjudged in outcomes), len(outcomes)),
        share(len(wrong_flags) - sum(wrong_flags), len(wrong_flags)),
        share(sum(right_flags), len(right_flags)),
    )
