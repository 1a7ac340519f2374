"""The two rates of a gate: the share of honest outputs that it emits, and of wrong outputs that it stops.

Neither means anything without the other: a gate that stops everything lets no wrong output through. Outputs are
labelled as a whole; one is honest if nothing in it is wrong. Intervals are Wilson's (`assay.stats`), which are valid at
0 and 1 too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Action
from assay.stats import wilson

STEPS: Final = 200
"""The most points of a curve."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share, `count` of `of`, with its 95% interval; without a value if `of` is 0."""

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Rates:
    """The two rates of a gate over some outputs."""

    name: str
    honest_emitted: Share
    wrong_stopped: Share
    actions: Mapping[str, int]
    """The number of outputs by action, honest and wrong ones together."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One labelled output with the decision of a gate."""

    honest: bool
    action: str
    score: float | None
    """The gate's overall score; none if nothing was checked."""


@dataclass(frozen=True, slots=True)
class GateFigures:
    """The rates of one policy's gate over all outputs, by set and by slice."""

    policy: str
    overall: Rates
    sets: tuple[Rates, ...]
    slices: Mapping[str, tuple[Rates, ...]]
    curve: tuple[tuple[float, float, float], ...]
    """Points: a threshold of the overall score, the share of honest outputs at or above it, of wrong ones below it."""


def gate_figures(
    policy: str, decided: Sequence[Decided], sets: Sequence[str], slices: Sequence[Mapping[str, str]]
) -> GateFigures:
    """The figures of one policy.

    Args:
        policy: the name of the policy.
        decided: the labelled outputs.
        sets: the set of each output.
        slices: for each output its slice by way of slicing.
    """
    dimensions = list(slices[0]) if slices else []
    return GateFigures(
        policy,
        rates("all", decided),
        _grouped(decided, sets),
        {dimension: _grouped(decided, [slice_of[dimension] for slice_of in slices]) for dimension in dimensions},
        curve(decided),
    )


def _grouped(decided: Sequence[Decided], names: Sequence[str]) -> tuple[Rates, ...]:
    members: dict[str, list[Decided]] = {}
    for one, name in zip(decided, names, strict=True):
        members.setdefault(name, []).append(one)
    return tuple(rates(name, found) for name, found in sorted(members.items()))


def share(count: int, of: int) -> Share:
    """`count` of `of` with its 95% interval.

    >>> share(8, 10).value
    0.8
    >>> share(0, 0).value is None
    True
    """
    if not of:
        return Share(count, of, None, None, None)
    low, high = wilson(count, of)
    return Share(count, of, count / of, low, high)


def rates(name: str, decided: Sequence[Decided]) -> Rates:
    """The two rates over some outputs."""
    honest = [one for one in decided if one.honest]
    wrong = [one for one in decided if not one.honest]
    return Rates(
        name,
        share(sum(one.action == Action.EMIT for one in honest), len(honest)),
        share(sum(one.action != Action.EMIT for one in wrong), len(wrong)),
        dict(sorted(Counter(one.action for one in decided).items())),
    )


def curve(decided: Sequence[Decided]) -> tuple[tuple[float, float, float], ...]:
    """For thresholds of the overall score: threshold, honest outputs at or above it, wrong ones below it.

    It shows what other thresholds of the score would do; outputs without a score are below all of them. It ignores the
    other reasons for which a policy holds outputs back, so the policy's own point may lie off the curve.
    """

    def score_or_lowest(output: Decided) -> float:
        return -1.0 if output.score is None else output.score

    honest = sorted(score_or_lowest(output) for output in decided if output.honest)
    wrong = sorted(score_or_lowest(output) for output in decided if not output.honest)
    if not honest or not wrong:
        return ()
    thresholds = sorted({value for value in (*honest, *wrong) if value >= 0})
    chosen = (
        thresholds
        if len(thresholds) <= STEPS
        else [thresholds[round(i * (len(thresholds) - 1) / (STEPS - 1))] for i in range(STEPS)]
    )
    return tuple(
        (
            threshold,
            sum(value >= threshold for value in honest) / len(honest),
            sum(value < threshold for value in wrong) / len(wrong),
        )
        for threshold in chosen
    )
