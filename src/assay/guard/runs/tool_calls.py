"""The tool calls of a run in the report: the validation of each call, and the faults that keep an answer back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from assay.errors import InputError
from assay.schema import Issue, ToolCallValidation
from assay.schema.run import Executor, ModelTurn, Run, ToolCall, ToolDeclaration, ToolResult, UserInput
from assay.schema.traces import read_tool
from assay.verify.tools import (
    CallCheck,
    CallOutcome,
    CallStatus,
    ClaimedAction,
    Rules,
    ToolReport,
    as_quote,
    call_outcomes,
    check_tools,
    tool_from_function,
)

CUT_OFF: Final = frozenset(
    {
        # OpenAI, Anthropic, Amazon Bedrock, and OpenTelemetry's conventions for GenAI
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
        "content_filter",
        "content_filtered",
        "incomplete",
        "error",
        "cancelled",
        # Google's FinishReason: everything but STOP, and what says nothing
        "safety",
        "recitation",
        "language",
        "other",
        "blocklist",
        "prohibited_content",
        "spii",
        "malformed_function_call",
        "malformed_response",
        "missing_thought_signature",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
        "image_other",
        "no_image",
        "continuation",
    }
)
"""Stop reasons that leave an answer unfinished, in the words of the formats, as `is_cut_off` compares them.

`guardrail_intervened` is not among them: what a guardrail says in place of an answer is complete.
"""
UNDECLARED: Final = "undeclared"
"""The type of a declaration that stands in for one that the transcript does not carry."""
MOST_REASONS: Final = 20
"""The most reasons of one kind that a report lists."""

ToolLike = ToolDeclaration | Mapping[str, Any] | Any
"""A declaration, one as a chat format writes it, or a Python function."""


def read_tools(tools: Iterable[ToolLike]) -> tuple[ToolDeclaration, ...]:
    """Reads declarations of any form.

    Raises:
        InputError: something is no declaration, or a function's signature cannot be written as one.

    >>> [tool.name for tool in read_tools([{"type": "function", "function": {"name": "find", "parameters": {}}}])]
    ['find']
    """
    if isinstance(tools, str | bytes | Mapping) or callable(tools):
        raise InputError(f"tools are given as a list of declarations or functions, got {type(tools).__name__}")
    return tuple(_read_tool(tool) for tool in tools)


def _read_tool(tool: ToolLike) -> ToolDeclaration:
    if isinstance(tool, ToolDeclaration):
        return tool
    if isinstance(tool, Mapping):
        read = read_tool(dict(tool), "")
        if not read.name:
            raise InputError(f"a declared tool has a name; got the members {sorted(map(str, tool))}")
        return read
    if callable(tool):
        return tool_from_function(tool)
    raise InputError(f"a tool is a declaration, a mapping or a function, got {type(tool).__name__}")


@dataclass(frozen=True, slots=True)
class RunFindings:
    """The findings about a run's calls, and the faults that keep its answer from being emitted."""

    validations: tuple[ToolCallValidation, ...]
    actions: tuple[ClaimedAction, ...]
    """The actions that the final answer claims."""
    outcomes: tuple[CallOutcome, ...]
    """The outcome of each call, in order."""
    rejected: int
    """How many calls since the last user input were rejected and went through."""
    faults: tuple[str, ...]
    """Faults of the run; each keeps the answer from being emitted."""
    notes: tuple[str, ...] = ()
    """Further notes for a reader."""


def findings_of(
    run: Run,
    *,
    tools: Sequence[ToolDeclaration] = (),
    rules: Rules | None = None,
    now: datetime | None = None,
    checked: Sequence[CallCheck] = (),
) -> RunFindings:
    """Checks every call of a run, and tells what that means for its answer.

    Args:
        run: the run.
        tools: declarations that the transcript does not carry.
        rules: which arguments are traced, and to whom.
        now: when the run took place; relative dates are counted from it.
        checked: the checks of the calls if they were made as the run grew; they are not made again.
    """
    places = [index for index, step in enumerate(run.steps) if isinstance(step, ToolCall)]
    calls = [step for step in run.steps if isinstance(step, ToolCall)]
    declared = (*tools, *(step for step in run.steps if isinstance(step, ToolDeclaration)))
    if len(checked) == len(calls) and calls:
        report = ToolReport(tuple(checked), _log_of(checked), _actions_of(run, declared))
    else:
        report = check_tools(run, rules, now=now, declarations=tools if declared else stand_ins(calls))
        if not declared:
            report = replace(report, calls=tuple(without_schema(check) for check in report.calls))
    results = [step for step in run.steps if isinstance(step, ToolResult)]
    outcomes = call_outcomes(calls, results, declared)
    validations = tuple(
        validation.model_copy(update={"step": place, "executed": outcome.answered and outcome.failed is None})
        for validation, place, outcome in zip(report.validations(), places, outcomes, strict=True)
    )
    return RunFindings(
        validations,
        report.actions,
        outcomes,
        _rejected(run, validations, outcomes),
        (*_ending(run), *_faults(run), *_unchecked(validations, calls, outcomes)),
        _notes(calls, outcomes),
    )


def stand_ins(calls: Iterable[ToolCall]) -> tuple[ToolDeclaration, ...]:
    """Declarations without a schema for the tools that are called, for runs that declare none."""
    return tuple(ToolDeclaration(name=name, type=UNDECLARED) for name in dict.fromkeys(call.name for call in calls))


def without_schema(check: CallCheck) -> CallCheck:
    """The check of a call whose schema is not known: the call is traced and never accepted."""
    if check.status is not CallStatus.ACCEPTED:
        return check
    issue = Issue(
        code="tool.undeclared",
        path="",
        message=f"{as_quote(check.tool)} is not declared, so its arguments could not be checked.",
    )
    return replace(check, status=CallStatus.UNCHECKED, issues=(*check.issues, issue))


def _log_of(checks: Iterable[CallCheck]) -> Any:
    from assay.verify.tools import AttemptLog

    log = AttemptLog()
    for check in checks:
        log = log.record(check)
    return log


def _actions_of(run: Run, declared: tuple[ToolDeclaration, ...]) -> tuple[ClaimedAction, ...]:
    from assay.verify.tools import check_actions

    return check_actions(run, declared)


def _rejected(run: Run, validations: Sequence[ToolCallValidation], outcomes: Sequence[CallOutcome]) -> int:
    """How many rejected calls since the last user input went through or are still open.

    A call that failed did no harm, and what the model said afterwards is judged by itself.
    """
    asked = max((index for index, step in enumerate(run.steps) if isinstance(step, UserInput)), default=-1)
    return sum(
        validation.status == "rejected" and (validation.step or 0) > asked and outcome.failed is None
        for validation, outcome in zip(validations, outcomes, strict=True)
    )


def _ending(run: Run) -> tuple[str, ...]:
    """Why the run has no final answer, or one that is cut off; empty if neither is so."""
    if run.final_answer is None or not run.final_turns:
        last = run.steps[-1] if run.steps else None
        if isinstance(last, ToolCall):
            open_calls = _last_calls(run)
            names = ", ".join(as_quote(name) for name in open_calls[:5])
            return (f"The run has not ended: its last turn calls {names}.",)
        what = "it has no steps" if last is None else f"its last step is a {last.kind.replace('_', ' ')}"
        return (f"The run has no final answer: {what}.",)
    stops = {step.stop_reason for index in run.final_turns if isinstance(step := run.steps[index], ModelTurn)}
    return tuple(
        f"The model stopped because of {as_quote(stop)}: the answer is cut off."
        for stop in sorted(stop for stop in stops if stop is not None and is_cut_off(stop))
    )


def is_cut_off(stop_reason: str) -> bool:
    """Whether a model that stopped for this reason left its answer unfinished; formats spell reasons differently.

    >>> is_cut_off("length"), is_cut_off("FinishReason.MAX_TOKENS"), is_cut_off("content-filter"), is_cut_off("stop")
    (True, True, True, False)
    """
    return stop_reason.rpartition(".")[2].casefold().replace("-", "_").strip() in CUT_OFF


def _last_calls(run: Run) -> list[str]:
    names: list[str] = []
    for step in reversed(run.steps):
        if not isinstance(step, ToolCall):
            break
        names.append(step.name)
    return list(dict.fromkeys(reversed(names)))


def _faults(run: Run) -> tuple[str, ...]:
    """The faults of the transcript: what was read may not be what happened."""
    reasons = [f"The transcript is faulty: {fault.message}." for fault in run.faults]
    for index, step in enumerate(run.steps):
        reasons += [f"Step {index} of the run is faulty: {fault.message}." for fault in step.faults]
    return _some(reasons)


def _unchecked(
    validations: Sequence[ToolCallValidation], calls: Sequence[ToolCall], outcomes: Sequence[CallOutcome]
) -> tuple[str, ...]:
    """Calls that could not be checked, and malformed ones that did not fail: what ran is not what was read."""
    reasons = []
    for validation, call, outcome in zip(validations, calls, outcomes, strict=True):
        if validation.status == "unchecked":
            why = validation.errors[0] if validation.errors else "no reason is known."
            reasons.append(f"The call of {as_quote(call.name)} could not be checked: {why}")
        elif not call.arguments.well_formed and validation.status == "rejected" and outcome.failed is None:
            reasons.append(f"The call of {as_quote(call.name)} has malformed arguments and did not fail.")
    return _some(reasons)


def _notes(calls: Sequence[ToolCall], outcomes: Sequence[CallOutcome]) -> tuple[str, ...]:
    unanswered = [
        call.name
        for call, outcome in zip(calls, outcomes, strict=True)
        if not outcome.answered and call.executor is Executor.CLIENT
    ]
    if not unanswered:
        return ()
    names = ", ".join(as_quote(name) for name in dict.fromkeys(unanswered))
    return (f"The run has no result for {len(unanswered)} of its calls: {names}.",)


def _some(reasons: Sequence[str]) -> tuple[str, ...]:
    unique = tuple(dict.fromkeys(reasons))
    if len(unique) <= MOST_REASONS:
        return unique
    return (*unique[:MOST_REASONS], f"There are {len(unique) - MOST_REASONS} further reasons of this kind.")
