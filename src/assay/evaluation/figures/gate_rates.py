"""What a gate is worth: the share of honest outputs that it emits, and of wrong ones that it stops.

Neither says anything without the other: a gate that stops everything lets no lie through. Outputs are labelled as a
whole; one is honest if nothing in it is wrong. Intervals are Wilson's (`assay.stats`), which hold at the extremes too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Action
from assay.stats import wilson

STEPS: Final = 200
"""Points of a curve at most."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with a 95% interval; no value where there are none."""

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
    """How many outputs each action was decided on, honest and wrong together."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One labelled output, as a gate decided on it."""

    honest: bool
    action: str
    score: float | None
    """The gate's overall score; none where nothing was checked."""


@dataclass(frozen=True, slots=True)
class GateFigures:
    """What one policy's gate is worth over all outputs, by set and by slice."""

    policy: str
    overall: Rates
    sets: tuple[Rates, ...]
    slices: Mapping[str, tuple[Rates, ...]]
    curve: tuple[tuple[float, float, float], ...]
    """Of thresholds of the overall score: the threshold, the share of honest outputs from it on, of wrong below."""


def gate_figures(
    policy: str, decided: Sequence[Decided], sets: Sequence[str], slices: Sequence[Mapping[str, str]]
) -> GateFigures:
    """The figures of one policy.

    Args:
        policy: its name.
        decided: the labelled outputs.
        sets: the set of each.
        slices: by way of slicing, the slice of each.
    """
    ways = list(slices[0]) if slices else []
    return GateFigures(
        policy,
        rates("all", decided),
        _grouped(decided, sets),
        {way: _grouped(decided, [one[way] for one in slices]) for way in ways},
        curve(decided),
    )


def _grouped(decided: Sequence[Decided], names: Sequence[str]) -> tuple[Rates, ...]:
    members: dict[str, list[Decided]] = {}
    for one, name in zip(decided, names, strict=True):
        members.setdefault(name, []).append(one)
    return tuple(rates(name, found) for name, found in sorted(members.items()))


def share(count: int, of: int) -> Share:
    """`count` of `of` with its interval.

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

    It shows what the score could do with other thresholds; outputs without one are below all of them. What a policy
    holds back for other reasons is not in it, so that its own point may lie off the curve.
    """

    def reached(one: Decided) -> float:
        return -1.0 if one.score is None else one.score

    honest = sorted(reached(one) for one in decided if one.honest)
    wrong = sorted(reached(one) for one in decided if not one.honest)
    if not honest or not wrong:
        return ()
    found = sorted({value for value in (*honest, *wrong) if value >= 0})
    chosen = found if len(found) <= STEPS else [found[round(i * (len(found) - 1) / (STEPS - 1))] for i in range(STEPS)]
    return tuple(
        (
            threshold,
            sum(value >= threshold for value in honest) / len(honest),
            sum(value < threshold for value in wrong) / len(wrong),
        )
        for threshold in chosen
    )
