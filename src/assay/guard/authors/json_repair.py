"""Documents that are plainly broken, repaired before anything else of a repair: commas, quotes, brackets, fences.

What the document says stays (see `assay.verify.documents.json_repair`), so nobody has to be asked and nothing is
guessed. What cannot be repaired is left to the author of the repair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from assay.schema import Action, HallucinationReport, Revision, RevisionAttempt

if TYPE_CHECKING:  # loaded with the first document that has to be repaired
    from assay.verify.documents import RepairedJson

UNREADABLE: Final = "structure.not_json"
LONGEST: Final = 200_000
"""Characters of a document that is repaired."""
_TOLD: Final = 6
"""Changes that are told one by one."""
_MENDED_BY: Final = "assay"


@dataclass(frozen=True, slots=True)
class Mend:
    """A document that was repaired."""

    original: HallucinationReport
    """What was found of it as it came."""
    mended: HallucinationReport
    """What was found of it once it could be read."""
    document: RepairedJson


def mend(report: HallucinationReport, check: Callable[[str], HallucinationReport]) -> Mend | None:
    """The document of a report in a form that can be read; none where it can be, or where that would mean to guess.

    Args:
        report: of the document as it came.
        check: checks the repaired one.
    """
    if not any(issue.code == UNREADABLE for issue in report.issues) or len(report.output) > LONGEST:
        return None
    from assay.verify.documents import JsonTextError, repair_json

    try:
        document = repair_json(report.output)
    except JsonTextError:
        return None
    if not document.repairs or not document.complete:
        return None
    found = check(document.text)
    return None if any(issue.code == UNREADABLE for issue in found.issues) else Mend(report, found, document)


def with_mend(report: HallucinationReport, made: Mend | None) -> HallucinationReport:
    """The repaired report with the repairing as its first attempt.

    Args:
        report: what came of the repaired document, with its revision.
        made: the repairing; the report is given back as it is without one.
    """
    if made is None:
        return report
    from assay.rewrite.revise import changes_between, failing

    revision = report.revision or Revision(
        original=report.output, stopped="exhausted", escalation_required=report.action is not Action.EMIT
    )
    messages = [repair.message for repair in made.document.repairs]
    more = f" And {len(messages) - _TOLD} more." if len(messages) > _TOLD else ""
    attempt = RevisionAttempt(
        number=1,
        outcome="better",
        reason=f"Repaired without asking the model. {' '.join(messages[:_TOLD])}{more}",
        failed_claims=failing(made.mended),
        overall_score=made.mended.overall_score,
        changes=changes_between(made.original.output, made.mended.output),
    )
    later = (one.model_copy(update={"number": one.number + 1}) for one in revision.attempts)
    repaired = revision.model_copy(
        update={
            "original": made.original.output,
            "attempts": (attempt, *later),
            "changes": changes_between(made.original.output, report.output),
            "failed_before": failing(made.original) + len(made.original.issues),
            "author": revision.author or _MENDED_BY,
        }
    )
    return report.model_copy(update={"revision": repaired})
