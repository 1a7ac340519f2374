"""The first step of a repair: obvious defects of a JSON document, such as commas, quotes, brackets and fences.

The content of the document stays the same (see `assay.verify.documents.json_repair`), so no model is asked and nothing
is guessed. What cannot be repaired this way is left to the author of the repair.
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
"""The most characters of a document that is repaired."""
_MOST_LISTED: Final = 6
"""The most repairs that the record lists one by one."""
_AUTHOR: Final = "assay"


@dataclass(frozen=True, slots=True)
class RepairedDocument:
    """A document whose JSON was repaired."""

    original: HallucinationReport
    """The report of the document as it was given."""
    report: HallucinationReport
    """The report of the repaired document."""
    document: RepairedJson


def repaired_document(
    report: HallucinationReport, check: Callable[[str], HallucinationReport]
) -> RepairedDocument | None:
    """The repaired document of a report; None if it is readable, or where a repair would be a guess.

    Args:
        report: the report of the document as it was given.
        check: checks the repaired document.
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
    checked = check(document.text)
    if any(issue.code == UNREADABLE for issue in checked.issues):
        return None
    return RepairedDocument(report, checked, document)


def with_document_repair(report: HallucinationReport, repaired: RepairedDocument | None) -> HallucinationReport:
    """The report with the repair of its JSON as the first attempt of its revision.

    Args:
        report: the final report of the repaired document, with its revision.
        repaired: the repaired document; without one the report is returned unchanged.
    """
    if repaired is None:
        return report
    from assay.rewrite.revise import changes_between, failing

    revision = report.revision or Revision(
        original=report.output, stopped="exhausted", escalation_required=report.action is not Action.EMIT
    )
    messages = [repair.message for repair in repaired.document.repairs]
    more = f" And {len(messages) - _MOST_LISTED} more." if len(messages) > _MOST_LISTED else ""
    attempt = RevisionAttempt(
        number=1,
        outcome="better",
        reason=f"Repaired without asking the model. {' '.join(messages[:_MOST_LISTED])}{more}",
        failed_claims=failing(repaired.report),
        overall_score=repaired.report.overall_score,
        changes=changes_between(repaired.original.output, repaired.report.output),
    )
    later = (one.model_copy(update={"number": one.number + 1}) for one in revision.attempts)
    completed = revision.model_copy(
        update={
            "original": repaired.original.output,
            "attempts": (attempt, *later),
            "changes": changes_between(repaired.original.output, report.output),
            "failed_before": failing(repaired.original) + len(repaired.original.issues),
            "author": revision.author or _AUTHOR,
        }
    )
    return report.model_copy(update={"revision": completed})
