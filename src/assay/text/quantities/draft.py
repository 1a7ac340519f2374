"""A quantity while it is being read."""

from dataclasses import dataclass
from decimal import Decimal

from assay.text.quantities.units import Unit
from assay.text.quantities.values import Bound


@dataclass(slots=True)
class Draft:
    """A quantity while it is being read; its fields become those of `Quantity`, which documents them."""

    start: int
    end: int
    number_start: int
    number_end: int
    value: Decimal
    decimals: int
    """Digits after the decimal point, as written."""
    scale: Decimal
    """What the value is multiplied by: a million in "3 million"."""
    unit: Unit
    bound: Bound = "exact"
    ordinal: bool = False
    weak: bool = False
    approximate: bool = False
    quiet: bool = False
    per: Unit | None = None
