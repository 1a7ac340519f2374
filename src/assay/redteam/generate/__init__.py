"""Generating attacks from the user's own corpus by rules; a chat model may reword them more naturally."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.generate.rewording import RewordingResult as RewordingResult
    from assay.redteam.generate.rewording import reword as reword
    from assay.redteam.generate.writer import PER_CATEGORY as PER_CATEGORY
    from assay.redteam.generate.writer import write_suite as write_suite
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".rewording": ("RewordingResult", "reword"), ".writer": ("PER_CATEGORY", "write_suite")},
        renamed={
            "Reworded": "RewordingResult",
        },
    )
