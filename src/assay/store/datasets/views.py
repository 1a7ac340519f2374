"""Saved views of lists: filters and columns under a name."""

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
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import new_id


@dataclass(frozen=True, slots=True)
class SavedView:
    """A saved view of a list."""

    id: str
    name: str
    query: str
    """The query string of the list's URL."""
    created: datetime


def save_view(store: Store, tenant: str, owner: str, page: str, name: str, query: str) -> str:
    """Save a view; a view with the same name is replaced. The log gets only the entry that binds its row.

    Args:
        store: the store.
        tenant: the tenant of the user.
        owner: the id of the user; nobody else sees the view.
        page: the list.
        name: the name of the view.
        query: the query string of the list's URL.

    Returns:
        The id of the view.

    Raises:
        DatasetError: the name or the query is malformed, or the user has too many views.
    """
    stored_name, now, fresh_id = checked_name(name), store.now(), new_id()
    if len(query) > LONGEST_QUERY or not query.isascii():
        raise DatasetError(f"expected the query of an address of at most {LONGEST_QUERY:,} characters", "refused")
    saved: list[str] = []

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.saved_views
        views = {view.name: view for view in list_views(connection, tenant, owner, page)}
        existing = views.get(stored_name)
        if existing is None and len(views) >= MOST_VIEWS:
            raise DatasetError(f"expected at most {MOST_VIEWS} views of a list; remove one first", "refused")
        id_ = fresh_id if existing is None else existing.id
        saved[:] = [id_]
        touch(connection, VIEW, [id_])
        if existing is None:
            connection.execute(
                insert(table),
                {
                    "tenant": tenant,
                    "id": id_,
                    "owner": owner,
                    "page": page,
                    "name": stored_name,
                    "created": micros(now),
                    "query": query,
                },
            )
        else:
            connection.execute(update(table).where(table.c.tenant == tenant, table.c.id == id_).values(query=query))
        return []

    store.apply(Change(checked_tenant(tenant), act=act))
    return saved[0]


def drop_view(store: Store, tenant: str, owner: str, id_: str) -> None:
    """Delete a view of a user.

    Raises:
        DatasetError: the user has no such view.
    """

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.saved_views
        this_view = (table.c.tenant == tenant, table.c.id == id_, table.c.owner == owner)
        if connection.execute(select(table.c.id).where(*this_view)).first() is None:
            raise DatasetError("expected a view of yours, and there is none with this id", "missing")
        touch(connection, VIEW, [id_])
        connection.execute(delete(table).where(*this_view))
        return []

    store.apply(Change(checked_tenant(tenant), act=act))


def list_views(connection: Connection, tenant: str, owner: str, page: str) -> list[SavedView]:
    """The views of a list that a user has saved, by name."""
    table = tables.saved_views.c
    rows = connection.execute(
        select(table.id, table.name, table.query, table.created)
        .where(table.tenant == tenant, table.owner == owner, table.page == page)
        .order_by(table.name)
        .limit(MOST_VIEWS)
    )
    return [SavedView(row.id, row.name, row.query, moment_at(row.created)) for row in rows]
