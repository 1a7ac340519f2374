"""The exact tier's check of one claim, which combines all comparisons."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from assay.schema import EvidenceSpan
from assay.verify.arithmetic.aggregated_values import with_recomputed_result
from assay.verify.arithmetic.stated_results import check_arithmetic
from assay.verify.exact.compare.attributed import with_attributed
from assay.verify.exact.compare.changed_words import compare_wording
from assay.verify.exact.compare.dates import compare_dates
from assay.verify.exact.compare.denials import compare_denials
from assay.verify.exact.compare.names import compare_identifiers, compare_names
from assay.verify.exact.compare.near_copies import compare_near_copies
from assay.verify.exact.compare.numbers import Shares, compare_numbers
from assay.verify.exact.compare.participants import compare_roles
from assay.verify.exact.compare.polarity import compare_polarity
from assay.verify.exact.compare.quotes import compare_quotes, find_quotes
from assay.verify.exact.compare_ranks import compare_ranks
from assay.verify.exact.compare_records import NOTHING, RecordResult, compare_records
from assay.verify.exact.findings import EXACT_SIGNALS, ExactFinding, ExactResult
from assay.verify.exact.index import Candidate, ExactIndex, content_of, normal_sentence, trigrams_of
from assay.verify.exact.mention_roles import claim_negations
from assay.verify.exact.parsed_claim import Claim, parse_claim
from assay.verify.exact.same_values import same_values

_BEST = 3
_LONG_CLAIM = 30
_LONGEST_ORDERED = 64
_CLAUSE_END = re.compile(r"[,;:()–—]|\b(?:but|although|because|while|which|who|and|or)\b")
_DENIED_STATEMENT = re.compile(
    r"^(?!.*\b(?:who|whose|which|that|if|when|where|unless)\b).*"
    r"(?:\b(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|may|might|must|should)(?:n['’]t| not)"
    r"|\bcannot|\bnever)$",
    re.IGNORECASE | re.DOTALL,
)
"""A main clause up to its negation; "those who did not pay owe 50" and "members not living here pay 50" do not deny
50."""
_LONGEST_DENIED = 6
"""The most words between a negation and the value that it denies."""
_SURE_OF_DENIAL = 0.55
"""The least confidence of a different value in the evidence that confirms a denial."""

_FAMILIES = {
    "number": "contradicts_number",
    "date": "contradicts_date",
    "time": "contradicts_date",
    "name": "contradicts_name",
    "identifier": "contradicts_identifier",
    "quote": "contradicts_quote",
    "polarity": "contradicts_polarity",
    "antonym": "contradicts_antonym",
    "comparative": "contradicts_comparative",
    "condition": "contradicts_condition",
    "arithmetic": "contradicts_arithmetic",
    "record": "contradicts_record",
}
"""The signal of a finding, by the first part of its code."""


def check_exact(claim: str, index: ExactIndex, *, question: str | None = None) -> ExactResult:
    """Compare one claim with indexed evidence.

    The cost is bounded by the length of the claim, not of the evidence. The result does not depend on the order of the
    evidence. A claim that is a whole sentence of the evidence has no findings.

    >>> from assay.schema import Evidence
    >>> from assay.verify.exact import index_evidence
    >>> index = index_evidence([Evidence(id="hr-2", text="Partners are entitled to 2 weeks.")])
    >>> result = check_exact("Partners get 4 weeks of leave.", index)
    >>> result.findings[0].code, result.findings[0].effect
    ('number.mismatch', 'contradicts')
    """
    parsed = parse_claim(claim, index, question)
    signals = dict.fromkeys(EXACT_SIGNALS, 0.0)
    verbatim = index.whole.get(normal_sentence(claim)) if claim.strip() else None
    findings: list[ExactFinding] = []
    record_result = NOTHING
    changed: tuple[tuple[int, int], ...] = ()
    if verbatim is not None:
        shares, negated, negation_differs, quoted = (
            Shares(1.0, 1.0),
            bool(claim_negations(parsed)),
            False,
            bool(find_quotes(claim)),
        )
        signals.update(dates_found=1.0, names_found=1.0, identifiers_found=1.0, quotes_found=1.0, verbatim=1.0)
    else:
        numbers, shares = compare_numbers(parsed, index)
        numbers = with_attributed(parsed, index, with_recomputed_result(parsed, index, numbers))
        dates, signals["dates_found"] = compare_dates(parsed, index)
        names, signals["names_found"] = compare_names(parsed, index)
        identifiers, signals["identifiers_found"] = compare_identifiers(parsed, index)
        quotes, signals["quotes_found"], quoted = compare_quotes(parsed, index)
        polarity, negated, negation_differs = compare_polarity(parsed, index)
        wording, changed = compare_wording(parsed, index)
        findings += without_denied_values(
            parsed, [*numbers, *dates, *names, *identifiers, *quotes, *polarity, *wording]
        )
        if all(finding.code != "polarity.negation" for finding in findings):
            findings += compare_near_copies(parsed, index)
        findings += compare_denials(parsed, index)
        findings += compare_roles(parsed, index)
        findings += compare_ranks(parsed, index)
        record_result = compare_records(parsed, index)
        findings = [*_unanswered_by_records(findings, record_result, index), *record_result.findings]
        if not record_result.support:
            findings += check_arithmetic(claim, parsed.quantities, parsed.folds)
    signals.update(numbers_found=shares.found, numbers_on_subject=shares.on_subject, numbers_computed=shares.computed)
    signals.update(
        has_numbers=float(bool(parsed.quantities) and shares.counted),
        has_dates=float(bool(parsed.dates)),
        has_names=float(bool(parsed.names)),
        has_identifiers=float(bool(parsed.identifiers)),
        has_quotes=float(quoted),
        claim_negated=float(negated),
        negation_differs=float(negation_differs),
        claim_length=min(1.0, len(parsed.weights) / _LONG_CLAIM),
        has_evidence=float(bool(parsed.candidates)),
    )
    _set_lexical_signals(parsed, index, verbatim, signals)
    _set_strengths(findings, signals)
    signals["supports_record"] = record_result.support
    findings.sort(key=lambda f: (-f.confidence, f.claim_start, f.claim_end, f.code, f.message))
    same = same_values(parsed, index) if verbatim is None else ()
    return ExactResult(
        tuple(findings), signals, _best_spans(parsed, index), record_result.spans, changed, record_result.settled, same
    )


def _unanswered_by_records(
    findings: Sequence[ExactFinding], record_result: RecordResult, index: ExactIndex
) -> list[ExactFinding]:
    """The findings without those about records whose own comparison supports the claim."""
    if not record_result.support:
        return list(findings)
    answered = {index.passages[number].evidence_id for number in record_result.passages}
    return [f for f in findings if f.evidence is not None and f.evidence.evidence_id not in answered]


def without_denied_values(claim: Claim, findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """The findings without those about a value that the claim denies: a fee of 40 confirms that it is not 50.

    A value is denied if it soon follows the claim's only negation, which negates the main verb. Then neither another
    value of the evidence nor its lack of the negation contradicts the claim.
    """
    negations = claim_negations(claim)
    if len(negations) != 1:
        return list(findings)
    cue = claim.words.ends[negations[0].cue]
    if not _DENIED_STATEMENT.match(claim.text[:cue]):
        return list(findings)

    def is_denied(finding: ExactFinding) -> bool:
        between = claim.text[cue : finding.claim_start]
        near = finding.claim_start >= cue and len(between.split()) <= _LONGEST_DENIED
        return near and finding.code.endswith(".mismatch") and not _CLAUSE_END.search(between)

    if not any(is_denied(finding) and finding.confidence >= _SURE_OF_DENIAL for finding in findings):
        return list(findings)
    return [f for f in findings if not is_denied(f) and f.code != "polarity.negation"]


def _set_strengths(findings: Iterable[ExactFinding], signals: dict[str, float]) -> None:
    for finding in findings:
        family = _FAMILIES[finding.code.split(".", 1)[0]]
        if finding.effect == "contradicts" or finding.code == "condition.dropped":
            signals[family] = max(signals[family], finding.confidence)
        if finding.effect == "contradicts":
            signals["strongest_contradiction"] = max(signals["strongest_contradiction"], finding.confidence)
        elif finding.effect == "missing":
            signals["strongest_missing"] = max(signals["strongest_missing"], finding.confidence)


def _set_lexical_signals(claim: Claim, index: ExactIndex, verbatim: int | None, signals: dict[str, float]) -> None:
    best = claim.best
    if verbatim is not None:
        best = next((c for c in claim.candidates if c.sentence == verbatim), best)
    total = sum(claim.weights.values())
    known_weight = sum(w for s, w in claim.weights.items() if s in index.postings or s in index.heading_stems)
    signals["trigram_precision"] = trigram_precision(claim, index)
    signals["word_recall_all"] = known_weight / total if total else float(verbatim is not None)
    if best is None:
        return
    signals["word_recall_sentence"] = min(1.0, best.recall)
    signals["word_recall_passage"] = min(1.0, max(c.wide for c in claim.candidates))
    sentence = index.content(best.sentence)
    own_stems = content_of(claim.words.lexemes)
    if sentence.stems:
        shared = sum(1 for s in sentence.stems if s in claim.weights)
        signals["word_precision_sentence"] = shared / len(sentence.stems)
    pairs = frozenset(pairwise(own_stems))
    if pairs:
        missing_pairs = pairs.difference(*[index.content(number).pairs for number in index.neighbours(best.sentence)])
        signals["bigram_recall_sentence"] = len(pairs & sentence.pairs) / len(pairs)
        signals["bigram_recall_passage"] = (len(pairs) - len(missing_pairs)) / len(pairs)
    else:
        signals["bigram_recall_sentence"] = signals["word_recall_sentence"]
        signals["bigram_recall_passage"] = signals["word_recall_passage"]
    if own_stems:
        ordered_stems = own_stems[:_LONGEST_ORDERED]
        signals["order_agreement"] = _common_subsequence(ordered_stems, sentence.stems[:_LONGEST_ORDERED]) / len(
            ordered_stems
        )


TYPICAL_PRECISION = 0.26
"""The mean trigram precision of claims in answers that people labelled (`train.fit_wording`)."""
PRECISION_COUNTS = 10
"""The number of trigrams with typical precision that are added to a claim's own, which alone are too few."""


def trigram_precision(claim: Claim, index: ExactIndex) -> float:
    """The share of the claim's trigrams that a passage has, smoothed towards the typical share.

        (m + k p) / (n + k)

    with m of n trigrams found: ROUGE-3 precision (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries")
    against all of the evidence, with an additive prior of k trigrams of precision p. In (0, 1).
    """
    own = list(trigrams_of(claim.words.lexemes))
    found = sum(map(index.trigrams().__contains__, own)) if own else 0
    return (found + PRECISION_COUNTS * TYPICAL_PRECISION) / (len(own) + PRECISION_COUNTS)


def _common_subsequence(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(ours, theirs)


def _best_spans(claim: Claim, index: ExactIndex) -> tuple[EvidenceSpan, ...]:
    spans = []
    for candidate in claim.candidates[:_BEST]:
        here = index.sentences[candidate.sentence]
        spans.append(index.span(candidate.sentence, here.start, here.end, "related", _rounded_recall(candidate)))
    return tuple(spans)


def _rounded_recall(candidate: Candidate) -> float:
    return round(candidate.recall, 4)
