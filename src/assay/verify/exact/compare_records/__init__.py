"""A claim checked against records: which record and fields it mentions, and whether their values are those it gives.

A statement is read as conditions on one record: this field has this value. Every word of content in it has to be
explained, by the record's title, the name of a field, a value, or a phrase that only presents ("the table lists").
Where all conditions hold it is supported; where one record is meant, one condition is left, and the claim gives a
value of the same type that differs, it is contradicted. Anything else says nothing.
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
