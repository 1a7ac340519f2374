"""Thresholds with a statistical guarantee, from labelled rows and exact binomial tails.

A row passes a threshold t if its level is at least t: the level is the strictest threshold that it passes. The risk
R(t) is the share of hallucinated outputs that pass, and falls as t rises. Two methods choose t from n hallucinated
rows of which k(t) pass. They give different guarantees:

learn_then_test (Angelopoulos et al. 2021, "Learn then Test")
    P over samples of rows { R(t) <= alpha } >= 1 - delta. The high-probability guarantee: of all samples that might
    have been drawn, all but a share delta give a threshold whose risk is at most alpha. It tests H_t: R(t) > alpha from
    the strictest threshold on, by the exact binomial tail p(t) = P{ Bin(n, alpha) <= k(t) }, and stops at the first
    p(t) > delta (fixed sequence testing). As k(t) never falls on the way, this is also the upper confidence bound of
    Bates et al. 2021 ("Distribution-free, risk-controlling prediction sets") with the bound of Clopper and Pearson.

    With a horizon m it is about a number rather than a rate: of the next m hallucinated outputs at most floor(alpha
    m) pass. The binomial tail is replaced by that of drawing without replacement, p(t) = P{ Hyp(n + m, k(t) + J, n) <=
    k(t) } with J = floor(alpha m) + 1: by exchangeability, the probability that at most k(t) of the n known rows come
    before the J-th of the m new ones. It is stricter than the rate, since m rows scatter too; for large m it is the
    same.

conformal_risk_control (Angelopoulos et al. 2022, "Conformal Risk Control")
    E[ R(t) ] <= alpha, the mean over samples of rows. It says nothing about the sample at hand: about half of all
    samples may exceed alpha. It chooses the loosest t with (k(t) + 1) / (n + 1) <= alpha.

Both require rows that are exchangeable with future ones (the first also requires independent rows) and thresholds that
were fixed before the rows were seen. Rows that share a document are not independent.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.errors import InputError

Method = Literal["learn_then_test", "conformal_risk_control"]

_BISECTIONS = 60
"""Steps of halving: enough for every bit of a double."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A threshold with its guarantee, or the reason why there is none."""

    method: Method
    alpha: float
    """The share of hallucinated outputs that may pass."""
    delta: float | None
    """The share of samples of rows for which the guarantee may fail; none for a guarantee in the mean."""
    rows: int
    """The number of hallucinated rows that it is based on."""
    least_rows: int
    """The least number of rows that it needs, if none of them passes."""
    threshold: float | None
    """The loosest threshold with the guarantee; none where the data do not allow any."""
    passed: int | None
    """The hallucinated rows that pass it."""
    upper_bound: float | None
    """The largest risk that is compatible with the rows at confidence 1 - delta; none without a delta."""
    refused: str | None = None
    """Why there is no threshold."""
    horizon: int | None = None
    """The number of future hallucinated outputs that it is about; none where it is about their rate."""

    @property
    def holds(self) -> bool:
        """Whether there is a threshold."""
        return self.threshold is not None


def binomial_cdf(successes: int, trials: int, chance: float) -> float:
    """P{ Bin(trials, chance) <= successes }, summed exactly in logarithms (relative error below 1e-9 to 10^6 trials).

    Raises:
        InputError: the trials are negative or the chance is not in [0, 1].

    >>> round(binomial_cdf(1, 3, 0.5), 12)
    0.5
    """
    if trials < 0 or not 0 <= chance <= 1:
        raise InputError(f"expected 0 or more trials and a chance in [0, 1], got {trials} and {chance}")
    if successes < 0:
        return 0.0
    if successes >= trials or chance == 0:
        return 1.0
    if chance == 1:
        return 0.0
    # The shorter tail is summed: it has fewer terms, and none of them is lost beside a large one.
    if successes > trials * chance:
        return 1.0 - binomial_cdf(trials - successes - 1, trials, 1 - chance)
    yes, no = math.log(chance), math.log1p(-chance)
    total = math.lgamma(trials + 1)
    terms = (
        math.exp(total - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * yes + (trials - k) * no)
        for k in range(successes + 1)
    )
    return min(1.0, math.fsum(terms))


def hypergeometric_cdf(successes: int, population: int, marked: int, drawn: int) -> float:
    """P{ at most `successes` of `drawn` items are marked }, drawn from a population with `marked` marked ones.

    Raises:
        InputError: more items are marked or drawn than there are.

    >>> round(hypergeometric_cdf(0, 4, 2, 2), 6)
    0.166667
    """
    if not 0 <= marked <= population or not 0 <= drawn <= population:
        raise InputError(f"expected marked and drawn within the population {population}, got {marked} and {drawn}")
    least = max(0, drawn + marked - population)
    if successes < least:
        return 0.0
    if successes >= min(drawn, marked):
        return 1.0
    whole = _log_choices(population, drawn)
    terms = (
        math.exp(_log_choices(marked, k) + _log_choices(population - marked, drawn - k) - whole)
        for k in range(least, successes + 1)
    )
    return min(1.0, math.fsum(terms))


def _log_choices(population: int, drawn: int) -> float:
    return math.lgamma(population + 1) - math.lgamma(drawn + 1) - math.lgamma(population - drawn + 1)


def upper_bound(successes: int, trials: int, delta: float) -> float:
    """The one-sided upper bound of Clopper and Pearson (1934): the largest chance p with
    P{ Bin(trials, p) <= successes } >= delta.

    >>> round(upper_bound(0, 29, 0.05), 4)
    0.0981
    """
    _require_share("delta", delta)
    if successes >= trials:
        return 1.0
    low, high = successes / trials, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if binomial_cdf(successes, trials, middle) >= delta:
            low = middle
        else:
            high = middle
    return high


def least_rows(alpha: float, delta: float | None) -> int:
    """The least number of hallucinated rows for a guarantee, if none of them passes.

    (1 - alpha)^n <= delta with a delta, 1 / (n + 1) <= alpha for a guarantee in the mean.

    >>> least_rows(0.05, 0.1), least_rows(0.05, None)
    (45, 19)
    """
    _require_share("alpha", alpha)
    if delta is None:
        return max(0, math.ceil(1 / alpha - 1 - 1e-9))
    _require_share("delta", delta)
    rows = max(1, math.floor(math.log(delta) / math.log1p(-alpha)) - 1)
    while binomial_cdf(0, rows, alpha) > delta:
        rows += 1
    return rows


def learn_then_test(
    levels: Sequence[float], grid: Sequence[float], alpha: float, delta: float, horizon: int | None = None
) -> Guarantee:
    """The loosest threshold that at most a share `alpha` of hallucinated outputs passes, with confidence 1 - `delta`.

    Args:
        levels: for each hallucinated row the strictest threshold that it passes; minus infinity where it passes none.
        grid: the thresholds to choose from, fixed before the rows were seen.
        alpha: the share that may pass, in (0, 1).
        delta: the share of samples for which the guarantee may fail, in (0, 1).
        horizon: the number of future hallucinated outputs that the guarantee is about; by default their rate.

    Raises:
        InputError: a level is NaN, the grid is empty, a share is out of its range, or the horizon is below 1.

    >>> learn_then_test([0.2] * 60, [0.5, 0.9], 0.05, 0.1).threshold
    0.5
    >>> learn_then_test([0.2] * 20, [0.5, 0.9], 0.05, 0.1).refused
    'it takes at least 45 hallucinated rows, and there are 20'
    """
    levels, thresholds = _prepared(levels, grid)
    needed, rows = least_rows(alpha, delta), len(levels)
    if horizon is not None and horizon < 1:
        raise InputError(f"expected a horizon of 1 or more, got {horizon}")
    most = _most_passing(rows, alpha, delta, horizon)
    # The looser a threshold, the more rows pass, and the tail grows with them: the sequence of tests ends where more
    # than `most` pass and need not be carried out one by one.
    best = min((t for t in thresholds if _passing(levels, t) <= most), default=None)
    passed = None if best is None else _passing(levels, best)
    bound = None if passed is None else upper_bound(passed, rows, delta)
    if best is None and horizon is not None:
        needed = max(needed, _least_for(horizon, alpha, delta))
    refused = None if best is not None else _refusal(levels, thresholds[0], needed)
    return Guarantee("learn_then_test", alpha, delta, rows, needed, best, passed, bound, refused, horizon)


def _most_passing(rows: int, alpha: float, delta: float, horizon: int | None) -> int:
    """The largest number of passing rows whose tail is at most delta; -1 where even no passing row is too many."""
    low, high = -1, rows
    while low < high:
        middle = (low + high + 1) // 2
        if _tail(middle, rows, alpha, horizon) <= delta:
            low = middle
        else:
            high = middle - 1
    return low


def _tail(passed: int, rows: int, alpha: float, horizon: int | None) -> float:
    """The probability of at most this number of passing rows if the guarantee does not hold."""
    if horizon is None:
        return binomial_cdf(passed, rows, alpha)
    too_many = math.floor(alpha * horizon + 1e-9) + 1
    if too_many > horizon:
        return 0.0
    return hypergeometric_cdf(passed, rows + horizon, passed + too_many, rows)


def _least_for(horizon: int, alpha: float, delta: float) -> int:
    """The least number of rows for a horizon if none of them passes, found by doubling and bisection."""
    high = 1
    while _tail(0, high, alpha, horizon) > delta:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if _tail(0, middle, alpha, horizon) > delta else (low, middle)
    return high


def conformal_risk_control(levels: Sequence[float], grid: Sequence[float], alpha: float) -> Guarantee:
    """The loosest threshold that at most a share `alpha` of hallucinated outputs passes in the mean.

    The mean is over samples of rows; nothing is guaranteed for the sample at hand. Arguments and errors are those of
    `learn_then_test`.

    >>> conformal_risk_control([0.2] * 18 + [0.7], [0.5, 0.9], 0.1).threshold
    0.5
    """
    levels, thresholds = _prepared(levels, grid)
    needed, rows = least_rows(alpha, None), len(levels)
    held = [t for t in thresholds if (_passing(levels, t) + 1) / (rows + 1) <= alpha]
    best = min(held, default=None)
    passed = None if best is None else _passing(levels, best)
    refused = None if best is not None else _refusal(levels, thresholds[0], needed)
    return Guarantee("conformal_risk_control", alpha, None, rows, needed, best, passed, None, refused)


def _prepared(levels: Sequence[float], grid: Sequence[float]) -> tuple[list[float], list[float]]:
    """The levels in ascending order, and the thresholds from the strictest on."""
    if any(math.isnan(level) for level in levels):
        raise InputError("expected levels that are numbers, got NaN")
    if not grid or not all(math.isfinite(threshold) for threshold in grid):
        raise InputError("expected at least one threshold, all of them finite")
    return sorted(levels), sorted(set(grid), reverse=True)


def _passing(levels: Sequence[float], threshold: float) -> int:
    return len(levels) - bisect_left(levels, threshold)


def _refusal(levels: Sequence[float], strictest: float, needed: int) -> str:
    if len(levels) < needed:
        return f"it takes at least {needed:,} hallucinated rows, and there are {len(levels):,}"
    passed = _passing(levels, strictest)
    return (
        f"{passed:,} of {len(levels):,} hallucinated rows pass even the strictest threshold, {strictest:g}: "
        "no threshold can hold them back"
    )


def _require_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"expected {name} to be a number between 0 and 1, got {value}")
