"""Whether a recorded check can stand in a labelled set: as an answer with all of the evidence that it was held against.

A row with less evidence than the check had says another thing than the person who labelled it: what was borne out would
stand there as borne out by nothing. So a row is made of all that the check saw, or not at all.
"""

from enum import StrEnum

from assay.schema import Evidence
from assay.store.db.store import StoredCheck


class NoRow(StrEnum):
    """Why no row can be made of a check."""

    ERASED = "erased"
    """Its content was erased."""
    EVIDENCE_ERASED = "evidence_erased"
    """Its evidence, or a part of it, was erased."""
    AGENT_RUN = "agent_run"
    """It is of the run of an agent, most of whose evidence is in the transcript: results of tools, what users said."""
    CALLS = "calls"
    """It is of calls of tools alone, or nothing could be checked."""
    NO_EVIDENCE = "no_evidence"
    """It was checked without evidence."""
    NO_TEXT = "no_text"
    """It has no words to label."""


def why_no_row(check: StoredCheck, more: tuple[Evidence, ...] = ()) -> NoRow | None:
    """Why no row can be made of a check; none where one can.

    Args:
        check: the check.
        more: evidence that it was given later, such as by a reviewer.
    """
    if check.erased is not None or check.report is None or check.asked is None:
        return NoRow.ERASED
    if check.kind == "run" or "run" in check.asked:
        return NoRow.AGENT_RUN
    if "calls" in check.asked or "unchecked" in check.asked:
        return NoRow.CALLS
    if check.evidence_erased or any(one is None for _, _, one in check.evidence):
        return NoRow.EVIDENCE_ERASED
    if not check.evidence and not more:
        return NoRow.NO_EVIDENCE
    return None if check.report.output.strip() else NoRow.NO_TEXT
