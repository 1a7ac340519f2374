"""From what was found of an answer to what its reader gets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.policy import Cause, disclosure_of, permissiveness, refusal
from assay.schema import Action, ClaimStatus, HallucinationReport, Issue
from assay.verify.documents import HIDDEN
from assay.verify.tools import CallCheck, feedback

UNCHECKED: Final = "unchecked"
"""What is in place of an action where no check could be made; never a pass."""

_MOST_CLAIMS: Final = 20
"""Claims that a summary lists."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is done with an answer, or with a part of one."""

    action: str
    """The gate's action, or `unchecked`."""
    passes: bool
    """Whether it may go out."""
    notice: str | None = None
    """What to say in its place, or behind it where it passes."""
    score: float | None = None
    reports: tuple[HallucinationReport, ...] = ()
    calls: tuple[CallCheck, ...] = ()
    reasons: tuple[str, ...] = ()
    waits: bool = False
    """Whether a part holds no claim yet, so that it is kept until one follows."""
    receipts: tuple[str, ...] = ()
    """The receipt of each text that may go out, in the form in which `assay receipt verify` reads it."""

    @property
    def untold(self) -> tuple[str, ...]:
        """What was asked about and nothing tells of, in any of the texts."""
        return tuple(dict.fromkeys(part for report in self.reports for part in report.untold))

    def summary(self, report_id: str) -> dict[str, Any]:
        """What goes with the answer: the decision, the claims that did not hold, and the calls that were refused."""
        made: dict[str, Any] = {
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
        made |= {"claims": claims[:_MOST_CLAIMS]} if claims else {}
        made |= {"untold": list(self.untold)} if self.untold else {}
        return made | ({"tool_calls": calls} if calls else {})


def unchecked(reason: str) -> Ruling:
    """The ruling on what could not be checked: it does not pass."""
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
    """The ruling on the beginning of a text that goes on.

    What has gone out cannot be called back. So a claim that the gate would block by itself stops the stream even where
    an average over later claims might have carried it, and what may only be shown with a disclosure does not pass. A
    part without a claim is kept until one follows, unless something has gone out already (`begun`).
    """
    hides = any(issue.code == HIDDEN for issue in report.issues)
    if not hides and not any(claim.status is not ClaimStatus.NOT_CHECKABLE for claim in report.claims):
        return Ruling(Action.EMIT.value, passes=begun, reports=(report,), waits=not begun)
    whole = ruling_on_report(report, fail_on)
    blocked = any(claim.status is ClaimStatus.BLOCK for claim in report.claims)
    disclosed = report.action is not Action.EMIT and disclosure_of(report) is not None
    if whole.passes and not blocked and not disclosed:
        # What the whole leaves untold can only be said when it has ended.
        return replace(whole, notice=None)
    action = Action.BLOCK.value if blocked and whole.passes else whole.action
    notice = whole.notice or refusal({Cause.UNSUPPORTED}, Action.BLOCK)
    return Ruling(action, False, notice, whole.score, whole.reports, reasons=whole.reasons)


def ruling_on_structure(found: Ruling, broken: Sequence[Issue]) -> Ruling:
    """The ruling on a text that breaks the schema that the request holds it to."""
    reasons = (*(issue.message for issue in broken), *found.reasons)
    notice = refusal({Cause.STRUCTURE}, Action.BLOCK)
    return Ruling(Action.REVISE.value, False, notice, found.score, found.reports, reasons=reasons)


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
    """One ruling for all parts of an answer: the strictest of them, with what was found of each."""
    found = list(rulings)
    if not found:
        return unchecked("there was nothing to check")
    worst = min(found, key=_rank)
    scores = [one.score for one in found if one.score is not None]
    passes = all(one.passes for one in found)
    notice = next((one.notice for one in found if one.notice), None) if passes else worst.notice
    return Ruling(
        worst.action,
        passes,
        notice,
        min(scores, default=None),
        tuple(report for one in found for report in one.reports),
        tuple(call for one in found for call in one.calls),
        tuple(reason for one in sorted(found, key=_rank) for reason in one.reasons),
        any(one.waits for one in found),
        tuple(receipt for one in found for receipt in one.receipts) if passes else (),
    )


def _rank(ruling: Ruling) -> tuple[bool, float]:
    strictness = -1.0 if ruling.action == UNCHECKED else float(permissiveness(Action(ruling.action)))
    return ruling.passes, strictness
