"""Labelled rows out of what users said of outputs, beside those of reviewers (`training_rows`).

Anybody who may ask may say that an output is wrong: such rows carry the set `feedback`, and nothing mixes them with
reviewers' rows unasked. Of each author the last word on an output, or on a claim, counts; of several authors the
majority, and where they are even there is no row. What a reviewer decided on is left to the reviewer.
"""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, exists, select

from assay.errors import StoreError
from assay.store.db import tables
from assay.store.db.store import read_check
from assay.store.records.row_evidence import why_no_row
from assay.store.reviews.items import evidence_of
from assay.store.reviews.training_rows import LabelledRow, labelled_rows

SET: Final = "feedback"
"""The name of the set."""
_PART: Final = 500
_DECIDED: Final = ("approved", "edited", "rejected")

SOURCES: Final = ("reviews", "feedback", "all")
"""Whose word rows are made of."""

Words = dict[int | None, tuple[int, int]]
"""By claim, or none for the output: how many authors call it right, and how many wrong."""


def feedback_rows(connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """Rows out of what users said, in the order of the outputs' ids.

    Args:
        connection: from `Store.reading`.
        tenant: whose.
    """
    for run, words in _words(connection, tenant):
        found = read_check(connection, tenant, run)
        if found is None or found.report is None:
            continue
        evidence = evidence_of(connection, tenant, found)
        if why_no_row(found, evidence) is not None:
            continue
        for claim, (right, wrong) in sorted(words.items(), key=lambda pair: -1 if pair[0] is None else pair[0]):
            if right == wrong or (claim is not None and claim >= len(found.report.claims)):
                continue
            label = "supported" if right > wrong else "not_supported"
            said = {"answer": found.report.output} if claim is None else {"claim": found.report.claims[claim].text}
            row: LabelledRow = {
                "id": f"{run}{'' if claim is None else f'.{claim}'}",
                "set": SET,
                "evidence": [piece.model_dump(mode="json", exclude_defaults=True) for piece in evidence],
                **said,
                "label": label,
                "meta": {"right": right, "wrong": wrong},
            }
            if found.report.question is not None:
                row["question"] = found.report.question
            yield row


def rows_by(source: str, connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """Rows by whose word they are: of `reviews`, of `feedback`, or of `all`, those of reviewers first.

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
    """The overall score of each output that users judged as a whole, and 1 where they call it right, else 0: of the
    latest words, so many.

    Who is content says nothing: such outcomes are worse than those of all outputs, and say so in comparison over time
    alone.
    """
    table, reports, items = tables.feedback.c, tables.reports.c, tables.review_items.c
    decided = exists().where(items.tenant == tenant, items.run == table.run, items.state.in_(_DECIDED))
    rows = connection.execute(
        select(table.run, table.author, table.verdict, reports.score)
        .join(tables.reports, (reports.tenant == table.tenant) & (reports.id == table.run))
        .where(table.tenant == tenant, table.claim.is_(None), reports.score.is_not(None), ~decided)
        .order_by(table.created.desc(), table.id.desc())
        .limit(most)
    ).all()
    last: dict[str, dict[str | None, str]] = {}
    scores: dict[str, float] = {}
    for row in reversed(rows):
        last.setdefault(row.run, {})[row.author] = row.verdict
        scores[row.run] = float(row.score)
    found: list[tuple[float, float]] = []
    for run, said in last.items():
        right = sum(verdict == "right" for verdict in said.values())
        if 2 * right != len(said):
            found.append((scores[run], float(2 * right > len(said))))
    return found


def _words(connection: Connection, tenant: str) -> Iterator[tuple[str, Words]]:
    """What users said of each run that no reviewer decided on."""
    table, items = tables.feedback.c, tables.review_items.c
    decided = exists().where(items.tenant == tenant, items.run == table.run, items.state.in_(_DECIDED))
    after = ""
    while True:
        named = (
            connection.execute(
                select(table.run)
                .where(table.tenant == tenant, table.run > after, ~decided)
                .group_by(table.run)
                .order_by(table.run)
                .limit(_PART)
            )
            .scalars()
            .all()
        )
        if not named:
            return
        rows = connection.execute(
            select(tables.feedback)
            .where(table.tenant == tenant, table.run.in_(named))
            .order_by(table.run, table.created, table.id)
        ).all()
        logged: dict[str, dict[tuple[int | None, Any], str]] = {}
        for row in rows:
            logged.setdefault(row.run, {})[row.claim, row.author] = row.verdict
        for run in named:
            words: Words = {}
            for (claim, _), verdict in logged.get(run, {}).items():
                right, wrong = words.get(claim, (0, 0))
                words[claim] = (right + (verdict == "right"), wrong + (verdict == "wrong"))
            yield run, words
        after = named[-1]
