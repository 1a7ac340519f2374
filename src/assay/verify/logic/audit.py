"""The audit itself: one pass over a text, one call of the network."""

from collections.abc import Collection, Sequence

from assay.models import PairScorer
from assay.schema import ExtractedClaim, Issue
from assay.text.claims import RuleClaimExtractor
from assay.text.sentences import Sentence, split_sentences
from assay.verify.arithmetic.calculations import calculation_findings
from assay.verify.arithmetic.percentages import following_share_findings
from assay.verify.arithmetic.unit_equalities import following_measure_findings
from assay.verify.logic.chronology.conflicting_dates import twice_dated
from assay.verify.logic.chronology.ordering import comparison_findings, date_findings, order_findings
from assay.verify.logic.counts import count_findings
from assay.verify.logic.fallacies import form_findings
from assay.verify.logic.findings import LogicAudit, LogicFinding, LogicLimits, Step
from assay.verify.logic.inference import (
    ask,
    comparable_pairs,
    contradictions,
    judge_steps,
    pairs_for,
    statements_of,
)
from assay.verify.logic.stated_inferences import find_inferences

LONGEST_SENTENCE = 4000
"""Characters of a sentence beyond which nothing in it is recomputed."""


def audit_logic(
    text: str,
    scorer: PairScorer | None = None,
    *,
    claims: Sequence[ExtractedClaim] | None = None,
    supported: Collection[tuple[int, int]] = (),
    evidence: Sequence[str] = (),
    limits: LogicLimits | None = None,
) -> LogicAudit:
    """Look for faults of reasoning in a text.

    Args:
        text: the text.
        scorer: the network; without one nothing but what can be recomputed is looked at, and the audit says so.
        claims: the text's statements, where somebody has extracted them already.
        supported: starts and ends of stretches that evidence supports; conclusions there need no premise.
        evidence: what the text rests on; its rules are premises of what the text concludes.
        limits: how much is looked at, and from where on something is said.

    Returns:
        Findings with their places. A network that fails leaves steps and comparisons unchecked, with the reason.

    >>> [f.message for f in audit_logic("Four crates hold 4 × 12 = 46 bottles.").findings]
    ['The text says 4 × 12 = 46 bottles; 4 × 12 is 48.']
    """
    limits = limits or LogicLimits()
    sentences = split_sentences(text)
    found = [*_recomputed(text, sentences), *order_findings(text), *twice_dated(text, sentences)]
    found += count_findings(text, sentences)
    found += form_findings(text, sentences, evidence)
    unchecked = [f"a sentence of {s.end - s.start:,} characters was not recomputed" for s in sentences if _too_long(s)]
    inferences = find_inferences(text, limits.premises, sentences)
    kept = inferences[: limits.steps]
    if len(kept) < len(inferences):
        unchecked.append(f"{len(inferences) - len(kept)} inferences beyond the limit were not tested")
    if scorer is None:
        return LogicAudit(
            _in_order(found),
            tuple(Step(i.conclusion, i.premises, i.cue) for i in inferences),
            0,
            (*unchecked, "no network was given: inferences were not tested, statements not compared"),
        )
    statements = statements_of(RuleClaimExtractor().extract(text) if claims is None else claims)
    pairs, left_out = comparable_pairs(statements, limits)
    if left_out:
        unchecked.append(f"{left_out} pairs of statements beyond the limit were not compared")
    asked = [*pairs_for(text, kept)]
    asked += [pair for first, second in pairs for pair in ((first.text, second.text), (second.text, first.text))]
    scores, failed = ask(asked, scorer)
    unchecked += [failed] if failed is not None else []
    steps, faults = judge_steps(text, kept, scores, supported, limits)
    found += faults
    found += contradictions(pairs, scores, limits)
    return LogicAudit(_in_order(found), tuple(steps), len(pairs), tuple(unchecked))


def issue_of(finding: LogicFinding) -> Issue:
    """A finding as a report shows it."""
    return Issue(code=finding.code, message=finding.message, span=finding.span)


def _too_long(sentence: Sentence) -> bool:
    return sentence.end - sentence.start > LONGEST_SENTENCE


def _recomputed(text: str, sentences: Sequence[Sentence]) -> list[LogicFinding]:
    found: list[LogicFinding] = []
    before: Sentence | None = None
    for sentence in sentences:
        if sentence.block == "code" or _too_long(sentence):
            before = None
            continue
        place = (text, sentence.start, sentence.end)
        found += calculation_findings(*place)
        if before is not None:
            found += following_share_findings(text, before.start, sentence.start, sentence.end)
            found += following_measure_findings(text, before.start, sentence.start, sentence.end)
        before = sentence
        found += date_findings(*place)
        found += comparison_findings(*place)
    return found


def _in_order(found: Sequence[LogicFinding]) -> tuple[LogicFinding, ...]:
    unique = {(f.span.start, f.span.end, f.code): f for f in found}
    return tuple(sorted(unique.values(), key=lambda f: (f.span.start, f.span.end, f.code)))
