"""Functions and tools behind the gate: only what has passed comes out."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.options import OnWithheld as OnWithheld
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "assay.guard.options": ("OnWithheld",),
        },
    )
