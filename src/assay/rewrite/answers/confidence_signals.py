"""Reads the signals of confidence off a report, its evidence and what the model said of its own words."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from assay.models.chat import TokenLogprob
from assay.policy import Policy
from assay.rewrite.answers.abstention import Limits, Situation, decide_answer
from assay.schema import ClaimReport, Evidence, HallucinationReport, Metric, Verdict
from assay.schema.report_parts import Abstention, Answering
from assay.stats import ConfidenceModel, normalised_entropy
from assay.text.lexicon import STOP_WORDS, find_words

RELEVANT: Final = 0.34
"""The share of a question's content words from which a passage covers it: one word in three. Generous, as a passage
may say it in other words: what it leaves out is told by coverage."""


def limits_of(policy: Policy) -> Limits:
    """The thresholds of a policy as those of the decision: emit, block and revise are high, low and claim.

    >>> from assay.policy import preset
    >>> limits_of(preset("high-stakes")).high
    0.95
    """
    return Limits(
        high=policy.emit_threshold,
        low=policy.block_threshold,
        claim=policy.revise_threshold,
        groundedness=policy.revise_threshold,
    )


def assess(
    report: HallucinationReport,
    evidence: Sequence[Evidence] = (),
    *,
    limits: Limits | None = None,
    model: ConfidenceModel | None = None,
    tokens: Sequence[TokenLogprob] | None = None,
    entropy: float | None = None,
    consistency: float | None = None,
    domain: Collection[str] | None = None,
    today: date | None = None,
    requires_facts: bool = True,
) -> Abstention:
    """Whether to give the answer of a report, with caveats or not at all.

    Args:
        report: of the answer.
        evidence: what it was checked against.
        limits: the thresholds.
        model: makes one confidence of the signals.
        tokens: log-probabilities of the answer's tokens, where the endpoint gave them.
        entropy: their normalised entropy where that was measured before, from 0 to 1; `tokens` go before it.
        consistency: how far the model agrees with itself; the mean over the report's probes by default.
        domain: words or texts that say what the service is for; without them every question is within it.
        today: the day that the question is asked on; without it evidence is never stale.
        requires_facts: whether the question asks for facts.

    Returns:
        The decision, never more permissive than the gate's own.
    """
    situation = situation_of(
        report,
        evidence,
        tokens=tokens,
        entropy=entropy,
        consistency=consistency,
        domain=domain,
        today=today,
        requires_facts=requires_facts,
    )
    gate = Answering(report.labels.abstention)
    return decide_answer(report.output, report.claims, situation, limits, model, at_least=gate)


def ceiling(report: HallucinationReport, situation: Situation, limits: Limits | None = None) -> Answering:
    """The most permissive outcome that any thresholds of confidence leave to an answer.

    What the triggers, contradicted claims, caveats and the groundedness decide, they decide whatever the confidence is.
    With it and the confidence of each row the decision is known for every pair of thresholds, as fitting them needs.

    Args:
        report: of the answer.
        situation: what else is known of it.
        limits: the thresholds; `high` and `low` count for nothing.
    """
    opened = replace(limits or Limits(), high=0.0, low=0.0)
    # Any fitted curve does: at thresholds of 0 its values decide nothing, only that there is one.
    return decide_answer(report.output, report.claims, situation, opened, ConfidenceModel(slope=1.0)).outcome


def with_abstention(report: HallucinationReport, abstention: Abstention) -> HallucinationReport:
    """The report with the decision in it. The gate's action stays what it is: this adds and loosens nothing."""
    return report.model_copy(update={"abstention": abstention})


def situation_of(
    report: HallucinationReport,
    evidence: Sequence[Evidence] = (),
    *,
    tokens: Sequence[TokenLogprob] | None = None,
    entropy: float | None = None,
    consistency: float | None = None,
    domain: Collection[str] | None = None,
    today: date | None = None,
    requires_facts: bool = True,
) -> Situation:
    """What is known of a question, its evidence and its answer.

    Arguments are those of `assess`.
    """
    question = report.question or ""
    shares = [question_share(question, [piece]) for piece in evidence]
    known = [share for share in shares if share is not None]
    if consistency is None and report.consistency_probes:
        consistency = math.fsum(p.agreement for p in report.consistency_probes) / len(report.consistency_probes)
    entropy = entropy if tokens is None else entropy_of(tokens)
    grounded = report.metrics.get("faithfulness", Metric(undefined="it was not computed"))
    no_question = "there is no question to measure it by"
    return Situation(
        groundedness=grounded.value,
        entropy=entropy,
        consistency=consistency,
        retrieval_quality=max(known, default=None),
        coverage=question_share(question, evidence) if evidence else None,
        hedging=_hedging(report.claims),
        relevant_evidence=_relevant(evidence, shares),
        domain_match=None if domain is None else domain_match(question, domain),
        staleness_days=None if today is None else staleness(evidence, today),
        requires_facts=requires_facts,
        missing={
            "groundedness": grounded.undefined or "",
            "certainty": "no log-probabilities were given",
            "consistency": "the model was not asked again",
            "retrieval_quality": no_question if not question else "there is no evidence",
            "coverage": no_question if not question else "there is no evidence",
            "directness": "there is no claim",
        },
    )


def entropy_of(tokens: Sequence[TokenLogprob]) -> float | None:
    """The normalised entropy of an answer's tokens; see `assay.stats.confidence.normalised_entropy`."""
    places = []
    for token in tokens:
        known = dict(token.alternatives) | {token.token: token.logprob}
        chances = [math.exp(min(0.0, logprob)) for logprob in known.values()]
        total = math.fsum(chances)
        # Rounded log-probabilities may add up to a little more than 1.
        places.append([chance / total for chance in chances] if total > 1 else chances)
    return normalised_entropy(places)


def _content(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def question_share(question: str, evidence: Sequence[Evidence]) -> float | None:
    """The share of the question's content words that some evidence has, titles included; none without such words.

    >>> question_share("How long is parental leave?", [Evidence(id="a", text="Leave for parents lasts 4 weeks.")])
    0.5
    """
    wanted = _content(question) - _ASKING
    if not wanted:
        return None
    there: set[str] = set()
    for piece in evidence:
        there |= _content(f"{piece.title or ''} {piece.text}")
    return len(wanted & there) / len(wanted)


_ASKING: Final = frozenset({"long", "many", "much", "tell", "explain", "please", "happen", "mean"})
"""Stems that belong to asking and not to what is asked about."""


def domain_match(question: str, domain: Collection[str]) -> float | None:
    """The share of the question's content words that occur in the texts that say what the service is for."""
    wanted = _content(question) - _ASKING
    if not wanted:
        return None
    known: set[str] = set()
    for text in domain:
        known |= _content(text)
    return len(wanted & known) / len(wanted)


def staleness(evidence: Sequence[Evidence], today: date) -> float | None:
    """Days since the newest passage came into force; a century where all dated ones expired, none without dates."""
    ages = []
    for piece in evidence:
        if piece.expiry_date is not None and piece.expiry_date < today:
            ages.append(math.inf)
        elif piece.effective_date is not None:
            ages.append(max(0.0, float((today - piece.effective_date).days)))
    if not ages:
        return None
    newest = min(ages)
    return newest if math.isfinite(newest) else float(_EXPIRED_DAYS)


_EXPIRED_DAYS: Final = 36_525
"""A century: what counts as the age of evidence of which every dated passage has expired."""


def _hedging(claims: Sequence[ClaimReport]) -> float | None:
    hedges = [claim.hedge for claim in claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    return math.fsum(hedges) / len(hedges) if hedges else None


def _relevant(evidence: Sequence[Evidence], shares: Sequence[float | None]) -> int | None:
    """How many passages mention the question; all that have text where there is no question."""
    if all(share is None for share in shares) and shares:
        return sum(1 for piece in evidence if piece.text.strip())
    return sum(share is not None and share >= RELEVANT for share in shares)
