"""Text files as documents: one reading of their title, their metadata and their text."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.files.fields import FileFields as FileFields
    from assay.text.files.fields import folded_name as folded_name
    from assay.text.files.fields import read_day_of as read_day_of
    from assay.text.files.fields import read_fields as read_fields
    from assay.text.files.kinds import PAGES as PAGES
    from assay.text.files.kinds import TABLES as TABLES
    from assay.text.files.kinds import TEXT as TEXT
    from assay.text.files.kinds import read_kind as read_kind
    from assay.text.files.marked import FileText as FileText
    from assay.text.files.marked import title_of_name as title_of_name
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".fields": ("FileFields", "folded_name", "read_day_of", "read_fields"),
            ".kinds": ("PAGES", "TABLES", "TEXT", "read_kind"),
            ".marked": ("FileText", "title_of_name"),
        },
        renamed={"Told": "FileFields"},
    )
