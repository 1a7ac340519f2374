"""How many outputs were emitted, by policy, caller and model, and how their scores are spread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from assay.schema import Action
from assay.store.db import tables
from assay.store.records.recording import micros

MOST_COUNTED: Final = 10_000
"""The latest outputs of a period that are counted: an exact count of more would take longer than anybody waits."""
SCORE_BINS: Final = 20
"""Parts of equal width that scores between 0 and 1 are counted in."""
KINDS: Final = ("policy", "caller", "model")
"""What the shares are told by."""


@dataclass(frozen=True, slots=True)
class Passed:
    """How many outputs of one policy, caller or model were emitted."""

    by: str
    """One of `KINDS`."""
    name: str
    outputs: int
    emitted: int


@dataclass(frozen=True, slots=True)
class PassRates:
    """What was counted."""

    outputs: int
    bounded: bool
    """Whether there are more than were counted."""
    scores: Sequence[int]
    """Outputs by score, in `SCORE_BINS` parts from 0 on; 1 is in the last one."""
    unscored: int
    """Outputs without a score: nothing in them was checked."""
    passed: Sequence[Passed]
    """The most frequent first, of each kind."""


def read_pass_rates(connection: Connection, tenant: str, since: datetime, until: datetime) -> PassRates:
    """Counts the latest outputs of a period.

    The model is the one that wrote the output, as far as the monitor observed it (`assay monitor run`).

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        since: the beginning of the period.
        until: its end.
    """
    reports, seen = tables.reports.c, tables.observations.c
    rows = connection.execute(
        select(reports.action, reports.score, reports.policy, reports.caller, seen.model)
        .select_from(
            tables.reports.outerjoin(tables.observations, (seen.tenant == reports.tenant) & (seen.id == reports.id))
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
        named = (("policy", names.get(row.policy, row.policy[:12])), ("caller", row.caller), ("model", row.model))
        keys = [(kind, str(name)) for kind, name in named if name]
        outputs.update(keys)
        if row.action == Action.EMIT.value:
            emitted.update(keys)
        if row.score is None:
            unscored += 1
        else:
            scores[min(SCORE_BINS - 1, max(0, int(row.score * SCORE_BINS)))] += 1
    passed = [Passed(*key, count, emitted[key]) for key, count in outputs.items()]
    passed.sort(key=lambda one: (KINDS.index(one.by), -one.outputs, one.name))
    return PassRates(len(counted), len(rows) > MOST_COUNTED, scores, unscored, passed)


def _policy_names(connection: Connection, tenant: str, digests: set[str]) -> dict[str, str]:
    table = tables.policies.c
    rows = connection.execute(
        select(table.digest, table.name).where(table.tenant == tenant, table.digest.in_(sorted(digests)))
    )
    return {row.digest: row.name for row in rows}
