"""Computes with the numbers that a text states; the only place that does, for operations in words and in signs alike.

`verify.arithmetic` decides what is an operation in a sentence and how much rounding it tolerates.
"""

from collections.abc import Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Final

OPERATIONS: Final = {
    "+": "+",
    "plus": "+",
    "-": "-",
    "−": "-",
    "–": "-",
    "minus": "-",
    "×": "*",
    "x": "*",
    "✕": "*",
    "*": "*",
    "·": "*",
    "⋅": "*",
    "times": "*",
    "multiplied by": "*",
    "\\times": "*",
    "\\cdot": "*",
    "/": "/",
    "÷": "/",
    "divided by": "/",
    "\\div": "/",
}
"""The operation that each way of writing it stands for: `+`, `-`, `*` or `/`."""


def calculate(first: Decimal, operation: str, second: Decimal) -> Decimal | None:
    """The result of an operation; none for a division by zero or a result that is too large for a decimal.

    Args:
        first: the left operand.
        operation: `+`, `-`, `*` or `/`.
        second: the right operand.

    >>> calculate(Decimal(4), "*", Decimal(12)), calculate(Decimal(1), "/", Decimal(0))
    (Decimal('48'), None)
    """
    try:
        match operation:
            case "+":
                return first + second
            case "-":
                return first - second
            case "*":
                return first * second
            case _:
                return first / second
    except (DivisionByZero, InvalidOperation, Overflow):
        return None


def total(values: Sequence[Decimal]) -> Decimal:
    """The sum.

    >>> total([Decimal(1), Decimal(2)])
    Decimal('3')
    """
    return sum(values, Decimal(0))


def mean(values: Sequence[Decimal]) -> Decimal:
    """The arithmetic mean of at least one value.

    >>> mean([Decimal(1), Decimal(2)])
    Decimal('1.5')
    """
    return total(values) / len(values)


def median(values: Sequence[Decimal]) -> Decimal:
    """The middle one of at least one value; the mean of the two in the middle where their number is even.

    >>> median([Decimal(9), Decimal(1), Decimal(2)]), median([Decimal(1), Decimal(2)])
    (Decimal('2'), Decimal('1.5'))
    """
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2
