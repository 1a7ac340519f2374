"""Abstention as a part of the decision (docs/concepts.md#abstention): its block in a policy file, and its effect.

    policy:
      preset: general
      abstention:
        high: 0.9
        slope: 1.7

Without the block nothing changes. With it the answer is given, given with a caveat, or withheld with the reason and
advice on what to do next, and never more permissively than the gate decided.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from assay.policy.responses import disclosure, silence_notice
from assay.policy.routes import Route
from assay.schema import Action, Decision, Value
from assay.schema.report_parts import Abstention, AbstentionTrigger, Answering

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1)]


class SignalWeights(Value):
    """The weight of each confidence signal; a missing signal is left out and the other weights are scaled up."""

    groundedness: Weight = 0.45
    """How far the evidence supports the output."""
    certainty: Weight = 0.1
    """One minus the entropy of the log-probabilities."""
    consistency: Weight = 0.2
    """How far the model agrees with itself when asked again."""
    retrieval_quality: Weight = 0.1
    """How well the best passage matches the question."""
    coverage: Weight = 0.1
    """How much of the question all passages together cover."""
    directness: Weight = 0.05
    """One minus the degree of hedging."""

    @model_validator(mode="after")
    def _weighs(self) -> Self:
        if not any(self.model_dump().values()):
            raise PydanticCustomError(
                "contradiction", "{reason}", {"reason": "one of the weights must be above 0", "fields": ["weights"]}
            )
        return self


class Abstaining(Value):
    """The thresholds and the curve for deciding whether to answer; see `assay.rewrite.answers.abstention.Limits`."""

    high: Share = 0.85
    """The confidence from which an answer is given unchanged."""
    low: Share = 0.4
    """The confidence below which it is not given at all."""
    claim: Share = 0.6
    """The probability of support below which a claim gets a caveat."""
    groundedness: Share = 0.6
    """The groundedness below which every answer gets a caveat."""
    coverage: Share = 0.3
    """The least share of the question that the evidence has to mention."""
    entropy: Share = 0.6
    """The normalised entropy above which the model counts as undecided."""
    agreement: Share = 0.5
    """The agreement at or below which the model counts as contradicting itself."""
    domain: Share = 0.2
    """The least share of the question that has to belong to the service's domain."""
    staleness_days: float = Field(default=730.0, ge=0)
    """The greatest age of evidence, in days, on the day that the answer has to hold on, where the caller names one."""
    scope: tuple[str, ...] = ()
    """Words or texts that describe what the service is for; without them every question is within its domain."""
    weights: SignalWeights = SignalWeights()
    """The weight of each signal."""
    slope: float | None = Field(default=None, gt=0)
    """The slope of the curve that turns the mean of the signals into a probability; None if no curve was fitted."""
    intercept: float = 0.0
    """The intercept of that curve."""
    rows: int = Field(default=0, ge=0)
    """The number of labelled outputs that the curve was fitted on."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            reason = f"low must be at most high, got {self.low:g} and {self.high:g}"
            raise PydanticCustomError("contradiction", "{reason}", {"reason": reason, "fields": ["low", "high"]})
        return self


_GAPS: Final = frozenset({AbstentionTrigger.NO_RELEVANT_EVIDENCE, AbstentionTrigger.LOW_COVERAGE})
CLAIM_ROUTES: Final = frozenset({Route.SERVE, Route.SERVE_WITH_DISCLOSURE})
"""The routes that release claims. The others release nothing, or nothing that could be doubted."""


def concerns(decision: Decision) -> bool:
    """Whether the question of abstaining arises at all: the gate would release claims that are held to evidence."""
    return decision.route in CLAIM_ROUTES


def with_answering(decision: Decision, abstention: Abstention, untold: Sequence[str] = ()) -> Decision:
    """The stricter of two decisions: the gate's, and the one whether to answer at all.

    Args:
        decision: the gate's decision.
        abstention: the decision whether to answer.
        untold: the parts of the question that nothing answers; the reader is told about them in any case.

    >>> served = Decision(action=Action.EMIT, route="serve", reasons=("All hold.",))
    >>> with_answering(served, Abstention(outcome=Answering.ABSTAIN, reason="stale", response="Too old.")).response
    'Too old.'
    """
    if not concerns(decision) or abstention.outcome is Answering.RESPOND:
        return decision
    if abstention.outcome is Answering.PARTIAL_WITH_CAVEATS:
        if decision.action is not Action.EMIT:
            return decision
        reason = f"Confidence allows it with a caveat only ({abstention.reason.replace('_', ' ')})."
        caveat = f"{disclosure()} {silence_notice(untold)}" if untold else disclosure()
        return Decision(action=Action.REVISE, route=Route.SERVE_WITH_DISCLOSURE, reasons=(reason,), response=caveat)
    route = Route.WITHHOLD_KNOWLEDGE_GAP if any(one.trigger in _GAPS for one in abstention.triggers) else Route.WITHHOLD
    reason = f"Confidence does not allow an answer ({abstention.reason.replace('_', ' ')})."
    before = decision.reasons if decision.action is not Action.EMIT else ()
    response = f"{abstention.response or ''} {silence_notice(untold)}".strip() if untold else abstention.response
    return Decision(action=Action.BLOCK, route=route, reasons=(reason, *before), response=response)
