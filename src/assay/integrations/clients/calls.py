"""Shared by the clients of all SDKs: how calls are checked, against what, and the outcome of each.

Evidence is taken from the request itself, as the gateway takes it: tool results, passages, and what the user and the
system prompt state. A call may bring its own, in the member `assay` of its body (`extra_body={"assay": {...}}`, which
works with the gateway as well) or by `given` around it.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assay.errors import AssayError, CallRejectedError, InputError, WithheldError
from assay.guard import CallDecision, EvidenceLike, Guard, Ruling
from assay.guard.streams import StreamTiming
from assay.policy import Mode
from assay.schema import HallucinationReport, Stakes, coerce_evidence
from assay.verify.tools import AttemptLog, CallCheck
from assay.wire import (
    FIELD,
    Exchange,
    RequestOptions,
    Wire,
    read_object,
    read_request_options,
    require_held,
    require_stakes,
    without_member,
)

ON_WITHHELD: Final = ("answer", "raise")
_log = logging.getLogger("assay.integrations")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the check of one answer of a model."""

    report_id: str
    mode: Mode
    action: str
    """The gate's action, or `unchecked`."""
    passed: bool
    """Whether the answer passes; whether it went out depends on the mode."""
    notice: str | None = None
    """The text in its place, or together with it."""
    score: float | None = None
    reports: tuple[HallucinationReport, ...] = ()
    """The report of each text of the answer; of a stream that was stopped, that of the part that stopped it."""
    calls: tuple[CallCheck, ...] = ()
    """The check of each tool call."""
    reasons: tuple[str, ...] = ()
    timing: StreamTiming | None = None
    """The delay from holding a stream back; none for an answer that was not streamed."""
    revision: dict[str, Any] | None = None
    """The cost and result of asking the model again, where it was asked."""

    @property
    def report(self) -> HallucinationReport | None:
        """The report of the answer's first text; none where it has only calls or was not checked."""
        return self.reports[0] if self.reports else None

    def raise_withheld(self) -> None:
        """Raises the error of an answer that was withheld; nothing for one that passed.

        Raises:
            CallRejectedError: a tool call was refused; the message is for the model.
            WithheldError: a text was withheld; the message is what may be shown in its place.
        """
        if self.passed:
            return
        refused = next((call for call in self.calls if not call.accepted), None)
        if refused is None:
            raise WithheldError(self.notice or "", self.report)
        log = AttemptLog().record(refused)
        raise CallRejectedError(
            log.reply(refused), CallDecision(refused, refused.validation(), log, log.reply(refused))
        )


@dataclass(slots=True)
class Call:
    """One request of a client on its way."""

    report_id: str = field(default_factory=lambda: f"run_{secrets.token_hex(16)}")
    outcome: Outcome | None = None
    """None while it is not known, and where nothing had to be checked."""
    error: AssayError | None = None
    """Raised to the program at the end of the call, whatever the client itself makes of the answer."""


@dataclass(slots=True)
class Given:
    """What a block of code gives for the calls in it, and what came of them."""

    options: dict[str, Any]
    calls: list[Call] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        """What was found of each answer, in order; answers of which nothing is known yet are left out."""
        return [call.outcome for call in self.calls if call.outcome is not None]

    @property
    def report(self) -> HallucinationReport | None:
        """The report of the last answer that has one."""
        return next((one.report for one in reversed(self.outcomes) if one.report is not None), None)


_GIVEN: ContextVar[Given | None] = ContextVar("assay_given", default=None)
_CALL: ContextVar[Call | None] = ContextVar("assay_call", default=None)


@contextmanager
def given(
    evidence: EvidenceLike = None,
    *,
    question: str | None = None,
    stakes: Stakes | str | None = None,
    sources: Collection[str] | None = None,
    task: str | None = None,
    claim_free: bool | None = None,
) -> Iterator[Given]:
    """Says what the calls in a block are checked against, and collects what was found of them.

    It holds for calls of protected clients in this thread or task and in tasks that are begun in the block.

    Args:
        evidence: evidence of their own; beside it only tool results and passages of the request count.
        question: what the answers answer.
        stakes: how much hangs on them.
        sources: the kinds of content of the request that count: any of `tools`, `passages`, `user` and `system`.
        task: the kind of task.
        claim_free: whether the answers are declared to contain no claims.

    Raises:
        InputError: something given cannot be read.
    """
    provided = {
        "evidence": None if evidence is None else coerce_evidence(evidence),
        "question": question,
        "stakes": None if stakes is None else Stakes(stakes),
        "sources": None if sources is None else tuple(sources),
        "task": task,
        "claim_free": claim_free,
    }
    made = Given({name: value for name, value in provided.items() if value is not None})
    token = _GIVEN.set(made)
    try:
        yield made
    finally:
        _GIVEN.reset(token)


@contextmanager
def calling() -> Iterator[Call]:
    """One call of a client, which its transport fills in; its error is raised at the end of the block.

    Raises:
        AssayError: the call could not be checked, or its answer was withheld.
    """
    call = Call()
    around = _GIVEN.get()
    if around is not None:
        around.calls.append(call)
    token = _CALL.set(call)
    try:
        yield call
    finally:
        _CALL.reset(token)
        if call.error is not None:
            raise call.error from None


def current_call() -> Call:
    """The call that is being made; a new one where a transport is used by itself."""
    return _CALL.get() or Call()


@dataclass(frozen=True)
class ClientGate:
    """How the answers to one client's calls are checked."""

    guard: Guard
    mode: Mode
    on_withheld: str = "answer"
    asked: RequestOptions = field(default_factory=RequestOptions)
    fail_on: str = "revise"
    attempts: int = 0
    """How often a model is asked again for an answer that does not pass."""
    on_outcome: Callable[[Outcome], object] | None = None
    reasoning: str = "withhold"
    """What becomes of the words of a model's reasoning: `withhold` or `pass`."""

    def __post_init__(self) -> None:
        if self.reasoning not in ("withhold", "pass"):
            raise InputError(f"reasoning is 'withhold' or 'pass', got {self.reasoning!r}")
        if self.on_withheld not in ON_WITHHELD:
            raise InputError(f"on_withheld is 'answer' or 'raise', got {self.on_withheld!r}")
        if self.fail_on not in ("revise", "block"):
            raise InputError(f"fail_on is 'revise' or 'block', got {self.fail_on!r}")
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int) or self.attempts < 0:
            raise InputError(f"a number of attempts is 0 or more, got {self.attempts!r}")

    @property
    def enforces(self) -> bool:
        """Whether what does not pass is held back."""
        return self.mode is Mode.ENFORCE

    @property
    def hides(self) -> bool:
        """Whether the words of a model's reasoning are taken out."""
        return self.enforces and self.reasoning == "withhold"

    def exchange(self, wire: Wire, body: bytes, call: Call) -> tuple[Exchange, bytes]:
        """What the answer to a request is checked against, and the body to send.

        Raises:
            InputError: the request cannot be read, asks for what could never be checked, or for something looser than
                the program set.
        """
        request = read_object(body, "the request")
        field_ = request.get(FIELD)
        asked = self.asked
        around = _GIVEN.get()
        if around is not None:
            asked = replace(asked, **around.options)
        if field_ is not None:
            options = read_request_options(field_, None, None)
            if options.policy is not None:
                raise InputError("the policy is that of the client's guard: protect another client for another policy")
            # The body may come from a third party: it may raise the stakes that the program set, not lower them.
            require_held(options.task, self.guard.policy, (asked.task,))
            require_stakes(options.stakes, asked.stakes or Stakes.MEDIUM)
            default = RequestOptions()
            own = {name: getattr(options, name) for name in RequestOptions.__dataclass_fields__}
            asked = replace(asked, **{name: value for name, value in own.items() if value != getattr(default, name)})
        why = wire.refused(request)
        if why is not None and self.enforces:
            raise InputError(why)
        made = Exchange(wire, request, asked, self.guard, call.report_id, Stakes.MEDIUM, self.fail_on)
        return made, without_member(body, FIELD) if field_ is not None else body

    def note(
        self,
        call: Call,
        ruling: Ruling,
        *,
        timing: StreamTiming | None = None,
        revision: dict[str, Any] | None = None,
    ) -> Outcome:
        """Records the ruling on an answer as the outcome of its call."""
        outcome = Outcome(
            call.report_id,
            self.mode,
            ruling.action,
            ruling.passes,
            ruling.notice,
            ruling.score,
            ruling.reports,
            ruling.calls,
            ruling.reasons,
            timing,
            revision,
        )
        call.outcome = outcome
        if not ruling.passes:
            _log.info(
                "an answer did not pass (%s, %s): %s", self.mode.value, ruling.action, "; ".join(ruling.reasons[:1])
            )
        if self.on_outcome is not None:
            self.on_outcome(outcome)
        return outcome

    def raise_where_asked(self, call: Call) -> None:
        """Keeps the error of an answer that was withheld, where errors were asked for."""
        if self.on_withheld != "raise" or not self.enforces or call.outcome is None:
            return
        try:
            call.outcome.raise_withheld()
        except AssayError as error:
            call.error = error
