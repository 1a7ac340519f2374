"""Whether to answer, to answer with caveats, or to say that one does not know (docs/concepts.md#abstention)."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from assay.schema.base import Value
from assay.schema.claim import Span


class Answering(StrEnum):
    """What becomes of an answer. Abstaining is an answer of its own kind, not a failure."""

    RESPOND = "RESPOND"
    """It is given as it is."""
    PARTIAL_WITH_CAVEATS = "PARTIAL_WITH_CAVEATS"
    """It is given, and its weak claims are marked as such."""
    ABSTAIN = "ABSTAIN"
    """The reason and what to do next take its place."""


class AbstentionTrigger(StrEnum):
    """The conditions under which an answer must not be given as if nothing were amiss."""

    NO_RELEVANT_EVIDENCE = "no_relevant_evidence"
    """Nothing that was retrieved mentions the question. Always abstains."""
    LOW_COVERAGE = "low_coverage"
    """The evidence covers too little of the question."""
    HIGH_ENTROPY = "high_entropy"
    """The model was undecided between words."""
    INCONSISTENT = "inconsistent"
    """Asked again, the model said something else."""
    OUT_OF_DOMAIN = "out_of_domain"
    """The question is about something that this service is not for."""
    STALE = "stale"
    """The evidence is older than the question allows."""


class FiredTrigger(Value):
    """One trigger that fired."""

    trigger: AbstentionTrigger
    value: float = Field(allow_inf_nan=False)
    """What was measured."""
    threshold: float
    """What it was checked against."""


class ConfidenceSignal(Value):
    """One signal of confidence."""

    name: str
    value: float | None = Field(default=None, ge=0, le=1)
    """More is better; none where it could not be had."""
    weight: float = Field(ge=0)
    missing: str | None = None
    """Why it has no value."""

    @model_validator(mode="after")
    def _has_a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.missing is None):
            raise ValueError("a signal has either a value or the reason why it has none")
        return self


class Caveat(Value):
    """One weak claim that is shown with a caveat."""

    claim: str
    span: Span
    """Where it is in the output."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """The probability of support; none where it could not be checked."""


class Abstention(Value):
    """What was decided and why."""

    outcome: Answering
    reason: str
    """`confident`, `weak_claims`, `low_confidence`, `contradicted`, `unchecked`, `gate`, or the name of a trigger."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """None where nothing was known; such an answer is never given."""
    calibrated: bool = False
    """Whether the confidence is a probability that was fitted on labelled outputs."""
    signals: tuple[ConfidenceSignal, ...] = ()
    triggers: tuple[FiredTrigger, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    """The weak claims: marked in the response where it is partial, the reason where it abstains."""
    response: str | None = None
    """What to say instead of the output, or the output with its caveats; none where it is given as it is."""
    suggested_actions: tuple[str, ...] = ()
    """What to do next, such as `provide_more_context` and `try_different_query`."""
