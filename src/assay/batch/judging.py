"""Judges the rows of a piece in a worker: parses them, judges them, and rejects those that cannot be judged."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assay.batch.values import CHECKED, RawRow, RowResult, rejected
from assay.errors import AssayError, InputError
from assay.evaluation import result_of_answer, result_of_claim
from assay.evaluation.rows import Result, Row, parse_row, record_of_cells, record_of_columns, record_of_line
from assay.schema import ClaimReport, HallucinationReport

if TYPE_CHECKING:
    from assay.guard import Guard


def judge_rows(guard: "Guard", rows: Sequence[RawRow], *, reports: bool = False) -> list[RowResult]:
    """One result for each row, in their order.

    The result of a row does not depend on the rows next to it (docs/adr/0006), so rows may be cut into pieces anywhere.

    Args:
        guard: the guard that judges.
        rows: the rows as they were read.
        reports: whether whole reports are kept in the results.
    """
    parsed = [_parse(raw) for raw in rows]
    parsed_pairs = [(raw, row) for raw, row in zip(rows, parsed, strict=True) if isinstance(row, Row)]
    try:
        results = list(_judge(guard, parsed_pairs, reports))
    except AssayError:
        # At least one row cannot be judged; judging each alone shows which.
        results = [result for pair in parsed_pairs for result in _judge_alone(guard, pair, reports)]
    waiting = iter(results)
    return [next(waiting) if isinstance(row, Row) else row for row in parsed]


def _parse(raw: RawRow) -> Row | RowResult:
    try:
        return parse_row(_record(raw), raw.where, raw.set)
    except InputError as error:
        return rejected(raw, str(error))


def _record(raw: RawRow) -> Any:
    if raw.form == "broken":
        raise InputError(str(raw.payload))
    if raw.form == "line":
        return record_of_line(raw.payload, raw.where)
    return (record_of_cells if raw.form == "cells" else record_of_columns)(raw.payload, raw.where)


def _judge_alone(guard: "Guard", pair: tuple[RawRow, Row], reports: bool) -> Iterator[RowResult]:
    try:
        yield from _judge(guard, [pair], reports)
    except AssayError as error:
        yield rejected(pair[0], f"{pair[0].where}: {error}", pair[1].id)


def _judge(guard: "Guard", pairs: Sequence[tuple[RawRow, Row]], reports: bool) -> Iterator[RowResult]:
    claims = [row for _, row in pairs if row.whole]
    answers = [row for _, row in pairs if not row.whole]
    claim_reports = iter(
        guard.judge_claims([(row.text, list(row.evidence), row.question) for row in claims]) if claims else ()
    )
    answer_reports = guard.check_many(
        {"answer": row.text, "evidence": list(row.evidence), "question": row.question} for row in answers
    )
    for raw, row in pairs:
        if row.whole:
            claim = next(claim_reports)
            yield _row_result(raw, row, result_of_claim(row.digest, claim), [claim], None, claim if reports else None)
        else:
            report = next(answer_reports)
            result = result_of_answer(row.digest, report, guard.policy.support_threshold)
            yield _row_result(raw, row, result, report.claims, report, report if reports else None)


def _row_result(
    raw: RawRow,
    row: Row,
    result: Result,
    claims: Sequence[ClaimReport],
    report: HallucinationReport | None,
    kept_report: HallucinationReport | ClaimReport | None,
) -> RowResult:
    return RowResult(
        source=raw.source,
        position=raw.position,
        set=row.set,
        id=row.id,
        status=CHECKED,
        digest=row.digest,
        action=None if report is None else report.action.value,
        verdict=result.verdict,
        score=result.score,
        contradiction=result.contradiction,
        reasons=() if report is None else report.decision.reasons,
        claims=tuple(_claim(one) for one in claims),
        label=row.label,
        report=None if kept_report is None else kept_report.model_dump_json(exclude={"timing"}),
    )


def _claim(claim: ClaimReport) -> dict[str, Any]:
    return {
        "text": claim.text,
        "start": claim.span.start,
        "end": claim.span.end,
        "verdict": claim.verdict.value,
        "score": claim.score,
        "critical": claim.critical,
        "issues": [issue.message for issue in claim.issues],
    }
