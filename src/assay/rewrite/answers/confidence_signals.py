"""The signals of confidence, read from a report, its evidence and the log-probabilities of the model."""

import math
from collections.abc import Collection, Iterable, Sequence
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
"""The share of a question's content words from which a passage counts as relevant: one word in three. It is low because
a passage may use other words; coverage measures what is missing."""


def limits_of(policy: Policy) -> Limits:
    """The limits that follow from a policy: its emit, block and revise thresholds become `high`, `low` and `claim`.

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
    """Decides whether the answer of a report is given, given with caveats, or not given.

    Args:
        report: the report of the answer.
        evidence: the evidence that it was checked against.
        limits: the thresholds.
        model: combines the signals into one confidence.
        tokens: log-probabilities of the answer's tokens, where the endpoint gave them.
        entropy: their normalised entropy, in [0, 1], if it was measured before; `tokens` take precedence.
        consistency: how far the model agrees with itself; the mean over the report's probes by default.
        domain: words or texts that describe what the service is for; without them every question is within its domain.
        today: the day on which the question is asked; without it evidence is never stale.
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
    """The most permissive outcome for an answer over all thresholds of confidence.

    Triggers, contradicted claims, caveats and the groundedness act independently of the confidence. From this outcome
    and the confidence of each row the decision follows for every pair of thresholds, which fitting them requires.

    Args:
        report: the report of the answer.
        situation: the other signals.
        limits: the thresholds; `high` and `low` are ignored.
    """
    unlimited = replace(limits or Limits(), high=0.0, low=0.0)
    # Any fitted curve will do: at thresholds of 0 its values do not matter, only that there is one.
    return decide_answer(report.output, report.claims, situation, unlimited, ConfidenceModel(slope=1.0)).outcome


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
    """The signals about a question, its evidence and its answer; the arguments are those of `assess`."""
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
        # The probabilities may add up to slightly more than 1 because the log-probabilities are rounded.
        places.append([chance / total for chance in chances] if total > 1 else chances)
    return normalised_entropy(places)


def _content(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def question_share(question: str, evidence: Sequence[Evidence]) -> float | None:
    """The share of the question's content words that occur in the evidence, titles included; none if it has no such
    words.

    >>> question_share("How long is parental leave?", [Evidence(id="a", text="Leave for parents lasts 4 weeks.")])
    0.5
    """
    return _share_of_question(question, (f"{piece.title or ''} {piece.text}" for piece in evidence))


_QUESTION_STEMS: Final = frozenset({"long", "many", "much", "tell", "explain", "please", "happen", "mean"})
"""Stems that belong to the form of a question and not to its subject."""


def domain_match(question: str, domain: Collection[str]) -> float | None:
    """The share of the question's content words that occur in the texts that describe what the service is for."""
    return _share_of_question(question, domain)


def _share_of_question(question: str, texts: Iterable[str]) -> float | None:
    asked = _content(question) - _QUESTION_STEMS
    if not asked:
        return None
    known: set[str] = set()
    for text in texts:
        known |= _content(text)
    return len(asked & known) / len(asked)


def staleness(evidence: Sequence[Evidence], today: date) -> float | None:
    """Days since the newest passage came into force; a century if all dated passages expired, none without dates."""
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
"""A century: the age of evidence of which every dated passage has expired, in days."""


def _hedging(claims: Sequence[ClaimReport]) -> float | None:
    hedges = [claim.hedge for claim in claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    return math.fsum(hedges) / len(hedges) if hedges else None


def _relevant(evidence: Sequence[Evidence], shares: Sequence[float | None]) -> int | None:
    """How many passages are relevant to the question; without a question, how many have text."""
    if all(share is None for share in shares) and shares:
        return sum(1 for piece in evidence if piece.text.strip())
    return sum(share is not None and share >= RELEVANT for share in shares)
