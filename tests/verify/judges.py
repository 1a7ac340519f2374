"""Scripted judges for tests: they read their prompt as a model would, and answer by a rule that a test gives them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from assay.models.chat.interface import ChatRequest
from assay.prompts import unfenced
from assay.testing import ScriptedChat

Verdicts = Mapping[int, tuple[str, tuple[tuple[str, str], ...]]]
"""By question the verdict and its quotes, each an alias and words; PASS without quotes where a question is missing."""
Rule = Callable[[str, Mapping[str, str]], Verdicts]
"""A statement and the passages by alias, and what is said of it."""

NOT_FOUND: Verdicts = {1: ("FAIL", ())}


def seal_of(request: ChatRequest) -> str:
    """The token that the prompt asks to be repeated."""
    said = request.messages[0].content
    return said.split('"seal" is the sign ', 1)[1].split(",", 1)[0]


def data_of(request: ChatRequest) -> dict[str, list[dict[str, Any]]]:
    """What stands in the fences, by label."""
    return dict(unfenced(request.messages[-1].content)[1])


def is_control(statement: str) -> bool:
    """Whether a statement is the one that was made wrong."""
    return ", as of " in statement and statement.rstrip(".")[-4:-2] == "18"


def answers(request: ChatRequest, rule: Rule) -> dict[str, Any]:
    """The answer of a judge that follows a rule."""
    held = data_of(request)
    passages = {one["id"]: one["text"] for one in held["evidence"]}
    said = []
    for one in held["statements"]:
        verdicts = NOT_FOUND if is_control(one["text"]) else rule(one["text"], passages)
        for question in range(1, 6):
            verdict, quotes = verdicts.get(question, ("PASS", ()))
            said.append(
                {
                    "statement": one["statement"],
                    "question": question,
                    "verdict": verdict,
                    "quotes": [{"source": alias, "text": text} for alias, text in quotes],
                    "because": "It says so.",
                }
            )
    return {"seal": seal_of(request), "answers": said}


def judge(rule: Rule, more: Callable[[ChatRequest], dict[str, Any]] | None = None) -> ScriptedChat:
    """A model that judges by a rule; what it says of omissions is `more`, by default that none is left out."""

    def says(request: ChatRequest) -> str:
        if "statements" in data_of(request):
            return json.dumps(answers(request, rule))
        made = more(request) if more is not None else {}
        return json.dumps({"seal": seal_of(request), "answers": [], "more": [], **made})

    return ScriptedChat(says, name="judge")


def supported_by(alias_text: Mapping[str, str]) -> Rule:
    """A rule that finds every statement in the given words of the given passages."""
    quotes = tuple(alias_text.items())
    return lambda _statement, _passages: {1: ("PASS", quotes)}


def first_passage(_statement: str, passages: Mapping[str, str]) -> Verdicts:
    """A rule that finds everything in the first passage."""
    alias, text = next(iter(passages.items()))
    return {1: ("PASS", ((alias, text),))}
