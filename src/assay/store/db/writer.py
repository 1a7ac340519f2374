"""Group commit: many threads hand in changes, one thread writes them, and each learns when its own is on disk.

While one transaction commits, the changes that come in wait; the next transaction takes all of them. So the price of a
sync to disk is shared by as many as there are, and a single change waits for nobody. What waits is bounded: beyond the
bound `submit` refuses rather than promise what it cannot keep.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from assay.errors import AssayError, BusyError, StoreError
from assay.store.audit.binding import bind, watching
from assay.store.audit.log import Appender, Entry
from assay.store.db.engine import writing
from assay.store.db.migrate import reason
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows, one_round_trip
from assay.store.db.row_security import set_acting_tenant
from assay.store.db.tables import evidence, hourly, policies, verifiers

MOST_WAITING: Final = 4_096
"""Changes that may wait by default."""
MOST_TOGETHER: Final = 512
"""Changes in one transaction: a compromise of speed and of how long the first of them waits."""

_CONFLICTS: Final = {
    evidence.name: UNLESS_THERE,
    verifiers.name: UNLESS_THERE,
    # One may have been recorded without its body first.
    policies.name: "ON CONFLICT (tenant, digest) DO UPDATE SET body = coalesce(policies.body, excluded.body)",
    hourly.name: "ON CONFLICT (tenant, hour, kind, name) DO UPDATE SET count = hourly.count + excluded.count",
}
"""Tables whose rows are stored once, whoever comes first."""
_log = logging.getLogger("assay.store")

Act = Callable[[Connection], Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be stored all together or not at all."""

    tenant: str
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """New rows, each with a value for every column of its table, packed (`assay.store.db.tables.pack`) where it is.
    What the log binds (`assay.store.audit.units`) is bound by an entry that comes with it, or is changed by `act`."""
    entries: Sequence[Entry] = ()
    """Entries for the tenant's log."""
    act: Act | None = None
    """Further statements, run while the tenant's log is locked; gives entries that follow those above. It touches what
    it changes (`assay.store.audit.binding`)."""


class Stored(NamedTuple):
    """A change is on disk."""

    entries: tuple[int, ...]
    """The indexes of its entries in the tenant's log, without those that bind the rows that it changed."""


_Job = tuple[Change, "Future[Stored]"]


class Writer:
    """The one thread of a process that writes. Several processes may have one each."""

    def __init__(
        self,
        engine: Engine,
        *,
        origin: str | None = None,
        most_waiting: int = MOST_WAITING,
        most_together: int = MOST_TOGETHER,
    ) -> None:
        """A writer whose thread starts with the first change, and which `close` ends.

        Until then it may be forked: each process that has it gets a thread of its own.
        """
        self._engine = writing(engine)
        self._appender = Appender(origin)
        self._most_waiting, self._most_together = most_waiting, most_together
        # One lock over what waits: a batch is taken out in one go, however many handed it in.
        self._waiting: deque[_Job] = deque()
        lock = threading.Lock()
        self._came, self._left = threading.Condition(lock), threading.Condition(lock)
        self._closed = False
        self._failed: tuple[float, str] | None = None
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """Changes that wait, about."""
        return len(self._waiting)

    @property
    def failed(self) -> tuple[float, str] | None:
        """When the last change could not be stored, by `time.monotonic`, and why; none once one could be again."""
        return self._failed

    def submit(self, change: Change, wait_s: float = 0.0) -> "Future[Stored]":
        """Hand in a change; the future has a result when it is on disk.

        Args:
            change: what is to be stored.
            wait_s: how long to wait for a place, in seconds.

        Raises:
            BusyError: too many changes wait; nothing of this one was stored.
            StoreError: the writer was closed.
        """
        future: Future[Stored] = Future()
        with self._came:
            if len(self._waiting) >= self._most_waiting and wait_s > 0:
                self._left.wait_for(lambda: self._closed or len(self._waiting) < self._most_waiting, wait_s)
            if self._closed:
                raise StoreError("the store was closed; nothing was stored")
            if len(self._waiting) >= self._most_waiting:
                raise BusyError(
                    f"{self._most_waiting:,} changes wait to be stored already; nothing was stored, try again later"
                )
            self._waiting.append((change, future))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="assay-store", daemon=True)
                self._thread.start()
            if len(self._waiting) == 1:
                self._came.notify()
        return future

    def close(self) -> None:
        """Store what waits, then end the thread."""
        with self._came:
            self._closed = True
            self._came.notify()
            self._left.notify_all()
        if self._thread is not None:
            self._thread.join()

    # The thread

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            self._store([job for job in batch if job[1].set_running_or_notify_cancel()])

    def _next(self) -> list[_Job] | None:
        """What waits, up to a bound; none when all is stored and the writer was closed."""
        with self._came:
            self._came.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            count = min(len(self._waiting), self._most_together)
            batch = [self._waiting.popleft() for _ in range(count)]
            self._left.notify(count)
            return batch

    def _store(self, batch: list[_Job]) -> None:
        if not batch:
            return
        try:
            places = self._commit([change for change, _ in batch])
        except Exception as error:  # noqa: BLE001 whatever it is, those who wait have to learn of it
            self._appender.forget()
            if len(batch) == 1:
                reported = _store_error(error)
                if isinstance(error, DBAPIError):
                    self._failed = time.monotonic(), str(reported)
                batch[0][1].set_exception(reported)
                return
            # One change that cannot be stored must not take the others with it.
            for job in batch:
                self._store([job])
            return
        self._failed = None
        for (_, future), stored in zip(batch, places, strict=True):
            future.set_result(stored)

    def _commit(self, changes: Sequence[Change]) -> list[Stored]:
        places: dict[int, Stored] = {}
        with self._engine.begin() as connection:
            # In one order everywhere, so that two writers never wait for each other.
            for tenant in sorted({change.tenant for change in changes}):
                own = {number: change for number, change in enumerate(changes) if change.tenant == tenant}
                set_acting_tenant(connection, tenant)
                places |= self._commit_of(connection, tenant, own)
        return [places[number] for number in range(len(changes))]

    def _commit_of(self, connection: Connection, tenant: str, changes: Mapping[int, Change]) -> dict[int, Stored]:
        """The changes of one tenant, by their numbers."""
        first = self._appender.lock(connection, tenant)
        _insert(connection, changes.values())
        log: list[Entry] = []
        places = {}
        for number, change in changes.items():
            begin = first + len(log)
            log += change.entries
            bound: list[Entry] = []
            if change.act is not None:
                with watching(connection, tenant) as touched:
                    log += change.act(connection)
                    bound = bind(connection, touched)
            places[number] = Stored(tuple(range(begin, first + len(log))))
            log += bound
        self._appender.append(connection, tenant, log, first)
        return places


def _insert(connection: Connection, changes: Iterable[Change]) -> None:
    together: dict[Table, list[Mapping[str, Any]]] = {}
    for change in changes:
        for table, rows in change.rows.items():
            together.setdefault(table, []).extend(rows)
    if hourly in together:
        together[hourly] = _summed(together[hourly])
    with one_round_trip(connection):
        for table, rows in together.items():
            if rows:
                insert_rows(connection, table, rows, _CONFLICTS.get(table.name, ""))


def _summed(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One row for each count, however many changes add to it, in one order for all writers."""
    sums: Counter[tuple[str, int, str, str]] = Counter()
    for row in rows:
        sums[row["tenant"], row["hour"], row["kind"], row["name"]] += row["count"]
    names = ("tenant", "hour", "kind", "name", "count")
    return [dict(zip(names, (*key, count), strict=True)) for key, count in sorted(sums.items())]


def _store_error(error: BaseException) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if isinstance(error, SQLAlchemyError):
        made = StoreError(f"the database could not store it: {reason(error)}")
    elif isinstance(error, AssayError):
        made = StoreError(str(error))
    else:
        _log.error("a change could not be stored", exc_info=error)
        made = StoreError(f"it could not be stored: {type(error).__name__}")
    made.__cause__ = error
    return made
