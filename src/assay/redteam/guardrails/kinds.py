"""Guardrails, which decide whether an answer is released: a function, a command, assay's own guard."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from assay.errors import AssayError, InputError
from assay.guard import CheckRequest, Guard
from assay.policy import answer_of
from assay.redteam.runs import Answer
from assay.redteam.targets import Request, TargetError
from assay.redteam.targets.bounded import call_within
from assay.redteam.targets.command_line import CommandLine
from assay.redteam.targets.interface import text_of
from assay.redteam.targets.python_function import load_object
from assay.schema import Evidence, HallucinationReport

WITHHELD: Final = "I cannot answer this: the answer was withheld by a guardrail."
"""The answer in place of one that a guardrail withholds without a replacement."""
NOTHING_TO_DECIDE: Final = "without a guardrail there is no answer: "
"""How the failure of a case begins for which the run without a guardrail has no answer."""


@runtime_checkable
class Guardrail(Protocol):
    """Decides on answers. Several threads may call it at once."""

    @property
    def name(self) -> str:
        """Its name in records, without secrets."""
        ...

    def release(self, request: Request, answer: str) -> str:
        """The text that is released: the answer itself, a replacement, or `WITHHELD`.

        Raises:
            TargetError: the guardrail failed, so that there is no decision on this answer.
        """
        ...


def released(decision: object, answer: str, name: str) -> str:
    """The text that a decision releases.

    None, false, an empty text and `{"allowed": false}` withhold the answer; true and `{"allowed": true}` release it; a
    text, or the `answer` of an object, replaces it.

    >>> released({"allowed": False}, "It is 9.", "g") == WITHHELD, released(True, "It is 9.", "g")
    (True, 'It is 9.')

    Raises:
        TargetError: the value is not a decision.
    """
    if isinstance(decision, Mapping):
        allowed, text = decision.get("allowed", True), decision.get("answer")
        if not isinstance(allowed, bool) or not (text is None or isinstance(text, str)):
            raise TargetError(f"{name}: expected `allowed` as a truth value and `answer` as text")
        if text is None and "allowed" not in decision:
            raise TargetError(f"{name}: expected an object with `allowed`, `answer` or both")
        decision = (text if text is not None else allowed) if allowed else text
    if decision is True:
        return answer
    if decision is None or decision is False or decision == "":
        return WITHHELD
    return text_of(decision, name)


class FunctionGuardrail:
    """Calls a function with the request, to which the answer is added."""

    def __init__(self, function: Callable[[Request], Any], name: str, timeout_s: float = 60.0) -> None:
        """Wraps a function that takes the request with `answer` and returns a decision (see `released`)."""
        self.name = name
        self._function, self._timeout_s = function, timeout_s

    def release(self, request: Request, answer: str) -> str:
        """The text that the function releases.

        Raises:
            TargetError: it raised, took too long, or returned something other than a decision.
        """
        request_with_answer = {**request, "answer": answer}
        return released(
            call_within(lambda: self._function(request_with_answer), self._timeout_s, self.name), answer, self.name
        )


class CommandGuardrail:
    """Starts a command for each answer: the request with `answer` goes in as JSON, a decision or a text comes out."""

    def __init__(self, command: str, timeout_s: float = 60.0) -> None:
        """Wraps a command.

        Raises:
            InputError: it is empty or its quotes do not close.
        """
        self._command = CommandLine(command, timeout_s)
        self.name = self._command.name

    def release(self, request: Request, answer: str) -> str:
        """The text that the command releases.

        Raises:
            TargetError: it failed, or wrote something other than a decision.
        """
        output = self._command.output_of({**request, "answer": answer}).removesuffix("\n")
        try:
            decision: object = json.loads(output)
        except (ValueError, RecursionError):
            decision = output
        if not isinstance(decision, str | bool | Mapping | None):
            decision = output  # a number or a list is a text that happens to be JSON
        return released(decision, answer, self.name)


class AssayGuardrail:
    """Assay's own guard, embedded as in a program: the passages of the context are the evidence, and an answer to a
    conversation is checked together with its earlier turns."""

    def __init__(self, guard: Guard) -> None:
        """Takes a guard; its chat model is never called."""
        self._guard = guard
        self.name = f"assay:{guard.policy.name}"

    def release(self, request: Request, answer: str) -> str:
        """The text that the policy releases.

        Raises:
            TargetError: the answer could not be checked.
        """
        evidence = [
            Evidence(id=passage["id"], text=passage["text"], source=passage["source"]) for passage in request["context"]
        ]
        try:
            return answer_of(self._report(request, answer, evidence))
        except AssayError as error:
            raise TargetError(f"{self.name}: {error}") from error

    def _report(self, request: Request, answer: str, evidence: Sequence[Evidence]) -> HallucinationReport:
        if not request["turns"]:
            (report,) = self._guard.check_many([CheckRequest(answer, evidence, request["prompt"], asks=False)])
            return report
        turns = [{"role": turn["role"], "content": turn["content"]} for turn in request["turns"]]
        messages = [*turns, {"role": "user", "content": request["prompt"]}, {"role": "assistant", "content": answer}]
        return self._guard.check_run(messages, evidence=evidence)


class GuardedTarget:
    """A target with a guardrail behind it: its recorded answers, as the guardrail releases them."""

    def __init__(self, unguarded: Mapping[str, Answer], guardrail: Guardrail, target: str) -> None:
        """Takes the answers of a run without a guardrail, by the id of the case, and the name of its target."""
        self.name = f"{target} | {guardrail.name}"
        self._unguarded, self._guardrail = unguarded, guardrail

    def ask(self, request: Request) -> str:
        """The text that the guardrail releases.

        Raises:
            TargetError: the target or the guardrail failed.
        """
        unguarded = self._unguarded.get(request["id"])
        if unguarded is None or unguarded.text is None:
            raise TargetError(NOTHING_TO_DECIDE + ((unguarded and unguarded.error) or "was not asked"))
        return self._guardrail.release(request, unguarded.text)


def load_guardrail(name: str, timeout_s: float, guard: Callable[[str | None], Guard]) -> Guardrail | None:
    """The guardrail named by `assay[:POLICY]`, `python:MODULE:FUNCTION` or `command:WORDS`; none for an address or a
    file, which name a whole system that contains its guardrail.

    Args:
        name: the name, as on the command line.
        timeout_s: the most seconds of one decision.
        guard: makes a guard from the name or file of a policy.

    Raises:
        InputError: the name has none of these forms, or what it names cannot be loaded.
    """
    kind, _, rest = name.partition(":")
    match kind:
        case "assay":
            return AssayGuardrail(guard(rest or None))
        case "python":
            function = load_object(rest, kind)
            if not callable(function):
                raise InputError(f"{name}: expected a function")
            return FunctionGuardrail(function, name, timeout_s)
        case "command":
            return CommandGuardrail(rest, timeout_s)
        case "http" | "https" | "file":
            return None
        case _:
            raise InputError(
                "expected a guardrail of the form URL, file:TARGET.yaml, assay[:POLICY], python:MODULE:FUNCTION or "
                f"command:PROGRAM, got {name!r}"
            )
