"""Compares a run with an earlier one: paired by case, overall and by category, corrected for up to eleven tests.

For each group the mean of the differences of `behavior_match` is tested against zero, one-sided for a drop, by flipping
signs (the paired permutation test; Good 2005, Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3).
The p-values are corrected by Holm's step-down procedure (1979, Scandinavian Journal of Statistics 6), which keeps the
probability of any false alarm at `alpha`; half of it goes to the whole suite, half to the categories. A regression is a
drop that is significant and larger than `delta`.

Up to five cases that dropped, with none that rose, are too few for any test, but may be a large part of a small suite.
A drop of the whole suite by more than five points then counts without a test: the gate fails closed.

A case that was judged before and cannot be judged now counts as 0: a run does not pass because something failed.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np
from pydantic import Field

from assay.errors import InputError
from assay.redteam.judging import PASS_THRESHOLD
from assay.redteam.scores.scorecards import Result, Scorecard, by_id
from assay.schema.base import Value

ALPHA: Final = 0.05
"""The allowed probability of a false alarm, over all groups together."""
DELTA: Final = 0.01
"""The drop that is tolerated by default."""
LARGE_UNTESTED_DROP: Final = 0.05
"""In a suite too small for a test, a larger drop of the whole suite counts as a regression if no case rose."""
MOST_EXACT: Final = 14
"""Up to this number of differing cases all combinations of signs are enumerated; beyond it signs are drawn."""
DRAWS: Final = 10_000
"""Random draws of signs."""
ALL: Final = "all"
"""The name of the group of all cases."""


class Change(Value):
    """The change of one group of cases between two runs."""

    group: str
    pairs: int = Field(ge=0)
    """Cases that both runs have, judged in the earlier one."""
    before: float = Field(ge=0, le=1)
    after: float = Field(ge=0, le=1)
    p: float = Field(ge=0, le=1)
    """The p-value of a drop, corrected by Holm's procedure."""
    regressed: bool
    tested: bool = True
    """False where the suite is too small for a test and the drop counts by its size alone."""


class Broken(Value):
    """A case that passed before and does not pass now."""

    id: str
    category: str
    before: float
    after: float | None = None
    """None where it could not be judged."""
    rule: str


class Comparison(Value):
    """A run against an earlier one."""

    delta: float
    alpha: float
    changes: tuple[Change, ...]
    """All cases first, then the categories."""
    broken: tuple[Broken, ...]
    mended: tuple[str, ...]
    """Cases that did not pass before and pass now."""
    added: int
    """Cases of this run that the earlier run did not have or could not judge."""
    gone: int
    """Cases of the earlier run that this run does not have."""

    @property
    def regressed(self) -> bool:
        """Whether any group has regressed."""
        return any(one.regressed for one in self.changes)


def compare(
    before: Scorecard, after: Scorecard, delta: float = DELTA, alpha: float = ALPHA, seed: int = 0
) -> Comparison:
    """Compares two runs of the same suite, or of suites that share cases.

    Raises:
        InputError: they share no case that the earlier run judged, or delta or alpha is out of range.
    """
    if not 0 <= delta < 1 or not 0 < alpha < 1:
        raise InputError(f"expected a delta in [0, 1) and an alpha in (0, 1), got {delta:g} and {alpha:g}")
    earlier = by_id(before)
    pairs = [
        (earlier[result.id], result)
        for result in after.results
        if result.id in earlier and earlier[result.id].match is not None
    ]
    if not pairs:
        raise InputError("the baseline shares no judged case with this run; take one of the same suite")
    ordered = sorted(pairs, key=lambda pair: pair[1].category)
    groups = {ALL: pairs} | {
        name: list(members) for name, members in groupby(ordered, key=lambda pair: pair[1].category)
    }
    raw = {name: drop_p([_drop(*pair) for pair in members], seed) for name, members in groups.items()}
    # The gate is about the whole suite, which therefore gets as much of the allowed error as all categories together.
    corrected = holm(raw, {name: max(1.0, len(groups) - 1.0) if name == ALL else 1.0 for name in groups})
    current_ids = {result.id for result in after.results}
    return Comparison(
        delta=delta,
        alpha=alpha,
        changes=tuple(_change(name, members, corrected[name], delta, alpha) for name, members in groups.items()),
        broken=tuple(
            Broken(
                id=result.id,
                category=result.category,
                before=earlier_result.match or 0.0,
                after=result.match,
                rule=result.rule,
            )
            for earlier_result, result in pairs
            if (earlier_result.match or 0.0) >= PASS_THRESHOLD > (result.match or 0.0)
        ),
        mended=tuple(
            result.id
            for earlier_result, result in pairs
            if (earlier_result.match or 0.0) < PASS_THRESHOLD <= (result.match or 0.0)
        ),
        added=len(after.results) - len(pairs),
        gone=sum(result.id not in current_ids for result in before.results),
    )


def _drop(before: Result, after: Result) -> float:
    return (before.match or 0.0) - (after.match or 0.0)


def _change(name: str, pairs: Sequence[tuple[Result, Result]], p: float, delta: float, alpha: float) -> Change:
    before = math.fsum(one.match or 0.0 for one, _ in pairs) / len(pairs)
    after = math.fsum(one.match or 0.0 for _, one in pairs) / len(pairs)
    untestable = (
        name == ALL and _is_untestable([_drop(*pair) for pair in pairs], alpha) and before - after > LARGE_UNTESTED_DROP
    )
    return Change(
        group=name,
        pairs=len(pairs),
        before=min(1.0, before),
        after=min(1.0, after),
        p=p,
        regressed=before - after > delta and (p < alpha or untestable),
        tested=not untestable,
    )


def _is_untestable(drops: Sequence[float], alpha: float) -> bool:
    """Whether there are only drops, and too few of them for any test to distinguish them from chance."""
    changed = [one for one in drops if one]
    return bool(changed) and min(changed) > 0 and 2.0 * 0.5 ** len(changed) >= alpha


def drop_p(drops: Sequence[float], seed: int = 0) -> float:
    """The one-sided p-value that the mean drop is above zero, by flipping signs.

    Args:
        drops: earlier minus later match of each case.
        seed: the seed for drawing signs.

    >>> drop_p([0.0, 0.0]), drop_p([1.0] * 5)
    (1.0, 0.03125)
    """
    sizes = np.array([one for one in drops if one], dtype=np.float64)
    if not len(sizes):
        return 1.0
    observed = float(sizes.sum())
    if len(sizes) <= MOST_EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1)
        return float(np.mean(signs @ np.abs(sizes) >= observed - 1e-9))
    values, counts = np.unique(np.abs(sizes), return_counts=True)
    rng = np.random.default_rng(seed)
    # Cases of one size are exchangeable: how many of them fall is binomial.
    sums = sum(
        (value * (2.0 * rng.binomial(count, 0.5, DRAWS) - count) for value, count in zip(values, counts, strict=True)),
        start=np.zeros(DRAWS),
    )
    return float((1 + np.sum(sums >= observed - 1e-9)) / (1 + DRAWS))


def holm(raw: Mapping[str, float], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Adjusts p-values by Holm's step-down procedure, optionally weighted (Holm 1979, section 3).

    Args:
        raw: the p-value of each hypothesis.
        weights: the relative share of the allowed error for each hypothesis, above 0; equal shares by default.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    >>> holm({"a": 0.02, "b": 0.5}, {"a": 3.0, "b": 1.0})["a"] < 0.027
    True
    """
    weight = dict.fromkeys(raw, 1.0) if weights is None else weights
    adjusted: dict[str, float] = {}
    highest = 0.0
    weight_left = math.fsum(weight[name] for name in raw)
    for name in sorted(raw, key=lambda one: (raw[one] / weight[one], one)):
        highest = max(highest, min(1.0, raw[name] * max(1.0, weight_left / weight[name])))
        adjusted[name] = highest
        weight_left -= weight[name]
    return adjusted


def read_card(text: str, where: str) -> Scorecard:
    """Parses a scorecard from JSON, such as the `summary.json` of a run or the output of `--format json`.

    Args:
        text: the JSON.
        where: its source, for messages.

    Raises:
        InputError: it is not a scorecard, or has no results by case.
    """
    import json

    from pydantic import ValidationError

    try:
        value: Any = json.loads(text)
        if isinstance(value, dict):
            value.pop("comparison", None)
        card = Scorecard.model_validate(value)
    except (ValueError, ValidationError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{where}: expected the summary of a red team run: {first}") from error
    if not card.results:
        raise InputError(f"{where}: has no results by case to compare with")
    return card
