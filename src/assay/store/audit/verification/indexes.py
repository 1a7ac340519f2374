"""Whether every index of a database has the rows of its table: pages are read through indexes.

Who may write the schema of SQLite can have an index made again without some of the rows, and put its text back as it
was. What is read through it then lacks them, and what is read row by row has all of them: a page shows less than is
stored and holds against the log. In PostgreSQL no such writing is open to the owner of a table; who may write its
catalogues is told of nowhere here (docs/audit.md).
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

_MOST: Final = 20


def lacking(connection: Connection) -> Iterator[str]:
    """What of SQLite's own tables and indexes does not fit together, a sentence for each."""
    if connection.dialect.name != "sqlite":
        return
    for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})"):
        if row[0] != "ok":
            message = " ".join(str(row[0]).split())[:200]
            yield f"the database does not fit together, so that pages may show less than is stored: {message}"
