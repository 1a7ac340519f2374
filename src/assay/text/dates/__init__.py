"""Dates and times of day in a text, and how two of them compare."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.dates.detection import DateMention as DateMention
    from assay.text.dates.detection import DateRelation as DateRelation
    from assay.text.dates.detection import find_dates as find_dates
    from assay.text.dates.detection import relate_dates as relate_dates
    from assay.text.dates.ranges import coordinated as coordinated
    from assay.text.dates.ranges import holds as holds
    from assay.text.dates.ranges import spanned as spanned
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".detection": ("DateMention", "DateRelation", "find_dates", "relate_dates"),
            ".ranges": ("coordinated", "holds", "spanned"),
        },
    )
