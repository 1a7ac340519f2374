"""Runs of the red team: each recorded once and bound to the audit log."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, func, insert, or_, select

from assay.errors import StoreError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import entry, ppm
from assay.store.audit.log import Entry
from assay.store.audit.units import REDTEAM_RUN
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, storable
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.redteam.values import MOST_CASES, MOST_LISTED, AttackCase, AttackRun, packable

REDTEAM: Final = "redteam"
"""The kind of the log entries about the red team."""
MOST_SERIES: Final = 100
"""The most pairs of suite and target that are listed."""


def record_run(store: Store, tenant: str, run: AttackRun, cases: Sequence[AttackCase]) -> bool:
    """Record a run with its cases, in one transaction with its log entry.

    Returns:
        Whether it was new: a run whose id exists already is left as it is, so that recording may be repeated safely.

    Raises:
        StoreError: it cannot be stored, or has more cases than one run may have.
    """
    if len(cases) > MOST_CASES:
        raise StoreError(f"expected a run of at most {MOST_CASES:,} cases, got {len(cases):,}")
    now, new = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.redteam_runs
        existing = connection.execute(
            select(table.c.id).where(table.c.tenant == tenant, table.c.id == run.id)
        ).one_or_none()
        new[:] = [existing is None]
        if existing is not None:
            return ()
        touch(connection, REDTEAM_RUN, [run.id])
        connection.execute(insert(table), _run_values(tenant, run, micros(now)))
        if cases:
            values = [_case_values(tenant, run.id, position, case) for position, case in enumerate(cases)]
            connection.execute(insert(tables.redteam_cases), values)
        # Names of suites and targets are texts of people: the entry that binds the rows commits to them, this one
        # leaves them out.
        return [
            entry(
                REDTEAM,
                run.id,
                {
                    "at": instant(now),
                    "act": "run",
                    "ended": instant(moment_at(run.at)),
                    "suite": run.suite,
                    "verifier": run.verifier,
                    "source": run.source,
                    "ars": ppm(run.ars),
                    "cases": run.cases,
                    "passed": run.passed,
                    "failed": run.failed,
                    "unjudged": run.unjudged,
                    "flaky": run.flaky,
                    "regressed": run.regressed,
                    "actor": run.actor,
                },
            )
        ]

    store.apply(Change(checked_tenant(tenant), act=act))
    return new[0]


def _run_values(tenant: str, run: AttackRun, recorded: int) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "id": run.id,
        "at": run.at,
        "recorded": recorded,
        "suite": storable(run.suite),
        "suite_name": storable(run.suite_name),
        "target": storable(run.target),
        "target_version": None if run.target_version is None else storable(run.target_version),
        "verifier": storable(run.verifier),
        "source": run.source,
        "schedule": run.schedule,
        "due": run.due,
        "actor": run.actor,
        "ars": run.ars,
        "low": run.low,
        "high": run.high,
        "cases": run.cases,
        "passed": run.passed,
        "failed": run.failed,
        "unjudged": run.unjudged,
        "flaky": run.flaky,
        "regressed": run.regressed,
        "weight": run.weight,
        "body": packable(run.body),
    }


def _case_values(tenant: str, run: str, position: int, case: AttackCase) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "run": run,
        "position": position,
        "case_id": case.case_id,
        "category": case.category,
        "outcome": case.outcome,
        "match": case.match,
        "flaky": case.flaky,
        "rule": None if case.rule is None else storable(case.rule),
        "told": None if case.told is None else packable(case.told),
    }


# Reading


def list_runs(
    connection: Connection,
    tenant: str,
    *,
    suite_name: str | None = None,
    target: str | None = None,
    schedule: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[AttackRun]:
    """Runs, newest first.

    Args:
        connection: from `Store.reading`.
        tenant: whose runs.
        suite_name: only runs of suites with this name.
        target: only runs against this target.
        schedule: only runs of this schedule.
        before: the id of the last run on the previous page; with an unknown id the page is empty.
        limit: the most runs, capped at `MOST_LISTED`.
    """
    table = tables.redteam_runs.c
    query = select(tables.redteam_runs).where(table.tenant == tenant)
    for column, value in ((table.suite_name, suite_name), (table.target, target), (table.schedule, schedule)):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        last = select(table.at).where(table.tenant == tenant, table.id == before).scalar_subquery()
        query = query.where(or_(table.at < last, and_(table.at == last, table.id < before)))
    rows = connection.execute(query.order_by(table.at.desc(), table.id.desc()).limit(max(0, min(limit, MOST_LISTED))))
    return [_run(row) for row in rows]


def read_run(connection: Connection, tenant: str, id_: str) -> AttackRun | None:
    """A run by its id; None if the tenant has no such run."""
    table = tables.redteam_runs.c
    row = connection.execute(select(tables.redteam_runs).where(table.tenant == tenant, table.id == id_)).one_or_none()
    return None if row is None else _run(row)


def first_run(connection: Connection, tenant: str, schedule: str, since: int = 0) -> AttackRun | None:
    """The first run of a schedule, from a moment in microseconds since 1970 on, in which any case was judged."""
    table = tables.redteam_runs.c
    row = connection.execute(
        select(tables.redteam_runs)
        .where(table.tenant == tenant, table.schedule == schedule, table.at >= since, table.ars.is_not(None))
        .order_by(table.at, table.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else _run(row)


def last_run(
    connection: Connection, tenant: str, schedule: str, since: int = 0, *, sound: bool = False
) -> AttackRun | None:
    """The latest run of a schedule from a moment on.

    Args:
        connection: from `Store.reading`.
        tenant: whose runs.
        schedule: the name of the schedule.
        since: the moment in microseconds since 1970.
        sound: only runs in which any case was judged and that were no regression.
    """
    table = tables.redteam_runs.c
    query = select(tables.redteam_runs).where(table.tenant == tenant, table.schedule == schedule, table.at >= since)
    if sound:
        query = query.where(table.ars.is_not(None), or_(table.regressed.is_(None), table.regressed.is_(False)))
    row = connection.execute(query.order_by(table.at.desc(), table.id.desc()).limit(1)).one_or_none()
    return None if row is None else _run(row)


def read_cases(
    connection: Connection,
    tenant: str,
    run: str,
    *,
    outcomes: Sequence[str] | None = None,
    told: bool | None = None,
    after: int = -1,
    limit: int | None = None,
) -> list[AttackCase]:
    """The cases of a run, in the order of its suite.

    Args:
        connection: from `Store.reading`.
        tenant: whose run.
        run: the id of the run.
        outcomes: only cases with one of these outcomes.
        told: only cases with a stored conversation, or with False only those without.
        after: only cases behind this position.
        limit: the most cases.
    """
    table = tables.redteam_cases.c
    query = select(tables.redteam_cases).where(table.tenant == tenant, table.run == run, table.position > after)
    if outcomes is not None:
        query = query.where(table.outcome.in_(outcomes))
    if told is not None:
        query = query.where(table.told.is_not(None) if told else table.told.is_(None))
    return [_case(row) for row in connection.execute(query.order_by(table.position).limit(limit))]


def broken_cases(connection: Connection, tenant: str, run: str, limit: int = MOST_LISTED) -> list[AttackCase]:
    """Cases of a run that did not pass, or not in all trials: failed ones first, beginning with the worst."""
    table = tables.redteam_cases.c
    query = select(tables.redteam_cases).where(
        table.tenant == tenant, table.run == run, or_(table.outcome != "passed", table.flaky.is_(True))
    )
    ordered = query.order_by(table.outcome, func.coalesce(table.match, 2.0), table.position)
    return [_case(row) for row in connection.execute(ordered.limit(limit))]


def known_series(connection: Connection, tenant: str) -> list[tuple[str, str]]:
    """The pairs of suite name and target that have runs, the most recent first."""
    table = tables.redteam_runs.c
    query: Select[Any] = (
        select(table.suite_name, table.target)
        .where(table.tenant == tenant)
        .group_by(table.suite_name, table.target)
        .order_by(func.max(table.at).desc())
        .limit(MOST_SERIES)
    )
    return [(row.suite_name, row.target) for row in connection.execute(query)]


def spent_by_attacks(connection: Connection, tenant: str, since: int, until: int) -> list[tuple[int, float]]:
    """What the runs of a period spend of the error budget: for each, its moment and the number of wrong outputs that
    its failures count for."""
    table = tables.redteam_runs.c
    rows = connection.execute(
        select(table.at, table.weight, table.failed)
        .where(table.tenant == tenant, table.weight > 0, table.at >= since, table.at < until, table.failed > 0)
        .order_by(table.at)
    )
    return [(row.at, row.weight * row.failed) for row in rows]


def _run(row: Row[Any]) -> AttackRun:
    return AttackRun(
        id=row.id,
        at=row.at,
        suite=row.suite,
        suite_name=row.suite_name,
        target=row.target,
        verifier=row.verifier,
        source=row.source,
        ars=row.ars,
        low=row.low,
        high=row.high,
        cases=row.cases,
        passed=row.passed,
        failed=row.failed,
        unjudged=row.unjudged,
        flaky=row.flaky,
        body=row.body or {},
        target_version=row.target_version,
        schedule=row.schedule,
        due=row.due,
        actor=row.actor,
        regressed=None if row.regressed is None else bool(row.regressed),
        weight=row.weight,
        recorded=row.recorded,
    )


def _case(row: Row[Any]) -> AttackCase:
    return AttackCase(
        row.case_id, row.category, row.outcome, row.match, bool(row.flaky), row.rule, row.told, row.position
    )
