"""Dates and times of day in a text, and how two of them compare."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.dates.detection import DateMention as DateMention
    from assay.text.dates.detection import DateRelation as DateRelation
    from assay.text.dates.detection import find_dates as find_dates
    from assay.text.dates.detection import relate_dates as relate_dates
    from assay.text.dates.informal import InformalDate as InformalDate
    from assay.text.dates.informal import informal_clocks as informal_clocks
    from assay.text.dates.informal import informal_dates as informal_dates
    from assay.text.dates.months import MONTH_NAMES as MONTH_NAMES
    from assay.text.dates.months import MONTHS as MONTHS
    from assay.text.dates.ranges import find_date_lists as find_date_lists
    from assay.text.dates.ranges import find_date_ranges as find_date_ranges
    from assay.text.dates.ranges import range_contains as range_contains
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".detection": ("DateMention", "DateRelation", "find_dates", "relate_dates"),
            ".informal": ("InformalDate", "informal_clocks", "informal_dates"),
            ".months": ("MONTHS", "MONTH_NAMES"),
            ".ranges": ("find_date_lists", "range_contains", "find_date_ranges"),
        },
        renamed={"coordinated": "find_date_lists", "holds": "range_contains", "spanned": "find_date_ranges"},
    )
