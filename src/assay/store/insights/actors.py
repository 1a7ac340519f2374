"""Who did what entries of the log tell of, by name: the log itself holds ids, and commitments to names."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, select, tuple_

from assay.store.audit.entries import FEEDBACK, REVIEW
from assay.store.db import tables

_LONGEST: Final = 200
"""Characters of a name."""


def actors_of(connection: Connection, tenant: str, entries: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """The names of those who did what entries tell of, by the index of the entry.

    They come out of the rows that the log binds (`assay.store.audit.units`): a name that was altered there is found by
    a verification. One who was removed, and a name that was erased with its run, is left out.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        entries: what the entries say, by index; few enough for a page.
    """
    ids = {str(data["actor"]) for data in entries.values() if isinstance(data.get("actor"), str)}
    people = _named(connection, tenant, ids)
    deciding = {
        index: (str(data["record"]), int(data["position"]))
        for index, data in entries.items()
        if data.get("kind") == REVIEW and isinstance(data.get("position"), int)
    }
    given = {
        index: str(data["feedback"])
        for index, data in entries.items()
        if data.get("kind") == FEEDBACK and isinstance(data.get("feedback"), str)
    }
    decided, said = _decided(connection, tenant, deciding.values()), _said(connection, tenant, given.values())
    found = {index: people.get(str(data.get("actor"))) for index, data in entries.items()}
    found |= {index: decided.get(place) for index, place in deciding.items()}
    found |= {index: said.get(id_) for index, id_ in given.items()}
    return {index: name[:_LONGEST] for index, name in found.items() if name}


def _named(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in (tables.users, tables.api_keys):
        rows = connection.execute(
            select(table.c.id, table.c.name).where(
                table.c.tenant == tenant, table.c.id.in_(list(ids)), table.c.name.is_not(None)
            )
        )
        found |= {row.id: row.name for row in rows}
    return found


def _decided(connection: Connection, tenant: str, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    table, wanted = tables.decisions.c, list(places)
    if not wanted:
        return {}
    rows = connection.execute(
        select(table.run, table.position, table.actor).where(
            table.tenant == tenant, tuple_(table.run, table.position).in_(wanted)
        )
    )
    return {(row.run, row.position): row.actor for row in rows}


def _said(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    table = tables.feedback.c
    rows = connection.execute(
        select(table.id, table.author).where(table.tenant == tenant, table.id.in_(list(ids)), table.author.is_not(None))
    )
    return {row.id: row.author for row in rows}
