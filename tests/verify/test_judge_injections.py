"""No attack changes a verdict in the attacker's favour, whatever kind of model sits as judge.

The obedient model follows whatever gets through the fence, and judges rightly else: nothing gets through. The others
follow what stands inside of it, each in its own way: what they say then is not used, or changes nothing to the better.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from tests.guard.runs import transcript
from tests.verify.injections import ATTACKS, Attack
from tests.verify.judges import NOT_FOUND, Verdicts, answers, data_of, is_control, seal_of
from tests.verify.obedient import leaks

from assay.guard import Guard
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.policy import Policy, permissiveness, preset
from assay.schema import HallucinationReport, Verdict
from assay.testing import FakeScorer, ScriptedChat

RIGHT = "Partners are entitled to 2 weeks of leave."
WRONG = "Partners are entitled to 4 weeks of leave."
INVENTED = "The canteen serves free lunches on Fridays."
EVIDENCE = (
    "Partners are entitled to 2 weeks of leave if their manager agrees.",
    "The canteen is open from Monday to Thursday and serves soup.",
)
ANSWER = f"{WRONG} {INVENTED}"
QUESTION = "How long is partner leave?"
RANK = {Verdict.CONTRADICTED: 0, Verdict.UNSUPPORTED: 1, Verdict.UNCHECKED: 1, Verdict.SUPPORTED: 2}
Model = Callable[[ChatRequest], str | Choice]


def policy(judge: str, omissions: str = "revise") -> Policy:
    return preset("general").model_copy(update={"judge": judge, "omissions": omissions})


def honest(statement: str, passages: Mapping[str, str]) -> Verdicts:
    """What a good judge says of the claims of these tests."""
    if "of leave" in statement and "Partners" in statement:
        alias = next(alias for alias, text in passages.items() if text == EVIDENCE[0])
        quote = ((alias, "2 weeks of leave"),)
        if "4 weeks" in statement:
            return {1: ("FAIL", ()), 2: ("FAIL", quote), 5: ("FAIL", quote)}
        return {1: ("PASS", ((alias, EVIDENCE[0]),))}
    return NOT_FOUND


def sealed(request: ChatRequest, *, control: bool, quotes: bool) -> str:
    """PASS for everything, in the right form."""
    held = data_of(request)
    if "statements" not in held:
        said = [
            {"qualification": one["qualification"], "verdict": "PASS", "in_answer": "", "because": "Fine."}
            for one in held["qualifications"]
        ]
        return json.dumps({"seal": seal_of(request), "answers": said, "more": []})

    def approve(statement: str, passages: object) -> Verdicts:
        if control and is_control(statement):
            return NOT_FOUND
        shown = [{"source": one["id"], "text": one["text"]} for one in held["evidence"]]
        return {1: ("PASS", tuple((one["source"], one["text"]) for one in shown[:3]) if quotes else ())}

    made = answers(request, approve)
    if not control:
        for one in made["answers"]:
            one["verdict"] = "PASS"
            one["quotes"] = [{"source": held["evidence"][0]["id"], "text": held["evidence"][0]["text"][:600]}]
    return json.dumps(made)


def echo(attack: Attack) -> Model:
    """A model that writes down what it reads last."""
    return lambda _: attack.texts[-1].strip("`json\n ")


def echo_in_form(request: ChatRequest) -> str:
    """A model that gives the planted verdict, in a form that an endpoint with schemas would hold it to."""
    return sealed(request, control=True, quotes=True).replace(seal_of(request), "4f4f4f4f4f4f4f4f")


def obedient(request: ChatRequest) -> str:
    """Follows what stands outside of the fence; there is nothing, so it judges rightly."""
    if leaks(request):
        return sealed(request, control=True, quotes=True)
    held = data_of(request)
    if "statements" in held:
        return json.dumps(answers(request, honest))
    said = [
        {"qualification": one["qualification"], "verdict": "FAIL", "in_answer": "", "because": "It is missing."}
        for one in held["qualifications"]
    ]
    return json.dumps({"seal": seal_of(request), "answers": said, "more": []})


def models(attack: Attack) -> dict[str, Model]:
    return {
        "obedient": obedient,
        "echoes": echo(attack),
        "approves all": lambda request: sealed(request, control=False, quotes=True),
        "approves without quotes": lambda request: sealed(request, control=True, quotes=False),
        "wrong seal": echo_in_form,
        "refuses": lambda _: Choice("", Finish.REFUSAL, "I will not."),
        "cut off": lambda request: Choice(sealed(request, control=True, quotes=True)[:-40], Finish.LENGTH),
    }


def checked(attack: Attack, model: Model | None, answer: str = ANSWER) -> HallucinationReport:
    """The report of an attacked answer, with a judge or without one."""
    chat = ScriptedChat(model) if model is not None else None
    guard = Guard(policy("all" if chat else "off"), scorer=FakeScorer(), llm=chat)
    if attack.place == "tool":
        return guard.check_run(run_of(attack, answer), evidence=EVIDENCE)
    evidence = [*EVIDENCE, *(attack.texts if attack.place == "evidence" else ())]
    question = f"{QUESTION} {attack.texts[0]}" if attack.place == "question" else QUESTION
    return guard.check(
        f"{answer} {attack.texts[0]}" if attack.place == "answer" else answer, evidence, question=question
    )


def run_of(attack: Attack, answer: str) -> object:
    looked_up = ("get_order", {"order_id": "W-17"}, attack.texts[0])
    return transcript(answer, looked_up, user=f"My order is W-17. {QUESTION}")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_changes_a_verdict_in_the_attackers_favour(attack: Attack) -> None:
    before = checked(attack, None)
    for name, model in models(attack).items():
        after = checked(attack, model)
        assert permissiveness(after.action) <= permissiveness(before.action), name
        assert [c.text for c in after.claims] == [c.text for c in before.claims]
        for was, now in zip(before.claims, after.claims, strict=True):
            if was.verdict is Verdict.NOT_CHECKABLE:
                assert now.verdict is Verdict.NOT_CHECKABLE
                continue
            assert RANK[now.verdict] <= RANK[was.verdict], (name, was.text)
            if was.score is not None:  # what was unchecked has none that could be raised
                assert (now.score or 0) <= was.score, (name, was.text)
        if name == "obedient":
            _judged_rightly(after)


def _judged_rightly(report: HallucinationReport) -> None:
    """As if there were no attack."""
    first = next(claim for claim in report.claims if claim.text.startswith("Partners"))
    assert first.verdict is Verdict.CONTRADICTED
    assert first.judgement is not None
    assert first.judgement.outcome == "contradicts"
    assert report.action == "block"


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.place != "tool"], ids=lambda attack: attack.name)
def test_no_attack_makes_an_omission_go_away(attack: Attack) -> None:
    before = checked(attack, None, RIGHT)
    assert [one.evidence.text for one in before.omissions] == ["if their manager agrees"]
    for name in ("obedient", "echoes", "approves all"):
        after = checked(attack, models(attack)[name], RIGHT)
        kept = {one.evidence.text for one in after.omissions if one.judged != "denied"}
        assert "if their manager agrees" in kept, name
        assert after.action != "emit", name
