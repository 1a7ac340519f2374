"""Tenants, which the operator creates and lists. A caller's request never reaches another tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from assay.store.access.values import COMMAND, TakenError, access_entry, shown_name
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import TENANT
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store
from assay.store.db.writer import Change


@dataclass(frozen=True, slots=True)
class Tenant:
    """One of several customers who share a server and never see each other's rows."""

    name: str
    title: str
    """Its display name."""
    created: datetime


def create_tenant(store: Store, name: str, title: str | None = None, *, actor: str = COMMAND) -> Tenant:
    """Create a tenant.

    Args:
        store: the store.
        name: its name, in the form that `checked_tenant` requires.
        title: its display name; the name by default.
        actor: who creates it, for the log.

    Raises:
        TakenError: there is a tenant of this name already.
        StoreError: a name is malformed, or it cannot be stored.
    """
    tenant = Tenant(checked_tenant(name), shown_name(title or name, "a tenant"), store.now())

    def act(connection: Connection) -> Sequence[Entry]:
        if _exists(connection, name):
            raise TakenError(f"expected a new name, and there is a tenant {name} already")
        touch(connection, TENANT)
        connection.execute(
            tables.tenants.insert().values(tenant=name, title=tenant.title, created=micros(tenant.created))
        )
        return [access_entry("tenant.create", actor, name, tenant.created)]

    store.apply(Change(name, act=act))
    return tenant


def list_tenants(store: Store) -> list[Tenant]:
    """All created tenants, by name; for the operator only."""
    table = tables.tenants.c
    with store.reading_across() as connection:
        rows = connection.execute(select(table.tenant, table.title, table.created).order_by(table.tenant))
        return [Tenant(row.tenant, row.title, moment_at(row.created)) for row in rows]


def ensure_tenant(connection: Connection, name: str, now: datetime) -> None:
    """Create a tenant in a transaction if it does not exist: creating the first user of `default` creates it too."""
    if not _exists(connection, name):
        touch(connection, TENANT)
        connection.execute(tables.tenants.insert().values(tenant=name, title=name, created=micros(now)))


def _exists(connection: Connection, name: str) -> bool:
    table = tables.tenants.c
    return connection.execute(select(table.tenant).where(table.tenant == name)).first() is not None
