"""The passages that runs had as evidence, for maintainers of the corpus."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select

from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store

_ROWS_PER_FETCH: Final = 500
"""Rows that are fetched from the database in one go."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage that runs had as evidence under one id."""

    evidence_id: str
    body: dict[str, Any]
    """Its fields except the id: `text`, `source`, `title`, `metadata`."""
    runs: int
    """The number of runs that had it."""
    last: datetime
    """When a run last had it."""


def retrieved_passages(store: Store, tenant: str, *, since: datetime | None = None) -> Iterator[RetrievedPassage]:
    """The passages of a tenant's runs that were not erased, streamed from the database.

    Args:
        store: the store.
        tenant: whose runs.
        since: only passages of runs from this moment on.

    Raises:
        StoreError: the database cannot be read.
    """
    had, evidence, run = tables.run_evidence.c, tables.evidence.c, tables.runs.c
    counted = (
        select(had.evidence_id, had.digest, func.count().label("runs"), func.max(run.created).label("last"))
        .join_from(tables.run_evidence, tables.runs, (run.tenant == had.tenant) & (run.id == had.run))
        .where(had.tenant == checked_tenant(tenant), had.digest.is_not(None))
        .group_by(had.evidence_id, had.digest)
    )
    if since is not None:
        counted = counted.where(run.created >= micros(since))
    used = counted.subquery("used")
    query = (
        select(used.c.evidence_id, used.c.runs, used.c.last, evidence.body)
        .join_from(used, tables.evidence, evidence.digest == used.c.digest)
        .where(evidence.tenant == tenant, evidence.body.is_not(None))
    )
    with store.reading(tenant) as connection:
        streamed = connection.execution_options(yield_per=_ROWS_PER_FETCH).execute(query)
        for row in streamed:
            yield RetrievedPassage(row.evidence_id or "", row.body, row.runs, moment_at(row.last))
