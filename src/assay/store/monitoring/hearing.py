"""Outputs that a judge may judge again, and what it found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, select

from assay.schema import Verdict
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.observing import METRICS, mark_late
from assay.store.records.recording import VERDICT_BITS, checked_tenant, micros

JUDGE: Final = "judge"
_BAD: Final = VERDICT_BITS[Verdict.CONTRADICTED] | VERDICT_BITS[Verdict.UNSUPPORTED]


@dataclass(frozen=True, slots=True)
class JudgeCandidate:
    """An output that a judge may judge."""

    id: str
    created: int
    flagged: bool
    """Whether the path found a claim contradicted or unsupported."""
    stakes: str
    agent: str | None
    route: str


def read_judge_candidates(
    connection: Connection, tenant: str, after: tuple[int, str], until: int, most: int
) -> list[JudgeCandidate]:
    """Outputs in the order of their moment and id, after one and before a moment."""
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
        JudgeCandidate(row.id, row.created, bool((row.verdicts or 0) & _BAD), row.stakes, row.caller, row.kind)
        for row in rows
    ]


def has_judgement(connection: Connection, tenant: str, output: str) -> bool:
    """Whether a judge has judged an output."""
    table = tables.observations.c
    found = connection.execute(select(table.id).where(table.tenant == tenant, table.id == judgement_id(output))).first()
    return found is not None


def judgement_id(output: str) -> str:
    """The id of the observation of an output that was judged."""
    return sha256(f"{JUDGE}\0{output}".encode()).hexdigest()[:32]


def keep_judgement(
    store: Store, tenant: str, of: JudgeCandidate, probability: float, values: Mapping[str, float | None]
) -> None:
    """Keep what a judge found of an output, once.

    Args:
        store: the store.
        tenant: whose.
        of: the output.
        probability: with which it was drawn.
        values: by metric, the larger the worse.

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
