"""Values of another type than their column: SQLite stores whatever it is given, and nothing of ours stores such.

What is read of them would be another value to each reader, or none: they are reported before anything else is read.
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
"""Those whose rows are checked against it."""


def foreign_values(connection: Connection, tenant: str, among: Collection[Table]) -> Iterator[str]:
    """What is of another type than its column, a sentence for each; other databases than SQLite store no such value."""
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
        wanted = ["blob"]
    elif isinstance(column.type, Boolean | Integer):
        wanted = ["integer"]
    elif isinstance(column.type, Double):
        wanted = ["real", "integer"]
    else:
        wanted = ["text"]
    return kind.not_in(["null", *wanted])


NO_TEXT: Final = "a text column holds something that is not text, and its row cannot be read"
"""What is said of bytes that stand as a text and are none."""


def undecodable(error: OperationalError) -> bool:
    """Whether a database could not be read because a text in it is none."""
    return "decode" in str(error.orig)
