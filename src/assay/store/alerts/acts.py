"""Raising, acknowledging, silencing and closing alerts. Each that changes something is an entry of the log.

1. The first time that something holds, an alert is opened and people are told. 2. While it goes on holding, it is
counted and nobody is told, unless it grew more urgent. 3. Nobody is told of a key that is silenced; once the silence is
over, what still holds and was not told is. 4. When it holds no longer, it is closed, and who was told hears of that.
5. What begins again within `FLAPPING` of its end is the same alert, opened again, and nobody is told twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, select, update

from assay.errors import AlertError
from assay.receipt import instant
from assay.store.alerts.values import Alert, AlertItem, AlertState, Urgency
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import new_id
from assay.store.records.recording import checked_tenant, micros, moment_at, storable
from assay.store.reviews.opening import message_row

ALERT: Final = "alert"
"""The kind of the entries of the log."""
OPENED: Final = "alert.opened"
CLOSED: Final = "alert.closed"
"""What is told."""
FLAPPING: Final = timedelta(hours=1)
"""Within it what begins again is the same alert."""
LONGEST_SILENCE: Final = timedelta(days=30)
MOST_LISTED: Final = 200
MONITOR: Final = "monitor"
"""Who acts when no person does."""
_RANK: Final = {Urgency.INFO: 0, Urgency.WARNING: 1, Urgency.CRITICAL: 2}


def raise_alert(store: Store, tenant: str, alert: Alert) -> tuple[AlertItem, bool]:
    """Say that something holds now.

    Returns:
        The alert as it is kept, and whether people are told of it by this.

    Raises:
        StoreError: it cannot be stored.
    """
    now = store.now()
    found: list[tuple[AlertItem, bool]] = []

    def act(connection: Connection) -> Sequence[Entry]:
        found.clear()
        row = _latest(connection, tenant, alert.key)
        quiet = _silence(connection, tenant, alert.key, now)
        if row is None or (row.state == AlertState.CLOSED and now - moment_at(row.closed or 0) > FLAPPING):
            item, is_new = _open(connection, tenant, alert, now, quiet)
            entries = [_entry("open", item, now, MONITOR)]
        else:
            item, is_new, entries = _again(connection, tenant, alert, row, now, quiet)
        found.append((item, is_new))
        return entries

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


def _open(
    connection: Connection, tenant: str, alert: Alert, now: datetime, quiet: datetime | None
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
        "told": None if quiet else at,
        "closed": None,
        "times": 1,
        "owner": None,
        "version": 1,
        "body": tables.pack(_body(alert)),
    }
    insert_rows(connection, tables.alerts, [row])
    item = _required(connection, tenant, str(row["id"]), now)
    if quiet is None:
        _tell(connection, tenant, item, OPENED, now)
    return item, quiet is None


def _again(
    connection: Connection, tenant: str, alert: Alert, row: Row[Any], now: datetime, quiet: datetime | None
) -> tuple[AlertItem, bool, list[Entry]]:
    begins = row.state == AlertState.CLOSED
    grew = _RANK[alert.urgency] > _RANK[Urgency(row.severity)]
    # After it was told and acknowledged, only that it is worse than it was is news.
    tells = quiet is None and (row.told is None or grew)
    values: dict[str, Any] = {
        "seen": micros(now),
        "times": row.times + 1,
        "severity": alert.urgency.value,
        "kind": alert.kind,
        "body": _body(alert),
        "version": row.version + (begins or grew or tells),
    }
    if begins:
        values |= {"state": AlertState.OPEN.value, "closed": None, "owner": None}
    elif grew and row.state == AlertState.ACKNOWLEDGED:
        values |= {"state": AlertState.OPEN.value, "owner": None}
    if tells:
        values["told"] = micros(now)
    _set(connection, tenant, row.id, values)
    item = _required(connection, tenant, row.id, now)
    if tells:
        _tell(connection, tenant, item, OPENED, now)
    acted = "reopen" if begins else "grow" if grew else None
    return item, tells, [] if acted is None else [_entry(acted, item, now, MONITOR)]


def close_alert(store: Store, tenant: str, key: str, actor: str = MONITOR) -> AlertItem | None:
    """Say that something holds no longer; the alert that was open, if there was one.

    Raises:
        StoreError: it cannot be stored.
    """
    now = store.now()
    found: list[AlertItem] = []

    def act(connection: Connection) -> Sequence[Entry]:
        found.clear()
        row = _latest(connection, tenant, key)
        if row is None or row.state == AlertState.CLOSED:
            return ()
        _set(
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
            _tell(connection, tenant, item, CLOSED, now)
        found.append(item)
        return [_entry("close", item, now, actor)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0] if found else None


def acknowledge(store: Store, tenant: str, id_: str, who: str, actor: str, version: int | None = None) -> AlertItem:
    """Say that somebody looks at it.

    Args:
        store: the store.
        tenant: whose.
        id_: of the alert.
        who: the name of who looks at it.
        actor: what the log names them by.
        version: which version of the alert they have seen.

    Raises:
        AlertError: there is no such alert, it is over, or it has changed since.
        StoreError: it cannot be stored.
    """
    now = store.now()
    found: list[AlertItem] = []

    def act(connection: Connection) -> Sequence[Entry]:
        found.clear()
        item = _required(connection, tenant, id_, now)
        if version is not None and version != item.version:
            raise AlertError(f"expected version {version} of the alert, and it has version {item.version}", "stale")
        if item.state is AlertState.CLOSED:
            raise AlertError("the alert is over", "closed")
        _set(
            connection,
            tenant,
            id_,
            {
                "state": AlertState.ACKNOWLEDGED.value,
                "owner": storable(who),
                "version": item.version + 1,
            },
        )
        found.append(_required(connection, tenant, id_, now))
        return [_entry("acknowledge", found[0], now, actor)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


def silence(store: Store, tenant: str, key: str, until: datetime | None, who: str, actor: str) -> datetime | None:
    """Have nobody told of what is about one thing for a while; without an end, have them told again.

    Returns:
        Until when.

    Raises:
        AlertError: the end is past, or further ahead than a month.
        StoreError: it cannot be stored.
    """
    now = store.now()
    if until is not None and not now < until <= now + LONGEST_SILENCE:
        raise AlertError(f"expected an end of the silence within {LONGEST_SILENCE.days} days from now", "refused")
    Alert(key, "alert.silence", "checks the key")

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.alert_silences
        connection.execute(delete(table).where(table.c.tenant == tenant, table.c.key == key))
        if until is not None:
            row = {"tenant": tenant, "key": key, "until": micros(until), "maker": storable(who), "made": micros(now)}
            insert_rows(connection, table, [row])
        said = None if until is None else instant(until)
        return [entry(ALERT, None, {"at": instant(now), "act": "silence", "key": key, "until": said, "actor": actor})]

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
    """Alerts in some states, the newest first."""
    table = tables.alerts
    rows = connection.execute(
        select(table)
        .where(table.c.tenant == tenant, table.c.state.in_([one.value for one in states]))
        .order_by(table.c.opened.desc(), table.c.id.desc())
        .limit(min(most, MOST_LISTED))
    ).all()
    quiet = _silences(connection, tenant, now)
    return [_item(row, quiet.get(row.key)) for row in rows]


def read_alert(connection: Connection, tenant: str, id_: str, now: datetime) -> AlertItem | None:
    """One alert; none where the tenant has none of this id."""
    table = tables.alerts
    row = connection.execute(select(table).where(table.c.tenant == tenant, table.c.id == id_)).one_or_none()
    return None if row is None else _item(row, _silence(connection, tenant, row.key, now))


def _required(connection: Connection, tenant: str, id_: str, now: datetime) -> AlertItem:
    found = read_alert(connection, tenant, id_, now)
    if found is None:
        raise AlertError(f"expected an alert of {tenant}, and there is none with this id", "missing")
    return found


def _item(row: Row[Any], quiet: datetime | None) -> AlertItem:
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
        None if row.told is None else moment_at(row.told),
        None if row.closed is None else moment_at(row.closed),
        row.owner,
        row.version,
        quiet,
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


def _set(connection: Connection, tenant: str, id_: str, values: Mapping[str, Any]) -> None:
    table = tables.alerts
    connection.execute(update(table).where(table.c.tenant == tenant, table.c.id == id_).values(**values))


def _body(alert: Alert) -> dict[str, Any]:
    return {"summary": storable(alert.summary), "facts": _stored(dict(alert.facts))}


def _stored(value: Any) -> Any:
    """A JSON value whose texts every database takes."""
    match value:
        case str():
            return storable(value)
        case list() | tuple():
            return [_stored(one) for one in value]
        case dict():
            return {storable(str(name)): _stored(one) for name, one in value.items()}
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


def _tell(connection: Connection, tenant: str, item: AlertItem, event: str, now: datetime) -> None:
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
    """Where it is written what to do about a kind of alert.

    >>> runbook_of("metric.fabricated_citations")
    'docs/runbooks.md#metric-fabricated-citations'
    """
    return f"docs/runbooks.md#{kind.replace('.', '-').replace('_', '-')}"
