"""Erasure and retention: content goes, the log stays provable.

Erased are the texts (question, output, claims, evidence that no other run had, tool arguments, what chat models said,
comments, what reviewers saw and wrote, verdicts that are kept for equal requests, digests of requests that came under
a key), every name that the caller gave,
and the run's salt, without which the commitments in the log say nothing. What stays is what was decided, when, with
which scores, under which policy. Each erasure is an entry of the log itself: content that is missing without one was
removed by somebody else, and verification says so.

SQLite overwrites what is deleted; copies elsewhere (backups, replicas, PostgreSQL's dead rows until VACUUM) are the
operator's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, bindparam, delete, exists, null, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.receipt import instant
from assay.schema import ReviewState
from assay.store.audit.binding import touch
from assay.store.audit.entries import ERASURE, EVIDENCE, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.migrate import reason as reason_of
from assay.store.db.store import Store, batches
from assay.store.db.writer import Change
from assay.store.records.idempotency_keys import forget_requests
from assay.store.records.recording import checked_tenant, micros, storable
from assay.store.records.verdict_cache import forget_verdicts

PART: Final = 200
"""Runs that are erased in one transaction: others write in between."""
MERGED_AT_ONCE: Final = 2_000
"""Pages of SQLite's index of words that are merged in one transaction."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased."""

    runs: tuple[str, ...]
    """The ids of the runs."""
    entries: tuple[int, ...]
    """The entries of the log that say so, one for each run."""


def erase_runs(store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True) -> Erased:
    """Erase the content of runs and of everything that belongs to them.

    Those that are erased already, or that the tenant does not have, are left out of the result.

    Args:
        store: the store.
        ids: the ids of the runs.
        reason: why, such as `request of the person` or `retention`; kept in the log, so it must name nobody.
        tenant: whose they are.
        settles: whether words and pages that were taken out are overwritten before this returns (`settle`); who erases
            more at once does that in the end.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    checked_tenant(tenant)
    runs: list[str] = []
    entries: list[int] = []
    for part in batches(sorted(set(ids)), PART):
        now, done = store.now(), list[str]()
        stored = store.apply(Change(tenant, act=_erasing(tenant, part, reason, now, done)))
        runs += done
        entries += stored.entries
    if runs and settles:
        settle(store)
    return Erased(tuple(runs), tuple(entries))


def erase_evidence(store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True) -> Erased:
    """Erase the stored evidence of runs that no other run has, and nothing else of them.

    The report keeps the passages that it quotes, and the run the ids and digests of its evidence: this rule saves room
    and keeps licences. What a person asks to have erased is erased with `erase_runs`. A run without its evidence
    cannot be run again, so what chat models said of it goes too: they quote it.

    Args:
        store: the store.
        ids: the ids of the runs.
        reason: why; it is in the log.
        tenant: whose they are.
        settles: as for `erase_runs`.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    checked_tenant(tenant)
    runs: list[str] = []
    entries: list[int] = []
    for part in batches(sorted(set(ids)), PART):
        done = list[str]()
        stored = store.apply(Change(tenant, act=_erasing(tenant, part, reason, store.now(), done, of=EVIDENCE)))
        runs += done
        entries += stored.entries
    if runs and settles:
        settle(store)
    return Erased(tuple(runs), tuple(entries))


def erase_before(store: Store, moment: datetime, tenant: str, reason: str = "retention") -> Erased:
    """Erase the content of all runs from before a moment: what a rule of retention does each day.

    Raises:
        StoreError: it cannot be stored.
    """
    table = tables.runs.c
    with store.reading(tenant) as connection:
        old = select(table.id).where(
            table.tenant == checked_tenant(tenant), table.created < micros(moment), table.erased.is_(None)
        )
        ids = list(connection.execute(old.order_by(table.created)).scalars())
    return erase_runs(store, ids, reason, tenant)


def find_runs(store: Store, run_id: str, tenant: str) -> list[str]:
    """The ids of the runs that the caller had given a name: whoever asks for erasure knows only that."""
    table = tables.runs.c
    with store.reading(tenant) as connection:
        query = select(table.id).where(table.tenant == checked_tenant(tenant), table.run_id == storable(run_id))
        return list(connection.execute(query.order_by(table.id)).scalars())


def _erasing(
    tenant: str, ids: Sequence[str], reason: str, now: datetime, done: list[str], of: str | None = None
) -> Callable[[Connection], Sequence[Entry]]:
    if not reason.strip() or len(reason) > 500:
        raise StoreError("expected a reason for the erasure of at most 500 characters")

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.runs.c
        rows = connection.execute(
            select(table.id).where(
                table.tenant == tenant,
                table.id.in_(ids),
                table.erased.is_(None),
                *([table.bare.is_(False)] if of == EVIDENCE else []),
            )
        )
        found = sorted(rows.scalars())
        done[:] = found
        if not found:
            return ()
        data: dict[str, str] = {"at": instant(now), "reason": reason}
        touch(connection, RUN, found)
        if of == EVIDENCE:
            _drop_evidence(connection, tenant, found)
            data["of"] = EVIDENCE
        else:
            _erase(connection, tenant, found, micros(now))
            forget_verdicts(connection, tenant)
            forget_requests(connection, tenant, found)
        return [entry(ERASURE, run, data) for run in found]

    return act


def _drop_evidence(connection: Connection, tenant: str, ids: Sequence[str]) -> None:
    """Takes the evidence of runs, where no other run has it."""
    digests = _digests_of(connection, tenant, ids)
    had, runs = tables.run_evidence, tables.runs
    connection.execute(update(had).where(had.c.tenant == tenant, had.c.run.in_(ids)).values(digest=null()))
    connection.execute(update(runs).where(runs.c.tenant == tenant, runs.c.id.in_(ids)).values(bare=True, tape=null()))
    _drop_orphans(connection, tenant, digests)


def _digests_of(connection: Connection, tenant: str, ids: Sequence[str]) -> list[str]:
    had = tables.run_evidence.c
    found = connection.execute(select(had.digest).where(had.tenant == tenant, had.run.in_(ids))).scalars()
    # Those that are null are left out here: asked to, SQLite would read the whole table along its digests.
    return sorted({digest for digest in found if digest is not None})


def _erase(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
    digests = _digests_of(connection, tenant, ids)
    reports = select(tables.reports.c.id).where(tables.reports.c.tenant == tenant, tables.reports.c.run.in_(ids))
    for table, key, emptied in (
        (
            tables.runs,
            tables.runs.c.id,
            {
                "run_id": null(),
                "caller": null(),
                "question": null(),
                "salt": null(),
                "asked": null(),
                "erased": at,
                "tape": null(),
            },
        ),
        (tables.run_evidence, tables.run_evidence.c.run, {"evidence_id": null(), "digest": null()}),
        (tables.decisions, tables.decisions.c.run, {"reasons": null()}),
        (tables.review_items, tables.review_items.c.run, {"package": null(), "outcome": null(), "caller": null()}),
        (tables.feedback, tables.feedback.c.run, {"author": null(), "comment": null()}),
        (tables.claims, tables.claims.c.report, {"text": null()}),
        (tables.tool_calls, tables.tool_calls.c.report, {"tool": ""}),
        (tables.reports, tables.reports.c.run, {"body": null(), "timing": null(), "caller": null()}),
    ):
        wanted: Any = reports if key.name == "report" else ids
        connection.execute(update(table).where(table.c.tenant == tenant, key.in_(wanted)).values(emptied))
    _close_reviews(connection, tenant, ids, at)
    _forget_words(connection, tenant, list(connection.execute(reports).scalars()))
    _drop_orphans(connection, tenant, digests)


def _forget_words(connection: Connection, tenant: str, ids: Sequence[str]) -> None:
    """Takes reports out of the index of words."""
    table = tables.report_search
    if connection.dialect.name == "postgresql":
        connection.execute(delete(table).where(table.c.owner == tenant, table.c.id.in_(ids)))
        return
    found = text("SELECT rowid FROM report_search WHERE report_search MATCH :said")
    gone = text("DELETE FROM report_search WHERE rowid = :at")
    for id_ in ids:
        rows = connection.execute(found, {"said": f'owner : "{tenant}" AND id : "{id_}"'}).scalars().all()
        for at in rows:
            connection.execute(gone, {"at": at})


def _close_reviews(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
    """Nobody can decide on what is gone: it stays withheld."""
    items = tables.review_items
    connection.execute(
        update(items)
        .where(
            items.c.tenant == tenant, items.c.run.in_(ids), items.c.state.in_((ReviewState.OPEN, ReviewState.EVIDENCE))
        )
        .values(
            state=ReviewState.ERASED.value,
            deadline=null(),
            holder=null(),
            held_until=null(),
            decided=at,
            updated=at,
            version=items.c.version + 1,
        )
    )


def _drop_orphans(connection: Connection, tenant: str, digests: Sequence[str]) -> None:
    """Evidence that no run has any more. The tenant's lock keeps a new run from counting on it meanwhile."""
    had = tables.run_evidence.c
    stored = tables.evidence.c
    used = exists().where(had.tenant == stored.tenant, had.digest == stored.digest)
    statement = delete(tables.evidence).where(
        stored.tenant == tenant, stored.digest.in_(bindparam("digests", expanding=True)), ~used
    )
    for part in batches(digests):
        connection.execute(statement, {"digests": list(part)})


def settle(store: Store) -> None:
    """Overwrite what erasures have taken out. Nothing is left to do in PostgreSQL.

    In SQLite, words that were taken out still are in older parts of their index until those are merged, and what was
    overwritten in the write-ahead log until that is written back and cut. The whole index is merged, however little
    was erased: it takes minutes at a million reports, and others write in between.

    Raises:
        StoreError: the database cannot be written.
    """
    try:
        _settle(store.engine)
    except SQLAlchemyError as error:
        raise StoreError(f"what was erased cannot be overwritten yet: {reason_of(error)}") from error


def _settle(engine: Engine) -> None:
    if engine.dialect.name != "sqlite":
        return
    merging = text("INSERT INTO report_search (report_search, rank) VALUES ('merge', :pages)")
    pages, before, after = -MERGED_AT_ONCE, 0, 2
    while after - before >= 2:
        # Some pages at a time, so that others write in between; it is done when nothing changes any more.
        with writing(engine).begin() as connection:
            before = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
            connection.execute(merging, {"pages": pages})
            after = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        pages = MERGED_AT_ONCE
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()
