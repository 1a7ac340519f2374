"""What is recorded of the decision on an answer: each text with its report, and the calls that were checked beside it.

Calls have no report of their own, and neither has what could not be checked. Both are recorded as a report that holds
the decision and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from assay.errors import AssayError, InputError
from assay.guard import UNCHECKED, Guard, Ruling, ruling_on_calls
from assay.guard.streams import Job
from assay.policy import Route, labels_for
from assay.schema import Action, Coverage, Decision, Evidence, HallucinationReport, Identity, Retrieval, Timing
from assay.schema.run import ModelTurn, TextPart, ToolCall
from assay.schema.traces import read_run
from assay.verify.tools import CallCheck
from assay.wire.exchange import Exchange, check_new_calls
from assay.wire.interface import Json, calls_of

_ROUTES: Final = {Action.EMIT: Route.SERVE, Action.REVISE: Route.REVISE}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an answer, as it is recorded."""

    report: HallucinationReport
    asked: Mapping[str, Any]
    """The options of `Guard.check_run`; for calls, the run and how many of its last steps they are."""
    evidence: tuple[Evidence, ...] = ()


def parts_of_answer(exchange: Exchange, ruling: Ruling, answer: Json | None) -> list[Part]:
    """The parts of a whole answer.

    Args:
        exchange: the request.
        ruling: the ruling on its answer.
        answer: the answer; none where it cannot be read.
    """
    claim_free = exchange.asked.claim_free or bool(ruling.calls)
    parts = [_text_part(exchange, report, claim_free, ruling.calls) for report in ruling.reports]
    if ruling.calls and answer is not None:
        parts.append(_calls_part(exchange, ruling, exchange.wire.shown(answer).calls))
    return parts or [unchecked_part(exchange, ruling)]


def parts_of_job(
    exchange: Exchange, job: Job, found: Mapping[str, Ruling], *, stops: bool, beside: Sequence[CallCheck] = ()
) -> list[Part]:
    """The parts of one job of a stream: texts that have ended, calls, and what stops the stream.

    Args:
        exchange: the request.
        job: the job.
        found: the rulings on it.
        stops: whether a part that does not pass ends the stream.
        beside: the checks of the calls beside the texts, as far as they were made.
    """
    parts: list[Part] = []
    for text in job.texts:
        ruling = found[text.channel]
        if not text.final and (ruling.passes or ruling.waits or not stops):
            continue
        claim_free = not text.final or exchange.asked.claim_free or job.with_calls
        texts = [_text_part(exchange, report, claim_free, beside) for report in ruling.reports]
        parts += texts or [unchecked_part(exchange, ruling)]
    if job.calls:
        ruling = next(found[name] for name in job.calls)
        calls = [call for one in job.calls.values() for call in calls_of(one, exchange.wire.name)[0]]
        parts.append(_calls_part(exchange, ruling, calls) if ruling.calls else unchecked_part(exchange, ruling))
    return parts


def _text_part(
    exchange: Exchange, report: HallucinationReport, claim_free: bool, beside: Sequence[CallCheck] = ()
) -> Part:
    asked = exchange.asked
    if beside and report.action is Action.ESCALATE:
        # A reviewer who approves the text releases these calls with it, and has to see them.
        calls = (*report.tool_call_validations, *(call.validation() for call in beside))
        report = report.model_copy(update={"tool_call_validations": calls})
    run = exchange.run.append(ModelTurn(content=(TextPart(text=report.output),)))
    failed = 0
    if report.revision is not None and report.action is not Action.EMIT:
        failed = len(report.revision.attempts)
    return Part(
        report,
        {
            "run": run.model_dump(mode="json"),
            "now": exchange.now.isoformat(),
            "sources": list(asked.counted),
            "question": asked.question,
            "stakes": (asked.stakes or exchange.stakes).value,
            "task": asked.task,
            "claim_free": claim_free,
            "revisions_failed": failed,
            "run_id": exchange.report_id,
        },
        asked.evidence or (),
    )


def _calls_part(exchange: Exchange, ruling: Ruling, calls: Sequence[ToolCall]) -> Part:
    return Part(
        report_of_calls(exchange.guard, exchange.report_id, ruling_on_calls(ruling.calls)),
        {
            "run": exchange.run.append(*calls).model_dump(mode="json"),
            "now": exchange.now.isoformat(),
            "calls": len(calls),
            "run_id": exchange.report_id,
        },
    )


def unchecked_part(exchange: Exchange, ruling: Ruling) -> Part:
    """The part of an answer that could not be checked."""
    return Part(report_of_calls(exchange.guard, exchange.report_id, ruling), {"unchecked": list(ruling.reasons)})


def report_of_calls(guard: Guard, run_id: str, ruling: Ruling) -> HallucinationReport:
    """A report of the decision on calls, or on what could not be checked at all.

    Args:
        guard: the guard whose policy and verifier decided.
        run_id: the name of the run.
        ruling: the decision.
    """
    action = Action.BLOCK if ruling.action == UNCHECKED else Action(ruling.action)
    decision = Decision(
        action=action, route=_ROUTES.get(action, Route.WITHHOLD).value, reasons=ruling.reasons, response=ruling.notice
    )
    return HallucinationReport(
        run_id=run_id,
        output="",
        tool_call_validations=tuple(call.validation() for call in ruling.calls),
        retrieval=Retrieval(evidence=0, windows=0, pairs=0, pairs_possible=0),
        coverage=Coverage(
            characters=0, checked=0, not_checkable=0, unchecked=0, reasons=() if ruling.calls else ruling.reasons
        ),
        action=action,
        decision=decision,
        labels=labels_for(decision),
        policy=Identity(name=guard.policy.name, digest=guard.policy.digest, overlays=guard.policy.overlays),
        verifier=guard.verifier,
        timing=Timing(total_ms=0.0),
    )


def calls_again(guard: Guard, asked: Mapping[str, Any]) -> HallucinationReport:
    """The report of recorded calls, checked again.

    Args:
        guard: the guard whose policy and verifier the report names.
        asked: the recorded options of the calls.

    Raises:
        InputError: the record cannot be read.
    """
    try:
        run, count, now = read_run(asked["run"]), int(asked["calls"]), datetime.fromisoformat(asked["now"])
        calls = [call for call in run.steps[len(run.steps) - count :] if isinstance(call, ToolCall)]
        before = run.model_copy(update={"steps": run.steps[: len(run.steps) - count]})
    except (AssayError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"expected calls as they are recorded, but they cannot be read: {error}") from error
    return report_of_calls(guard, str(asked["run_id"]), ruling_on_calls(check_new_calls(before, calls, now)))
