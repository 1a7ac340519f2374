"""Respond, respond with caveats, abstain."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.guard import Guard
from assay.models.chat.interface import TokenLogprob
from assay.policy import preset
from assay.rewrite.answers.abstention import MARK, NOTE, Limits, Situation, decide_answer, fired, with_caveats
from assay.rewrite.answers.confidence_signals import (
    assess,
    domain_match,
    entropy_of,
    limits_of,
    question_share,
    situation_of,
    staleness,
    with_abstention,
)
from assay.schema import ClaimKind, ClaimReport, ClaimStatus, Evidence, HallucinationReport, Span, Verdict
from assay.schema.report_parts.abstention import AbstentionTrigger, Answering, Caveat
from assay.testing import FailingScorer, FakeScorer

ORDER = (Answering.RESPOND, Answering.PARTIAL_WITH_CAVEATS, Answering.ABSTAIN)
TEXT = "Leave is 16 weeks. It is paid."
SURE = Situation(groundedness=0.95, consistency=0.95, retrieval_quality=0.9, coverage=0.9, relevant_evidence=2)


def claim(start: int, end: int, score: float | None, verdict: Verdict = Verdict.SUPPORTED) -> ClaimReport:
    return ClaimReport(
        text=TEXT[start:end],
        span=Span(start=start, end=end),
        kind=ClaimKind.FACTUAL,
        critical=False,
        verdict=verdict,
        score=score,
        status=ClaimStatus.PASS,
    )


FIRST, SECOND = claim(0, 18, 0.97), claim(19, 30, 0.95)
WEAK = claim(19, 30, 0.45)


def test_a_sure_answer_is_given_as_it_is() -> None:
    found = decide_answer(TEXT, [FIRST, SECOND], SURE)
    assert (found.outcome, found.reason, found.response) == (Answering.RESPOND, "confident", None)


def test_weak_claims_are_marked_at_their_places() -> None:
    found = decide_answer(TEXT, [FIRST, WEAK], SURE)
    assert (found.outcome, found.reason) == (Answering.PARTIAL_WITH_CAVEATS, "weak_claims")
    assert found.response == f"Leave is 16 weeks. It is paid.{MARK}\n\n{NOTE}"
    assert [TEXT[c.span.start : c.span.end] for c in found.caveats] == ["It is paid."]
    assert found.suggested_actions == ("check_marked_claims",)


@pytest.mark.parametrize(
    ("situation", "trigger"),
    [
        (Situation(relevant_evidence=0), AbstentionTrigger.NO_RELEVANT_EVIDENCE),
        (Situation(coverage=0.1), AbstentionTrigger.LOW_COVERAGE),
        (Situation(entropy=0.9), AbstentionTrigger.HIGH_ENTROPY),
        (Situation(consistency=0.5), AbstentionTrigger.INCONSISTENT),
        (Situation(domain_match=0.0), AbstentionTrigger.OUT_OF_DOMAIN),
        (Situation(staleness_days=5000), AbstentionTrigger.STALE),
    ],
)
def test_each_of_the_six_triggers_abstains_with_a_reason_and_what_to_do(
    situation: Situation, trigger: AbstentionTrigger
) -> None:
    assert [one.trigger for one in fired(situation, Limits())] == [trigger]
    found = decide_answer(TEXT, [FIRST, SECOND], situation)
    assert (found.outcome, found.reason) == (Answering.ABSTAIN, trigger.value)
    assert found.response
    assert found.suggested_actions


def test_small_talk_needs_no_evidence() -> None:
    assert fired(Situation(relevant_evidence=0, coverage=0.0, requires_facts=False), Limits()) == ()


def test_what_is_contradicted_or_unknown_is_never_given() -> None:
    denied = claim(19, 30, 0.1, Verdict.CONTRADICTED)
    assert decide_answer(TEXT, [FIRST, denied], SURE).reason == "contradicted"
    assert decide_answer(TEXT, [FIRST], Situation()).reason == "unchecked"
    assert decide_answer(TEXT, [FIRST], Situation(consistency=1.0)).outcome is Answering.ABSTAIN
    unchecked = claim(19, 30, None, Verdict.UNCHECKED)
    assert decide_answer(TEXT, [FIRST, unchecked], SURE).outcome is Answering.PARTIAL_WITH_CAVEATS
    assert decide_answer(TEXT, [WEAK], SURE).outcome is Answering.ABSTAIN


def test_the_gate_is_never_loosened() -> None:
    for least in ORDER:
        found = decide_answer(TEXT, [FIRST, SECOND], SURE, at_least=least)
        assert found.outcome is least
    assert "did not pass" in (decide_answer(TEXT, [FIRST], SURE, at_least=Answering.ABSTAIN).response or "")


shares = st.floats(0, 1)


@given(
    before=st.tuples(shares, shares, shares, shares),
    drop=st.tuples(shares, shares, shares, shares),
    scores=st.lists(shares, min_size=1, max_size=3),
    weaker=shares,
)
def test_less_of_anything_never_makes_it_more_permissive(
    before: tuple[float, ...], drop: tuple[float, ...], scores: list[float], weaker: float
) -> None:
    def outcome(values: tuple[float, ...], scores: list[float]) -> int:
        situation = Situation(
            groundedness=values[0],
            consistency=values[1],
            coverage=values[2],
            entropy=1 - values[3],
            relevant_evidence=1,
        )
        claims = [claim(0, 18, score) for score in scores]
        return ORDER.index(decide_answer(TEXT, claims, situation).outcome)

    less = tuple(min(a, b) for a, b in zip(before, drop, strict=True))
    assert outcome(less, scores) >= outcome(before, scores)
    assert outcome(before, [min(scores[0], weaker), *scores[1:]]) >= outcome(before, scores)


@given(text=st.text(max_size=80), start=st.integers(0, 80), length=st.integers(1, 20))
def test_caveats_change_nothing_of_what_was_said(text: str, start: int, length: int) -> None:
    marked = with_caveats(text, [Caveat(claim="x", span=Span(start=start, end=start + length))])
    assert marked.replace(MARK, "").removesuffix(f"\n\n{NOTE}").rstrip() == text.replace(MARK, "").rstrip()


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError):
        Limits(high=0.3, low=0.5)
    with pytest.raises(InputError):
        Limits(coverage=1.5)
    assert limits_of(preset("support-desk")).low == 0.3


EVIDENCE = Evidence(
    id="hr", text="Partners are entitled to 16 weeks of paid leave.", effective_date=date(2025, 1, 1), title="Leave"
)


def checked(answer: str, scorer: FakeScorer | None = None) -> HallucinationReport:
    return Guard("general", scorer=scorer or FakeScorer()).check(
        answer, [EVIDENCE], question="How many weeks of leave do partners get?"
    )


def test_a_report_is_read_with_its_evidence() -> None:
    report = checked("Partners are entitled to 16 weeks of paid leave.")
    found = situation_of(report, [EVIDENCE], today=date(2025, 2, 1), domain=["leave, pay and partners"])
    assert found.relevant_evidence == 1
    assert found.staleness_days == 31
    assert (found.coverage or 0) > 0.5
    assert (found.domain_match or 0) > 0.3
    assert found.consistency is None
    assert found.missing["consistency"] == "the model was not asked again"


def test_the_decision_stands_in_the_report_and_survives_the_wire() -> None:
    report = checked("Partners are entitled to 12 weeks of paid leave.")
    found = with_abstention(report, assess(report, [EVIDENCE]))
    assert found.action is report.action
    assert found.abstention is not None
    assert found.abstention.outcome is Answering.ABSTAIN
    assert HallucinationReport.model_validate_json(found.model_dump_json()) == found


def test_a_checker_that_failed_abstains() -> None:
    report = checked("Partners are entitled to 16 weeks of paid leave.", FailingScorer())
    assert assess(report, [EVIDENCE]).outcome is Answering.ABSTAIN


def test_old_and_expired_evidence() -> None:
    old = EVIDENCE.model_copy(update={"effective_date": date(2010, 1, 1)})
    gone = EVIDENCE.model_copy(update={"expiry_date": date(2020, 1, 1)})
    day = date(2026, 1, 1)
    assert staleness([old, EVIDENCE], day) == 365
    assert (staleness([gone], day) or 0) > 10_000
    assert staleness([Evidence(id="a", text="b")], day) is None


def test_words_of_the_question() -> None:
    assert question_share("How long?", [EVIDENCE]) is None
    assert question_share("Is parking free?", [EVIDENCE]) == 0.0
    assert domain_match("Who won the cup?", ["leave and pay"]) == 0.0


def test_entropy_from_log_probabilities() -> None:
    sure = TokenLogprob("16", math.log(0.999), (("16", math.log(0.999)), ("12", math.log(0.0005))))
    torn = TokenLogprob("16", math.log(0.34), (("16", math.log(0.34)), ("12", math.log(0.33)), ("4", math.log(0.33))))
    assert (entropy_of([sure]) or 0) < 0.05
    assert (entropy_of([torn]) or 0) > 0.75
    assert entropy_of([TokenLogprob("a", 0.0001), TokenLogprob("b", 0.0)]) == 0.0
