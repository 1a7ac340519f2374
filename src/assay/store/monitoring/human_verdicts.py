"""People's judgements of outputs: reviewers' decisions with the scores, and users' corrections."""

from typing import Final

from sqlalchemy import Connection, func, select

from assay.schema import ReviewState
from assay.store.db import tables

MOST: Final = 50_000
"""The most decisions that are read, the latest ones."""
_IS_RIGHT: Final = {ReviewState.APPROVED.value: 1.0, ReviewState.EDITED.value: 0.0, ReviewState.REJECTED.value: 0.0}


def judged_scores(connection: Connection, tenant: str) -> list[tuple[float, float]]:
    """The overall score of each output that a reviewer decided on, with 1 if it was approved unchanged and else 0, in
    the order of the decisions. Only for the latest verifier: scores of different verifiers are not comparable."""
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
            items.state.in_(list(_IS_RIGHT)),
            reports.score.is_not(None),
            reports.verifier == verifier,
        )
        .order_by(items.decided.desc(), items.id.desc())
        .limit(MOST)
    ).all()
    return [(float(row.score), _IS_RIGHT[row.state]) for row in reversed(rows)]


def corrected_outputs(connection: Connection, tenant: str, since: int) -> int:
    """The number of outputs from a moment on that were emitted and that some user called wrong."""
    feedback, reports = tables.feedback.c, tables.reports.c
    count = connection.execute(
        select(func.count(func.distinct(feedback.run)))
        .join(tables.reports, (reports.tenant == feedback.tenant) & (reports.id == feedback.run))
        .where(
            feedback.tenant == tenant, feedback.verdict == "wrong", reports.created >= since, reports.action == "emit"
        )
    ).scalar()
    return int(count or 0)
