"""The revise loop (docs/concepts.md#revision): failed claims go back to their author, bounded, and verified.

1. The author gets the failed sentences, the reasons and the evidence, and writes a new version.
2. Sentences that had passed are restored where the author changed them; where that is not safe, the version is refused.
3. The version is verified like any output. It replaces the previous one if it passes, or if fewer claims fail or the
   gate is more permissive and neither of the two got worse.
4. The loop stops when the gate releases a version, when a version is no better or was there before, and after a bounded
   number of attempts. What still fails then goes to a person or, if the policy's bound on failed revisions is reached,
   is withheld.

At most `attempts` versions are requested, and each is verified once, so the loop ends whatever the author does.
"""

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.errors import InputError
from assay.policy import escalated, labels_for, permissiveness
from assay.rewrite.revise.feedback import FAILING, Feedback, failed_spans, feedback_on
from assay.rewrite.revise.splicing import Part, Spliced, changes_between, parts_of, replace_parts, splice
from assay.schema import Action, HallucinationReport, Revision, RevisionAttempt
from assay.schema.report_parts import decided

Version = str | Mapping[int, str]
"""A whole new text, or replacements for the failed sentences by their numbers."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The author cannot write any further version; the best one so far is kept."""

    stopped: str
    """`budget` or `failed`."""
    reason: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The author's answer is not a version; the author may be asked again."""

    reason: str


Written = Version | GaveUp | Unreadable
Author = Callable[[Feedback], Written | Awaitable[Written]]
"""A function that takes feedback and returns a new version. Its exceptions pass through."""
Verify = Callable[[str, int], HallucinationReport]
"""Checks a version, given how many revisions have failed before it."""
AsyncVerify = Callable[[str, int], Awaitable[HallucinationReport]]
"""The asynchronous form of `Verify`, for callers that run checks in their own pool."""

REVISABLE: Final = (Action.REVISE, Action.BLOCK)
"""The actions after which a new version is requested. An output that waits for a reviewer is not rewritten."""
_MOST_REFUSED: Final = 2
"""The number of consecutive refused versions after which the loop ends."""


@dataclass(frozen=True, slots=True)
class _Ask:
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class _Check:
    text: str
    failed: int


_Steps = Generator[_Ask | _Check, Any, HallucinationReport]


def revise(report: HallucinationReport, author: Author, verify: Verify, attempts: int) -> HallucinationReport:
    """Has an output revised until it passes or does not improve.

    Args:
        report: the report of the output.
        author: writes new versions.
        verify: checks a version.
        attempts: the most versions to request.

    Returns:
        The report of the best version; `output` is its text and `revision` the record of its revision.

    Raises:
        InputError: the author returns something other than a version, or is asynchronous.
    """
    steps = _steps(report, attempts)
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return _ended(end)
        if isinstance(step, _Ask):
            answer = author(step.feedback)
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()  # it will not be awaited, which the error below reports
                raise InputError("the author is asynchronous: use the asynchronous twin")
        else:
            answer = verify(step.text, step.failed)


async def arevise(
    report: HallucinationReport, author: Author, verify: Verify | AsyncVerify, attempts: int
) -> HallucinationReport:
    """As `revise`, with the author awaited where it can be and the checks off the event loop.

    A `verify` that is a coroutine function is awaited; any other runs on a thread.
    """
    import asyncio

    steps = _steps(report, attempts)
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return _ended(end)
        if isinstance(step, _Ask):
            answer = author(step.feedback)
            if inspect.isawaitable(answer):
                answer = await answer
        elif inspect.iscoroutinefunction(verify):
            answer = await verify(step.text, step.failed)
        else:
            answer = await asyncio.to_thread(verify, step.text, step.failed)


def _ended(end: StopIteration) -> HallucinationReport:
    report: HallucinationReport = end.value
    return report


def _steps(first: HallucinationReport, attempts: int) -> _Steps:
    """The loop as a generator; its driver answers each step, awaiting or not."""
    if attempts < 0:
        raise InputError(f"a number of attempts is 0 or more, got {attempts}")
    state = _State(first, first, seen=frozenset({first.output.strip()}))
    stopped = ""
    while state.best.action is not Action.EMIT and len(state.log) < attempts:
        parts = parts_of(state.best.output, failed_spans(state.best))
        if state.best.action not in REVISABLE or not any(part.failed for part in parts):
            stopped = "not_revisable"
            break
        left = attempts - len(state.log)
        version = yield _Ask(feedback_on(state.best, parts, left, refused=state.refused > 0))
        if isinstance(version, GaveUp):
            state, stopped = state.noted("not_asked", version.reason), version.stopped
            break
        if isinstance(version, Unreadable):
            state = state.noted("unreadable", version.reason)
            stopped = "unreadable" if len(state.log) >= attempts else ""
            continue
        spliced = _spliced(state.best.output, parts, version)
        unusable = _unusable(state, spliced)
        if unusable is not None or spliced is None:
            outcome, reason = unusable or ("refused", _REFUSED)
            state = state.noted(outcome, reason)
            if outcome != "refused" or state.refused >= _MOST_REFUSED:
                stopped = "oscillation" if outcome == "repeated" else outcome
                break
            continue
        report = yield _Check(spliced.text, len(state.log))
        better = is_better(report, state.best)
        state = state.verified(report, spliced, better)
        if not better:
            stopped = "no_improvement"
            break
    if state.best.action is not Action.EMIT and state.tried:
        # Checked again with the number of failed attempts: the policy may withhold what was revised too often.
        state = replace(state, best=(yield _Check(state.best.output, state.tried)))
    return state.report(stopped or ("passed" if state.best.action is Action.EMIT else "exhausted"))


_REFUSED: Final = "The version changes sentences that had passed, in a way that cannot be put back safely."


def _spliced(old: str, parts: tuple[Part, ...], version: object) -> Spliced | None:
    if isinstance(version, str):
        return splice(old, parts, version)
    if isinstance(version, Mapping):
        return replace_parts(old, parts, version)
    raise InputError(
        f"an author gives a text, or replacements by the numbers of the sentences; got {type(version).__name__}"
    )


def _unusable(state: "_State", spliced: Spliced | None) -> tuple[str, str] | None:
    """Why a version is not worth a check; None if it is."""
    if spliced is None:
        return "refused", _REFUSED
    if spliced.text.strip() == state.best.output.strip():
        return "unchanged", "The failed sentences were not changed."
    if spliced.text.strip() in state.seen:
        return "repeated", "This version was there before: the attempts go round in a circle."
    return None


def is_better(new: HallucinationReport, old: HallucinationReport) -> bool:
    """Whether a version is better: it passes, or of two criteria, the number of failing claims and the permissiveness
    of the gate, one is better and neither is worse."""
    if new.action is Action.EMIT:
        return old.action is not Action.EMIT
    gain = permissiveness(new.action) - permissiveness(old.action)
    fewer = failing(old) - failing(new)
    return min(gain, fewer) >= 0 and max(gain, fewer) > 0


def failing(report: HallucinationReport) -> int:
    """The number of failing claims and citations of an output."""
    claims = sum(claim.status in FAILING for claim in report.claims)
    return claims + sum(citation.status != "verified" for citation in report.citations)


def removal(report: HallucinationReport, abstention: str) -> str:
    """The output without its failing sentences; the abstention where nothing is left."""
    parts = parts_of(report.output, failed_spans(report))
    numbers = range(1, 1 + sum(part.failed for part in parts))
    rest = replace_parts(report.output, parts, dict.fromkeys(numbers, "")).text.strip()
    return rest if any(character.isalnum() for character in rest) else abstention


def with_removal(report: HallucinationReport, shortened: HallucinationReport) -> HallucinationReport:
    """The result after the failing sentences were removed and the rest was verified: the shortened version if it
    passes, otherwise the report with the failed attempt recorded.

    Args:
        report: the report of the best version, with its revision.
        shortened: the report of that version without its failing sentences.
    """
    revision = report.revision or Revision(original=report.output, stopped="exhausted", escalation_required=True)
    passes = shortened.action is Action.EMIT
    attempt = RevisionAttempt(
        number=len(revision.attempts) + 1,
        outcome="better" if passes else "no_better",
        reason=f"What still failed was taken out; the gate says {shortened.action.value}.",
        failed_claims=sum(claim.status in FAILING for claim in shortened.claims),
        overall_score=shortened.overall_score,
        changes=changes_between(report.output, shortened.output),
    )
    log = (*revision.attempts, attempt)
    if not passes:
        return report.model_copy(update={"revision": revision.model_copy(update={"attempts": log})})
    completed = revision.model_copy(
        update={
            "attempts": log,
            "stopped": "passed",
            "escalation_required": False,
            "changes": changes_between(revision.original, shortened.output),
            "failed_after": failing(shortened),
        }
    )
    return shortened.model_copy(update={"revision": completed})


@dataclass(frozen=True, slots=True)
class _State:
    """The state of the loop."""

    first: HallucinationReport
    best: HallucinationReport
    seen: frozenset[str]
    """The texts of all versions so far."""
    log: tuple[RevisionAttempt, ...] = ()
    refused: int = 0
    """The number of consecutive refused versions."""

    @property
    def tried(self) -> int:
        """The number of attempts in which the author was asked."""
        return sum(attempt.outcome != "not_asked" for attempt in self.log)

    def noted(self, outcome: str, reason: str) -> "_State":
        attempt = RevisionAttempt(number=len(self.log) + 1, outcome=outcome, reason=reason)
        refused = self.refused + 1 if outcome == "refused" else 0
        return replace(self, log=(*self.log, attempt), refused=refused)

    def verified(self, report: HallucinationReport, spliced: Spliced, better: bool) -> "_State":
        failed, before = failing(report), failing(self.best)
        attempt = RevisionAttempt(
            number=len(self.log) + 1,
            outcome="better" if better else "no_better",
            reason=f"{failed} findings against it, {before} before; the gate says {report.action.value}.",
            failed_claims=sum(claim.status in FAILING for claim in report.claims),
            overall_score=report.overall_score,
            restored=spliced.restored,
            changes=changes_between(self.best.output, report.output),
        )
        return replace(
            self,
            best=report if better else self.best,
            seen=self.seen | {report.output.strip()},
            log=(*self.log, attempt),
            refused=0,
        )

    def report(self, stopped: str) -> HallucinationReport:
        """The report of the best version with the record of its revision; if it still fails, a person decides."""
        passed = self.best.action is Action.EMIT
        revision = Revision(
            original=self.first.output,
            attempts=self.log,
            stopped=stopped,
            escalation_required=not passed,
            changes=changes_between(self.first.output, self.best.output),
            failed_before=failing(self.first),
            failed_after=failing(self.best),
        )
        decision = self.best.decision
        if not passed and self.tried:
            decision = escalated(decision, f"Revising it did not help: {_WHY[stopped]}.")
        return decided(
            self.best,
            {
                "revision": revision,
                "decision": decision,
                "action": decision.action,
                "labels": labels_for(decision),
            },
        )


_WHY: Final = {
    "not_revisable": "what is left is nothing that an author can change",
    "exhausted": "there were no attempts left",
    "no_improvement": "a version was no better than the one before",
    "oscillation": "a version came back that was there before",
    "unchanged": "the author left the text as it was",
    "refused": "the author changed what had passed",
    "unreadable": "what the author gave could not be read",
    "budget": "what it may cost was spent",
    "failed": "the author could not be asked",
}
