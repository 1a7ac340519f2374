"""Short answers are judged as what they answer, and sentences that refer to another one with that in view."""

import pytest

from assay import Guard
from assay.schema import ClaimReport, HallucinationReport, Verdict
from assay.testing import FakeScorer

LEAVE = ["Partners are entitled to 2 weeks of paid leave. Mothers receive 16 weeks."]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


def only(report: HallucinationReport) -> ClaimReport:
    (claim,) = report.claims
    return claim


@pytest.mark.parametrize("answer", ["Yes.", "Yes, they do.", "They do.", "That's right.", "Absolutely!"])
def test_yes_is_as_wrong_as_what_it_says_yes_to(guard: Guard, answer: str) -> None:
    wrong = only(guard.check(answer, LEAVE, question="Do partners get 4 weeks of leave?"))
    assert wrong.verdict is Verdict.CONTRADICTED
    assert answer.rstrip(".!").lower().endswith(wrong.text.rstrip(".!").lower())


def test_no_denies_what_was_asked(guard: Guard) -> None:
    assert only(guard.check("No.", LEAVE, question="Do partners get 2 weeks of paid leave?")).verdict != "supported"
    told = only(guard.check("No.", LEAVE, question="Are partners entitled to 2 weeks of paid leave?"))
    assert told.verdict is Verdict.CONTRADICTED
    assert told.evidence_spans[0].relation == "contradicts"


def test_a_short_answer_is_compared_with_what_was_asked_about(guard: Guard) -> None:
    report = guard.check("16 weeks", LEAVE, question="How long is the paid leave of partners?")
    claim = only(report)
    assert claim.verdict is Verdict.CONTRADICTED
    assert all(issue.span is None or issue.span.end <= len(report.output) for issue in claim.issues)


def test_yes_to_what_cannot_be_made_a_statement_is_unchecked(guard: Guard) -> None:
    report = guard.check("Ja.", LEAVE, question="Bekommen Partner vier Wochen?")
    assert only(report).verdict is Verdict.UNCHECKED
    assert report.action != "emit"
    assert "yes or no" in only(report).issues[0].message


def test_the_yes_before_a_true_sentence_is_a_claim_of_its_own(guard: Guard) -> None:
    output = "Yes, partners are entitled to 2 weeks of paid leave."
    report = guard.check(output, LEAVE, question="Do partners get 4 weeks of leave?")
    assert (report.claims[0].text, report.claims[0].verdict) == ("Yes", Verdict.CONTRADICTED)
    assert report.action != "emit"


def test_a_sentence_that_refers_back_is_read_with_the_one_before(guard: Guard) -> None:
    from assay.text.claims.rule_extractor import RuleClaimExtractor

    found = RuleClaimExtractor().extract("Mothers and partners get leave. These weeks are paid.")
    assert found[-1].before == "Mothers and partners get leave."
    report = guard.check("Partners are entitled to 2 weeks of paid leave. They receive 16 weeks.", LEAVE)
    assert report.claims[-1].text == "Partners receive 16 weeks."


def test_a_sentence_of_the_evidence_is_borne_out_by_itself_whatever_was_asked() -> None:
    told = "Go on measuring twice a day, two hours apart from meals. Goal for the week: below 135 in the morning."
    report = Guard(scorer=FakeScorer()).check(
        "Go on measuring twice a day, two hours apart from meals.", [told], question="What else is there to do?"
    )
    assert (only(report).verdict, report.action) == (Verdict.SUPPORTED, "emit")
