"""What decides of an answer whether it may go out: a function, a command, assay's own guard."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from assay.errors import AssayError, InputError
from assay.guard import CheckRequest, Guard
from assay.policy import answer_of
from assay.redteam.runs import Answer
from assay.redteam.targets import Request, TargetError
from assay.redteam.targets.bounded import in_time
from assay.redteam.targets.command_line import CommandLine
from assay.redteam.targets.interface import text_of
from assay.redteam.targets.python_function import load_object
from assay.schema import Evidence, HallucinationReport

WITHHELD: Final = "I cannot answer this: the answer was withheld by a guardrail."
"""What stands for an answer that a guardrail keeps back without saying what takes its place."""


@runtime_checkable
class Guardrail(Protocol):
    """Decides of answers. It may be asked by several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in records, without secrets."""
        ...

    def release(self, request: Request, answer: str) -> str:
        """What goes out in the place of an answer: itself, another text, or `WITHHELD`.

        Raises:
            TargetError: the guardrail failed, so that nothing is known of this answer.
        """
        ...


def released(decision: object, answer: str, name: str) -> str:
    """What a decision lets out.

    None, false, an empty text and `{"allowed": false}` withhold; true and `{"allowed": true}` let the answer out; a
    text or the `answer` of an object goes out in its place.

    >>> released({"allowed": False}, "It is 9.", "g") == WITHHELD, released(True, "It is 9.", "g")
    (True, 'It is 9.')

    Raises:
        TargetError: it is no decision.
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
    """Calls a function with the request and the answer in it."""

    def __init__(self, function: Callable[[Request], Any], name: str, timeout_s: float = 60.0) -> None:
        """Wraps a function that takes the request with `answer` and gives a decision (see `released`)."""
        self.name = name
        self._function, self._timeout_s = function, timeout_s

    def release(self, request: Request, answer: str) -> str:
        """What the function lets out.

        Raises:
            TargetError: it raised, took too long, or gave no decision.
        """
        given = {**request, "answer": answer}
        return released(in_time(lambda: self._function(given), self._timeout_s, self.name), answer, self.name)


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
        """What the command lets out.

        Raises:
            TargetError: it failed, or gave no decision.
        """
        written = self._command.written({**request, "answer": answer}).removesuffix("\n")
        try:
            decision: object = json.loads(written)
        except (ValueError, RecursionError):
            decision = written
        if not isinstance(decision, str | bool | Mapping | None):
            decision = written  # a number or a list is a text that happens to be JSON
        return released(decision, answer, self.name)


class AssayGuardrail:
    """The guard of assay, as a program has it within itself: the passages of the context are the evidence, and an
    answer at the end of a conversation is checked as the end of one."""

    def __init__(self, guard: Guard) -> None:
        """Takes a guard; no chat model of it is asked."""
        self._guard = guard
        self.name = f"assay:{guard.policy.name}"

    def release(self, request: Request, answer: str) -> str:
        """What the policy lets out.

        Raises:
            TargetError: the answer could not be checked.
        """
        evidence = [Evidence(id=one["id"], text=one["text"], source=one["source"]) for one in request["context"]]
        try:
            return answer_of(self._report(request, answer, evidence))
        except AssayError as error:
            raise TargetError(f"{self.name}: {error}") from error

    def _report(self, request: Request, answer: str, evidence: Sequence[Evidence]) -> HallucinationReport:
        if not request["turns"]:
            (report,) = self._guard.check_many([CheckRequest(answer, evidence, request["prompt"], asks=False)])
            return report
        said = [{"role": one["role"], "content": one["content"]} for one in request["turns"]]
        messages = [*said, {"role": "user", "content": request["prompt"]}, {"role": "assistant", "content": answer}]
        return self._guard.check_run(messages, evidence=evidence)


class Guarded:
    """A system with a guardrail behind it: the answers are those that it gave without one."""

    def __init__(self, unguarded: Mapping[str, Answer], guardrail: Guardrail, target: str) -> None:
        """Takes the answers of a run without a guardrail, by the id of the case, and the name of its target."""
        self.name = f"{target} | {guardrail.name}"
        self._bare, self._guardrail = unguarded, guardrail

    def ask(self, request: Request) -> str:
        """What goes out.

        Raises:
            TargetError: the system or the guardrail failed.
        """
        said = self._bare.get(request["id"])
        if said is None or said.text is None:
            raise TargetError(f"without a guardrail there is no answer: {said.error if said else 'was not asked'}")
        return self._guardrail.release(request, said.text)


def load_guardrail(name: str, timeout_s: float, guard: Callable[[str | None], Guard]) -> Guardrail | None:
    """The guardrail of `assay[:POLICY]`, `python:MODULE:FUNCTION` or `command:WORDS`; none for an address or a file,
    which name a whole system with its guardrail in front.

    Args:
        name: what the command line says.
        timeout_s: seconds that one decision may take.
        guard: makes a guard of a policy's name or file.

    Raises:
        InputError: it is none of these.
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
