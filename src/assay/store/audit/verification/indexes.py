"""Whether every index of a database has all rows of its table, because pages are read through indexes.

Anyone who can write the schema of a SQLite file can rebuild an index without some rows and then restore its definition.
A query through the index then misses them, while a scan of the table finds them: a page shows less than is stored, and
the rows still match the log. In PostgreSQL the owner of a table cannot do that; somebody who can write its catalogues
is out of scope (docs/audit.md).
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

_MOST: Final = 20
"""The most messages."""


def index_damage(connection: Connection) -> Iterator[str]:
    """Inconsistencies between tables and indexes that SQLite finds, one sentence each; empty in other databases."""
    if connection.dialect.name != "sqlite":
        return
    for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})"):
        if row[0] != "ok":
            message = " ".join(str(row[0]).split())[:200]
            yield f"the database does not fit together, so that pages may show less than is stored: {message}"
