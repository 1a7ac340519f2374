"""The log of changes, alarms as people treat them, and the consequences that are in force."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select, update

from assay.errors import StoreError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import ALARM, BUDGET, CHANGE, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import ALARM as ALARM_UNIT
from assay.store.audit.units import CHANGE as CHANGE_UNIT
from assay.store.audit.units import CONSEQUENCE
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.values import AlarmRow, ChangeRow, ConsequenceRow
from assay.store.records.recording import checked_tenant, micros, moment_at, storable

MOST: Final = 1_000
"""Rows of one list."""
LIFTED: Final = "lifted"
"""What says in the body of a consequence that a person has lifted it while its reason held."""


def add_changes(store: Store, tenant: str, changes: Sequence[ChangeRow]) -> int:
    """Remember changes; those with an id that is known already are left as they are.

    Returns:
        How many were new.

    Raises:
        StoreError: they cannot be stored.
    """
    now, added = micros(store.now()), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        table, entries = tables.changes, list[Entry]()
        added.clear()
        ids = [one.id for one in changes]
        there = set(
            connection.execute(select(table.c.id).where(table.c.tenant == tenant, table.c.id.in_(ids))).scalars()
        )
        new = {one.id: one for one in changes if one.id not in there}
        touch(connection, CHANGE_UNIT, new)
        for one in new.values():
            connection.execute(
                insert(table),
                {
                    "tenant": tenant,
                    "id": one.id,
                    "at": one.at,
                    "kind": one.kind,
                    "ref": storable(one.ref),
                    "note": storable(one.note),
                    "source": one.source,
                    "created": now,
                    "actor": one.actor,
                },
            )
            added.append(one.id)
            # The reference and the note are somebody's words: the entry that binds the row commits to them.
            entries.append(
                entry(
                    CHANGE,
                    one.id,
                    {
                        "at": instant(moment_at(now)),
                        "changed": instant(moment_at(one.at)),
                        "what": one.kind,
                        "source": one.source,
                    },
                )
            )
        return entries

    if changes:
        store.apply(Change(checked_tenant(tenant), act=act))
    return len(added)


def read_changes(
    connection: Connection, tenant: str, since: int | None = None, until: int | None = None, most: int = MOST
) -> list[ChangeRow]:
    """The changes of a stretch of time, the newest first."""
    table = tables.changes.c
    query = select(tables.changes).where(table.tenant == tenant)
    if since is not None:
        query = query.where(table.at >= since)
    if until is not None:
        query = query.where(table.at < until)
    rows = connection.execute(query.order_by(table.at.desc(), table.id.desc()).limit(min(most, MOST)))
    return [ChangeRow(row.id, row.at, row.kind, row.ref, row.note, row.source, row.actor, row.created) for row in rows]


def seen_changes(connection: Connection, tenant: str) -> list[ChangeRow]:
    """The changes that show in what passes through: policies and verifiers, each from its second one on, at the moment
    of the first decision with it. Of more than `MOST` of a kind, the latest: callers choose what models are called."""
    found = []
    for kind, table in (("policy", tables.policies.c), ("verifier", tables.verifiers.c)):
        rows = connection.execute(
            select(table.digest, table.name, table.created)
            .where(table.tenant == tenant)
            .order_by(table.created, table.digest)
        ).all()
        found += [
            ChangeRow(f"{kind}-{row.digest}"[:80], row.created, kind, row.digest, str(row.name)[:200], "seen")
            for row in rows[1:][-MOST:]
        ]
    models = tables.observations.c
    named = connection.execute(
        select(models.model, func.min(models.at).label("first"))
        .where(models.tenant == tenant, models.model.is_not(None))
        .group_by(models.model)
    ).all()
    ordered = sorted(named, key=lambda row: (row.first, row.model))
    found += [
        ChangeRow(f"model-{row.model}"[:80], row.first, "model", row.model, "", "seen") for row in ordered[1:][-MOST:]
    ]
    return found


# Alarms


def read_alarms(
    connection: Connection, tenant: str, states: Sequence[str] | None = None, most: int = MOST
) -> list[AlarmRow]:
    """Alarms, the newest first."""
    table = tables.alarms.c
    query = select(tables.alarms).where(table.tenant == tenant)
    if states is not None:
        query = query.where(table.state.in_(states))
    rows = connection.execute(query.order_by(table.at.desc(), table.id.desc()).limit(min(most, MOST)))
    return [
        AlarmRow(
            row.id, row.series, row.direction, row.at, row.body or {}, row.state, row.raised, row.changed, row.actor
        )
        for row in rows
    ]


def set_alarm(store: Store, tenant: str, id_: str, state: str, actor: str) -> bool:
    """Put an alarm into another state; false where there is none with this id.

    Raises:
        StoreError: it cannot be stored.
    """
    now, found = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.alarms
        touch(connection, ALARM_UNIT, [id_])
        done = connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.id == id_)
            .values(state=state, changed=micros(now), actor=actor)
        )
        found[:] = [done.rowcount == 1]
        return [entry(ALARM, id_, {"at": instant(now), "state": state, "actor": actor})] if found[0] else []

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


# Consequences of the error budget


def read_consequences(connection: Connection, tenant: str) -> dict[str, ConsequenceRow]:
    """The consequences that were ever in force, by name."""
    table = tables.consequences.c
    rows = connection.execute(select(tables.consequences).where(table.tenant == tenant).order_by(table.name))
    return {row.name: ConsequenceRow(row.name, row.active, row.since, row.actor, row.body or {}) for row in rows}


def active_consequences(connection: Connection) -> dict[str, frozenset[str]]:
    """The consequences in force by tenant, from a connection over all tenants; tenants without any are left out."""
    table, found = tables.consequences.c, dict[str, set[str]]()
    for row in connection.execute(select(table.tenant, table.name).where(table.active.is_(True))):
        found.setdefault(row.tenant, set()).add(row.name)
    return {tenant: frozenset(names) for tenant, names in found.items()}


def set_consequences(
    store: Store, tenant: str, wanted: Mapping[str, bool], why: Mapping[str, Any], actor: str, *, lifts: bool = False
) -> list[str]:
    """Put consequences into force or out of it; each change is an entry of the log.

    Args:
        store: the store.
        tenant: whose.
        wanted: by name, whether it is to be in force.
        why: the figures that it follows from.
        actor: who changes it.
        lifts: whether a person puts it out of force: it then stays so until its reason has gone once.

    Returns:
        The names of those that changed.

    Raises:
        StoreError: it cannot be stored.
    """
    now, changed = store.now(), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        table, entries = tables.consequences, list[Entry]()
        changed.clear()
        there = read_consequences(connection, tenant)
        for name, active in sorted(wanted.items()):
            before = there.get(name)
            lifted = before is not None and bool(before.body.get(LIFTED))
            if (before is not None and before.active) == active and not (lifted and not active and not lifts):
                continue
            if active and lifted:
                continue  # a person has lifted it: it stays so until its reason has gone
            touch(connection, CONSEQUENCE, [name])
            body = {**why, LIFTED: True} if lifts else dict(why)
            row = {"active": active, "since": micros(now), "actor": actor, "body": body}
            if before is not None and before.active == active:
                # The reason has gone: from now on it may come into force again. Nothing that is in force changes.
                row |= {"since": before.since, "actor": before.actor}
                connection.execute(update(table).where(table.c.tenant == tenant, table.c.name == name).values(row))
                continue
            if before is None:
                connection.execute(insert(table), {"tenant": tenant, "name": name, **row})
            else:
                connection.execute(update(table).where(table.c.tenant == tenant, table.c.name == name).values(row))
            changed.append(name)
            entries.append(entry(BUDGET, name, {"at": instant(now), "active": active, "actor": actor}))
        return entries

    store.apply(Change(checked_tenant(tenant), act=act))
    return changed


def known_alarm(connection: Connection, tenant: str, id_: str) -> AlarmRow | None:
    """An alarm by its id."""
    table = tables.alarms.c
    row = connection.execute(select(tables.alarms).where(table.tenant == tenant, table.id == id_)).one_or_none()
    if row is None:
        return None
    return AlarmRow(
        row.id, row.series, row.direction, row.at, row.body or {}, row.state, row.raised, row.changed, row.actor
    )


def checked_id(id_: str) -> str:
    """An id of a change: 1 to 80 letters, digits, dots, dashes, underscores and colons.

    Raises:
        StoreError: it is another text.
    """
    import re

    if not re.fullmatch(r"[A-Za-z0-9._:-]{1,80}", id_):
        raise StoreError(
            f"expected an id of letters, digits, dots, dashes, underscores and colons, got {ascii(id_)[:80]}"
        )
    return id_
