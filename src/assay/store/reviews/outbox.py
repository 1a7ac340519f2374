"""The outbox: what is to be told, written with what it tells of, and told until it arrived.

1. An act writes a message without a target in its own transaction. 2. A server with targets makes a row of it for each
that is to hear of it. 3. A row is taken for a while, sent, and marked as sent. A process that dies in between leaves a
row that is taken again when its while is over: then the same message goes out once more, with the same id, by which
its recipient knows it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, or_, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import micros, moment_at, storable

WAITING: Final = "waiting"
SENT: Final = "sent"
FAILED: Final = "failed"
SPREAD: Final = "spread"
"""The states of a row. One without a target is `spread` once each target has a row of its own."""
HOLD: Final = timedelta(minutes=2)
"""How long whoever takes a message has it."""
FIRST_PAUSE: Final = timedelta(seconds=5)
LONGEST_PAUSE: Final = timedelta(hours=1)
"""Between two attempts: twice as long each time."""
PART: Final = 100

TargetsOf = Callable[[str, str, str], Sequence[str]]
"""The names of the targets that hear of an event of a tenant, given its tier."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one target."""

    tenant: str
    id: str
    target: str
    event: str
    run: str
    created: datetime
    attempts: int
    """This one included."""
    body: dict[str, Any]

    @property
    def key(self) -> str:
        """What its recipient knows it by, however often it comes."""
        return hashlib.sha256(f"{self.tenant}\0{self.id}\0{self.target}".encode()).hexdigest()[:32]


def spread(store: Store, targets_of: TargetsOf) -> int:
    """Make rows for the targets of new messages; the number of those.

    Raises:
        StoreError: the database cannot be read or written.
    """
    table = tables.outbox.c
    with store.reading_across() as connection:
        found = (
            connection.execute(select(table.tenant).distinct().where(table.state == WAITING, table.target == ""))
            .scalars()
            .all()
        )
    done = 0
    for tenant in found:
        made: list[int] = []
        store.apply(Change(tenant, act=_spreading(tenant, targets_of, made)))
        done += sum(made)
    return done


def _spreading(tenant: str, targets_of: TargetsOf, made: list[int]) -> Callable[[Connection], Sequence[Entry]]:
    def act(connection: Connection) -> Sequence[Entry]:
        made.clear()
        table = tables.outbox
        rows = connection.execute(
            select(table)
            .where(table.c.tenant == tenant, table.c.state == WAITING, table.c.target == "")
            .order_by(table.c.created)
            .limit(PART)
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
        made.append(len(rows))
        return ()

    return act


def take(store: Store, limit: int = PART) -> list[Message]:
    """Messages that are due, taken so that no other process has them meanwhile.

    Raises:
        StoreError: the database cannot be read or written.
    """
    now = store.now()
    table = tables.outbox.c
    with store.reading_across() as connection:
        found = connection.execute(
            select(table.tenant, table.id, table.target).where(_due(now)).order_by(table.due).limit(limit)
        ).all()
    taken: list[Message] = []
    for tenant in sorted({row.tenant for row in found}):
        wanted = [(row.id, row.target) for row in found if row.tenant == tenant]
        got: list[Message] = []
        store.apply(Change(tenant, act=_taking(tenant, wanted, now, got)))
        taken += got
    return taken


def _due(now: datetime) -> Any:
    """Rows that may be taken. What lies further ahead than it ever should was written before a clock was set back."""
    table = tables.outbox.c
    at = micros(now)
    free = or_(table.held_until.is_(None), table.held_until <= at, table.held_until > micros(now + HOLD))
    late = or_(table.due <= at, table.due > micros(now + LONGEST_PAUSE))
    return and_(table.state == WAITING, table.target != "", late, free)


def _taking(
    tenant: str, wanted: Sequence[tuple[str, str]], now: datetime, got: list[Message]
) -> Callable[[Connection], Sequence[Entry]]:
    def act(connection: Connection) -> Sequence[Entry]:
        got.clear()
        table = tables.outbox
        for id_, target in wanted:
            which = and_(table.c.tenant == tenant, table.c.id == id_, table.c.target == target)
            row = connection.execute(select(table).where(which, _due(now))).one_or_none()
            if row is None:
                continue
            attempts = row.attempts + 1
            connection.execute(update(table).where(which).values(held_until=micros(now + HOLD), attempts=attempts))
            got.append(
                Message(tenant, id_, target, row.event, row.run, moment_at(row.created), attempts, dict(row.body or {}))
            )
        return ()

    return act


def mark_sent(store: Store, message: Message) -> None:
    """A message has arrived.

    Raises:
        StoreError: it cannot be stored; the message will go out once more.
    """
    _mark(store, message, {"state": SENT, "sent": micros(store.now()), "held_until": None, "error": None})


def mark_failed(store: Store, message: Message, error: str, most_attempts: int, wait: timedelta | None = None) -> bool:
    """A message has not arrived: it is tried again later, unless that was done often enough.

    Args:
        store: the store.
        message: which.
        error: why, without secrets.
        most_attempts: how often it is tried in all.
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
    """How long to wait after a failed attempt: twice as long each time, up to a fifth less, so that not all come back
    at once.

    >>> from datetime import UTC
    >>> one = Message("t", "i", "x", "e", "r", datetime(2026, 1, 1, tzinfo=UTC), 3, {})
    >>> timedelta(seconds=16) <= pause_after(one) <= timedelta(seconds=20)
    True
    """
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(message.attempts - 1, 20))
    share = int(hashlib.sha256(f"{message.key}{message.attempts}".encode()).hexdigest()[:4], 16) / 0xFFFF
    return timedelta(seconds=pause.total_seconds() * (1 - share / 5))


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


def purge(store: Store, older_than: timedelta) -> None:
    """Drop messages that are done with and older than that.

    Raises:
        StoreError: the database cannot be read or written.
    """
    before = micros(store.now() - older_than)
    table = tables.outbox
    done = and_(table.c.state != WAITING, table.c.created < before)
    with store.reading_across() as connection:
        found = connection.execute(select(table.c.tenant).distinct().where(done)).scalars().all()

    for tenant in found:

        def act(connection: Connection, tenant: str = tenant) -> Sequence[Entry]:
            connection.execute(delete(table).where(table.c.tenant == tenant, done))
            return ()

        store.apply(Change(tenant, act=act))
