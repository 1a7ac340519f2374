"""The logs of all tenants of one database: which tenants there are, and which of them have rows without a log.

A tenant's rows are bound by its own log. So a row that is copied to a tenant that has none is found only by who looks
at all of them.
"""

from sqlalchemy import Connection, Table, select

from assay.store.audit.units import UNITS
from assay.store.audit.verification.log import Finding, FindingCode
from assay.store.db import tables
from assay.store.db.tables import audit_checkpoints, audit_entries, audit_logs, audit_tiles

_OF_LOGS = (audit_entries, audit_tiles, audit_checkpoints)


def tenants_of(connection: Connection) -> dict[str, list[str]]:
    """The tenants that have anything that a log binds, or a log, each with the names of the tables.

    Args:
        connection: one that sees the rows of all tenants (`Store.reading_across`).
    """
    found: dict[str, list[str]] = {}
    for table in (audit_logs, *_OF_LOGS, *_bound()):
        for tenant in connection.execute(select(table.c.tenant).distinct()).scalars():
            found.setdefault(str(tenant), []).append(table.name)
    return dict(sorted(found.items()))


def without_log(connection: Connection) -> list[Finding]:
    """The tenants that have rows and no log: of where the rows come from nothing tells.

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


def _bound() -> list[Table]:
    found = [tables.hourly]
    for unit in UNITS:
        found += [unit.head, *(part.table for part in unit.parts)]
    return [table for table in dict.fromkeys(found) if "tenant" in table.c]
