"""Figures in messages: a quantity as it is written, and a computed value in the unit of a quantity.

The figures of a text may be of any size. Nothing here raises for a large one, so that a hostile text cannot make a
check fail: `round` and `%` of `decimal` do where the result has more digits than its context.
"""

from decimal import Decimal
from typing import Final

from assay.text.quantities import UNIT_SYMBOLS, UNIT_WORDS, Quantity

UNITS: Final = {unit.name: unit for unit in (*UNIT_SYMBOLS.values(), *UNIT_WORDS.values())}
"""Every unit by its name."""
_EXPONENT_FROM: Final = Decimal(10) ** 15
"""From this value on a figure is written with an exponent."""


def as_written(text: str, quantity: Quantity) -> str:
    """A quantity in the words of its text."""
    return text[quantity.start : quantity.end]


def format_number(value: Decimal, places: int | None = 4) -> str:
    """A value without trailing zeros; from 10^15 on with an exponent.

    Args:
        value: the value.
        places: the most decimal places; all of them where none.

    >>> format_number(Decimal("12.50")), format_number(Decimal(1) / 3, 2), format_number(Decimal(10) ** 30)
    ('12.5', '0.33', '1.000E+30')
    """
    if abs(value) >= _EXPONENT_FROM:
        return f"{value:.3E}"
    return f"{(value if places is None else round(value, places)).normalize():f}"


def has_fraction(value: Decimal) -> bool:
    """Whether a value is not a whole number."""
    return value != value.to_integral_value()


def unit_size(quantity: Quantity) -> Decimal:
    """How many base units one unit of a quantity has; 1 where its value is 0 and therefore does not show it."""
    if quantity.dimension == "temperature":
        return UNITS[quantity.unit].size if quantity.unit in UNITS else Decimal(1)
    return quantity.low / quantity.value if quantity.low and quantity.value else Decimal(1)


def is_minor(quantity: Quantity) -> bool:
    """Whether a sum of money is given in hundredths, as by a key "price_cents"."""
    return quantity.dimension.startswith("money:") and quantity.low is not None and quantity.low != quantity.value


def in_unit_of(quantity: Quantity, value: Decimal) -> Decimal:
    """A value in base units, converted to the unit of a quantity.

    >>> from assay.text.quantities import find_quantities
    >>> in_unit_of(find_quantities("3 km")[0], Decimal(500)), in_unit_of(find_quantities("3 °C")[0], Decimal("293.15"))
    (Decimal('0.5'), Decimal('20.00'))
    """
    return (value - _offset(quantity)) / unit_size(quantity)


def in_base_unit(quantity: Quantity, value: Decimal) -> Decimal:
    """A value in the unit of a quantity, converted to base units.

    >>> from assay.text.quantities import find_quantities
    >>> in_base_unit(find_quantities("3 km")[0], Decimal(2)), in_base_unit(find_quantities("3 °C")[0], Decimal(20))
    (Decimal('2000'), Decimal('293.15'))
    """
    return value * unit_size(quantity) + _offset(quantity)


def _offset(quantity: Quantity) -> Decimal:
    """What zero of a quantity's unit is in base units; not zero for temperatures alone."""
    is_temperature = quantity.dimension == "temperature" and quantity.unit in UNITS
    return UNITS[quantity.unit].offset if is_temperature else Decimal(0)
