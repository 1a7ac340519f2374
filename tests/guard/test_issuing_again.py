"""A receipt is for the report that a check made: one that was given other members is refused."""

from typing import Any

import pytest
from tests.guard.test_receipts import ANSWER, EVIDENCE, KEY, RING, Clock, guard_with

from assay.errors import ReceiptError
from assay.policy import PRESETS, Route
from assay.policy.escalation import approved
from assay.receipt import verify
from assay.schema import Action, Decision, Evidence, HallucinationReport, Verdict
from assay.schema.verdict import ClaimStatus

FALSE = "The warranty covers nine years."
SERVED = Decision(action=Action.EMIT, route="serve", reasons=("All hold.",))


@pytest.fixture(scope="module")
def right() -> HallucinationReport:
    return guard_with(Clock()).check(ANSWER, EVIDENCE)


@pytest.fixture(scope="module")
def wrong() -> HallucinationReport:
    return guard_with(Clock()).check(FALSE, EVIDENCE)


def members(
    right: HallucinationReport, wrong: HallucinationReport
) -> dict[str, tuple[HallucinationReport, dict[str, Any]]]:
    """What may be put into a copy of a report, so that something else goes out with a receipt."""
    claim, score = right.claims[0], {"overall_score": 0.99}
    served = {"action": Action.EMIT, "decision": SERVED, "labels": right.labels, "escalation": None}
    raised = wrong.claims[0].model_copy(
        update={
            "verdict": Verdict.SUPPORTED,
            "score": 0.99,
            "contradiction": 0.0,
            "status": ClaimStatus.PASS,
            "severity": None,
        }
    )
    return {
        "another output of the same length": (right, {"output": ANSWER.replace("two", "six")}),
        "another output": (right, {"output": FALSE}),
        "the decision of another report": (wrong, served),
        "that and its claims": (wrong, {**served, "claims": right.claims}),
        "that, its claims and its score": (
            wrong,
            {**served, "claims": right.claims, "overall_score": right.overall_score},
        ),
        "a verdict": (wrong, {**served, **score, "claims": (raised,)}),
        "the digests of another report": (wrong, {**served, "digests": right.digests}),
        "no claims": (wrong, {**served, "claims": (), "overall_score": None}),
        "a score": (right, {"claims": (claim.model_copy(update={"score": 0.9}),)}),
        "an overall score": (right, score),
        "no digests": (right, {"digests": None}),
        "a coverage": (
            right,
            {"coverage": right.coverage.model_copy(update={"checked": 0, "not_checkable": right.coverage.characters})},
        ),
        "a finding of the whole": (right, {"issues": wrong.issues or right.issues, "claims": wrong.claims}),
    }


NAMES = sorted(members(guard_with(Clock()).check(ANSWER, EVIDENCE), guard_with(Clock()).check(FALSE, EVIDENCE)))


@pytest.mark.parametrize("name", NAMES)
def test_a_report_that_was_given_other_members_gets_no_receipt(
    name: str, right: HallucinationReport, wrong: HallucinationReport
) -> None:
    report, changes = members(right, wrong)[name]
    with pytest.raises(ReceiptError, match="nothing was signed"):
        guard_with(Clock()).issue(report.model_copy(update=changes))


@pytest.mark.parametrize("output", [ANSWER, FALSE])
def test_what_a_reviewer_approved_is_signed_for_the_very_output(output: str) -> None:
    guard = guard_with(Clock())
    report = approved(guard.check(output, EVIDENCE))
    assert verify(output, guard.issue(report), RING, evidence=EVIDENCE).valid
    with pytest.raises(ReceiptError, match="another one than the one that was checked"):
        guard.issue(report.model_copy(update={"output": "Something else."}))


ANSWERS = [
    ANSWER,
    f"{ANSWER} Batteries are covered for six months.",
    "I do not know.",
    "Thank you for asking!",
    "Hello! The warranty covers two years.",
    "- The warranty covers two years.\n- Batteries are covered for six months.",
    "The warranty covers two years. [a]",
]


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("options", [{}, {"claim_free": True}, {"task": "creative"}, {"stakes": "low"}])
def test_every_report_that_lets_its_output_out_gets_its_receipt(
    name: str, answer: str, options: dict[str, Any]
) -> None:
    guard = guard_with(Clock(), name)
    report = guard.check(answer, EVIDENCE, question="How long is the warranty?", **options)
    if report.action is Action.EMIT:
        assert verify(answer, guard.issue(report), RING, evidence=EVIDENCE).valid
    else:
        with pytest.raises(ReceiptError):
            guard.issue(report)


def test_a_report_read_back_from_its_json_gets_its_receipt(right: HallucinationReport) -> None:
    read = HallucinationReport.model_validate_json(right.model_dump_json())
    assert verify(ANSWER, guard_with(Clock()).issue(read), RING).valid


def test_the_receipt_names_all_evidence_in_any_order() -> None:
    guard = guard_with(Clock())
    evidence = [*EVIDENCE, Evidence(id="b", text="The shop opens at nine."), Evidence(id="c", text="Tea is free.")]
    receipt = guard.issue(guard.check(ANSWER, evidence))
    assert verify(ANSWER, receipt, RING, evidence=evidence[::-1]).valid
    assert verify(ANSWER, receipt, RING, evidence=evidence[1:]).codes == {"other_evidence"}
    assert receipt.statement.key_id == KEY.key_id


DISAGREEING = [
    Evidence(id="a", text="The warranty covers two years."),
    Evidence(id="b", text="The warranty covers three years."),
]
NEEDS_B = {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}
FOUND = (
    "claims",
    "citations",
    "coverage",
    "retrieval",
    "issues",
    "omissions",
    "consistency_probes",
    "overall_score",
    "stakes",
    "metrics",
    "tool_call_validations",
    "digests",
)
"""The members of a report that the gate goes by."""


def withheld(name: str) -> list[HallucinationReport]:
    """Reports that let nothing out, each for another reason."""
    guard = guard_with(Clock(), name)
    made = [
        guard.check(FALSE, EVIDENCE),
        guard.check(ANSWER, DISAGREEING),
        guard.check(f"{ANSWER} [zz-9]", EVIDENCE),
        guard.check('{"a": "The warranty covers two years."}', EVIDENCE, schema=NEEDS_B),
        guard.check(ANSWER, []),
        guard.check(f"{ANSWER} 2 km is 2500 m.", EVIDENCE),
        guard.check(ANSWER, EVIDENCE, revisions_failed=9),
        guard.check("", EVIDENCE),
        guard.check(ANSWER, EVIDENCE, question="How high is tungsten's melting point?"),
    ]
    return [report for report in made if report.action is not Action.EMIT]


@pytest.mark.parametrize("name", ["general", "rag", "support-desk", "high-stakes"])
def test_a_decision_that_no_check_has_made_gets_no_receipt(name: str, right: HallucinationReport) -> None:
    guard, reports = guard_with(Clock(), name), withheld(name)
    assert len(reports) >= 4
    for report in reports:
        for route in Route:
            told = Decision(action=Action.EMIT, route=route, reasons=("All hold.",))
            served = {"action": Action.EMIT, "decision": told, "labels": right.labels, "escalation": None}
            # With nothing else, with each member of an emitted report, with each but one, and with all of them.
            for taken in ((), *((one,) for one in FOUND), *(tuple({*FOUND} - {one}) for one in FOUND), FOUND):
                copied = report.model_copy(update={**served, **{one: getattr(right, one) for one in taken}})
                with pytest.raises(ReceiptError, match="nothing was signed"):
                    guard.issue(copied)


def test_a_reviewer_approves_what_a_check_has_made_and_no_copy_of_it(wrong: HallucinationReport) -> None:
    guard = guard_with(Clock())
    assert guard.issue(approved(wrong)).statement.output
    copied = wrong.model_copy(update={"claims": (wrong.claims[0].model_copy(update={"score": 0.99}),)})
    with pytest.raises(ReceiptError, match="something else than a check has made"):
        guard.issue(approved(copied))
