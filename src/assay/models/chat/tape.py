"""A record of the answers of a chat model in one check, with which the check can be run again without the model.

A tape is a JSON value. It names requests by their digests (their content follows from the check), and has the answers
to each in order. Failures are on it too: a judge that could not be asked is part of how a decision came about.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from assay.errors import AnswerError, BudgetError, ChatError
from assay.models.chat.interface import ChatRequest, Completion

FORM: Final = 1
"""The version of the form of tapes."""
ERRORS: Final[Mapping[str, type[ChatError]]] = {"answer": AnswerError, "budget": BudgetError, "chat": ChatError}
"""The errors on a tape by their kind, subclasses first."""
_REQUESTS: Final = 1
"""The version of request keys; raised whenever their content changes."""


def request_key(digest: str, request: ChatRequest) -> bytes:
    """The key of a request to one model: everything that its answer depends on, and so not its timeout."""
    content = {
        "form": _REQUESTS,
        "model": digest,
        "messages": [[one.role, one.content] for one in request.messages],
        "schema": request.schema,
        "settings": [request.temperature, request.n, request.logprobs, request.max_tokens, request.seed],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()


def name_of(request: ChatRequest) -> str:
    """The name of a request on a tape: as `request_key`, without the model."""
    return request_key("", request).hex()


def joined(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What chat models answered in two parts of one check, in order."""
    if first is None or second is None:
        return first or second
    recorded = [one for one in (first, second) if "answers" in one]
    known = {key: value for one in recorded for key, value in one.get("known", {}).items()}
    asked = [one["knowledge"] for one in (first, second) if "knowledge" in one]
    made: dict[str, Any] = {**first, **second}
    if recorded:
        made |= {**recorded[0], "answers": [answer for one in recorded for answer in one["answers"]], "known": known}
    if asked:
        outcomes = [outcome for one in asked for outcome in one["outcomes"]]
        made["knowledge"] = {**asked[0], "outcomes": outcomes}
    return made


def with_knowledge(tape: Mapping[str, Any] | None, knowledge: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A tape with what sources of knowledge said in the course of the check (`assay.knowledge`); either may be none."""
    if knowledge is None:
        return tape
    return {**({"form": FORM} if tape is None else tape), "knowledge": knowledge}


class Tape:
    """Written as a check goes on. Safe to use from several threads."""

    def __init__(self) -> None:
        """An empty one."""
        self._lock = threading.Lock()
        self._answers: list[dict[str, Any]] = []
        self._known: dict[str, Any] = {}

    def said(self, purpose: str, request: ChatRequest, made: Completion) -> None:
        """The model answered."""
        self._add({"purpose": purpose, "request": name_of(request), "made": asdict(made)})

    def failed(self, purpose: str, request: ChatRequest, error: ChatError) -> None:
        """The request failed."""
        kind = next(name for name, of in ERRORS.items() if isinstance(error, of))
        entry = {"kind": kind, "message": str(error), "retryable": error.retryable, "calls": error.calls}
        self._add({"purpose": purpose, "request": name_of(request), "error": entry})

    def _add(self, one: dict[str, Any]) -> None:
        with self._lock:
            self._answers.append(one)

    def knew(self, claim: str, response: Any) -> None:
        """An earlier verdict on a claim, a JSON value, was used again."""
        with self._lock:
            self._known[claim] = response

    def value(self, model: str, digest: str, price: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The tape as a JSON value; none where it is empty."""
        with self._lock:
            if not self._answers and not self._known:
                return None
            return {
                "form": FORM,
                "model": model,
                "digest": digest,
                "price": None if price is None else dict(price),
                "answers": list(self._answers),
                "known": dict(self._known),
            }
