"""The sources of rows: local files, object stores, folders, data sets on disk, SQL queries and the record."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.batch.sources.opening import open_sources as open_sources
    from assay.batch.sources.record import record_rows as record_rows
    from assay.batch.sources.text_files import MAX_ROW_BYTES as MAX_ROW_BYTES
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".opening": ("open_sources",), ".record": ("record_rows",), ".text_files": ("MAX_ROW_BYTES",)},
    )
