"""Erasure: the content of runs is deleted, and the log remains provable.

Erased are the texts (question, output, claims, evidence that no other run had, tool arguments, answers of chat models,
comments, what reviewers saw and wrote, cached reports, digests of requests sent under an idempotency key), every name
that the caller gave, and the run's salt, without which the commitments in the log reveal nothing. What was decided
remains: when, with which scores, under which policy. Each erasure is itself an entry of the log: verification reports
content that is missing without one.

SQLite overwrites deleted content. Copies elsewhere (backups, replicas, PostgreSQL's dead rows until VACUUM) are the
operator's responsibility.
"""

from collections.abc import Sequence
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
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.engine import writing
from assay.store.db.migrate import reason as reason_of
from assay.store.db.store import Store, batches
from assay.store.db.writer import Act, Change
from assay.store.records.idempotency_keys import forget_requests
from assay.store.records.verdict_cache import forget_verdicts

BATCH: Final = 200
"""Runs that are erased in one transaction, so that other writers get their turn in between."""
MERGED_AT_ONCE: Final = 2_000
"""Pages of SQLite's search index that are merged in one transaction."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure."""

    runs: tuple[str, ...]
    """The ids of the erased runs."""
    entries: tuple[int, ...]
    """The indexes of the log entries, one for each run."""


def erase_runs(store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True) -> Erased:
    """Erase the content of runs and of everything that belongs to them.

    Runs that are erased already, or that the tenant does not have, are left out of the result.

    Args:
        store: the store.
        ids: the ids of the runs.
        reason: the reason, such as `request of the person` or `retention`; it is in the log, so it must name nobody.
        tenant: whose runs.
        settles: whether deleted words and pages are overwritten before this returns (`settle`); a caller that erases
            in several calls does that once at the end.

    Raises:
        StoreError: it cannot be stored; runs of earlier batches stay erased.
    """
    return _erase_in_batches(store, ids, reason, tenant, settles=settles)


def erase_evidence(store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True) -> Erased:
    """Erase the stored evidence of runs as far as no other run has it, and nothing else of them.

    The report keeps the passages that it quotes, and the run the ids and digests of its evidence: this saves room and
    honours licences. A person's request for erasure is fulfilled with `erase_runs`. The answers of chat models are
    erased too: they quote the evidence, and a run without evidence cannot be replayed.

    Args:
        store: the store.
        ids: the ids of the runs.
        reason: the reason; it is in the log, so it must name nobody.
        tenant: whose runs.
        settles: as for `erase_runs`.

    Raises:
        StoreError: it cannot be stored; runs of earlier batches stay erased.
    """
    return _erase_in_batches(store, ids, reason, tenant, settles=settles, of=EVIDENCE)


def _erase_in_batches(
    store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool, of: str | None = None
) -> Erased:
    """Erase the content of runs; with `of`, only their evidence."""
    checked_tenant(tenant)
    runs: list[str] = []
    entries: list[int] = []
    for batch in batches(sorted(set(ids)), BATCH):
        erased = list[str]()
        stored = store.apply(Change(tenant, act=_erasure_act(tenant, batch, reason, store.now(), erased, of)))
        runs += erased
        entries += stored.entries
    if runs and settles:
        settle(store)
    return Erased(tuple(runs), tuple(entries))


def erase_before(store: Store, moment: datetime, tenant: str, reason: str = "retention") -> Erased:
    """Erase the content of all runs from before a moment, as a retention rule does each day.

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
    """The ids of the runs to which the caller gave a name, which is all that a person asking for erasure knows."""
    table = tables.runs.c
    with store.reading(tenant) as connection:
        query = select(table.id).where(table.tenant == checked_tenant(tenant), table.run_id == storable(run_id))
        return list(connection.execute(query.order_by(table.id)).scalars())


def _erasure_act(tenant: str, ids: Sequence[str], reason: str, now: datetime, erased: list[str], of: str | None) -> Act:
    """The act that erases one batch of runs, and puts their ids into `erased`."""
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
        runs = sorted(rows.scalars())
        erased[:] = runs
        if not runs:
            return ()
        data: dict[str, str] = {"at": instant(now), "reason": reason}
        touch(connection, RUN, runs)
        if of == EVIDENCE:
            _erase_evidence(connection, tenant, runs)
            data["of"] = EVIDENCE
        else:
            _erase_content(connection, tenant, runs, micros(now))
            forget_verdicts(connection, tenant)
            forget_requests(connection, tenant, runs)
        return [entry(ERASURE, run, data) for run in runs]

    return act


def _erase_evidence(connection: Connection, tenant: str, ids: Sequence[str]) -> None:
    """Erase the evidence of runs as far as no other run has it."""
    digests = _digests_of(connection, tenant, ids)
    had, runs = tables.run_evidence, tables.runs
    connection.execute(update(had).where(had.c.tenant == tenant, had.c.run.in_(ids)).values(digest=null()))
    connection.execute(update(runs).where(runs.c.tenant == tenant, runs.c.id.in_(ids)).values(bare=True, tape=null()))
    _drop_orphans(connection, tenant, digests)


def _digests_of(connection: Connection, tenant: str, ids: Sequence[str]) -> list[str]:
    had = tables.run_evidence.c
    digests = connection.execute(select(had.digest).where(had.tenant == tenant, had.run.in_(ids))).scalars()
    # NULL is filtered here: with a condition in the query, SQLite would read the whole table along the index of
    # digests.
    return sorted({digest for digest in digests if digest is not None})


def _erase_content(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
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
        owners: Any = reports if key.name == "report" else ids
        connection.execute(update(table).where(table.c.tenant == tenant, key.in_(owners)).values(emptied))
    _close_reviews(connection, tenant, ids, at)
    _drop_search_rows(connection, tenant, list(connection.execute(reports).scalars()))
    _drop_orphans(connection, tenant, digests)


def _drop_search_rows(connection: Connection, tenant: str, ids: Sequence[str]) -> None:
    """Delete reports from the search index."""
    table = tables.report_search
    if connection.dialect.name == "postgresql":
        connection.execute(delete(table).where(table.c.owner == tenant, table.c.id.in_(ids)))
        return
    find = text("SELECT rowid FROM report_search WHERE report_search MATCH :query")
    drop = text("DELETE FROM report_search WHERE rowid = :rowid")
    for id_ in ids:
        rowids = connection.execute(find, {"query": f'owner : "{tenant}" AND id : "{id_}"'}).scalars().all()
        for rowid in rowids:
            connection.execute(drop, {"rowid": rowid})


def _close_reviews(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
    """Close the review items of erased runs: nobody can decide on them any more, so the outputs stay withheld."""
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
    """Delete evidence that no run has any more. The lock of the tenant's log keeps new runs from relying on it
    meanwhile."""
    had = tables.run_evidence.c
    stored = tables.evidence.c
    used = exists().where(had.tenant == stored.tenant, had.digest == stored.digest)
    statement = delete(tables.evidence).where(
        stored.tenant == tenant, stored.digest.in_(bindparam("digests", expanding=True)), ~used
    )
    for part in batches(digests):
        connection.execute(statement, {"digests": list(part)})


def settle(store: Store) -> None:
    """Overwrite what erasures have deleted; nothing to do in PostgreSQL.

    In SQLite, deleted words remain in older segments of the search index until those are merged, and overwritten
    content remains in the write-ahead log until that is checkpointed and truncated. The whole index is merged, however
    little was erased: it takes minutes at a million reports, during which others can write.

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
        # A few pages at a time, so that others can write in between, until nothing changes any more.
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
