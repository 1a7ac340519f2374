"""Stage 1 over a run: what may count as a source at each step, each call checked at its place, what the answer claims.

A source is what the user, the system prompt, a retrieved passage or a tool's result says. What the model says itself
is none: an invented identifier does not become real by being repeated. A result counts from the step at which it came,
so that no call is justified by what came after it; a failed call's result counts too, since error messages name
amounts and limits that honest calls then use.
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
    """What stage 1 found of a run."""

    calls: tuple[CallCheck, ...]
    """One check for each call, in order."""
    attempts: AttemptLog
    """The rejected ones among them."""
    actions: tuple[ClaimedAction, ...]
    """What the final answer claims to have done; empty where there is no final answer yet."""

    @property
    def accepted(self) -> bool:
        """Whether every call was accepted."""
        return all(check.accepted for check in self.calls)

    def validations(self) -> tuple[ToolCallValidation, ...]:
        """The checks as the report carries them, each with the rejected attempts at its tool that came before it."""
        made: list[ToolCallValidation] = []
        for check in self.calls:
            before = self.attempts.of(check.tool)
            done = sum(1 for earlier in made if earlier.tool == check.tool and earlier.status != "accepted")
            made.append(check.validation().model_copy(update={"attempts": before[:done]}))
        return tuple(made)


def source_of(step: Step, index: int) -> SourceText | None:
    """The source that a step is; none for what the model said or asked for. Its id is the step's place in the run."""
    name = f"step:{index}"
    match step:
        case UserInput():
            return SourceText(SourceKind.USER, name, step.text)
        case SystemPrompt():
            return SourceText(SourceKind.SYSTEM, name, step.text)
        case ToolResult():
            return SourceText(SourceKind.TOOL, name, _result_text(step))
        case Passage():
            words = (step.title, step.source, step.text)
            return SourceText(SourceKind.PASSAGE, name, "\n".join(word for word in words if word))
        case _:
            return None


def _result_text(result: ToolResult) -> str:
    if result.structured is None:
        return result.text
    return f"{result.text}\n{_flat(result.structured)}" if result.text else _flat(result.structured)


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def sources_before(run: Run, index: int, now: datetime | None = None) -> Sources:
    """What a call at a place of the run may refer to: everything that came before it."""
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
    """Checks every call of a run at its place, and what its final answer claims to have done.

    `declarations` are those that the transcript does not carry; those of the run replace them. `now` is when the run
    took place.
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
    """What the final answer of a run claims to have done, against its calls and their results."""
    answer = run.final_answer
    if answer is None:
        return ()
    calls = [step for step in run.steps if isinstance(step, ToolCall)]
    results = [step for step in run.steps if isinstance(step, ToolResult)]
    return claimed_actions(answer, call_outcomes(calls, results, declarations))


def named_by(check: CallCheck, index: int) -> list[SourceText]:
    """What an accepted call named itself, such as the file that it created: later calls may refer to it."""
    if not check.accepted:
        return []
    return [
        SourceText(SourceKind.CALL, f"step:{index}", str(entity.value))
        for entity in check.provenance
        if _is_new(entity)
    ]


def _is_new(entity: ArgumentProvenance) -> bool:
    return entity.kind is EntityKind.PATH and entity.status is TraceStatus.CHOSEN
