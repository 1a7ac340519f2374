"""Observations out of reports: drawn once each when they are new, in the order of nothing, told apart by their ids."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, exists, func, select

from assay.schema import Verdict
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.values import Drawing, ObservedRow
from assay.store.records.recording import VERDICT_BITS, checked_tenant, micros

PART: Final = 500
"""Reports that are drawn from in one transaction."""
HORIZON_S: Final = 3_600.0
"""Seconds within which a report has become visible after its moment: how far back new ones are looked for."""

_BAD: Final = VERDICT_BITS[Verdict.CONTRADICTED] | VERDICT_BITS[Verdict.UNSUPPORTED]
METRICS: Final = ("bad", "score", "unfaithful", "unfactual", "withheld", "fabricated", "unretrieved", "misjudged")
"""The columns of `observations` that hold metrics."""


def observe(store: Store, tenant: str, drawing: Drawing, *, rebuild: bool = False) -> int:
    """Draw observations from reports that have none yet.

    Args:
        store: the store.
        tenant: whose.
        drawing: how probable it is that an output is looked at, and whether it is.
        rebuild: look at all reports and not only at new ones.

    Returns:
        How many were drawn. Each is drawn once, whoever and however many draw at a time.

    Raises:
        StoreError: they cannot be stored; those of parts before are.
    """
    checked_tenant(tenant)
    after = (-1, "") if rebuild else (_begin(store, tenant), "")
    drawn = 0
    while True:
        with store.reading(tenant) as connection:
            part, last = _new(connection, tenant, after, drawing, micros(store.now()))
        if last is None:
            return drawn
        drawn += len(part)
        if part:
            store.apply(Change(tenant, act=_adding(tenant, part)))
        after = last


def _begin(store: Store, tenant: str) -> int:
    table = tables.observations.c
    with store.reading(tenant) as connection:
        in_path = (table.tenant == tenant) & table.cadence.is_(None)
        last = connection.execute(select(func.max(table.at)).where(in_path)).scalar()
    return -1 if last is None else int(last) - round(timedelta(seconds=HORIZON_S) / timedelta(microseconds=1))


def _new(
    connection: Connection, tenant: str, after: tuple[int, str], drawing: Drawing, now: int
) -> tuple[list[ObservedRow], tuple[int, str] | None]:
    reports, runs = tables.reports.c, tables.runs.c
    there = exists().where(tables.observations.c.tenant == tenant, tables.observations.c.id == reports.id)
    query = (
        select(
            reports.id,
            reports.created,
            reports.action,
            reports.score,
            reports.verdicts,
            reports.caller,
            reports.body,
            runs.stakes,
            runs.kind,
        )
        .join(tables.runs, (runs.tenant == reports.tenant) & (runs.id == reports.run))
        # The first report of a run is what came out; those after it are of reviewers.
        .where(
            reports.tenant == tenant,
            reports.id == reports.run,
            ~there,
            (reports.created > after[0]) | ((reports.created == after[0]) & (reports.id > after[1])),
        )
        .order_by(reports.created, reports.id)
        .limit(PART)
    )
    rows = connection.execute(query).all()
    made = [_drawn(row, tenant, drawing, now) for row in rows]
    return made, (rows[-1].created, rows[-1].id) if rows else None


def _drawn(row: Any, tenant: str, drawing: Drawing, now: int) -> ObservedRow:
    body = row.body if isinstance(row.body, Mapping) else {}
    claims = [one for one in body.get("claims", ()) if isinstance(one, Mapping)]
    severity = _worst(one.get("severity") for one in claims)
    probability, sampled = drawing(row.id, row.stakes, severity, row.caller)
    values: dict[str, float | None] = dict.fromkeys(METRICS)
    if sampled:
        metrics = body.get("metrics", {})
        statuses = {one.get("status") for one in body.get("citations", ()) if isinstance(one, Mapping)}
        evidence = body.get("retrieval", {}).get("evidence") if body else None
        values = {
            "bad": float(bool((row.verdicts or 0) & _BAD)),
            "score": None if row.score is None else 1 - row.score,
            "unfaithful": _rest(metrics.get("faithfulness")),
            "unfactual": _rest(metrics.get("factscore")),
            "withheld": float(row.action != "emit"),
            "fabricated": float("fabricated" in statuses) if body else None,
            "unretrieved": None if evidence is None else float(evidence == 0),
        }
    categories = sorted({str(one["category"]) for one in claims if one.get("category")})
    generation = body.get("generation")
    model = generation.get("model") if isinstance(generation, Mapping) else None
    return {
        "tenant": tenant,
        "id": row.id,
        "at": row.created,
        "added": now,
        "stakes": row.stakes,
        "agent": row.caller,
        "route": row.kind,
        "model": None if model is None else str(model)[:200],
        "categories": " ".join(categories),
        "probability": probability,
        "sampled": sampled,
        "cadence": None,
        **dict.fromkeys(METRICS),
        **values,
    }


def _rest(metric: Any) -> float | None:
    value = metric.get("value") if isinstance(metric, Mapping) else None
    return None if value is None else 1 - float(value)


_LEVELS: Final = ("low", "medium", "high", "critical")


def _worst(severities: Iterable[Any]) -> str | None:
    levels = [one["level"] for one in severities if isinstance(one, Mapping) and one.get("level") in _LEVELS]
    return max(levels, key=_LEVELS.index, default=None)


def _adding(tenant: str, rows: Sequence[ObservedRow]) -> Any:
    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.observations.c
        ids = [row["id"] for row in rows]
        there = set(connection.execute(select(table.id).where(table.tenant == tenant, table.id.in_(ids))).scalars())
        new = [row for row in rows if row["id"] not in there]
        insert_rows(connection, tables.observations, new, UNLESS_THERE)
        mark_late(connection, tenant, [row["at"] for row in new])
        return ()

    return act


def mark_late(connection: Connection, tenant: str, moments: Sequence[int]) -> None:
    """Say that observations were added: where one belongs before what the charts have added, they have to go back.

    In the transaction that adds them, so that none is ever missed.
    """
    if not moments:
        return
    table = tables.chart_states
    here = table.c.tenant == tenant
    row = connection.execute(
        select(table.c.until, table.c.dirty).where(here).order_by(table.c.until.desc()).limit(1)
    ).one_or_none()
    first = min(moments)
    if row is not None and first < row.until and (row.dirty is None or first < row.dirty):
        connection.execute(table.update().where(here, table.c.until == row.until).values(dirty=first))
