"""Checks a claim against the records of the evidence, sentence by sentence, and puts the results together."""

from dataclasses import dataclass
from typing import Final

from assay.schema import EvidenceSpan
from assay.verify.exact.compare_records.decision import decide
from assay.verify.exact.compare_records.durations import judge_span
from assay.verify.exact.compare_records.empty_fields import judge_absence
from assay.verify.exact.compare_records.identity import found_by_name
from assay.verify.exact.compare_records.labelled_claims import Labelled, judge_labelled
from assay.verify.exact.compare_records.matching import Match
from assay.verify.exact.compare_records.outcome import Outcome
from assay.verify.exact.compare_records.statement import Statement, statements_of
from assay.verify.exact.compare_records.tables.conditions import judge_query, says_partial
from assay.verify.exact.compare_records.tables.rows import judge_rows
from assay.verify.exact.compare_records.tables.totals import judge_total
from assay.verify.exact.compare_records.value_relation import CellValues
from assay.verify.exact.compare_records.vocabulary import FUNCTION_WORDS
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.records import Cell, Records

_MOST_RECORDS: Final = 12
"""The most records that a statement is checked against."""

_MOST_POSTINGS: Final = 400
"""A word that occurs in the values of more records than this is not looked up."""

_ALONE: Final = 8
"""Up to this many records that belong to no group are compared even where no word of the statement finds them."""

_LONGEST_STATEMENT: Final = 60
"""In words; a longer sentence states more than values of fields."""

_MOST_STATEMENTS: Final = 4
"""In sentences; a claim with more of them is not compared with records."""

_COMPUTED: Final = frozenset(
    {"record.total", "record.rows", "record.extreme", "record.compared", "record.change", "record.span"}
)
"""Codes of outcomes that are computed from rows or fields; the computation is shown also where it supports a claim."""

_LONGEST_SHOWN: Final = 120
"""The most characters of a value in a message."""

_LONGEST_MARKED: Final = 300
"""The most characters of a value that are marked in the evidence."""


@dataclass(frozen=True, slots=True)
class RecordResult:
    """What the records say of a claim."""

    findings: tuple[ExactFinding, ...] = ()
    support: float = 0.0
    """The confidence that records state all of the claim, 0 to 1."""
    spans: tuple[EvidenceSpan, ...] = ()
    """The values that support it."""
    passages: frozenset[int] = frozenset()
    """The passages whose records state it."""
    settled: tuple[tuple[int, int], ...] = ()
    """The characters of the sentences that records support or contradict."""


NOTHING: Final = RecordResult()


def compare_records(claim: Claim, index: ExactIndex) -> RecordResult:
    """Compares a claim with the records of the evidence; `NOTHING` where there are none or several fit."""
    records = index.records
    if not records:
        return NOTHING
    labelled = judge_labelled(claim, index)
    if labelled is not None:
        return _labelled_result(claim, index, labelled)
    texts = [index.passages[number].text for number in sorted(records.passages)]
    statements = list(statements_of(claim, texts))
    if not statements or len(statements) > _MOST_STATEMENTS:
        return NOTHING
    values = CellValues()
    findings: list[ExactFinding] = []
    supporting: list[Outcome] = []
    settled: list[tuple[int, int]] = []
    for statement in statements:
        outcome = _judge_statement(statement, records, index, values)
        if outcome is None:
            continue
        settled.append((statement.starts[0], statement.ends[-1]))
        if outcome.agrees:
            supporting.append(outcome)
        else:
            findings.append(_finding(statement, outcome, index))
    if findings or len(supporting) < len(statements):
        return RecordResult(tuple(findings), settled=tuple(settled))
    spans = tuple(_span(o, index, "supports") for o in supporting)
    passages = frozenset(o.passage for o in supporting)
    notes = tuple(
        _derivation_note(s, o, index) for s, o in zip(statements, supporting, strict=True) if o.code in _COMPUTED
    )
    return RecordResult(notes, min(o.confidence for o in supporting), spans, passages, tuple(settled))


def _derivation_note(statement: Statement, outcome: Outcome, index: ExactIndex) -> ExactFinding:
    """A note that shows how a supported statement is computed from the rows."""
    start, end = statement.starts[outcome.first], statement.ends[outcome.last - 1]
    working = outcome.shown_instead[:_LONGEST_SHOWN]
    message = f'The claim\'s "{statement.text[start:end]}" follows from the evidence: {working}.'
    span = _span(outcome, index, "supports")
    return ExactFinding("number.derived", message, start, end, span, "note", outcome.confidence)


def _labelled_result(claim: Claim, index: ExactIndex, labelled: Labelled) -> RecordResult:
    """The result for a claim that is itself a record."""
    whole = ((0, len(claim.text)),)
    spans = tuple(
        index.passage_span(passage, cell.start, cell.end, "supports", labelled.support)
        for passage, cell in labelled.cells
    )
    passages = frozenset(passage for passage, _ in labelled.cells)
    return RecordResult(labelled.findings, labelled.support, spans, passages, whole)


def _finding(statement: Statement, outcome: Outcome, index: ExactIndex) -> ExactFinding:
    start, end = statement.starts[outcome.first], statement.ends[outcome.last - 1]
    ours, cell = statement.text[start:end], outcome.cell
    name = cell.name.strip()
    if outcome.code == "record.title":
        message = f'The claim is about "{ours}", but the record is about "{outcome.shown_instead[:_LONGEST_SHOWN]}".'
    elif outcome.code == "record.total":
        message = f'The claim says "{ours}", but the values under "{name}" add up to {outcome.shown_instead}.'
    elif outcome.code == "record.span":
        message = f'The claim says "{ours}", but it is {outcome.shown_instead}.'
    elif outcome.code == "record.rows":
        message = f'The claim says "{ours}", but there are {outcome.shown_instead}.'
    elif outcome.code == "record.extreme":
        message = f'The claim says "{ours}", but it is {outcome.shown_instead[:_LONGEST_SHOWN]} under "{name}".'
    elif outcome.code in {"record.compared", "record.change"}:
        message = (
            f'The claim says "{ours}", but the values under "{name}" are {outcome.shown_instead[:_LONGEST_SHOWN]}.'
        )
    elif outcome.code == "record.negation":
        message = f'The claim denies what the record has: its "{name}" is {_quoted_value(cell)}.'
    elif outcome.code == "record.count":
        message = f'The claim says "{ours}", but the record has {cell.number} under "{name}".'
    else:
        message = f'The claim says "{ours}", but the record\'s "{name}" is {_quoted_value(cell)}.'
    wrong = tuple((statement.starts[first], statement.ends[last - 1]) for first, last in outcome.wrong)
    return ExactFinding(
        outcome.code,
        message,
        start,
        end,
        _span(outcome, index, "contradicts"),
        "missing" if outcome.code == "record.title" else "contradicts",
        outcome.confidence,
        wrong,
    )


def _quoted_value(cell: Cell) -> str:
    if cell.kind == "none":
        return "empty"
    return f'"{cell.text[:_LONGEST_SHOWN]}"'


def _span(outcome: Outcome, index: ExactIndex, relation: str) -> EvidenceSpan:
    cell = outcome.cell
    end = min(cell.end, cell.start + _LONGEST_MARKED)
    return index.passage_span(outcome.passage, cell.start, end, relation, outcome.confidence)


def _judge_statement(statement: Statement, records: Records, index: ExactIndex, values: CellValues) -> Outcome | None:
    """The outcome of one statement; none where no record decides it or several records disagree."""
    if len(statement) > _LONGEST_STATEMENT:
        return None
    total = judge_total(statement, records)
    if total is not None:
        return total
    judged = judge_rows(statement, records) or judge_query(statement, records) or judge_span(statement, records)
    judged = judged or judge_absence(statement, records)
    if judged is not None:
        return judged
    outcomes: list[Outcome] = []
    named_groups: set[int] = set()
    for number in _candidates(statement, records):
        match = Match(statement, records, number, index, values)
        if match.too_wide:
            continue
        match.match()
        outcome = decide(match)
        if (
            outcome is not None
            and outcome.cell.kind == "array"
            and says_partial(match.record, int(outcome.cell.number or 0))
        ):
            continue
        if outcome is not None:
            outcomes.append(outcome)
        if match.group.table and found_by_name(match):
            named_groups.add(match.record.group)
    # Where a row of a table has the name that the statement gives, one value does not make another row the one meant.
    outcomes = [o for o in outcomes if o.agrees or o.by_name or o.group not in named_groups or o.right_count > 1]
    if not outcomes:
        return None
    agreeing = [o for o in outcomes if o.agrees]
    if agreeing:
        # A record that has all that is claimed is the one that is meant, unless another source says otherwise.
        best = max(agreeing, key=lambda o: (o.confidence, o.by_name, -o.cell.start))
        return best if all(o.group == best.group or not o.by_name for o in outcomes if not o.agrees) else None
    matched_by_name = [o for o in outcomes if o.by_name] or outcomes
    most_alike = max(o.alike_count for o in matched_by_name)
    if len(matched_by_name) < most_alike:
        return None
    return max(matched_by_name, key=lambda o: (o.confidence, -o.cell.start))


def _candidates(statement: Statement, records: Records) -> list[int]:
    """The records that have values of the statement, those with most of them first."""
    hits: dict[int, int] = {}
    for at in range(len(statement)):
        fold = statement.lexemes[at].fold
        posted = records.postings.get(fold, ())
        if not posted or len(posted) > _MOST_POSTINGS or (fold in FUNCTION_WORDS and len(posted) > _ALONE):
            continue
        for number in posted:
            hits[number] = hits.get(number, 0) + 1
    alone = [group.first for group in records.groups if group.last - group.first == 1]
    if len(alone) <= _ALONE:
        for number in alone:
            hits.setdefault(number, 0)
    return sorted(hits, key=lambda number: (-hits[number], number))[:_MOST_RECORDS]
