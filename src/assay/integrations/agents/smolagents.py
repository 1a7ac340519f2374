"""smolagents: an agent whose tools are called, and whose final answers come out, only if they pass.

    from assay.integrations.agents.smolagents import checked_agent
    agent = checked_agent(CodeAgent(tools=[get_order], model=model), guard)
    agent.run("Where is my order W-17?")

The check of answers is one of the agent's own `final_answer_checks`: what fails goes back to the model as the step's
error. What the agent says when it has reached `max_steps` is asked of the model outside of these checks, and is checked
where it is made. Tools are wrapped, so that calls are checked whether a model names them or its code makes them.

Streams (`run(stream=True)`) give out answers before any check, and are refused, as are executors that run tools
elsewhere. Memory and callbacks show the model's raw words: they are not for readers.

The extra `smolagents` installs what this needs; tested with smolagents 1.26.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import RLock
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.guard import Guard
from assay.integrations.run_gate import GateOptions, RunGate, in_words, missing, run_from, text_parts, tool_result
from assay.policy import fallback_response
from assay.schema import HallucinationReport
from assay.schema.run import ModelTurn, Run, Step, ToolCall, UserInput, plain_json, read_argument_object

try:
    from smolagents import ChatMessage, CodeAgent, LocalPythonExecutor, MultiStepAgent, TaskStep, Tool
    from smolagents.agents import RunResult
    from smolagents.utils import AgentError
except ImportError as error:
    raise missing("smolagents", error, "assay.integrations.agents") from error

__all__ = ["checked_agent"]

_ANSWERS = "final_answer"
"""The tool by which an agent answers; its argument is checked as the answer."""
_NO_JSON_TYPE = frozenset({"any", "audio", "image"})
"""Types of smolagents' inputs that JSON Schema does not have."""


def checked_agent(agent: Any, guard: Guard, **options: Unpack[GateOptions]) -> Any:
    """Put an agent behind the guard, with the agents that it manages.

    Args:
        agent: a `CodeAgent` or `ToolCallingAgent`; it is changed, and given back.
        guard: what checks.
        options: those of `assay.integrations.run_gate.RunGate`. The agent's `max_steps` bounds `attempts` and
            `retries`.

    Returns:
        The agent. Its `run` raises `WithheldError`, or gives the policy's words with `on_withheld="answer"`, where no
        answer passes, and alike `CallRejectedError` where the model goes on with calls that are wrong.

    Raises:
        InputError: it is no agent of smolagents, is behind a guard already, or runs its tools elsewhere.
    """
    if not isinstance(agent, MultiStepAgent):
        raise InputError(f"expected an agent of smolagents, got {type(agent).__name__}")
    if isinstance(agent.tools.get(_ANSWERS), _CheckedTool) or any(
        isinstance(one, _CheckedTool) for one in agent.tools.values()
    ):
        raise InputError("this agent is behind a guard already")
    if isinstance(agent, CodeAgent) and not isinstance(agent.python_executor, LocalPythonExecutor):
        raise InputError(
            f"a {type(agent.python_executor).__name__} runs tools where nothing checks their calls; "
            "use the local executor, or a ToolCallingAgent"
        )
    _Checked(agent, RunGate(guard, **options))
    return agent


class _Checked:
    """What one agent has seen in its run, and its parts behind the gate."""

    def __init__(self, agent: Any, gate: RunGate) -> None:
        self._agent, self._gate = agent, gate
        self._lock = RLock()  # a ToolCallingAgent makes parallel calls in threads
        self._memory: Any = None
        self._seen: list[tuple[int, Step]] = []
        self._failed = 0
        self._end: CallRejectedError | HallucinationReport | None = None
        self._passed: HallucinationReport | None = None
        self._inner_run: Callable[..., Any] = agent.run
        self._inner_last: Callable[..., Any] = agent.provide_final_answer
        for name, tool in agent.tools.items():
            if name != _ANSWERS:
                agent.tools[name] = _CheckedTool(tool, self)
        for name, managed in agent.managed_agents.items():
            checked_agent(managed, gate.guard, **_options(gate))
            agent.managed_agents[name] = _CheckedTool(managed, self)
        self._tools = [tool for tools in (agent.tools, agent.managed_agents) for tool in tools.values()]
        agent.final_answer_checks.append(self.assay)
        agent.run = self.run
        agent.provide_final_answer = self.last_answer

    def run(self, *args: Any, **named: Any) -> Any:
        """`MultiStepAgent.run`, with what may be said as its output.

        Raises:
            InputError: a stream is asked for, which gives out answers before they are checked.
            WithheldError: no answer passes, and the options ask for errors.
            CallRejectedError: the model goes on with calls that are wrong, and the options ask for errors.
        """
        if named.get("stream") or (len(args) > 1 and args[1]):
            raise InputError("a stream gives out an answer before it is checked: run the agent without stream=True")
        with self._lock:
            self._failed, self._end, self._passed = 0, None, None
        try:
            found = self._inner_run(*args, **named)
        except AgentError:
            if self._end is None:
                raise
            found = None
        output = found.output if isinstance(found, RunResult) else found
        if self._end is not None:
            said: Any = self._instead()
        elif self._passed is not None and isinstance(output, str):
            said = self._gate.words(self._passed)
        elif self._passed is not None:
            said = output
        else:
            raise InputError("the agent's answer was not checked: nothing of it comes out")
        full = named.get("return_full_result")
        if isinstance(found, RunResult) or (
            found is None and (self._agent.return_full_result if full is None else full)
        ):
            steps = self._agent.memory.get_full_steps() if found is None else found.steps
            usage, timing = (None, None) if found is None else (found.token_usage, found.timing)
            state = "max_steps_error" if found is None else found.state
            return RunResult(output=said, state=state, steps=steps, token_usage=usage, timing=timing)
        return said

    def assay(self, answer: Any, memory: Any, agent: Any = None) -> bool:  # noqa: ARG002 the framework's own signature
        """The check of a final answer: true, or the findings as an error for the model.

        Raises:
            WithheldError: it does not pass; smolagents makes an error of the step of it.
        """
        report = self._report(answer)
        if self._gate.passes(report):
            self._passed = report
            return True
        self._failed += 1
        left = self._gate.versions() + 1 - self._failed
        feedback = self._gate.feedback(report, left) if left > 0 else None
        if feedback is None:
            self._end = report
            self._agent.interrupt()
        raise WithheldError(feedback or fallback_response(report), report)

    def last_answer(self, task: str) -> Any:
        """What is said when the steps are used up: the model's last answer if it passes, else the words in its place.

        Raises:
            WithheldError: it does not pass, and the options ask for errors.
        """
        if self._end is not None:  # the last step decided already
            return ChatMessage(role="assistant", content=answer_words(self._end))
        message = self._inner_last(task)
        content = message.content
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
        report = self._report(text)
        said = self._gate.words(report)
        self._passed = report if self._gate.passes(report) else None
        self._end = None if self._passed is not None else report
        return ChatMessage(role=message.role, content=said, token_usage=message.token_usage)

    def call(self, tool: Any, arguments: dict[str, Any], execute: Callable[[], Any]) -> Any:
        """Execute a tool if its call passes.

        Raises:
            CallRejectedError: it is rejected; smolagents tells the model why.
        """
        with self._lock:
            run = self._run()
            call = ToolCall(
                id=f"call-{len(self._seen)}",
                name=tool.name,
                arguments=read_argument_object(plain_json(arguments).value),
            )
            try:
                decision = self._gate.decide(run, call)
            except CallRejectedError as error:
                self._end = error
                self._agent.interrupt()
                raise
            self._add(call)
            if not decision.accepted:
                self._add(tool_result(call.id, call.name, decision.message, failed=True))
                raise CallRejectedError(decision.message, decision)
        try:
            found = execute()
        except Exception as error:
            with self._lock:
                self._add(tool_result(call.id, call.name, str(error), failed=True))
            raise
        with self._lock:
            self._add(tool_result(call.id, call.name, found, failed=False))
        return found

    def _instead(self) -> Any:
        if isinstance(self._end, CallRejectedError):
            return self._gate.instead_of_calls(self._end)
        if self._end is None:
            raise InputError("the agent's answer was not checked: nothing of it comes out")
        return self._gate.words(self._end)

    def _report(self, answer: Any) -> HallucinationReport:
        run = self._run()
        said = in_words(answer)
        gate = self._gate if isinstance(answer, str) else replace(self._gate, on_withheld="raise")
        turns = [ModelTurn(content=text_parts(said))] if said else []
        return gate.report(run.model_copy(update={"steps": (*run.steps, *turns)}), self._failed)

    def _add(self, step: Step) -> None:
        self._seen.append((len(self._agent.memory.steps), step))

    def _run(self) -> Run:
        """What was asked, and what was called and returned, in order; a memory that was reset begins anew."""
        memory = self._agent.memory.steps
        if memory is not self._memory:
            self._memory, self._seen = memory, []
        told: list[tuple[float, Step]] = [
            (place, UserInput(content=text_parts(step.task)))
            for place, step in enumerate(memory)
            if isinstance(step, TaskStep)
        ]
        told += [(place + 0.5, step) for place, step in self._seen]
        declared = self._gate.declared(_declared(tool) for tool in self._tools if tool.name != _ANSWERS)
        return run_from([*declared, *(step for _, step in sorted(told, key=lambda one: one[0]))])


def answer_words(end: CallRejectedError | HallucinationReport) -> str:
    """What stands in the agent's memory where an answer was withheld."""
    return str(end) if isinstance(end, CallRejectedError) else fallback_response(end)


def _options(gate: RunGate) -> GateOptions:
    """The options of a gate once more, for the agents that its agent manages."""
    return {
        "on_withheld": gate.on_withheld,
        "attempts": gate.attempts,
        "retries": gate.retries,
        "evidence": gate.evidence,
        "sources": gate.sources,
        "rules": gate.rules,
        "clock": gate.clock,
        "stakes": gate.stakes,
        "task": gate.task,
        "claim_free": gate.claim_free,
        "on_report": gate.on_report,
    }


class _CheckedTool(Tool):
    """A tool, or an agent that is managed, that is executed only if its call passes."""

    skip_forward_signature_validation = True

    def __init__(self, inner: Any, checked: _Checked) -> None:
        self.name, self.description = inner.name, inner.description
        self.inputs, self.output_type = inner.inputs, inner.output_type
        self.output_schema = getattr(inner, "output_schema", None)
        self._inner, self._checked = inner, checked
        super().__init__()

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **named: Any) -> Any:
        """Execute the tool.

        Raises:
            CallRejectedError: the call is rejected.
        """
        given: list[Any] = list(args)
        if len(given) == 1 and not named and isinstance(given[0], Mapping) and set(given[0]) <= set(self.inputs):
            named = dict(given.pop())
        arguments = {**dict(zip(self.inputs, given, strict=False)), **named}
        how = {"sanitize_inputs_outputs": sanitize_inputs_outputs} if isinstance(self._inner, Tool) else {}
        return self._checked.call(self, arguments, lambda: self._inner(*given, **named, **how))

    def forward(self, *args: Any, **named: Any) -> Any:
        """As the call: there is no way around the check."""
        return self(*args, **named)


def _declared(tool: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {key: value for key, value in given.items() if key in {"type", "description", "enum", "items"}}
        for name, given in tool.inputs.items()
    }
    for given in properties.values():
        types = given.get("type")
        if not _NO_JSON_TYPE.isdisjoint([types] if isinstance(types, str) else types or ()):
            del given["type"]
    required = [name for name, given in tool.inputs.items() if not given.get("nullable")]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": tool.name, "description": tool.description, "parameters": schema}
