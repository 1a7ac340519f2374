"""Shared parts of the comparisons of polarity: a sentence with its negations, its recall of a claim, and findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.text.lexicon import Condition, Negation, Words
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex
from assay.verify.exact.parsed_claim import Claim

LEAST_CONFIDENCE = 0.2


@dataclass(frozen=True, slots=True)
class Side:
    """One sentence of the evidence with its negations and conditions."""

    candidate: Candidate
    evidence_id: str
    words: Words
    """The words of the sentence, with their positions in the whole passage."""
    folds: frozenset[str]
    negations: tuple[Negation, ...]
    conditions: tuple[Condition, ...]


def side_of(index: ExactIndex, candidate: Candidate) -> Side:
    """The sentence of a candidate with its negations and conditions."""
    read = index.reading(candidate.sentence)
    evidence_id = index.passages[index.sentences[candidate.sentence].passage].evidence_id
    return Side(candidate, evidence_id, read.words, read.folds, read.negations, read.conditions)


def recall_without(claim: Claim, candidate: Candidate, left_out: set[str]) -> float:
    """The share of the claim's weight, without some stems, that the sentence and the text around it have."""
    total = found = 0.0
    for stem, weight in claim.weights.items():
        if stem in left_out:
            continue
        total += weight
        if stem in candidate.stems:
            found += weight
        elif stem in candidate.heading:
            found += 0.9 * weight
        elif stem in candidate.around:
            found += 0.5 * weight
    return found / total if total else 0.0


def confidence_of(recall: float, most_confidence: float) -> float:
    """Confidence from the share of other words that agree: 0 at one half, `most_confidence` from 0.95 on."""
    return most_confidence * min(1.0, max(0.0, (recall - 0.5) / 0.45))


def negated_stems(words: Words, negations: Sequence[Negation]) -> set[str]:
    """The stems of all negated words."""
    return {words.lexemes[i].stem for n in negations for i in n.scope}


def difference_finding(
    claim: Claim,
    index: ExactIndex,
    side: Side,
    code: str,
    claim_place: tuple[int, int],
    place: tuple[int, int],
    confidence: float,
    explanation: str,
    *,
    contradicts: bool = True,
) -> ExactFinding:
    """A finding that the characters at `claim_place` of the claim and at `place` of the evidence differ."""
    start, end = place
    relation = "contradicts" if contradicts else "related"
    span = index.span(side.candidate.sentence, start, end, relation, confidence)
    said = claim.text[claim_place[0] : claim_place[1]]
    return ExactFinding(
        code,
        f"The claim says {said!r}; the evidence says {span.text!r}: {explanation}.",
        *claim_place,
        span,
        "contradicts" if contradicts else "missing",
        round(confidence, 4),
    )


def place_of(words: Words, stem: str) -> tuple[int, int]:
    """The character range of the first word with a stem."""
    at = next(i for i, w in enumerate(words.lexemes) if w.stem == stem)
    return words.starts[at], words.ends[at]
