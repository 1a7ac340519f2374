"""CrewAI: a task guardrail that releases what the crew's tools support, and tools behind the check of their calls.

    from assay.integrations.agents.crewai import CrewChecks
    checks = CrewChecks(guard)
    clerk = Agent(role="Clerk", goal="...", backstory="...", tools=checks.tools([get_order]))
    task = Task(description="...", expected_output="...", agent=clerk, guardrail=checks.guardrail)

A guardrail of CrewAI is shown the output of a task and not what its tools returned, so the tools note what was called
and what came back, by task. A task whose prompt quotes the checked output of an earlier task has the evidence of that
one as well. An output that fails goes back to the agent with what is wrong, as CrewAI does with guardrails; what still
fails is an error, or with `on_withheld="answer"` becomes the policy's words.

CrewAI's hooks before tool calls let a call through where the hook itself breaks, so tools are wrapped instead. What the
framework shows besides (`verbose=True`, events, streams) are the model's raw words. The extra `crewai` installs what
this needs; tested with crewai 1.15.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.guard import Guard
from assay.guard.runs import run_evidence
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
)
from assay.policy import fallback_response
from assay.schema import HallucinationReport
from assay.schema.run import ModelTurn, Passage, Run, Step, ToolCall, UserInput, read_argument_object

try:
    from crewai.context import get_current_task_id
    from crewai.hooks import get_before_tool_call_hooks, register_before_tool_call_hook
    from crewai.tasks.output_format import OutputFormat
    from crewai.tools import BaseTool
    from pydantic import PrivateAttr
except ImportError as error:
    raise missing("crewai", error, "assay.integrations.agents") from error

__all__ = ["CrewChecks"]

_MOST_TASKS = 1_000
"""Tasks whose tools' results are kept, and checked outputs that later tasks may quote."""


_asked: Recent[tuple[str, tuple[str, ...]]] = Recent(_MOST_TASKS)
"""What a task that calls tools was asked, and what the other tasks of its crew have given, by the task's id."""


def _note(context: Any) -> None:
    """A hook that says of each call which task makes it. It decides nothing: without it no argument can be traced."""
    task, crew = context.task, context.crew
    if task is not None:
        others = [one.output.raw for one in getattr(crew, "tasks", None) or () if one is not task and one.output]
        _asked.put(str(task.id), (task.description, tuple(others)))


@dataclass(slots=True)
class _Seen:
    """What one task has called and got back, and how often its output failed."""

    steps: list[Step] = field(default_factory=list)
    failed: int = 0
    ended: CallRejectedError | None = None
    quoted: str | None = None
    """The prompt of the first attempt: that of a later one quotes outputs of this task that failed."""


class CrewChecks:
    """The guardrail of tasks and the check of tools; one may serve many crews.

    What tools returned counts for the task that called them, and for tasks whose prompt quotes its checked output:
    never for another run of the crew.
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
        self._seen: Recent[_Seen] = Recent(_MOST_TASKS)
        self._passed: Recent[tuple[Passage, ...]] = Recent(_MOST_TASKS)
        self._outputs: list[str] = []
        self._tools: dict[str, dict[str, Any]] = {}
        if _note not in get_before_tool_call_hooks():
            register_before_tool_call_hook(_note)

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
            schema = tool.args_schema.model_json_schema()
            self._tools[tool.name] = {"name": tool.name, "description": tool.description, "parameters": schema}
            made.append(_CheckedTool.around(tool, self._call))
        return made

    def guardrail(self, output: Any) -> tuple[bool, Any]:
        """Whether the output of a task passes, with what may be said or else what is wrong with it: a task's guardrail.

        Raises:
            WithheldError: it does not pass, nothing is left to try, and `on_withheld` is `raise` or it is structured.
            CallRejectedError: the model did not stop sending calls that are wrong, and `on_withheld` is `raise`.
            InputError: there is no task, so that nothing tells what its tools returned.
        """
        task = get_current_task_id()
        if task is None:
            raise InputError("this guardrail belongs to tasks of a crew: an agent by itself does not say what it saw")
        with self._lock:
            seen = self._of(task)
            structured = output.output_format is not OutputFormat.RAW
            gate = replace(self._gate, on_withheld="raise") if structured else self._gate
            if seen.ended is not None:
                return True, gate.instead_of_calls(seen.ended)
            run = self._run(output, seen)
            words = in_words(_parsed(output.raw)) if structured else output.raw
            report = gate.report(_ending(run, words), seen.failed)
            if gate.passes(report):
                return True, self._accept(task, run, output.raw if structured else gate.words(report))
            seen.failed += 1
            left = gate.versions() + 1 - seen.failed
            feedback = gate.feedback(report, left) if left > 0 else None
            return (False, feedback) if feedback is not None else self._withhold(gate, report, structured)

    def _withhold(self, gate: RunGate, report: HallucinationReport, structured: bool) -> tuple[bool, Any]:
        if structured:
            raise WithheldError(fallback_response(report), report)
        return True, gate.words(report)

    def _accept(self, task: str, run: Run, said: str) -> str:
        """Keep what bears an output out, for the tasks that quote it."""
        self._passed.put(said, tuple(Passage(id=one.id, text=one.text) for one in run_evidence(run).evidence))
        self._outputs = [*[one for one in self._outputs if one != said][-_MOST_TASKS + 1 :], said]
        self._seen.put(task, _Seen())  # another run of the same task begins anew
        return said

    def _of(self, task: str) -> _Seen:
        seen = self._seen.get(task)
        if seen is None:
            seen = _Seen()
            self._seen.put(task, seen)
        return seen

    def _run(self, output: Any, seen: _Seen) -> Run:
        """What a task was asked, what the tasks that it quotes have seen, and what it has seen itself."""
        if seen.quoted is None:
            told = [str(one.get("content") or "") for one in output.messages if one.get("role") in ("user", "system")]
            seen.quoted = "\n".join(told)
        return self._history(output.description, seen.quoted, seen)

    def _history(self, asked: str, quoting: str, seen: _Seen) -> Run:
        earlier: list[Step] = []
        for number, said in enumerate(one for one in self._outputs if one.strip() and one in quoting):
            passages = self._passed.get(said) or ()
            earlier += [one.model_copy(update={"id": f"task {number}: {one.id}"}) for one in passages]
        question = UserInput(content=text_parts(asked))
        return run_from([*self._gate.declared(self._tools.values()), question, *earlier, *seen.steps])

    def _call(self, tool: Any, arguments: dict[str, Any], execute: Callable[[], Any]) -> Any:
        """The result of a tool, or why it was not executed."""
        task = get_current_task_id()
        if task is None:
            return not_executed(tool.name)
        with self._lock:
            seen = self._of(task)
            call_id = f"call-{len(seen.steps)}"
            call = ToolCall(id=call_id, name=tool.name, arguments=read_argument_object(plain(arguments)))
            asked, others = _asked.get(task) or ("", ())
            run = self._history(asked, "\n".join(others), seen)
            try:
                decision = self._gate.decide(run, call)
            except CallRejectedError as error:
                seen.ended = error
                return str(error)
            seen.steps.append(call)
            if not decision.accepted:
                seen.steps.append(tool_result(call_id, tool.name, decision.message, failed=True))
                return decision.message
        try:
            found = execute()
        except Exception as error:
            with self._lock:
                seen.steps.append(tool_result(call_id, tool.name, str(error), failed=True))
            raise
        with self._lock:
            seen.steps.append(tool_result(call_id, tool.name, found if found is not None else "done", failed=False))
        return found


class _CheckedTool(BaseTool):
    """A tool that is executed only if its call passes."""

    _inner: Any = PrivateAttr()
    _call: Any = PrivateAttr()

    @classmethod
    def around(cls, inner: Any, call: Callable[..., Any]) -> Any:
        """Put a tool behind the check."""
        names = ("name", "description", "args_schema", "env_vars", "cache_function", "result_as_answer")
        made: Any = cls(**{name: getattr(inner, name) for name in names})
        made._inner, made._call = inner, call  # noqa: SLF001 its own
        return made

    def _run(self, *args: Any, **named: Any) -> Any:
        arguments = {**dict(zip(self.args_schema.model_fields, args, strict=False)), **named}
        return self._call(self, arguments, lambda: self._inner.run(**arguments))

    async def _arun(self, *args: Any, **named: Any) -> Any:
        return await asyncio.to_thread(self._run, *args, **named)


def _parsed(text: str) -> Any:
    """A structured output; what is no JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _ending(run: Run, words: str) -> Run:
    """The run with these words as its answer."""
    turns: Sequence[Step] = [ModelTurn(content=text_parts(words))] if words else []
    return run.model_copy(update={"steps": (*run.steps, *turns)})
