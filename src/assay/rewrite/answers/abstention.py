"""Respond, respond with caveats, or abstain (docs/concepts.md#abstention).

    RESPOND  if  P(hallucination) < theta_H  and  groundedness >= theta_G  and nothing forbids it
    PARTIAL  if  the confidence lies in between, or single claims are weak
    ABSTAIN  otherwise, with the reason and what to do next

A pure function. Everything unknown makes it stricter: without a confidence it abstains, and a claim that could not be
checked counts as weak. The trigger of a missing signal does not fire, but the record says that the signal is missing. A
claim that the evidence contradicts is never served with a caveat. An answer that consists of weak claims only is
withheld, unless the confidence is a probability fitted on labelled outputs: then the thresholds decide whether a caveat
is enough.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assay.errors import InputError
from assay.schema import ClaimReport, Verdict
from assay.schema.report_parts import (
    Abstention,
    AbstentionTrigger,
    Answering,
    Caveat,
    ConfidenceSignal,
    FiredTrigger,
)
from assay.stats import SIGNALS, ConfidenceModel
from assay.text.sentences import split_sentences

MARK: Final = " [Not confirmed by the sources.]"
"""The mark that follows a sentence with a weak claim."""
NOTE: Final = "Please note: the sentences marked above could not be confirmed. Check them before you rely on them."

_STRICTNESS: Final = {Answering.RESPOND: 0, Answering.PARTIAL_WITH_CAVEATS: 1, Answering.ABSTAIN: 2}
_MORE_CONTEXT, _OTHER_QUERY = "provide_more_context", "try_different_query"
_INSTEAD: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    AbstentionTrigger.NO_RELEVANT_EVIDENCE: (
        "None of my sources deals with this question.",
        (_MORE_CONTEXT, _OTHER_QUERY),
    ),
    AbstentionTrigger.LOW_COVERAGE: (
        "The sources that I have cover only a part of this question.",
        (_MORE_CONTEXT, "ask_a_narrower_question"),
    ),
    AbstentionTrigger.HIGH_ENTROPY: (
        "I could not settle on one answer to this question.",
        (_OTHER_QUERY, _MORE_CONTEXT),
    ),
    AbstentionTrigger.INCONSISTENT: (
        "Asked again, I arrived at a different answer, so I give none.",
        ("read_the_sources", _OTHER_QUERY),
    ),
    AbstentionTrigger.OUT_OF_DOMAIN: (
        "This question is outside of what I can answer here.",
        ("ask_someone_responsible",),
    ),
    AbstentionTrigger.STALE: (
        "The sources that I have may be out of date for this question.",
        ("provide_current_sources",),
    ),
    "contradicted": ("The sources say otherwise than the answer that I had.", ("read_the_sources",)),
    "unchecked": ("My answer to this could not be checked.", ("try_again", "ask_someone_responsible")),
    "low_confidence": ("I am not sure enough of an answer to this question.", (_MORE_CONTEXT, _OTHER_QUERY)),
    "gate": ("My answer to this did not pass its checks.", ("read_the_sources", _OTHER_QUERY)),
}
"""For each reason the text and what to do next. No scores, thresholds, passages or models are revealed."""
_ADVICE: Final[Mapping[str, str]] = {
    _MORE_CONTEXT: "Add documents that cover it, or give more context.",
    _OTHER_QUERY: "Try asking in other words.",
    "ask_a_narrower_question": "Ask a narrower question.",
    "read_the_sources": "Please read the sources themselves.",
    "ask_someone_responsible": "Please ask someone who is responsible for the subject.",
    "provide_current_sources": "Add documents that are current.",
    "try_again": "Please try again.",
    "check_marked_claims": "Check the marked sentences against the sources.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of the decision.

    Raises:
        InputError: one is out of range, or they are in the wrong order.
    """

    high: float = 0.85
    """theta_high: the confidence from which an answer is given unchanged; 1 - theta_H of the formula."""
    low: float = 0.4
    """theta_low: the confidence below which it is not given at all."""
    claim: float = 0.6
    """theta_claim: the probability of support below which a claim gets a caveat."""
    groundedness: float = 0.6
    """theta_G: the groundedness below which every answer gets a caveat."""
    coverage: float = 0.3
    """theta_cov: the least share of the question that the evidence has to mention."""
    entropy: float = 0.6
    """theta_H of the triggers: the normalised entropy above which the model counts as undecided."""
    agreement: float = 0.5
    """theta_agree: the agreement at or below which the model contradicts itself; a majority is more than half."""
    domain: float = 0.2
    """theta_domain: the least share of the question that has to belong to the service's domain."""
    staleness_days: float = 730.0
    """tau_max: the greatest age of evidence, in days."""

    def __post_init__(self) -> None:
        shares = (self.high, self.low, self.claim, self.groundedness, self.coverage, self.entropy, self.agreement)
        if not all(0 <= share <= 1 for share in (*shares, self.domain)) or not self.staleness_days >= 0:
            raise InputError("expected thresholds in [0, 1] and a staleness of 0 days or more")
        if self.low > self.high:
            raise InputError(f"expected low to be at most high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Situation:
    """The signals about a question, its evidence and its answer; None if a signal is not available."""

    groundedness: float | None = None
    """How far the evidence supports the answer, in [0, 1]."""
    entropy: float | None = None
    """The normalised entropy of the answer's tokens, in [0, 1]; less is better."""
    consistency: float | None = None
    """How far the model agrees with itself, in [0, 1]."""
    retrieval_quality: float | None = None
    """How well the best passage matches the question, in [0, 1]."""
    coverage: float | None = None
    """How much of the question all passages together cover, in [0, 1]."""
    hedging: float | None = None
    """The degree of hedging, in [0, 1]; less is better."""
    relevant_evidence: int | None = None
    """Passages that mention the question."""
    domain_match: float | None = None
    """How far the question belongs to the domain, in [0, 1]."""
    staleness_days: float | None = None
    """The age of the newest dated passage, in days."""
    requires_facts: bool = True
    """Whether the question asks for facts; small talk needs no evidence."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a signal is not available, by its name."""

    def signals(self) -> dict[str, float | None]:
        """The signals of `assay.stats.confidence`; for all of them more is better."""
        return {
            "groundedness": self.groundedness,
            "certainty": None if self.entropy is None else 1 - self.entropy,
            "consistency": self.consistency,
            "retrieval_quality": self.retrieval_quality,
            "coverage": self.coverage,
            "directness": None if self.hedging is None else 1 - self.hedging,
        }


def fired(situation: Situation, limits: Limits) -> tuple[FiredTrigger, ...]:
    """Those of the six triggers of docs/concepts.md#abstention that fire, the hard one first.

    >>> [one.trigger.value for one in fired(Situation(relevant_evidence=0, domain_match=0.9), Limits())]
    ['no_relevant_evidence']
    """
    return tuple(_fired(situation, limits))


def _fired(situation: Situation, limits: Limits) -> Iterator[FiredTrigger]:
    facts = situation.requires_facts
    if facts and situation.relevant_evidence is not None and situation.relevant_evidence <= 0:
        yield FiredTrigger(trigger=AbstentionTrigger.NO_RELEVANT_EVIDENCE, value=0.0, threshold=1.0)
    tests = (
        (AbstentionTrigger.OUT_OF_DOMAIN, situation.domain_match, limits.domain, "below"),
        (AbstentionTrigger.LOW_COVERAGE, situation.coverage if facts else None, limits.coverage, "below"),
        (AbstentionTrigger.STALE, situation.staleness_days if facts else None, limits.staleness_days, "above"),
        (AbstentionTrigger.INCONSISTENT, situation.consistency, limits.agreement, "not above"),
        (AbstentionTrigger.HIGH_ENTROPY, situation.entropy, limits.entropy, "above"),
    )
    for trigger, value, threshold, condition in tests:
        if value is None:
            continue
        fires = {"below": value < threshold, "above": value > threshold, "not above": value <= threshold}[condition]
        if fires:
            yield FiredTrigger(trigger=trigger, value=value, threshold=threshold)


def decide_answer(
    output: str,
    claims: Sequence[ClaimReport],
    situation: Situation,
    limits: Limits | None = None,
    model: ConfidenceModel | None = None,
    *,
    at_least: Answering = Answering.RESPOND,
) -> Abstention:
    """Decides whether an answer is given, given with caveats, or replaced by an abstention.

    Args:
        output: the answer.
        claims: the reports of its claims.
        situation: the other signals.
        limits: the thresholds.
        model: combines the signals into one confidence; by default with expert weights and without calibration.
        at_least: the most permissive outcome that is still allowed, for example by the gate.

    Returns:
        The decision. A lower signal, a weaker claim or one more trigger never makes it more permissive.
    """
    limits, model = limits or Limits(), model or ConfidenceModel()
    signals = situation.signals()
    confidence = model.confidence(signals)
    triggers = fired(situation, limits)
    caveats = weak_claims(claims, limits.claim)
    outcome, reason = _outcome(claims, situation, limits, confidence, triggers, caveats, model.calibrated)
    if _STRICTNESS[at_least] > _STRICTNESS[outcome]:
        outcome, reason = at_least, "gate"
    response, actions = _answer(output, outcome, reason, caveats)
    return Abstention(
        outcome=outcome,
        reason=reason,
        confidence=confidence,
        calibrated=model.calibrated,
        signals=tuple(_signal(name, signals[name], situation, dict(model.weights)) for name in SIGNALS),
        triggers=triggers,
        caveats=caveats,
        response=response,
        suggested_actions=actions,
    )


def _signal(name: str, value: float | None, situation: Situation, weights: Mapping[str, float]) -> ConfidenceSignal:
    missing = None if value is not None else situation.missing.get(name, "not measured")
    return ConfidenceSignal(name=name, value=value, weight=weights.get(name, 0.0), missing=missing)


def _outcome(
    claims: Sequence[ClaimReport],
    situation: Situation,
    limits: Limits,
    confidence: float | None,
    triggers: Sequence[FiredTrigger],
    caveats: Sequence[Caveat],
    calibrated: bool,
) -> tuple[Answering, str]:
    checkable = [claim for claim in claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    if triggers:
        return Answering.ABSTAIN, triggers[0].trigger.value
    if any(claim.verdict is Verdict.CONTRADICTED for claim in checkable):
        return Answering.ABSTAIN, "contradicted"
    if confidence is None or situation.groundedness is None:
        return Answering.ABSTAIN, "unchecked"
    if confidence < limits.low or (checkable and len(caveats) == len(checkable) and not calibrated):
        return Answering.ABSTAIN, "low_confidence"
    if caveats:
        return Answering.PARTIAL_WITH_CAVEATS, "weak_claims"
    if confidence < limits.high or situation.groundedness < limits.groundedness:
        return Answering.PARTIAL_WITH_CAVEATS, "low_confidence"
    return Answering.RESPOND, "confident"


def weak_claims(claims: Sequence[ClaimReport], threshold: float) -> tuple[Caveat, ...]:
    """The checkable claims that are supported below a threshold or could not be checked."""
    return tuple(
        Caveat(claim=claim.text, span=claim.span, confidence=claim.score)
        for claim in claims
        if claim.verdict is not Verdict.NOT_CHECKABLE
        and (claim.score is None or claim.score < threshold or claim.verdict is not Verdict.SUPPORTED)
    )


def with_caveats(output: str, caveats: Sequence[Caveat]) -> str:
    """The output with a mark after every sentence that contains a weak claim, and a note at its end.

    >>> from assay.schema import Span
    >>> with_caveats("It opened in 1990. It is blue.", [Caveat(claim="It is blue.", span=Span(start=19, end=30))])[:62]
    'It opened in 1990. It is blue. [Not confirmed by the sources.]'
    """
    sentences = split_sentences(output)
    ends = sorted(
        {
            sentence.end
            for sentence in sentences
            if any(c.span.start < sentence.end and sentence.start < c.span.end for c in caveats)
        }
    )
    parts, at = [], 0
    for end in ends:
        parts += [output[at:end], MARK]
        at = end
    parts.append(output[at:])
    return "".join(parts).rstrip() + f"\n\n{NOTE}"


def _answer(
    output: str, outcome: Answering, reason: str, caveats: Sequence[Caveat]
) -> tuple[str | None, tuple[str, ...]]:
    match outcome:
        case Answering.RESPOND:
            return None, ()
        case Answering.PARTIAL_WITH_CAVEATS:
            marked = with_caveats(output, caveats) if caveats else f"{output.rstrip()}\n\n{_UNSURE}"
            return marked, ("check_marked_claims",) if caveats else ("read_the_sources",)
        case Answering.ABSTAIN:
            words, actions = _INSTEAD.get(reason, _INSTEAD["low_confidence"])
            return " ".join((words, *(_ADVICE[action] for action in actions))), actions


_UNSURE: Final = "Please note: I am not sure of this answer. Check what matters to you against the sources."
