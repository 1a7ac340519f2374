"""Feedback for the author of an output: which sentences failed, why, and what the evidence says about them.

Text of outputs, evidence and tools is fenced as in every prompt (`assay.prompts`), one JSON object per line; our own
words are in the prompt file `feedback`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.prompts import Data, load_prompt
from assay.rewrite.revise.splicing import Part
from assay.schema import ClaimReport, ClaimStatus, EvidenceSpan, HallucinationReport, Span, Suggestion

MOST_LISTED: Final = 20
"""The most sentences in one feedback; the next attempt lists the others."""
MOST_EVIDENCE: Final = 3
"""The most passages shown for one sentence."""
LONGEST: Final = 1_500
"""The most characters of one quoted text."""
FAILING: Final = (ClaimStatus.REVISE, ClaimStatus.BLOCK, ClaimStatus.UNCHECKED)
"""The statuses of claims that have to change."""
PROMPT: Final = "feedback"
"""The name of the prompt file."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One sentence that has to change."""

    number: int
    """From 1, in the order of the text; an author may answer with replacements by these numbers."""
    sentence: str
    span: Span
    """Its place in the output."""
    reasons: tuple[str, ...]
    evidence: tuple[EvidenceSpan, ...]
    """The relevant passages of the evidence, contradicting ones first."""
    suggestions: tuple[Suggestion, ...] = ()
    """Values of the evidence that replace wrong values of the sentence, where there are any."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback that an author gets on one version."""

    output: str
    """The version that failed and is to be corrected."""
    corrections: tuple[Correction, ...]
    attempts_left: int
    """How many versions may still be submitted, the next one included."""
    question: str | None = None
    refused: bool = False
    """Whether the last version was refused because it changed what had passed."""

    @property
    def text(self) -> str:
        """The feedback as a message for a model."""
        return _message(self)

    def __str__(self) -> str:
        return self.text


def failed_spans(report: HallucinationReport) -> tuple[Span, ...]:
    """The places of an output that have to change: failing claims, failing citations, and unchecked text."""
    claims = [claim.span for claim in report.claims if claim.status in FAILING]
    citations = [c.span for c in report.citations if c.status not in ("verified", "unchecked")]
    return (*claims, *citations, *(part.span for part in report.coverage.parts))


def feedback_on(report: HallucinationReport, parts: Sequence[Part], left: int, *, refused: bool = False) -> Feedback:
    """The feedback on an output.

    Args:
        report: the report of the output.
        parts: its sentences.
        left: how many versions may still be submitted.
        refused: whether the last version was refused because it changed what had passed.
    """
    failed = [part for part in parts if part.failed]
    corrections = tuple(_correction(number, part, report) for number, part in enumerate(failed[:MOST_LISTED], start=1))
    return Feedback(report.output, corrections, left, report.question, refused)


def _correction(number: int, part: Part, report: HallucinationReport) -> Correction:
    claims = [c for c in report.claims if c.status in FAILING and touches(c.span, part)]
    citations = [c for c in report.citations if c.status != "verified" and touches(c.span, part)]
    reasons = [issue.message for claim in claims for issue in claim.issues] or [_verdict(claim) for claim in claims]
    reasons += [citation.message for citation in citations]
    if not reasons:
        reasons = ["This could not be checked."]
    spans = [span for claim in claims for span in claim.evidence_spans]
    # A stable sort: contradicting spans come first, otherwise the order of the report is kept.
    spans.sort(key=lambda span: span.relation != "contradicts")
    unique = {(span.evidence_id, span.start, span.end): span for span in reversed(spans)}
    shown = tuple(reversed(unique.values()))[:MOST_EVIDENCE]
    return Correction(
        number,
        report.output[part.start : part.end],
        Span(start=part.start, end=part.end),
        tuple(dict.fromkeys(reasons)),
        shown,
        tuple(one for claim in claims for one in claim.suggestions),
    )


def touches(span: Span, place: Span | Part) -> bool:
    """Whether a span and another place overlap; an empty span counts as one character."""
    return span.start < place.end and place.start < max(span.end, span.start + 1)


def _verdict(claim: ClaimReport) -> str:
    return f"The claim is {claim.verdict.value}."


def _message(feedback: Feedback) -> str:
    rendered = load_prompt(PROMPT).render(
        corrections=Data(tuple(_record(one) for one in feedback.corrections)),
        count=len(feedback.corrections),
        refused=int(feedback.refused),
    )
    return rendered.user


def _record(correction: Correction) -> dict[str, Any]:
    return {
        "number": correction.number,
        "sentence": _cut(correction.sentence),
        "found": [_cut(reason) for reason in correction.reasons],
        "evidence": [
            {"id": _cut(span.evidence_id), "relation": span.relation, "text": _cut(span.text)}
            for span in correction.evidence
        ],
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
