"""The number of emitted outputs by policy, caller and model, and the distribution of scores."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from assay.schema import Action
from assay.store.db import tables
from assay.store.db.column_values import micros

MOST_COUNTED: Final = 10_000
"""The most outputs of a period that are counted, the latest ones: counting more would take too long."""
SCORE_BINS: Final = 20
"""The number of equal bins for scores between 0 and 1."""
KINDS: Final = ("policy", "caller", "model")
"""The dimensions by which outputs are counted."""


@dataclass(frozen=True, slots=True)
class PassCount:
    """The counts of one policy, caller or model."""

    by: str
    """One of `KINDS`."""
    name: str
    outputs: int
    emitted: int


@dataclass(frozen=True, slots=True)
class PassRates:
    """The counts of a period."""

    outputs: int
    bounded: bool
    """Whether the period has more outputs than were counted."""
    scores: Sequence[int]
    """Outputs by score, in `SCORE_BINS` bins from 0 up; 1 is in the last one."""
    unscored: int
    """Outputs without a score, in which nothing was checked."""
    passed: Sequence[PassCount]
    """By `KINDS`, the most frequent first."""


def read_pass_rates(connection: Connection, tenant: str, since: datetime, until: datetime) -> PassRates:
    """Count the latest outputs of a period.

    The model is the one that generated the output, as far as the monitor observed it (`assay monitor run`).

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose outputs.
        since: the beginning of the period.
        until: its end.
    """
    reports, observed = tables.reports.c, tables.observations.c
    rows = connection.execute(
        select(reports.action, reports.score, reports.policy, reports.caller, observed.model)
        .select_from(
            tables.reports.outerjoin(
                tables.observations, (observed.tenant == reports.tenant) & (observed.id == reports.id)
            )
        )
        .where(reports.tenant == tenant, reports.created >= micros(since), reports.created < micros(until))
        .order_by(reports.created.desc(), reports.id.desc())
        .limit(MOST_COUNTED + 1)
    ).all()
    counted = rows[:MOST_COUNTED]
    names = _policy_names(connection, tenant, {row.policy for row in counted})
    outputs: Counter[tuple[str, str]] = Counter()
    emitted: Counter[tuple[str, str]] = Counter()
    scores, unscored = [0] * SCORE_BINS, 0
    for row in counted:
        values = (("policy", names.get(row.policy, row.policy[:12])), ("caller", row.caller), ("model", row.model))
        keys = [(kind, str(name)) for kind, name in values if name]
        outputs.update(keys)
        if row.action == Action.EMIT.value:
            emitted.update(keys)
        if row.score is None:
            unscored += 1
        else:
            scores[min(SCORE_BINS - 1, max(0, int(row.score * SCORE_BINS)))] += 1
    passed = [PassCount(*key, count, emitted[key]) for key, count in outputs.items()]
    passed.sort(key=lambda rate: (KINDS.index(rate.by), -rate.outputs, rate.name))
    return PassRates(len(counted), len(rows) > MOST_COUNTED, scores, unscored, passed)


def _policy_names(connection: Connection, tenant: str, digests: set[str]) -> dict[str, str]:
    table = tables.policies.c
    rows = connection.execute(
        select(table.digest, table.name).where(table.tenant == tenant, table.digest.in_(sorted(digests)))
    )
    return {row.digest: row.name for row in rows}
