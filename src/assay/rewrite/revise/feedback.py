"""What the author of an output is told about it: which sentences failed, why, and what the evidence says of them.

Text of outputs, evidence and tools follows the fence of every prompt (`assay.prompts`), one JSON object on a line
each; the words around it are the file `feedback`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.prompts import Data, load_prompt
from assay.rewrite.revise.splicing import Part
from assay.schema import ClaimReport, ClaimStatus, EvidenceSpan, HallucinationReport, Span, Suggestion

MOST_LISTED: Final = 20
"""Sentences that one feedback names; the next attempt names the others."""
MOST_EVIDENCE: Final = 3
"""Passages that are shown for one sentence."""
LONGEST: Final = 1_500
"""Characters of one quoted text that are shown."""
FAILING: Final = (ClaimStatus.REVISE, ClaimStatus.BLOCK, ClaimStatus.UNCHECKED)
"""What the gate says of claims that have to change."""
PROMPT: Final = "feedback"
"""The prompt that it is worded with."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One sentence that has to change."""

    number: int
    """From 1, in the order of the text; an author may answer with replacements by these numbers."""
    sentence: str
    span: Span
    """Where it is in the output."""
    reasons: tuple[str, ...]
    evidence: tuple[EvidenceSpan, ...]
    """What the evidence says of it, what contradicts it first."""
    suggestions: tuple[Suggestion, ...] = ()
    """Values of the evidence for wrong ones of the sentence, where it gives them."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What an author gets."""

    output: str
    """The version that failed, as it is to be corrected."""
    corrections: tuple[Correction, ...]
    attempts_left: int
    """How many versions may be handed in, this one included."""
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
    """The places of an output that have to change: claims that fail, citations that fail, text that nobody checked."""
    claims = [claim.span for claim in report.claims if claim.status in FAILING]
    citations = [c.span for c in report.citations if c.status not in ("verified", "unchecked")]
    return (*claims, *citations, *(part.span for part in report.coverage.parts))


def feedback_on(report: HallucinationReport, parts: Sequence[Part], left: int, *, refused: bool = False) -> Feedback:
    """The feedback on an output whose parts are known."""
    failed = [part for part in parts if part.failed]
    corrections = tuple(_correction(number, part, report) for number, part in enumerate(failed[:MOST_LISTED], start=1))
    return Feedback(report.output, corrections, left, report.question, refused)


def _correction(number: int, part: Part, report: HallucinationReport) -> Correction:
    claims = [c for c in report.claims if c.status in FAILING and _meet(c.span, part)]
    citations = [c for c in report.citations if c.status != "verified" and _meet(c.span, part)]
    reasons = [issue.message for claim in claims for issue in claim.issues] or [_verdict(claim) for claim in claims]
    reasons += [citation.message for citation in citations]
    if not reasons:
        reasons = ["This could not be checked."]
    spans = [span for claim in claims for span in claim.evidence_spans]
    # Stable: what contradicts comes first, otherwise the order of the report stays.
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


def _meet(span: Span, part: Part) -> bool:
    return span.start < part.end and part.start < max(span.end, span.start + 1)


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
