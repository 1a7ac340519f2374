"""A JSON answer in a check: schema, rules and references, and each of its values against the evidence."""

import json
from typing import Any

import pytest

from assay.errors import InputError
from assay.guard import Guard
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.testing import FakeScorer

EVIDENCE = [
    Evidence(id="hr-2", text="The partner leave is 2 weeks. The leave is paid."),
    Evidence(id="hr-3", text="The start is 1 March 2025."),
]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"leave_weeks": {"type": "integer"}, "refs": {"type": "array"}},
    "required": ["leave_weeks"],
}


def check(document: Any, **options: Any) -> HallucinationReport:
    output = document if isinstance(document, str) else json.dumps(document)
    return Guard("rag", scorer=FakeScorer()).check(output, EVIDENCE, schema=SCHEMA, **options)


def test_a_wrong_value_is_found_at_its_pointer() -> None:
    output = json.dumps({"leave_weeks": 4})
    (claim,) = check(output).claims
    assert claim.path == "/leave_weeks"
    assert claim.verdict is Verdict.CONTRADICTED
    assert {issue.path for issue in claim.issues} == {"/leave_weeks"}
    assert output[claim.issues[0].span.start : claim.issues[0].span.end] == "4"  # type: ignore[union-attr]


def test_every_character_of_a_document_is_accounted_for() -> None:
    report = check({"leave_weeks": 2, "more": {"start": "2025-03-01", "none": None}})
    assert report.coverage.unchecked == 0


def test_a_broken_rule_and_a_reference_to_nothing_are_never_emitted() -> None:
    structure = {"references": ["/refs"], "rules": [{"rule": "order", "of": "/leave_weeks", "to": "/most"}]}
    report = check({"leave_weeks": 2, "most": 1, "refs": ["hr-2", "hr-9"]}, structure=structure)
    assert [(issue.code, issue.path) for issue in report.issues] == [
        ("structure.rule", "/leave_weeks"),
        ("structure.reference", "/refs/1"),
    ]
    assert report.action is not Action.EMIT


def test_a_statement_is_held_against_the_source_that_it_names() -> None:
    structure = {"cited": [{"statement": "/says", "sources": "/refs"}]}
    report = check({"leave_weeks": 2, "says": "The leave is 2 weeks.", "refs": ["hr-3"]}, structure=structure)
    (citation,) = report.citations
    assert citation.evidence_id == "hr-3"
    assert citation.status == "misattributed"


def test_a_schema_may_carry_its_structure() -> None:
    schema = {**SCHEMA, "x-assay": {"references": ["/refs"]}}
    report = Guard("rag", scorer=FakeScorer()).check('{"leave_weeks": 2, "refs": ["x"]}', EVIDENCE, schema=schema)
    assert [issue.code for issue in report.issues] == ["structure.reference"]


def test_a_document_that_cannot_be_read_is_a_finding_with_its_place() -> None:
    report = check('{"leave_weeks": 2,}')
    assert [issue.code for issue in report.issues] == ["structure.not_json"]
    report = Guard("rag", scorer=FakeScorer()).check("no document", EVIDENCE, structure={})
    assert [issue.code for issue in report.issues] == ["structure.not_json"]


def test_values_are_no_claims_where_the_caller_says_so() -> None:
    report = check({"leave_weeks": 4}, structure={"skip": ["/leave_weeks"]}, claim_free=True)
    assert [claim.verdict for claim in report.claims] == [Verdict.NOT_CHECKABLE]


def test_a_structure_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match=r"structure cannot be read: rules\.0"):
        check({"leave_weeks": 2}, structure={"rules": [{"rule": "sum"}]})
    with pytest.raises(InputError, match="slash"):
        check({"leave_weeks": 2}, structure={"references": ["refs"]})


def test_the_structure_is_part_of_what_names_the_run() -> None:
    plain, held = check({"leave_weeks": 2}), check({"leave_weeks": 2}, structure={"references": ["/refs"]})
    assert plain.run_id != held.run_id
    assert plain.run_id == check({"leave_weeks": 2}).run_id
