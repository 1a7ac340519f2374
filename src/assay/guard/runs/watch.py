"""Watching a run while it grows: each call is checked before it is executed, and the answer when it is given."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from threading import RLock
from typing import Unpack

from assay.guard.options import RunReportOptions
from assay.guard.request import CheckRequest, EvidenceLike
from assay.guard.runs.evidence import DEFAULT_SOURCES
from assay.guard.runs.tool_calls import stand_ins, without_schema
from assay.schema import HallucinationReport, Stakes, ToolCallValidation
from assay.schema.run import (
    ModelTurn,
    Run,
    RunBuilder,
    Step,
    SystemPrompt,
    TextPart,
    ToolCall,
    ToolDeclaration,
    UserInput,
)
from assay.verify.consistency import Prober
from assay.verify.tools import AttemptLog, CallCheck, Rules, Sources, Toolbox, check_call, named_by, source_of


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The tools, rules and other settings with which a run is checked."""

    tools: tuple[ToolDeclaration, ...] = ()
    """Declarations that the transcript does not carry; those that it carries replace them."""
    rules: Rules | None = None
    """Which arguments are traced, and to whom."""
    now: datetime | None = None
    """When the run took place; relative dates in arguments are counted from it."""
    sources: Collection[str] = DEFAULT_SOURCES
    """What of the run may be evidence: any of `tools`, `passages`, `user` and `system`."""
    prober: Prober | None = None
    """What asks again on critical claims."""
    checked: tuple[CallCheck, ...] = ()
    """The checks of the run's calls, if they were made as it grew."""


@dataclass(frozen=True, slots=True)
class CallDecision:
    """Whether one call may be executed, and what to tell the model if not."""

    check: CallCheck
    validation: ToolCallValidation
    """The finding in the form of the report, with the attempts that came before."""
    attempts: AttemptLog
    """The rejected attempts so far, this one included: to be handed in with the next call."""
    message: str
    """For the model: what is wrong and how to repair it, with the attempts that are left; empty for an accepted
    call."""

    @property
    def accepted(self) -> bool:
        """Whether the call may be executed; an unchecked one may not."""
        return self.check.accepted

    @property
    def may_retry(self) -> bool:
        """Whether the model may try this tool again."""
        return self.attempts.may_retry(self.check.tool)


class RunWatch:
    """One growing run, and what was found of its calls. Threads may share it: parallel calls of tools do.

    Made by `Guard.watch`. Steps are added in the order in which they happen; a call is checked once, when it is added
    or before.
    """

    def __init__(
        self,
        run: Run,
        asked: RunRequest,
        retries: int,
        check_run: Callable[[Run, RunRequest, CheckRequest], HallucinationReport],
    ) -> None:
        """Go on where a run stands."""
        self._asked = asked
        self._check_run = check_run
        self._retries = retries
        self._lock = RLock()
        self._builder = RunBuilder.from_run(run.model_copy(update={"steps": ()}))
        self._known = {tool.name: tool for tool in asked.tools}
        self._toolbox = Toolbox(self._known.values())
        self._sources = Sources((), asked.now)
        self._checks: list[CallCheck] = []
        self._log = AttemptLog(retries)
        self._ready: tuple[ToolCall, CallCheck] | None = None
        self.add(*run.steps)

    def add(self, *steps: Step) -> None:
        """Add what happened; a call that was not checked yet is checked now."""
        with self._lock:
            for step in steps:
                self._add(step)

    def user(self, text: str) -> None:
        """Add what the user says."""
        self.add(UserInput(content=(TextPart(text=text),)))

    def system(self, text: str) -> None:
        """Add what the maker of the agent tells it."""
        self.add(SystemPrompt(content=(TextPart(text=text),)))

    def model(self, text: str) -> None:
        """Add what the model says."""
        self.add(ModelTurn(content=(TextPart(text=text),)))

    def check(self, call: ToolCall, attempts: AttemptLog | None = None) -> CallDecision:
        """Whether a call may be executed now. The call is not added: `add` it with what became of it, or leave it.

        Args:
            call: the call.
            attempts: the rejected attempts before it; those of this watch since the last user input by default.
        """
        with self._lock:
            check = self._checked(call)
            before = self._log if attempts is None else attempts
            log = before.record(check)
            validation = check.validation().model_copy(update={"attempts": before.attempts_at(call.name)})
            decision = CallDecision(check, validation, log, log.reply(check))
            self._ready = (call, check)
            return decision

    def take(self, call: ToolCall) -> CallDecision:
        """Check a call and add it to the run in one step; whoever executes it, or does not, adds the result."""
        with self._lock:
            decision = self.check(call)
            self.add(call)
            return decision

    def run(self) -> Run:
        """The run so far."""
        with self._lock:
            return self._builder.run()

    def report(
        self,
        *,
        evidence: EvidenceLike = None,
        question: str | None = None,
        stakes: Stakes | str = Stakes.MEDIUM,
        task: str = "qa",
        claim_free: bool = False,
        revisions_failed: int = 0,
    ) -> HallucinationReport:
        """The report of the run so far, as `Guard.check_run` gives it; its calls are not checked again."""
        with self._lock:
            run, checks = self._builder.run(), tuple(self._checks)
        request = CheckRequest(
            "", evidence, question, stakes, task, claim_free=claim_free, revisions_failed=revisions_failed
        )
        return self._check_run(run, replace(self._asked, checked=checks), request)

    async def areport(self, **options: Unpack[RunReportOptions]) -> HallucinationReport:
        """As `report`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.report, **options)

    def _checked(self, call: ToolCall) -> CallCheck:
        """The check of a call at this place. If no tool is declared at all, the call is traced and stays unchecked."""
        if self._known:
            return check_call(call, self._toolbox, self._sources, self._asked.rules)
        return without_schema(check_call(call, Toolbox(stand_ins([call])), self._sources, self._asked.rules))

    def _add(self, step: Step) -> None:
        index = self._builder.add(step)
        if isinstance(step, ToolDeclaration):
            self._known[step.name] = step
            self._toolbox = Toolbox(self._known.values())
        elif isinstance(step, ToolCall):
            ready = self._ready
            check = ready[1] if ready is not None and ready[0] is step else self._checked(step)
            self._checks.append(check)
            self._log = self._log.record(check)
            self._sources = self._sources.append(*named_by(check, index))
        elif isinstance(step, UserInput):
            self._log = AttemptLog(self._retries)
        self._ready = None
        if (text := source_of(step, index)) is not None:
            self._sources = self._sources.append(text)
