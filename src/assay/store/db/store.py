"""The store: one object over one database, shared by all threads of a process."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from sqlalchemy import Connection, Row, Select, and_, or_, select
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import BusyError, StoreError
from assay.schema import Evidence, HallucinationReport
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.engine import make_engine, writing
from assay.store.db.migrate import migrate, reason
from assay.store.db.row_security import EVERY_TENANT, enforce_row_security
from assay.store.db.transactions import reading_transaction, transaction
from assay.store.db.writer import MOST_TOGETHER, MOST_WAITING, Act, Change, Stored, Writer
from assay.store.records.check_rows import change_of, merge_changes
from assay.store.records.interface import DEFAULT_TENANT, CheckRecord, Recorded

MOST_LISTED: Final = 1_000
"""The most rows on one page."""

_CHECKS_PER_READ: Final = 64
"""Checks that `stored_checks` reads in one query."""
_PAUSE_S: Final = 0.01
"""How long a coroutine waits before it tries the writer's queue again, in seconds."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How a store names its logs and how its writer batches changes."""

    origin: str | None = None
    """The operator's domain and path, such as `example.com/assay`, with which the names of new audit logs begin; random
    by default. A log keeps its name."""
    most_waiting: int = MOST_WAITING
    """Changes that may wait in the queue before more are refused."""
    most_together: int = MOST_TOGETHER
    """The most changes in one transaction."""
    wait_s: float = 5.0
    """Seconds that `record` waits for a place in a full queue."""


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """A check as it was recorded."""

    id: str
    """The id of the report: the run's own id for its first report, another id for a reviewer's."""
    run: str
    """The id of the run that the report is about."""
    tenant: str
    created: datetime
    kind: str
    caller: str | None
    report: HallucinationReport | None
    """None if it was erased."""
    asked: dict[str, Any] | None
    """The arguments of the check; None if they were erased."""
    evidence: tuple[tuple[str, str, Evidence | None], ...]
    """Id, digest and content of each piece of evidence, in order; the content is None if it was erased."""
    salt: bytes | None
    erased: datetime | None
    evidence_erased: bool = False
    """Whether its evidence was erased. Other checks may still have the same evidence; this one has none."""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """One row of a list of reports."""

    id: str
    run: str
    created: datetime
    action: str
    route: str
    score: float | None
    policy: str
    verifier: str
    claims: int


TROUBLE_S: Final = 5.0
"""Seconds for which `trouble` reports a change that could not be stored; after that another may be tried."""
LEAST_FREE: Final = 16 * 1024 * 1024
"""Bytes that must be free on the disk of a SQLite file: the write-ahead log needs room until it is merged."""


class Store:
    """Records checks so that any later alteration can be proved. An `assay.store.records.interface.Recorder`."""

    def __init__(
        self, url: str, settings: StoreSettings | None = None, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        """Open a database and migrate it to this version's tables.

        Args:
            url: `sqlite:///FILE`, a plain path, or `postgresql://USER@HOST/NAME`.
            settings: how it names logs and batches changes; the defaults if omitted.
            clock: returns the current time; the machine's clock by default.

        Raises:
            StoreError: it cannot be opened, or a newer version of assay migrated it.
            MissingPackageError: the driver is not installed.
        """
        self._settings = settings or StoreSettings()
        self._clock = clock or (lambda: datetime.now(UTC))
        self.engine = make_engine(url)
        try:
            migrate(self.engine)
            enforce_row_security(self.engine)
        except BaseException:
            # No caller has the store yet, so nobody else could close the connections; the error goes on unchanged.
            self.engine.dispose()
            raise
        self._writer = Writer(
            self.engine,
            origin=self._settings.origin,
            most_waiting=self._settings.most_waiting,
            most_together=self._settings.most_together,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Store the changes that wait, and close all connections."""
        self._writer.close()
        self.engine.dispose()

    def release(self) -> None:
        """Close the connections that are not in use; new ones are opened when they are needed.

        A store through which nothing was written yet then holds nothing that processes must not share: it may be
        forked.
        """
        self.engine.dispose()

    @property
    def waiting(self) -> int:
        """About how many changes wait to be stored."""
        return self._writer.waiting

    def trouble(self) -> str | None:
        """Why nothing can be stored now, as a sentence; None if nothing prevents it.

        Reasons: the last change failed within `TROUBLE_S` seconds, the disk of a SQLite file is full, or the database
        does not answer.
        """
        failure = self._writer.last_failure
        if failure is not None and time.monotonic() - failure[0] < TROUBLE_S:
            return failure[1]
        try:
            with reading_transaction(self.engine, EVERY_TENANT) as connection:
                connection.exec_driver_sql("SELECT 1")
            url = self.engine.url
            if url.get_backend_name() == "sqlite":
                free = shutil.disk_usage(Path(str(url.database)).resolve().parent).free
                if free < LEAST_FREE:
                    return f"the disk of the database has {free:,} bytes left; at least {LEAST_FREE:,} are needed"
        except (SQLAlchemyError, OSError) as error:
            return f"the database does not answer: {reason(error) if isinstance(error, SQLAlchemyError) else error}"
        return None

    def now(self) -> datetime:
        """The time by the store's clock."""
        return self._clock()

    # Writing

    def record(self, record: CheckRecord) -> Recorded:
        """Record a check: report, evidence and decision, in one transaction with its entry in the audit log.

        Returns once all of it is on disk.

        Raises:
            BusyError: the queue is full; nothing was stored.
            StoreError: it cannot be stored, for instance because its id was used before.
            ReceiptError: something in it cannot be written as canonical JSON.
        """
        stored = self.apply(change_of(record, self._clock()))
        return Recorded(record.id, record.tenant, stored.entries[0])

    async def arecord(self, record: CheckRecord) -> Recorded:
        """Like `record`, off the event loop."""
        return (await self.arecord_all([record]))[0]

    async def arecord_all(
        self, records: Sequence[CheckRecord], act: Act | None = None, entries: Sequence[Entry] = ()
    ) -> list[Recorded]:
        """Record several checks of one tenant in one transaction: all of them or none.

        Args:
            records: the checks.
            act: statements to run in the same transaction; if it raises, nothing is stored.
            entries: further entries for the log, after those of the checks.

        Raises:
            BusyError: the queue is full; nothing was stored.
            StoreError: they cannot be stored, or belong to several tenants.
            ReceiptError: something in them cannot be written as canonical JSON.
        """
        import asyncio

        if len({record.tenant for record in records}) != 1:
            raise StoreError("expected checks of one tenant to be recorded together, got others")
        now = self._clock()
        changes = await asyncio.to_thread(lambda: [change_of(record, now) for record in records])
        merged = merge_changes(changes)
        stored = await self.aapply(replace(merged, act=act, entries=(*merged.entries, *entries)))
        # The entry of the decision is the first one of each change.
        begins = accumulate((len(change.entries) for change in changes), initial=0)
        return [
            Recorded(record.id, record.tenant, stored.entries[begin])
            for record, begin in zip(records, begins, strict=False)
        ]

    def submit(self, change: Change) -> "Future[Stored]":
        """Queue a change; the future has its result once the change is on disk.

        Raises:
            BusyError: the queue is full; nothing was stored.
        """
        return self._writer.submit(change, self._settings.wait_s)

    def apply(self, change: Change) -> Stored:
        """Store a change; returns once it is on disk.

        Raises:
            BusyError: the queue is full; nothing was stored.
            StoreError: it cannot be stored.
        """
        return self.submit(change).result()

    async def aapply(self, change: Change) -> Stored:
        """Like `apply`, without blocking the event loop."""
        import asyncio

        give_up_at = time.monotonic() + self._settings.wait_s
        while True:
            try:
                future = self._writer.submit(change)
            except BusyError:
                if time.monotonic() >= give_up_at:
                    raise
                await asyncio.sleep(_PAUSE_S)
            else:
                return await asyncio.wrap_future(future)

    async def arun(self, tenant: str, act: Act) -> None:
        """Run statements that write nothing to the log in a transaction, without blocking the event loop.

        In SQLite the writing thread runs them: one transaction writes at a time, and one that has to wait sleeps for up
        to 100 ms before it tries again. In PostgreSQL a thread of their own runs them.

        Args:
            tenant: whom they act for.
            act: the statements; they may be run twice (`assay.store.db.writer.Act`).

        Raises:
            BusyError: the queue is full; nothing was run.
            StoreError: the database cannot be written.
        """
        import asyncio

        if self.engine.dialect.name == "sqlite":
            await self.aapply(Change(checked_tenant(tenant), act=act))
        else:
            await asyncio.to_thread(self._run, tenant, act)

    def _run(self, tenant: str, act: Act) -> None:
        try:
            with transaction(writing(self.engine), checked_tenant(tenant)) as connection:
                act(connection)
        except SQLAlchemyError as error:
            raise StoreError(f"the database cannot be written: {reason(error)}") from error

    # Reading

    @contextmanager
    def reading(self, tenant: str) -> Iterator[Connection]:
        """A connection that sees one snapshot of a tenant's rows until the block ends.

        Queries must still name the tenant: row-level security is the second barrier, and only PostgreSQL has it
        (`assay.store.db.row_security`).

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            with reading_transaction(self.engine, tenant) as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(f"the database cannot be read: {reason(error)}") from error

    def reading_across(self) -> AbstractContextManager[Connection]:
        """Like `reading`, for the rows of all tenants: for the operator's own work, never for a caller's request.

        Raises:
            StoreError: the database cannot be read.
        """
        return self.reading(EVERY_TENANT)

    def check(self, id_: str, tenant: str = DEFAULT_TENANT) -> StoredCheck | None:
        """A check by its id; None if the tenant has no such check."""
        with self.reading(tenant) as connection:
            return read_check(connection, checked_tenant(tenant), id_)

    def report(self, id_: str, tenant: str = DEFAULT_TENANT) -> HallucinationReport | None:
        """A report by its id; None if the tenant has no such report, or it was erased."""
        with self.reading(tenant) as connection:
            return read_report(connection, checked_tenant(tenant), id_)

    def page(
        self,
        tenant: str = DEFAULT_TENANT,
        *,
        before: str | None = None,
        limit: int = 50,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[ReportSummary]:
        """Reports, newest first.

        Args:
            tenant: whose reports.
            before: the id of the last report on the previous page.
            limit: the most rows, capped at `MOST_LISTED`.
            action: only reports with this action.
            since: only reports from this moment on.
            until: only reports from before this moment.
        """
        query = _listing(checked_tenant(tenant), before, action, since, until).limit(max(0, min(limit, MOST_LISTED)))
        with self.reading(tenant) as connection:
            return [_summary(row) for row in connection.execute(query)]


def stored_checks(
    store: Store, tenant: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[StoredCheck]:
    """All checks of a tenant, oldest first, read in batches; none that was there at the start is left out.

    Args:
        store: the store.
        tenant: whose checks.
        since: only checks from this moment on.
        until: only checks from before this moment.

    Raises:
        StoreError: the database cannot be read.
    """
    table, last = tables.runs.c, None
    while True:
        query = select(table.id, table.created).where(table.tenant == checked_tenant(tenant))
        if since is not None:
            query = query.where(table.created >= micros(since))
        if until is not None:
            query = query.where(table.created < micros(until))
        if last is not None:
            query = query.where(
                or_(table.created > last.created, and_(table.created == last.created, table.id > last.id))
            )
        with store.reading(tenant) as connection:
            rows = connection.execute(query.order_by(table.created, table.id).limit(_CHECKS_PER_READ)).all()
            checks = [check for row in rows if (check := read_check(connection, tenant, row.id)) is not None]
        if not rows:
            return
        yield from checks
        last = rows[-1]


def read_check(connection: Connection, tenant: str, id_: str) -> StoredCheck | None:
    """A check by the id of one of its reports; None if the tenant has no such check."""
    run_id = run_of(connection, tenant, id_)
    own = select(tables.runs).where(tables.runs.c.tenant == tenant, tables.runs.c.id == run_id)
    run = connection.execute(own).one_or_none()
    if run is None:
        return None
    asked = run.asked or {}
    pairs = [(str(name), str(digest)) for name, digest in asked.get("evidence", ())]
    # Evidence that was erased from this run must not be read just because another run has the same.
    contents = {} if run.bare else _contents(connection, tenant, {digest for _, digest in pairs})
    return StoredCheck(
        id=id_,
        run=run.id,
        tenant=tenant,
        created=moment_at(run.created),
        kind=run.kind,
        caller=run.caller,
        report=read_report(connection, tenant, id_),
        asked=asked.get("asked"),
        evidence=tuple((name, digest, _evidence(name, contents.get(digest))) for name, digest in pairs),
        salt=None if run.salt is None else bytes(run.salt),
        erased=None if run.erased is None else moment_at(run.erased),
        evidence_erased=bool(run.bare),
    )


def run_of(connection: Connection, tenant: str, id_: str) -> str:
    """The id of the run that a report belongs to; the id itself if there is no such report."""
    table = tables.reports.c
    found = connection.execute(select(table.run).where(table.tenant == tenant, table.id == id_)).scalar_one_or_none()
    return id_ if found is None else str(found)


def _contents(connection: Connection, tenant: str, digests: set[str]) -> dict[str, Any]:
    """Stored evidence by its digest; erased evidence is left out."""
    table, found = tables.evidence.c, dict[str, Any]()
    for part in batches(sorted(digests)):
        rows = connection.execute(
            select(table.digest, table.body).where(table.tenant == tenant, table.digest.in_(part))
        )
        found.update({row.digest: row.body for row in rows if row.body is not None})
    return found


def _evidence(name: str, content: Any) -> Evidence | None:
    return None if content is None else Evidence.model_validate({"id": name, **content})


def read_report(connection: Connection, tenant: str, id_: str) -> HallucinationReport | None:
    """A report by its id; None if the tenant has no such report, or it was erased."""
    table = tables.reports.c
    row = connection.execute(
        select(table.body, table.timing).where(table.tenant == tenant, table.id == id_)
    ).one_or_none()
    if row is None or row.body is None:
        return None
    return HallucinationReport.model_validate({**row.body, "timing": row.timing or {"total_ms": 0.0}})


def report_bodies(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The bodies of reports by their ids; erased reports, and bodies that are not JSON objects, are left out."""
    table, bodies = tables.reports.c, dict[str, dict[str, Any]]()
    for batch in batches(ids):
        rows = connection.execute(select(table.id, table.body).where(table.tenant == tenant, table.id.in_(batch)))
        bodies.update({str(row.id): row.body for row in rows if isinstance(row.body, dict)})
    return bodies


def _listing(
    tenant: str, before: str | None, action: str | None, since: datetime | None, until: datetime | None
) -> Select[Any]:
    table = tables.reports.c
    query = (
        select(
            table.id,
            table.run,
            table.created,
            table.action,
            table.route,
            table.score,
            table.policy,
            table.verifier,
            table.claims,
        )
        .where(table.tenant == tenant)
        .order_by(table.created.desc(), table.id.desc())
    )
    if action is not None:
        query = query.where(table.action == action)
    if since is not None:
        query = query.where(table.created >= micros(since))
    if until is not None:
        query = query.where(table.created < micros(until))
    if before is not None:
        last = select(table.created).where(table.tenant == tenant, table.id == before).scalar_subquery()
        query = query.where(or_(table.created < last, and_(table.created == last, table.id < before)))
    return query


def _summary(row: Row[Any]) -> ReportSummary:
    return ReportSummary(
        row.id, row.run, moment_at(row.created), row.action, row.route, row.score, row.policy, row.verifier, row.claims
    )


def batches(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """A sequence in batches: databases limit the number of parameters of one statement."""
    for begin in range(0, len(values), size):
        yield values[begin : begin + size]
