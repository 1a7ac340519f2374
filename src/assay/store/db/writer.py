"""Group commit: many threads queue changes, one thread writes them, and each learns when its own change is on disk.

While one transaction commits, new changes wait in a queue; the next transaction takes all of them. So all of them share
the cost of one sync to disk, and a single change waits for nobody. The queue is bounded: when it is full, `submit`
refuses rather than promise what it cannot keep.
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
from assay.store.audit.binding import bind, track_touched
from assay.store.audit.log import Appender, Entry
from assay.store.db.engine import writing
from assay.store.db.migrate import reason
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows, one_round_trip
from assay.store.db.row_security import set_acting_tenant
from assay.store.db.tables import evidence, hourly, policies, verifiers
from assay.store.db.transactions import CommitFailedError, transaction

MOST_WAITING: Final = 4_096
"""How many changes may wait in the queue by default."""
MOST_TOGETHER: Final = 512
"""The most changes in one transaction: a compromise between throughput and how long the first of them waits."""

_CONFLICTS: Final = {
    evidence.name: UNLESS_THERE,
    verifiers.name: UNLESS_THERE,
    # The first check under a policy may have been recorded without the policy's body.
    policies.name: "ON CONFLICT (tenant, digest) DO UPDATE SET body = coalesce(policies.body, excluded.body)",
    hourly.name: "ON CONFLICT (tenant, hour, kind, name) DO UPDATE SET count = hourly.count + excluded.count",
}
"""The ON CONFLICT clauses of tables whose rows several changes may insert."""
_log = logging.getLogger("assay.store")

Act = Callable[[Connection], Sequence[Entry]]
"""Statements of a change, run in its transaction; returns log entries. It may run twice: when a transaction with
several changes fails, each change is tried again in a transaction of its own. So it must reset what it hands out by
closure."""


@dataclass(frozen=True, slots=True)
class Change:
    """Rows, log entries and statements that are stored in one transaction: all or nothing."""

    tenant: str
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """New rows, each with a value for every column of its table; values of packed columns are packed already
    (`assay.store.db.tables.pack`). Rows that the log binds (`assay.store.audit.units`) must be bound by one of
    `entries`; otherwise they are written by `act`."""
    entries: Sequence[Entry] = ()
    """Entries for the tenant's log."""
    act: Act | None = None
    """Further statements, run while the tenant's log is locked; its entries follow those above. It must call `touch`
    for the units that it changes (`assay.store.audit.binding`)."""


class Stored(NamedTuple):
    """The result of a change that is on disk."""

    entries: tuple[int, ...]
    """The indexes of its entries in the tenant's log, without those that the writer added to bind changed rows."""


_Job = tuple[Change, "Future[Stored]"]


class Writer:
    """The one writing thread of a process. Several processes may each have one."""

    def __init__(
        self,
        engine: Engine,
        *,
        origin: str | None = None,
        most_waiting: int = MOST_WAITING,
        most_together: int = MOST_TOGETHER,
    ) -> None:
        """Create a writer; its thread starts with the first change and ends with `close`.

        Before the first change the process may be forked: each process then gets a thread of its own.
        """
        self._engine = writing(engine)
        self._appender = Appender(origin)
        self._most_waiting, self._most_together = most_waiting, most_together
        # One lock guards the queue: a batch is taken out in one go, however many threads queued its changes.
        self._waiting: deque[_Job] = deque()
        lock = threading.Lock()
        self._arrived, self._freed = threading.Condition(lock), threading.Condition(lock)
        self._closed = False
        self._last_failure: tuple[float, str] | None = None
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """About how many changes wait."""
        return len(self._waiting)

    @property
    def last_failure(self) -> tuple[float, str] | None:
        """When (by `time.monotonic`) and why a change could not be stored; None once one was stored again."""
        return self._last_failure

    def submit(self, change: Change, wait_s: float = 0.0) -> "Future[Stored]":
        """Queue a change; the future has its result once the change is on disk.

        Args:
            change: the change.
            wait_s: how long to wait for a place in a full queue, in seconds.

        Raises:
            BusyError: the queue is full; nothing of this change was stored.
            StoreError: the writer was closed.
        """
        future: Future[Stored] = Future()
        with self._arrived:
            if len(self._waiting) >= self._most_waiting and wait_s > 0:
                self._freed.wait_for(lambda: self._closed or len(self._waiting) < self._most_waiting, wait_s)
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
                self._arrived.notify()
        return future

    def close(self) -> None:
        """Store the changes that wait, then end the thread."""
        with self._arrived:
            self._closed = True
            self._arrived.notify()
            self._freed.notify_all()
        if self._thread is not None:
            self._thread.join()

    # The thread

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            self._store([job for job in batch if job[1].set_running_or_notify_cancel()])

    def _next(self) -> list[_Job] | None:
        """The next batch of waiting changes; None once the queue is empty and the writer was closed."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            count = min(len(self._waiting), self._most_together)
            batch = [self._waiting.popleft() for _ in range(count)]
            self._freed.notify(count)
            return batch

    def _store(self, batch: list[_Job]) -> None:
        if not batch:
            return
        try:
            results = self._commit([change for change, _ in batch])
        # Acts of any caller run in `_commit` and may raise anything. The error reaches the caller through its future,
        # never as a result; if it ended this thread, every later change would wait for ever.
        except Exception as error:  # noqa: BLE001
            self._appender.forget()
            # What may have been committed is not tried again: it could be stored twice.
            if len(batch) == 1 or isinstance(error, CommitFailedError):
                reported = _store_error(error)
                if isinstance(error, DBAPIError | CommitFailedError):
                    self._last_failure = time.monotonic(), str(reported)
                for _, future in batch:
                    future.set_exception(reported)
                return
            # One change that cannot be stored must not fail the others.
            for job in batch:
                self._store([job])
            return
        self._last_failure = None
        for (_, future), stored in zip(batch, results, strict=True):
            future.set_result(stored)

    def _commit(self, changes: Sequence[Change]) -> list[Stored]:
        results: dict[int, Stored] = {}
        # Every writer takes the tenants in the same order, so two writers never deadlock.
        tenants = sorted({change.tenant for change in changes})
        sizes: dict[str, Callable[[], int | None]] = {}

        def lock(connection: Connection, tenant: str = tenants[0]) -> None:
            sizes[tenant] = self._appender.lock_later(connection, tenant)

        with transaction(self._engine, tenants[0], lock) as connection:
            for tenant in tenants:
                if tenant != tenants[0]:
                    with one_round_trip(connection):
                        set_acting_tenant(connection, tenant)
                        lock(connection, tenant)
                size = self._appender.size_of_locked(connection, tenant, sizes[tenant]())
                own = {number: change for number, change in enumerate(changes) if change.tenant == tenant}
                results |= self._commit_tenant(connection, tenant, own, size)
        return [results[number] for number in range(len(changes))]

    def _commit_tenant(
        self, connection: Connection, tenant: str, changes: Mapping[int, Change], first: int
    ) -> dict[int, Stored]:
        """Commit the changes of one tenant, whose log has `first` entries; changes and results are keyed by the number
        of the change."""
        rows = _rows_by_table(changes.values())
        if rows and any(change.act is not None for change in changes.values()):
            with one_round_trip(connection):
                _insert(connection, rows)  # an act finds the rows of its own change and of others
            rows = {}
        log: list[Entry] = []
        results = {}
        for number, change in changes.items():
            begin = first + len(log)
            log += change.entries
            binding_entries: list[Entry] = []
            if change.act is not None:
                with track_touched(connection, tenant) as touched:
                    log += change.act(connection)
                    binding_entries = bind(connection, touched)
            results[number] = Stored(tuple(range(begin, first + len(log))))
            log += binding_entries
        append = self._appender.prepare(connection, tenant, log, first)
        if rows or log:  # an empty pipeline would still wait for the database
            with one_round_trip(connection):
                _insert(connection, rows)
                append()
        return results


def _rows_by_table(changes: Iterable[Change]) -> dict[Table, list[Mapping[str, Any]]]:
    by_table: dict[Table, list[Mapping[str, Any]]] = {}
    for change in changes:
        for table, rows in change.rows.items():
            if rows:
                by_table.setdefault(table, []).extend(rows)
    if hourly in by_table:
        by_table[hourly] = _sum_counts(by_table[hourly])
    return by_table


def _insert(connection: Connection, rows: Mapping[Table, Sequence[Mapping[str, Any]]]) -> None:
    for table, own in rows.items():
        insert_rows(connection, table, own, _CONFLICTS.get(table.name, ""))


def _sum_counts(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One row for each count, however many changes add to it, sorted so that all writers lock rows in the same
    order."""
    sums: Counter[tuple[str, int, str, str]] = Counter()
    for row in rows:
        sums[row["tenant"], row["hour"], row["kind"], row["name"]] += row["count"]
    names = ("tenant", "hour", "kind", "name", "count")
    return [dict(zip(names, (*key, count), strict=True)) for key, count in sorted(sums.items())]


def _store_error(error: BaseException) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if isinstance(error, SQLAlchemyError):
        store_error = StoreError(f"the database could not store it: {reason(error)}")
    elif isinstance(error, AssayError):
        store_error = StoreError(str(error))
    else:
        _log.error("a change could not be stored", exc_info=error)
        store_error = StoreError(f"it could not be stored: {type(error).__name__}")
    store_error.__cause__ = error
    return store_error
