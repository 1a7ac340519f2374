"""Judgements: outputs that a judge may judge again, and the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, select

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.observations import BAD_VERDICTS, METRICS, mark_late

JUDGE: Final = "judge"
"""The cadence of observations by a judge."""


@dataclass(frozen=True, slots=True)
class JudgeCandidate:
    """An output that a judge may judge."""

    id: str
    created: int
    flagged: bool
    """Whether the check in production found a claim contradicted or unsupported."""
    stakes: str
    agent: str | None
    route: str


def read_judge_candidates(
    connection: Connection, tenant: str, after: tuple[int, str], until: int, most: int
) -> list[JudgeCandidate]:
    """Outputs in order of moment and id: after the moment and id in `after`, and before the moment `until`."""
    reports, runs = tables.reports.c, tables.runs.c
    rows = connection.execute(
        select(reports.id, reports.created, reports.verdicts, reports.caller, runs.kind, runs.stakes)
        .join(tables.runs, (runs.tenant == reports.tenant) & (runs.id == reports.run))
        .where(
            reports.tenant == tenant,
            reports.id == reports.run,
            reports.created < until,
            (reports.created > after[0]) | ((reports.created == after[0]) & (reports.id > after[1])),
        )
        .order_by(reports.created, reports.id)
        .limit(most)
    )
    return [
        JudgeCandidate(row.id, row.created, bool((row.verdicts or 0) & BAD_VERDICTS), row.stakes, row.caller, row.kind)
        for row in rows
    ]


def has_judgement(connection: Connection, tenant: str, output: str) -> bool:
    """Whether a judge has judged an output."""
    table = tables.observations.c
    query = select(table.id).where(table.tenant == tenant, table.id == judgement_id(output))
    return connection.execute(query).first() is not None


def judgement_id(output: str) -> str:
    """The id of the observation of a judged output."""
    return sha256(f"{JUDGE}\0{output}".encode()).hexdigest()[:32]


def keep_judgement(
    store: Store, tenant: str, of: JudgeCandidate, probability: float, values: Mapping[str, float | None]
) -> None:
    """Store the judgement of an output, unless it has one.

    Args:
        store: the store.
        tenant: whose output.
        of: the output.
        probability: the probability with which it was sampled.
        values: the metrics, the larger the worse.

    Raises:
        StoreError: it cannot be stored.
    """
    now = micros(store.now())
    row = {
        "tenant": tenant,
        "id": judgement_id(of.id),
        "at": now,
        "added": now,
        "stakes": of.stakes,
        "agent": of.agent,
        "route": of.route,
        "model": None,
        "categories": "",
        "probability": probability,
        "sampled": True,
        "cadence": JUDGE,
        **{name: values.get(name) for name in METRICS},
    }

    def act(connection: Connection) -> Sequence[Entry]:
        if not has_judgement(connection, tenant, of.id):
            insert_rows(connection, tables.observations, [row], UNLESS_THERE)
            mark_late(connection, tenant, [now])
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
