"""Reads structured evidence into records: JSON, "key: value" lines, and tables.

What cannot be read safely is not read at all: broken or ambiguous JSON, rows of unequal length, and anything beyond the
limits of `reader`, so that no record is read in part.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.exact.records.model import Cell as Cell
    from assay.verify.exact.records.model import Group as Group
    from assay.verify.exact.records.model import Kind as Kind
    from assay.verify.exact.records.model import Record as Record
    from assay.verify.exact.records.model import Records as Records
    from assay.verify.exact.records.reader import MOST_CELLS as MOST_CELLS
    from assay.verify.exact.records.reader import MOST_CHARACTERS as MOST_CHARACTERS
    from assay.verify.exact.records.reader import RecordReader as RecordReader
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".model": ("Cell", "Group", "Kind", "Record", "Records"),
            ".reader": ("MOST_CELLS", "MOST_CHARACTERS", "RecordReader"),
        },
    )
