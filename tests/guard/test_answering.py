"""Whether to answer is a part of the decision where the policy file says so, and loosens nothing."""

import asyncio
import json
import math
from datetime import date

import pytest

from assay.errors import InputError
from assay.guard import Guard
from assay.guard.check.report.abstention import limits_from, model_from
from assay.models.chat.interface import ChatRequest, Choice, TokenLogprob
from assay.policy import Abstaining, Policy, permissiveness, preset
from assay.prompts import unfenced
from assay.schema import Action, Evidence
from assay.schema.report_parts.abstention import Answering
from assay.testing import FakeScorer, ScriptedChat

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


def reasons(**settings: object) -> str:
    """Why an answer that is right is held back, or what becomes of it."""
    asked = {name: settings.pop(name) for name in ("entropy", "as_of") if name in settings}
    if "entropy_limit" in settings:
        settings["entropy"] = settings.pop("entropy_limit")
    dated = Evidence(id="d", text=EVIDENCE[0], effective_date=date(2020, 1, 1))
    report = guard_with(high=0.5, low=0.1, **settings).check(ANSWER, [dated], question=QUESTION, **asked)  # type: ignore[arg-type]
    assert report.abstention is not None
    assert (report.action is Action.EMIT) == (report.abstention.outcome is Answering.RESPOND)
    return report.abstention.reason


def test_a_model_that_was_undecided_between_words_is_not_relied_on() -> None:
    assert reasons(entropy=0.1) == "confident"
    assert reasons(entropy=0.9) == "high_entropy"
    assert reasons(entropy=0.9, entropy_limit=0.95) == "confident"


def test_evidence_is_stale_on_the_day_that_the_answer_is_for() -> None:
    assert reasons() == "confident"
    assert reasons(as_of="2021-01-01") == "confident"
    assert reasons(as_of="2026-01-01") == "stale"
    assert reasons(as_of="2026-01-01", staleness_days=9999) == "confident"


def test_a_question_outside_of_the_scope_of_a_service_is_not_answered() -> None:
    assert reasons(scope=["Prices and opening hours of the hall and its doors"]) == "confident"
    assert reasons(scope=["parental leave, pay and pensions"]) == "out_of_domain"


def test_entropy_is_a_share() -> None:
    for wrong in (-0.1, 1.5, True, "0.5", math.nan):
        with pytest.raises(InputError, match="entropy"):
            guard_with().check(ANSWER, EVIDENCE, entropy=wrong)  # type: ignore[arg-type]


def test_entropy_names_another_run() -> None:
    guard = Guard("general", scorer=FakeScorer())
    runs = {guard.check(ANSWER, EVIDENCE, entropy=entropy).run_id for entropy in (None, 0.1, 0.2)}
    assert len(runs) == 3


@pytest.mark.parametrize(("chance", "reason"), [(0.99, "confident"), (0.34, "high_entropy")])
def test_a_generated_answer_counts_how_sure_its_model_was(chance: float, reason: str) -> None:
    others = tuple((f"other{n}", math.log((1 - chance) / 2)) for n in range(2))

    def speak(request: ChatRequest) -> Choice:
        assert request.logprobs
        (passage,) = dict(unfenced(request.messages[-1].content)[1])["evidence"]
        text = json.dumps({"statements": [{"text": ANSWER, "sources": [passage["id"]]}], "missing": ""})
        return Choice(text, logprobs=(TokenLogprob("word", math.log(chance), others),) * 5)

    chat = ScriptedChat(speak)
    report = guard_with(high=0.5, low=0.1).generate(QUESTION, EVIDENCE, llm=chat)
    assert report.abstention is not None
    assert report.abstention.reason == reason
    certainty = next(one for one in report.abstention.signals if one.name == "certainty")
    assert certainty.value is not None


def test_without_such_a_policy_no_log_probabilities_are_asked_for() -> None:
    chat = ScriptedChat([json.dumps({"statements": [], "missing": "all of it"})])
    Guard("general", scorer=FakeScorer()).generate(QUESTION, EVIDENCE, llm=chat)
    assert not chat.requests[0].logprobs
