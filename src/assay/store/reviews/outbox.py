"""The outbox: messages are stored in the transaction of the event that they report, and sent until they arrive.

1. An act writes a message without a target in its own transaction.
2. A server with targets makes a row of it for each target that subscribes to the event.
3. A row is leased, sent, and marked as sent. If a process dies in between, the row is leased again after `HOLD`: the
   message is then sent once more with the same id, by which its recipient can recognise it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, or_, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, storable
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Act, Change

WAITING: Final = "waiting"
SENT: Final = "sent"
FAILED: Final = "failed"
SPREAD: Final = "spread"
"""The states of a row. A row without a target is `spread` once each target has a row of its own."""
HOLD: Final = timedelta(minutes=2)
"""How long a process that takes a message has it."""
FIRST_PAUSE: Final = timedelta(seconds=5)
LONGEST_PAUSE: Final = timedelta(hours=1)
"""The first and the longest pause between two attempts; each is twice as long as the one before."""
MESSAGE_BATCH: Final = 100
"""The most messages that are handled in one go."""

TargetsOf = Callable[[str, str, str], Sequence[str]]
"""The names of the targets that subscribe to an event, from its tenant, name and tier."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to one target."""

    tenant: str
    id: str
    target: str
    event: str
    run: str
    created: datetime
    attempts: int
    """The number of attempts, including this one."""
    body: dict[str, Any]

    @property
    def key(self) -> str:
        """The id by which its recipient recognises it, however often it is sent."""
        return hashlib.sha256(f"{self.tenant}\0{self.id}\0{self.target}".encode()).hexdigest()[:32]


def spread_messages(store: Store, targets_of: TargetsOf) -> int:
    """Make rows for the targets of new messages; returns the number of these messages.

    Raises:
        StoreError: the database cannot be read or written.
    """
    table = tables.outbox.c
    with store.reading_across() as connection:
        tenants = (
            connection.execute(select(table.tenant).distinct().where(table.state == WAITING, table.target == ""))
            .scalars()
            .all()
        )
    total = 0
    for tenant in tenants:
        counts: list[int] = []
        store.apply(Change(tenant, act=_spread_act(tenant, targets_of, counts)))
        total += sum(counts)
    return total


def _spread_act(tenant: str, targets_of: TargetsOf, counts: list[int]) -> Act:
    def act(connection: Connection) -> Sequence[Entry]:
        counts.clear()
        table = tables.outbox
        rows = connection.execute(
            select(table)
            .where(table.c.tenant == tenant, table.c.state == WAITING, table.c.target == "")
            .order_by(table.c.created)
            .limit(MESSAGE_BATCH)
        ).all()
        for row in rows:
            body = row.body or {}
            for name in targets_of(tenant, row.event, str(body.get("tier", ""))):
                copy = {**row._asdict(), "target": name, "body": tables.pack(body)}
                insert_rows(connection, table, [copy], UNLESS_THERE)
        ids = [row.id for row in rows]
        connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.id.in_(ids), table.c.target == "")
            .values(state=SPREAD)
        )
        counts.append(len(rows))
        return ()

    return act


def take_messages(store: Store, limit: int = MESSAGE_BATCH) -> list[Message]:
    """Lease messages that are due, so that no other process sends them meanwhile.

    Raises:
        StoreError: the database cannot be read or written.
    """
    now = store.now()
    table = tables.outbox.c
    with store.reading_across() as connection:
        due = connection.execute(
            select(table.tenant, table.id, table.target).where(_due(now)).order_by(table.due).limit(limit)
        ).all()
    taken: list[Message] = []
    for tenant in sorted({row.tenant for row in due}):
        keys = [(row.id, row.target) for row in due if row.tenant == tenant]
        messages: list[Message] = []
        store.apply(Change(tenant, act=_take_act(tenant, keys, now, messages)))
        taken += messages
    return taken


def _due(now: datetime) -> Any:
    """The condition of rows that may be leased. Times further ahead than possible were stored before a clock was set
    back, and count as past."""
    table = tables.outbox.c
    at = micros(now)
    free = or_(table.held_until.is_(None), table.held_until <= at, table.held_until > micros(now + HOLD))
    is_due = or_(table.due <= at, table.due > micros(now + LONGEST_PAUSE))
    return and_(table.state == WAITING, table.target != "", is_due, free)


def _take_act(tenant: str, keys: Sequence[tuple[str, str]], now: datetime, messages: list[Message]) -> Act:
    def act(connection: Connection) -> Sequence[Entry]:
        messages.clear()
        table = tables.outbox
        for id_, target in keys:
            this_row = and_(table.c.tenant == tenant, table.c.id == id_, table.c.target == target)
            row = connection.execute(select(table).where(this_row, _due(now))).one_or_none()
            if row is None:
                continue
            attempts = row.attempts + 1
            connection.execute(update(table).where(this_row).values(held_until=micros(now + HOLD), attempts=attempts))
            messages.append(
                Message(tenant, id_, target, row.event, row.run, moment_at(row.created), attempts, dict(row.body or {}))
            )
        return ()

    return act


def mark_sent(store: Store, message: Message) -> None:
    """Mark a message as sent.

    Raises:
        StoreError: it cannot be stored; the message will go out once more.
    """
    _mark(store, message, {"state": SENT, "sent": micros(store.now()), "held_until": None, "error": None})


def mark_failed(store: Store, message: Message, error: str, most_attempts: int, wait: timedelta | None = None) -> bool:
    """Mark a failed attempt: the message is tried again later, unless there were too many attempts.

    Args:
        store: the store.
        message: the message.
        error: the reason, without secrets.
        most_attempts: the most attempts.
        wait: how long its recipient asks to wait.

    Returns:
        Whether it is tried again.
    """
    again = message.attempts < most_attempts
    pause = max(pause_after(message), min(wait or timedelta(0), LONGEST_PAUSE))
    values = {"held_until": None, "error": storable(error)[:500], "due": micros(store.now() + pause)}
    _mark(store, message, values if again else {**values, "state": FAILED})
    return again


def pause_after(message: Message) -> timedelta:
    """The pause after a failed attempt: it doubles each time, and is up to a fifth shorter, so that not all messages
    are tried again at once.

    >>> from datetime import UTC
    >>> message = Message("t", "i", "x", "e", "r", datetime(2026, 1, 1, tzinfo=UTC), 3, {})
    >>> timedelta(seconds=16) <= pause_after(message) <= timedelta(seconds=20)
    True
    """
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(message.attempts - 1, 20))
    jitter = int(hashlib.sha256(f"{message.key}{message.attempts}".encode()).hexdigest()[:4], 16) / 0xFFFF
    return timedelta(seconds=pause.total_seconds() * (1 - jitter / 5))


def _mark(store: Store, message: Message, values: dict[str, Any]) -> None:
    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.outbox
        connection.execute(
            update(table)
            .where(
                table.c.tenant == message.tenant,
                table.c.id == message.id,
                table.c.target == message.target,
                table.c.attempts == message.attempts,
                table.c.state == WAITING,
            )
            .values(**values)
        )
        return ()

    store.apply(Change(message.tenant, act=act))


def purge_messages(store: Store, older_than: timedelta) -> None:
    """Delete messages that were sent, spread or given up and are older than a time.

    Raises:
        StoreError: the database cannot be read or written.
    """
    before = micros(store.now() - older_than)
    table = tables.outbox
    finished = and_(table.c.state != WAITING, table.c.created < before)
    with store.reading_across() as connection:
        tenants = connection.execute(select(table.c.tenant).distinct().where(finished)).scalars().all()

    for tenant in tenants:

        def act(connection: Connection, tenant: str = tenant) -> Sequence[Entry]:
            connection.execute(delete(table).where(table.c.tenant == tenant, finished))
            return ()

        store.apply(Change(tenant, act=act))
