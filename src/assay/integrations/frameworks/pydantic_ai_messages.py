"""PydanticAI's messages as the steps of a run."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_ai import messages as parts

from assay.integrations.run_gate import run_from, text_parts, tool_result
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


def run_of(
    declarations: Iterable[ToolDeclaration],
    messages: Iterable[Any],
    answer: str | None = None,
    stop_reason: str | None = None,
) -> Run:
    """The run that messages tell of, and what it ends with; `stop_reason` is that of the answer.

    A response that went back to the model is no part of it: neither what it said, nor what the model was told of it.
    """
    steps: list[Step] = list(declarations)
    instructions: str | None = None
    for message in messages:
        stopped = message.finish_reason if isinstance(message, parts.ModelResponse) else None
        if isinstance(message, parts.ModelRequest) and message.instructions and message.instructions != instructions:
            instructions = message.instructions
            steps.append(SystemPrompt(content=text_parts(instructions)))
        for part in message.parts:
            if isinstance(part, parts.RetryFeedbackPart):
                while steps and isinstance(steps[-1], ModelTurn | ToolCall):
                    steps.pop()
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
