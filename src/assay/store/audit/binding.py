"""Binding what a change does to rows: each change of a unit is an entry of the log, whatever the change is.

A function that changes rows says so before (`touch`); what it then does, in which statements, is its own business. When
it is done, the writer holds what the units were against what they are, draws new seals for those that changed, and
appends an entry for each (`bind`). An entry says what the unit was as well: rows that somebody altered beside the log
are not taken over by the next change that is told of, because what it was is then not what the entry before says.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, Update, bindparam, literal, update

from assay.errors import StoreError
from assay.store.audit.entries import ROWS, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import SEAL, State, Unit, new_seal, read_states

_HELD: Final = "assay.touched"
"""Where a connection holds what the change that it makes has touched."""


@dataclass(slots=True)
class Touched:
    """The units that one change may have changed, as they were before it."""

    tenant: str
    before: dict[tuple[str, str], tuple[Unit, State | None]] = field(default_factory=dict)


@contextmanager
def track_touched(connection: Connection, tenant: str) -> Iterator[Touched]:
    """While one change is made.

    Args:
        connection: the transaction that makes it.
        tenant: whose rows it changes.
    """
    touched = Touched(tenant)
    connection.info[_HELD] = touched
    try:
        yield touched
    finally:
        connection.info.pop(_HELD, None)


def touch(connection: Connection, unit: Unit, ids: Iterable[str] = ("",)) -> None:
    """Say that the rows of units will be changed, made or dropped by this change. Call it before they are.

    Args:
        connection: the transaction that makes the change.
        unit: their kind.
        ids: which of them; nothing where a tenant has one.

    Raises:
        StoreError: no change is being made: what is written now would not be in the log.
    """
    touched = connection.info.get(_HELD)
    if not isinstance(touched, Touched):
        raise StoreError("expected rows that are bound to the log to be changed by the writer, got another connection")
    new = [id_ for id_ in dict.fromkeys(ids) if (unit.kind, id_) not in touched.before]
    states = read_states(connection, touched.tenant, unit, new)
    touched.before |= {(unit.kind, id_): (unit, states.get(id_)) for id_ in new}


def bind(connection: Connection, touched: Touched) -> list[Entry]:
    """The entries for the units that a change has changed, once it has. The first rows of those get new seals."""
    entries = []
    by_unit: dict[str, tuple[Unit, dict[str, State | None]]] = {}
    for (kind, id_), (unit, state) in touched.before.items():
        by_unit.setdefault(kind, (unit, {}))[1][id_] = state
    for unit, before in by_unit.values():
        after = read_states(connection, touched.tenant, unit, before)
        for id_, was in before.items():
            now = after.get(id_)
            if (was is None and now is None) or (was is not None and now is not None and was.content == now.content):
                continue
            entries.append(_entry(connection, touched.tenant, unit, id_, was, now))
    return entries


def _entry(
    connection: Connection, tenant: str, unit: Unit, id_: str, was: State | None, now: State | None, **more: Any
) -> Entry:
    sealed = None
    if now is not None:
        sealed = State(new_seal(), now.content)
        write_seal(connection, tenant, unit, id_, sealed)
    return entry(
        ROWS,
        unit.name(id_),
        {
            "was": None if was is None else was.bound(),
            "now": None if sealed is None else sealed.bound(),
            **more,
        },
    )


def adopted(connection: Connection, tenant: str, unit: Unit, id_: str, found: State) -> Entry:
    """The entry for a unit of an older version, which is bound from here on as it is."""
    return _entry(connection, tenant, unit, id_, None, State(None, found.content), adopted=True)


def write_seal(connection: Connection, tenant: str, unit: Unit, id_: str, state: State) -> None:
    """Store the seal of a unit."""
    connection.execute(_sealing(unit), {"b_tenant": tenant, "b_id": id_, "b_seal": state.seal})


@lru_cache(maxsize=16)
def _sealing(unit: Unit) -> Update:
    head = unit.head
    here = head.c.tenant == bindparam("b_tenant")
    here &= (literal("") if unit.id is None else head.c[unit.id]) == bindparam("b_id")
    return update(head).where(here).values({SEAL: bindparam("b_seal")})
