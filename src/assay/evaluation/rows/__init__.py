"""Labelled rows and their results: reading, slicing, and files."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.rows.atomic_files import write_file as write_file
    from assay.evaluation.rows.kept_rows import KeptRow as KeptRow
    from assay.evaluation.rows.kept_rows import keep_rows as keep_rows
    from assay.evaluation.rows.kept_rows import kept_row as kept_row
    from assay.evaluation.rows.kept_rows import read_kept as read_kept
    from assay.evaluation.rows.reading import Row as Row
    from assay.evaluation.rows.reading import make_evidence as make_evidence
    from assay.evaluation.rows.reading import parse_row as parse_row
    from assay.evaluation.rows.reading import read_rows as read_rows
    from assay.evaluation.rows.reading import record_of_cells as record_of_cells
    from assay.evaluation.rows.reading import record_of_columns as record_of_columns
    from assay.evaluation.rows.reading import record_of_line as record_of_line
    from assay.evaluation.rows.results import Result as Result
    from assay.evaluation.rows.results import ResultLog as ResultLog
    from assay.evaluation.rows.results import read_results as read_results
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".atomic_files": ("write_file",),
            ".kept_rows": ("KeptRow", "keep_rows", "kept_row", "read_kept"),
            ".reading": (
                "Row",
                "make_evidence",
                "parse_row",
                "read_rows",
                "record_of_cells",
                "record_of_columns",
                "record_of_line",
            ),
            ".results": ("Result", "ResultLog", "read_results"),
        },
    )
