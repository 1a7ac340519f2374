"""Whether any passage speaks of what was asked, where the answer ends a conversation: as for a single answer."""

from typing import Any

import pytest

from assay.guard import Guard
from assay.schema import HallucinationReport
from assay.testing import FakeScorer

METAL = "Tungsten is a metal. Tungsten melts at 3422 °C."
ANSWER = "Tungsten melts at 3422 °C."
LEAVE = "How long is partners' leave?"
PARTNERS = "Partners are entitled to 2 weeks of paid leave."
LONG = f"{METAL} {'The shop sells rods of many sizes and shapes to all who need them. ' * 8}"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def checked(*messages: dict[str, Any], evidence: Any = None, **more: Any) -> HallucinationReport:
    return Guard(scorer=FakeScorer()).check_run({"run_id": "r", "messages": list(messages)}, evidence=evidence, **more)


@pytest.mark.parametrize(
    ("messages", "more"),
    [
        ([user(LEAVE)], {"evidence": [METAL]}),
        ([user(LEAVE)], {"evidence": [METAL, "Rods are sold by weight."]}),
        ([{"role": "system", "content": METAL}, user(LEAVE)], {"sources": ["system"]}),
        ([user(f"{LONG}\n\n{LEAVE}")], {}),
        ([user(f"[m-1] {METAL}\n\n{LEAVE}")], {}),
        ([user(f'<document id="m">{METAL}</document>\n{LEAVE}')], {}),
        ([user("Good morning."), answer("Good morning!"), user(LEAVE)], {"evidence": [METAL]}),
        ([user("Please help me."), user("And when was that?")], {"evidence": [METAL], "question": LEAVE}),
    ],
)
def test_an_answer_from_passages_on_something_else_is_withheld(
    messages: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    report = checked(*messages, answer(ANSWER), **more)
    assert report.action == "block"
    assert "No evidence covers the question." in report.decision.reasons


CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"of": "W"}'}}


@pytest.mark.parametrize(
    "messages",
    [
        [user("What happens to tungsten when it is hot?"), answer("It melts."), user("At which temperature is that?")],
        [user("Tell me something.")],
        [user("And for children?")],
        [
            user(LEAVE),
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": METAL},
        ],
    ],
)
def test_follow_ups_requests_and_what_tools_were_asked_for_are_left_alone(messages: list[dict[str, Any]]) -> None:
    report = checked(*messages, answer(ANSWER), evidence=[METAL])
    assert [issue.code for issue in report.issues] == []
    assert report.claims[0].verdict == "supported"


@pytest.mark.parametrize("passage", [{"evidence": [PARTNERS]}, {"evidence": [PARTNERS, "Notice is given in writing."]}])
def test_a_part_of_the_question_that_nothing_tells_of_is_told(passage: dict[str, Any]) -> None:
    asked = user("How long is the leave of partners and of mothers?")
    report = checked(asked, answer("Partners are entitled to 2 weeks of paid leave."), **passage)
    assert report.untold == ("mothers",)
    assert "The question asks about “mothers”; no passage has a word of it." in report.coverage.reasons
    said = checked(asked, answer(f"{PARTNERS} Nothing is said of mothers."), **passage)
    assert said.untold == ()
