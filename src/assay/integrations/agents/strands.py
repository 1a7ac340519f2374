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

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import Guard
from assay.integrations.run_gate import (
    GateOptions,
    RunGate,
    before_call,
    in_words,
    missing,
    not_executed,
    plain,
    run_from,
    text_parts,
    tool_result,
)
from assay.rewrite.revise import Feedback
from assay.schema.run import ModelTurn, Run, Step, SystemPrompt, ToolCall, UserInput, read_argument_object

try:
    from strands.hooks import BeforeToolCallEvent
    from strands.middleware import InvokeModelStage
    from strands.plugins import Plugin, hook
    from strands.tools.structured_output.structured_output_tool import StructuredOutputTool
    from strands.types._events import TextStreamEvent
    from strands.types.events import ModelStopReason
except ImportError as error:
    raise missing("strands", error, "assay.integrations.agents") from error

__all__ = ["AssayPlugin"]

_INTERVENED = "guardrail_intervened"
"""The stop reason of an answer that was withheld."""


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
        earlier, asked = before_call(run, use["toolUseId"])
        if asked is None or asked.name != use["name"] or asked.arguments != _arguments(use["input"]):
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
        settled, reason = await step.settled(stop.message, stop.stop_reason)
        if settled is stop.message:
            for event in events:
                yield event
            return
        for block in settled["content"]:
            if "text" in block:
                yield TextStreamEvent({"text": block["text"]}, block["text"])
        yield ModelStopReason(reason, settled, stop.usage, stop.metrics)


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
        told = self.context
        return _run_of(self.gate, told.tool_specs, told.system_prompt, [*told.messages, *messages])

    async def settled(self, message: Any, reason: str) -> tuple[Any, str]:
        """The message as it may go on, and why it ends.

        Raises:
            WithheldError: it does not pass, and the options ask for errors or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and the options ask for errors.
        """
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        text = _text_of(message)
        if not uses:
            return await self._answer(message, text, reason) if text else (message, reason)
        run = self.run(message)
        try:
            for use in uses:
                if self._structured(use["name"]):
                    await replace(self.gate, on_withheld="raise").aanswer(self.run(_saying(in_words(use["input"]))))
                else:
                    await self.gate.adecide(*before_call(run, use["toolUseId"]))
        except CallRejectedError as error:
            return _saying(self.gate.instead_of_calls(error)), _INTERVENED
        if not text.strip() or await self.gate.abeside(self.run(_saying(text))):
            return message, reason
        return {**message, "content": [block for block in message["content"] if "text" not in block]}, reason

    async def _answer(self, message: Any, text: str, reason: str) -> tuple[Any, str]:
        async def author(feedback: Feedback) -> str:
            more = [_saying(feedback.output), {"role": "user", "content": [{"text": feedback.text}]}]
            asked = self.context.replace(messages=[*self.context.messages, *more])
            found = [event async for event in self.ask(asked) if isinstance(event, ModelStopReason)]
            again = found[-1].message
            return feedback.output if any("toolUse" in block for block in again["content"]) else _text_of(again)

        passed: list[bool] = []
        gate = replace(self.gate, on_report=_told(self.gate, passed))
        said = await gate.aanswer(self.run(_saying(text)), author)
        if said == text:
            return message, reason
        return _saying(said), reason if passed and passed[-1] else _INTERVENED

    def _structured(self, name: str) -> bool:
        tools = self.context.agent.tool_registry
        known = {**tools.registry, **tools.dynamic_tools}
        return isinstance(known.get(name), StructuredOutputTool)


def _told(gate: RunGate, passed: list[bool]) -> Any:
    """What gets the reports of an answer: the one of the options, and a list of which passed."""

    def told(report: Any) -> None:
        passed.append(gate.passes(report))
        if gate.on_report is not None:
            gate.on_report(report)

    return told


def _saying(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"text": text}]}


def _text_of(message: Any) -> str:
    """What a message says to its reader, cited texts included."""
    said = []
    for block in message["content"]:
        if "text" in block:
            said.append(block["text"])
        elif "citationsContent" in block:
            said += [part.get("text", "") for part in block["citationsContent"].get("content", ())]
    return "".join(said)


def _run_of(gate: RunGate, specs: Iterable[Any], system: Any, messages: Iterable[Any]) -> Run:
    """The run that an agent's messages tell of."""
    steps: list[Step] = [*gate.declared(map(_declared, specs))]
    told = system if isinstance(system, str) else "\n".join(block.get("text", "") for block in system or ())
    if told.strip():
        steps.append(SystemPrompt(content=text_parts(told)))
    for message in messages:
        steps += _steps(message)
    return run_from(steps)


def _declared(spec: Any) -> dict[str, Any]:
    schema = spec["inputSchema"]
    return {"name": spec["name"], "description": spec["description"], "parameters": schema.get("json", schema)}


def _steps(message: Any) -> Sequence[Step]:
    """The steps of one message; tool results stand in messages of the user."""
    found: list[Step] = []
    by_model = message["role"] == "assistant"
    for block in message["content"]:
        if "toolUse" in block:
            use = block["toolUse"]
            found.append(ToolCall(id=use["toolUseId"], name=use["name"], arguments=_arguments(use["input"])))
        elif "toolResult" in block:
            given = block["toolResult"]
            said = [part.get("text", part.get("json")) for part in given["content"]]
            value = said[0] if len(said) == 1 else "\n".join(str(one) for one in said if one is not None)
            failed = given["status"] == "error"
            found.append(tool_result(given["toolUseId"], None, "done" if value is None else value, failed=failed))
        elif not by_model and "text" in block:
            found.append(UserInput(content=text_parts(block["text"])))
    text = _text_of(message) if by_model else ""
    return [*([ModelTurn(content=text_parts(text))] if text else []), *found]


def _arguments(given: Any) -> Any:
    return read_argument_object(plain(given))
