"""Tenants: made and listed by the operator. No request of a caller reaches beyond its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from assay.store.access.values import COMMAND, TakenError, access_entry, shown_name
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import TENANT
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros, moment_at


@dataclass(frozen=True, slots=True)
class Tenant:
    """One of those who share a server and never see each other's rows."""

    name: str
    title: str
    """Its display name."""
    created: datetime


def create_tenant(store: Store, name: str, title: str | None = None, *, actor: str = COMMAND) -> Tenant:
    """Make a tenant.

    Args:
        store: the store.
        name: as in `checked_tenant`.
        title: what people call it; its name by default.
        actor: who does it.

    Raises:
        TakenError: there is one of this name.
        StoreError: a name is malformed, or it cannot be stored.
    """
    made = Tenant(checked_tenant(name), shown_name(title or name, "a tenant"), store.now())

    def act(connection: Connection) -> Sequence[Entry]:
        if _known(connection, name):
            raise TakenError(f"expected a new name, and there is a tenant {name} already")
        touch(connection, TENANT)
        connection.execute(tables.tenants.insert().values(tenant=name, title=made.title, created=micros(made.created)))
        return [access_entry("tenant.create", actor, name, made.created)]

    store.apply(Change(name, act=act))
    return made


def list_tenants(store: Store) -> list[Tenant]:
    """All tenants that were made, by name: the operator's own view."""
    table = tables.tenants.c
    with store.reading_across() as connection:
        rows = connection.execute(select(table.tenant, table.title, table.created).order_by(table.tenant))
        return [Tenant(row.tenant, row.title, moment_at(row.created)) for row in rows]


def ensure_tenant(connection: Connection, name: str, now: datetime) -> None:
    """Make a tenant in a transaction, where it is not there: the first user of `default` makes that one too."""
    if not _known(connection, name):
        touch(connection, TENANT)
        connection.execute(tables.tenants.insert().values(tenant=name, title=name, created=micros(now)))


def _known(connection: Connection, name: str) -> bool:
    table = tables.tenants.c
    return connection.execute(select(table.tenant).where(table.tenant == name)).first() is not None
