"""Raising, acknowledging, silencing and closing alerts. Every change is an entry of the log.

1. When a condition first holds, an alert is opened and people are notified.
2. While it holds, it is counted and nobody is notified, unless it became more urgent.
3. Nobody is notified about a silenced key; once the silence is over, an alert that still holds and was never sent is.
4. When the condition no longer holds, the alert is closed, and those who were notified hear of that.
5. A condition that begins again within `FLAPPING` of its end is the same alert, reopened, and nobody is notified twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, select, update

from assay.errors import AlertError
from assay.receipt import instant
from assay.store.alerts.values import Alert, AlertItem, AlertState, Urgency, checked_key
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none, storable
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import new_id
from assay.store.reviews.opened_items import message_row

ALERT: Final = "alert"
"""The kind of the log entries about alerts."""
OPENED: Final = "alert.opened"
CLOSED: Final = "alert.closed"
"""The events of messages about alerts."""
FLAPPING: Final = timedelta(hours=1)
"""A condition that begins again within this time of its end is the same alert."""
LONGEST_SILENCE: Final = timedelta(days=30)
MOST_LISTED: Final = 200
"""The most alerts of one list."""
MONITOR: Final = "monitor"
"""The actor in log entries where no person acted."""
_RANK: Final = {Urgency.INFO: 0, Urgency.WARNING: 1, Urgency.CRITICAL: 2}


def raise_alert(store: Store, tenant: str, alert: Alert) -> tuple[AlertItem, bool]:
    """Report that a condition holds now.

    Returns:
        The alert as it is stored, and whether this call notifies people.

    Raises:
        StoreError: it cannot be stored.
    """
    now = store.now()
    result: list[tuple[AlertItem, bool]] = []

    def act(connection: Connection) -> Sequence[Entry]:
        result.clear()
        row = _latest(connection, tenant, alert.key)
        silenced_until = _silence(connection, tenant, alert.key, now)
        if row is None or (row.state == AlertState.CLOSED and now - moment_at(row.closed or 0) > FLAPPING):
            item, notifies = _open(connection, tenant, alert, now, silenced_until)
            entries = [_entry("open", item, now, MONITOR)]
        else:
            item, notifies, entries = _raise_again(connection, tenant, alert, row, now, silenced_until)
        result.append((item, notifies))
        return entries

    store.apply(Change(checked_tenant(tenant), act=act))
    return result[0]


def _open(
    connection: Connection, tenant: str, alert: Alert, now: datetime, silenced_until: datetime | None
) -> tuple[AlertItem, bool]:
    at = micros(now)
    row = {
        "tenant": tenant,
        "id": new_id(),
        "key": alert.key,
        "kind": alert.kind,
        "severity": alert.urgency.value,
        "state": AlertState.OPEN.value,
        "opened": at,
        "seen": at,
        "told": None if silenced_until else at,
        "closed": None,
        "times": 1,
        "owner": None,
        "version": 1,
        "body": tables.pack(_body(alert)),
    }
    insert_rows(connection, tables.alerts, [row])
    item = _required(connection, tenant, str(row["id"]), now)
    if silenced_until is None:
        _notify(connection, tenant, item, OPENED, now)
    return item, silenced_until is None


def _raise_again(
    connection: Connection, tenant: str, alert: Alert, row: Row[Any], now: datetime, silenced_until: datetime | None
) -> tuple[AlertItem, bool, list[Entry]]:
    reopens = row.state == AlertState.CLOSED
    escalates = _RANK[alert.urgency] > _RANK[Urgency(row.severity)]
    # Once people were notified, only higher urgency is news.
    notifies = silenced_until is None and (row.told is None or escalates)
    values: dict[str, Any] = {
        "seen": micros(now),
        "times": row.times + 1,
        "severity": alert.urgency.value,
        "kind": alert.kind,
        "body": _body(alert),
        "version": row.version + (reopens or escalates or notifies),
    }
    if reopens:
        values |= {"state": AlertState.OPEN.value, "closed": None, "owner": None}
    elif escalates and row.state == AlertState.ACKNOWLEDGED:
        values |= {"state": AlertState.OPEN.value, "owner": None}
    if notifies:
        values["told"] = micros(now)
    _update(connection, tenant, row.id, values)
    item = _required(connection, tenant, row.id, now)
    if notifies:
        _notify(connection, tenant, item, OPENED, now)
    act = "reopen" if reopens else "grow" if escalates else None
    return item, notifies, [] if act is None else [_entry(act, item, now, MONITOR)]


def close_alert(store: Store, tenant: str, key: str, actor: str = MONITOR) -> AlertItem | None:
    """Report that a condition no longer holds; returns the alert that was open, if there was one.

    Raises:
        StoreError: it cannot be stored.
    """
    now = store.now()
    closed: list[AlertItem] = []

    def act(connection: Connection) -> Sequence[Entry]:
        closed.clear()
        row = _latest(connection, tenant, key)
        if row is None or row.state == AlertState.CLOSED:
            return ()
        _update(
            connection,
            tenant,
            row.id,
            {
                "state": AlertState.CLOSED.value,
                "closed": micros(now),
                "version": row.version + 1,
            },
        )
        item = _required(connection, tenant, row.id, now)
        if row.told is not None and _silence(connection, tenant, key, now) is None:
            _notify(connection, tenant, item, CLOSED, now)
        closed.append(item)
        return [_entry("close", item, now, actor)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return closed[0] if closed else None


def acknowledge(store: Store, tenant: str, id_: str, who: str, actor: str, version: int | None = None) -> AlertItem:
    """Acknowledge an alert: somebody is looking at it.

    Args:
        store: the store.
        tenant: whose alert.
        id_: the id of the alert.
        who: the name of the person who looks at it.
        actor: the id of that person in the log.
        version: the version of the alert that they have seen; any by default.

    Raises:
        AlertError: there is no such alert, it is over, or it has changed since that version.
        StoreError: it cannot be stored.
    """
    now = store.now()
    result: list[AlertItem] = []

    def act(connection: Connection) -> Sequence[Entry]:
        result.clear()
        item = _required(connection, tenant, id_, now)
        if version is not None and version != item.version:
            raise AlertError(f"expected version {version} of the alert, and it has version {item.version}", "stale")
        if item.state is AlertState.CLOSED:
            raise AlertError("the alert is over", "closed")
        _update(
            connection,
            tenant,
            id_,
            {
                "state": AlertState.ACKNOWLEDGED.value,
                "owner": storable(who),
                "version": item.version + 1,
            },
        )
        result.append(_required(connection, tenant, id_, now))
        return [_entry("acknowledge", result[0], now, actor)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return result[0]


def silence(store: Store, tenant: str, key: str, until: datetime | None, who: str, actor: str) -> datetime | None:
    """Silence a key for a while; without an end, lift its silence.

    Args:
        store: the store.
        tenant: whose alerts.
        key: the key of the alerts.
        until: the end of the silence; None lifts it.
        who: the name of the person who silences it.
        actor: the id of that person in the log.

    Returns:
        The end of the silence.

    Raises:
        AlertError: the end is past, or more than `LONGEST_SILENCE` ahead.
        InputError: the key is malformed.
        StoreError: it cannot be stored.
    """
    now = store.now()
    if until is not None and not now < until <= now + LONGEST_SILENCE:
        raise AlertError(f"expected an end of the silence within {LONGEST_SILENCE.days} days from now", "refused")
    checked_key(key)

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.alert_silences
        connection.execute(delete(table).where(table.c.tenant == tenant, table.c.key == key))
        if until is not None:
            row = {"tenant": tenant, "key": key, "until": micros(until), "maker": storable(who), "made": micros(now)}
            insert_rows(connection, table, [row])
        end = None if until is None else instant(until)
        return [entry(ALERT, None, {"at": instant(now), "act": "silence", "key": key, "until": end, "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return until


# Reading


def list_alerts(
    connection: Connection,
    tenant: str,
    now: datetime,
    states: Sequence[AlertState] = tuple(AlertState),
    most: int = MOST_LISTED,
) -> list[AlertItem]:
    """Alerts in the given states, newest first; at most `MOST_LISTED`."""
    table = tables.alerts
    rows = connection.execute(
        select(table)
        .where(table.c.tenant == tenant, table.c.state.in_([state.value for state in states]))
        .order_by(table.c.opened.desc(), table.c.id.desc())
        .limit(min(most, MOST_LISTED))
    ).all()
    silences = _silences(connection, tenant, now)
    return [_item(row, silences.get(row.key)) for row in rows]


def read_alert(connection: Connection, tenant: str, id_: str, now: datetime) -> AlertItem | None:
    """An alert by its id; None if the tenant has no such alert."""
    table = tables.alerts
    row = connection.execute(select(table).where(table.c.tenant == tenant, table.c.id == id_)).one_or_none()
    return None if row is None else _item(row, _silence(connection, tenant, row.key, now))


def _required(connection: Connection, tenant: str, id_: str, now: datetime) -> AlertItem:
    item = read_alert(connection, tenant, id_, now)
    if item is None:
        raise AlertError(f"expected an alert of {tenant}, and there is none with this id", "missing")
    return item


def _item(row: Row[Any], silenced_until: datetime | None) -> AlertItem:
    body = row.body or {}
    return AlertItem(
        row.id,
        row.key,
        row.kind,
        Urgency(row.severity),
        AlertState(row.state),
        str(body.get("summary", "")),
        dict(body.get("facts") or {}),
        moment_at(row.opened),
        moment_at(row.seen),
        row.times,
        moment_or_none(row.told),
        moment_or_none(row.closed),
        row.owner,
        row.version,
        silenced_until,
    )


def _latest(connection: Connection, tenant: str, key: str) -> Row[Any] | None:
    table = tables.alerts
    return connection.execute(
        select(table).where(table.c.tenant == tenant, table.c.key == key).order_by(table.c.opened.desc()).limit(1)
    ).one_or_none()


def _silence(connection: Connection, tenant: str, key: str, now: datetime) -> datetime | None:
    table = tables.alert_silences.c
    until = connection.execute(select(table.until).where(table.tenant == tenant, table.key == key)).scalar_one_or_none()
    return None if until is None or until <= micros(now) else moment_at(until)


def _silences(connection: Connection, tenant: str, now: datetime) -> dict[str, datetime]:
    table = tables.alert_silences.c
    rows = connection.execute(
        select(table.key, table.until).where(table.tenant == tenant, table.until > micros(now)).limit(10_000)
    )
    return {str(row.key): moment_at(row.until) for row in rows}


def _update(connection: Connection, tenant: str, id_: str, values: Mapping[str, Any]) -> None:
    table = tables.alerts
    connection.execute(update(table).where(table.c.tenant == tenant, table.c.id == id_).values(**values))


def _body(alert: Alert) -> dict[str, Any]:
    return {"summary": storable(alert.summary), "facts": _storable_json(dict(alert.facts))}


def _storable_json(value: Any) -> Any:
    """A JSON value whose strings every database can store."""
    match value:
        case str():
            return storable(value)
        case list() | tuple():
            return [_storable_json(item) for item in value]
        case dict():
            return {storable(str(name)): _storable_json(item) for name, item in value.items()}
        case _:
            return value


def _entry(act: str, item: AlertItem, now: datetime, actor: str) -> Entry:
    return entry(
        ALERT,
        None,
        {
            "at": instant(now),
            "act": act,
            "alert": item.id,
            "key": item.key,
            "of": item.kind,
            "urgency": item.urgency.value,
            "actor": actor,
        },
    )


def _notify(connection: Connection, tenant: str, item: AlertItem, event: str, now: datetime) -> None:
    body = {
        "alert": item.id,
        "key": item.key,
        "kind": item.kind,
        "urgency": item.urgency.value,
        "state": item.state.value,
        "summary": item.summary,
        "facts": dict(item.facts),
        "opened": instant(item.opened),
        "at": instant(now),
        "runbook": runbook_of(item.kind),
    }
    message = message_row(tenant, item.id, event, micros(now), body, version=item.version)
    insert_rows(connection, tables.outbox, [message], UNLESS_THERE)


def runbook_of(kind: str) -> str:
    """The place of the runbook for a kind of alert.

    >>> runbook_of("metric.fabricated_citations")
    'docs/runbooks.md#metric-fabricated-citations'
    """
    return f"docs/runbooks.md#{kind.replace('.', '-').replace('_', '-')}"
