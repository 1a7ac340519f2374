"""Runs of the golden set: results row by row, and observations all at once when a run is complete.

A run is named by what it is of: its rows, the policy, the verifier, and the moment of the plan. What was found of a row
is stored before the next one is checked, once, whoever finds it; a run that was broken off goes on at the next row.
Statistics see nothing of a run that is not complete: its observations are stored in the transaction that completes it.
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
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.observing import METRICS, mark_late
from assay.store.monitoring.values import ObservedRow
from assay.store.records.recording import checked_tenant, micros, storable

RUNNING: Final = "running"
DONE: Final = "done"
LEFT: Final = "left"
"""The states of a run: it goes on, it is complete, it was given up because rows, policy or verifier are others now."""
GOLDEN: Final = "golden"
REGRESSED: Final = "golden:regression"
"""The key of the alert of a run that is worse than its reference."""
KEPT: Final = 30
"""Runs whose results are kept row by row, beside the one that others are compared with."""
VALUES: Final = ("bad", "score", "withheld", "misjudged")


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """A run of the golden set."""

    id: str
    slot: int
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
    """What was found of one row: numbers, the larger the worse."""

    position: int
    row: str
    values: Mapping[str, float | None]
    """By `VALUES`."""


def begin_golden(
    store: Store, tenant: str, slot: int, rows_digest: str, policy: str, verifier: str, count: int
) -> GoldenRun:
    """Begin a run, or go on with the one of the same rows, policy and verifier that was broken off.

    Runs of others that are not complete are given up: their results count nowhere.

    Raises:
        StoreError: it cannot be stored.
    """
    named = f"{slot}\0{rows_digest}\0{policy}\0{verifier}"
    id_, now, found = sha256(named.encode()).hexdigest()[:32], micros(store.now()), list[GoldenRun]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.golden_runs
        here = table.c.tenant == tenant
        same = (table.c.rows_digest == rows_digest) & (table.c.policy == policy) & (table.c.verifier == verifier)
        going = connection.execute(select(table).where(here, table.c.state == RUNNING).order_by(table.c.id)).all()
        mine = next(
            (row for row in going if (row.rows_digest, row.policy, row.verifier) == (rows_digest, policy, verifier)),
            None,
        )
        connection.execute(update(table).where(here, table.c.state == RUNNING, ~same).values(state=LEFT, finished=now))
        if mine is None:
            mine = connection.execute(select(table).where(here, table.c.id == id_)).one_or_none()
        if mine is not None and mine.state == LEFT:
            connection.execute(update(table).where(here, table.c.id == mine.id).values(state=RUNNING, finished=None))
            mine = connection.execute(select(table).where(here, table.c.id == mine.id)).one()
        if mine is None:
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
            found[:] = [GoldenRun(id_, slot, RUNNING, rows_digest, policy, verifier, count, now)]
        else:
            found[:] = [_run(mine)]
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


def keep_result(store: Store, tenant: str, run: str, result: GoldenResult) -> None:
    """Keep what was found of a row; the first finding counts, whoever finds it.

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
    """What a run found so far, in the order of the rows of the set."""
    table = tables.golden_results
    rows = connection.execute(
        select(table).where(table.c.tenant == tenant, table.c.run == run).order_by(table.c.position)
    ).all()
    return [GoldenResult(row.position, row.row, {name: getattr(row, name) for name in VALUES}) for row in rows]


def complete_golden(store: Store, tenant: str, run: GoldenRun, order: Sequence[int], body: Mapping[str, Any]) -> bool:
    """Complete a run: its observations come into the statistics, in one transaction.

    Args:
        store: the store.
        tenant: whose.
        run: the run.
        order: the positions of all rows in the order in which the charts see them.
        body: what the run came to.

    Returns:
        Whether it was completed by this; not where somebody else has done so, or it was given up.

    Raises:
        StoreError: results are missing, or it cannot be stored.
    """
    now, done = micros(store.now()), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        done[:] = [False]
        table = tables.golden_runs
        here = (table.c.tenant == tenant) & (table.c.id == run.id)
        state = connection.execute(select(table.c.state).where(here)).scalar()
        if state != RUNNING:
            return ()
        found = {one.position: one for one in read_results(connection, tenant, run.id)}
        if set(found) != set(order):
            raise StoreError(f"the run has {len(found):,} of {len(order):,} results: it is not complete")
        rows = [_observation(tenant, run.id, found[place], now + at) for at, place in enumerate(order)]
        insert_rows(connection, tables.observations, rows, UNLESS_THERE)
        mark_late(connection, tenant, [row["at"] for row in rows])
        connection.execute(update(table).where(here).values(state=DONE, finished=now, body=dict(body)))
        _prune(connection, tenant)
        done[:] = [True]
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return done[0]


def _observation(tenant: str, run: str, one: GoldenResult, at: int) -> ObservedRow:
    values = {name: one.values.get(name) for name in VALUES}
    return {
        "tenant": tenant,
        "id": sha256(f"{run}\0{one.position}".encode()).hexdigest()[:32],
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
    """Results row by row are kept of the latest runs, and of those that others are compared with."""
    table, results = tables.golden_runs, tables.golden_results
    runs = [
        _run(row)
        for row in connection.execute(
            select(table).where(table.c.tenant == tenant).order_by(table.c.begun.desc(), table.c.id.desc())
        )
    ]
    digests = {run.rows_digest for run in runs[:KEPT]}
    kept = {run.id for run in runs[:KEPT]}
    kept |= {found.id for digest in digests if (found := _reference(runs, digest)) is not None}
    for run in runs[KEPT:]:
        if run.id not in kept:
            connection.execute(delete(results).where(results.c.tenant == tenant, results.c.run == run.id))


def read_golden_runs(connection: Connection, tenant: str, most: int = 400) -> list[GoldenRun]:
    """Runs, the newest first."""
    table = tables.golden_runs
    rows = connection.execute(
        select(table).where(table.c.tenant == tenant).order_by(table.c.begun.desc(), table.c.id.desc()).limit(most)
    )
    return [_run(row) for row in rows]


def golden_reference(connection: Connection, tenant: str, rows_digest: str) -> tuple[GoldenRun | None, int]:
    """The run that others over the same rows are compared with, and how many were so far.

    It is the one that somebody accepted last, else the first complete one.
    """
    table = tables.golden_runs
    rows = connection.execute(
        select(table)
        .where(table.c.tenant == tenant, table.c.rows_digest == rows_digest)
        .order_by(table.c.begun.desc(), table.c.id.desc())
    ).all()
    runs = [_run(row) for row in rows]
    found = _reference(runs, rows_digest)
    if found is None:
        return None, 0
    since = found.body.get("accepted", {}).get("at") or found.finished or 0
    return found, sum(one.state == DONE and one.id != found.id and (one.finished or 0) >= since for one in runs)


def _reference(runs: Sequence[GoldenRun], digest: str) -> GoldenRun | None:
    done = [run for run in runs if run.state == DONE and run.rows_digest == digest]
    accepted = [run for run in done if run.body.get("accepted")]
    if accepted:
        return max(accepted, key=lambda run: (run.body["accepted"]["at"], run.id))
    return min(done, key=lambda run: (run.finished or 0, run.id), default=None)


def accept_golden(store: Store, tenant: str, run: str, actor: str) -> bool:
    """Say that a run is how it should be: later ones are compared with it. False where there is no such complete run.

    Raises:
        StoreError: it cannot be stored.
    """
    now, found = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.golden_runs
        here = (table.c.tenant == tenant) & (table.c.id == run)
        row = connection.execute(select(table).where(here, table.c.state == DONE)).one_or_none()
        found[:] = [row is not None]
        if row is None:
            return ()
        body = {**(row.body or {}), "accepted": {"at": micros(now), "by": actor}}
        connection.execute(update(table).where(here).values(body=body))
        return [entry(ALARM, run, {"at": instant(now), "state": "accepted", "series": GOLDEN, "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


def count_results(connection: Connection, tenant: str, run: str) -> int:
    """How many rows of a run have a result."""
    table = tables.golden_results.c
    found = connection.execute(select(func.count()).where(table.tenant == tenant, table.run == run)).scalar()
    return int(found or 0)


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
