"""Which change made a series worse: the nearest one before the shift began, with what else changed.

A shift that a chart finds began, most probably, where its sum was last at nought. The cause that is named is the change
that makes the observations most probable: for changes that are far apart this is the nearest one before that moment,
for such that are close together it is better than the nearest (`assay.stats.drift.onset`). Before and after it the
means are compared by intervals that hold however often one looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError
from assay.stats.drift import Chart, Difference, difference, likelihoods, onset_index, weight_of

KINDS: Final = ("prompt", "model", "index", "tools", "policy", "verifier", "code")
"""What may change."""
LONGEST: Final = 500
"""The most characters of a reference or a note."""
ALPHA: Final = 0.05
"""The chance that a regression is said to be one and is none, however often one looks."""


@dataclass(frozen=True, slots=True)
class SystemChange:
    """Something that was changed in the system that makes outputs.

    Raises:
        InputError: its kind is unknown, or it refers to nothing.
    """

    kind: str
    ref: str
    """What it is now: a version, a digest, a commit."""
    at: int
    """When, in microseconds since 1970."""
    id: str = ""
    note: str = ""
    source: str = "told"
    """`told` by somebody, or `seen` in what passes through."""

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
    """A change that may be the cause, and how probable that is among those of the window."""

    change: SystemChange
    probability: float


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a shift is put down to."""

    onset: int
    """When it most probably began, in microseconds since 1970."""
    cause: Cause | None
    """The change that is named; none where nothing changed in the window."""
    others: tuple[Cause, ...]
    """What else changed in the window, the most probable first."""
    means: Difference
    """Before and after the cause, or the onset where there is none."""

    @property
    def regression(self) -> bool:
        """Whether the means differ for sure."""
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
    """What a shift is put down to.

    Args:
        chart: the chart that alarmed.
        moments: of the observations of the window, rising.
        values: the observations themselves; the last one raised the alarm.
        changes: those of the window.
        binary: whether observations are 0 or 1.
        shift: what the chart is designed for.
        spread: the standard deviation of observations that are not.
        alpha: see `ALPHA`.

    Raises:
        InputError: there are no observations, or not a value for each moment.
    """
    if len(moments) != len(values) or not moments:
        raise InputError(f"expected a value for each of one or more moments, got {len(values)} for {len(moments)}")
    begin = min(onset_index(chart, values), len(values) - 1)
    known = sorted((one for one in changes if one.at <= moments[-1]), key=lambda one: (one.at, one.id))
    begins = [_first_from(moments, one.at) for one in known]
    shifted = chart.baseline + (shift if chart.direction.value == "up" else -shift)
    weight = weight_of(chart, shifted, binary, spread)
    # Also that nothing that was told of is the cause: then it began where it looks like it.
    chances = likelihoods(chart, values, begins, weight)
    causes = [Cause(one, chance) for one, chance in zip(known, chances, strict=True)]
    # Of equally probable ones, such as two changes without an output between them, the later is the nearest.
    causes.sort(key=lambda one: (-one.probability, -one.change.at))
    at = begin if not causes else _first_from(moments, causes[0].change.at)
    means = difference(values[:at], values[at:], alpha)
    return Attribution(moments[begin], causes[0] if causes else None, tuple(causes[1:]), means)


def _first_from(moments: Sequence[int], at: int) -> int:
    from bisect import bisect_left

    return bisect_left(moments, at)
