"""Values of another type than their column. SQLite stores values of any type in any column; assay never writes such.

Each reader would convert such a value differently or fail on it, so they are reported before anything else is read.
"""

from collections.abc import Collection, Iterator
from typing import Any, Final

from sqlalchemy import Boolean, Column, ColumnElement, Connection, Double, Integer, LargeBinary, Table, func, select
from sqlalchemy.exc import OperationalError

from assay.store.audit.units import UNBOUND_TABLES
from assay.store.db import tables
from assay.store.db.tables import Packed

LOG: Final = (
    tables.audit_logs,
    tables.audit_entries,
    tables.audit_tiles,
    tables.audit_checkpoints,
    tables.audit_anchors,
)
"""The tables of the log itself."""
CONTENTS: Final = tuple(
    table for table in tables.metadata.sorted_tables if table not in LOG and table.name not in UNBOUND_TABLES
)
"""The tables whose rows are checked against the log."""


def foreign_values(connection: Connection, tenant: str, among: Collection[Table]) -> Iterator[str]:
    """Columns with values of another type, one sentence each; empty in databases other than SQLite, which enforce
    types."""
    if connection.dialect.name != "sqlite":
        return
    for table in among:
        counts = [func.count().filter(_foreign(column)).label(column.name) for column in table.columns]
        row = connection.execute(select(*counts).where(table.c.tenant == tenant)).one()
        for name, count in row._mapping.items():  # noqa: SLF001 the documented way to a row's names
            if count:
                yield f"{count:,} values of {table.name}.{name} are of another type than their column"


def _foreign(column: Column[Any]) -> ColumnElement[bool]:
    kind = func.typeof(column)
    if isinstance(column.type, LargeBinary | Packed):
        expected = ["blob"]
    elif isinstance(column.type, Boolean | Integer):
        expected = ["integer"]
    elif isinstance(column.type, Double):
        expected = ["real", "integer"]
    else:
        expected = ["text"]
    return kind.not_in(["null", *expected])


UNDECODABLE: Final = "a text column holds something that is not text, and its row cannot be read"
"""The message for bytes in a text column that are not valid text."""


def is_undecodable(error: OperationalError) -> bool:
    """Whether a read failed because a text column holds bytes that are not valid text."""
    return "decode" in str(error.orig)
