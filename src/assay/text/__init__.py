"""Text in, structure out: sentences, claims, quantities, dates, names, citations and hedges."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.orders import find_orders as find_orders
    from assay.text.past import asks_about_past as asks_about_past
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".orders": ("find_orders",),
            ".past": ("asks_about_past",),
        },
    )
