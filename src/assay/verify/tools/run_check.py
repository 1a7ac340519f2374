"""Stage 1 over a run: collects the sources at each step, checks each call at its step and the actions of the answer.

Sources are the texts of the user, the system prompt, retrieved passages and tool results. The model's own texts are
not: an invented identifier does not become real by repetition. A result counts from its step on, so that nothing later
can justify a call. The result of a failed call counts too, since error messages name amounts and limits that honest
calls then use.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assay.schema import ToolCallValidation
from assay.schema.report_parts import ArgumentProvenance, EntityKind, SourceKind, TraceStatus
from assay.schema.run import Passage, Run, Step, SystemPrompt, ToolCall, ToolDeclaration, ToolResult, UserInput
from assay.verify.tools.action_claims import ClaimedAction, call_outcomes, claimed_actions
from assay.verify.tools.call_check import CallCheck, Toolbox, check_call
from assay.verify.tools.retries import AttemptLog
from assay.verify.tools.schema_validators import ValidatorCache
from assay.verify.tools.tracing.sources import Sources, SourceText
from assay.verify.tools.tracing_rules import Rules


@dataclass(frozen=True, slots=True)
class ToolReport:
    """The result of stage 1 for a run."""

    calls: tuple[CallCheck, ...]
    """One check for each call, in order."""
    attempts: AttemptLog
    """The rejected calls among them."""
    actions: tuple[ClaimedAction, ...]
    """The actions that the final answer claims; empty where there is no final answer yet."""

    @property
    def accepted(self) -> bool:
        """Whether every call was accepted."""
        return all(check.accepted for check in self.calls)

    def validations(self) -> tuple[ToolCallValidation, ...]:
        """The checks in the form of the report, each with the earlier rejected attempts at its tool."""
        validations: list[ToolCallValidation] = []
        for check in self.calls:
            before = self.attempts.attempts_at(check.tool)
            earlier_rejections = sum(
                1 for earlier in validations if earlier.tool == check.tool and earlier.status != "accepted"
            )
            validations.append(check.validation().model_copy(update={"attempts": before[:earlier_rejections]}))
        return tuple(validations)


def source_of(step: Step, index: int) -> SourceText | None:
    """The source that a step gives, with the step's index in its id; none for the model's own texts and calls."""
    source_id = f"step:{index}"
    match step:
        case UserInput():
            return SourceText(SourceKind.USER, source_id, step.text)
        case SystemPrompt():
            return SourceText(SourceKind.SYSTEM, source_id, step.text)
        case ToolResult():
            return SourceText(SourceKind.TOOL, source_id, _result_text(step))
        case Passage():
            words = (step.title, step.source, step.text)
            return SourceText(SourceKind.PASSAGE, source_id, "\n".join(word for word in words if word))
        case _:
            return None


def _result_text(result: ToolResult) -> str:
    if result.structured is None:
        return result.text
    return f"{result.text}\n{_as_json(result.structured)}" if result.text else _as_json(result.structured)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def sources_before(run: Run, index: int, now: datetime | None = None) -> Sources:
    """The sources of a call at an index of the run: everything before it."""
    texts = (source_of(step, number) for number, step in enumerate(run.steps[:index]))
    return Sources((text for text in texts if text is not None), now)


def check_tools(
    run: Run,
    rules: Rules | None = None,
    *,
    now: datetime | None = None,
    retries: int | None = None,
    cache: ValidatorCache | None = None,
    declarations: Iterable[ToolDeclaration] = (),
) -> ToolReport:
    """Check every call of a run at its step, and the actions that its final answer claims.

    `declarations` are tools that the transcript does not declare; declarations of the run replace them. `now` is the
    time of the run.
    """
    known = {declaration.name: declaration for declaration in declarations}
    tools = Toolbox(known.values(), cache)
    sources = Sources((), now)
    log = AttemptLog() if retries is None else AttemptLog(retries)
    checks: list[CallCheck] = []
    for index, step in enumerate(run.steps):
        if isinstance(step, ToolDeclaration):
            known[step.name] = step
            tools = Toolbox(known.values(), cache)
        elif isinstance(step, ToolCall):
            check = check_call(step, tools, sources, rules)
            checks.append(check)
            log = log.record(check)
            sources = sources.append(*named_by(check, index))
        elif (text := source_of(step, index)) is not None:
            sources = sources.append(text)
    return ToolReport(tuple(checks), log, check_actions(run, tuple(known.values())))


def check_actions(run: Run, declarations: tuple[ToolDeclaration, ...] = ()) -> tuple[ClaimedAction, ...]:
    """The actions that the final answer of a run claims, checked against its calls and their results."""
    answer = run.final_answer
    if answer is None:
        return ()
    calls = [step for step in run.steps if isinstance(step, ToolCall)]
    results = [step for step in run.steps if isinstance(step, ToolResult)]
    return claimed_actions(answer, call_outcomes(calls, results, declarations))


def named_by(check: CallCheck, index: int) -> list[SourceText]:
    """The new names in an accepted call, such as a file that it creates, as sources of later calls."""
    if not check.accepted:
        return []
    return [
        SourceText(SourceKind.CALL, f"step:{index}", str(entity.value))
        for entity in check.provenance
        if _is_new(entity)
    ]


def _is_new(entity: ArgumentProvenance) -> bool:
    return entity.kind is EntityKind.PATH and entity.status is TraceStatus.CHOSEN
