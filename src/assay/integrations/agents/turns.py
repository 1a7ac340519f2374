"""Shared by the adapters of agents: a model's response as steps of a run, and the text that may replace it."""

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

from assay.errors import InputError
from assay.guard.runs import is_cut_off
from assay.integrations.run_gate import RunGate, plain, text_parts
from assay.policy import Cause, refusal
from assay.rewrite.revise import Feedback
from assay.schema import Action
from assay.schema.run import Arguments, ModelTurn, Run, Step, ToolCall, read_argument_object


def turn(words: str, stop_reason: object = None) -> list[Step]:
    """The text of a response as steps of a run; no step where it is empty.

    Args:
        words: the text.
        stop_reason: why the model stopped, in the framework's form: a word, a member of an enumeration, or none.
    """
    if not words:
        return []
    return [ModelTurn(content=text_parts(words), stop_reason=_word(stop_reason))]


def ending(run: Run, words: str, stop_reason: object = None) -> Run:
    """The run with these words as its answer."""
    return run.append(*turn(words, stop_reason))


def arguments(given: object) -> Arguments:
    """The arguments of a call that a framework has read."""
    return read_argument_object(plain(given))


def parsed(text: str) -> Any:
    """A structured answer; what is no JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def last_calls(run: Run, count: int) -> Iterator[tuple[Run, ToolCall]]:
    """The last calls of a run in their order, each with the run as it was before the call.

    They are identified by their place: a model may give two calls one id.
    """
    places = [index for index, step in enumerate(run.steps) if isinstance(step, ToolCall)]
    for index in places[len(places) - count :]:
        step = run.steps[index]
        if isinstance(step, ToolCall):
            yield run.model_copy(update={"steps": run.steps[:index]}), step


def call_before(run: Run, call_id: str | None, name: str, given: object) -> tuple[Run, ToolCall | None]:
    """The last call of a run with this id, name and arguments, and the run as it was before it.

    All three have to agree: ids recur, and the call to be executed may not be the one that the model sent.
    """
    expected = given if isinstance(given, Arguments) else arguments(given)
    for index in range(len(run.steps) - 1, -1, -1):
        step = run.steps[index]
        if isinstance(step, ToolCall) and (step.id, step.name, step.arguments) == (call_id, name, expected):
            return run.model_copy(update={"steps": run.steps[:index]}), step
    return run, None


def correction(feedback: Feedback, words: str, stop_reason: object = None, *, calls: bool = False) -> str:
    """A model's corrected answer; the failed one where the model calls tools instead or is cut off."""
    return feedback.output if calls or ended_early(stop_reason) else words


def ended_early(stop_reason: object) -> bool:
    """Whether a stop reason means that the answer is unfinished; false where there is no reason."""
    reason = _word(stop_reason)
    return reason is not None and is_cut_off(reason)


def _word(stop_reason: object) -> str | None:
    reason = stop_reason.value if isinstance(stop_reason, Enum) else stop_reason
    return None if reason is None else str(reason)


def instead_of_unread(gate: RunGate, kinds: list[str]) -> str:
    """The text to show where a response has only content that no check reads.

    Args:
        gate: the options.
        kinds: the kinds of content, in the framework's words.

    Raises:
        InputError: the options ask for errors.
    """
    if gate.on_withheld == "raise":
        raise InputError(f"the model answered with content that no check reads ({', '.join(sorted(set(kinds)))})")
    return refusal({Cause.UNCHECKED}, Action.BLOCK)
