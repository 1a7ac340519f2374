"""Units: groups of rows that the log binds as a whole, and what an entry commits to for each.

A unit is a run with its reports, claims, tool calls, evidence, decisions, review item and feedback; a user; a session;
an API key; a token; a tenant; the retention rules; a change of the monitored system, an alarm about it, a consequence
of a spent error budget; a red team run, a proposal; a dataset, an experiment, a saved view. The commitment is
HMAC-SHA256, under the unit's own random seal, of all values of all its rows except the columns in `UNBOUND`. The seal
is stored in the head row and is drawn anew whenever the unit changes; an old commitment then reveals nothing, even to
somebody who can guess what was erased.

Values are committed to as they are stored: bytes by their digest, so that nothing has to be unpacked. NULL is left out,
so that a later version may add columns and earlier commitments still hold.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    LargeBinary,
    Row,
    Select,
    Table,
    Text,
    bindparam,
    literal_column,
    select,
    type_coerce,
)

from assay.errors import StoreError
from assay.store.audit.entries import SALT_BYTES, commitment, exact
from assay.store.db import tables
from assay.store.db.raw_statements import execute_prepared
from assay.store.db.tables import Packed

BATCH: Final = 500
"""Units that are read in one query for each table."""

SEAL: Final = "seal"
"""The column of a head row that holds the seal of its unit."""

UNBOUND: Final[Mapping[str, str]] = {
    "evidence.created": "no page and no API shows it; the body is bound by its digest, which the run binds",
    "review_items.held_until": "a lease: how long a reviewer has an item before others may take it",
    "sessions.seen": "a note of activity, moved on every minute; the log tells when a session begins and ends",
    "api_keys.used": "a note of activity, moved on every few minutes; the log tells when a key is made and ends",
    "audit_checkpoints.created": "beside what is signed: the log's own clock is not believed, a witness tells the time",
    "audit_anchors.size": "a note of what was taken out; what counts is the checkpoint that is elsewhere",
    "audit_anchors.target": "a note of what was taken out; what counts is the checkpoint that is elsewhere",
    "audit_anchors.created": "a note of what was taken out; what counts is the checkpoint that is elsewhere",
    "audit_anchors.answer": "a note of what was taken out; a witness's signature is verified where it is used",
}
"""Columns that nothing binds, each with the reason; further ones are those of `UNBOUND_TABLES`."""

UNBOUND_TABLES: Final[Mapping[str, str]] = {
    "report_search": "an index, made of the words of reports; what is shown of a report is read from the report",
    "turns": "leases of processes",
    "receipt_uses": "refuses a second use while a receipt lasts, then is dropped; each use is an entry of the log, and "
    "two of one receipt are found",
    "sketches": "counted from the log and from what it binds, and counted anew at any time (`recount`)",
    "sketch_cursors": "how far the log was counted",
    "worst_outputs": "a list of places to look at, made with the sketches: what is shown of an output is its report",
    "alerts": "what the sketches say, told again; raising, acknowledging, silencing and closing are entries of the log",
    "alert_silences": "whom not to tell; setting one is an entry of the log",
    "idempotency_keys": "which record a repeated request is answered with, for a day; what is answered is the record, "
    "which is bound and held against the request again, and a receipt, which is signed and held against the record",
    "verdict_cache": "a memory of reports, sealed under a secret that the database has not; what is found in it is "
    "recorded anew, and that record is bound",
    "observations": "numbers drawn from reports, which are bound; `assay monitor run --rebuild` draws them again",
    "chart_states": "sums over observations: the same observations give the same sums, whoever adds them up",
    "schedules": "when timed work was done last; done again it comes to the same",
    "golden_runs": "runs over rows that the operator keeps: the same rows, policy and verifier give the same again",
    "golden_results": "numbers of such a run",
    "passing": "digests that are counted to see changes; a change that is seen is a row that is bound",
    "passing_states": "sums over them",
    "redteam_answers": "what a run under way was answered; dropped when the run is recorded, which is bound",
    "outbox": "a queue: a message repeats what the entry of its act tells, and goes when it has arrived",
    "login_tries": "counters that slow down guessing; they are dropped after a day",
    "alembic_version": "the version of the tables",
}
"""Tables of which nothing is bound, each with the reason."""

UNBOUND_ROWS: Final[Mapping[str, str]] = {
    "audit_checkpoints: a row dropped": "one that was never taken out: all that it states follows from those after it, "
    "and what counts against the owner of the key is elsewhere. One that was is missed (`missing_checkpoint`)",
    "audit_anchors: a row dropped": "a note of what was taken out; a server takes it out again, and the copy is there",
    "audit_anchors: a row copied": "at a size at which the log was signed: the place that it names shows whether it is "
    "there. At another size it is found (`missing_checkpoint`)",
}
"""Rows that can be dropped or added without detection, each with the reason."""

BOUND_OTHERWISE: Final[Mapping[str, str]] = {
    "evidence": "by its digest, which is one of the values of the runs that had it",
    "policies": "by its digest; name and time by the first decision under it",
    "verifiers": "name and time by the first decision that names the digest",
    "hourly": "counted again from the decisions",
    "audit_logs": "it is the log: name and size stand in what is signed",
    "audit_entries": "they are the log: `data` is hashed, and repeats the other columns",
    "audit_tiles": "they are the log: the hashes of its entries",
    "audit_checkpoints": "they are signed",
}
"""Tables that are bound in another way than as units, each with that way."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table that belong to a unit."""

    table: Table
    owner: str
    """The column with the id of the unit; with `via`, the column with the id of a row of that table."""
    key: tuple[str, ...]
    """The columns by which the rows of one unit are sorted."""
    via: Table | None = None
    """The table between: its column `run` has the id of the unit."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A kind of unit."""

    kind: str
    """The prefix of its name in the log."""
    head: Table
    """The table of its head row, which holds its seal."""
    id: str | None
    """The column with its id; None if a tenant has only one such unit."""
    parts: tuple[Part, ...] = ()
    """Its other rows."""

    def name(self, id_: str) -> str:
        """The name of a unit in log entries."""
        return f"{self.kind}:{id_}"


RUN: Final = Unit(
    "run",
    tables.runs,
    "id",
    (
        Part(tables.reports, "run", ("id",)),
        Part(tables.claims, "report", ("report", "position"), via=tables.reports),
        Part(tables.tool_calls, "report", ("report", "position"), via=tables.reports),
        Part(tables.run_evidence, "run", ("position",)),
        Part(tables.decisions, "run", ("position",)),
        Part(tables.review_items, "run", ("id",)),
        Part(tables.feedback, "run", ("id",)),
    ),
)
USER: Final = Unit("user", tables.users, "id")
SESSION: Final = Unit("session", tables.sessions, "id")
KEY: Final = Unit("key", tables.api_keys, "id")
TOKEN: Final = Unit("token", tables.access_tokens, "digest")
TENANT: Final = Unit("tenant", tables.tenants, None)
RETENTION_RULES: Final = Unit("retention", tables.retention, None)
CHANGE: Final = Unit("change", tables.changes, "id")
ALARM: Final = Unit("alarm", tables.alarms, "id")
CONSEQUENCE: Final = Unit("consequence", tables.consequences, "name")
REDTEAM_RUN: Final = Unit("redteam", tables.redteam_runs, "id", (Part(tables.redteam_cases, "run", ("position",)),))
PROPOSAL: Final = Unit("proposal", tables.redteam_proposals, "id")
VIEW: Final = Unit("view", tables.saved_views, "id")
DATASET: Final = Unit("dataset", tables.datasets, "id", (Part(tables.dataset_rows, "dataset", ("run",)),))
EXPERIMENT: Final = Unit(
    "experiment", tables.experiments, "id", (Part(tables.experiment_rows, "experiment", ("run",)),)
)
UNITS: Final = (
    RUN,
    USER,
    SESSION,
    KEY,
    TOKEN,
    TENANT,
    RETENTION_RULES,
    CHANGE,
    ALARM,
    CONSEQUENCE,
    REDTEAM_RUN,
    PROPOSAL,
    VIEW,
    DATASET,
    EXPERIMENT,
)

Rows = Mapping[Table, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class State:
    """The stored state of a unit."""

    seal: bytes | None
    """None if it was never bound."""
    content: bytes
    """The bytes that are committed to."""

    def commitment(self) -> str | None:
        """The commitment in an entry; None if it has no seal."""
        return None if self.seal is None else commitment(self.seal, "rows", self.content)


def new_seal() -> bytes:
    """A new random seal."""
    return secrets.token_bytes(SALT_BYTES)


def parse_unit_name(name: str) -> tuple[Unit, str]:
    """The kind and the id in the name of a unit.

    >>> unit, id_ = parse_unit_name("run:ab12")
    >>> unit.head.name, id_
    ('runs', 'ab12')

    Raises:
        StoreError: there is no such kind.
    """
    kind, colon, id_ = name.partition(":")
    for unit in UNITS:
        if colon and unit.kind == kind:
            return unit, id_
    raise StoreError(f"expected the name of a unit of rows, got one of the kind {ascii(kind)[:40]}")


@lru_cache(maxsize=64)
def bound_columns(table: Table) -> tuple[Column[Any], ...]:
    """The columns of a table whose values are committed to. The tenant is left out, because the log is the tenant's
    own."""
    return tuple(
        column
        for column in table.columns
        if column.name not in ("tenant", SEAL) and f"{table.name}.{column.name}" not in UNBOUND
    )


def content_of(unit: Unit, rows: Rows) -> bytes:
    """The bytes to commit to for a new unit, before its rows are stored.

    Args:
        unit: the kind of the unit.
        rows: all its rows, with their columns as they are inserted; tables that are not part of it are ignored.
    """
    parts = [(unit.head, ()), *((part.table, part.key) for part in unit.parts)]
    values = {
        table: [_values(table, row) for row in sorted(rows.get(table, ()), key=lambda row: _sort_key(row, key))]
        for table, key in parts
    }
    return exact({table.name: list(rows) for table, rows in values.items() if rows})


def _sort_key(row: Mapping[Any, Any], key: tuple[str, ...]) -> tuple[Any, ...]:
    # The type comes first: tampered rows may hold values of any type, and must still be comparable.
    values = (row[name] for name in key)
    return tuple((type(value).__name__, "" if value is None else value) for value in values)


def _values(table: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    values = {}
    for column in bound_columns(table):
        value = row[column.name]
        if value is not None:
            values[column.name] = _value(column, value)
    return values


def _value(column: Column[Any], value: Any) -> Any:
    """The form of a value that is committed to: the same before it is stored and after it was read."""
    kind = column.type
    if isinstance(kind, (LargeBinary, Packed)):
        return sha256(value).hexdigest() if isinstance(value, (bytes, bytearray, memoryview)) else ["text", str(value)]
    if isinstance(kind, Boolean):
        return bool(value)
    if isinstance(kind, Double):
        # Not every database keeps the sign of zero.
        return value + 0.0 if isinstance(value, (int, float)) and isfinite(value) else ["text", repr(value)]
    if isinstance(kind, (BigInteger, Integer)):
        return int(value) if isinstance(value, int) else ["text", repr(value)]
    if isinstance(kind, Text):
        return str(value) if isinstance(value, str) else ["bytes", repr(value)]
    raise StoreError(f"expected a column of a known type, got {column.table.name}.{column.name}")


# Reading


def read_states(connection: Connection, tenant: str, unit: Unit, ids: Iterable[str]) -> dict[str, State]:
    """The stored states of units of one kind, by their ids; missing units are left out."""
    ordered = sorted(set(ids))
    states: dict[str, State] = {}
    for begin in range(0, len(ordered), BATCH):
        states |= _read_batch(connection, tenant, unit, ordered[begin : begin + BATCH])
    return states


def _read_batch(connection: Connection, tenant: str, unit: Unit, ids: Sequence[str]) -> dict[str, State]:
    head, seal = unit.head, _column_index(unit.head, SEAL)
    heads = {str(row[-1]): row for row in _rows(connection, unit, None, tenant, ids)}
    values: dict[str, dict[str, list[dict[str, Any]]]] = {
        id_: {head.name: [_stored_values(head, row)]} for id_, row in heads.items()
    }
    if heads:
        for part in unit.parts:
            by_unit: dict[str, list[Row[Any]]] = {}
            for row in _rows(connection, unit, part, tenant, sorted(heads)):
                by_unit.setdefault(str(row[-1]), []).append(row)
            for id_, rows in by_unit.items():
                if (unit_values := values.get(id_)) is None:
                    continue
                if len(rows) > 1:
                    # Not sorted by the database: collations differ.
                    rows.sort(key=lambda row: _sort_key(row._mapping, part.key))  # noqa: SLF001 called at once
                unit_values[part.table.name] = [_stored_values(part.table, row) for row in rows]
    return {
        id_: State(None if heads[id_][seal] is None else bytes(heads[id_][seal]), exact(parts))
        for id_, parts in values.items()
    }


@lru_cache(maxsize=64)
def _column_index(table: Table, name: str) -> int:
    """The index of a column in the rows of `_query`."""
    return [column.name for column in table.columns].index(name)


_UNCHANGED: Final = ((Boolean, bool), (BigInteger, int), (Integer, int), (Text, str))
"""Column types, each with the Python type whose values are committed to unchanged."""


@lru_cache(maxsize=64)
def _column_plan(table: Table) -> tuple[tuple[int, str, type | None, Column[Any]], ...]:
    """For each bound column: its index, its name, the type whose values are committed to unchanged, and the column."""
    return tuple(
        (
            _column_index(table, column.name),
            column.name,
            next((plain for kind, plain in _UNCHANGED if isinstance(column.type, kind)), None),
            column,
        )
        for column in bound_columns(table)
    )


def _stored_values(table: Table, row: Row[Any]) -> dict[str, Any]:
    """Like `_values`, for a row that was read; faster, because values of the expected type are used unchanged."""
    return {
        name: value if type(value) is plain else _value(column, value)
        for index, name, plain, column in _column_plan(table)
        if (value := row[index]) is not None
    }


def as_stored(columns: Iterable[Column[Any]]) -> list[ColumnElement[Any]]:
    """Columns for a query that reads values as they are stored: packed ones are not unpacked."""
    return [
        type_coerce(column, LargeBinary).label(column.name) if isinstance(column.type, Packed) else column
        for column in columns
    ]


def join_owner(query: Select[Any], part: Part) -> tuple[Select[Any], ColumnElement[Any]]:
    """A query over the rows of a part, joined with the table between if there is one, and the id of their unit."""
    table, owner, via = part.table, part.table.c[part.owner], part.via
    if via is None:
        return query, owner
    return query.join_from(table, via, (via.c.tenant == table.c.tenant) & (via.c.id == owner)), via.c.run


_UNIT: Final = "unit_id"
"""The column of a query with the id of the unit that a row belongs to."""


def _rows(connection: Connection, unit: Unit, part: Part | None, tenant: str, ids: Sequence[str]) -> Sequence[Row[Any]]:
    """The head rows, or the rows of a part, of some units; the last value of each row is the id of its unit."""
    if len(ids) == 1:
        values = {"tenant": tenant, "id": ids[0]} if unit.id is not None else {"tenant": tenant}
        return execute_prepared(connection, _query(unit, part, single=True), values).all()
    query = _query(unit, part, single=False)
    return connection.execute(query, {"tenant": tenant, "ids": list(ids)}).all()


@lru_cache(maxsize=64)
def _query(unit: Unit, part: Part | None, *, single: bool) -> Select[Any]:
    """The query of `_rows`; cached, because building it takes longer than the database takes to execute it."""
    table = unit.head if part is None else part.table
    query = select(*as_stored(table.columns)).where(table.c.tenant == bindparam("tenant"))
    if part is None:
        owner: ColumnElement[Any] = literal_column("''") if unit.id is None else table.c[unit.id]
        if unit.id is None:
            return query.add_columns(owner.label(_UNIT))
    else:
        query, owner = join_owner(query, part)
    selected = owner == bindparam("id") if single else owner.in_(bindparam("ids", expanding=True))
    return query.add_columns(owner.label(_UNIT)).where(selected)
