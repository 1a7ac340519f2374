"""Why a finding came about: the likely root causes with what supports each (docs/concepts.md#root-causes)."""

from enum import StrEnum

from pydantic import Field

from assay.schema.base import Value
from assay.schema.evidence import EvidenceSpan


class Cause(StrEnum):
    """A root cause of a hallucination (docs/concepts.md#root-causes)."""

    KNOWLEDGE_GAP = "knowledge_gap"
    """The model did not know and said something all the same."""
    STALENESS = "staleness"
    """What was true once is not any more: the world has shifted, or the evidence is out of date."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The evidence was given, and lost in a long context."""
    RETRIEVAL_MISS = "retrieval_miss"
    """The evidence that would answer was not given."""
    RETRIEVAL_NOISE = "retrieval_noise"
    """Evidence about something else was taken for the answer."""
    POISONING = "poisoning"
    """The evidence itself is wrong, or was written to mislead."""
    AMBIGUITY = "ambiguity"
    """What was asked, or in which form, was not clear."""


class CauseEstimate(Value):
    """One cause of one finding."""

    cause: Cause
    presence: float = Field(ge=0, le=1)
    """P(cause): how strongly what was observed supports it."""
    effect: float = Field(ge=0, le=1)
    """P(hallucination | cause): how often it leads to one; an assumption of the model, not a measurement of yours."""
    share: float = Field(ge=0, le=1)
    """Its part in the finding; those of all causes of a finding add up to 1."""
    reason: str
    """What was observed, as a sentence for people."""
    spans: tuple[EvidenceSpan, ...] = ()
    """The passages that show it."""


class CauseReport(Value):
    """The attribution of one finding."""

    claim: int | None = Field(default=None, ge=0)
    """The place of the claim among the report's claims; none for a finding that belongs to no claim."""
    code: str | None = None
    """The code of the finding, where it belongs to no claim."""
    path: str | None = None
    """The JSON Pointer of the finding in a structured output."""
    likely: Cause
    """The cause with the largest share."""
    probability: float = Field(ge=0, le=1)
    """P(H) = 1 - product over causes of (1 - P(H | cause) P(cause)), docs/concepts.md#root-causes."""
    estimates: tuple[CauseEstimate, ...] = Field(min_length=1)
    """The largest share first."""
