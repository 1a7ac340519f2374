"""Labelled rows out of what reviewers decided, in the form that `assay eval`, `assay calibrate` and training read.

    approve   the output is supported
    reject    the output is not
    edit      the output is not, and the words that were changed are marked; the edited text is supported
    claims    what a reviewer said of a single claim is a row of its own

What expired, and what was erased, says nothing about an output. A check that lost a part of its evidence has no row,
and neither has the run of an agent, whose evidence is in its transcript: an answer would be held against less than what
it was held against (`assay.store.records.row_evidence`).
"""

import difflib
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, and_, or_, select

from assay.schema import Evidence, ReviewAct, ReviewItem, ReviewState, Verdict
from assay.store.db import tables
from assay.store.db.store import StoredCheck, read_check
from assay.store.records.row_evidence import why_no_row
from assay.store.reviews.items import evidence_of, item_of

SET: Final = "reviews"
"""The name of the set."""
LABELS: Final = {
    Verdict.SUPPORTED: "supported",
    Verdict.CONTRADICTED: "contradicted",
    Verdict.UNSUPPORTED: "unsupported",
}
"""The verdicts that are labels."""
_DECIDED: Final = (ReviewState.APPROVED.value, ReviewState.EDITED.value, ReviewState.REJECTED.value)
_PART: Final = 100
_MOST_COMPARED: Final = 20_000
"""Characters of a text up to which changes are found word by word; beyond, what differs is one piece."""

LabelledRow = dict[str, Any]


def labelled_rows(connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """Rows out of every decision of a tenant's reviewers, the oldest first.

    Args:
        connection: from `Store.reading`.
        tenant: whose.
    """
    table = tables.review_items
    decided = select(table).where(table.c.tenant == tenant, table.c.state.in_(_DECIDED))
    query = decided.order_by(table.c.created, table.c.id).limit(_PART)
    rows = connection.execute(query).all()
    while rows:
        for row in rows:
            yield from rows_of(connection, item_of(row))
        last = rows[-1]
        after = or_(table.c.created > last.created, and_(table.c.created == last.created, table.c.id > last.id))
        rows = connection.execute(query.where(after)).all()


def rows_of(connection: Connection, item: ReviewItem) -> Iterator[LabelledRow]:
    """The rows of one decision."""
    outcome = item.outcome
    found = read_check(connection, item.tenant, item.run)
    if outcome is None or outcome.act is ReviewAct.EXPIRE or found is None or found.report is None:
        return
    evidence = evidence_of(connection, item.tenant, found)
    output = found.report.output
    if why_no_row(found, evidence) is not None:
        return
    if outcome.act is ReviewAct.APPROVE:
        yield _row(item, found, evidence, "", {"answer": output, "label": "supported"})
    else:
        wrong: dict[str, Any] = {"answer": output, "label": "not_supported"}
        if outcome.act is ReviewAct.EDIT and outcome.output is not None:
            wrong["spans"] = changed_spans(output, outcome.output)
            if outcome.output.strip():
                yield _row(item, found, evidence, ".edited", {"answer": outcome.output, "label": "supported"})
        yield _row(item, found, evidence, "", wrong)
    for place, verdict in sorted(outcome.claims.items()):
        if verdict in LABELS and place < len(found.report.claims):
            said = {"claim": found.report.claims[place].text, "label": LABELS[verdict]}
            yield _row(item, found, evidence, f".{place}", said)


def changed_spans(before: str, after: str) -> list[list[int]]:
    """The characters of a text that an edit changed or took out; for what it only put in, the word before.

    >>> changed_spans("Partners get 4 weeks.", "Partners get 2 weeks.")
    [[13, 14]]
    """
    if max(len(before), len(after)) > _MOST_COMPARED:
        start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        return [[start, len(before)]] if start < len(before) else []
    words, others = _words(before), _words(after)
    matcher = difflib.SequenceMatcher(None, [w for w, _ in words], [w for w, _ in others], autojunk=False)
    spans: list[list[int]] = []
    for tag, first, last, _, _ in matcher.get_opcodes():
        if tag == "equal" or not words:
            continue
        low, high = (first, last) if last > first else (max(0, first - 1), max(1, first))
        span = [words[low][1], words[high - 1][1] + len(words[high - 1][0])]
        if spans and span[0] <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], span[1])
        else:
            spans.append(span)
    return spans


def _words(text: str) -> list[tuple[str, int]]:
    """The words and signs of a text with their places, white space left out."""
    found: list[tuple[str, int]] = []
    start = -1
    for place, sign in enumerate(text):
        if sign.isalnum():
            start = place if start < 0 else start
            continue
        if start >= 0:
            found.append((text[start:place], start))
            start = -1
        if not sign.isspace():
            found.append((sign, place))
    return found if start < 0 else [*found, (text[start:], start)]


def _row(
    item: ReviewItem, found: StoredCheck, evidence: tuple[Evidence, ...], mark: str, said: LabelledRow
) -> LabelledRow:
    question = None if found.report is None else found.report.question
    row: LabelledRow = {
        "id": f"{item.id}{mark}",
        "set": SET,
        "evidence": [piece.model_dump(mode="json", exclude_defaults=True) for piece in evidence],
        **said,
        "meta": {
            "review": item.id,
            "act": "" if item.outcome is None else item.outcome.act.value,
            "tier": item.tier.value,
        },
    }
    return row if question is None else {**row, "question": question}
