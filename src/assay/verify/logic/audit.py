"""The audit of a text: one pass over its sentences, and one call of the network."""

from collections.abc import Collection, Sequence

from assay.models import PairScorer
from assay.schema import ExtractedClaim, Issue
from assay.text.claims import RuleClaimExtractor
from assay.text.sentences import Sentence, split_sentences
from assay.verify.arithmetic.calculations import calculation_findings
from assay.verify.arithmetic.percentages import following_share_findings
from assay.verify.arithmetic.unit_equalities import following_measure_findings
from assay.verify.logic.chronology.conflicting_dates import conflicting_date_findings
from assay.verify.logic.chronology.ordering import comparison_findings, date_findings, order_findings
from assay.verify.logic.counts import count_findings
from assay.verify.logic.fallacies import form_findings
from assay.verify.logic.findings import LogicAudit, LogicFinding, LogicLimits, Step
from assay.verify.logic.inference import (
    comparable_pairs,
    comparable_statements,
    contradiction_findings,
    inference_pairs,
    judge_steps,
    score_pairs,
)
from assay.verify.logic.stated_inferences import find_inferences

LONGEST_SENTENCE = 4000
"""Characters of the longest sentence that is recomputed."""


def audit_logic(
    text: str,
    scorer: PairScorer | None = None,
    *,
    claims: Sequence[ExtractedClaim] | None = None,
    supported: Collection[tuple[int, int]] = (),
    evidence: Sequence[str] = (),
    limits: LogicLimits | None = None,
) -> LogicAudit:
    """Find faults of reasoning in a text.

    Args:
        text: the text.
        scorer: the network; without one only recomputations are made, and the audit reports the rest as unchecked.
        claims: the claims of the text, if they are already extracted.
        supported: starts and ends of the ranges that evidence supports; conclusions there need no premise.
        evidence: the evidence of the text, whose rules may be premises of its conclusions.
        limits: limits and thresholds.

    Returns:
        Findings with their spans. If the network fails, steps and comparisons stay unchecked, with the reason.

    >>> [f.message for f in audit_logic("Four crates hold 4 × 12 = 46 bottles.").findings]
    ['The text says 4 × 12 = 46 bottles; 4 × 12 is 48.']
    """
    limits = limits or LogicLimits()
    sentences = split_sentences(text)
    findings = [
        *_recomputation_findings(text, sentences),
        *order_findings(text),
        *conflicting_date_findings(text, sentences),
    ]
    findings += count_findings(text, sentences)
    findings += form_findings(text, sentences, evidence)
    unchecked = [f"a sentence of {s.end - s.start:,} characters was not recomputed" for s in sentences if _too_long(s)]
    inferences = find_inferences(text, limits.premises, sentences)
    tested = inferences[: limits.steps]
    if len(tested) < len(inferences):
        unchecked.append(f"{len(inferences) - len(tested)} inferences beyond the limit were not tested")
    if scorer is None:
        return LogicAudit(
            _in_order(findings),
            tuple(Step(i.conclusion, i.premises, i.cue) for i in inferences),
            0,
            (*unchecked, "no network was given: inferences were not tested, statements not compared"),
        )
    statements = comparable_statements(RuleClaimExtractor().extract(text) if claims is None else claims)
    pairs, beyond_limit = comparable_pairs(statements, limits)
    if beyond_limit:
        unchecked.append(f"{beyond_limit} pairs of statements beyond the limit were not compared")
    pairs_to_score = [*inference_pairs(text, tested)]
    pairs_to_score += [
        pair for first, second in pairs for pair in ((first.text, second.text), (second.text, first.text))
    ]
    scores, failed = score_pairs(pairs_to_score, scorer)
    unchecked += [failed] if failed is not None else []
    steps, faults = judge_steps(text, tested, scores, supported, limits)
    findings += faults
    findings += contradiction_findings(pairs, scores, limits)
    return LogicAudit(_in_order(findings), tuple(steps), len(pairs), tuple(unchecked))


def issue_of(finding: LogicFinding) -> Issue:
    """A finding in the form of the report."""
    return Issue(code=finding.code, message=finding.message, span=finding.span)


def _too_long(sentence: Sentence) -> bool:
    return sentence.end - sentence.start > LONGEST_SENTENCE


def _recomputation_findings(text: str, sentences: Sequence[Sentence]) -> list[LogicFinding]:
    findings: list[LogicFinding] = []
    previous: Sentence | None = None
    for sentence in sentences:
        if sentence.block == "code" or _too_long(sentence):
            previous = None
            continue
        bounds = (text, sentence.start, sentence.end)
        findings += calculation_findings(*bounds)
        if previous is not None:
            findings += following_share_findings(text, previous.start, sentence.start, sentence.end)
            findings += following_measure_findings(text, previous.start, sentence.start, sentence.end)
        previous = sentence
        findings += date_findings(*bounds)
        findings += comparison_findings(*bounds)
    return findings


def _in_order(findings: Sequence[LogicFinding]) -> tuple[LogicFinding, ...]:
    unique = {(f.span.start, f.span.end, f.code): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: (f.span.start, f.span.end, f.code)))
