"""The judge and omissions in a check: what becomes of verdicts, what the report tells, what it costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.guard.runs import transcript
from tests.verify.judges import NOT_FOUND, Verdicts, data_of, first_passage, judge

from assay.errors import ChatError, PolicyError
from assay.guard import Guard
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.models.chat.meter import Budget
from assay.policy import Policy, parse_policy, permissiveness, preset
from assay.schema import Action, Category, ClaimReport, Evidence, HallucinationReport, Verdict
from assay.testing import FakeScorer, ScriptedChat
from assay.verify.judge.llm_judge import JudgeOptions

HOPS = [
    Evidence(id="a", text="The Arden office is led by Ines Duarte."),
    Evidence(id="b", text="Ines Duarte was born in Porto."),
]
HOP = "The head of the Arden office was born in Porto."
ASKED = "Where was the head of the Arden office born?"
LEAVE = [Evidence(id="hr", text="Partners are entitled to 2 weeks of leave if their manager agrees.")]
RIGHT, WRONG = "Partners are entitled to 2 weeks of leave.", "Partners are entitled to 4 weeks of leave."


def policy(base: str = "general", **fields: Any) -> Policy:
    """Of one claim in two supported, so that words in common alone are no support for the scorer that counts them."""
    return Policy.model_validate({**preset(base).model_dump(), "prior": 0.5, **fields})


def guard(model: ScriptedChat | None, **fields: Any) -> Guard:
    return Guard(policy(**{"judge": "all", **fields}), scorer=FakeScorer(), llm=model)


def everything(_statement: str, passages: Any) -> Verdicts:
    return {1: ("PASS", tuple(passages.items()))}


def nothing(_statement: str, _passages: Any) -> Verdicts:
    return NOT_FOUND


def opposite(_statement: str, passages: Any) -> Verdicts:
    alias, text = next(iter(passages.items()))
    return {1: ("FAIL", ()), 2: ("FAIL", ((alias, text),))}


def without_condition(_statement: str, passages: Any) -> Verdicts:
    alias, text = next(iter(passages.items()))
    return {1: ("PASS", ((alias, text),)), 4: ("FAIL", ((alias, "if their manager agrees"),))}


def only(report: HallucinationReport) -> ClaimReport:
    (claim,) = report.claims
    return claim


def codes(claim: ClaimReport) -> set[str]:
    return {issue.code for issue in claim.issues}


# Verdicts


def test_a_judge_finds_what_takes_two_passages() -> None:
    before = only(guard(None, judge="off").check(HOP, HOPS, question=ASKED))
    assert before.verdict is Verdict.UNSUPPORTED
    assert before.decided_by == "network"
    report = guard(judge(everything), judge="uncertain").check(HOP, HOPS, question=ASKED)
    claim = only(report)
    assert claim.verdict is Verdict.SUPPORTED
    assert claim.decided_by == "judge"
    assert claim.score == 0.9
    assert {span.evidence_id for span in claim.evidence_spans} == {"a", "b"}
    assert claim.judgement is not None
    assert (claim.judgement.outcome, claim.judgement.before, claim.judgement.changed) == (
        "supports",
        Verdict.UNSUPPORTED,
        True,
    )
    assert codes(claim) == {"judge.supports"}
    assert report.action is Action.EMIT


def test_its_word_lifts_no_claim_over_a_stricter_gate() -> None:
    report = guard(judge(everything), base="high-stakes", citations="verify", consistency_probes=False).check(
        HOP, HOPS, question=ASKED
    )
    assert only(report).decided_by == "judge"
    assert report.action is not Action.EMIT


def test_a_contradiction_of_the_exact_tier_stays_one() -> None:
    claim = only(guard(judge(everything)).check(WRONG, LEAVE))
    assert claim.verdict is Verdict.CONTRADICTED
    assert claim.decided_by == "exact"
    assert "judge.supports" in codes(claim)
    assert any("does not count" in issue.message for issue in claim.issues)


def test_a_value_that_no_evidence_has_stays_unsupported() -> None:
    claim = only(guard(judge(everything)).check("The head of the Arden office was born in 1971.", HOPS))
    assert claim.verdict is not Verdict.SUPPORTED


def test_a_judge_takes_support_away() -> None:
    claim = only(guard(judge(nothing)).check(RIGHT, LEAVE))
    assert claim.verdict is Verdict.UNSUPPORTED
    assert claim.score == pytest.approx(0.1)
    assert {"judge.not_found", "claim.unsupported"} <= codes(claim)
    claim = only(guard(judge(opposite)).check("Ines Duarte was born in Porto.", HOPS[1:]))
    assert claim.verdict is Verdict.CONTRADICTED
    assert (claim.decided_by, claim.contradiction) == ("judge", 0.9)
    assert claim.evidence_spans[0].text == HOPS[1].text.rstrip(".")


def test_a_condition_that_the_judge_misses_is_an_omission() -> None:
    report = guard(judge(without_condition), omissions="note").check(
        "Ines Duarte was born in Porto.",
        [Evidence(id="b", text="Ines Duarte was born in Porto, if their manager agrees.")],
    )
    claim = only(report)
    assert claim.verdict is Verdict.UNSUPPORTED
    assert claim.category is Category.COMPLETENESS


# What cannot be used


def broken(said: Any) -> ScriptedChat:
    def speaks(_: ChatRequest) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    return ScriptedChat(speaks)


@pytest.mark.parametrize(
    "said",
    [ChatError("gone"), "Yes.", "{}", Choice("", Finish.REFUSAL, "No."), Choice('{"seal"', Finish.LENGTH)],
    ids=["fails", "prose", "empty", "declines", "cut off"],
)
def test_a_claim_that_passes_is_unchecked_where_the_judge_cannot_be_used(said: Any) -> None:
    evidence = HOPS[1:]
    answer = "Ines Duarte was born in Porto."
    assert guard(None, judge="off").check(answer, evidence).action is Action.EMIT
    report = guard(broken(said)).check(answer, evidence)
    claim = only(report)
    assert claim.verdict is Verdict.UNCHECKED
    assert claim.score is None
    assert claim.decided_by == "judge"
    assert report.action is not Action.EMIT
    assert report.judge is not None
    assert report.judge.unchecked == 1
    assert report.judge.notes
    contradicted = only(guard(broken(said)).check(WRONG, LEAVE))
    assert contradicted.verdict is Verdict.CONTRADICTED
    assert "judge.unchecked" in codes(contradicted)


def test_a_claim_that_the_gate_lets_through_by_its_mean_does_not_pass_unjudged() -> None:
    # Supported, and below the threshold that every claim would have to reach alone: the mean might carry it.
    fields = {"emit_threshold": 0.2, "revise_threshold": 0.1, "block_threshold": 0.05, "support_threshold": 0.1}
    weak = {**fields, "aggregation": "weighted_mean"}
    assert guard(None, judge="off", **weak).check(HOP, HOPS, question=ASKED).action is Action.EMIT
    report = guard(broken("?"), **weak).check(HOP, HOPS, question=ASKED)
    assert report.action is not Action.EMIT


def test_calls_beyond_the_budget_are_unchecked_and_never_clean() -> None:
    model = judge(first_passage)
    answer = "Ines Duarte was born in Porto. Ines Duarte leads nothing. The Arden office is led by Ines Duarte."
    report = Guard(
        policy(judge="all", judge_calls=1), scorer=FakeScorer(), llm=model, judging=JudgeOptions(per_request=1)
    ).check(answer, HOPS)
    assert len(model.requests) == 1
    assert report.judge is not None
    assert (report.judge.chosen, report.judge.unchecked) == (3, 2)
    assert report.action is not Action.EMIT
    spent = Guard(policy(judge="all"), scorer=FakeScorer(), llm=model, budget=Budget(calls=0)).check(answer, HOPS)
    assert spent.judge is not None
    assert spent.judge.unchecked == 3


# Which claims


def test_only_claims_that_the_tiers_are_not_sure_of_are_asked_about() -> None:
    model = judge(everything)
    report = guard(model, judge="uncertain").check(WRONG, LEAVE)
    assert model.requests == []
    assert report.judge is not None
    assert (report.judge.chosen, only(report).judgement) == (0, None)


def test_without_a_model_the_report_says_that_none_was_asked() -> None:
    report = guard(None).check(RIGHT, LEAVE)
    assert report.judge is not None
    assert report.judge.model is None
    assert "no chat model was asked" in report.judge.notes[0]


def test_off_is_off() -> None:
    model = judge(everything)
    report = guard(model, judge="off").check(HOP, HOPS)
    assert model.requests == []
    assert (report.judge, report.omissions, report.spending) == (None, (), ())


@pytest.mark.parametrize("evidence", [None, [], [Evidence(id="a", text=" ")]])
def test_without_evidence_nobody_is_asked(evidence: Any) -> None:
    model = judge(everything)
    report = guard(model).check(RIGHT, evidence)
    assert model.requests == []
    assert report.action is Action.BLOCK


def test_what_was_said_of_a_claim_is_remembered_and_failures_are_not() -> None:
    model = judge(everything)
    kept = guard(model)
    first, second = (kept.check(HOP, HOPS, question=ASKED) for _ in range(2))
    assert len(model.requests) == 1
    assert second.judge is not None
    assert second.judge.remembered == 1
    assert first.claims == second.claims
    kept.check(HOP, HOPS, question="Who?")
    assert len(model.requests) == 2
    failing = broken("?")
    kept = guard(failing)
    for _ in range(2):
        kept.check(HOP, HOPS)
    assert len(failing.requests) == 4


def test_what_was_said_beside_other_passages_is_asked_anew() -> None:
    trains = [Evidence(id=f"n{n}", text=f"Train {n} to Faro leaves platform {n} at noon. " * 12) for n in range(8)]
    model = judge(everything)
    kept = Guard(policy(judge="all"), scorer=FakeScorer(), llm=model, judging=JudgeOptions(evidence_tokens=300))
    kept.check(RIGHT, [*LEAVE, *trains])
    report = kept.check(f"{RIGHT} Train 6 to Faro leaves platform 6 at noon.", [*LEAVE, *trains])
    alone, together = (data_of(request)["evidence"] for request in model.requests[:2])
    assert {one["text"] for one in alone} != {one["text"] for one in together}
    assert report.judge is not None
    assert report.judge.remembered == 0
    assert kept.check(RIGHT, [*LEAVE, *trains]).judge.remembered == 1  # type: ignore[union-attr]


def test_what_was_said_beside_all_of_the_evidence_is_remembered_as_the_answer_grows() -> None:
    kept = guard(judge(everything))
    kept.check(RIGHT, [*LEAVE, *HOPS])
    report = kept.check(f"{RIGHT} Ines Duarte was born in Porto.", [*LEAVE, *HOPS])
    assert report.judge is not None
    assert report.judge.remembered == 1


def test_what_was_said_of_another_version_is_asked_anew() -> None:
    kept = guard(judge(everything))
    for version in ("1", "2"):
        report = kept.check(RIGHT, [LEAVE[0].model_copy(update={"version": version})])
        assert report.judge is not None
        assert report.judge.remembered == 0


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_told() -> None:
    right = judge(everything)

    def stumbles(request: ChatRequest) -> Any:
        first = "This is attempt 1." in request.messages[0].content
        return '{"seal": "' if first else right.complete(request).choices[0]

    report = guard(ScriptedChat(stumbles), omissions="note").check(HOP, HOPS, question=ASKED)
    assert only(report).verdict is Verdict.SUPPORTED
    assert report.judge is not None
    assert (report.judge.asked_again, report.judge.unchecked, report.judge.notes) == (1, 0, ())
    assert [(one.purpose, one.calls) for one in report.spending] == [("judge", 2), ("judge_omissions", 2)]


def test_asking_again_stays_within_the_calls_of_the_policy() -> None:
    model = broken('{"seal": "')
    report = guard(model, judge_calls=1).check(HOP, HOPS, question=ASKED)
    assert len(model.requests) == 1
    assert report.judge is not None
    assert (report.judge.asked_again, report.judge.unchecked) == (0, 1)


def test_evidence_beyond_the_budget_is_told_and_absence_says_nothing_then() -> None:
    long = [*LEAVE, *(Evidence(id=f"n{n}", text=f"Train {n} leaves at noon. " * 40) for n in range(8))]
    narrow = JudgeOptions(evidence_tokens=120)
    report = Guard(policy(judge="all"), scorer=FakeScorer(), llm=judge(nothing), judging=narrow).check(RIGHT, long)
    assert report.judge is not None
    assert not report.judge.evidence_complete
    assert only(report).judgement is not None
    assert only(report).judgement.outcome == "uncertain"  # type: ignore[union-attr]


# The report


def test_the_report_names_the_model_the_prompts_and_the_cost() -> None:
    report = guard(judge(everything), omissions="note").check(HOP, HOPS, question=ASKED)
    assert report.judge is not None
    assert report.judge.model == "judge"
    assert [name.split("@")[0] for name in report.judge.prompts] == ["judge_claims", "judge_omissions"]
    assert (report.judge.answered, report.judge.changed, report.judge.unchecked) == (1, 1, 0)
    assert [one.purpose for one in report.spending] == ["judge", "judge_omissions"]
    assert all(one.calls == 1 and one.completion_tokens for one in report.spending)
    assert HallucinationReport.model_validate_json(report.model_dump_json()) == report


def test_the_asynchronous_check_and_many_at_once_say_the_same() -> None:
    kept = [guard(judge(everything)) for _ in range(3)]
    one = kept[0].check(HOP, HOPS, question=ASKED)
    other = asyncio.run(kept[1].acheck(HOP, HOPS, question=ASKED))
    (third,) = kept[2].check_many([{"answer": HOP, "evidence": HOPS, "question": ASKED}])
    plain = [report.model_dump(exclude={"timing"}) for report in (one, other, third)]
    assert plain[0] == plain[1] == plain[2]


def test_the_order_of_the_evidence_changes_nothing() -> None:
    one, other = (guard(judge(everything)).check(HOP, items, question=ASKED) for items in (HOPS, HOPS[::-1]))
    assert one.model_dump(exclude={"timing", "run_id"}) == other.model_dump(exclude={"timing", "run_id"})


def test_the_final_answer_of_a_run_is_judged_and_its_actions_are_not() -> None:
    model = judge(everything)
    looked_up = ("get_order", {"order_id": "W-17"}, "Order W-17 is led by Ines Duarte. Ines Duarte was born in Porto.")
    report = guard(model).check_run(transcript("Ines Duarte was born in Porto.", looked_up))
    assert report.judge is not None
    assert report.judge.chosen == 1
    assert model.requests


# Omissions


def test_an_omission_is_told_or_sends_the_answer_back() -> None:
    answer = "Remote work is permitted."
    evidence = ["Remote work is permitted in all offices. It requires the approval of a manager."]
    off, note, revise = (
        guard(None, judge="off", omissions=how).check(answer, evidence) for how in ("off", "note", "revise")
    )
    assert off.omissions == ()
    assert [one.kind for one in note.omissions] == ["condition"]
    (issue,) = [one for one in note.issues if one.code.startswith("completeness.")]
    assert issue.evidence is not None
    assert issue.evidence.text == "requires the approval of a manager"
    assert issue.span is not None
    assert note.output[issue.span.start : issue.span.end] == answer
    assert off.action is note.action is Action.EMIT
    assert revise.action is Action.REVISE
    assert any("leaves out 1 qualification" in reason for reason in revise.decision.reasons)


def test_a_condition_that_a_claim_names_already_is_no_second_finding() -> None:
    report = guard(None, judge="off", omissions="note").check(
        "Remote work is permitted.", ["Remote work is permitted subject to manager approval."]
    )
    assert len(report.omissions) == 1
    named = [issue.code for claim in report.claims for issue in claim.issues]
    assert ("condition.dropped" in named) != any(i.code.startswith("completeness.") for i in report.issues)


def test_an_omission_that_the_judge_denies_with_the_answers_words_does_not_count() -> None:
    def denies(_: ChatRequest) -> dict[str, Any]:
        said = {"qualification": 1, "verdict": "PASS", "in_answer": "manager decides", "because": "It does."}
        return {"answers": [said]}

    evidence = ["Remote work is permitted in all offices. It requires the written approval of a direct manager."]
    answer = "Remote work is permitted. Your manager decides."
    plain = guard(None, judge="off", omissions="revise").check(answer, evidence)
    denied = guard(judge(first_passage, denies), omissions="revise").check(answer, evidence)
    assert [one.judged for one in plain.omissions] == ["not_asked"]
    assert [one.judged for one in denied.omissions] == ["denied"]
    assert not [issue for issue in denied.issues if issue.code.startswith("completeness.")]
    assert permissiveness(denied.action) >= permissiveness(plain.action)


# The policy


def test_the_switches_stand_in_policy_files() -> None:
    read = parse_policy(
        "version: 1\npolicy:\n  preset: rag\n  judge: uncertain\n  judge_calls: 4\n  omissions: revise\n", "f"
    )
    assert (read.judge, read.judge_calls, read.omissions) == ("uncertain", 4, "revise")
    with pytest.raises(PolicyError, match="judge"):
        parse_policy("version: 1\npolicy:\n  judge: sometimes\n", "f")


def test_presets_for_answers_to_people_ask_a_judge_about_what_is_uncertain() -> None:
    names = ("general", "rag", "support-desk", "monitor", "high-stakes", "creative")
    assert {name for name in names if preset(name).judge == "uncertain"} == {"rag", "support-desk", "high-stakes"}
    assert {name for name in names if preset(name).judge == "off"} == {"general", "monitor", "creative"}
    assert {name: preset(name).omissions for name in names if preset(name).omissions != "off"} == {
        "rag": "note",
        "high-stakes": "revise",
    }
