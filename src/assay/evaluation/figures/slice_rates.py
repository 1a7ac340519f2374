"""Of each slice the shares of rows judged rightly, of wrong rows missed and of right rows flagged, with intervals of
Wilson, which hold for few rows and at 0 and 1 too, where a bootstrap has nothing to resample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.evaluation.figures.gate_rates import Share, share
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.evaluation.rows.slices import in_order, slices_of


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
    """Whether a row counts as flagged, as in the figures: one without a score does."""
    if threshold is None:
        return not result.supported
    return result.score is None or result.score < threshold


def slice_rates(
    rows: Sequence[Row], results: Sequence[Result], threshold: float | None = None, keys: Sequence[str] = ()
) -> Mapping[str, tuple[SliceRates, ...]]:
    """By way of slicing the rates of its slices; ways that tell no rows apart are left out.

    Args:
        rows: the rows; those without a label are passed over.
        results: one for each row.
        threshold: flag below this score; the verdict decides without one.
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
        way: tuple(_rates(name, found) for name, found in sorted(slices.items(), key=lambda item: in_order(item[0])))
        for way, slices in members.items()
        if len(slices) > 1
    }


def _rates(name: str, outcomes: Sequence[tuple[bool, bool, bool]]) -> SliceRates:
    wrong = [flagged for is_wrong, flagged, _ in outcomes if is_wrong]
    right = [flagged for is_wrong, flagged, _ in outcomes if not is_wrong]
    return SliceRates(
        name,
        share(sum(is_wrong == flagged and not broken for is_wrong, flagged, broken in outcomes), len(outcomes)),
        share(len(wrong) - sum(wrong), len(wrong)),
        share(sum(right), len(right)),
    )
