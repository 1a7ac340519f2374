"""Taking turns: what only one of several processes may do at a time, agreed on in the database."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db.store import Store
from assay.store.db.tables import turns
from assay.store.db.writer import Change
from assay.store.records.recording import micros


def take_lease(store: Store, tenant: str, name: str, holder: str, seconds: float) -> bool:
    """Take a turn, or keep the one that one has.

    A holder that vanished loses it when its time is up.

    Args:
        store: the store.
        tenant: whose work it is.
        name: what is done.
        holder: who takes it: a name that no other process has.
        seconds: for how long.

    Returns:
        Whether it is the holder's turn now.

    Raises:
        StoreError: it cannot be stored.
    """
    got: list[bool] = []

    def act(connection: Connection) -> Sequence[Entry]:
        now = store.now()
        at, until = micros(now), micros(now + timedelta(seconds=seconds))
        table = turns.c
        here = (table.tenant == tenant) & (table.name == name)
        row = connection.execute(select(table.holder, table.until).where(here)).one_or_none()
        mine = row is None or row.holder == holder or row.until <= at
        got[:] = [mine]
        if row is None:
            connection.execute(insert(turns), {"tenant": tenant, "name": name, "holder": holder, "until": until})
        elif mine:
            connection.execute(update(turns).where(here).values(holder=holder, until=until))
        return ()

    store.apply(Change(tenant, act=act))
    return got[0]
