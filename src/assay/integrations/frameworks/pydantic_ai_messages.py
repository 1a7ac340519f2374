"""PydanticAI's messages as the steps of a run."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_ai import messages as parts

from assay.integrations.run_gate import in_words, run_from, text_parts, tool_result
from assay.schema.run import (
    Arguments,
    Executor,
    ModelTurn,
    Run,
    Step,
    SystemPrompt,
    ToolCall,
    ToolDeclaration,
    UserInput,
    plain_json,
    read_argument_object,
    read_arguments,
)

Changed = dict[str, Any]
"""How a call is executed: its `arguments`, and what was `said` by the person who gave them."""
_KEPT: Final = "assay"
"""The key of what is kept in the metadata of a response."""
_ANY: Final[TypeAdapter[Any]] = TypeAdapter(Any)
_approved: ContextVar[Any] = ContextVar("assay_pydantic_ai_call", default=None)
"""The call that is being executed, with the arguments that it was approved with."""


def run_of(
    declarations: Iterable[ToolDeclaration],
    messages: Iterable[Any],
    answer: str | None = None,
    stop_reason: str | None = None,
) -> Run:
    """The run that messages tell of, and what it ends with; `stop_reason` is that of the answer.

    A response that went back to the model is no part of it: neither what it said, nor what the model was told of it.
    A call that was executed with other arguments has those, and a user the words of the person who gave them (`keep`).
    """
    steps: list[Step] = list(declarations)
    instructions: str | None = None
    for message in messages:
        response = isinstance(message, parts.ModelResponse)
        stopped, executed = (message.finish_reason, _kept(message)) if response else (None, {})
        if isinstance(message, parts.ModelRequest) and message.instructions and message.instructions != instructions:
            instructions = message.instructions
            steps.append(SystemPrompt(content=text_parts(instructions)))
        for part in message.parts:
            if isinstance(part, parts.RetryFeedbackPart):
                while steps and isinstance(steps[-1], ModelTurn | ToolCall):
                    steps.pop()
            if isinstance(part, parts.ToolCallPart) and (kept := executed.get(part.tool_call_id)) is not None:
                steps = [*_heard(steps, kept["said"]), _with(_call(part), kept["arguments"])]
            else:
                steps += _steps(part, stopped)
    ending = [ModelTurn(content=text_parts(answer), stop_reason=stop_reason)] if answer else []
    return run_from([*steps, *ending])


def _steps(part: Any, stopped: str | None) -> Sequence[Step]:
    match part:
        case parts.SystemPromptPart():
            return [SystemPrompt(content=text_parts(part.content))]
        case parts.UserPromptPart():
            said = [part.content] if isinstance(part.content, str) else part.content
            texts = [getattr(one, "content", one) for one in said]
            return [UserInput(content=tuple(p for text in texts if isinstance(text, str) for p in text_parts(text)))]
        case parts.NativeToolCallPart():
            # A provider's own tool: it has run when the message shows it, and only the provider knows its schema.
            declared = ToolDeclaration(name=part.tool_name, type=part.tool_name, executor=Executor.PROVIDER)
            return [declared, _call(part).model_copy(update={"type": part.tool_name, "executor": Executor.PROVIDER})]
        case parts.ToolCallPart():
            return [_call(part)]
        case parts.NativeToolReturnPart() | parts.ToolReturnPart():
            failed = part.outcome != "success"
            said = part.content if isinstance(part.content, str) else part.model_response_str()
            return [tool_result(part.tool_call_id, part.tool_name, said, failed=failed)]
        case parts.TextPart():
            return [ModelTurn(content=text_parts(part.content), stop_reason=stopped)] if part.content else []
        case _:
            return []


def _call(part: Any) -> ToolCall:
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args))


def _arguments(given: Any) -> Arguments:
    if isinstance(given, str) and given.strip():
        return read_arguments(given)
    return read_argument_object(plain_json(given or {}).value)


@contextmanager
def executing(call: Any) -> Iterator[None]:
    """What is executed in here belongs to this call."""
    token = _approved.set(call)
    try:
        yield
    finally:
        _approved.reset(token)


def as_executed(
    run: Run, call: ToolCall | None, tool_args: dict[str, Any], ctx: Any, tool: Any
) -> tuple[Run, ToolCall | None, Changed | None]:
    """A call as it is to be executed, and the run before it, with what a person has said who approved it otherwise.

    The call itself where the framework has only read its arguments; otherwise with those that a person or a hook has
    put in their place. Of a person's arguments the values that the model did not send are the words of a user.

    Args:
        run: the run before the call.
        call: the call as the model sent it.
        tool_args: the arguments that the tool gets.
        ctx: the framework's context of the execution.
        tool: the framework's tool.

    Returns:
        The run, the call, and what is different from what the model sent: for `keep`, once the call has passed.
    """
    sent = [part for message in ctx.messages for part in message.parts if isinstance(part, parts.ToolCallPart)]
    given = next((part.args for part in reversed(sent) if part.tool_call_id == ctx.tool_call_id), None)
    read, executed = _spelled(_read(given, ctx, tool)), _spelled(tool_args)
    if call is None or json.dumps(read, sort_keys=True) == json.dumps(executed, sort_keys=True):
        return run, None if call is None else call.model_copy(update={"arguments": _arguments(given)}), None
    said, approved = "", _approved.get()
    if ctx.tool_call_approved and approved is not None and approved.tool_call_id == ctx.tool_call_id:
        models = {json.dumps(one) for value in (read, _arguments(given).value) for one in _values(value)}
        said = in_words([one for one in _values(_arguments(approved.args).value) if json.dumps(one) not in models])
    run = run.model_copy(update={"steps": tuple(_heard(run.steps, said))})
    return run, _with(call, executed), {"arguments": executed, "said": said}


def keep(ctx: Any, changed: Changed) -> None:
    """Keep with the response that has the call how it is executed, for the checks that follow and for resumed runs.

    The framework's history keeps the arguments that the model sent. Its `metadata` are the program's: no model is
    told of them, nor writes them.
    """
    for message in reversed(ctx.messages):
        calls = [part for part in message.parts if isinstance(part, parts.ToolCallPart)]
        if any(call.tool_call_id == ctx.tool_call_id for call in calls):
            message.metadata = {**(message.metadata or {}), _KEPT: {**_kept(message), ctx.tool_call_id: changed}}
            return


def _kept(response: Any) -> dict[str, Changed]:
    found = (response.metadata or {}).get(_KEPT)
    if not isinstance(found, dict):
        return {}
    return {
        call_id: kept
        for call_id, kept in found.items()
        if isinstance(kept, dict) and isinstance(kept.get("said"), str) and isinstance(kept.get("arguments"), dict)
    }


def _with(call: ToolCall, executed: Any) -> ToolCall:
    return call.model_copy(update={"arguments": read_argument_object(executed)})


def _heard(steps: Sequence[Step], said: str) -> list[Step]:
    """The steps with more words in the last user's: a person speaks of the question that is being answered."""
    if not said:
        return list(steps)
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if isinstance(step, UserInput):
            more = step.model_copy(update={"content": (*step.content, *text_parts(f"\n{said}"))})
            return [*steps[:index], more, *steps[index + 1 :]]
    return [UserInput(content=text_parts(said)), *steps]


def _read(given: Any, ctx: Any, tool: Any) -> Any:
    """The arguments of a call as the framework reads them; none where it cannot."""
    try:
        if isinstance(given, str):
            return tool.args_validator.validate_json(given or "{}", context=ctx.validation_context)
        return tool.args_validator.validate_python(given or {}, context=ctx.validation_context)
    except ValueError:
        return None


def _spelled(value: Any) -> Any:
    """A value as JSON, of models only what was given."""
    return _ANY.dump_python(value, mode="json", exclude_unset=True, fallback=repr, warnings=False)


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _values(member)
    elif isinstance(value, list):
        for member in value:
            yield from _values(member)
    else:
        yield value
