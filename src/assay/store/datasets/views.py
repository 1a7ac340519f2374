"""Views of a list that a person keeps: filters and columns under a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from assay.errors import DatasetError
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import VIEW
from assay.store.datasets.values import LONGEST_QUERY, MOST_VIEWS, checked_name
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import new_id
from assay.store.records.recording import checked_tenant, micros, moment_at


@dataclass(frozen=True, slots=True)
class SavedView:
    """One view."""

    id: str
    name: str
    query: str
    """The part of the list's address behind the question mark."""
    created: datetime


def save_view(store: Store, tenant: str, owner: str, page: str, name: str, query: str) -> str:
    """Keep a view; one of the same name is replaced. Its entry in the log is that of its row.

    Args:
        store: the store.
        tenant: whose.
        owner: the id of the person; views are theirs alone.
        page: of which list.
        name: what it is called.
        query: the part of the address behind the question mark.

    Returns:
        Its id.

    Raises:
        DatasetError: the name or the query is malformed, or the person has too many.
    """
    called, now, made = checked_name(name), store.now(), new_id()
    if len(query) > LONGEST_QUERY or not query.isascii():
        raise DatasetError(f"expected the query of an address of at most {LONGEST_QUERY:,} characters", "refused")
    kept: list[str] = []

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.saved_views
        own = {one.name: one for one in list_views(connection, tenant, owner, page)}
        found = own.get(called)
        if found is None and len(own) >= MOST_VIEWS:
            raise DatasetError(f"expected at most {MOST_VIEWS} views of a list; remove one first", "refused")
        id_ = made if found is None else found.id
        kept[:] = [id_]
        touch(connection, VIEW, [id_])
        if found is None:
            connection.execute(
                insert(table),
                {
                    "tenant": tenant,
                    "id": id_,
                    "owner": owner,
                    "page": page,
                    "name": called,
                    "created": micros(now),
                    "query": query,
                },
            )
        else:
            connection.execute(update(table).where(table.c.tenant == tenant, table.c.id == id_).values(query=query))
        return []

    store.apply(Change(checked_tenant(tenant), act=act))
    return kept[0]


def drop_view(store: Store, tenant: str, owner: str, id_: str) -> None:
    """Drop a view of a person's own.

    Raises:
        DatasetError: the person has none such.
    """

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.saved_views
        own = (table.c.tenant == tenant, table.c.id == id_, table.c.owner == owner)
        if connection.execute(select(table.c.id).where(*own)).first() is None:
            raise DatasetError("expected a view of yours, and there is none with this id", "missing")
        touch(connection, VIEW, [id_])
        connection.execute(delete(table).where(*own))
        return []

    store.apply(Change(checked_tenant(tenant), act=act))


def list_views(connection: Connection, tenant: str, owner: str, page: str) -> list[SavedView]:
    """The views that a person keeps of a list, by name."""
    table = tables.saved_views.c
    rows = connection.execute(
        select(table.id, table.name, table.query, table.created)
        .where(table.tenant == tenant, table.owner == owner, table.page == page)
        .order_by(table.name)
        .limit(MOST_VIEWS)
    )
    return [SavedView(row.id, row.name, row.query, moment_at(row.created)) for row in rows]
