"""smolagents: an agent whose tools are called, and whose final answers come out, only if they pass.

    from assay.integrations.agents.smolagents import checked_agent
    agent = checked_agent(CodeAgent(tools=[get_order], model=model), guard)
    agent.run("Where is my order W-17?")

The check of answers is one of the agent's own `final_answer_checks`: what fails goes back to the model as the step's
error. What the agent says when it has reached `max_steps` is asked of the model outside of these checks, and is checked
where it is made. Tools are wrapped, so that calls are checked whether a model names them or its code makes them. Calls
and answers are read once, as plain data: what was checked is what is executed and what comes out.

A model's words are never evidence. An agent that another one manages has its manager's user and evidence, not its
manager's words, and gives it what its tools returned, not its report. What a model's own program prints is none either.

Code gets functions in the place of tools, whose attributes lead nowhere, and may not look into frames. smolagents'
local executor is no sandbox all the same, by its own word: modules that you authorise and functions that you add run
unchecked. Streams (`run(stream=True)`) give out answers before any check, and are refused, as are executors that run
tools elsewhere. Memory and callbacks show the model's raw words: they are not for readers.

The extra `smolagents` installs what this needs; tested with smolagents 1.26.
"""

import ast
import json
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from threading import RLock
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.guard import Guard
from assay.integrations.agents.turns import ending
from assay.integrations.run_gate import (
    GateOptions,
    RunGate,
    in_words,
    missing,
    plain,
    run_from,
    text_parts,
    tool_result,
)
from assay.policy import fallback_response
from assay.schema import HallucinationReport
from assay.schema.run import Run, Step, ToolCall, ToolResult, UserInput, plain_json, read_argument_object

try:
    from smolagents import (
        ChatMessage,
        CodeAgent,
        LocalPythonExecutor,
        MultiStepAgent,
        PythonInterpreterTool,
        TaskStep,
        Tool,
    )
    from smolagents.agents import RunResult
    from smolagents.local_python_executor import InterpreterError, PythonExecutor
    from smolagents.utils import AgentError
except ImportError as error:
    raise missing("smolagents", error, "assay.integrations.agents") from error

__all__ = ["checked_agent"]

_ANSWERS = "final_answer"
"""The tool by which an agent answers; its argument is checked as the answer."""
_NO_JSON_TYPE = frozenset({"any", "audio", "image"})
"""Types of smolagents' inputs that JSON Schema does not have."""
_TO_FRAMES = frozenset(
    [f"{kind}_{to}" for kind in ("gi", "cr", "ag") for to in ("frame", "code", "yieldfrom", "await", "origin")]
    + [f"f_{to}" for to in ("back", "builtins", "code", "generator", "globals", "locals")]
    + ["tb_frame", "tb_next"]
)
"""Attributes that lead from generators, coroutines and tracebacks to the frames below, and so to the guard.

They are those of the table of types and members in the documentation of Python's module inspect.
"""


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
    _refuse_what_goes_around(agent)
    _Checked(agent, RunGate(guard, **options))
    return agent


def _refuse_what_goes_around(agent: Any) -> None:
    """Look at an agent and at those that it manages before any is changed.

    Raises:
        InputError: one is no agent of smolagents, is behind a guard already, or runs its tools elsewhere.
    """
    if not isinstance(agent, MultiStepAgent):
        raise InputError(f"expected an agent of smolagents, got {type(agent).__name__}")
    if isinstance(getattr(agent.run, "__self__", None), _Checked):
        raise InputError("this agent is behind a guard already")
    if isinstance(agent, CodeAgent):
        executor = agent.python_executor
        if not isinstance(executor, LocalPythonExecutor):
            raise InputError(
                f"a {type(executor).__name__} runs tools where nothing checks their calls; "
                "use the local executor, or a ToolCallingAgent"
            )
        if executor.static_tools is not None:
            raise InputError(
                "this agent has run without a guard, and its code may have kept its tools: "
                "put a new agent behind the guard before its first run"
            )
    for managed in agent.managed_agents.values():
        _refuse_what_goes_around(managed)


class _Checked:
    """One agent behind the gate, with the calls and results of its run."""

    def __init__(self, agent: Any, gate: RunGate, manager: "_Checked | None" = None) -> None:
        self.agent, self._gate, self._manager = agent, gate, manager
        self._lock = RLock()  # a ToolCallingAgent makes parallel calls in threads
        self.running = RLock()  # an agent has one memory, and so one run at a time
        self.numbers: Iterable[int] = count() if manager is None else manager.numbers
        self._memory: Any = None
        self._seen: list[tuple[int, Step]] = []
        self.before: tuple[Step, ...] | None = None
        self._tasks_of_manager: list[Any] = []
        self._failed = 0
        self._end: CallRejectedError | HallucinationReport | None = None
        self._passed: HallucinationReport | None = None
        self._answer: Any = None
        self._inner_run: Callable[..., Any] = agent.run
        self._inner_last: Callable[..., Any] = agent.provide_final_answer
        self.agents: list[_Checked] = []
        self._wrap()
        if isinstance(agent, CodeAgent):
            agent.python_executor = _CheckedExecutor(agent.python_executor)
        agent.final_answer_checks.append(self.assay)
        agent.run = self.run
        agent.provide_final_answer = self.last_answer

    def _wrap(self) -> None:
        """Put the agent's tools, and the agents that it manages, behind the gate; those added later as well."""
        agent = self.agent
        for name, tool in agent.tools.items():
            if name != _ANSWERS and not isinstance(tool, _CheckedTool):
                agent.tools[name] = _CheckedTool(tool, self, None)
        for name, managed in agent.managed_agents.items():
            if not isinstance(managed, _CheckedTool):
                _refuse_what_goes_around(managed)
                self.agents.append(_Checked(managed, self._gate, self))
                agent.managed_agents[name] = _CheckedTool(managed, self, self.agents[-1])

    def run(self, *args: Any, **named: Any) -> Any:
        """`MultiStepAgent.run`, with what may be said as its output.

        Raises:
            InputError: a stream is asked for, which gives out answers before they are checked.
            WithheldError: no answer passes, and the options ask for errors.
            CallRejectedError: the model goes on with calls that are wrong, and the options ask for errors.
        """
        if named.get("stream") or (len(args) > 1 and args[1]):
            raise InputError("a stream gives out an answer before it is checked: run the agent without stream=True")
        with self.running:
            return self._run_once(args, named)

    def _run_once(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with self._lock:
            self._failed, self._end, self._passed, self._answer = 0, None, None, None
            self._wrap()
        try:
            found = self._inner_run(*args, **named)
        except AgentError:
            if self._end is None:
                raise
            found = None
        if self._end is not None:
            said: Any = self._instead()
        elif self._passed is not None:
            said = self._gate.words(self._passed) if isinstance(self._answer, str) else self._answer
        else:
            raise InputError("the agent's answer was not checked: nothing of it comes out")
        full = named.get("return_full_result")
        if isinstance(found, RunResult) or (
            found is None and (self.agent.return_full_result if full is None else full)
        ):
            steps = self.agent.memory.get_full_steps() if found is None else found.steps
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
        self._passed = report if self._gate.passes(report) else None
        if self._passed is not None:
            return True
        self._failed += 1
        left = self._gate.versions() + 1 - self._failed
        feedback = self._gate.feedback(report, left) if left > 0 else None
        if feedback is None:
            self._end = report
            self.agent.interrupt()
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

    def call(self, tool: Any, arguments: dict[str, Any], execute: Callable[[dict[str, Any]], Any]) -> Any:
        """Execute a tool if its call passes, with the arguments as they were checked.

        Raises:
            CallRejectedError: it is rejected; smolagents tells the model why.
        """
        given = plain_json(arguments)
        value = given.value if given.faults else _exact(given.value)
        with self._lock:
            run = self._run()
            call = ToolCall(
                id=f"call-{next(iter(self.numbers))}", name=tool.name, arguments=read_argument_object(value)
            )
            try:
                decision = self._gate.decide(run, call)
            except CallRejectedError as error:
                self._end = error
                self.agent.interrupt()
                raise
            self._add(call)
            if not decision.accepted:
                self._add(tool_result(call.id, call.name, decision.message, failed=True))
                raise CallRejectedError(decision.message, decision)
        try:
            found = execute(value)
        except Exception as error:  # the code of the tool, of any kind: noted as a failed result, then raised again
            with self._lock:
                self._add(tool_result(call.id, call.name, str(error), failed=True))
            raise
        with self._lock:
            if tool.gives_evidence:
                self._add(tool_result(call.id, call.name, found, failed=False))
            else:
                self._add(ToolResult(call_id=call.id, name=call.name))
        return found

    def managed(self, checked: "_Checked", ask: Callable[[], Any]) -> Any:
        """What an agent that this one manages reports; what it has seen becomes seen here.

        Args:
            checked: the managed agent.
            ask: runs it.
        """
        with checked.running:
            with self._lock:
                checked.before = tuple(self._timed_steps())
            try:
                return ask()
            finally:
                with self._lock:
                    for step in checked.end_of_managed():
                        self._add(step)

    def end_of_managed(self) -> list[Step]:
        """The steps of a run that the manager asked for, when it has ended."""
        with self._lock:
            self._timed_steps()  # takes notice of the memory, where nothing was called
            self._tasks_of_manager = [step for step in self._memory if isinstance(step, TaskStep)]
            self.before = None
            return [step for _, step in self._seen]

    def _instead(self) -> Any:
        if isinstance(self._end, CallRejectedError):
            return self._gate.instead_of_calls(self._end)
        if self._end is None:
            raise InputError("the agent's answer was not checked: nothing of it comes out")
        return self._gate.words(self._end)

    def _report(self, answer: Any) -> HallucinationReport:
        run = self._run()
        self._answer = _exact(plain(answer))
        return self._gate.report(ending(run, in_words(self._answer)), self._failed)

    def _add(self, step: Step) -> None:
        self._seen.append((len(self.agent.memory.steps), step))

    def _run(self) -> Run:
        """The tools, what was asked, and what was called and returned, in order."""
        with self._lock:
            return run_from([*self._gate.declared(self._declared()), *self._timed_steps()])

    def _timed_steps(self) -> list[Step]:
        """What was asked, and what was called and returned; a memory that was reset begins anew.

        The task from a manager is a model's words; the steps of the manager itself take its place.
        """
        memory = self.agent.memory.steps
        if memory is not self._memory:
            self._memory, self._seen, self._tasks_of_manager = memory, [], []
        timed: list[tuple[float, Step]] = [
            (place, UserInput(content=text_parts(step.task)))
            for place, step in enumerate(memory)
            if isinstance(step, TaskStep)
            and self.before is None
            and not any(step is one for one in self._tasks_of_manager)
        ]
        timed += [(place + 0.5, step) for place, step in self._seen]
        return [*(self.before or ()), *(step for _, step in sorted(timed, key=lambda one: one[0]))]

    def _declared(self) -> list[dict[str, Any]]:
        """The declarations of all tools whose calls this agent's run may tell of: its manager's and its agents' too."""
        root = self
        while root._manager is not None:
            root = root._manager
        found: dict[str, dict[str, Any]] = {}
        every = [root]
        for one in every:
            every += one.agents
        for one in [*every, self]:
            tools = [*one.agent.tools.values(), *one.agent.managed_agents.values()]
            found |= {tool.name: _declared(tool) for tool in tools if tool.name != _ANSWERS}
        return list(found.values())


def answer_words(end: CallRejectedError | HallucinationReport) -> str:
    """The text in the agent's memory in place of an answer that was withheld."""
    return str(end) if isinstance(end, CallRejectedError) else fallback_response(end)


def _exact(value: Any) -> Any:
    """Plain JSON in Python's own types: a type that a model's code makes may say one thing here and another there."""
    return json.loads(json.dumps(value))


class _CheckedTool(Tool):
    """A tool, or an agent that is managed, that is executed only if its call passes."""

    skip_forward_signature_validation = True

    def __init__(self, inner: Any, checked: _Checked, managed: _Checked | None) -> None:
        self.name, self.description = inner.name, inner.description
        self.inputs, self.output_type = inner.inputs, inner.output_type
        self.output_schema = getattr(inner, "output_schema", None)
        self._inner, self._checked, self._managed = inner, checked, managed
        self.gives_evidence = managed is None and not isinstance(inner, PythonInterpreterTool)
        super().__init__()

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **named: Any) -> Any:
        """Execute the tool.

        Raises:
            CallRejectedError: the call is rejected.
            TypeError: an argument is none of the tool's inputs.
        """
        given = list(args)
        if len(given) == 1 and not named and isinstance(given[0], Mapping) and set(given[0]) <= set(self.inputs):
            named = dict(given.pop())
        by_place = dict(zip(self.inputs, given, strict=False))
        unknown = [*given[len(by_place) :], *(name for name in named if name not in self.inputs or name in by_place)]
        if unknown:
            raise TypeError(f"{self.name} takes each of {', '.join(self.inputs) or 'no arguments'} once, and no others")
        how = {"sanitize_inputs_outputs": sanitize_inputs_outputs} if isinstance(self._inner, Tool) else {}

        def execute(arguments: dict[str, Any]) -> Any:
            if self._managed is None:
                return self._inner(**arguments, **how)
            return self._checked.managed(self._managed, lambda: self._inner(**arguments))

        return self._checked.call(self, {**by_place, **named}, execute)

    def forward(self, *args: Any, **named: Any) -> Any:
        """As the call: there is no way around the check."""
        return self(*args, **named)


class _CheckedExecutor(PythonExecutor):
    """An executor whose code has no way from a tool's name to what is behind the check."""

    def __init__(self, inner: LocalPythonExecutor) -> None:
        self._inner = inner

    def __call__(self, code_action: str) -> Any:
        """Run code.

        Raises:
            InterpreterError: it looks into frames.
        """
        try:
            tree = ast.parse(code_action)
        except SyntaxError:
            return self._inner(code_action)  # which tells the model
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                _may_be_read(node.attr)
        return self._inner(code_action)

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Give the code variables."""
        self._inner.send_variables(variables)

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Give the code functions for the tools: all attributes of a function that lead on are dunder ones.

        In the place of `getattr` and `setattr` it gets some that read a name as what it is.
        """
        self._inner.send_tools({name: _as_function(tool) for name, tool in tools.items()})
        self._inner.static_tools |= {"getattr": _getattr, "setattr": _setattr}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _as_function(tool: Any) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        return tool(*args, **named)

    call.__name__, call.__doc__ = tool.name, tool.description
    return call


def _may_be_read(name: object) -> str:
    """The name of an attribute that code may use; exactly a text, whatever type it pretends to be.

    Raises:
        InterpreterError: it is a dunder name, or leads to a frame.
    """
    if not isinstance(name, str):
        raise InterpreterError(f"the name of an attribute is a text, got {type(name).__name__}")
    exact = str.__str__(name)
    if (exact.startswith("__") and exact.endswith("__")) or exact in _TO_FRAMES:
        raise InterpreterError(f"Forbidden access to attribute: {exact}")
    return exact


def _getattr(obj: Any, name: str, default: Any = None) -> Any:
    return getattr(obj, _may_be_read(name), default)


def _setattr(obj: Any, name: str, value: Any) -> None:
    setattr(obj, _may_be_read(name), value)


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
