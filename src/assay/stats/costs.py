"""What thresholds cost on labelled rows, and how leaks are traded for false abstentions.

Thresholds are those with the least loss

    L = leak * leaks + false_block * false blocks + abstention * abstentions

where a leak is a hallucinated output that passes, a false block a right one that is withheld, and an abstention any
output that neither passes nor is withheld: it is revised, caveated or shown to a person. What passes and is right, and
what is withheld and is wrong, costs nothing.

The loss of docs/concepts.md#abstention counts rates: theta* = argmin lambda_1 FalseAbstentionRate + lambda_2
HallucinationLeakRate, each a share of the outputs of its own sort. `Costs.rates` does that: right and hallucinated rows
then weigh the same in total, however many there are of each. With lambda_1 the cost of a false block, lambda_2 that of
a leak, and abstentions as dear as false blocks, so that none is worth while, it is that loss but for a factor of two.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class Costs:
    """What one error of each sort costs, in any unit.

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
    """Whether right and hallucinated rows weigh a half each, as in a loss of rates, rather than each row the same."""

    def __post_init__(self) -> None:
        values = (self.leak, self.false_block, self.abstention)
        if not all(math.isfinite(value) and value >= 0 for value in values) or not any(values):
            raise InputError(f"expected costs of 0 or more that are not all 0, got {values}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far one labelled row gets."""

    wrong: bool
    """Whether it is a hallucination."""
    passes: float
    """The strictest threshold that it passes; minus infinity where it passes none."""
    blocked: float
    """The least threshold of withholding at which it is withheld; infinity where it never is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A pair of thresholds and what it does to the rows."""

    threshold: float
    """From here on an output passes."""
    block_threshold: float
    """Below it an output is withheld."""
    loss: float
    """The mean loss of a row; where rates count, half the sum of the mean losses of a right and of a wrong one."""
    leaks: int
    false_blocks: int
    abstentions: int
    rows: int


@dataclass(frozen=True, slots=True)
class TradeOff:
    """One point of the curve."""

    threshold: float
    leak: float | None
    """The share of hallucinated rows that pass; none without such rows."""
    false_abstention: float | None
    """The share of right rows that do not pass; none without such rows."""
    passed: float
    """The share of all rows that pass."""


def trade_off(outcomes: Sequence[Outcome], grid: Sequence[float]) -> tuple[TradeOff, ...]:
    """Leak against false abstention over the thresholds, from the loosest to the strictest.

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
    """The pair of thresholds with the least loss on the rows, the second at most as high as the first.

    Of equally cheap pairs the one with the stricter threshold is taken, then the one that withholds less.

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
    least: tuple[float, float] | None = None
    at = 0
    for loss, negative in emitting:
        while at < len(blocking) and blocking[at][1] <= -negative:
            least = blocking[at] if least is None else min(least, blocking[at])
            at += 1
        if least is not None:
            pair = (round(loss + least[0], 9), negative, least[1])
            best = pair if best is None else min(best, pair)
    if best is None:
        raise InputError("expected a threshold of withholding at or below one of passing, got none")
    return counted(outcomes, costs, -best[1], best[2])


def counted(outcomes: Sequence[Outcome], costs: Costs, threshold: float, block_threshold: float) -> Choice:
    """What a pair of thresholds does to the rows.

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
    """What a right and a hallucinated row weigh in the loss, their mean over the rows 1 where there are both.

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
    """From which probability of being right on an answer is given, and below which it is held back.

    With a probability p of being right, giving it costs (1 - p) * leak, giving it with a caveat costs an abstention
    whichever it is, and holding it back costs p * false_block. Where a caveat is never the cheapest of the three, both
    thresholds are the probability at which the other two cost the same.

    Args:
        costs: what errors cost.
        right: the share of right outputs among those that the probability was fitted on; counts only for rates.

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
    """What passing from here on adds to the loss in which every row abstains."""
    passed = [row.wrong for row in outcomes if row.passes >= threshold]
    wrong = sum(passed)
    return weights[1] * wrong * (costs.leak - costs.abstention) - weights[0] * (len(passed) - wrong) * costs.abstention


def _block_loss(outcomes: Sequence[Outcome], costs: Costs, weights: tuple[float, float], threshold: float) -> float:
    blocked = [row.wrong for row in outcomes if row.blocked <= threshold]
    wrong = sum(blocked)
    right = len(blocked) - wrong
    return weights[0] * right * (costs.false_block - costs.abstention) - weights[1] * wrong * costs.abstention
