"""Whether a recorded check can become a row of a labelled dataset: an answer with all the evidence it was checked
against.

With less evidence than the check had, the label would be false: a supported answer would appear as supported by
nothing. So a row has all the evidence of the check, or there is no row.
"""

from enum import StrEnum

from assay.schema import Evidence
from assay.store.db.store import StoredCheck


class NoRow(StrEnum):
    """Why a check cannot become a row."""

    ERASED = "erased"
    """Its content was erased."""
    EVIDENCE_ERASED = "evidence_erased"
    """Its evidence, or part of it, was erased."""
    AGENT_RUN = "agent_run"
    """It is an agent run, most of whose evidence is in the transcript: tool results and user statements."""
    CALLS = "calls"
    """It has only tool calls, or nothing in it could be checked."""
    NO_EVIDENCE = "no_evidence"
    """It was checked without evidence."""
    NO_TEXT = "no_text"
    """It has no text to label."""


def why_no_row(check: StoredCheck, more: tuple[Evidence, ...] = ()) -> NoRow | None:
    """Why a check cannot become a row; None if it can.

    Args:
        check: the check.
        more: evidence that was added later, for instance by a reviewer.
    """
    if check.erased is not None or check.report is None or check.asked is None:
        return NoRow.ERASED
    if check.kind == "run" or "run" in check.asked:
        return NoRow.AGENT_RUN
    if "calls" in check.asked or "unchecked" in check.asked:
        return NoRow.CALLS
    if check.evidence_erased or any(content is None for _, _, content in check.evidence):
        return NoRow.EVIDENCE_ERASED
    if not check.evidence and not more:
        return NoRow.NO_EVIDENCE
    return None if check.report.output.strip() else NoRow.NO_TEXT
