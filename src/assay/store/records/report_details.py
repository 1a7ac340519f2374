"""Reading details of reports: decisions, claims, tool calls, feedback, policies, log entries and checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, literal, select, tuple_

from assay.errors import InputError
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at
from assay.store.records.report_lists import cursor_after, parse_cursor


@dataclass(frozen=True, slots=True)
class StoredFeedback:
    """Feedback on a run."""

    id: str
    run: str
    created: datetime
    verdict: str
    claim: int | None
    comment: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class KnownPolicy:
    """A policy under which the gate decided."""

    digest: str
    name: str
    created: datetime
    body: dict[str, Any] | None = None


def has_run(connection: Connection, tenant: str, run: str) -> bool:
    """Whether a tenant has a run with this id."""
    table = tables.runs.c
    return connection.execute(select(table.id).where(table.tenant == tenant, table.id == run)).first() is not None


def read_source_answers(connection: Connection, tenant: str, run: str) -> Sequence[dict[str, Any]]:
    """The recorded queries to knowledge sources in the first check of a run, with their answers
    (`assay.knowledge.Outcome.from_json`); empty if there were none or they were erased."""
    table = tables.runs.c
    tape = connection.execute(select(table.tape).where(table.tenant == tenant, table.id == run)).scalar_one_or_none()
    knowledge = tape.get("knowledge") if isinstance(tape, dict) else None
    return knowledge.get("outcomes", []) if isinstance(knowledge, dict) else []


def read_decisions(connection: Connection, tenant: str, run: str) -> Sequence[Any]:
    """The decisions on a run: the gate's first, then those of people."""
    table = tables.decisions.c
    return connection.execute(
        select(table.created, table.actor, table.action, table.route, table.reasons)
        .where(table.tenant == tenant, table.run == run)
        .order_by(table.position)
    ).all()


def read_claims(connection: Connection, tenant: str, report: str) -> Sequence[Row[Any]]:
    """The rows of a report's claims, in order."""
    table = tables.claims
    return connection.execute(
        select(table).where(table.c.tenant == tenant, table.c.report == report).order_by(table.c.position)
    ).all()


def read_tool_calls(connection: Connection, tenant: str, report: str) -> Sequence[Row[Any]]:
    """The rows of a report's tool calls, in order."""
    table = tables.tool_calls
    return connection.execute(
        select(table).where(table.c.tenant == tenant, table.c.report == report).order_by(table.c.position)
    ).all()


def read_feedback(
    connection: Connection,
    tenant: str,
    *,
    run: str | None = None,
    verdict: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[StoredFeedback], str | None]:
    """Feedback, newest first, and the cursor of the next page.

    Raises:
        InputError: the cursor `after` is malformed.
    """
    table = tables.feedback.c
    query: Any = select(table.id, table.run, table.created, table.verdict, table.claim, table.comment, table.author)
    query = query.where(table.tenant == tenant)
    for column, value in ((table.run, run), (table.verdict, verdict)):
        query = query if value is None else query.where(column == value)
    query = query if since is None else query.where(table.created >= micros(since))
    query = query if until is None else query.where(table.created < micros(until))
    rows, next_cursor = _read_rows(connection, query, table.created, table.id, after, limit)
    return [
        StoredFeedback(row.id, row.run, moment_at(row.created), row.verdict, row.claim, row.comment, row.author)
        for row in rows
    ], next_cursor


def read_policies(
    connection: Connection, tenant: str, after: str | None = None, limit: int = 50
) -> tuple[list[KnownPolicy], str | None]:
    """The policies under which the gate decided, newest first, and the cursor of the next page.

    Raises:
        InputError: the cursor `after` is malformed.
    """
    table = tables.policies.c
    query = select(table.digest.label("id"), table.name, table.created).where(table.tenant == tenant)
    rows, next_cursor = _read_rows(connection, query, table.created, table.digest, after, limit)
    return [KnownPolicy(row.id, row.name, moment_at(row.created)) for row in rows], next_cursor


def read_policy(connection: Connection, tenant: str, digest: str) -> KnownPolicy | None:
    """A policy by its digest; None if the gate never decided under it for the tenant."""
    table = tables.policies.c
    row = connection.execute(
        select(table.digest, table.name, table.created, table.body).where(
            table.tenant == tenant, table.digest == digest
        )
    ).one_or_none()
    return None if row is None else KnownPolicy(row.digest, row.name, moment_at(row.created), row.body)


def _read_rows(
    connection: Connection, query: Any, created: Any, id_: Any, after: str | None, limit: int
) -> tuple[Sequence[Row[Any]], str | None]:
    """The rows of a page, and the cursor of the next page; None at the end."""
    cursor = parse_cursor(after, by_rowid=False)
    if cursor is not None:
        query = query.where(created <= cursor[0], tuple_(created, id_) < tuple_(literal(cursor[0]), literal(cursor[1])))
    rows = connection.execute(query.order_by(created.desc(), id_.desc()).limit(limit + 1)).all()
    return rows[:limit], cursor_after(rows[limit - 1], by_rowid=False) if len(rows) > limit else None


def read_log(connection: Connection, tenant: str, begin: int, limit: int) -> Sequence[Any]:
    """The entries of a tenant's log from an index on.

    Raises:
        InputError: the index is below 0.
    """
    if begin < 0:
        raise InputError(f"expected the index of an entry from 0 up, got {begin}")
    table = tables.audit_entries.c
    return connection.execute(
        select(table.idx, table.kind, table.data)
        .where(table.tenant == tenant, table.idx >= begin)
        .order_by(table.idx)
        .limit(limit)
    ).all()


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A stored checkpoint, and the places outside the database that it was copied to."""

    size: int
    created: datetime
    note: str
    anchors: tuple[str, ...]


def list_checkpoints(connection: Connection, tenant: str, before: int | None, limit: int) -> list[StoredCheckpoint]:
    """The checkpoints of a log, newest first; those of fewer entries than `before`."""
    table, anchors = tables.audit_checkpoints.c, tables.audit_anchors.c
    query = select(table.size, table.created, table.note).where(table.tenant == tenant)
    query = query if before is None else query.where(table.size < before)
    rows = connection.execute(query.order_by(table.size.desc()).limit(limit)).all()
    targets: dict[int, list[str]] = {}
    sizes = [row.size for row in rows]
    for row in connection.execute(
        select(anchors.size, anchors.target).where(anchors.tenant == tenant, anchors.size.in_(sizes))
    ):
        targets.setdefault(row.size, []).append(row.target)
    return [
        StoredCheckpoint(row.size, moment_at(row.created), row.note, tuple(sorted(targets.get(row.size, ()))))
        for row in rows
    ]
