"""What people said of outputs: reviewers' decisions beside the scores, and users' corrections."""

from typing import Final

from sqlalchemy import Connection, func, select

from assay.schema import ReviewState
from assay.store.db import tables

MOST: Final = 50_000
"""The latest decisions that are read."""
_RIGHT: Final = {ReviewState.APPROVED.value: 1.0, ReviewState.EDITED.value: 0.0, ReviewState.REJECTED.value: 0.0}


def judged_scores(connection: Connection, tenant: str) -> list[tuple[float, float]]:
    """The overall score of each output that a reviewer decided on, and 1 where it was approved as it was, else 0; in
    the order of the decisions. Those of the verifier that judged last alone: scores of another one are others."""
    items, reports = tables.review_items.c, tables.reports.c
    verifier = (
        select(reports.verifier)
        .where(reports.tenant == tenant)
        .order_by(reports.created.desc(), reports.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(items.decided, items.id, items.state, reports.score)
        .join(tables.reports, (reports.tenant == items.tenant) & (reports.id == items.run))
        .where(
            items.tenant == tenant,
            items.state.in_(list(_RIGHT)),
            reports.score.is_not(None),
            reports.verifier == verifier,
        )
        .order_by(items.decided.desc(), items.id.desc())
        .limit(MOST)
    ).all()
    return [(float(row.score), _RIGHT[row.state]) for row in reversed(rows)]


def corrected_outputs(connection: Connection, tenant: str, since: int) -> int:
    """How many outputs from a moment on were let out and called wrong by somebody."""
    feedback, reports = tables.feedback.c, tables.reports.c
    found = connection.execute(
        select(func.count(func.distinct(feedback.run)))
        .join(tables.reports, (reports.tenant == feedback.tenant) & (reports.id == feedback.run))
        .where(
            feedback.tenant == tenant, feedback.verdict == "wrong", reports.created >= since, reports.action == "emit"
        )
    ).scalar()
    return int(found or 0)
