"""Labelled rows from reviewers' decisions, in the format that `assay eval`, `assay calibrate` and training read.

    approve   the output is supported
    reject    the output is not
    edit      the output is not, and the changed words are marked; the edited text is supported
    claims    a reviewer's verdict on a single claim is a row of its own

Expired and erased items make no rows. Neither do checks that lost part of their evidence, nor agent runs, whose
evidence is in the transcript: the row would have less evidence than the check had (`assay.store.records.row_evidence`).
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, or_, select

from assay.schema import Evidence, ReviewAct, ReviewItem, ReviewOutcome, ReviewState, Verdict
from assay.store.db import tables
from assay.store.db.store import StoredCheck, read_check
from assay.store.records.row_evidence import why_no_row
from assay.store.reviews.items import evidence_of, item_of

SET: Final = "reviews"
"""The `set` of these rows."""
LABELS: Final = {
    Verdict.SUPPORTED: "supported",
    Verdict.CONTRADICTED: "contradicted",
    Verdict.UNSUPPORTED: "unsupported",
}
"""The labels of verdicts on claims; other verdicts make no row."""
DECIDED: Final = (ReviewState.APPROVED.value, ReviewState.EDITED.value, ReviewState.REJECTED.value)
"""The states of items that a reviewer decided."""
_BATCH: Final = 100
_MOST_COMPARED: Final = 20_000
"""The longest text whose changes are found word by word, in characters; in a longer one they are a single span."""

LabelledRow = dict[str, Any]
"""A row in the format of `assay eval`."""


def labelled_rows(connection: Connection, tenant: str) -> Iterator[LabelledRow]:
    """The rows from all decisions of a tenant's reviewers, oldest first.

    Args:
        connection: from `Store.reading`.
        tenant: whose decisions.
    """
    table = tables.review_items
    decided = select(table).where(table.c.tenant == tenant, table.c.state.in_(DECIDED))
    query = decided.order_by(table.c.created, table.c.id).limit(_BATCH)
    rows = connection.execute(query).all()
    while rows:
        for row in rows:
            yield from rows_of(connection, item_of(row))
        last = rows[-1]
        after = or_(table.c.created > last.created, and_(table.c.created == last.created, table.c.id > last.id))
        rows = connection.execute(query.where(after)).all()


def rows_of(connection: Connection, item: ReviewItem) -> Iterator[LabelledRow]:
    """The rows from one decision."""
    outcome = item.outcome
    check = read_check(connection, item.tenant, item.run)
    if outcome is None or outcome.act is ReviewAct.EXPIRE or check is None or check.report is None:
        return
    evidence = evidence_of(connection, item.tenant, check)
    output = check.report.output
    if why_no_row(check, evidence) is not None:
        return
    meta = {"review": item.id, "act": outcome.act.value, "tier": item.tier.value}

    def row(suffix: str, content: LabelledRow) -> LabelledRow:
        return labelled_row(f"{item.id}{suffix}", SET, check, evidence, content, meta)

    if outcome.act is ReviewAct.APPROVE:
        yield row("", {"answer": output, "label": "supported"})
    else:
        if outcome.act is ReviewAct.EDIT and (outcome.output or "").strip():
            yield row(".edited", {"answer": outcome.output, "label": "supported"})
        yield row("", _not_supported(output, outcome))
    for place, verdict in sorted(outcome.claims.items()):
        if verdict in LABELS and place < len(check.report.claims):
            yield row(f".{place}", {"claim": check.report.claims[place].text, "label": LABELS[verdict]})


def changed_spans(before: str, after: str) -> list[list[int]]:
    """The spans of a text that an edit changed or deleted; for a pure insertion, the word before it.

    >>> changed_spans("Partners get 4 weeks.", "Partners get 2 weeks.")
    [[13, 14]]
    """
    if max(len(before), len(after)) > _MOST_COMPARED:
        start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        return [[start, len(before)]] if start < len(before) else []
    words, new_words = _words(before), _words(after)
    matcher = difflib.SequenceMatcher(None, [w for w, _ in words], [w for w, _ in new_words], autojunk=False)
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
    """The words and punctuation marks of a text with their offsets, without white space."""
    tokens: list[tuple[str, int]] = []
    start = -1
    for place, char in enumerate(text):
        if char.isalnum():
            start = place if start < 0 else start
            continue
        if start >= 0:
            tokens.append((text[start:place], start))
            start = -1
        if not char.isspace():
            tokens.append((char, place))
    return tokens if start < 0 else [*tokens, (text[start:], start)]


def _not_supported(output: str, outcome: ReviewOutcome) -> LabelledRow:
    """The content of a row for an output that was not approved, with the spans that an edit changed."""
    content: LabelledRow = {"answer": output, "label": "not_supported"}
    if outcome.act is ReviewAct.EDIT and outcome.output is not None:
        content["spans"] = changed_spans(output, outcome.output)
    return content


def labelled_row(
    id_: str,
    set_: str,
    check: StoredCheck,
    evidence: Sequence[Evidence],
    content: LabelledRow,
    meta: Mapping[str, Any],
) -> LabelledRow:
    """A row with the question and all evidence of a check.

    Args:
        id_: the id of the row.
        set_: the set that it belongs to.
        check: the check that it is made from.
        evidence: the evidence of the check, including what was added later.
        content: the answer or the claim, and the label.
        meta: where the label comes from.
    """
    question = None if check.report is None else check.report.question
    row: LabelledRow = {
        "id": id_,
        "set": set_,
        "evidence": [piece.model_dump(mode="json", exclude_defaults=True) for piece in evidence],
        **content,
        "meta": dict(meta),
    }
    return row if question is None else {**row, "question": question}
