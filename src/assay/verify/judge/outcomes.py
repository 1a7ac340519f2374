"""What five answers come to, and what may become of a verdict because of them.

| outcome | the five answers | a claim that the other tiers | becomes |
|---|---|---|---|
| contradicts | 2 or 5 is FAIL | call anything | contradicted |
| not_found | 1 is FAIL, all evidence shown | do not contradict | unsupported |
| omits | 4 is FAIL | do not contradict | unsupported |
| supports | 1, 2 and 5 are PASS, 3 and 4 no FAIL | are not sure to be contradicted (see `barred`) | supported |
| uncertain | anything else | call anything | what it was |
| unchecked | they cannot be used, or deny one another | would let pass | unchecked |

What the exact tier contradicts stays contradicted whatever the judge says, and so does what the network is sure of, or
what one source says and another denies. A claim with a value that no evidence has is not supported by a judge. What
cannot be used never moves a claim up, and keeps one that would pass from passing.
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
"""The share of a claim's words that the quotes behind its support have, titles and the question included."""
BARRED_BY_CONTRADICTION: Final = 0.3
"""From this confidence on a contradiction of the exact tier keeps a claim from being supported by the judge."""
BARRED_BY_ABSENCE: Final = 0.5
"""The same for a value that the exact tier finds nowhere."""

OVERRULED_BELOW: Final = 0.9
"""A contradiction that only the network sees, and less surely than this, may be overruled: it reads no two passages
that follow from one another, and often takes what somebody else does for the opposite."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the five answers come to."""

    kind: str
    """As `ClaimJudgement.outcome` has it."""
    reason: str
    """A sentence for people."""
    telling: tuple[JudgeAnswer, ...] = ()
    """The answers that it rests on."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a claim stands before the judge has answered, or after."""

    verdict: Verdict
    support: float
    contradiction: float


def outcome_of(
    claim: str, reading: JudgeAnswers, *, question: str | None = None, titles: Sequence[str] = (), complete: bool = True
) -> Outcome:
    """What was said of one claim.

    Args:
        claim: the claim.
        reading: its five answers.
        question: what the claim answers; a quote need not repeat its words.
        titles: of the evidence that is quoted; nor theirs.
        complete: whether the judge saw all of the evidence.
    """
    if reading.unreadable is not None:
        return Outcome("unchecked", f"The judge gave no usable answer: {reading.unreadable}.")
    if (void := reading.void) is not None:
        return Outcome("unchecked", f"The judge's answer to question {void.question} does not count: {void.void}.")
    found, *others = reading.answers
    against = [answer for answer in (others[0], others[3]) if answer.verdict == "FAIL"]
    if against:
        return _against(claim, found, against, (question or "", *titles))
    if found.verdict == "FAIL" and complete:
        return Outcome("not_found", f"The judge does not find it in the evidence: {found.justification}", (found,))
    if others[2].verdict == "FAIL":
        return Outcome("omits", f"The judge misses a condition: {others[2].justification}", (others[2],))
    if all(reading.verdict(n) == "PASS" for n in (1, 2, 5)) and reading.verdict(3) != "FAIL":
        if bearing(claim, found.quotes, (question or "", *titles)) < LEAST_BEARING:
            return Outcome("unchecked", "The judge supports it with a quotation that has little to do with it.")
        return Outcome("supports", f"The judge finds it in the evidence: {found.justification}", (found,))
    return Outcome("uncertain", "The judge cannot tell, or not for sure.")


def _against(claim: str, found: JudgeAnswer, against: Sequence[JudgeAnswer], beside: Sequence[str]) -> Outcome:
    quoted = {(span.evidence_id, span.start, span.end) for span in found.quotes}
    if found.verdict == "PASS" and any(
        (s.evidence_id, s.start, s.end) in quoted for answer in against for s in answer.quotes
    ):
        return Outcome("unchecked", "The judge's answers deny one another: the same words support and contradict it.")
    if not any(bearing(f"{claim} {' '.join(beside)}", answer.quotes) for answer in against):
        return Outcome("unchecked", "The judge contradicts it with a quotation that is not about it.")
    return Outcome("contradicts", f"The judge finds the opposite: {against[0].justification}", tuple(against))


def barred(exact: ExactResult, standing: Standing, *, conflict: bool = False) -> str | None:
    """Why a judge may not find a claim supported; none where it may.

    Args:
        exact: what the exact tier found.
        standing: what the tiers say together.
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


def settled(
    before: Standing, kind: str, *, confidence: float, threshold: float, bar: str | None, passes: bool
) -> Standing:
    """Where a claim stands once the judge has answered.

    Args:
        before: what the other tiers say of it.
        kind: the outcome.
        confidence: how much the judge's word counts, as a probability.
        threshold: the support from which a claim is supported.
        bar: why it may not become supported, if it may not.
        passes: whether the gate would let it pass as it stands.

    >>> weak = Standing(Verdict.UNSUPPORTED, 0.2, 0.1)
    >>> settled(weak, "supports", confidence=0.9, threshold=0.4, bar=None, passes=False).verdict
    <Verdict.SUPPORTED: 'supported'>
    >>> settled(weak, "supports", confidence=0.9, threshold=0.4, bar="a number differs", passes=False).verdict
    <Verdict.UNSUPPORTED: 'unsupported'>
    """
    if kind == "contradicts":
        contradiction = max(before.contradiction, confidence)
        return Standing(Verdict.CONTRADICTED, min(before.support, 1 - contradiction), contradiction)
    if kind == "unchecked" and passes and before.verdict is Verdict.SUPPORTED:
        return Standing(Verdict.UNCHECKED, before.support, before.contradiction)
    if kind in ("not_found", "omits") and before.verdict is not Verdict.CONTRADICTED:
        return Standing(Verdict.UNSUPPORTED, min(before.support, 1 - confidence), before.contradiction)
    if kind == "supports" and bar is None:
        support = max(before.support, confidence)
        return Standing(
            Verdict.SUPPORTED if support >= threshold else before.verdict,
            support,
            min(before.contradiction, 1 - support),
        )
    return before
