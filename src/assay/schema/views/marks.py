"""What verdicts are called, which is graver, and which passages decide."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from assay.schema.evidence import EvidenceSpan
from assay.schema.report import ClaimReport
from assay.schema.verdict import Verdict

GRAVITY: Final = (
    Verdict.CONTRADICTED,
    Verdict.UNCHECKED,
    Verdict.UNSUPPORTED,
    Verdict.SUPPORTED,
    Verdict.NOT_CHECKABLE,
)
"""The verdicts from the worst to the harmless: where claims overlap, the worst one gives the mark."""

SIGNS: Final = {
    Verdict.SUPPORTED: "✓",
    Verdict.CONTRADICTED: "✗",
    Verdict.UNSUPPORTED: "?",
    Verdict.UNCHECKED: "!",
    Verdict.NOT_CHECKABLE: "·",
}
"""One sign for each verdict, so that no meaning depends on colour."""

WORDS: Final = {
    Verdict.SUPPORTED: "supported",
    Verdict.CONTRADICTED: "contradicted",
    Verdict.UNSUPPORTED: "unsupported",
    Verdict.UNCHECKED: "unchecked",
    Verdict.NOT_CHECKABLE: "not checkable",
}
"""The verdicts as words for people."""


def deciding_spans(claim: ClaimReport) -> Iterator[EvidenceSpan]:
    """The deciding passages, each once, those of the issues first."""
    seen: set[tuple[str, int, int]] = set()
    issue_spans = (issue.evidence for issue in claim.issues if issue.evidence is not None)
    for span in chain(issue_spans, claim.evidence_spans):
        key = (span.evidence_id, span.start, span.end)
        if key not in seen and not (seen and span.relation == "related"):
            seen.add(key)
            yield span
