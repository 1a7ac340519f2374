"""The names of the actors of log entries; the log itself has ids, and commitments to names."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, select, tuple_

from assay.store.audit.entries import FEEDBACK, REVIEW
from assay.store.db import tables

_LONGEST: Final = 200
"""The most characters of a name."""


def actors_of(connection: Connection, tenant: str, entries: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """The names of the actors of log entries, by the index of the entry.

    They are read from rows that the log binds (`assay.store.audit.units`), so verification detects an altered name.
    Removed users, and names that were erased with their run, are left out.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose log.
        entries: the fields of the entries by index; few enough for a page.
    """
    ids = {str(data["actor"]) for data in entries.values() if isinstance(data.get("actor"), str)}
    names = _names_by_id(connection, tenant, ids)
    review_keys = {
        index: (str(data["record"]), int(data["position"]))
        for index, data in entries.items()
        if data.get("kind") == REVIEW and isinstance(data.get("position"), int)
    }
    feedback_ids = {
        index: str(data["feedback"])
        for index, data in entries.items()
        if data.get("kind") == FEEDBACK and isinstance(data.get("feedback"), str)
    }
    reviewers = _reviewers(connection, tenant, review_keys.values())
    authors = _feedback_authors(connection, tenant, feedback_ids.values())
    actors = {index: names.get(str(data.get("actor"))) for index, data in entries.items()}
    actors |= {index: reviewers.get(key) for index, key in review_keys.items()}
    actors |= {index: authors.get(id_) for index, id_ in feedback_ids.items()}
    return {index: name[:_LONGEST] for index, name in actors.items() if name}


def _names_by_id(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for table in (tables.users, tables.api_keys):
        rows = connection.execute(
            select(table.c.id, table.c.name).where(
                table.c.tenant == tenant, table.c.id.in_(list(ids)), table.c.name.is_not(None)
            )
        )
        names |= {row.id: row.name for row in rows}
    return names


def _reviewers(connection: Connection, tenant: str, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The actors of decisions, by run and position."""
    table, keys = tables.decisions.c, list(keys)
    if not keys:
        return {}
    rows = connection.execute(
        select(table.run, table.position, table.actor).where(
            table.tenant == tenant, tuple_(table.run, table.position).in_(keys)
        )
    )
    return {(row.run, row.position): row.actor for row in rows}


def _feedback_authors(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    table = tables.feedback.c
    rows = connection.execute(
        select(table.id, table.author).where(table.tenant == tenant, table.id.in_(list(ids)), table.author.is_not(None))
    )
    return {row.id: row.author for row in rows}
