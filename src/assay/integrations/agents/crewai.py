"""CrewAI: a task guardrail that releases what the crew's tools support, and tools behind the check of their calls.

    from assay.integrations.agents.crewai import CrewChecks
    checks = CrewChecks(guard)
    clerk = Agent(role="Clerk", goal="...", backstory="...", tools=checks.tools([get_order]))
    task = Task(description="...", expected_output="...", agent=clerk, guardrail=checks.guardrail)

A guardrail of CrewAI is shown the output of a task and not what its tools returned, so the tools note what was called
and what came back, by the run of the task: every execution of a task is a run of its own, which CrewAI's hook before
steps begins. A task has the evidence of the checked outputs that CrewAI puts into its prompt, of the same kickoff. What
planners, conversations and delegating agents add to a task are a model's words, and no evidence.

A structured output (`output_pydantic`, `output_json`) is made before the check, since CrewAI makes it after its
guardrails, with another call of the model. What comes out is what was checked: a later guardrail or hook that changes
it ends the task. An output that fails goes back to the agent with what is wrong, as CrewAI does with guardrails; what
still fails is an error, or with `on_withheld="answer"` becomes the policy's words.

CrewAI's hooks before tool calls let a call through where the hook itself breaks, so tools are wrapped instead, and
their results are not cached: a cached one would be seen by no check. What the framework shows besides (`verbose=True`,
events, streams) are the model's raw words. The extra `crewai` installs what this needs; tested with crewai 1.15.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Unpack
from weakref import WeakKeyDictionary

from pydantic import BaseModel, PrivateAttr
from pydantic_core import to_jsonable_python

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.guard import Guard
from assay.guard.runs import run_evidence
from assay.integrations.agents.turns import ending, parsed
from assay.integrations.run_gate import (
    GateOptions,
    RunGate,
    in_words,
    missing,
    not_executed,
    plain,
    run_from,
    text_parts,
    tool_result,
)
from assay.policy import fallback_response
from assay.schema import HallucinationReport
from assay.schema.run import Passage, Run, Step, ToolCall, ToolDeclaration, UserInput, read_argument_object

try:
    from crewai.context import get_current_task_id
    from crewai.hooks.dispatch import HookAborted, InterceptionPoint, get_hooks, register
    from crewai.tasks.output_format import OutputFormat
    from crewai.tasks.task_output import TaskOutput
    from crewai.tools import BaseTool
    from crewai.tools.tool_failure import ToolFailure
    from crewai.utilities.constants import NOT_SPECIFIED
    from crewai.utilities.converter import convert_to_model
    from crewai.utilities.string_utils import interpolate_only
except ImportError as error:
    raise missing("crewai", error, "assay.integrations.agents") from error

__all__ = ["CrewChecks"]

_MOST_NESTED = 16
"""Kickoffs, and runs of tasks, that may be within each other."""


@dataclass(slots=True, eq=False)
class _Kickoff:
    """One kickoff of a crew, and the runs of its tasks by the task's id."""

    crew: Any
    runs: dict[str, "_TaskRun"] = field(default_factory=dict)


@dataclass(slots=True, eq=False, weakref_slot=True)
class _TaskRun:
    """One execution of a task."""

    task: Any
    asked: tuple[str, ...]
    """The words of its author and its user: the description without additions by models."""
    quoted: tuple["_TaskRun", ...]
    """The runs whose outputs are quoted in its prompt."""
    released: Any = None
    """What the guardrail released."""
    output: Any = None
    """The output that the task ended with."""


_kickoffs: ContextVar[tuple[_Kickoff, ...]] = ContextVar("assay_crewai_kickoffs", default=())
_runs: ContextVar[tuple[_TaskRun, ...]] = ContextVar("assay_crewai_runs", default=())
"""Those that have begun in this context, the last of them last."""
_templates: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()
"""The descriptions of tasks as their maker wrote them."""


def _begin_kickoff(context: Any) -> None:
    """Hook at the kickoff of a crew or a flow."""
    if context.crew is not None:
        _kickoffs.set((*_kickoffs.get(), _Kickoff(context.crew))[-_MOST_NESTED:])
        for task in context.crew.tasks:
            _keep_template(task, context.crew)


def _begin_task(context: Any) -> None:
    """Hook at the beginning of a task, or of a method of a flow."""
    if context.kind != "task":
        return
    task, crew = context.task, _crew_of(context)
    _runs.set(
        tuple(run for run in _runs.get() if run.task is not task)
    )  # first: CrewAI swallows errors of the lines below
    found = [one for one in _kickoffs.get() if crew is not None and one.crew is crew]
    kickoff = found[-1] if found else _Kickoff(crew)
    if not found:
        _keep_template(task, crew)
    run = _TaskRun(task, _asked(task, crew), _quoted(task, kickoff, str(context.payload or "")))
    kickoff.runs[str(task.id)] = run
    _runs.set((*_runs.get(), run)[-_MOST_NESTED:])


def _end_task(context: Any) -> None:
    """Hook at the end of a task.

    Raises:
        HookAborted: its output is not the one that the guardrail released.
    """
    run = _current() if context.kind == "task" else None
    if run is None or run.task is not context.task:
        return
    try:
        unchanged = run.released is None or run.released == _said_by(context.payload)
    except (AttributeError, TypeError, ValueError, RecursionError):  # CrewAI would swallow them and continue
        unchanged = False
    if not unchanged:
        raise HookAborted(
            "the output was changed after it was checked: put CrewChecks.guardrail last in the task's guardrails",
            "assay",
        )
    run.output = context.payload


_HOOKS = {
    InterceptionPoint.EXECUTION_START: _begin_kickoff,
    InterceptionPoint.PRE_STEP: _begin_task,
    InterceptionPoint.POST_STEP: _end_task,
}
"""They record which task runs; where one is missing no call is executed and no output passes."""


def _current() -> _TaskRun | None:
    """The run of the task that this context belongs to; none where the hooks did not see it begin."""
    task_id = get_current_task_id()
    if task_id is None or any(hook not in get_hooks(point) for point, hook in _HOOKS.items()):
        return None
    return next((run for run in reversed(_runs.get()) if str(run.task.id) == task_id), None)


def _crew_of(context: Any) -> Any:
    crew = context.crew or getattr(context.agent, "crew", None)
    return crew if hasattr(crew, "tasks") else None


def _keep_template(task: Any, crew: Any) -> None:
    """Keep a description as its maker wrote it; where planners may have added to it, as it was before."""
    written = getattr(task, "_original_description", None) or task.description
    known = _templates.get(task)
    if known is None or not (_plans(task, crew) and written.startswith(known)):
        _templates[task] = written


def _plans(task: Any, crew: Any) -> bool:
    """Whether a model may add its plan to the task's description."""
    agents = [task.agent, *(getattr(crew, "agents", None) or ()), getattr(crew, "manager_agent", None)]
    return bool(getattr(crew, "planning", False)) or any(getattr(one, "planning_enabled", False) for one in agents)


def _asked(task: Any, crew: Any) -> tuple[str, ...]:
    """What a task is asked, without plans and without what a model said in a conversation.

    In a conversation a model fills in the inputs, so that the description is its maker's without them.
    """
    inputs = getattr(crew, "_inputs", None) or {}
    template = _templates.get(task, task.description)
    if inputs.get("crew_chat_messages"):
        try:
            messages = json.loads(str(inputs["crew_chat_messages"]))
            said = [str(one["content"]) for one in messages if one["role"] == "user"]
        except (ValueError, TypeError, KeyError):
            said = []
        return (template, *said)
    if not _plans(task, crew):
        return (task.description,)
    own = interpolate_only(input_string=template, inputs=inputs) if inputs else template
    return (own,) if task.description.startswith(own) else ()


def _quoted(task: Any, kickoff: _Kickoff, prompt: str) -> tuple[_TaskRun, ...]:
    """The runs of this kickoff whose outputs CrewAI puts into the prompt of a task."""
    tasks = list(getattr(kickoff.crew, "tasks", ()))
    before = tasks[: next((place for place, one in enumerate(tasks) if one is task), 0)]
    named = before if task.context is NOT_SPECIFIED else task.context or ()
    runs = [kickoff.runs.get(str(one.id)) for one in before if any(one is other for other in named)]
    return tuple(
        run
        for run in runs
        if run is not None and run.output is not None and run.output is run.task.output and run.output.raw in prompt
    )


def _with_quoted(run: _TaskRun) -> list[_TaskRun]:
    """A run behind all that it quotes, and that they quote."""
    found = [run]
    for one in found:
        found += [quoted for quoted in one.quoted if quoted not in found]
    return found[::-1]


def _said_by(output: Any) -> Any:
    """Everything in an output that a reader sees."""
    return to_jsonable_python((output.raw, output.pydantic, output.json_dict), serialize_unknown=True)


@dataclass(slots=True)
class _Seen:
    """The calls and results of one run of a task, and how often its output failed."""

    steps: list[Step] = field(default_factory=list)
    failed: int = 0
    ended: CallRejectedError | None = None
    evidence: tuple[Passage, ...] = ()
    """The evidence for its output, once that has passed."""
    declared: dict[str, ToolDeclaration] = field(default_factory=dict)
    lock: Any = field(default_factory=RLock)

    def declare(self, tool: ToolDeclaration) -> None:
        """Note what a tool that is called takes: another agent of the task may have another one of that name."""
        if self.declared.get(tool.name) != tool:
            self.declared[tool.name] = tool
            self.steps.append(tool)


class CrewChecks:
    """The guardrail of tasks and the check of tools; one may serve many crews.

    What tools returned counts for the run of the task that called them, and for later tasks of the same kickoff whose
    prompt has its checked output: never for another run of the crew.
    """

    def __init__(self, guard: Guard, **options: Unpack[GateOptions]) -> None:
        """Make the checks.

        Args:
            guard: what checks.
            options: those of `assay.integrations.run_gate.RunGate`; `attempts` is bounded by a task's
                `guardrail_max_retries` (3 by default).
        """
        self._gate = RunGate(guard, **options)
        self._lock = RLock()
        self._seen: WeakKeyDictionary[_TaskRun, _Seen] = WeakKeyDictionary()
        for point, hook in _HOOKS.items():
            if hook not in get_hooks(point):
                register(point, hook)

    def tools(self, tools: Iterable[Any]) -> list[Any]:
        """Tools that are executed only if their call passes; the model is told why not.

        Args:
            tools: tools of CrewAI, for the `tools` of agents or tasks.

        Raises:
            InputError: one is no tool of CrewAI.
        """
        made = []
        for tool in tools:
            if not isinstance(tool, BaseTool):
                raise InputError(f"expected tools of CrewAI, got {type(tool).__name__}; see crewai.tools")
            made.append(_CheckedTool.around(tool, self._call))
        return made

    def guardrail(self, output: Any) -> tuple[bool, Any]:
        """Whether the output of a task passes, with what may be said or else what is wrong with it: a task's guardrail.

        Raises:
            WithheldError: it does not pass, nothing is left to try, and `on_withheld` is `raise` or it is structured.
            CallRejectedError: the model did not stop sending calls that are wrong, and `on_withheld` is `raise`.
            InputError: there is no task, so that nothing tells what its tools returned.
        """
        task_run = _current()
        if task_run is None or not isinstance(output, TaskOutput):
            raise InputError(
                "this guardrail belongs to tasks of a crew, with CrewAI's hooks in place: "
                "nothing says what was seen here"
            )
        seen = self._of(task_run)
        with seen.lock:
            structured = output.output_format is not OutputFormat.RAW
            gate = replace(self._gate, on_withheld="raise") if structured else self._gate
            if seen.ended is not None:
                return True, _released(task_run, output, gate.instead_of_calls(seen.ended))
            made = _converted(output, task_run.task) if structured else output
            run = self._history(task_run, seen)
            report = gate.report(ending(run, _words(made) if structured else made.raw), seen.failed)
            if gate.passes(report):
                passages = run_evidence(run, set(gate.sources) & {"tools", "passages"}).evidence
                seen.evidence = tuple(Passage(id=one.id, text=one.text) for one in passages)
                return True, _released(task_run, made, made.raw if structured else gate.words(report))
            seen.failed += 1
            left = gate.versions() + 1 - seen.failed
            feedback = gate.feedback(report, left) if left > 0 else None
            if feedback is not None:
                return False, feedback
            return True, _released(task_run, output, self._withheld(gate, report, structured))

    def _withheld(self, gate: RunGate, report: HallucinationReport, structured: bool) -> str:
        if structured:
            raise WithheldError(fallback_response(report), report)
        return gate.words(report)

    def _of(self, run: _TaskRun) -> _Seen:
        with self._lock:
            return self._seen.setdefault(run, _Seen())

    def _history(self, run: _TaskRun, seen: _Seen) -> Run:
        """The prompt of a task, the evidence of the tasks that it quotes, and its own calls and results."""
        earlier: list[Step] = []
        for number, quoted in enumerate(run.quoted):
            passages = self._of(quoted).evidence
            earlier += [one.model_copy(update={"id": f"task {number}: {one.id}"}) for one in passages]
        prompts = [asked for quoted in _with_quoted(run) for asked in quoted.asked]
        questions = [UserInput(content=text_parts(asked)) for asked in prompts]
        given = [
            tool.declaration() for tool in getattr(run.task, "tools", None) or () if isinstance(tool, _CheckedTool)
        ]
        return run_from([*self._gate.declared(given), *questions, *earlier, *seen.steps])

    def _call(self, tool: Any, arguments: dict[str, Any], execute: Callable[[], Any]) -> Any:
        """The result of a tool, or why it was not executed."""
        run = _current()
        if run is None:
            return not_executed(tool.name)
        seen = self._of(run)
        with seen.lock:
            seen.declare(*self._gate.declared([tool.declaration()])[-1:])
            call_id = f"call-{len(seen.steps)}"
            call = ToolCall(id=call_id, name=tool.name, arguments=read_argument_object(plain(arguments)))
            try:
                decision = self._gate.decide(self._history(run, seen), call)
            except CallRejectedError as error:
                seen.ended = error
                return str(error)
            seen.steps.append(call)
            if not decision.accepted:
                seen.steps.append(tool_result(call_id, tool.name, decision.message, failed=True))
                return decision.message
        try:
            found = execute()
        except Exception as error:  # the code of the tool, of any kind: noted as a failed result, then raised to CrewAI
            with seen.lock:
                seen.steps.append(tool_result(call_id, tool.name, str(error), failed=True))
            raise
        with seen.lock:
            failed = isinstance(found, ToolFailure)
            seen.steps.append(tool_result(call_id, tool.name, found if found is not None else "done", failed=failed))
        return found


def _never(*_: Any) -> bool:
    return False


class _CheckedTool(BaseTool):
    """A tool that is executed only if its call passes."""

    _inner: Any = PrivateAttr()
    _call: Any = PrivateAttr()

    @classmethod
    def around(cls, inner: Any, call: Callable[..., Any]) -> Any:
        """Put a tool behind the check. Its results are not cached: what comes from CrewAI's cache passes no check."""
        names = ("name", "description", "args_schema", "env_vars", "result_as_answer")
        made: Any = cls(**{name: getattr(inner, name) for name in names}, cache_function=_never)
        made._inner, made._call = inner, call  # noqa: SLF001 its own
        return made

    def declaration(self) -> dict[str, Any]:
        """What the model is told of the tool."""
        inner = self._inner
        schema = inner.args_schema.model_json_schema()
        return {"name": inner.name, "description": inner.description, "parameters": schema}

    def _run(self, *args: Any, **named: Any) -> Any:
        arguments = {**dict(zip(self.args_schema.model_fields, args, strict=False)), **named}
        return self._call(self, arguments, lambda: self._inner.run(**arguments))

    async def _arun(self, *args: Any, **named: Any) -> Any:
        return await asyncio.to_thread(self._run, *args, **named)


def _released(run: _TaskRun, output: Any, said: str) -> Any:
    """What the guardrail gives for an output that comes out, once it is noted.

    A whole output is given out as it is; for a text CrewAI would make a structured one of it.
    """
    structured = output.output_format is not OutputFormat.RAW
    run.released = _said_by(output) if structured else [said, None, None]
    return output if structured else said


def _converted(output: Any, task: Any) -> Any:
    """The output with its structured form, and no other words beside it; as it is where none can be made.

    CrewAI's converter asks the model where the text is no JSON of the right form, and may give JSON as text.
    """
    made = output.pydantic if output.pydantic is not None else output.json_dict
    if made is None:
        agent, converter = task.agent, task.converter_cls
        made = convert_to_model(output.raw, task.output_pydantic, task.output_json, agent, converter)
    while isinstance(made, str) and (read := parsed(made)) != made:
        made = read
    if not isinstance(made, BaseModel | dict):
        return output.model_copy(update={"pydantic": None, "json_dict": None})
    value = to_jsonable_python(made, serialize_unknown=True)
    raw = output.raw if parsed(output.raw) == value else json.dumps(value, ensure_ascii=False)
    pydantic, json_dict = (made, None) if isinstance(made, BaseModel) else (None, made)
    return output.model_copy(update={"raw": raw, "pydantic": pydantic, "json_dict": json_dict})


def _words(output: Any) -> str:
    """What a structured output tells its reader; the text itself where nothing could be made of it."""
    made = output.pydantic if output.pydantic is not None else output.json_dict
    return in_words(parsed(output.raw) if made is None else to_jsonable_python(made, serialize_unknown=True))
