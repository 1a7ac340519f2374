"""Nothing is held back without something listed that a person can act on, and what is listed agrees with itself."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Guard
from assay.policy.presets import PRESETS
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.stats.shown import shown_score
from assay.testing import FakeScorer

PIECES = (
    "Partners get 4 weeks of paid leave.",
    "Partners are entitled to 2 weeks of paid leave.",
    "They receive 16 weeks.",
    "Yes.",
    "No.",
    "16 weeks",
    "Thank you!",
    "Sorry about the delayed refund.",
    "## Leave: four weeks",
    "The documents do not say when it ends.",
    "I don't know.",
    "Why is the leave unpaid?",
    "- paid\n- 4 weeks",
    '```json\n{"weeks": 4}\n```',
    "| who | weeks |\n|---|---|\n| partners | 4 |",
    "As [hr-9] says, it is 4 weeks.",
    '"Partners get 4 weeks"',
    '<p title="It is four weeks">Paid.</p>',
    "Perhaps it is 3 weeks, i.e. 2 + 2.",
    "👍",
)
EVIDENCE = [
    Evidence(id="hr-2", text="Partners are entitled to 2 weeks of paid leave. Mothers receive 16 weeks."),
    Evidence(id="hr-3", text="Partners are entitled to 3 weeks of paid leave."),
]
QUESTIONS = (None, "Do partners get 4 weeks of leave?", "How long is the leave?", "Was?")
GUARDS = {name: Guard(name, scorer=FakeScorer()) for name in PRESETS}


def told(report: HallucinationReport) -> list[str]:
    """All that a person is given to act on."""
    found = [issue.message for issue in report.issues]
    found += [issue.message for claim in report.claims for issue in claim.issues]
    found += [f"{one.supporting.text} / {one.contradicting.text}" for one in report.retrieval.conflicts]
    found += [one.status for one in report.citations if one.status != "valid"]
    return found + list(report.coverage.reasons)


@settings(max_examples=150)
@given(
    st.sampled_from(sorted(GUARDS)),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=3, unique=True),
    st.sampled_from(QUESTIONS),
    st.integers(0, 2),
)
def test_what_is_held_back_has_a_listed_reason(
    preset: str, pieces: list[str], question: str | None, sources: int
) -> None:
    report = GUARDS[preset].check("\n\n".join(pieces), EVIDENCE[:sources], question=question)
    if report.action is not Action.EMIT:
        assert report.decision.reasons
        assert any(text.strip() for text in told(report)), report.decision.reasons
    for claim in report.claims:
        listed = {issue.code for issue in claim.issues}
        if claim.verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED):
            assert listed
        for span in claim.wrong_spans:
            assert report.output[span.start : span.end].strip()
        for one in claim.suggestions:
            assert report.output[one.span.start : one.span.end] == one.before


@pytest.mark.parametrize("preset", sorted(GUARDS))
def test_the_score_in_a_reason_is_the_score_shown(preset: str) -> None:
    report = GUARDS[preset].check("Partners get 4 weeks of paid leave.", EVIDENCE[:1])
    for reason in report.decision.reasons:
        for score in re.findall(r"overall score (\d\.\d+)", reason):
            assert report.overall_score is not None
            assert score == shown_score(report.overall_score)


def test_a_contradiction_that_is_named_is_listed_once() -> None:
    report = Guard().check("Partners get 4 weeks of paid leave.", EVIDENCE[:1])
    wrong = next(claim for claim in report.claims if claim.verdict is Verdict.CONTRADICTED)
    assert [issue.code for issue in wrong.issues] == ["number.mismatch"]


def test_a_denial_that_a_passage_refutes_is_not_said_to_lack_a_passage() -> None:
    report = Guard().check("The passages do not say what partners get.", ["Partners get 2 weeks."])
    assert [issue.code for issue in report.claims[0].issues] == ["record.told"]
    assert all("no passage" not in one.reason for cause in report.causes for one in cause.estimates)
