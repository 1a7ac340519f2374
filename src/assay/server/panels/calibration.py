"""Whether the verifier's own scores hold: is 0.8 right eight times of ten, by what people say?

People judge claims (a reviewer's labels, a user's word on one claim) and whole outputs (approved, edited, rejected, a
user's word on the output). Each is set against the score that the verifier had given: of a claim its probability of
support, of an output its gating score. People look at some outputs more than at others; within one bin of scores that
shifts nothing unless they choose by something else than the score, which the page says.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.server.panels.values import Cell as Shown
from assay.server.panels.values import Drawing, Panel
from assay.stats.intervals import Z_95, wilson
from assay.store.sketches import BINS, UNIT, Sketch, TimeRange, read_measured

METRICS: Final = ("claim.right", "claim.wrong", "output.right", "output.wrong")
GROUP: Final = 2
"""Bins of a sketch that make one row: a tenth each."""
DRIFT: Final = 0.05
"""How far the mean score may be from the share that is right."""
LEAST_JUDGED: Final = 50
"""Judgements below which nothing is said of drift."""
Z_REPEATED: Final = 3.290526731491926
"""The point of 99.9%: it is looked at again and again over windows that overlap."""
_DAYS: Final = 28


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores of a tenth."""

    low: float
    high: float
    judged: int
    right: int
    said: float
    """The mean of the scores."""

    @property
    def share(self) -> float:
        """The share that was right."""
        return self.right / self.judged


def bins_of(right: Sketch, wrong: Sketch) -> list[Bin]:
    """The bins in which anything was judged."""
    found = []
    for first in range(0, BINS, GROUP):
        cells = [
            (sketch, cell)
            for sketch in (right, wrong)
            for at in range(first, first + GROUP)
            if (cell := sketch.cells.get(at)) is not None
        ]
        judged = sum(cell.count for _, cell in cells)
        if judged > 0:
            number = sum(cell.count for sketch, cell in cells if sketch is right)
            said = sum(cell.total for _, cell in cells) / UNIT / judged
            found.append(Bin(first / BINS, (first + GROUP) / BINS, judged, min(max(number, 0), judged), said))
    return found


def calibration_error(bins: list[Bin]) -> float | None:
    """The expected calibration error: the mean gap between score and share over what was judged; none of nothing."""
    judged = sum(one.judged for one in bins)
    return None if not judged else sum(one.judged * abs(one.said - one.share) for one in bins) / judged


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the verifier's scores are from what people say."""

    judged: int
    said: float
    right: float
    low: float
    high: float
    """The interval of `right`, of 99.9%."""
    error: float

    @property
    def drifted(self) -> bool:
        """Whether the scores are off by more than `DRIFT`, and that is no accident."""
        off = abs(self.said - self.right) > DRIFT
        return self.judged >= LEAST_JUDGED and off and not self.low <= self.said <= self.high


def read_drift(connection: Connection, tenant: str, now: datetime) -> Drift | None:
    """The drift of the scores of claims over four weeks; none where nobody judged any."""
    measured = read_measured(connection, tenant, METRICS[:2], TimeRange.until(now, _DAYS, 24))
    bins = bins_of(measured.whole("claim.right"), measured.whole("claim.wrong"))
    judged = sum(one.judged for one in bins)
    if not judged:
        return None
    right = sum(one.right for one in bins)
    low, high = wilson(right, judged, Z_REPEATED)
    said = sum(one.said * one.judged for one in bins) / judged
    return Drift(judged, said, right / judged, low, high, calibration_error(bins) or 0.0)


def calibration(connection: Connection, tenant: str, stretch: TimeRange) -> Panel:
    """The panel."""
    measured = read_measured(connection, tenant, METRICS, stretch)
    rows: list[tuple[Shown, ...]] = []
    named, expected, observed = [], [], []
    for what in ("claim", "output"):
        bins = bins_of(measured.whole(f"{what}.right"), measured.whole(f"{what}.wrong"))
        for one in bins:
            low, high = wilson(one.right, one.judged, Z_95)
            rows.append((what, one.low, one.high, one.judged, one.said, one.share, low, high))
            if what == "claim":
                named.append((f"{one.low:.1f}–{one.high:.1f}", one.share, low, high))
                expected.append(one.said)
        error = calibration_error(bins)
        if error is not None:
            judged = sum(one.judged for one in bins)
            observed.append(f"expected calibration error of {what}s {error:.3f} over {judged:,} judged")
    said = "; ".join(observed) or "Nobody has judged an output or a claim in this period"
    return Panel(
        "calibration",
        "Calibration of the verifier",
        "Of what people judged: the share that was right, by the "
        "verifier's score. A mark shows what the scores promise. Intervals are of 95%.",
        ("of", "from", "to", "judged", "mean score", "right", "low", "high"),
        tuple(rows),
        Drawing("ranges", named=named, diagonal=expected),
        f"{said}.",
    )
