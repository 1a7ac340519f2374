"""Checks ask a chat model again on critical claims where the policy says so, within a budget, and fail closed."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import ChatError, InputError
from assay.guard import CheckRequest, Guard
from assay.models.chat.interface import ChatRequest
from assay.models.chat.meter import Budget
from assay.policy import Policy, preset
from assay.prompts import unfenced
from assay.schema import Action, HallucinationReport, Verdict
from assay.testing import FakeScorer, ScriptedChat

EVIDENCE = ["The door costs 7 euros."]
ANSWER = "The door costs 7 euros."
QUESTION = "What does the door cost?"

PROBING = Policy.model_validate({**preset("general").model_dump(), "consistency_probes": True})


def guard_with(said: Any, **options: Any) -> tuple[Guard, ScriptedChat]:
    chat = ScriptedChat(said)
    return Guard(PROBING, scorer=FakeScorer(), llm=chat, **options), chat


def always(text: str) -> Callable[[ChatRequest], str]:
    return lambda request: text if request else ""


def test_a_claim_that_the_model_repeats_passes() -> None:
    guard, chat = guard_with(always(ANSWER))
    report = guard.check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.action is Action.EMIT
    (probe,) = report.consistency_probes
    assert (probe.claim, probe.agreement) == (ANSWER, 1.0)
    assert report.metrics["self_consistency"].value == 1.0
    assert [(one.purpose, one.requests) for one in report.spending] == [("probe", len(chat.requests))]


def test_a_claim_that_it_denies_goes_back() -> None:
    guard, _ = guard_with(always("The door costs 9 euros."))
    report = guard.check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.action is Action.REVISE
    assert any("another answer when asked again" in reason for reason in report.decision.reasons)


def test_nothing_is_asked_about_what_fails_already() -> None:
    guard, chat = guard_with(always(ANSWER))
    report = guard.check("The door costs 5 euros.", EVIDENCE, question=QUESTION)
    assert chat.requests == []
    assert report.metrics["self_consistency"].undefined is not None
    assert report.spending == ()


@pytest.mark.parametrize("said", [always(""), lambda request: ChatError("down")])
def test_a_model_that_says_nothing_keeps_the_answer_from_passing(said: Any) -> None:
    guard, _ = guard_with(said)
    report = guard.check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.action is not Action.EMIT
    assert any("could not be asked about again" in reason for reason in report.decision.reasons)


def test_a_budget_that_is_spent_keeps_it_from_passing() -> None:
    guard, chat = guard_with(always(ANSWER), budget=Budget(calls=1))
    report = guard.check(ANSWER, EVIDENCE, question=QUESTION)
    assert report.action is not Action.EMIT
    assert len(chat.requests) == 1


def test_every_check_has_an_account_of_its_own() -> None:
    guard, _ = guard_with(always(ANSWER), budget=Budget(calls=4))
    row = {"answer": ANSWER, "evidence": EVIDENCE, "question": QUESTION}
    assert [report.action for report in guard.check_many([row] * 3)] == [Action.EMIT] * 3


def test_a_caller_may_have_nothing_asked_but_a_request_may_not() -> None:
    guard, chat = guard_with(always("The door costs 9 euros."))
    report = guard.check(ANSWER, EVIDENCE, question=QUESTION, asks=False)
    assert (report.action, report.claims[0].verdict) == (Action.REVISE, Verdict.UNCHECKED)
    assert any("asks=False" in reason for reason in report.decision.reasons)
    assert chat.requests == []
    assert guard_with(always(""))[0].check("Good morning.", EVIDENCE, asks=False, claim_free=True).action == "emit"
    with pytest.raises(InputError, match="asks"):
        CheckRequest.from_mapping({"answer": ANSWER, "asks": False})


def test_without_the_policy_nothing_is_asked() -> None:
    chat = ScriptedChat([])
    assert Guard("general", scorer=FakeScorer(), llm=chat).check(ANSWER, EVIDENCE).action is Action.EMIT
    assert chat.requests == []


def test_what_the_policy_requires_and_no_model_could_do_keeps_the_answer_back_and_says_what_to_set() -> None:
    report = Guard(PROBING, scorer=FakeScorer()).check(ANSWER, EVIDENCE)
    assert report.action is Action.REVISE
    assert any("could not be asked about again" in one and "--llm" in one for one in report.decision.reasons)
    assert [claim.verdict for claim in report.claims] == [Verdict.UNCHECKED]
    assert report.coverage.unchecked == len(ANSWER)


JUDGING = Policy.model_validate({**preset("general").model_dump(), "judge": "all"})
RUN = {"run_id": "r", "messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]}


def drafting(request: ChatRequest) -> str:
    """A model that answers from the evidence, and only that: whoever asks it otherwise gets nothing."""
    held = dict(unfenced(request.messages[-1].content)[1])
    if request.schema is None or "evidence" not in held:
        return ""
    sources = [held["evidence"][0]["id"]]
    return json.dumps({"statements": [{"text": ANSWER, "sources": sources}], "missing": ""})


WAYS: dict[str, Callable[[Guard], HallucinationReport]] = {
    "check": lambda guard: guard.check(ANSWER, EVIDENCE),
    "check, asking nobody": lambda guard: guard.check(ANSWER, EVIDENCE, asks=False),
    "acheck": lambda guard: asyncio.run(guard.acheck(ANSWER, EVIDENCE)),
    "check_many": lambda guard: next(guard.check_many([{"answer": ANSWER, "evidence": EVIDENCE}])),
    "check_run": lambda guard: guard.check_run(RUN, evidence=EVIDENCE),
    "a document": lambda guard: guard.check(json.dumps({"door": "7 euros"}), EVIDENCE, schema={"type": "object"}),
    "repair of what holds": lambda guard: guard.repair(ANSWER, EVIDENCE),
    "repair of what does not": lambda guard: guard.repair("The door costs 5 euros.", EVIDENCE, question=QUESTION),
    "repair, asking nobody": lambda guard: guard.repair(ANSWER, EVIDENCE, asks=False),
    "repair that removes": lambda guard: guard.repair(f"{ANSWER} It is green.", EVIDENCE, attempts=0, remove=True),
    "arepair": lambda guard: asyncio.run(guard.arepair(ANSWER, EVIDENCE)),
    "repair by a model": lambda guard: guard.repair(ANSWER, EVIDENCE, llm=ScriptedChat(always(""))),
    "generate": lambda guard: guard.generate(QUESTION, EVIDENCE, llm=ScriptedChat(drafting)),
    "generate, asking nobody": lambda guard: guard.generate(QUESTION, EVIDENCE, llm=ScriptedChat(drafting), asks=False),
    "agenerate": lambda guard: asyncio.run(guard.agenerate(QUESTION, EVIDENCE, llm=ScriptedChat(drafting))),
}


@pytest.mark.parametrize("policy", [PROBING, JUDGING, preset("high-stakes")], ids=["probes", "judge", "high-stakes"])
@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_a_report_emits_what_a_required_stage_did_not_look_at(way: str, policy: Policy) -> None:
    assert WAYS[way](Guard("general", scorer=FakeScorer())).action is Action.EMIT
    report = WAYS[way](Guard(policy, scorer=FakeScorer()))
    assert report.action is not Action.EMIT
    assert report.consistency_probes == ()
    told = [*report.decision.reasons, *(report.judge.notes if report.judge else ())]
    uncited = policy.name == "high-stakes" and any("citation" in one for one in told)
    # It is no other fault that holds it back, but for what the strictest policy asks for besides.
    assert uncited or any(claim.verdict is Verdict.UNCHECKED for claim in report.claims)


def test_who_writes_an_answer_is_asked_again_where_the_guard_has_nobody_else() -> None:
    chat = ScriptedChat(lambda request: drafting(request) or ANSWER)
    report = Guard(PROBING, scorer=FakeScorer()).generate(QUESTION, EVIDENCE, llm=chat)
    assert report.action is Action.EMIT
    assert [(one.claim, one.agreement) for one in report.consistency_probes] == [(ANSWER, 1.0)]
    assert {one.purpose for one in report.spending} == {"draft", "probe"}
    repaired = Guard(PROBING, scorer=FakeScorer()).repair(ANSWER, EVIDENCE, question=QUESTION, llm=chat)
    assert repaired.action is Action.EMIT
    assert len(repaired.consistency_probes) == 1


def test_a_judge_of_all_claims_that_nobody_asked_leaves_them_unchecked() -> None:
    policy = Policy(**{**preset("general").model_dump(), "judge": "all"})
    report = Guard(policy, scorer=FakeScorer()).check(ANSWER, EVIDENCE)
    assert report.action is Action.REVISE
    assert report.judge is not None
    assert report.judge.unchecked == 1
    assert any("--llm" in note for note in report.judge.notes)


def test_a_run_under_a_policy_that_requires_probes_is_held_back_without_a_model() -> None:
    run = {"run_id": "r", "messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]}
    report = Guard(PROBING, scorer=FakeScorer()).check_run(run, evidence=EVIDENCE)
    assert report.action is not Action.EMIT
    assert any("could not be asked about again" in one for one in report.decision.reasons)


def test_sync_async_and_many_give_the_same_report() -> None:
    def plain(report: HallucinationReport) -> dict[str, Any]:
        return report.model_dump(exclude={"timing"})

    def guard() -> Guard:
        return guard_with(always("The door costs 9 euros."))[0]

    one = guard().check(ANSWER, EVIDENCE, question=QUESTION)
    other = asyncio.run(guard().acheck(ANSWER, EVIDENCE, question=QUESTION))
    (third,) = guard().check_many([{"answer": ANSWER, "evidence": EVIDENCE, "question": QUESTION}])
    assert plain(one) == plain(other) == plain(third)


def test_a_repaired_answer_is_asked_about_once_and_at_the_end() -> None:
    fixed = json.dumps({"corrections": [{"number": 1, "text": ANSWER, "sources": []}]})
    guard, chat = guard_with(lambda r: fixed if r.schema is not None else "The door costs 9 euros.")
    report = guard.repair("The door costs 5 euros.", EVIDENCE, question=QUESTION)
    assert report.output == ANSWER
    assert report.action is not Action.EMIT
    assert report.revision is not None
    assert not report.revision.converged
    assert [one.purpose for one in report.spending] == ["repair", "probe"]
    assert sum(one.schema is not None for one in chat.requests) == 1
