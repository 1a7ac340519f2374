"""The noisy-or of causes, and the attention that evidence gets in a long context.

See docs/concepts.md#root-causes and docs/concepts.md#position-in-the-context.
"""

import math
from collections.abc import Sequence

Pair = tuple[float, float]
"""P(cause) and P(hallucination | cause)."""


def noisy_or(causes: Sequence[Pair]) -> float:
    """P(H) = 1 - product of (1 - P(H | cause) P(cause)): the probability that at least one cause led to it.

    Raises:
        ValueError: a number is not a probability.

    >>> round(noisy_or([(0.5, 0.8), (0.5, 0.8)]), 2)
    0.64
    """
    kept = 1.0
    for presence, effect in causes:
        kept *= 1 - _product(presence, effect)
    return 1 - kept


def shares(causes: Sequence[Pair]) -> list[float]:
    """The share of each cause in the noisy-or: -log(1 - q) divided by the sum over causes, q = P(H | cause) P(cause).

    The logarithms of the factors of the product are additive, so the shares do not depend on the order of the causes.
    They sum to 1, or are all 0 where no cause is present. If some causes are certain, these share everything equally.

    Raises:
        ValueError: a number is not a probability.

    >>> shares([(0.5, 1.0), (0.5, 1.0), (0.0, 1.0)])
    [0.5, 0.5, 0.0]
    """
    products = [_product(presence, effect) for presence, effect in causes]
    certain = sum(product == 1 for product in products)
    if certain:
        return [1 / certain if product == 1 else 0.0 for product in products]
    weights = [-math.log1p(-product) for product in products]
    total = sum(weights)
    return [weight / total if total > 0 else 0.0 for weight in weights]


def effective_attention(
    position: float,
    length: float,
    *,
    start: float = 1.0,
    end: float = 0.8,
    tau_start: float = 2_000.0,
    tau_end: float = 3_000.0,
    base: float = 0.2,
) -> float:
    """The attention that a passage gets, relative to the largest that a passage can get, from 0 to 1.

    start * exp(-p / tau_start) + end * exp(-(L - p) / tau_end) + base, divided by the larger of its values at the two
    ends. The constants follow the shape of published curves and are not fitted to any model.

    Args:
        position: tokens before the passage.
        length: tokens of the whole context.
        start: the weight of the beginning.
        end: the weight of the end.
        tau_start: the tokens over which the weight of the beginning falls to 1/e, about a third.
        tau_end: the same for the end.
        base: the weight that every position has.

    Raises:
        ValueError: the position is outside of the context.

    >>> effective_attention(0, 1_000) > effective_attention(50_000, 100_000)
    True
    """
    if not 0 <= position <= length:
        raise ValueError(f"a position is from 0 to the length {length}, got {position}")

    def at(place: float) -> float:
        return start * math.exp(-place / tau_start) + end * math.exp(-(length - place) / tau_end) + base

    most = max(at(0), at(length))
    return min(1.0, at(position) / most) if most > 0 else 0.0


def _product(presence: float, effect: float) -> float:
    if not (0 <= presence <= 1 and 0 <= effect <= 1):
        raise ValueError(f"probabilities are from 0 to 1, got {presence} and {effect}")
    return presence * effect
