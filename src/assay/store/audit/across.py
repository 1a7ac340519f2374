"""The logs of all tenants of a database: which tenants there are, and which of them have rows but no log.

A tenant's rows are bound by that tenant's log. So rows that were copied to a tenant without a log are found only by
looking at all tenants.
"""

from sqlalchemy import Connection, Table, select

from assay.store.audit.units import UNITS
from assay.store.audit.verification.log import Finding, FindingCode
from assay.store.db import tables
from assay.store.db.tables import audit_checkpoints, audit_entries, audit_logs, audit_tiles

_LOG_TABLES = (audit_entries, audit_tiles, audit_checkpoints)


def tenants_of(connection: Connection) -> dict[str, list[str]]:
    """The tenants that have a log or any rows that a log binds, each with the names of the tables.

    Args:
        connection: one that sees the rows of all tenants (`Store.reading_across`).
    """
    names: dict[str, list[str]] = {}
    for table in (audit_logs, *_LOG_TABLES, *_bound_tables()):
        for tenant in connection.execute(select(table.c.tenant).distinct()).scalars():
            names.setdefault(str(tenant), []).append(table.name)
    return dict(sorted(names.items()))


def tenants_without_log(connection: Connection) -> list[Finding]:
    """The tenants that have rows but no log: nothing records where those rows come from.

    Args:
        connection: one that sees the rows of all tenants (`Store.reading_across`).
    """
    return [
        Finding(
            FindingCode.UNLOGGED,
            f"the tenant {tenant!r} has rows in {', '.join(names)}, and no log: no entry mentions them",
        )
        for tenant, names in tenants_of(connection).items()
        if audit_logs.name not in names
    ]


def _bound_tables() -> list[Table]:
    bound = [tables.hourly]
    for unit in UNITS:
        bound += [unit.head, *(part.table for part in unit.parts)]
    return [table for table in dict.fromkeys(bound) if "tenant" in table.c]
