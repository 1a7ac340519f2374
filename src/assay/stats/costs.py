"""The cost of thresholds on labelled rows, and the trade-off between leaks and false abstentions.

The chosen thresholds minimise the loss

    L = leak * leaks + false_block * false blocks + abstention * abstentions

where a leak is a hallucinated output that passes, a false block is a right output that is withheld, and an abstention
is an output that neither passes nor is withheld: it is revised, caveated or shown to a person. Right outputs that pass
and wrong outputs that are withheld cost nothing.

The loss of docs/concepts.md#abstention is defined on rates: theta* = argmin lambda_1 FalseAbstentionRate + lambda_2
HallucinationLeakRate, each a share of the right or of the hallucinated outputs. `Costs.rates` does that: right and
hallucinated rows then have the same total weight, however many there are of each. With lambda_1 as the cost of a false
block, lambda_2 as that of a leak, and abstentions as expensive as false blocks, so that none is worthwhile, it equals
that loss up to a factor of two.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of one error of each kind, in any unit.

    Raises:
        InputError: a cost is negative or not finite, or all are 0.
    """

    leak: float = 10.0
    """A hallucinated output that passes."""
    false_block: float = 3.0
    """The cost of a correct output that is withheld."""
    abstention: float = 1.0
    """An output that is neither passed nor withheld."""
    rates: bool = False
    """Whether right rows and hallucinated rows have half of the weight each, as in a loss on rates; otherwise all rows
    have the same weight."""

    def __post_init__(self) -> None:
        values = (self.leak, self.false_block, self.abstention)
        if not all(math.isfinite(value) and value >= 0 for value in values) or not any(values):
            raise InputError(f"expected costs of 0 or more that are not all 0, got {values}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one labelled row as a function of the thresholds."""

    wrong: bool
    """Whether it is a hallucination."""
    passes: float
    """The strictest threshold that it passes; minus infinity where it passes none."""
    blocked: float
    """The least block threshold at which it is withheld; infinity where it never is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A pair of thresholds and its effect on the rows."""

    threshold: float
    """The least score of an output that passes."""
    block_threshold: float
    """The score below which an output is withheld."""
    loss: float
    """The mean loss of a row; where rates count, the mean of the mean losses of right and of wrong rows."""
    leaks: int
    false_blocks: int
    abstentions: int
    rows: int


@dataclass(frozen=True, slots=True)
class TradeOff:
    """One point of the trade-off curve."""

    threshold: float
    leak: float | None
    """The share of hallucinated rows that pass; none without such rows."""
    false_abstention: float | None
    """The share of right rows that do not pass; none without such rows."""
    passed: float
    """The share of all rows that pass."""


def trade_off(outcomes: Sequence[Outcome], grid: Sequence[float]) -> tuple[TradeOff, ...]:
    """Leaks against false abstentions for each threshold, from the loosest to the strictest.

    >>> rows = [Outcome(True, 0.4, 0.5), Outcome(False, 0.9, math.inf)]
    >>> [(point.threshold, point.leak, point.false_abstention) for point in trade_off(rows, [0.3, 0.5, 1.0])]
    [(0.3, 1.0, 0.0), (0.5, 0.0, 0.0), (1.0, 0.0, 1.0)]
    """
    wrong = sorted(row.passes for row in outcomes if row.wrong)
    right = sorted(row.passes for row in outcomes if not row.wrong)
    points = []
    for threshold in sorted(set(grid)):
        leaks, served = (len(levels) - bisect_left(levels, threshold) for levels in (wrong, right))
        points.append(
            TradeOff(
                threshold,
                leaks / len(wrong) if wrong else None,
                1 - served / len(right) if right else None,
                (leaks + served) / len(outcomes) if outcomes else 0.0,
            )
        )
    return tuple(points)


def cheapest(outcomes: Sequence[Outcome], costs: Costs, grid: Sequence[float], block_grid: Sequence[float]) -> Choice:
    """The pair of thresholds with the least loss on the rows, where the block threshold is at most the other one.

    Of equally cheap pairs the one with the stricter threshold is chosen, then the one that withholds less.

    Raises:
        InputError: there are no rows, or no pair of thresholds.

    >>> rows = [Outcome(True, 0.4, 0.5), Outcome(True, 0.2, 0.3), Outcome(False, 0.9, math.inf)]
    >>> choice = cheapest(rows, Costs(), [0.5, 0.7, 0.95], [0.1, 0.3])
    >>> choice.threshold, choice.block_threshold, choice.leaks, choice.abstentions
    (0.7, 0.3, 0, 1)
    """
    if not outcomes or not grid or not block_grid or min(block_grid) > max(grid):
        raise InputError("expected rows, and thresholds of withholding that do not all lie above those of passing")
    weights = weights_of(costs, _right_share(outcomes))
    emitting = [(_emit_loss(outcomes, costs, weights, t), -t) for t in sorted(set(grid))]
    blocking = [(_block_loss(outcomes, costs, weights, b), b) for b in sorted(set(block_grid))]
    best: tuple[float, float, float] | None = None
    cheapest_block: tuple[float, float] | None = None
    index = 0
    for loss, negative in emitting:
        while index < len(blocking) and blocking[index][1] <= -negative:
            cheapest_block = blocking[index] if cheapest_block is None else min(cheapest_block, blocking[index])
            index += 1
        if cheapest_block is not None:
            pair = (round(loss + cheapest_block[0], 9), negative, cheapest_block[1])
            best = pair if best is None else min(best, pair)
    if best is None:
        raise InputError("expected a threshold of withholding at or below one of passing, got none")
    return counted(outcomes, costs, -best[1], best[2])


def counted(outcomes: Sequence[Outcome], costs: Costs, threshold: float, block_threshold: float) -> Choice:
    """The effect of a pair of thresholds on the rows.

    Raises:
        InputError: there are no rows.
    """
    if not outcomes:
        raise InputError("expected at least one row, got none")
    leaks = sum(row.wrong and row.passes >= threshold for row in outcomes)
    passed = sum(row.passes >= threshold for row in outcomes)
    blocked = [row for row in outcomes if row.passes < threshold and row.blocked <= block_threshold]
    false_blocks = sum(not row.wrong for row in blocked)
    abstentions = len(outcomes) - passed - len(blocked)
    of_right, of_wrong = weights_of(costs, _right_share(outcomes))
    wrong_left = sum(row.wrong for row in outcomes) - leaks - (len(blocked) - false_blocks)
    loss = of_wrong * (costs.leak * leaks + costs.abstention * wrong_left)
    loss += of_right * (costs.false_block * false_blocks + costs.abstention * (abstentions - wrong_left))
    return Choice(threshold, block_threshold, loss / len(outcomes), leaks, false_blocks, abstentions, len(outcomes))


def weights_of(costs: Costs, right: float) -> tuple[float, float]:
    """The weights of a right and of a hallucinated row in the loss; their mean over all rows is 1 if there are both.

    Args:
        costs: whether rates count.
        right: the share of right rows, in [0, 1].

    >>> weights_of(Costs(rates=True), 0.25)
    (2.0, 0.6666666666666666)
    """
    if not costs.rates:
        return 1.0, 1.0
    return (0.5 / right if right else 0.0), (0.5 / (1 - right) if right < 1 else 0.0)


def answer_thresholds(costs: Costs, right: float = 0.5) -> tuple[float, float]:
    """The probability of being right from which an answer is given, and the one below which it is withheld.

    With a probability p of being right, giving an answer costs (1 - p) * leak, giving it with a caveat costs an
    abstention in either case, and withholding it costs p * false_block. Where a caveat is never the cheapest of the
    three, both thresholds are the probability at which the other two cost the same.

    Args:
        costs: the costs of errors.
        right: the share of right outputs among those that the probability was fitted on; used only for rates.

    >>> answer_thresholds(Costs(leak=10, false_block=4, abstention=1))
    (0.9, 0.25)
    >>> answer_thresholds(Costs(leak=2, false_block=2, abstention=5))
    (0.5, 0.5)
    """
    of_right, of_wrong = weights_of(costs, right)
    leak, blocked = costs.leak * of_wrong, costs.false_block * of_right
    right_caveated, wrong_caveated = costs.abstention * of_right, costs.abstention * of_wrong
    high = _crossing(leak - wrong_caveated, right_caveated)
    low = _crossing(wrong_caveated, blocked - right_caveated)
    if high < low:
        high = low = _crossing(leak, blocked)
    return round(high, 6), round(low, 6)


def _crossing(saved: float, paid: float) -> float:
    """The p in [0, 1] from which p * paid is at least (1 - p) * saved: 1 where the stricter outcome always pays."""
    if saved <= 0:
        return 0.0
    return 1.0 if paid <= 0 else saved / (saved + paid)


def _right_share(outcomes: Sequence[Outcome]) -> float:
    return sum(not row.wrong for row in outcomes) / len(outcomes)


def _emit_loss(outcomes: Sequence[Outcome], costs: Costs, weights: tuple[float, float], threshold: float) -> float:
    """The change of the loss if rows pass from a threshold on, compared with all rows abstaining."""
    passed = [row.wrong for row in outcomes if row.passes >= threshold]
    wrong = sum(passed)
    return weights[1] * wrong * (costs.leak - costs.abstention) - weights[0] * (len(passed) - wrong) * costs.abstention


def _block_loss(outcomes: Sequence[Outcome], costs: Costs, weights: tuple[float, float], threshold: float) -> float:
    blocked = [row.wrong for row in outcomes if row.blocked <= threshold]
    wrong = sum(blocked)
    right = len(blocked) - wrong
    return weights[0] * right * (costs.false_block - costs.abstention) - weights[1] * wrong * costs.abstention
