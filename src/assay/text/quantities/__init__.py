"""Quantities in a text: numbers with their units, bounds and ranges, and how two of them compare."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.quantities.compounds import find_duration as find_duration
    from assay.text.quantities.detection import Quantity as Quantity
    from assay.text.quantities.detection import Relation as Relation
    from assay.text.quantities.detection import find_quantities as find_quantities
    from assay.text.quantities.detection import relate as relate
    from assay.text.quantities.detection import roundness as roundness
    from assay.text.quantities.number_words import NUMBER_WORDS as NUMBER_WORDS
    from assay.text.quantities.numerals import decode_number as decode_number
    from assay.text.quantities.operations import OPERATIONS as OPERATIONS
    from assay.text.quantities.operations import calculate as calculate
    from assay.text.quantities.operations import mean as mean
    from assay.text.quantities.operations import median as median
    from assay.text.quantities.operations import total as total
    from assay.text.quantities.ranges import share_of as share_of
    from assay.text.quantities.units import CURRENCY_CODES as CURRENCY_CODES
    from assay.text.quantities.units import CURRENCY_SYMBOLS as CURRENCY_SYMBOLS
    from assay.text.quantities.units import CURRENCY_WORDS as CURRENCY_WORDS
    from assay.text.quantities.units import KEY_UNITS as KEY_UNITS
    from assay.text.quantities.units import UNIT_SYMBOLS as UNIT_SYMBOLS
    from assay.text.quantities.units import UNIT_WORDS as UNIT_WORDS
    from assay.text.quantities.units import Unit as Unit
    from assay.text.quantities.units import is_unit_letter as is_unit_letter
    from assay.text.quantities.units_after import find_per as find_per
    from assay.text.quantities.values import as_sterling as as_sterling
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".compounds": ("find_duration",),
            ".detection": ("Quantity", "Relation", "find_quantities", "relate", "roundness"),
            ".number_words": ("NUMBER_WORDS",),
            ".numerals": ("decode_number",),
            ".operations": ("OPERATIONS", "calculate", "mean", "median", "total"),
            ".ranges": ("share_of",),
            ".units": (
                "CURRENCY_CODES",
                "CURRENCY_SYMBOLS",
                "CURRENCY_WORDS",
                "KEY_UNITS",
                "UNIT_SYMBOLS",
                "UNIT_WORDS",
                "Unit",
                "is_unit_letter",
            ),
            ".units_after": ("find_per",),
            ".values": ("as_sterling",),
        },
    )
