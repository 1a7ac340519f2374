"""Triggers, rules and views in a database: code that changes or hides rows. assay creates none.

What a trigger changes in the course of a regular change is recorded in the log as a part of that change, and a view in
the place of a table shows rows that nobody stored. Comparing rows with the log detects neither, so they are reported.
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, bindparam, text

from assay.store.db import tables

_SQLITE: Final = text(
    "SELECT type AS kind, name, tbl_name AS of FROM sqlite_master"
    " WHERE type = 'trigger' OR (type = 'view' AND name IN :names) ORDER BY type, name"
).bindparams(bindparam("names", expanding=True))
_POSTGRESQL: Final = text(
    "SELECT 'trigger' AS kind, t.tgname AS name, c.relname AS of FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
    " WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid) AND c.relname IN :names"
    " UNION ALL SELECT 'rule', rulename, tablename FROM pg_rules WHERE tablename IN :names"
    " UNION ALL SELECT 'view', viewname, viewname FROM pg_views WHERE viewname IN :names ORDER BY 1, 2"
).bindparams(bindparam("names", expanding=True))


def foreign_code(connection: Connection) -> Iterator[str]:
    """Triggers, rules and views that may change or hide rows of the tables, one sentence each."""
    query = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}.get(connection.dialect.name)
    if query is None:
        return
    for row in connection.execute(query, {"names": sorted(tables.metadata.tables)}):
        yield (
            f"the {row.kind} {str(row.name)[:100]!a} is on {str(row.of)[:100]!a} and is not one of ours: the log "
            "would record what it changes as our own change"
        )
