"""Checks a claim against records: which record and fields it mentions, and whether their values are those it gives.

A statement is read as conditions on one record: this field has this value. Every content word has to be explained by
the record's title, the name of a field, a value, or a phrase that only presents ("the table lists"). Where all
conditions hold, the statement is supported. Where one record is meant, one condition is left and the claim gives a
different value of the same type, it is contradicted. Anything else decides nothing.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.exact.compare_records.compare import NOTHING as NOTHING
    from assay.verify.exact.compare_records.compare import RecordResult as RecordResult
    from assay.verify.exact.compare_records.compare import compare_records as compare_records
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".compare": ("NOTHING", "RecordResult", "compare_records"),
        },
    )
