"""Labelled rows from users' feedback, in addition to those from reviewers (`training_rows`).

Every user may say that an output is wrong, so these rows have the set `feedback` and are mixed with reviewers' rows
only on request. For each author the last feedback on an output or a claim counts; among several authors the majority,
and a tie makes no row. Feedback on an output that a reviewer decided on makes no rows.
"""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, exists, select

from assay.errors import StoreError
from assay.store.db import tables
from assay.store.db.store import read_check
from assay.store.records.row_evidence import why_no_row
from assay.store.reviews.items import evidence_of
from assay.store.reviews.training_rows import DECIDED, LabelledRow, labelled_row, labelled_rows

SET: Final = "feedback"
"""The `set` of these rows."""
_BATCH: Final = 500

SOURCES: Final = ("reviews", "feedback", "all")
"""The sources of rows: reviewers, users, or both."""

Votes = dict[int | None, tuple[int, int]]
"""By claim, or None for the whole output: how many authors call it right, and how many wrong."""


def feedback_rows(connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """The rows from users' feedback, in the order of the ids of the outputs.

    Args:
        connection: from `Store.reading`.
        tenant: whose feedback.
    """
    for run, votes in _votes(connection, tenant):
        check = read_check(connection, tenant, run)
        if check is None or check.report is None:
            continue
        evidence = evidence_of(connection, tenant, check)
        if why_no_row(check, evidence) is not None:
            continue
        for claim, (right, wrong) in sorted(votes.items(), key=lambda pair: -1 if pair[0] is None else pair[0]):
            if right == wrong or (claim is not None and claim >= len(check.report.claims)):
                continue
            text = {"answer": check.report.output} if claim is None else {"claim": check.report.claims[claim].text}
            content = {**text, "label": "supported" if right > wrong else "not_supported"}
            id_ = f"{run}{'' if claim is None else f'.{claim}'}"
            yield labelled_row(id_, SET, check, evidence, content, {"right": right, "wrong": wrong})


def rows_by(source: str, connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """Rows by their source: `reviews`, `feedback`, or `all` with those of reviewers first.

    Raises:
        StoreError: there is no such source.
    """
    if source not in SOURCES:
        raise StoreError(f"expected rows of {', '.join(SOURCES)}; got {ascii(source)[:40]}")
    if source != "feedback":
        yield from labelled_rows(connection, tenant)
    if source != "reviews":
        yield from feedback_rows(connection, tenant)


def user_scores(connection: Connection, tenant: str, most: int = 50_000) -> list[tuple[float, float]]:
    """The overall score of each output that users judged as a whole, with 1 if they call it right and else 0, from the
    latest `most` pieces of feedback.

    Content users give no feedback: these outcomes are worse than those of all outputs, and meaningful only in
    comparison over time.
    """
    table, reports, items = tables.feedback.c, tables.reports.c, tables.review_items.c
    decided = exists().where(items.tenant == tenant, items.run == table.run, items.state.in_(DECIDED))
    rows = connection.execute(
        select(table.run, table.author, table.verdict, reports.score)
        .join(tables.reports, (reports.tenant == table.tenant) & (reports.id == table.run))
        .where(table.tenant == tenant, table.claim.is_(None), reports.score.is_not(None), ~decided)
        .order_by(table.created.desc(), table.id.desc())
        .limit(most)
    ).all()
    verdicts: dict[str, dict[str | None, str]] = {}
    scores: dict[str, float] = {}
    for row in reversed(rows):
        verdicts.setdefault(row.run, {})[row.author] = row.verdict
        scores[row.run] = float(row.score)
    # How many more authors call the output right than not.
    margins = {run: sum(1 if said == "right" else -1 for said in of.values()) for run, of in verdicts.items()}
    return [(scores[run], float(margin > 0)) for run, margin in margins.items() if margin]


def _votes(connection: Connection, tenant: str) -> Iterator[tuple[str, Votes]]:
    """The users' votes on each run that no reviewer decided on."""
    table, items = tables.feedback.c, tables.review_items.c
    decided = exists().where(items.tenant == tenant, items.run == table.run, items.state.in_(DECIDED))
    after = ""
    while True:
        runs = (
            connection.execute(
                select(table.run)
                .where(table.tenant == tenant, table.run > after, ~decided)
                .group_by(table.run)
                .order_by(table.run)
                .limit(_BATCH)
            )
            .scalars()
            .all()
        )
        if not runs:
            return
        rows = connection.execute(
            select(tables.feedback)
            .where(table.tenant == tenant, table.run.in_(runs))
            .order_by(table.run, table.created, table.id)
        ).all()
        last_verdicts: dict[str, dict[tuple[int | None, Any], str]] = {}
        for row in rows:
            last_verdicts.setdefault(row.run, {})[row.claim, row.author] = row.verdict
        for run in runs:
            votes: Votes = {}
            for (claim, _), verdict in last_verdicts.get(run, {}).items():
                right, wrong = votes.get(claim, (0, 0))
                votes[claim] = (right + (verdict == "right"), wrong + (verdict == "wrong"))
            yield run, votes
        after = runs[-1]
