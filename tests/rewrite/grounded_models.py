"""Models for the tests of generation: they read their prompts as data and answer as a test says."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from assay.models.chat.interface import ChatRequest
from assay.prompts import unfenced
from assay.schema import Evidence
from assay.testing import Said, ScriptedChat

LEAVE = Evidence(id="hr-2", text="Partners are entitled to 2 weeks of leave.")
PAY = Evidence(id="hr-3", text="Leave of partners is paid in full.")
NOTICE = Evidence(id="hr-4", text="Partners must give notice of leave 30 days before.")
EVIDENCE = (LEAVE, PAY, NOTICE)
QUESTION = "How long is leave for partners, and is leave paid?"

Line = tuple[str, Sequence[str]]
"""A statement and the ids of the evidence that it cites."""


def shown(request: ChatRequest) -> dict[str, list[Any]]:
    """What stands in the fences of a request, by label."""
    return dict(unfenced(request.messages[-1].content)[1])


def alias_of(request: ChatRequest, evidence_id: str) -> str:
    """The alias under which a piece of the evidence above is shown; the id itself where it is not."""
    texts = {item.id: item.text for item in EVIDENCE}
    found = [one["id"] for one in shown(request)["evidence"] if one["text"] == texts.get(evidence_id)]
    return found[0] if found else evidence_id


def answer(request: ChatRequest, *lines: Line, missing: str = "") -> str:
    statements = [{"text": text, "sources": [alias_of(request, one) for one in sources]} for text, sources in lines]
    return json.dumps({"statements": statements, "missing": missing})


def saying(*answers: list[Line] | Said) -> ScriptedChat:
    """A model that gives these answers in turn, the last one again and again."""
    left = list(answers)

    def speak(request: ChatRequest) -> Said:
        now = left.pop(0) if len(left) > 1 else left[0]
        return answer(request, *now) if isinstance(now, list) else now

    return ScriptedChat(speak)


def by_purpose(**speakers: Callable[[ChatRequest], Said]) -> ScriptedChat:
    """A model that answers by what a prompt holds: `answers` where it has questions, `questions` where it has claims,
    `strict` where statements were rejected, else `draft`."""

    def speak(request: ChatRequest) -> Said:
        held = shown(request)
        kind = next(
            (
                k
                for k, label in (("answers", "questions"), ("questions", "claims"), ("strict", "rejected"))
                if label in held
            ),
            "draft",
        )
        return speakers[kind](request)

    return ScriptedChat(speak)


TRUE: Line = ("Partners are entitled to 2 weeks of leave.", ["hr-2"])
PAID: Line = ("Leave of partners is paid in full.", ["hr-3"])
FALSE: Line = ("Partners are entitled to 4 weeks of leave.", ["hr-2"])
