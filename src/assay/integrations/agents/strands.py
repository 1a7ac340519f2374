"""Strands Agents: a plugin that checks every tool call before it is executed and every answer before it is said.

    from assay.integrations.agents.strands import AssayPlugin
    agent = Agent(model=model, tools=[get_order], plugins=[AssayPlugin(guard)])

Tool calls are checked in a hook (`BeforeToolCallEvent`): one that is rejected is cancelled, with the reasons as its
result. Answers are checked in middleware around the model (`InvokeModelStage`), because a hook behind the model sees
them when they have been streamed: events are held back until the message is checked, and corrections are asked for
inside of the same step. An answer that is withheld ends with the stop reason `guardrail_intervened`.

Put the plugin first, so that what other middleware makes of an answer is checked as well. Traces show the model's raw
words. The extra `strands` installs what this needs; tested with strands-agents 1.62.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import Guard
from assay.integrations.agents.turns import (
    arguments,
    call_before,
    correction,
    ending,
    instead_of_unread,
    last_calls,
    turn,
)
from assay.integrations.run_gate import (
    GateOptions,
    RunGate,
    in_words,
    missing,
    not_executed,
    run_from,
    text_parts,
    tool_result,
)
from assay.rewrite.revise import Feedback
from assay.schema.run import Run, Step, SystemPrompt, ToolCall, UserInput

try:
    from strands.hooks import BeforeToolCallEvent
    from strands.middleware import InvokeModelStage
    from strands.plugins import Plugin, hook
    from strands.tools.structured_output.structured_output_tool import StructuredOutputTool
    from strands.types._events import ModelStreamChunkEvent, TextStreamEvent
    from strands.types.events import ModelStopReason
except ImportError as error:
    raise missing("strands", error, "assay.integrations.agents") from error

__all__ = ["AssayPlugin"]

_INTERVENED = "guardrail_intervened"
"""The stop reason of an answer that was withheld."""
_CANCELLED: Final = "cancelled"
"""The stop reason where the user stopped the run: Strands then replaces the text of the model by its own."""
_SILENT: Final = frozenset({"toolUse", "reasoningContent"})
"""Blocks that show their reader nothing: calls, which are checked by themselves, and reasoning, which is no answer."""
_READ: Final = _SILENT | {"text", "citationsContent"}
"""Blocks that go on. Strands has seven more (`strands.types.content.ContentBlock`), such as documents and images:
no check reads them, so they are withheld."""


class AssayPlugin(Plugin):
    """Checks every tool call before it is executed, and every answer before it is in the agent's messages.

    It keeps nothing of a run: one may serve many agents.
    """

    name = "assay"

    def __init__(self, guard: Guard, **options: Unpack[GateOptions]) -> None:
        """Make the plugin.

        Args:
            guard: what checks.
            options: those of `assay.integrations.run_gate.RunGate`; `on_withheld` is `answer` by default. With `raise`,
                Strands wraps the error in an `EventLoopException` where the agent has called tools before.
        """
        super().__init__()
        gate_options: GateOptions = {"on_withheld": "answer", **options}
        self._gate = RunGate(guard, **gate_options)

    def init_agent(self, agent: Any) -> None:
        """Put the agent's model behind the guard, and take away what asks it by itself."""
        agent.add_middleware(InvokeModelStage, self._model)
        agent.structured_output = agent.structured_output_async = _unchecked

    @hook
    async def before_tool(self, event: BeforeToolCallEvent) -> None:
        """Cancel a call that does not pass, or that is not in the agent's messages."""
        call: Any = event  # the hook's own class, of any type where Strands is not installed
        if isinstance(call.selected_tool, StructuredOutputTool):
            return  # an answer, which was checked when the model gave it
        agent, use = call.agent, call.tool_use
        specs = agent.tool_registry.get_all_tool_specs()
        run = _run_of(self._gate, specs, agent.system_prompt, agent.messages)
        earlier, asked = call_before(run, use["toolUseId"], use["name"], use["input"])
        if asked is None:
            call.cancel_tool = not_executed(use["name"])
            return
        decision = await self._gate.adecide(earlier, asked)
        if not decision.accepted:
            call.cancel_tool = decision.message

    async def _model(self, context: Any, ask: Any) -> AsyncIterator[Any]:
        """The events of a response, once it is whole and checked; in their place what may be said."""
        step = _Asked(self._gate, context, ask)
        events = [event async for event in ask(context)]
        stop = next((event for event in reversed(events) if isinstance(event, ModelStopReason)), None)
        if stop is None:
            raise InputError("the model's response did not end: nothing of it was checked")
        if stop.stop_reason == _CANCELLED:
            settled, reason = _saying("Cancelled by user"), _CANCELLED
        else:
            settled, reason = await step.settled(stop.message, stop.stop_reason)
        if settled is stop.message and all(shown == _text_of(settled) for shown in _shown(events)):
            for event in events:
                yield event
            return
        for redacted in _redacted(events):
            yield redacted
        for text in _texts(settled):
            yield TextStreamEvent({"text": text}, text)
        yield ModelStopReason(reason, settled, stop.usage, stop.metrics)


def _shown(events: Sequence[Any]) -> tuple[str, str]:
    """What the events of a response show: as texts, and as the model's own chunks.

    A message need not have all of it: providers redact, and end a response within a block.
    """
    texts = "".join(event["data"] for event in events if isinstance(event, TextStreamEvent))
    deltas = (_chunk(event).get("contentBlockDelta", {}).get("delta", {}) for event in events)
    return texts, "".join(delta.get("text", "") for delta in deltas)


def _redacted(events: Iterable[Any]) -> Iterator[Any]:
    """The events that tell the agent to redact what its user said."""
    for event in events:
        replacement = _chunk(event).get("redactContent", {}).get("redactUserContentMessage")
        if replacement:
            yield ModelStreamChunkEvent({"redactContent": {"redactUserContentMessage": replacement}})


def _chunk(event: Any) -> Any:
    return event.chunk if isinstance(event, ModelStreamChunkEvent) else {}


def _unchecked(*_: Any, **__: Any) -> Any:
    """In the place of the agent's methods that ask its model past all middleware.

    Raises:
        InputError: always.
    """
    raise InputError("structured_output asks the model past every check: call the agent with structured_output_model")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to the model."""

    gate: RunGate
    context: Any
    ask: Any

    def run(self, *messages: Any) -> Run:
        """The run with these messages behind those of the question."""
        context = self.context
        return _run_of(self.gate, context.tool_specs, context.system_prompt, [*context.messages, *messages])

    async def settled(self, message: Any, reason: str) -> tuple[Any, str]:
        """The message as it may go on, and why it ends.

        Raises:
            WithheldError: it does not pass, and the options ask for errors or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and the options ask for errors.
        """
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        text, read = _text_of(message), _with_seen_citations(_only(message, _READ), self.context.messages)
        if not uses:
            if text:
                return await self._answer(read, text, reason)
            unread = [kind for block in message["content"] for kind in block if kind not in _READ]
            return (_saying(instead_of_unread(self.gate, unread)), _INTERVENED) if unread else (message, reason)
        try:
            for use, (earlier, asked) in zip(uses, last_calls(self.run(read), len(uses)), strict=True):
                if self._structured(use["name"]):
                    said = ending(self.run(), in_words(use["input"]), reason)
                    await replace(self.gate, on_withheld="raise").aanswer(said)
                else:
                    await self.gate.adecide(earlier, asked)
        except CallRejectedError as error:
            return _saying(self.gate.instead_of_calls(error)), _INTERVENED
        if not text.strip() or await self.gate.abeside(ending(self.run(), text, reason)):
            return read, reason
        return _only(message, _SILENT), reason

    async def _answer(self, message: Any, text: str, reason: str) -> tuple[Any, str]:
        async def author(feedback: Feedback) -> str:
            more = [_saying(feedback.output), {"role": "user", "content": [{"text": feedback.text}]}]
            asked = self.context.replace(messages=[*self.context.messages, *more])
            found = [event async for event in self.ask(asked) if isinstance(event, ModelStopReason)]
            again = found[-1]
            calls = any("toolUse" in block for block in again.message["content"])
            return correction(feedback, _text_of(again.message), again.stop_reason, calls=calls)

        passed: list[bool] = []
        gate = replace(self.gate, on_report=_report_sinks(self.gate, passed))
        said = await gate.aanswer(ending(self.run(), text, reason), author)
        if said == text:
            return message, reason
        return _saying(said), reason if passed and passed[-1] else _INTERVENED

    def _structured(self, name: str) -> bool:
        tools = self.context.agent.tool_registry
        known = {**tools.registry, **tools.dynamic_tools}
        return isinstance(known.get(name), StructuredOutputTool)


def _report_sinks(gate: RunGate, passed: list[bool]) -> Any:
    """What gets the reports of an answer: the one of the options, and a list of which passed."""

    def sink(report: Any) -> None:
        passed.append(gate.passes(report))
        if gate.on_report is not None:
            gate.on_report(report)

    return sink


def _saying(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"text": text}]}


def _only(message: Any, kinds: Collection[str]) -> Any:
    """The message with blocks of these kinds alone; the very same where it has no others."""
    if all(kind in kinds for block in message["content"] for kind in block):
        return message
    blocks = ({kind: value for kind, value in block.items() if kind in kinds} for block in message["content"])
    return {**message, "content": [block for block in blocks if block]}


def _with_seen_citations(message: Any, seen: Iterable[Any]) -> Any:
    """The message with citations of what the run has seen alone: a quote that is in none of its texts is made up."""
    blocks = [_with_seen(block, seen) if "citationsContent" in block else block for block in message["content"]]
    return message if blocks == message["content"] else {**message, "content": blocks}


def _with_seen(block: Any, seen: Iterable[Any]) -> Any:
    seen_text = "\n".join(_plainly(one) for message in seen if message["role"] == "user" for one in _strings(message))
    cited = block["citationsContent"]
    given = cited.get("citations", [])
    kept = [one for one in given if all(_plainly(text) in seen_text for text in _strings(one))]
    if len(kept) == len(given):
        return block
    return {**block, "citationsContent": {**cited, "citations": kept}} if kept else {"text": "".join(_texts_of(block))}


def _strings(value: Any) -> Iterator[str]:
    """All texts within a value; those of documents too, where they are text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "ignore")
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def _plainly(text: str) -> str:
    return " ".join(text.split())


def _text_of(message: Any) -> str:
    """What a message says to its reader, cited texts included."""
    return "".join(_texts(message))


def _texts(message: Any) -> Iterator[str]:
    for block in message["content"]:
        yield from _texts_of(block)


def _texts_of(block: Any) -> Iterator[str]:
    if block.get("text"):
        yield block["text"]
    for part in block.get("citationsContent", {}).get("content", ()):
        yield part.get("text", "")


def _run_of(gate: RunGate, specs: Iterable[Any], system: Any, messages: Iterable[Any]) -> Run:
    """The run that an agent's messages tell of."""
    steps: list[Step] = [*gate.declared(map(_declared, specs))]
    system_text = system if isinstance(system, str) else "\n".join(block.get("text", "") for block in system or ())
    if system_text.strip():
        steps.append(SystemPrompt(content=text_parts(system_text)))
    called: set[str] = set()
    for message in messages:
        steps += _steps(message, called)
        if message["role"] == "assistant":
            called = {block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block}
    return run_from(steps)


def _declared(spec: Any) -> dict[str, Any]:
    schema = spec["inputSchema"]
    return {"name": spec["name"], "description": spec["description"], "parameters": schema.get("json", schema)}


def _steps(message: Any, called: Collection[str]) -> Sequence[Step]:
    """The steps of one message.

    Args:
        message: the message.
        called: the ids of calls in the model's last message: results stand in messages of the user, and what nobody
            called for is the user's word.
    """
    found: list[Step] = []
    by_model = message["role"] == "assistant"
    for block in message["content"]:
        if "toolUse" in block:
            use = block["toolUse"]
            found.append(ToolCall(id=use["toolUseId"], name=use["name"], arguments=arguments(use["input"])))
        elif "toolResult" in block:
            if by_model or block["toolResult"]["toolUseId"] not in called:
                continue
            given = block["toolResult"]
            said = [part.get("text", part.get("json")) for part in given["content"]]
            value = said[0] if len(said) == 1 else "\n".join(str(one) for one in said if one is not None)
            failed = given["status"] == "error"
            found.append(tool_result(given["toolUseId"], None, "done" if value is None else value, failed=failed))
        elif not by_model and "text" in block:
            found.append(UserInput(content=text_parts(block["text"])))
    return [*turn(_text_of(message) if by_model else ""), *found]
