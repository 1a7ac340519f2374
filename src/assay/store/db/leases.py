"""Leases: work that only one of several processes may do at a time, agreed on in the database."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db.column_values import micros
from assay.store.db.store import Store
from assay.store.db.tables import turns
from assay.store.db.writer import Change


def take_lease(store: Store, tenant: str, name: str, holder: str, seconds: float) -> bool:
    """Take a lease, or renew the one that the holder already has.

    A holder that vanished loses its lease when the time is up.

    Args:
        store: the store.
        tenant: whose work it is.
        name: the work that the lease is for.
        holder: who takes the lease: a name that no other process has.
        seconds: how long the lease lasts.

    Returns:
        Whether the holder has the lease now.

    Raises:
        StoreError: the lease cannot be stored.
    """
    granted: list[bool] = []

    def act(connection: Connection) -> Sequence[Entry]:
        now = store.now()
        until = micros(now + timedelta(seconds=seconds))
        table = turns.c
        this_lease = (table.tenant == tenant) & (table.name == name)
        row = connection.execute(select(table.holder, table.until).where(this_lease)).one_or_none()
        available = row is None or row.holder == holder or row.until <= micros(now)
        granted[:] = [available]
        if row is None:
            connection.execute(insert(turns), {"tenant": tenant, "name": name, "holder": holder, "until": until})
        elif available:
            connection.execute(update(turns).where(this_lease).values(holder=holder, until=until))
        return ()

    store.apply(Change(tenant, act=act))
    return granted[0]
