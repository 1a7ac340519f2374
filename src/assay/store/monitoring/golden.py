"""Runs of the golden set: results row by row, and all observations at once when a run is complete.

The id of a run follows from its rows, policy, verifier and scheduled moment. The result of a row is stored before the
next row is checked, and only once if several processes find it; an interrupted run continues at the next row.
Statistics include only complete runs: the observations are stored in the transaction that completes the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from assay.errors import StoreError
from assay.receipt import instant
from assay.store.audit.entries import ALARM, entry
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.observations import METRICS, mark_late
from assay.store.monitoring.values import ObservedRow

RUNNING: Final = "running"
DONE: Final = "done"
LEFT: Final = "left"
"""The states of a run: running, complete, abandoned because rows, policy or verifier changed."""
GOLDEN: Final = "golden"
"""The cadence of its observations."""
REGRESSED: Final = "golden:regression"
"""The key of the alert for a run that is worse than its reference."""
KEPT: Final = 30
"""Runs whose results are kept row by row, in addition to reference runs."""
VALUES: Final = ("bad", "score", "withheld", "misjudged")
"""The metrics of a result."""


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """A run of the golden set."""

    id: str
    slot: int
    """The scheduled moment for which it ran, in microseconds since 1970."""
    state: str
    rows_digest: str
    policy: str
    verifier: str
    count: int
    begun: int
    finished: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldenResult:
    """The result of one row: metrics, the larger the worse."""

    position: int
    row: str
    values: Mapping[str, float | None]
    """By the names in `VALUES`."""


def begin_golden(
    store: Store, tenant: str, slot: int, rows_digest: str, policy: str, verifier: str, count: int
) -> GoldenRun:
    """Begin a run, or continue an interrupted one with the same rows, policy and verifier.

    Incomplete runs with others are abandoned: their results count nowhere.

    Raises:
        StoreError: it cannot be stored.
    """
    identity = f"{slot}\0{rows_digest}\0{policy}\0{verifier}"
    id_, now, result = sha256(identity.encode()).hexdigest()[:32], micros(store.now()), list[GoldenRun]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.golden_runs
        own = table.c.tenant == tenant
        same = (table.c.rows_digest == rows_digest) & (table.c.policy == policy) & (table.c.verifier == verifier)
        running = connection.execute(select(table).where(own, table.c.state == RUNNING).order_by(table.c.id)).all()
        run = next(
            (row for row in running if (row.rows_digest, row.policy, row.verifier) == (rows_digest, policy, verifier)),
            None,
        )
        connection.execute(update(table).where(own, table.c.state == RUNNING, ~same).values(state=LEFT, finished=now))
        if run is None:
            run = connection.execute(select(table).where(own, table.c.id == id_)).one_or_none()
        if run is not None and run.state == LEFT:
            connection.execute(update(table).where(own, table.c.id == run.id).values(state=RUNNING, finished=None))
            run = connection.execute(select(table).where(own, table.c.id == run.id)).one()
        if run is None:
            row = {
                "tenant": tenant,
                "id": id_,
                "slot": slot,
                "state": RUNNING,
                "rows_digest": rows_digest,
                "policy": policy,
                "verifier": verifier,
                "count": count,
                "begun": now,
                "finished": None,
                "body": {},
            }
            connection.execute(insert(table), row)
            result[:] = [GoldenRun(id_, slot, RUNNING, rows_digest, policy, verifier, count, now)]
        else:
            result[:] = [_run(run)]
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return result[0]


def keep_result(store: Store, tenant: str, run: str, result: GoldenResult) -> None:
    """Store the result of a row; the first result counts if several processes find one.

    Raises:
        StoreError: it cannot be stored.
    """
    row = {
        "tenant": tenant,
        "run": run,
        "position": result.position,
        "row": storable(result.row)[:200],
        **{name: result.values.get(name) for name in VALUES},
    }

    def act(connection: Connection) -> Sequence[Entry]:
        insert_rows(connection, tables.golden_results, [row], UNLESS_THERE)
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))


def read_results(connection: Connection, tenant: str, run: str) -> list[GoldenResult]:
    """The results of a run so far, in the order of the rows of the set."""
    table = tables.golden_results
    rows = connection.execute(
        select(table).where(table.c.tenant == tenant, table.c.run == run).order_by(table.c.position)
    ).all()
    return [GoldenResult(row.position, row.row, {name: getattr(row, name) for name in VALUES}) for row in rows]


def complete_golden(store: Store, tenant: str, run: GoldenRun, order: Sequence[int], body: Mapping[str, Any]) -> bool:
    """Complete a run: add its observations to the statistics, in one transaction.

    Args:
        store: the store.
        tenant: whose run.
        run: the run.
        order: the positions of all rows in the order in which the charts see them.
        body: the summary of the run.

    Returns:
        Whether this call completed it; False if another process has done so, or it was abandoned.

    Raises:
        StoreError: results are missing, or it cannot be stored.
    """
    now, completed = micros(store.now()), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        completed[:] = [False]
        table = tables.golden_runs
        this_run = (table.c.tenant == tenant) & (table.c.id == run.id)
        state = connection.execute(select(table.c.state).where(this_run)).scalar()
        if state != RUNNING:
            return ()
        results = {result.position: result for result in read_results(connection, tenant, run.id)}
        if set(results) != set(order):
            raise StoreError(f"the run has {len(results):,} of {len(order):,} results: it is not complete")
        rows = [_observation(tenant, run.id, results[position], now + number) for number, position in enumerate(order)]
        insert_rows(connection, tables.observations, rows, UNLESS_THERE)
        mark_late(connection, tenant, [row["at"] for row in rows])
        connection.execute(update(table).where(this_run).values(state=DONE, finished=now, body=dict(body)))
        _prune(connection, tenant)
        completed[:] = [True]
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return completed[0]


def _observation(tenant: str, run: str, result: GoldenResult, at: int) -> ObservedRow:
    values = {name: result.values.get(name) for name in VALUES}
    return {
        "tenant": tenant,
        "id": sha256(f"{run}\0{result.position}".encode()).hexdigest()[:32],
        "at": at,
        "added": at,
        "stakes": "medium",
        "agent": None,
        "route": None,
        "model": None,
        "categories": "",
        "probability": 1.0,
        "sampled": True,
        "cadence": GOLDEN,
        **dict.fromkeys(METRICS),
        **values,
    }


def _prune(connection: Connection, tenant: str) -> None:
    """Delete results row by row, except those of the latest runs and of reference runs."""
    table, results = tables.golden_runs, tables.golden_results
    runs = [
        _run(row)
        for row in connection.execute(
            select(table).where(table.c.tenant == tenant).order_by(table.c.begun.desc(), table.c.id.desc())
        )
    ]
    digests = {run.rows_digest for run in runs[:KEPT]}
    kept = {run.id for run in runs[:KEPT]}
    kept |= {reference.id for digest in digests if (reference := _reference(runs, digest)) is not None}
    for run in runs[KEPT:]:
        if run.id not in kept:
            connection.execute(delete(results).where(results.c.tenant == tenant, results.c.run == run.id))


def read_golden_runs(connection: Connection, tenant: str, most: int = 400) -> list[GoldenRun]:
    """Runs, newest first, at most `most`."""
    table = tables.golden_runs
    rows = connection.execute(
        select(table).where(table.c.tenant == tenant).order_by(table.c.begun.desc(), table.c.id.desc()).limit(most)
    )
    return [_run(row) for row in rows]


def golden_reference(connection: Connection, tenant: str, rows_digest: str) -> tuple[GoldenRun | None, int]:
    """The reference run for runs over the same rows, and the number of complete runs compared with it so far.

    It is the run that somebody accepted last, else the first complete one.
    """
    table = tables.golden_runs
    rows = connection.execute(
        select(table)
        .where(table.c.tenant == tenant, table.c.rows_digest == rows_digest)
        .order_by(table.c.begun.desc(), table.c.id.desc())
    ).all()
    runs = [_run(row) for row in rows]
    reference = _reference(runs, rows_digest)
    if reference is None:
        return None, 0
    since = reference.body.get("accepted", {}).get("at") or reference.finished or 0
    compared = [run for run in runs if run.state == DONE and run.id != reference.id and (run.finished or 0) >= since]
    return reference, len(compared)


def _reference(runs: Sequence[GoldenRun], digest: str) -> GoldenRun | None:
    done = [run for run in runs if run.state == DONE and run.rows_digest == digest]
    accepted = [run for run in done if run.body.get("accepted")]
    if accepted:
        return max(accepted, key=lambda run: (run.body["accepted"]["at"], run.id))
    return min(done, key=lambda run: (run.finished or 0, run.id), default=None)


def accept_golden(store: Store, tenant: str, run: str, actor: str) -> bool:
    """Accept a run as the reference for later ones; False if there is no such complete run.

    Raises:
        StoreError: it cannot be stored.
    """
    now, accepted = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.golden_runs
        this_run = (table.c.tenant == tenant) & (table.c.id == run)
        row = connection.execute(select(table).where(this_run, table.c.state == DONE)).one_or_none()
        accepted[:] = [row is not None]
        if row is None:
            return ()
        body = {**(row.body or {}), "accepted": {"at": micros(now), "by": actor}}
        connection.execute(update(table).where(this_run).values(body=body))
        return [entry(ALARM, run, {"at": instant(now), "state": "accepted", "series": GOLDEN, "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return accepted[0]


def count_results(connection: Connection, tenant: str, run: str) -> int:
    """The number of rows of a run that have a result."""
    table = tables.golden_results.c
    count = connection.execute(select(func.count()).where(table.tenant == tenant, table.run == run)).scalar()
    return int(count or 0)


def _run(row: Any) -> GoldenRun:
    return GoldenRun(
        row.id,
        row.slot,
        row.state,
        row.rows_digest,
        row.policy,
        row.verifier,
        row.count,
        row.begun,
        row.finished,
        row.body or {},
    )
