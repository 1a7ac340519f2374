"""What of the tables is bound to the log: units of rows, and what an entry commits to of each.

A unit is what one entry of the log covers as a whole: a run with its reports, claims, tool calls, evidence,
decisions, review item and feedback; a user; a session; a key; a token; a tenant; the rules of retention; a change of
the system that is watched, an alarm about it, a consequence of a spent error budget; a dataset, an experiment, a saved
view. What is committed to is HMAC-SHA256 under the unit's own random seal of all values of all its rows, but for the
columns that `UNBOUND` lists. The seal is in the first of the rows and is drawn again whenever the unit changes; an
old commitment then says nothing any more, not even to who can guess what was erased.

Values are taken as they are stored: bytes by their digest, so that nothing has to be unpacked. A column without a value
is left out, so that a later version may add columns and what was bound before them still holds.
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

PART: Final = 500
"""Units that are read in one query of each table."""

SEAL: Final = "seal"
"""The column that holds the seal of a unit."""

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
"""The columns that nothing binds, each with the reason, beside those of `UNBOUND_TABLES`."""

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
"""The tables of which nothing is bound, each with the reason."""

UNBOUND_ROWS: Final[Mapping[str, str]] = {
    "audit_checkpoints: a row dropped": "one that was never taken out: all that it states follows from those after it, "
    "and what counts against the owner of the key is elsewhere. One that was is missed (`missing_checkpoint`)",
    "audit_anchors: a row dropped": "a note of what was taken out; a server takes it out again, and the copy is there",
    "audit_anchors: a row copied": "at a size at which the log was signed: the place that it names shows whether it is "
    "there. At another size it is found (`missing_checkpoint`)",
}
"""The rows that may be dropped or added unseen, each with the reason."""

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
"""The tables that are bound in another way than as units."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table that belong to a unit."""

    table: Table
    of: str
    """The column that names the unit; through `via`, the column that names a row of that table."""
    key: tuple[str, ...]
    """What orders the rows of one unit."""
    via: Table | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A kind of unit."""

    kind: str
    """What stands before its id in the log."""
    head: Table
    """The table of its first row, which holds its seal."""
    id: str | None
    """The column with its id; none where a tenant has one such unit."""
    parts: tuple[Part, ...] = ()

    def name(self, id_: str) -> str:
        """What entries call the unit."""
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
RULES: Final = Unit("retention", tables.retention, None)
CHANGE: Final = Unit("change", tables.changes, "id")
ALARM: Final = Unit("alarm", tables.alarms, "id")
CONSEQUENCE: Final = Unit("consequence", tables.consequences, "name")
ATTACKS: Final = Unit("redteam", tables.redteam_runs, "id", (Part(tables.redteam_cases, "run", ("position",)),))
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
    RULES,
    CHANGE,
    ALARM,
    CONSEQUENCE,
    ATTACKS,
    PROPOSAL,
    VIEW,
    DATASET,
    EXPERIMENT,
)

Rows = Mapping[Table, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class State:
    """A unit as it is stored."""

    seal: bytes | None
    """None where it was never bound."""
    content: bytes
    """What is committed to."""

    def bound(self) -> str | None:
        """What an entry has to say of it; nothing where it has no seal."""
        return None if self.seal is None else commitment(self.seal, "rows", self.content)


def new_seal() -> bytes:
    """A seal that nobody can guess."""
    return secrets.token_bytes(SALT_BYTES)


def unit_called(name: str) -> tuple[Unit, str]:
    """The kind and the id of a unit that an entry names.

    >>> unit, id_ = unit_called("run:ab12")
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
    """The columns of a table whose values are committed to. The tenant is left out: it is whose log it is."""
    return tuple(
        column
        for column in table.columns
        if column.name not in ("tenant", SEAL) and f"{table.name}.{column.name}" not in UNBOUND
    )


def content_of(unit: Unit, rows: Rows) -> bytes:
    """What is committed to of the rows of one new unit, before they are stored.

    Args:
        unit: its kind.
        rows: all its rows, with their columns as they are inserted; tables that are no part of it are passed over.
    """
    parts = [(unit.head, ()), *((part.table, part.key) for part in unit.parts)]
    values = {
        table: [_values(table, row) for row in sorted(rows.get(table, ()), key=lambda row: _place(row, key))]
        for table, key in parts
    }
    return _content(values)


def _place(row: Mapping[Any, Any], key: tuple[str, ...]) -> tuple[Any, ...]:
    # With its type first: rows that were tampered with may hold anything, and are compared all the same.
    found = (row[name] for name in key)
    return tuple((type(one).__name__, "" if one is None else one) for one in found)


def _content(values: Mapping[Table, Sequence[Mapping[str, Any]]]) -> bytes:
    return exact({table.name: list(rows) for table, rows in values.items() if rows})


def _values(table: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    found = {}
    for column in bound_columns(table):
        value = row[column.name]
        if value is not None:
            found[column.name] = _value(column, value)
    return found


def _value(column: Column[Any], value: Any) -> Any:
    """A value as it is committed to: the same whether it is to be stored or was read."""
    kind = column.type
    if isinstance(kind, (LargeBinary, Packed)):
        return sha256(value).hexdigest() if isinstance(value, (bytes, bytearray, memoryview)) else ["text", str(value)]
    if isinstance(kind, Boolean):
        return bool(value)
    if isinstance(kind, Double):
        # Nought has no sign in every database.
        return value + 0.0 if isinstance(value, (int, float)) and isfinite(value) else ["text", repr(value)]
    if isinstance(kind, (BigInteger, Integer)):
        return int(value) if isinstance(value, int) else ["text", repr(value)]
    if isinstance(kind, Text):
        return str(value) if isinstance(value, str) else ["bytes", repr(value)]
    raise StoreError(f"expected a column of a known type, got {column.table.name}.{column.name}")


# Reading


def read_states(connection: Connection, tenant: str, unit: Unit, ids: Iterable[str]) -> dict[str, State]:
    """Units of one kind as they are stored, by their ids; those that are not there are left out."""
    wanted = sorted(set(ids))
    found: dict[str, State] = {}
    for begin in range(0, len(wanted), PART):
        found |= _read(connection, tenant, unit, wanted[begin : begin + PART])
    return found


def _read(connection: Connection, tenant: str, unit: Unit, ids: Sequence[str]) -> dict[str, State]:
    head, seal = unit.head, _place_of(unit.head, SEAL)
    heads = {str(row[-1]): row for row in _rows(connection, unit, None, tenant, ids)}
    values: dict[str, dict[str, list[dict[str, Any]]]] = {
        id_: {head.name: [_stored_values(head, row)]} for id_, row in heads.items()
    }
    if heads:
        for part in unit.parts:
            of_units: dict[str, list[Row[Any]]] = {}
            for row in _rows(connection, unit, part, tenant, sorted(heads)):
                of_units.setdefault(str(row[-1]), []).append(row)
            for id_, rows in of_units.items():
                if (of := values.get(id_)) is None:
                    continue
                if len(rows) > 1:
                    # Not sorted by the database: each has its own order of texts.
                    rows.sort(key=lambda row: _place(row._mapping, part.key))  # noqa: SLF001 called at once
                of[part.table.name] = [_stored_values(part.table, row) for row in rows]
    return {
        id_: State(None if heads[id_][seal] is None else bytes(heads[id_][seal]), exact(parts))
        for id_, parts in values.items()
    }


@lru_cache(maxsize=64)
def _place_of(table: Table, name: str) -> int:
    """Where a column is in a row that `_query` reads."""
    return [column.name for column in table.columns].index(name)


_PLAIN: Final = ((Boolean, bool), (BigInteger, int), (Integer, int), (Text, str))
"""What is read of a column as it is committed to, where it is just of this type."""


@lru_cache(maxsize=64)
def _plan(table: Table) -> tuple[tuple[int, str, type | None, Column[Any]], ...]:
    """The bound columns of a table with their places, and of which type a value is committed to as it is."""
    return tuple(
        (
            _place_of(table, column.name),
            column.name,
            next((plain for kind, plain in _PLAIN if isinstance(column.type, kind)), None),
            column,
        )
        for column in bound_columns(table)
    )


def _stored_values(table: Table, row: Row[Any]) -> dict[str, Any]:
    """As `_values`, of a row that was read: without a look at each value that is what it should be."""
    return {
        name: value if type(value) is plain else _value(column, value)
        for at, name, plain, column in _plan(table)
        if (value := row[at]) is not None
    }


_UNIT: Final = "unit_id"
"""The column of a query that says to which unit a row belongs."""


def _rows(connection: Connection, unit: Unit, part: Part | None, tenant: str, ids: Sequence[str]) -> Sequence[Row[Any]]:
    """The rows of the first table, or of a part, of some units; the last value of each is its unit."""
    if len(ids) == 1:
        values = {"of": tenant, "id": ids[0]} if unit.id is not None else {"of": tenant}
        return execute_prepared(connection, _query(unit, part, single=True), values).all()
    query = _query(unit, part, single=False)
    return connection.execute(query, {"of": tenant, "ids": list(ids)}).all()


@lru_cache(maxsize=64)
def _query(unit: Unit, part: Part | None, *, single: bool) -> Select[Any]:
    """Made once: working a query out takes longer than the database takes to answer it."""
    table = unit.head if part is None else part.table
    # As they are stored: what is packed is not unpacked.
    query = select(
        *(
            type_coerce(column, LargeBinary).label(column.name) if isinstance(column.type, Packed) else column
            for column in table.columns
        )
    ).where(table.c.tenant == bindparam("of"))
    if part is None:
        owner: ColumnElement[Any] = literal_column("''") if unit.id is None else table.c[unit.id]
        if unit.id is None:
            return query.add_columns(owner.label(_UNIT))
    else:
        owner = table.c[part.of]
    if part is not None and part.via is not None:
        via = part.via
        query = query.join_from(table, via, (via.c.tenant == table.c.tenant) & (via.c.id == owner))
        owner = via.c.run
    wanted = owner == bindparam("id") if single else owner.in_(bindparam("ids", expanding=True))
    return query.add_columns(owner.label(_UNIT)).where(wanted)
