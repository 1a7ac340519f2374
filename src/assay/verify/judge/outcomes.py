"""The outcome of the judge's five answers, and its effect on the verdict of the other tiers.

| outcome | the five answers | verdict of the other tiers | new verdict |
|---|---|---|---|
| contradicts | 2 or 5 is FAIL | any | contradicted |
| not_found | 1 is FAIL, all evidence shown | not contradicted | unsupported |
| omits | 4 is FAIL | not contradicted | unsupported |
| supports | 1, 2 and 5 are PASS, 3 and 4 not FAIL | not surely contradicted (see `support_barrier`) | supported |
| uncertain | anything else | any | unchanged |
| unchecked | unusable or inconsistent | supported, and would pass | unchecked |

The judge cannot overrule a contradiction of the exact tier, a sure contradiction of the network, or a conflict between
sources, and it cannot support a claim with a value that no evidence has. An unusable answer never improves a verdict,
and stops a claim that would pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Verdict
from assay.schema.report_parts import JudgeAnswer
from assay.verify.exact import ExactResult
from assay.verify.judge.answers import JudgeAnswers
from assay.verify.judge.quotes import bearing

LEAST_BEARING: Final = 0.5
"""The least share of a claim's words that the supporting quotes have, together with titles and the question."""
BARRED_BY_CONTRADICTION: Final = 0.3
"""The least confidence of a contradiction of the exact tier that the judge cannot overrule."""
BARRED_BY_ABSENCE: Final = 0.5
"""The same for a value that the exact tier does not find in the evidence."""

OVERRULED_BELOW: Final = 0.9
"""The judge may overrule a contradiction that only the network sees with less than this probability. The network does
not combine passages, and it often mistakes a statement about somebody else for a contradiction."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the five answers on a claim."""

    kind: str
    """A value of `ClaimJudgement.outcome`."""
    reason: str
    """The reason as a sentence."""
    telling: tuple[JudgeAnswer, ...] = ()
    """The answers that decide it."""


@dataclass(frozen=True, slots=True)
class ClaimState:
    """The verdict and the probabilities of a claim, before or after the judge's answer."""

    verdict: Verdict
    support: float
    contradiction: float


def outcome_of(
    claim: str, reading: JudgeAnswers, *, question: str | None = None, titles: Sequence[str] = (), complete: bool = True
) -> Outcome:
    """The outcome of the five answers on one claim.

    Args:
        claim: the claim.
        reading: the five answers.
        question: the question that the claim answers; a quote need not repeat its words.
        titles: the titles of the evidence; a quote need not repeat their words either.
        complete: whether the judge saw all of the evidence.
    """
    if reading.unreadable is not None:
        return Outcome("unchecked", f"The judge gave no usable answer: {reading.unreadable}.")
    if (void := reading.void) is not None:
        return Outcome("unchecked", f"The judge's answer to question {void.question} does not count: {void.void}.")
    support, *others = reading.answers
    against = [answer for answer in (others[0], others[3]) if answer.verdict == "FAIL"]
    if against:
        return _against(claim, support, against, (question or "", *titles))
    if support.verdict == "FAIL" and complete:
        return Outcome("not_found", f"The judge does not find it in the evidence: {support.justification}", (support,))
    if others[2].verdict == "FAIL":
        return Outcome("omits", f"The judge misses a condition: {others[2].justification}", (others[2],))
    if all(reading.verdict(n) == "PASS" for n in (1, 2, 5)) and reading.verdict(3) != "FAIL":
        if bearing(claim, support.quotes, (question or "", *titles)) < LEAST_BEARING:
            return Outcome("unchecked", "The judge supports it with a quotation that has little to do with it.")
        return Outcome("supports", f"The judge finds it in the evidence: {support.justification}", (support,))
    return Outcome("uncertain", "The judge cannot tell, or not for sure.")


def _against(claim: str, support: JudgeAnswer, against: Sequence[JudgeAnswer], other_texts: Sequence[str]) -> Outcome:
    quoted = {(span.evidence_id, span.start, span.end) for span in support.quotes}
    if support.verdict == "PASS" and any(
        (s.evidence_id, s.start, s.end) in quoted for answer in against for s in answer.quotes
    ):
        return Outcome("unchecked", "The judge's answers deny one another: the same words support and contradict it.")
    if not any(bearing(f"{claim} {' '.join(other_texts)}", answer.quotes) for answer in against):
        return Outcome("unchecked", "The judge contradicts it with a quotation that is not about it.")
    return Outcome("contradicts", f"The judge finds the opposite: {against[0].justification}", tuple(against))


def support_barrier(exact: ExactResult, standing: ClaimState, *, conflict: bool = False) -> str | None:
    """Why the judge may not make a claim supported; none where it may.

    Args:
        exact: the result of the exact tier.
        standing: the combined result of the tiers.
        conflict: whether one source supports the claim and another contradicts it.
    """
    if conflict:
        return "one source says so and another denies it"
    for finding in exact.findings:
        if finding.effect == "contradicts" and finding.confidence >= BARRED_BY_CONTRADICTION:
            return "the words and numbers of the evidence contradict it"
        if finding.effect == "missing" and finding.confidence >= BARRED_BY_ABSENCE:
            return "it has a value that stands nowhere in the evidence"
    if standing.verdict is Verdict.CONTRADICTED and standing.contradiction >= OVERRULED_BELOW:
        return "the network is sure that the evidence contradicts it"
    return None


def apply_outcome(
    before: ClaimState, kind: str, *, confidence: float, threshold: float, bar: str | None, passes: bool
) -> ClaimState:
    """The verdict and the probabilities of a claim after the judge's answer.

    Args:
        before: the result of the other tiers.
        kind: the outcome of the answers.
        confidence: the probability that the judge is right.
        threshold: the least support of a supported claim.
        bar: why the claim may not become supported, if it may not.
        passes: whether the gate would let the claim pass without the judge.

    >>> weak = ClaimState(Verdict.UNSUPPORTED, 0.2, 0.1)
    >>> apply_outcome(weak, "supports", confidence=0.9, threshold=0.4, bar=None, passes=False).verdict
    <Verdict.SUPPORTED: 'supported'>
    >>> apply_outcome(weak, "supports", confidence=0.9, threshold=0.4, bar="a number differs", passes=False).verdict
    <Verdict.UNSUPPORTED: 'unsupported'>
    """
    if kind == "contradicts":
        contradiction = max(before.contradiction, confidence)
        return ClaimState(Verdict.CONTRADICTED, min(before.support, 1 - contradiction), contradiction)
    if kind == "unchecked" and passes and before.verdict is Verdict.SUPPORTED:
        return ClaimState(Verdict.UNCHECKED, before.support, before.contradiction)
    if kind in ("not_found", "omits") and before.verdict is not Verdict.CONTRADICTED:
        return ClaimState(Verdict.UNSUPPORTED, min(before.support, 1 - confidence), before.contradiction)
    if kind == "supports" and bar is None:
        support = max(before.support, confidence)
        return ClaimState(
            Verdict.SUPPORTED if support >= threshold else before.verdict,
            support,
            min(before.contradiction, 1 - support),
        )
    return before
