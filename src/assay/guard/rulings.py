"""Rulings: from the report on an answer to what its reader gets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.policy import Cause, disclosure_of, permissiveness, refusal
from assay.schema import Action, ClaimStatus, HallucinationReport, Issue
from assay.verify.documents import HIDDEN
from assay.verify.tools import CallCheck, feedback

UNCHECKED: Final = "unchecked"
"""The action of a ruling where no check could be made; it is never a pass."""

_MOST_CLAIMS: Final = 20
"""The most claims in a summary."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision what is done with an answer, or with a part of one."""

    action: str
    """The gate's action, or `unchecked`."""
    passes: bool
    """Whether it may be released."""
    notice: str | None = None
    """The text to give in its place, or after it where it passes."""
    score: float | None = None
    reports: tuple[HallucinationReport, ...] = ()
    calls: tuple[CallCheck, ...] = ()
    reasons: tuple[str, ...] = ()
    waits: bool = False
    """Whether a part contains no claim yet, so that it is held back until one follows."""
    receipts: tuple[str, ...] = ()
    """The receipt of each text that may be released, in the form that `assay receipt verify` reads."""

    @property
    def untold(self) -> tuple[str, ...]:
        """The parts of the question that nothing answers, in any of the texts."""
        return tuple(dict.fromkeys(part for report in self.reports for part in report.untold))

    def summary(self, report_id: str) -> dict[str, Any]:
        """The summary that accompanies an answer: the decision, the claims that failed, and the calls refused."""
        summary: dict[str, Any] = {
            "report_id": report_id,
            "action": self.action,
            "score": self.score,
            "reasons": list(self.reasons),
        }
        claims = [
            {
                "text": claim.text,
                "span": [claim.span.start, claim.span.end],
                "verdict": claim.verdict.value,
                "score": claim.score,
                "issues": [issue.message for issue in claim.issues],
            }
            for report in self.reports
            for claim in report.claims
            if claim.status not in (ClaimStatus.PASS, ClaimStatus.NOT_CHECKABLE)
        ]
        calls = [
            {"tool": call.tool, "call_id": call.call_id, "status": call.status.value, "feedback": feedback(call)}
            for call in self.calls
            if not call.accepted
        ]
        summary |= {"claims": claims[:_MOST_CLAIMS]} if claims else {}
        summary |= {"untold": list(self.untold)} if self.untold else {}
        return summary | ({"tool_calls": calls} if calls else {})


def unchecked(reason: str) -> Ruling:
    """The ruling on something that could not be checked: it does not pass."""
    return Ruling(UNCHECKED, passes=False, notice=refusal({Cause.UNCHECKED}, Action.BLOCK), reasons=(reason,))


def ruling_on_report(report: HallucinationReport, fail_on: str) -> Ruling:
    """The ruling on one text that was checked as a whole."""
    action = report.action
    disclosed = action is Action.REVISE and disclosure_of(report) is not None
    passes = action is Action.EMIT or (action is Action.REVISE and (fail_on == "block" or disclosed))
    notice = report.decision.response
    if not passes and notice is None:
        notice = refusal({Cause.WEAK}, Action.BLOCK)
    return Ruling(action.value, passes, notice, report.overall_score, (report,), reasons=report.decision.reasons)


def ruling_on_part(report: HallucinationReport, fail_on: str, *, begun: bool) -> Ruling:
    """The ruling on the beginning of a text that continues.

    Released text cannot be called back. A claim that the gate would block by itself therefore stops the stream, even
    where an average over later claims might have compensated for it, and a part that may only be shown with a
    disclosure does not pass. A part without a claim is held back until one follows, unless something was already
    released (`begun`).
    """
    hides = any(issue.code == HIDDEN for issue in report.issues)
    if not hides and not any(claim.status is not ClaimStatus.NOT_CHECKABLE for claim in report.claims):
        return Ruling(Action.EMIT.value, passes=begun, reports=(report,), waits=not begun)
    whole = ruling_on_report(report, fail_on)
    blocked = any(claim.status is ClaimStatus.BLOCK for claim in report.claims)
    disclosed = report.action is not Action.EMIT and disclosure_of(report) is not None
    if whole.passes and not blocked and not disclosed:
        # Which parts of the question stay unanswered is only known when the text has ended.
        return replace(whole, notice=None)
    action = Action.BLOCK.value if blocked and whole.passes else whole.action
    notice = whole.notice or refusal({Cause.UNSUPPORTED}, Action.BLOCK)
    return Ruling(action, False, notice, whole.score, whole.reports, reasons=whole.reasons)


def ruling_on_structure(ruling: Ruling, violations: Sequence[Issue]) -> Ruling:
    """The ruling on a text that violates the schema of its request."""
    reasons = (*(issue.message for issue in violations), *ruling.reasons)
    notice = refusal({Cause.STRUCTURE}, Action.BLOCK)
    return Ruling(Action.REVISE.value, False, notice, ruling.score, ruling.reports, reasons=reasons)


def ruling_on_calls(checks: Sequence[CallCheck]) -> Ruling:
    """The ruling on tool calls: all of them pass, or none."""
    refused = [check for check in checks if not check.accepted]
    if not refused:
        return Ruling(Action.EMIT.value, passes=True, calls=tuple(checks))
    known = any(check.status.value == "rejected" for check in refused)
    reasons = tuple(issue.message for check in refused for issue in check.issues)
    return Ruling(
        Action.REVISE.value if known else UNCHECKED,
        passes=False,
        notice=refusal({Cause.TOOLS if known else Cause.UNCHECKED}, Action.BLOCK),
        calls=tuple(checks),
        reasons=reasons,
    )


def joint_ruling(rulings: Iterable[Ruling]) -> Ruling:
    """One ruling on all parts of an answer: the strictest of them, with the reports and reasons of all."""
    parts = list(rulings)
    if not parts:
        return unchecked("there was nothing to check")
    worst = min(parts, key=_rank)
    scores = [one.score for one in parts if one.score is not None]
    passes = all(one.passes for one in parts)
    notice = next((one.notice for one in parts if one.notice), None) if passes else worst.notice
    return Ruling(
        worst.action,
        passes,
        notice,
        min(scores, default=None),
        tuple(report for one in parts for report in one.reports),
        tuple(call for one in parts for call in one.calls),
        tuple(reason for one in sorted(parts, key=_rank) for reason in one.reasons),
        any(one.waits for one in parts),
        tuple(receipt for one in parts for receipt in one.receipts) if passes else (),
    )


def _rank(ruling: Ruling) -> tuple[bool, float]:
    strictness = -1.0 if ruling.action == UNCHECKED else float(permissiveness(Action(ruling.action)))
    return ruling.passes, strictness
