"""Whether to answer is a part of the decision where the policy file says so, and loosens nothing."""

import asyncio

from assay.guard import Guard
from assay.guard.answering import limits_from, model_from
from assay.policy import Abstaining, Policy, permissiveness, preset
from assay.schema import Action
from assay.schema.abstention import Answering
from assay.testing import FakeScorer

EVIDENCE = ["The door of the old hall costs 7 euros."]
ANSWER = "The door of the old hall costs 7 euros."
QUESTION = "What does the door of the old hall cost?"


def guard_with(**settings: object) -> Guard:
    block = Abstaining.model_validate(settings)
    policy = Policy.model_validate({**preset("general").model_dump(), "abstention": block})
    return Guard(policy, scorer=FakeScorer())


def test_without_the_block_nothing_is_decided_about_it() -> None:
    report = Guard("general", scorer=FakeScorer()).check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.abstention is None


def test_a_confident_answer_is_given() -> None:
    report = guard_with(high=0.6).check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.abstention is not None
    assert report.abstention.outcome is Answering.RESPOND
    assert report.action is Action.EMIT


def test_one_that_is_not_confident_enough_is_served_with_a_disclosure_at_best() -> None:
    report = guard_with(high=1.0).check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.abstention is not None
    assert report.abstention.outcome is Answering.PARTIAL_WITH_CAVEATS
    assert (report.action, report.decision.route) == (Action.REVISE, "serve_with_disclosure")
    assert report.labels.abstention == "PARTIAL_WITH_CAVEATS"


def test_evidence_that_does_not_speak_of_the_question_holds_the_answer_back() -> None:
    report = guard_with(high=0.6).check(ANSWER, EVIDENCE, question="Who repairs broken bicycles near Brussels?")
    assert report.abstention is not None
    assert report.abstention.outcome is Answering.ABSTAIN
    assert (report.action, report.decision.route) == (Action.BLOCK, "withhold_knowledge_gap")
    assert report.decision.response == report.abstention.response
    assert report.abstention.suggested_actions


def test_a_fitted_curve_makes_the_confidence_a_probability() -> None:
    report = guard_with(high=0.6, slope=1.2, intercept=0.1, rows=100).check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.abstention is not None
    assert report.abstention.calibrated


def test_what_the_gate_holds_back_stays_held_back_and_an_abstention_stays_one() -> None:
    guard, plain = guard_with(high=0.0, low=0.0, claim=0.0), Guard("general", scorer=FakeScorer())
    for answer in ("The door of the old hall costs 5 euros.", "Trains run at night.", "I do not know.", "", "Hello!"):
        with_block, without = (one.check(answer, EVIDENCE, question=QUESTION) for one in (guard, plain))
        assert permissiveness(with_block.action) <= permissiveness(without.action)
        assert with_block.action is without.action


def test_sync_and_async_decide_alike() -> None:
    guard = guard_with(high=1.0)
    one = guard.check(ANSWER, EVIDENCE, question=QUESTION)
    other = asyncio.run(guard.acheck(ANSWER, EVIDENCE, question=QUESTION))
    assert one.model_dump(exclude={"timing"}) == other.model_dump(exclude={"timing"})


def test_the_settings_of_a_file_are_those_of_the_decision() -> None:
    settings = Abstaining(high=0.7, low=0.2, staleness_days=30, slope=2.0, intercept=-1.0, rows=60)
    limits, model = limits_from(settings), model_from(settings)
    assert (limits.high, limits.low, limits.staleness_days) == (0.7, 0.2, 30)
    assert (model.slope, model.intercept, model.rows, model.calibrated) == (2.0, -1.0, 60, True)
