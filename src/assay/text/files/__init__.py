"""Text files as documents: the one reader of their title, metadata and text."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.files.fields import FileFields as FileFields
    from assay.text.files.fields import folded_name as folded_name
    from assay.text.files.fields import read_fields as read_fields
    from assay.text.files.fields import read_metadata_day as read_metadata_day
    from assay.text.files.file_types import HTML_ENDINGS as HTML_ENDINGS
    from assay.text.files.file_types import TABLE_ENDINGS as TABLE_ENDINGS
    from assay.text.files.file_types import TEXT_ENDINGS as TEXT_ENDINGS
    from assay.text.files.file_types import read_file_text as read_file_text
    from assay.text.files.markdown import FileText as FileText
    from assay.text.files.markdown import title_of_name as title_of_name
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".fields": ("FileFields", "folded_name", "read_metadata_day", "read_fields"),
            ".file_types": ("HTML_ENDINGS", "TABLE_ENDINGS", "TEXT_ENDINGS", "read_file_text"),
            ".markdown": ("FileText", "title_of_name"),
        },
        renamed={
            "PAGES": "HTML_ENDINGS",
            "TABLES": "TABLE_ENDINGS",
            "TEXT": "TEXT_ENDINGS",
            "Told": "FileFields",
            "read_day_of": "read_metadata_day",
            "read_kind": "read_file_text",
        },
    )
