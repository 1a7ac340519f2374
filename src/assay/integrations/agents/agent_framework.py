"""Microsoft Agent Framework: middleware that checks every tool call before it is executed and every answer.

    from assay.integrations.agents.agent_framework import assay_middleware
    agent = Agent(client, tools=[get_order], middleware=assay_middleware(guard))

The chat middleware sees each request to the model with the whole history: it decides on the calls of a response, checks
its answer, and asks again within the same step where it fails. The function middleware, which the framework shows the
call alone, executes what was decided on and nothing else; they belong together, and each lets nothing more out without
the other. A stream is asked for in one piece, checked, and then given out as updates.

Put them first, so that what other middleware makes of an answer is checked as well. Telemetry shows the model's raw
words. The extra `agent-framework` installs what this needs; tested with agent-framework-core 1.23.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack
from uuid import uuid4

from assay.errors import CallRejectedError, InputError
from assay.guard import CallDecision, Guard
from assay.integrations.agents.turns import arguments, correction, ending, instead_of_unread, last_calls, parsed, turn
from assay.integrations.run_gate import (
    GateOptions,
    Recent,
    RunGate,
    in_words,
    missing,
    not_executed,
    plain,
    run_from,
    text_parts,
    tool_result,
    was_not_executed,
)
from assay.rewrite.revise import Feedback
from assay.schema.run import Run, Step, SystemPrompt, ToolCall, UserInput, read_arguments

try:
    from agent_framework import (
        ChatMiddleware,
        ChatResponse,
        ChatResponseUpdate,
        FunctionMiddleware,
        FunctionTool,
        Message,
        ResponseStream,
    )
except ImportError as error:
    raise missing("agent-framework", error, "assay.integrations.agents") from error

__all__ = ["assay_middleware"]

_READ: Final = frozenset(
    {
        "text",
        "text_reasoning",
        "function_call",
        "usage",
        "function_approval_request",
        "function_approval_response",
        "oauth_consent_request",
    }
)
"""Contents of a response that go on: what is checked, what is no answer (reasoning, usage), and what asks a person.

The framework knows twenty more (`agent_framework.ContentType`), such as errors, images, and what tools of the provider
show: nobody reads them here, so they are withheld. A result is none of a model's, which calls and is told.
"""


def assay_middleware(guard: Guard, **options: Unpack[GateOptions]) -> list[Any]:
    """The middleware of agents; one list may serve many agents and runs.

    Args:
        guard: what checks.
        options: those of `assay.integrations.run_gate.RunGate`; `on_withheld` is `answer` by default. `raise` lets the
            agent's `run` raise `WithheldError` and `CallRejectedError`.

    Returns:
        Two objects for `Agent(middleware=...)`: one for the model, one for functions.
    """
    gate_options: GateOptions = {"on_withheld": "answer", **options}
    decided: Recent[_Decided] = Recent()
    return [_Answers(RunGate(guard, **gate_options), decided), _Calls(decided)]


@dataclass(frozen=True, slots=True)
class _Decided:
    """The decision on one call of one response: for no other call, whatever id it has."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    decision: CallDecision

    def is_on(self, context: Any) -> bool:
        """Whether it is about the call that is to be executed, with these arguments."""
        if (self.call_id, self.name) != (context.metadata.get("call_id"), context.function.name):
            return False
        return _spelled(context.arguments) in (_spelled(self.arguments), _spelled(_as_executed(self, context.function)))


def _as_executed(decided: _Decided, function: Any) -> Any:
    """The arguments as the framework gives them to a function: as its signature's model has read them."""
    model = getattr(function, "input_model", None)
    try:
        return decided.arguments if model is None else model.model_validate(dict(decided.arguments))
    except ValueError:
        return decided.arguments


def _spelled(given: Any) -> str:
    """Arguments as text that differs where they do; 1, 1.0 and true are three."""
    fields = given.model_dump(exclude_unset=True) if hasattr(given, "model_dump") else dict(given or {})
    return json.dumps({name: plain(value) for name, value in fields.items()}, sort_keys=True)


class _Calls(FunctionMiddleware):
    """Executes the calls that passed, and tells the model why not of all others."""

    def __init__(self, decided: Recent[_Decided]) -> None:
        self._decided = decided

    async def process(self, context: Any, call_next: Any) -> None:
        """Execute a function, or put the reasons in the place of its result."""
        found = self._decided.get(str(context.metadata.get("function_call_occurrence_id")))
        known = found.decision if found is not None and found.is_on(context) else None
        if known is not None and known.accepted:
            await call_next()
        else:
            context.result = not_executed(context.function.name) if known is None else known.message


class _Answers(ChatMiddleware):
    """Checks what each response of the model calls and says."""

    def __init__(self, gate: RunGate, decided: Recent[_Decided]) -> None:
        self._gate, self._decided = gate, decided

    async def process(self, context: Any, call_next: Any) -> None:
        """Ask the model and check what it wants to call or to say.

        Raises:
            WithheldError: the answer does not pass, and `on_withheld` is `raise` or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and `on_withheld` is `raise`.
            InputError: the provider keeps the history, so that nothing can be traced in it.
        """
        asked = dict(context.options or {})
        if asked.get("conversation_id"):
            raise InputError(
                "the provider keeps the history of this run, so nothing can be traced in it: "
                "run without a conversation_id and with store=False"
            )
        streams, context.stream = context.stream, False
        await call_next()
        response = await self._settled(context, call_next, asked, _own(context.result))
        context.stream, context.result = streams, _streamed(response) if streams else response

    async def _settled(self, context: Any, call_next: Any, asked: dict[str, Any], response: Any) -> Any:
        history = list(context.messages)
        tools = [tool for tool in _listed(asked.get("tools")) if isinstance(tool, FunctionTool)]
        declared = [tool.to_json_schema_spec() for tool in tools]

        def run(*messages: Any) -> Run:
            return _run_of(self._gate, declared, asked.get("instructions"), [*history, *messages])

        unread = _take_out(response, lambda one: one.type in _READ)
        calls = [one for message in response.messages for one in message.contents if one.type == "function_call"]
        text = "\n".join(message.text for message in response.messages if message.text)
        stop = response.finish_reason
        if calls:
            try:
                await self._decide(run, response, calls)
            except CallRejectedError as error:
                return _saying(response, self._gate.instead_of_calls(error))
            if text.strip() and not await self._gate.abeside(ending(run(), text, stop)):
                _take_out(response, lambda one: one.type != "text")
            return response
        if not text.strip():
            return _saying(response, instead_of_unread(self._gate, unread)) if unread else response
        structured = asked.get("response_format") is not None
        words = in_words(parsed(text)) if structured else text

        async def author(feedback: Feedback) -> str:
            more = [Message("assistant", [feedback.output]), Message("user", [feedback.text])]
            context.messages = [*history, *more]
            try:
                await call_next()
            finally:
                context.messages = history
            again = context.result
            called = any(one.type == "function_call" for message in again.messages for one in message.contents)
            return correction(feedback, again.text, again.finish_reason, calls=called)

        gate = replace(self._gate, on_withheld="raise") if structured else self._gate
        said = await gate.aanswer(ending(run(), words, stop), None if structured else author)
        return response if said == words else _saying(response, said)

    async def _decide(self, run: Any, response: Any, calls: Sequence[Any]) -> None:
        """Decide on the calls of a response, each under an identity of its own: ids of models come again.

        Raises:
            CallRejectedError: the model does not stop sending calls that are wrong.
        """
        for call in calls:
            call.id = f"assay-{uuid4().hex}"  # what the framework calls an occurrence: it stays with the call
            call.call_id = call.call_id or call.id
        for call, (earlier, asked) in zip(calls, last_calls(run(*response.messages), len(calls)), strict=True):
            decision = await self._gate.adecide(earlier, asked)
            self._decided.put(call.id, _Decided(call.call_id, call.name, call.parse_arguments() or {}, decision))


def _listed(tools: Any) -> Sequence[Any]:
    if tools is None:
        return ()
    return tools if isinstance(tools, Sequence) else (tools,)


def _own(response: Any) -> Any:
    """The response as this run's own: a client may give one from its cache to many, and calls get identities here."""
    mine = copy(response)
    mine.messages = [copy(message) for message in response.messages]
    for message in mine.messages:
        message.contents = [copy(one) for one in message.contents]
    return mine


def _saying(response: Any, text: str) -> Any:
    """A response that says something else; it keeps what the other cost, not what it said."""
    return ChatResponse(
        messages=[Message("assistant", [text])],
        response_id=response.response_id,
        model=response.model,
        created_at=response.created_at,
        finish_reason="stop",
        usage_details=response.usage_details,
    )


def _take_out(response: Any, stays: Callable[[Any], bool]) -> list[str]:
    """Take out of a response what does not stay; the kinds of what went."""
    gone: list[str] = []
    for message in response.messages:
        gone += [one.type for one in message.contents if not stays(one)]
        message.contents = [one for one in message.contents if stays(one)]
    return gone


def _streamed(response: Any) -> Any:
    """A response as the updates of a stream."""

    async def updates() -> AsyncIterator[Any]:
        for message in response.messages:
            yield ChatResponseUpdate(
                contents=message.contents,
                role=message.role,
                response_id=response.response_id,
                message_id=message.message_id,
                model=response.model,
                finish_reason=response.finish_reason,
            )

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _run_of(gate: RunGate, tools: Iterable[Any], instructions: Any, messages: Iterable[Any]) -> Run:
    """The run that messages tell of."""
    steps: list[Step] = [*gate.declared(tools)]
    if isinstance(instructions, str) and instructions.strip():
        steps.append(SystemPrompt(content=text_parts(instructions)))
    for message in messages:
        steps += _steps(message)
    return run_from(steps)


def _steps(message: Any) -> list[Step]:
    """The steps of one message; calls in a user's are the user's word, and results are those of the role `tool`."""
    text = message.text
    said = text_parts(text)
    found: list[Step] = []
    if said:
        match str(message.role):
            case "system" | "developer":
                found.append(SystemPrompt(content=said))
            case "assistant":
                found += turn(text)
            case "user":
                found.append(UserInput(content=said))
    for one in message.contents if str(message.role) != "user" else ():
        if one.type == "function_call":
            given = one.arguments
            read = read_arguments(given) if isinstance(given, str) else arguments(given or {})
            found.append(ToolCall(id=one.call_id, name=one.name, arguments=read))
        elif one.type == "function_result" and str(message.role) == "tool":
            result = _result(one)
            failed = one.exception is not None or (isinstance(result, str) and was_not_executed(result))
            found.append(tool_result(one.call_id, None, result, failed=failed))
    return found


def _result(content: Any) -> Any:
    """What a function gave: its texts where it gave several items, else as it is."""
    texts = [item.text for item in content.items or () if getattr(item, "text", None)]
    return "\n".join(texts) or content.result or "done"
