"""Calibration of the verifier's scores against what people say: is a score of 0.8 right eight times out of ten?

People judge claims (a reviewer's labels, a user's feedback on one claim) and whole outputs (approved, edited or
rejected by a reviewer, a user's feedback on the output). Each judgement is compared with the verifier's score: the
probability of support of a claim, the gating score of an output. People do not look at all outputs equally often.
Within one bin of scores this biases the result only if they choose outputs by something other than the score, which
the page says.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.server.panels.values import Cell, Drawing, Panel
from assay.stats.intervals import Z_95, wilson
from assay.store.sketches import BINS, UNIT, Sketch, TimeRange, read_measured

METRICS: Final = ("claim.right", "claim.wrong", "output.right", "output.wrong")
"""The sketches of scores that people judged right or wrong."""
GROUP: Final = 2
"""Bins of a sketch per row of the panel, so that a row covers a tenth of the scores."""
DRIFT: Final = 0.05
"""The largest difference between the mean score and the share that is right that counts as calibrated."""
LEAST_JUDGED: Final = 50
"""Judgements below which no drift is reported."""
Z_REPEATED: Final = 3.290526731491926
"""The two-sided 99.9% quantile of the normal distribution, since the test is repeated over overlapping windows."""
_DAYS: Final = 28
"""Days over which drift is measured."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The judgements on scores from `low` to `high`, a tenth of the range."""

    low: float
    high: float
    judged: int
    right: int
    mean_score: float

    @property
    def share(self) -> float:
        """The share of the judgements that were "right"."""
        return self.right / self.judged


def bins_of(right: Sketch, wrong: Sketch) -> list[Bin]:
    """The bins with at least one judgement, from the lowest scores to the highest.

    Args:
        right: the scores that people judged right.
        wrong: the scores that people judged wrong.
    """
    bins = []
    for first in range(0, BINS, GROUP):
        cells = [
            (sketch, cell)
            for sketch in (right, wrong)
            for at in range(first, first + GROUP)
            if (cell := sketch.cells.get(at)) is not None
        ]
        judged = sum(cell.count for _, cell in cells)
        if judged > 0:
            count = sum(cell.count for sketch, cell in cells if sketch is right)
            mean_score = sum(cell.total for _, cell in cells) / UNIT / judged
            bins.append(Bin(first / BINS, (first + GROUP) / BINS, judged, min(max(count, 0), judged), mean_score))
    return bins


def calibration_error(bins: list[Bin]) -> float | None:
    """The expected calibration error (Guo et al. 2017): the gap between mean score and share that is right, weighted
    by the judgements of each bin; `None` where nothing was judged."""
    judged = sum(bin_.judged for bin_ in bins)
    return None if not judged else sum(bin_.judged * abs(bin_.mean_score - bin_.share) for bin_ in bins) / judged


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the verifier's scores of claims are from what people say."""

    judged: int
    mean_score: float
    right: float
    """The share of claims that people judged right."""
    low: float
    high: float
    """The 99.9% interval of `right` (Wilson)."""
    error: float
    """The expected calibration error."""

    @property
    def drifted(self) -> bool:
        """Whether the scores are off by more than `DRIFT`, and by more than chance explains."""
        off = abs(self.mean_score - self.right) > DRIFT
        return self.judged >= LEAST_JUDGED and off and not self.low <= self.mean_score <= self.high


def read_drift(connection: Connection, tenant: str, now: datetime) -> Drift | None:
    """The drift of the scores of claims over the last four weeks; `None` where nobody judged a claim."""
    measured = read_measured(connection, tenant, METRICS[:2], TimeRange.until(now, _DAYS, 24))
    bins = bins_of(measured.whole("claim.right"), measured.whole("claim.wrong"))
    judged = sum(bin_.judged for bin_ in bins)
    if not judged:
        return None
    right = sum(bin_.right for bin_ in bins)
    low, high = wilson(right, judged, Z_REPEATED)
    mean_score = sum(bin_.mean_score * bin_.judged for bin_ in bins) / judged
    return Drift(judged, mean_score, right / judged, low, high, calibration_error(bins) or 0.0)


def calibration(connection: Connection, tenant: str, stretch: TimeRange) -> Panel:
    """The panel of calibration: one row per bin, for claims and for outputs."""
    measured = read_measured(connection, tenant, METRICS, stretch)
    rows: list[tuple[Cell, ...]] = []
    ranges, expected, errors = [], [], []
    for kind in ("claim", "output"):
        bins = bins_of(measured.whole(f"{kind}.right"), measured.whole(f"{kind}.wrong"))
        for bin_ in bins:
            low, high = wilson(bin_.right, bin_.judged, Z_95)
            rows.append((kind, bin_.low, bin_.high, bin_.judged, bin_.mean_score, bin_.share, low, high))
            if kind == "claim":
                ranges.append((f"{bin_.low:.1f}–{bin_.high:.1f}", bin_.share, low, high))
                expected.append(bin_.mean_score)
        error = calibration_error(bins)
        if error is not None:
            judged = sum(bin_.judged for bin_ in bins)
            errors.append(f"expected calibration error of {kind}s {error:.3f} over {judged:,} judged")
    note = "; ".join(errors) or "Nobody has judged an output or a claim in this period"
    return Panel(
        "calibration",
        "Calibration of the verifier",
        "Of what people judged: the share that was right, by the "
        "verifier's score. A mark shows what the scores promise. Intervals are of 95%.",
        ("of", "from", "to", "judged", "mean score", "right", "low", "high"),
        tuple(rows),
        Drawing("ranges", ranges=ranges, expected=expected),
        f"{note}.",
    )
