"""Evidence that is no prose, read into records: JSON, "key: value" lines, and tables of cells.

What cannot be read safely is not read at all: broken or ambiguous JSON, rows of unequal length, and whatever exceeds
the bounds of `reader`, so that nothing is said of a record that was seen in part.
"""

from assay.verify.exact.records.model import Cell, Group, Kind, Record, Records
from assay.verify.exact.records.reader import MOST_CELLS, MOST_CHARACTERS, RecordReader

__all__ = ["MOST_CELLS", "MOST_CHARACTERS", "Cell", "Group", "Kind", "Record", "RecordReader", "Records"]
