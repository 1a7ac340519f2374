"""Changes of the monitored system, alarms, and consequences of a spent error budget."""

import re
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
from assay.store.db.column_values import checked_tenant, micros, moment_at, storable
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.values import AlarmRow, ChangeRow, ConsequenceRow

MOST: Final = 1_000
"""The most rows of one list."""
LIFTED: Final = "lifted"
"""The field in the body of a consequence which says that a person lifted it while its reason still held."""


_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,80}")


def add_changes(store: Store, tenant: str, changes: Sequence[ChangeRow]) -> int:
    """Store changes; changes whose id exists already are left as they are.

    Returns:
        The number of new changes.

    Raises:
        StoreError: they cannot be stored.
    """
    now, added = micros(store.now()), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        table, entries = tables.changes, list[Entry]()
        added.clear()
        ids = [change.id for change in changes]
        existing = set(
            connection.execute(select(table.c.id).where(table.c.tenant == tenant, table.c.id.in_(ids))).scalars()
        )
        new = {change.id: change for change in changes if change.id not in existing}
        touch(connection, CHANGE_UNIT, new)
        for change in new.values():
            connection.execute(
                insert(table),
                {
                    "tenant": tenant,
                    "id": change.id,
                    "at": change.at,
                    "kind": change.kind,
                    "ref": storable(change.ref),
                    "note": storable(change.note),
                    "source": change.source,
                    "created": now,
                    "actor": change.actor,
                },
            )
            added.append(change.id)
            # The reference and the note are texts of people: the entry that binds the row commits to them, this one
            # leaves them out.
            entries.append(
                entry(
                    CHANGE,
                    change.id,
                    {
                        "at": instant(moment_at(now)),
                        "changed": instant(moment_at(change.at)),
                        "what": change.kind,
                        "source": change.source,
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
    """The changes of a period, from `since` up to but not including `until`, newest first."""
    table = tables.changes.c
    query = select(tables.changes).where(table.tenant == tenant)
    if since is not None:
        query = query.where(table.at >= since)
    if until is not None:
        query = query.where(table.at < until)
    rows = connection.execute(query.order_by(table.at.desc(), table.id.desc()).limit(min(most, MOST)))
    return [ChangeRow(row.id, row.at, row.kind, row.ref, row.note, row.source, row.actor, row.created) for row in rows]


def detected_changes(connection: Connection, tenant: str) -> list[ChangeRow]:
    """The changes that are detected in the traffic: policies, verifiers and models, each kind from its second one on,
    at the moment of the first decision with it. At most the latest `MOST` of each kind: callers choose the names of
    models."""
    changes = []
    for kind, table in (("policy", tables.policies.c), ("verifier", tables.verifiers.c)):
        rows = connection.execute(
            select(table.digest, table.name, table.created)
            .where(table.tenant == tenant)
            .order_by(table.created, table.digest)
        ).all()
        changes += [
            ChangeRow(f"{kind}-{row.digest}"[:80], row.created, kind, row.digest, str(row.name)[:200], "seen")
            for row in rows[1:][-MOST:]
        ]
    return changes + _model_changes(connection, tenant)


def _model_changes(connection: Connection, tenant: str) -> list[ChangeRow]:
    """The first uses of models, from the second model on."""
    models = tables.observations.c
    first_uses = connection.execute(
        select(models.model, func.min(models.at).label("first"))
        .where(models.tenant == tenant, models.model.is_not(None))
        .group_by(models.model)
    ).all()
    ordered = sorted(first_uses, key=lambda row: (row.first, row.model))
    return [
        ChangeRow(f"model-{row.model}"[:80], row.first, "model", row.model, "", "seen") for row in ordered[1:][-MOST:]
    ]


# Alarms


def read_alarms(
    connection: Connection, tenant: str, states: Sequence[str] | None = None, most: int = MOST
) -> list[AlarmRow]:
    """Alarms, newest first, at most `MOST`."""
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
    """Set the state of an alarm; False if there is no alarm with this id.

    Raises:
        StoreError: it cannot be stored.
    """
    now, exists = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.alarms
        touch(connection, ALARM_UNIT, [id_])
        result = connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.id == id_)
            .values(state=state, changed=micros(now), actor=actor)
        )
        exists[:] = [result.rowcount == 1]
        return [entry(ALARM, id_, {"at": instant(now), "state": state, "actor": actor})] if exists[0] else []

    store.apply(Change(checked_tenant(tenant), act=act))
    return exists[0]


# Consequences of the error budget


def read_consequences(connection: Connection, tenant: str) -> dict[str, ConsequenceRow]:
    """All consequences that were ever in force, by name."""
    table = tables.consequences.c
    rows = connection.execute(select(tables.consequences).where(table.tenant == tenant).order_by(table.name))
    return {row.name: ConsequenceRow(row.name, row.active, row.since, row.actor, row.body or {}) for row in rows}


def active_consequences(connection: Connection) -> dict[str, frozenset[str]]:
    """The names of the consequences in force by tenant, from a connection for all tenants; tenants without any are left
    out."""
    table, names = tables.consequences.c, dict[str, set[str]]()
    for row in connection.execute(select(table.tenant, table.name).where(table.active.is_(True))):
        names.setdefault(row.tenant, set()).add(row.name)
    return {tenant: frozenset(own) for tenant, own in names.items()}


def set_consequences(
    store: Store, tenant: str, wanted: Mapping[str, bool], why: Mapping[str, Any], actor: str, *, lifts: bool = False
) -> list[str]:
    """Put consequences into force, or lift them; each change is an entry of the log.

    Args:
        store: the store.
        tenant: whose consequences.
        wanted: by name, whether the consequence is to be in force.
        why: the figures that it follows from.
        actor: who changes it, for the log.
        lifts: whether a person lifts it; it then stays lifted until its reason has ceased once.

    Returns:
        The names of the consequences that changed.

    Raises:
        StoreError: it cannot be stored.
    """
    now, changed = store.now(), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        table, entries = tables.consequences, list[Entry]()
        changed.clear()
        stored = read_consequences(connection, tenant)
        for name, active in sorted(wanted.items()):
            before = stored.get(name)
            lifted = before is not None and bool(before.body.get(LIFTED))
            if (before is not None and before.active) == active and not (lifted and not active and not lifts):
                continue
            if active and lifted:
                continue  # a person has lifted it: it stays lifted until its reason has ceased
            touch(connection, CONSEQUENCE, [name])
            body = {**why, LIFTED: True} if lifts else dict(why)
            row = {"active": active, "since": micros(now), "actor": actor, "body": body}
            if before is not None and before.active == active:
                # Its reason has ceased, so from now on it may come into force again; what is in force does not change.
                row |= {"since": before.since, "actor": before.actor}
            if before is None:
                connection.execute(insert(table), {"tenant": tenant, "name": name, **row})
            else:
                connection.execute(update(table).where(table.c.tenant == tenant, table.c.name == name).values(row))
            if before is None or before.active != active:
                changed.append(name)
                entries.append(entry(BUDGET, name, {"at": instant(now), "active": active, "actor": actor}))
        return entries

    store.apply(Change(checked_tenant(tenant), act=act))
    return changed


def checked_id(id_: str) -> str:
    """The id of a change, if it is valid: 1 to 80 letters, digits, dots, dashes, underscores and colons.

    Raises:
        StoreError: it is malformed.
    """
    if not _ID.fullmatch(id_):
        raise StoreError(
            f"expected an id of letters, digits, dots, dashes, underscores and colons, got {ascii(id_)[:80]}"
        )
    return id_
