"""The values of the schema: frozen, strict, published, and nothing lost on the way over the wire."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.schema import (
    Action,
    Category,
    CitationReport,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Conflict,
    ConsistencyProbe,
    Coverage,
    Decision,
    Evidence,
    EvidenceSpan,
    ExtractedClaim,
    HallucinationReport,
    Identity,
    Issue,
    Labels,
    Metric,
    Origin,
    Retrieval,
    Revision,
    RevisionAttempt,
    Severity,
    SeverityLevel,
    Span,
    Stakes,
    TextChange,
    Timing,
    ToolCallValidation,
    UncheckedPart,
    Verdict,
)
from assay.schema.publish import report_schema, schema_text

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "report.schema.json"

texts = st.text(st.characters(codec="utf-8"), max_size=12)
counts = st.integers(0, 1000)
shares = st.floats(0, 1, allow_nan=False)
maybe_share = st.none() | shares
spans = st.builds(lambda start, length: Span(start=start, end=start + length), counts, counts)
evidence_spans = st.builds(
    lambda name, start, text, relation, score: EvidenceSpan(
        evidence_id=name, start=start, end=start + len(text), text=text, relation=relation, score=score
    ),
    texts,
    counts,
    texts,
    st.sampled_from(["supports", "contradicts", "related"]),
    shares,
)
issues = st.builds(
    Issue,
    code=st.sampled_from(["number.mismatch", "structure.not_json"]),
    message=texts,
    span=st.none() | spans,
    evidence=st.none() | evidence_spans,
    path=st.none() | texts,
)
severities = st.builds(
    Severity,
    score=shares,
    level=st.sampled_from(SeverityLevel),
    propagation_risk=shares,
    undetectability=shares,
    consequence=shares,
    response=texts,
)
claims = st.builds(
    ClaimReport,
    text=texts,
    span=spans,
    kind=st.sampled_from(ClaimKind),
    critical=st.booleans(),
    critical_reasons=st.lists(texts, max_size=2).map(tuple),
    hedge=shares,
    verdict=st.sampled_from(Verdict),
    score=maybe_share,
    contradiction=maybe_share,
    status=st.sampled_from(ClaimStatus),
    evidence_spans=st.lists(evidence_spans, max_size=2).map(tuple),
    category=st.none() | st.sampled_from(Category),
    origin=st.none() | st.sampled_from(Origin),
    severity=st.none() | severities,
    issues=st.lists(issues, max_size=2).map(tuple),
    conflict=st.booleans(),
    signals=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=2),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | shares | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
calls = st.builds(
    ToolCallValidation,
    tool=texts,
    args=st.dictionaries(texts, json_values, max_size=2),
    status=st.sampled_from(["accepted", "rejected", "unchecked"]),
    errors=st.lists(texts, max_size=1).map(tuple),
    step=st.none() | st.integers(0, 1000),
    executed=st.none() | st.booleans(),
)
changes = st.builds(TextChange, start=st.integers(0, 9), end=st.integers(9, 19), before=texts, after=texts)
revisions = st.builds(
    Revision,
    original=texts,
    attempts=st.lists(
        st.builds(
            RevisionAttempt,
            number=st.integers(1, 9),
            outcome=st.sampled_from(["better", "no_better", "unchanged", "repeated", "refused"]),
            reason=texts,
            failed_claims=st.none() | st.integers(0, 9),
            overall_score=st.none() | shares,
            changes=st.lists(changes, max_size=1).map(tuple),
        ),
        max_size=1,
    ).map(tuple),
    stopped=st.sampled_from(["passed", "exhausted", "oscillation"]),
    escalation_required=st.booleans(),
    changes=st.lists(changes, max_size=1).map(tuple),
)
probes = st.builds(
    ConsistencyProbe,
    claim=texts,
    original=texts,
    probe_answers=st.lists(texts, max_size=2).map(tuple),
    agreement=shares,
)
citations = st.builds(
    CitationReport,
    marker=texts,
    span=spans,
    source_id=texts,
    evidence_id=st.none() | texts,
    claim=st.none() | texts,
    quote=st.none() | texts,
    exists=st.booleans(),
    text_matches=st.none() | st.booleans(),
    entails=st.none() | st.booleans(),
    score=maybe_share,
    status=st.sampled_from(["verified", "fabricated", "misquoted", "misattributed", "non_entailing", "unchecked"]),
    message=texts,
)
coverages = st.builds(
    lambda checked, skipped, unchecked, parts, claim_free: Coverage(
        characters=checked + skipped + unchecked,
        checked=checked,
        not_checkable=skipped,
        unchecked=unchecked,
        parts=tuple(parts),
        claim_free=claim_free,
    ),
    counts,
    counts,
    counts,
    st.lists(st.builds(UncheckedPart, span=spans, reason=texts), max_size=2),
    st.booleans(),
)
metrics = st.builds(lambda value: Metric(value=value), shares) | st.builds(lambda why: Metric(undefined=why), texts)
retrievals = st.builds(
    Retrieval,
    evidence=counts,
    windows=counts,
    pairs=counts,
    pairs_possible=counts,
    conflicts=st.lists(
        st.builds(Conflict, claim=texts, supporting=evidence_spans, contradicting=evidence_spans), max_size=1
    ).map(tuple),
)
identities = st.builds(Identity, name=texts, digest=texts)
actions = st.sampled_from(Action)
reports = st.builds(
    HallucinationReport,
    run_id=texts,
    output=texts,
    question=st.none() | texts,
    stakes=st.sampled_from(Stakes),
    claims=st.lists(claims, max_size=2).map(tuple),
    issues=st.lists(issues, max_size=1).map(tuple),
    tool_call_validations=st.lists(calls, max_size=1).map(tuple),
    consistency_probes=st.lists(probes, max_size=1).map(tuple),
    citations=st.lists(citations, max_size=1).map(tuple),
    retrieval=retrievals,
    coverage=coverages,
    metrics=st.dictionaries(texts, metrics, max_size=2),
    overall_score=maybe_share,
    action=actions,
    decision=st.builds(
        Decision,
        action=actions,
        route=texts,
        reasons=st.lists(texts, max_size=2).map(tuple),
        response=st.none() | texts,
    ),
    labels=st.builds(Labels, verdict=texts, abstention=texts, routing=texts, escalation=texts),
    policy=identities,
    verifier=identities,
    revision=st.none() | revisions,
    timing=st.builds(
        Timing, total_ms=shares, stages_ms=st.dictionaries(texts, st.floats(0, 1e9, allow_nan=False), max_size=2)
    ),
)

SLOW_TO_BUILD = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def example_report() -> HallucinationReport:
    identity = Identity(name="general", digest="0")
    return HallucinationReport(
        run_id="r",
        output="Leave is 16 weeks.",
        retrieval=Retrieval(evidence=1, windows=1, pairs=1, pairs_possible=1),
        coverage=Coverage(characters=18, checked=18, not_checkable=0, unchecked=0),
        action=Action.EMIT,
        decision=Decision(action=Action.EMIT, route="serve", reasons=()),
        labels=Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve"),
        policy=identity,
        verifier=identity,
        timing=Timing(total_ms=1.5),
    )


@SLOW_TO_BUILD
@given(reports)
def test_a_report_loses_nothing_on_the_way_through_json(report: HallucinationReport) -> None:
    assert HallucinationReport.model_validate_json(report.model_dump_json()) == report


@SLOW_TO_BUILD
@given(reports)
def test_a_report_loses_nothing_on_the_way_through_plain_values(report: HallucinationReport) -> None:
    wire = json.loads(json.dumps(report.model_dump(mode="json")))
    assert HallucinationReport.model_validate(wire) == report


@SLOW_TO_BUILD
@given(reports)
def test_every_report_keeps_to_the_published_schema(report: HallucinationReport) -> None:
    jsonschema_rs.validator_for(report_schema(), offline=True).validate(report.model_dump(mode="json"))


@given(
    st.builds(
        Evidence,
        id=texts.filter(bool),
        text=texts,
        source=st.none() | texts,
        title=st.none() | texts,
        version=st.none() | texts,
        effective_date=st.none() | st.dates(),
        expiry_date=st.none() | st.dates(),
        metadata=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | shares | texts, max_size=3),
    )
)
def test_evidence_loses_nothing_on_the_way_through_json(evidence: Evidence) -> None:
    assert Evidence.model_validate_json(evidence.model_dump_json()) == evidence


def test_the_published_schema_is_in_step_with_the_values() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m assay.schema.publish > docs/schema/report.schema.json"
    )


def test_the_published_schema_is_a_valid_schema() -> None:
    assert jsonschema_rs.meta.is_valid(report_schema())


def test_the_published_schema_explains_its_fields() -> None:
    assert report_schema()["$defs"]["Metric"]["properties"]["undefined"]["description"]


FROZEN: list[tuple[Any, str]] = [
    (Span(start=0, end=1), "end"),
    (Evidence(id="1", text="a"), "text"),
    (Metric(value=1.0), "value"),
    (Issue(code="a.b", message="m"), "message"),
    (example_report(), "action"),
]


@pytest.mark.parametrize(("value", "field"), FROZEN)
def test_values_are_frozen(value: Any, field: str) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(value, field, None)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Span.model_validate({"start": 0, "end": 1, "stop": 1})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValidationError):
        Metric(value=number)
    with pytest.raises(ValidationError):
        Timing(total_ms=number)
    with pytest.raises(ValidationError):
        Timing(total_ms=0, stages_ms={"network": number})


@pytest.mark.parametrize(("start", "end"), [(2, 1), (-1, 0)])
def test_a_span_runs_forward_from_zero(start: int, end: int) -> None:
    with pytest.raises(ValidationError):
        Span(start=start, end=end)


@pytest.mark.parametrize(("start", "end"), [(0, 2), (0, 0), (3, 0)])
def test_an_evidence_span_is_as_long_as_its_text(start: int, end: int) -> None:
    with pytest.raises(ValidationError, match="as long as its text"):
        EvidenceSpan(evidence_id="1", start=start, end=end, text="abc", relation="related", score=0)


def test_a_metric_has_a_value_or_a_reason_and_never_both() -> None:
    assert Metric(value=0.0).undefined is None
    assert Metric(undefined="no claims").value is None
    for values in ({}, {"value": 0.5, "undefined": "no claims"}):
        with pytest.raises(ValidationError, match="either a value or the reason"):
            Metric.model_validate(values)


def test_the_counts_of_a_coverage_add_up() -> None:
    with pytest.raises(ValidationError, match="must add up"):
        Coverage(characters=10, checked=5, not_checkable=4, unchecked=0)


def test_unread_evidence_makes_a_coverage_incomplete() -> None:
    whole = Coverage(characters=1, checked=1, not_checkable=0, unchecked=0, evidence_characters=5, evidence_read=5)
    assert whole.complete
    assert not whole.model_copy(update={"evidence_read": 4}).complete


@pytest.mark.parametrize("code", ["mismatch", "Number.mismatch", "number.", "number mismatch.x"])
def test_the_code_of_an_issue_has_two_parts_in_small_letters(code: str) -> None:
    with pytest.raises(ValidationError):
        Issue(code=code, message="m")


def test_a_claim_text_is_never_empty() -> None:
    with pytest.raises(ValidationError):
        ExtractedClaim(
            text="", span=Span(start=0, end=0), sentence=Span(start=0, end=0), kind=ClaimKind.FACTUAL, checkable=True
        )


def test_dates_of_evidence_are_written_as_iso() -> None:
    evidence = Evidence(id="1", text="a", effective_date=date(2024, 1, 31))
    assert evidence.model_dump(mode="json")["effective_date"] == "2024-01-31"
