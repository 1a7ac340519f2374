"""Checking agent runs: the tool calls, the claims of the final answer, the actions that it claims, and the gate.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from assay.guard.request import CheckRequest, EvidenceLike
from assay.guard.runs.evidence import DEFAULT_SOURCES, question_of, run_evidence
from assay.schema import Evidence, HallucinationReport, Stakes, coerce_evidence
from assay.schema.run import Run, RunBuilder, ToolCall

if TYPE_CHECKING:  # loaded with the first run: half of what a first check would wait for has nothing to do with it
    from assay.guard.check.pipeline import Ports
    from assay.guard.parts import HasParts
    from assay.guard.runs.tool_calls import ToolLike
    from assay.guard.runs.watch import CallDecision, RunRequest, RunWatch
    from assay.verify.consistency import Prober
    from assay.verify.tools import AttemptLog, Rules


def check_run(
    self: HasParts,
    run: Run | RunBuilder | object,
    *,
    format: str | None = None,  # noqa: A002 the word of `read_run`
    tools: Iterable[ToolLike] = (),
    rules: Rules | None = None,
    now: datetime | None = None,
    sources: Collection[str] = DEFAULT_SOURCES,
    evidence: EvidenceLike = None,
    prober: Prober | None = None,
    question: str | None = None,
    stakes: Stakes | str = Stakes.MEDIUM,
    task: str = "qa",
    claim_free: bool = False,
    revisions_failed: int = 0,
    run_id: str | None = None,
) -> HallucinationReport:
    """Check one agent run (docs/concepts.md#agent-runs).

    1. Every tool call: its arguments against the declaration, each entity in them traced to who said it.
    2. Every claim of the final answer against what the run's tools, passages and users said; what the answer
       claims to have done against the trace.
    3. Critical claims once more with `prober`, where there is one.
    4. The gate. A run that has not ended, that has faults, or a call that went through and was rejected or could
       not be checked, is never emitted.

    Args:
        run: a run, a builder, or a transcript in any form that `read_run` reads.
        format: the transcript's format, where it is known.
        tools: declarations that the transcript does not carry, also as functions or as chat formats write them.
            A call of which no declaration is known is unchecked.
        rules: which arguments are traced, and to whom.
        now: when the run took place; relative dates in arguments are counted from it.
        sources: what of the run may be evidence: any of `tools`, `passages`, `user` and `system`.
        evidence: evidence beside the run, as `check` takes it.
        prober: what asks again on critical claims.
        question: what the answer answers; the user's last words by default.
        stakes: how much depends on it.
        task: the kind of task; the policy may hold some to no evidence, but their tool calls are checked.
        claim_free: whether the answer is declared to contain no claims.
        revisions_failed: how many revisions have failed already.
        run_id: a name for the run; its own by default.

    Returns:
        The report: `tool_call_validations` for every call, `claims` for the final answer, whose evidence ids name
        the step, as in `step:4/get_order`.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    from assay.guard.check.pipeline import ports_of
    from assay.guard.runs.tool_calls import read_tools
    from assay.guard.runs.watch import RunRequest
    from assay.schema.traces import read_run

    read = run.run() if isinstance(run, RunBuilder) else read_run(run, format=format)
    asked = RunRequest(read_tools(tools), rules, now, sources, prober)
    request = CheckRequest(
        "",
        evidence,
        question,
        stakes,
        task,
        claim_free=claim_free,
        revisions_failed=revisions_failed,
        run_id=run_id,
    )
    return run_report(read, asked, request, ports_of(self._parts))


def run_report(run: Run, asked: RunRequest, request: CheckRequest, ports: Ports) -> HallucinationReport:
    """The report on a run: its calls are traced, and its answer is checked like any other.

    Args:
        run: the run.
        asked: the tools, rules and other settings of the check.
        request: the request for the check of the answer; the answer itself is taken from the run.
        ports: the parts that the check goes through.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    from assay.guard.check.chat_budget import probe
    from assay.guard.check.pipeline import begin, conclude
    from assay.guard.check.probes import NO_PROBER, Probing
    from assay.guard.runs.context import RunContext
    from assay.guard.runs.tool_calls import findings_of

    begun = time.perf_counter()
    findings = findings_of(run, tools=asked.tools, rules=asked.rules, now=asked.now, checked=asked.checked)
    own = run_evidence(run, asked.sources)
    request = ports.screener.admitted(replace(request, question=request.question or question_of(run)))
    evidence: tuple[Evidence, ...] = (*coerce_evidence(request.evidence), *own.evidence)
    whole = replace(
        request,
        answer=run.final_answer or "",
        evidence=evidence,
        run_id=request.run_id or run.run_id,
    )
    read = time.perf_counter()
    context = RunContext(run, findings, own.notes, tuple(tool.name for tool in asked.tools))
    draft = begin(whole, ports, context)
    drafted = time.perf_counter()
    judged = ports.tiers.judge(draft.jobs)
    draft = draft.timed(tools=read - begun, judging=time.perf_counter() - drafted)
    if asked.prober is not None:
        claims = draft.of_claims(judged, ports.policy)
        found = probe(asked.prober, claims, draft.text, draft.question, draft.evidence_items)
        draft = replace(draft, probing=found)
    elif draft.meter is None and not ports.policy.consistency_probes:
        draft = replace(draft, probing=Probing(unprobed=NO_PROBER))
    return conclude([draft], ports, judged)[0]


def check_tool_call(
    self: HasParts,
    run: Run | RunBuilder | object,
    call: ToolCall,
    *,
    tools: Iterable[ToolLike] = (),
    rules: Rules | None = None,
    now: datetime | None = None,
    attempts: AttemptLog | None = None,
) -> CallDecision:
    """Check one call before it is executed, against everything that the run has seen so far.

    The network is not asked. The run's earlier calls are traced once more; for a loop that checks every call as
    the run grows, `watch` keeps what was found of them.

    Args:
        run: the run up to the call, without it.
        call: the call.
        tools: declarations that the run does not carry.
        rules: which arguments are traced, and to whom.
        now: the time, which relative dates are counted from.
        attempts: the rejected attempts before this one, as the last decision gave them; those of the run by
            default.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    watching = watch(self, run, tools=tools, rules=rules, now=now)
    return watching.check(call) if attempts is None else watching.check(call, attempts)


def watch(
    self: HasParts,
    run: Run | RunBuilder | object | None = None,
    *,
    run_id: str = "run",
    tools: Iterable[ToolLike] = (),
    rules: Rules | None = None,
    now: datetime | None = None,
    retries: int | None = None,
    sources: Collection[str] = DEFAULT_SOURCES,
    prober: Prober | None = None,
) -> RunWatch:
    """Follow a run as it grows: what was checked of it is not checked again.

    Args:
        run: where it stands so far; by default it begins now.
        run_id: its name, where it begins now.
        tools: declarations that the run does not carry.
        rules: which arguments are traced, and to whom.
        now: the time, which relative dates are counted from.
        retries: how often a rejected call of one tool may be sent again before the model is told to stop;
            `assay.verify.tools.retries.MOST_RETRIES` by default.
        sources: what of the run may be evidence.
        prober: what asks again on critical claims.
    """
    from assay.guard.check.pipeline import ports_of
    from assay.guard.runs.tool_calls import read_tools
    from assay.guard.runs.watch import RunRequest, RunWatch
    from assay.schema.traces import read_run
    from assay.verify.tools import MOST_RETRIES

    begun = Run(run_id=run_id) if run is None else run.run() if isinstance(run, RunBuilder) else read_run(run)
    asked = RunRequest(read_tools(tools), rules, now, sources, prober)
    check = partial(run_report, ports=ports_of(self._parts))
    return RunWatch(begun, asked, MOST_RETRIES if retries is None else retries, check)
