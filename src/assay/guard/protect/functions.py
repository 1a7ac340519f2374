"""Protecting functions and tools: an output that does not pass does not come out.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, cast, overload

from assay.errors import InputError, WithheldError
from assay.guard.authors.revision import attempts_of, checks, run_checks, settled, with_answer
from assay.guard.options import CheckOptions, OnWithheld, ProtectedCheckOptions, ProtectOptions, RunOptions
from assay.guard.parts import Checker
from assay.guard.request import EvidenceLike
from assay.policy import answer_of, disclosure_of, fallback_response
from assay.rewrite.revise import REVISABLE, Author, Verify, arevise, revise
from assay.schema import Action, HallucinationReport
from assay.schema.run import Run, RunBuilder

if TYPE_CHECKING:  # loaded with the first protected tool
    from assay.guard.protect.tools import OnRejected
    from assay.guard.runs.tool_calls import ToolLike
    from assay.guard.runs.watch import RunWatch

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence and question, for functions that know them."""

    text: str
    evidence: EvidenceLike = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Protection:
    """How the outputs of one function are checked; the fields are the arguments of `protect`."""

    evidence: EvidenceLike | Callable[..., Any] = None
    """Evidence for answers that bring none, or a function of the same arguments that gives it."""
    question: str | Callable[..., str] | None = None
    """The question, or a function of the same arguments that gives it."""
    on_withheld: OnWithheld = "raise"
    author: Author | None = None
    """The author who revises an output that does not pass; nobody by default."""
    attempts: int | None = None
    read: Callable[[Any], Any] | None = None
    """Turns what the function returns into an answer or a run."""
    on_report: Callable[[HallucinationReport], object] | None = None
    """Gets every report."""
    options: ProtectedCheckOptions = field(default_factory=ProtectedCheckOptions)
    """Further options of the check."""

    def check_options(self, subject: _Subject) -> CheckOptions:
        """The options for the check of an answer; the check rejects those that are only for runs."""
        return cast("CheckOptions", {**self.options, "question": subject.question})

    def run_options(self, subject: _Subject) -> RunOptions:
        """The options for the check of a run."""
        return cast("RunOptions", {**self.options, "question": subject.question, "evidence": subject.evidence})


@overload
def protect(self: Checker, function: Callable[P, R], **how: Unpack[ProtectOptions]) -> Callable[P, R]: ...


@overload
def protect(
    self: Checker, function: None = None, **how: Unpack[ProtectOptions]
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def protect(
    self: Checker,
    function: Callable[..., Any] | None = None,
    *,
    evidence: EvidenceLike | Callable[..., Any] = None,
    question: str | Callable[..., str] | None = None,
    on_withheld: OnWithheld = "raise",
    author: Author | None = None,
    attempts: int | None = None,
    read: Callable[[Any], Any] | None = None,
    on_report: Callable[[HallucinationReport], object] | None = None,
    **options: Unpack[ProtectedCheckOptions],
) -> Any:
    """Put the gate around a function that returns an answer or a run; also as a decorator.

    The function's own value comes back if and only if the gate emits it. A function that returns text is checked
    with `check`, one that returns an `Answer` against the evidence that it brings, one that returns a `Run`, a
    `RunBuilder` or a `RunWatch` with `check_run`. Anything else is an error.

    Args:
        function: the function or coroutine function; None if the decorator has arguments.
        evidence: evidence for answers that bring none, or a function of the same arguments that gives it.
        question: what is asked, or a function of the same arguments that says so.
        on_withheld: `raise` a `WithheldError`, or give the `answer` that may be given instead: text for an answer,
            for a run the run with it as its final answer.
        author: who revises what does not pass; see `revise`.
        attempts: how many versions are asked for at most.
        read: makes an answer or a run of what the function returns.
        on_report: gets every report, emitted or not.
        options: further options of `check` or `check_run`.

    Raises:
        InputError: the function cannot be protected (a generator), or a setting is wrong.
    """
    if on_withheld not in ("raise", "answer"):
        raise InputError(f"on_withheld is 'raise' or 'answer', got {on_withheld!r}")
    how = Protection(_kept(evidence), question, on_withheld, author, attempts, read, on_report, options)
    if function is None:
        return lambda inner: _wrapped(self, inner, how)
    return _wrapped(self, function, how)


def protect_tool(
    self: object,  # noqa: ARG001 it is a method of `Guard`
    tool: Callable[..., Any],
    declaration: ToolLike | None = None,
    *,
    watch: RunWatch,
    on_rejected: OnRejected = "return",
) -> Callable[..., Any]:
    """Put the check of calls before a tool: a rejected call is recorded and not executed.

    Args:
        tool: the function or coroutine function that executes the tool.
        declaration: what the model was told of it; read from its signature by default.
        watch: the run that the calls belong to, made by `watch`; it gets the calls and their results.
        on_rejected: `return` the message for the model in place of a result, or `raise` it as a `CallRejectedError`.

    Returns:
        The tool behind its check, asynchronous where the tool is.

    Raises:
        InputError: the tool has no declaration and none can be read from its signature, or a setting is wrong.
    """
    from assay.guard.protect.tools import protected_tool

    return protected_tool(tool, declaration, watch, on_rejected)


def protect_tools(
    self: object, tools: Iterable[Callable[..., Any]], *, watch: RunWatch, on_rejected: OnRejected = "return"
) -> list[Callable[..., Any]]:
    """Several tools at once, each as `protect_tool`."""
    return [protect_tool(self, tool, watch=watch, on_rejected=on_rejected) for tool in tools]


def _wrapped(guard: Checker, function: Callable[..., Any], how: Protection) -> Callable[..., Any]:
    from assay.guard.protect.tools import is_async

    if not callable(function):
        raise InputError(f"a function can be protected, got {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InputError("a generator gives its output before it is checked: use Guard.stream, or return the whole")
    return _asynchronous(guard, function, how) if is_async(function) else _synchronous(guard, function, how)


def _synchronous(guard: Checker, function: Callable[..., Any], how: Protection) -> Callable[..., Any]:
    @functools.wraps(function)
    def protected(*args: Any, **named: Any) -> Any:
        made = function(*args, **named)
        subject = _subject(how, made, args, named)
        for value in (made, subject.evidence, subject.question):
            if inspect.isawaitable(value):
                raise InputError("something here is to be awaited: protect an `async def` instead")
        report = _checked(guard, subject, how)
        if _is_revised(report, how):
            report = settled(guard, revise(report, *_loop(guard, subject, how)))
        return _outcome(report, made, subject, how)

    return protected


def _asynchronous(guard: Checker, function: Callable[..., Any], how: Protection) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def protected(*args: Any, **named: Any) -> Any:
        import asyncio

        made = await function(*args, **named)
        subject = _subject(how, made, args, named)
        if inspect.isawaitable(subject.evidence):
            subject = replace(subject, evidence=_kept(await subject.evidence))
        if inspect.isawaitable(subject.question):
            subject = replace(subject, question=await subject.question)
        report = await asyncio.to_thread(_checked, guard, subject, how)
        if _is_revised(report, how):
            report = settled(guard, await arevise(report, *_loop(guard, subject, how)))
        return _outcome(report, made, subject, how)

    return protected


@dataclass(frozen=True, slots=True)
class _Subject:
    """The answer or run to be checked, with its evidence and question."""

    text: str | None
    run: Run | None
    evidence: Any = None
    question: Any = None


def _subject(how: Protection, made: Any, args: tuple[Any, ...], named: dict[str, Any]) -> _Subject:
    """The answer or run in what a function returned.

    Raises:
        InputError: the function returned neither.
    """
    from assay.guard.runs.watch import RunWatch

    value = how.read(made) if how.read is not None else made
    evidence = _kept(how.evidence(*args, **named) if callable(how.evidence) else how.evidence)
    question = how.question(*args, **named) if callable(how.question) else how.question
    match value:
        case str():
            return _Subject(value, None, evidence, question)
        case Answer():
            brought = _kept(value.evidence) if value.evidence is not None else evidence
            return _Subject(value.text, None, brought, value.question or question)
        case Run():
            return _Subject(None, value, evidence, question)
        case RunBuilder() | RunWatch():
            return _Subject(None, value.run(), evidence, question)
        case _:
            raise InputError(
                f"a protected function returns text, an Answer or a run; got {type(value).__name__}. "
                "Say with `read` how one is made of it"
            )


def _kept(evidence: Any) -> Any:
    """Evidence that can be read more than once, in place of an iterator."""
    return tuple(evidence) if isinstance(evidence, Iterator) else evidence


def _checked(guard: Checker, subject: _Subject, how: Protection) -> HallucinationReport:
    if subject.run is not None:
        return guard.check_run(subject.run, **how.run_options(subject))
    return guard.check(subject.text or "", subject.evidence, **how.check_options(subject))


def _is_revised(report: HallucinationReport, how: Protection) -> bool:
    return how.author is not None and report.action in REVISABLE


def _loop(guard: Checker, subject: _Subject, how: Protection) -> tuple[Author, Verify, int]:
    """The author, the check of each version, and the number of attempts."""
    if how.author is None:
        raise InputError("no author was given that could revise the output")
    if subject.run is not None:
        _, again = run_checks(guard, subject.run, how.run_options(subject))
    else:
        _, again = checks(guard, subject.text or "", subject.evidence, how.check_options(subject))
    return how.author, again, attempts_of(guard, how.attempts)


def _outcome(report: HallucinationReport, made: Any, subject: _Subject, how: Protection) -> Any:
    """What the caller of a protected function gets.

    Raises:
        WithheldError: the gate does not emit the output, and the caller asked for errors.
    """
    if how.on_report is not None:
        how.on_report(report)
    if report.action is Action.EMIT and disclosure_of(report) is None:
        unchanged = report.revision is None or not report.revision.changes
        return made if unchanged else _in_form(report.output, made, subject)
    if report.action is not Action.EMIT and how.on_withheld == "raise":
        raise WithheldError(fallback_response(report), report)
    return _in_form(answer_of(report), made, subject)


def _in_form(text: str, made: Any, subject: _Subject) -> Any:
    """A text in the form of what the function returned: a run, an `Answer`, or plain text."""
    if subject.run is not None:
        return with_answer(subject.run, text)
    return replace(made, text=text) if isinstance(made, Answer) else text
