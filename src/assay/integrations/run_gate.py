"""What the adapters of agent frameworks share: one gate before tools and answers, over the framework's own history.

A framework keeps the history of a run itself, and may pause, resume, fork and repeat it. So an adapter keeps none: at
each gate it makes a run of the framework's messages and asks about that. What was rejected before is found again in
the history, which is how retries stay bounded across resumptions and processes.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, is_dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any, Generic, TypedDict, TypeVar

from assay.errors import CallRejectedError, InputError, MissingPackageError, WithheldError
from assay.guard import CallDecision, EvidenceLike, Guard, ProtectOptions, RunOptions
from assay.guard.protect import OnWithheld
from assay.guard.runs import DEFAULT_SOURCES, ToolLike, read_tools
from assay.policy import Cause, answer_of, fallback_response, refusal
from assay.rewrite.revise import REVISABLE, Author, failed_spans, feedback_on, parts_of
from assay.schema import Action, HallucinationReport, Stakes
from assay.schema.run import Run, Step, TextPart, ToolCall, ToolDeclaration, ToolResult, plain_json
from assay.verify.tools import Rules

T = TypeVar("T")


def missing(extra: str, error: ImportError, within: str = "assay.integrations") -> MissingPackageError:
    """The error of an adapter whose framework is not installed, or not in a version that it can use."""
    return MissingPackageError(
        f"{within}.{extra.replace('-', '_')} needs a framework that cannot be imported here ({error}); "
        f"install it with: pip install 'assay-ai[{extra}]'"
    )


class NodeOptions(TypedDict, total=False):
    """The options of adapters that take the tools themselves; they mean what the fields of `RunGate` mean."""

    on_withheld: OnWithheld
    attempts: int | None
    retries: int | None
    evidence: EvidenceLike
    sources: Collection[str]
    rules: Rules | None
    clock: Callable[[], datetime] | None
    stakes: Stakes | str
    task: str
    claim_free: bool
    on_report: Callable[[HallucinationReport], object] | None


class GateOptions(NodeOptions, total=False):
    """The options of every adapter."""

    tools: tuple[ToolLike, ...]


@dataclass(frozen=True, slots=True)
class RunGate:
    """A guard and how it is used in an agent: the options of every adapter."""

    guard: Guard
    on_withheld: OnWithheld = "raise"
    """What comes out in the place of an answer that does not pass: an error, or the policy's words."""
    attempts: int | None = None
    """How many corrected versions of an answer are asked for; the policy's `max_revisions` by default."""
    retries: int | None = None
    """How often a rejected call of one tool may be sent again before the model is told to stop."""
    tools: tuple[ToolLike, ...] = ()
    """Declarations beside those that the framework knows."""
    evidence: EvidenceLike = None
    """Evidence beside what the run itself has seen."""
    sources: Collection[str] = DEFAULT_SOURCES
    """What of the run may be evidence: any of `tools`, `passages`, `user` and `system`."""
    rules: Rules | None = None
    """Which arguments are traced, and to whom."""
    clock: Callable[[], datetime] | None = None
    """The time, which relative dates in arguments are counted from; without one they are counted from none."""
    stakes: Stakes | str = Stakes.MEDIUM
    task: str = "qa"
    claim_free: bool = False
    """Whether answers are declared to contain no claims."""
    on_report: Callable[[HallucinationReport], object] | None = None
    """Gets the report of every answer and of every text beside tool calls, emitted or not."""

    def declared(self, tools: Iterable[ToolLike]) -> tuple[ToolDeclaration, ...]:
        """The declarations of a run: the adapter's own behind those of the options."""
        return read_tools((*self.tools, *tools))

    def decide(self, run: Run, call: ToolCall | None) -> CallDecision:
        """Whether a call may be executed now, after everything that the run has seen.

        Raises:
            CallRejectedError: the model was told to stop calling this tool and sent one more call that is wrong.
            InputError: the history does not contain the call.
        """
        if call is None:
            raise InputError("expected the call in the history of the run, but it is not there: nothing is executed")
        watch = self.guard.watch(run, rules=self.rules, now=self._now(), retries=self.retries, sources=self.sources)
        decision = watch.check(call)
        if given_up(decision):
            raise CallRejectedError(decision.message, decision)
        return decision

    async def adecide(self, run: Run, call: ToolCall | None) -> CallDecision:
        """As `decide`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.decide, run, call)

    def report(self, run: Run, failed: int = 0) -> HallucinationReport:
        """The report of a run that has ended; `failed` is how many versions of its answer failed before."""
        report = self.guard.check_run(run, **self._options(failed))
        if self.on_report is not None:
            self.on_report(report)
        return report

    async def areport(self, run: Run, failed: int = 0) -> HallucinationReport:
        """As `report`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.report, run, failed)

    def beside(self, run: Run) -> bool:
        """Whether what a model says beside its calls may be shown.

        It is on the way to an answer: it need not claim anything, but what it claims has to pass. Adapters take out
        what may not be shown and let the calls go on, which are checked by themselves.

        Args:
            run: the run with these words as its answer, without the calls.
        """
        options: RunOptions = {**self._options(), "claim_free": True}
        report = self.guard.check_run(run, **options)
        if self.on_report is not None:
            self.on_report(report)
        return self.passes(report)

    async def abeside(self, run: Run) -> bool:
        """As `beside`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.beside, run)

    def answer(self, run: Run, author: Author | None = None) -> str:
        """What may be said: the final answer of the run, a corrected one, or the words in its place.

        Raises:
            WithheldError: it does not pass, and the options ask for errors.
        """
        settled: Run = self.guard.protect(lambda: run, **self._how(author))()
        return settled.final_answer or ""

    async def aanswer(self, run: Run, author: Author | None = None) -> str:
        """As `answer`, with an author that may be asynchronous and the checks off the event loop."""

        async def given() -> Run:
            return run

        settled: Run = await self.guard.protect(given, **self._how(author))()
        return settled.final_answer or ""

    def passes(self, report: HallucinationReport) -> bool:
        """Whether the output of a report comes out."""
        return report.action is Action.EMIT

    def feedback(self, report: HallucinationReport, left: int) -> str | None:
        """The feedback to the author of an output; none where there is nothing that a new version could mend."""
        parts = parts_of(report.output, failed_spans(report))
        if report.action not in REVISABLE or not any(part.failed for part in parts):
            return None
        return feedback_on(report, parts, left).text

    def words(self, report: HallucinationReport) -> str:
        """What is said: the output with its disclosure, or the fallback response.

        Raises:
            WithheldError: it does not pass, and the options ask for errors.
        """
        if not self.passes(report) and self.on_withheld == "raise":
            raise WithheldError(fallback_response(report), report)
        return answer_of(report)

    def versions(self) -> int:
        """How many corrected versions of an answer are asked for."""
        return self.guard.attempts(self.attempts)

    def instead_of_calls(self, error: CallRejectedError) -> str:
        """What is said where a model does not stop sending calls that are wrong.

        Raises:
            CallRejectedError: the options ask for errors.
        """
        if self.on_withheld == "raise":
            raise error
        return refusal({Cause.TOOLS}, Action.BLOCK)

    def _how(self, author: Author | None) -> ProtectOptions:
        return {
            "evidence": self.evidence,
            "sources": self.sources,
            "rules": self.rules,
            "now": self._now(),
            "stakes": self.stakes,
            "task": self.task,
            "claim_free": self.claim_free,
            "author": author,
            "on_withheld": self.on_withheld,
            "on_report": self.on_report,
            "attempts": self.attempts,
        }

    def _options(self, failed: int = 0) -> RunOptions:
        return {
            "evidence": self.evidence,
            "sources": self.sources,
            "rules": self.rules,
            "now": self._now(),
            "stakes": self.stakes,
            "task": self.task,
            "claim_free": self.claim_free,
            "revisions_failed": failed,
        }

    def _now(self) -> datetime | None:
        return None if self.clock is None else self.clock()


class Recent(Generic[T]):
    """What was found last, by key: bounded, and shared by threads. What has left it counts as never checked."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._found: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def put(self, key: str, found: T) -> None:
        """Keep what was found."""
        with self._lock:
            self._found[key] = found
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)

    def get(self, key: str) -> T | None:
        """What was found last, if it is still there."""
        with self._lock:
            return self._found.get(key)


def given_up(decision: CallDecision) -> bool:
    """Whether the model had no attempt left before this one, and it is wrong again."""
    if decision.accepted:
        return False
    before = replace(decision.attempts, attempts=decision.attempts.attempts[:-1])
    return not before.may_retry(decision.check.tool)


def before_call(run: Run, call_id: str | None) -> tuple[Run, ToolCall | None]:
    """The run as it was when a call in it was asked for, and the call; the last one of that id.

    Calls that the model asked for in parallel come one after the other: an earlier one is part of the run.
    """
    for index in range(len(run.steps) - 1, -1, -1):
        step = run.steps[index]
        if isinstance(step, ToolCall) and step.id == call_id:
            return run.model_copy(update={"steps": run.steps[:index]}), step
    return run, None


def not_executed(tool: str) -> str:
    """The message to the model about a call that no check decided on."""
    return f'The call of "{tool}" was not executed: it was not checked.'


def was_not_executed(result: str) -> bool:
    """Whether a tool's result is the guard's own refusal, where a framework's history does not say that it failed.

    A tool that says so of itself is taken to have failed, which lets nothing pass that would not pass otherwise.
    """
    return result.startswith("The call of ") and "not executed" in result


def text_parts(text: str) -> tuple[TextPart, ...]:
    """A text as the content of a step; none where it is empty."""
    return (TextPart(text=text),) if text else ()


def tool_result(call_id: str | None, name: str | None, result: object, *, failed: bool) -> ToolResult:
    """What a tool returned, as text where it is one and as JSON where it is not.

    The guard's own refusal has no text here: it quotes what the model sent, and a value that was refused as invented
    must not be found in it when the model sends it again.

    >>> told = 'The call of "find" was not executed: the identifier "W-99" comes from nowhere.'
    >>> refused = tool_result("c1", "find", told, failed=True)
    >>> refused.text, refused.is_error
    ('', True)
    """
    value = plain(result)
    if isinstance(value, str) and was_not_executed(value):
        return ToolResult(call_id=call_id, name=name, is_error=True)
    text, structured = (value, None) if isinstance(value, str) else ("", value)
    return ToolResult(
        call_id=call_id, name=name, content=text_parts(text), structured=structured, is_error=failed or None
    )


def in_words(value: object) -> str:
    """A structured answer as text that can be checked: a sentence as it is, everything else with its name before it.

    A name of several words is the model's own and may be a sentence, so that it is said in any case.

    >>> print(in_words({"summary": "It is in Hamburg.", "order": {"id": "W-17"}, "days": 3}))
    It is in Hamburg.
    order id: W-17
    days: 3
    >>> print(in_words({"It arrives on 3 May.": "It is in Hamburg."}))
    It arrives on 3 May.:
    It is in Hamburg.
    """
    return "\n".join(_leaves("", plain(value)))


def _leaves(name: str, value: Any, *, worded: bool = False) -> Iterator[str]:
    """The texts below a value of that name; `worded` says that part of the name is several words."""
    if worded and (value is None or value in ({}, [])):
        yield f"{name}:"
    elif isinstance(value, dict):
        for key, member in value.items():
            below = f"{name} {key}".replace("_", " ").strip()
            yield from _leaves(below, member, worded=worded or " " in key.strip())
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(name, member, worded=worded)
    elif value is not None:
        said = value if isinstance(value, str) else json.dumps(value)
        if " " not in said.strip() and name:
            yield f"{name}: {said}"
        else:
            yield from [f"{name}:", said] if worded else [said]


def plain(value: object) -> Any:
    """A value as JSON; in Python's own words where it is none."""
    try:
        return plain_json(asdict(value) if is_dataclass(value) and not isinstance(value, type) else value).value
    except InputError:
        return plain_json(repr(value)).value


def run_from(steps: Iterable[Step], run_id: str = "run") -> Run:
    """A run of steps."""
    return Run(run_id=run_id, steps=tuple(steps))
