"""The gate that the adapters of agent frameworks share: it checks tool calls and answers against the history of a run.

A framework keeps the history of a run itself, and may pause, resume, fork and repeat it. So an adapter keeps none: for
each check it builds a run from the framework's messages. Earlier rejections are read from that history too, so that
retries stay bounded across resumptions and processes.
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
    """The error of an adapter whose framework is not installed, or only in a version that it cannot use."""
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
    """A guard with the options of every adapter."""

    guard: Guard
    on_withheld: OnWithheld = "raise"
    """What an answer that does not pass is replaced by: an error, or the fallback response of the policy."""
    attempts: int | None = None
    """The most corrected versions that are asked for; the policy's `max_revisions` by default."""
    retries: int | None = None
    """How often a rejected call of one tool may be sent again before the model is told to stop."""
    tools: tuple[ToolLike, ...] = ()
    """Declarations beside those that the framework knows."""
    evidence: EvidenceLike = None
    """Evidence in addition to that of the run itself."""
    sources: Collection[str] = DEFAULT_SOURCES
    """What of the run may be evidence: any of `tools`, `passages`, `user` and `system`."""
    rules: Rules | None = None
    """Which arguments are traced, and to whom."""
    clock: Callable[[], datetime] | None = None
    """Gives the time that relative dates in arguments refer to; without one no such date is resolved."""
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
        """Decides whether a call may be executed now, given the run so far.

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
        """The report of a run that has ended; `failed` is the number of earlier versions of its answer that failed."""
        report = self.guard.check_run(run, **self._options(failed))
        if self.on_report is not None:
            self.on_report(report)
        return report

    async def areport(self, run: Run, failed: int = 0) -> HallucinationReport:
        """As `report`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.report, run, failed)

    def beside(self, run: Run) -> bool:
        """Whether the text of a model beside its calls may be shown.

        Such text is not yet an answer: it need not claim anything, but what it claims has to pass. Adapters remove
        text that does not pass and keep the calls, which are checked by themselves.

        Args:
            run: the run with this text as its answer, without the calls.
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
        """The text that may be shown: the final answer of the run, a corrected one, or the fallback response.

        Raises:
            WithheldError: the answer does not pass, and the options ask for errors.
        """
        settled: Run = self.guard.protect(lambda: run, **self._protect_options(author))()
        return settled.final_answer or ""

    async def aanswer(self, run: Run, author: Author | None = None) -> str:
        """As `answer`, with an author that may be asynchronous and the checks off the event loop."""

        async def ended_run() -> Run:
            return run

        settled: Run = await self.guard.protect(ended_run, **self._protect_options(author))()
        return settled.final_answer or ""

    def passes(self, report: HallucinationReport) -> bool:
        """Whether the output of a report may be shown."""
        return report.action is Action.EMIT

    def feedback(self, report: HallucinationReport, left: int) -> str | None:
        """The feedback to the author of an output; none where no new version could help."""
        parts = parts_of(report.output, failed_spans(report))
        if report.action not in REVISABLE or not any(part.failed for part in parts):
            return None
        return feedback_on(report, parts, left).text

    def words(self, report: HallucinationReport) -> str:
        """The text to show: the output with its disclosure, or the fallback response.

        Raises:
            WithheldError: the output does not pass, and the options ask for errors.
        """
        if not self.passes(report) and self.on_withheld == "raise":
            raise WithheldError(fallback_response(report), report)
        return answer_of(report)

    def versions(self) -> int:
        """The most corrected versions of an answer that are asked for."""
        return self.guard.attempts(self.attempts)

    def instead_of_calls(self, error: CallRejectedError) -> str:
        """The text to show where a model does not stop sending rejected calls.

        Raises:
            CallRejectedError: the options ask for errors.
        """
        if self.on_withheld == "raise":
            raise error
        return refusal({Cause.TOOLS}, Action.BLOCK)

    def _protect_options(self, author: Author | None) -> ProtectOptions:
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
    """The latest results by key, for several threads. Bounded: a result that was dropped counts as never checked."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._results: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def put(self, key: str, result: T) -> None:
        """Keep a result; the oldest beyond the bound is dropped."""
        with self._lock:
            self._results[key] = result
            self._results.move_to_end(key)
            while len(self._results) > self._most:
                self._results.popitem(last=False)

    def get(self, key: str) -> T | None:
        """The latest result under a key, if it is still there."""
        with self._lock:
            return self._results.get(key)


def given_up(decision: CallDecision) -> bool:
    """Whether a call was rejected after the model had no attempt left."""
    if decision.accepted:
        return False
    before = replace(decision.attempts, attempts=decision.attempts.attempts[:-1])
    return not before.may_retry(decision.check.tool)


def before_call(run: Run, call_id: str | None) -> tuple[Run, ToolCall | None]:
    """The run as it was before a call, and the call: the last one with that id.

    Parallel calls of one response follow each other: an earlier one is part of the run.
    """
    for index in range(len(run.steps) - 1, -1, -1):
        step = run.steps[index]
        if isinstance(step, ToolCall) and step.id == call_id:
            return run.model_copy(update={"steps": run.steps[:index]}), step
    return run, None


def not_executed(tool: str) -> str:
    """The message to the model about a call that was not checked."""
    return f'The call of "{tool}" was not executed: it was not checked.'


def was_not_executed(result: str) -> bool:
    """Whether a tool result is a refusal of the guard, for frameworks whose history does not mark failed results.

    A tool whose own result reads like one counts as failed, which only makes the check stricter.
    """
    return result.startswith("The call of ") and "not executed" in result


def text_parts(text: str) -> tuple[TextPart, ...]:
    """A text as the content of a step; none where it is empty."""
    return (TextPart(text=text),) if text else ()


def tool_result(call_id: str | None, name: str | None, result: object, *, failed: bool) -> ToolResult:
    """The result of a tool: as text where it is one, otherwise as JSON.

    A refusal of the guard has no text here: it quotes the rejected call, and a value that was rejected as invented must
    not become evidence for the next call.

    >>> refusal_text = 'The call of "find" was not executed: the identifier "W-99" comes from nowhere.'
    >>> refused = tool_result("c1", "find", refusal_text, failed=True)
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

    A name of several words comes from the model and may be a sentence, so it is always part of the text.

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
    """The texts within a value of that name; `worded`: whether a part of the name has several words."""
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
        text = value if isinstance(value, str) else json.dumps(value)
        if " " not in text.strip() and name:
            yield f"{name}: {text}"
        else:
            yield from [f"{name}:", text] if worded else [text]


def plain(value: object) -> Any:
    """A value as JSON; its `repr` where it has no JSON form."""
    try:
        return plain_json(asdict(value) if is_dataclass(value) and not isinstance(value, type) else value).value
    except InputError:
        return plain_json(repr(value)).value


def run_from(steps: Iterable[Step], run_id: str = "run") -> Run:
    """A run of steps."""
    return Run(run_id=run_id, steps=tuple(steps))
