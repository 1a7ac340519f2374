"""Binding changed rows to the log: every change of a unit becomes an entry of the log, whatever the change is.

A function that changes rows announces the units first (`touch`); which statements it then runs is up to it. When it is
done, the writer compares the units before and after, draws new seals for those that changed, and appends an entry for
each (`bind`). The entry commits to the old state as well: if somebody altered rows without the log, the next regular
change does not cover it up, because its old state is then not the one that the previous entry committed to.
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

_TOUCHED: Final = "assay.touched"
"""The key in `Connection.info` of the units that the current change has touched."""


@dataclass(slots=True)
class Touched:
    """The units that one change may have changed, with their states before it."""

    tenant: str
    before: dict[tuple[str, str], tuple[Unit, State | None]] = field(default_factory=dict)


@contextmanager
def track_touched(connection: Connection, tenant: str) -> Iterator[Touched]:
    """Collect the units that a change touches while the block runs.

    Args:
        connection: the transaction of the change.
        tenant: the tenant whose rows it changes.
    """
    touched = Touched(tenant)
    connection.info[_TOUCHED] = touched
    try:
        yield touched
    finally:
        connection.info.pop(_TOUCHED, None)


def touch(connection: Connection, unit: Unit, ids: Iterable[str] = ("",)) -> None:
    """Announce that the current change will insert, update or delete rows of units. Call it before the statements.

    Args:
        connection: the transaction of the change.
        unit: the kind of the units.
        ids: their ids; omitted if a tenant has only one such unit.

    Raises:
        StoreError: the connection is not in a change of the writer: what is written on it would not be in the log.
    """
    touched = connection.info.get(_TOUCHED)
    if not isinstance(touched, Touched):
        raise StoreError("expected rows that are bound to the log to be changed by the writer, got another connection")
    new = [id_ for id_ in dict.fromkeys(ids) if (unit.kind, id_) not in touched.before]
    states = read_states(connection, touched.tenant, unit, new)
    touched.before |= {(unit.kind, id_): (unit, states.get(id_)) for id_ in new}


def bind(connection: Connection, touched: Touched) -> list[Entry]:
    """The entries for the units that a change has changed, called after it. The head rows of those units get new
    seals."""
    entries: list[Entry] = []
    by_unit: dict[str, tuple[Unit, dict[str, State | None]]] = {}
    for (kind, id_), (unit, state) in touched.before.items():
        by_unit.setdefault(kind, (unit, {}))[1][id_] = state
    for unit, before in by_unit.values():
        after = read_states(connection, touched.tenant, unit, before)
        for id_, old in before.items():
            new = after.get(id_)
            if (old is None and new is None) or (old is not None and new is not None and old.content == new.content):
                continue
            entries.append(_entry(connection, touched.tenant, unit, id_, old, new))
    return entries


def _entry(
    connection: Connection, tenant: str, unit: Unit, id_: str, old: State | None, new: State | None, **more: Any
) -> Entry:
    sealed = None
    if new is not None:
        sealed = State(new_seal(), new.content)
        write_seal(connection, tenant, unit, id_, sealed)
    return entry(
        ROWS,
        unit.name(id_),
        {
            "was": None if old is None else old.commitment(),
            "now": None if sealed is None else sealed.commitment(),
            **more,
        },
    )


def adoption_entry(connection: Connection, tenant: str, unit: Unit, id_: str, state: State) -> Entry:
    """The entry for a unit that an older version wrote, and that is bound from here on as it is."""
    return _entry(connection, tenant, unit, id_, None, State(None, state.content), adopted=True)


def write_seal(connection: Connection, tenant: str, unit: Unit, id_: str, state: State) -> None:
    """Store the seal of a unit."""
    connection.execute(_seal_update(unit), {"b_tenant": tenant, "b_id": id_, "b_seal": state.seal})


@lru_cache(maxsize=16)
def _seal_update(unit: Unit) -> Update:
    head = unit.head
    this_unit = head.c.tenant == bindparam("b_tenant")
    this_unit &= (literal("") if unit.id is None else head.c[unit.id]) == bindparam("b_id")
    return update(head).where(this_unit).values({SEAL: bindparam("b_seal")})
