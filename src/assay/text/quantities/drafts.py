"""A quantity while it is being read."""

from dataclasses import dataclass
from decimal import Decimal

from assay.text.quantities.units import Unit
from assay.text.quantities.values import Bound


@dataclass(slots=True)
class Draft:
    """A quantity while it is being read."""

    start: int
    end: int
    number_start: int
    number_end: int
    value: Decimal
    decimals: int
    scale: Decimal
    unit: Unit
    bound: Bound = "exact"
    ordinal: bool = False
    weak: bool = False
    approximate: bool = False
    quiet: bool = False
