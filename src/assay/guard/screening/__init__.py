"""Screening: which retrieved passages may be evidence, which versions they replace, and which contradict each other."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.screening.screener import Screener as Screener
    from assay.guard.screening.screener import have_same_values as have_same_values
    from assay.guard.screening.screener import says_the_same as says_the_same
    from assay.guard.screening.screener import screener_of as screener_of
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".screener": ("Screener", "have_same_values", "says_the_same", "screener_of")},
    )
