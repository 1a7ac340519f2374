"""Observations derived from reports: one for each new report, in no particular order."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, exists, func, select

from assay.schema import Verdict
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Act, Change
from assay.store.monitoring.values import Drawing, ObservedRow
from assay.store.records.check_rows import VERDICT_BITS

BATCH: Final = 500
"""Reports from which observations are derived in one transaction."""
HORIZON_S: Final = 3_600.0
"""The time in seconds within which a report becomes visible after its moment, and how far back new ones are sought."""

BAD_VERDICTS: Final = VERDICT_BITS[Verdict.CONTRADICTED] | VERDICT_BITS[Verdict.UNSUPPORTED]
"""The bits in `reports.verdicts` of verdicts that make an output bad."""
METRICS: Final = ("bad", "score", "unfaithful", "unfactual", "withheld", "fabricated", "unretrieved", "misjudged")
"""The columns of `observations` that hold metrics."""


def observe(store: Store, tenant: str, drawing: Drawing, *, rebuild: bool = False) -> int:
    """Derive observations from reports that have none yet.

    Args:
        store: the store.
        tenant: whose reports.
        drawing: the sampling of outputs.
        rebuild: examine all reports and not only new ones.

    Returns:
        The number of new observations. Each report has one, even if several processes run this at once.

    Raises:
        StoreError: they cannot be stored; earlier batches are.
    """
    checked_tenant(tenant)
    after = (-1, "") if rebuild else (_first_moment(store, tenant), "")
    count = 0
    while True:
        with store.reading(tenant) as connection:
            batch, last = _next_batch(connection, tenant, after, drawing, micros(store.now()))
        if last is None:
            return count
        count += len(batch)
        if batch:
            store.apply(Change(tenant, act=_insert_act(tenant, batch)))
        after = last


def _first_moment(store: Store, tenant: str) -> int:
    """The moment from which on reports may be new; -1 if there are no observations."""
    table = tables.observations.c
    with store.reading(tenant) as connection:
        production = (table.tenant == tenant) & table.cadence.is_(None)
        last = connection.execute(select(func.max(table.at)).where(production)).scalar()
    return -1 if last is None else int(last) - round(timedelta(seconds=HORIZON_S) / timedelta(microseconds=1))


def _next_batch(
    connection: Connection, tenant: str, after: tuple[int, str], drawing: Drawing, now: int
) -> tuple[list[ObservedRow], tuple[int, str] | None]:
    """The observations of the next reports, and moment and id of the last of these; None at the end."""
    reports, runs = tables.reports.c, tables.runs.c
    observed = exists().where(tables.observations.c.tenant == tenant, tables.observations.c.id == reports.id)
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
        # Only the first report of a run is of production output; later ones are of reviewers.
        .where(
            reports.tenant == tenant,
            reports.id == reports.run,
            ~observed,
            (reports.created > after[0]) | ((reports.created == after[0]) & (reports.id > after[1])),
        )
        .order_by(reports.created, reports.id)
        .limit(BATCH)
    )
    rows = connection.execute(query).all()
    observations = [_observation(row, tenant, drawing, now) for row in rows]
    return observations, (rows[-1].created, rows[-1].id) if rows else None


def _observation(row: Any, tenant: str, drawing: Drawing, now: int) -> ObservedRow:
    body = row.body if isinstance(row.body, Mapping) else {}
    claims = [claim for claim in body.get("claims", ()) if isinstance(claim, Mapping)]
    severity = _worst_level(claim.get("severity") for claim in claims)
    probability, sampled = drawing(row.id, row.stakes, severity, row.caller)
    values: dict[str, float | None] = dict.fromkeys(METRICS)
    if sampled:
        metrics = body.get("metrics", {})
        citations = [citation for citation in body.get("citations", ()) if isinstance(citation, Mapping)]
        statuses = {citation.get("status") for citation in citations}
        evidence = body.get("retrieval", {}).get("evidence") if body else None
        values = {
            "bad": float(bool((row.verdicts or 0) & BAD_VERDICTS)),
            "score": None if row.score is None else 1 - row.score,
            "unfaithful": _complement(metrics.get("faithfulness")),
            "unfactual": _complement(metrics.get("factscore")),
            "withheld": float(row.action != "emit"),
            "fabricated": float("fabricated" in statuses) if body else None,
            "unretrieved": None if evidence is None else float(evidence == 0),
        }
    categories = sorted({str(claim["category"]) for claim in claims if claim.get("category")})
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


def _complement(metric: Any) -> float | None:
    """One minus the value of a metric; None if it has none."""
    value = metric.get("value") if isinstance(metric, Mapping) else None
    return None if value is None else 1 - float(value)


_LEVELS: Final = ("low", "medium", "high", "critical")


def _worst_level(severities: Iterable[Any]) -> str | None:
    levels = [
        severity["level"]
        for severity in severities
        if isinstance(severity, Mapping) and severity.get("level") in _LEVELS
    ]
    return max(levels, key=_LEVELS.index, default=None)


def _insert_act(tenant: str, rows: Sequence[ObservedRow]) -> Act:
    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.observations.c
        ids = [row["id"] for row in rows]
        existing = set(connection.execute(select(table.id).where(table.tenant == tenant, table.id.in_(ids))).scalars())
        new = [row for row in rows if row["id"] not in existing]
        insert_rows(connection, tables.observations, new, UNLESS_THERE)
        mark_late(connection, tenant, [row["at"] for row in new])
        return ()

    return act


def mark_late(connection: Connection, tenant: str, moments: Sequence[int]) -> None:
    """Mark the charts as dirty if an added observation is earlier than their state, so that they are rewound.

    Called in the transaction that adds the observations, so that none is ever missed.
    """
    if not moments:
        return
    table = tables.chart_states
    own = table.c.tenant == tenant
    row = connection.execute(
        select(table.c.until, table.c.dirty).where(own).order_by(table.c.until.desc()).limit(1)
    ).one_or_none()
    first = min(moments)
    if row is not None and first < row.until and (row.dirty is None or first < row.dirty):
        connection.execute(table.update().where(own, table.c.until == row.until).values(dirty=first))
