"""Attributes a shift of a series to the change that most probably caused it.

A shift found by a chart most probably began where its sum was last zero. The named cause is the change that makes the
observations most probable: for changes that are far apart this is the nearest one before that moment; for changes that
are close together it is more accurate than the nearest (`assay.stats.drift.onset`). The means before and after it are
compared by intervals that are valid however often one looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError
from assay.stats.drift import Chart, Difference, difference, onset_index, onset_probabilities, weight_of

KINDS: Final = ("prompt", "model", "index", "tools", "policy", "verifier", "code")
"""The kinds of changes."""
LONGEST: Final = 500
"""The most characters of a reference or a note."""
ALPHA: Final = 0.05
"""The probability of reporting a regression where there is none, however often one looks."""


@dataclass(frozen=True, slots=True)
class SystemChange:
    """A change of the system that produces the outputs.

    Raises:
        InputError: its kind is unknown, its reference is blank, or a text is too long.
    """

    kind: str
    """One of `KINDS`."""
    ref: str
    """The new version, digest or commit."""
    at: int
    """When it was made, in microseconds since 1970."""
    id: str = ""
    note: str = ""
    source: str = "told"
    """`told` if somebody reported it, `seen` if it was detected in the traffic."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"expected a kind of change: {', '.join(KINDS)}; got {ascii(self.kind)[:40]}")
        if not self.ref.strip() or len(self.ref) > LONGEST or len(self.note) > LONGEST:
            raise InputError(f"expected a reference of 1 to {LONGEST} characters, and a note of at most so many")

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "id": self.id,
            "kind": self.kind,
            "ref": self.ref,
            "at": self.at,
            "note": self.note,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Cause:
    """A change that may be the cause, with its probability among the changes of the window."""

    change: SystemChange
    probability: float


@dataclass(frozen=True, slots=True)
class Attribution:
    """The probable cause of a shift."""

    onset: int
    """When it most probably began, in microseconds since 1970."""
    cause: Cause | None
    """The most probable cause; none where nothing changed in the window."""
    others: tuple[Cause, ...]
    """The other changes in the window, the most probable first."""
    means: Difference
    """The means before and after the cause, or before and after the onset where there is none."""

    @property
    def regression(self) -> bool:
        """Whether the means differ significantly."""
        return self.means.differs


def attribute(
    chart: Chart,
    moments: Sequence[int],
    values: Sequence[float],
    changes: Sequence[SystemChange],
    *,
    binary: bool,
    shift: float,
    spread: float | None = None,
    alpha: float = ALPHA,
) -> Attribution:
    """Attributes a shift to a change.

    Args:
        chart: the chart that raised the alarm.
        moments: the moments of the observations of the window, ascending, in microseconds since 1970.
        values: the observations; the last one raised the alarm.
        changes: the changes of the window.
        binary: whether observations are 0 or 1.
        shift: the shift that the chart is designed for.
        spread: the standard deviation of observations that are not binary.
        alpha: see `ALPHA`.

    Raises:
        InputError: there are no observations, or not a value for each moment.
    """
    if len(moments) != len(values) or not moments:
        raise InputError(f"expected a value for each of one or more moments, got {len(values)} for {len(moments)}")
    onset = min(onset_index(chart, values), len(values) - 1)
    candidates = sorted(
        (change for change in changes if change.at <= moments[-1]), key=lambda change: (change.at, change.id)
    )
    first_indexes = [_index_from(moments, change.at) for change in candidates]
    shifted_mean = chart.baseline + (shift if chart.direction.value == "up" else -shift)
    weight = weight_of(chart, shifted_mean, binary, spread)
    probabilities = onset_probabilities(chart, values, first_indexes, weight)
    causes = [Cause(change, chance) for change, chance in zip(candidates, probabilities, strict=True)]
    # Of equally probable changes, such as two without an output between them, the later one is the nearest.
    causes.sort(key=lambda change: (-change.probability, -change.change.at))
    split = onset if not causes else _index_from(moments, causes[0].change.at)
    means = difference(values[:split], values[split:], alpha)
    return Attribution(moments[onset], causes[0] if causes else None, tuple(causes[1:]), means)


def _index_from(moments: Sequence[int], at: int) -> int:
    from bisect import bisect_left

    return bisect_left(moments, at)
