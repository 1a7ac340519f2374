"""Aligns a clause of a claim with the clause of the evidence on the same subject.

A sentence often has several clauses on different subjects: "the west gate is closed, the east gate stays open". A
clause contradicts a claim only if it is the one that the claim repeats. Alignment is the share of the words around a
mention of the claim that are also in the clause around a mention of the evidence, or in the subject and title of that
clause. Figures count as words here: in "version 1 is, version 2 is not" only the figure distinguishes the clauses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from assay.text.lexicon import LIGHT_VERBS, SYNONYMS
from assay.verify.exact.index import Candidate, ExactIndex, leading_stems
from assay.verify.exact.parsed_claim import Claim, has_generic_subject
from assay.verify.exact.surroundings import surroundings

_OF_SENTENCE = 0.5
"""The weight of a word in the subject of the sentence but not in the clause."""
_OF_TITLE = 0.85
"""The weight of a word in the title."""
_NEARBY = 0.3
"""The weight of a word in another clause or a neighbouring sentence."""
_BY_SYNONYM = 0.85
"""The weight of a word with a synonym in the clause."""
_OTHER_CLAUSE = 0.3
"""The weight of the claim's words outside the mention's own clause."""
_FIGURE = 1.0
_LONGEST_RECORD = 30
"""Words of the longest record on one line, whose punctuation separates fields rather than clauses."""
MOST_PLACES = 4
"""The most occurrences of a word in a sentence that are used."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How well the clause around a mention of the evidence matches the clause around a mention of the claim."""

    share: float
    """The weighted share of the words around the claim's mention that the evidence's clause has too, 0 to 1."""
    missing: frozenset[str]
    """Stems of the claim's own clause that are neither in the evidence's clause nor in its subject or title."""
    elsewhere: frozenset[str]
    """Stems of the claim that the whole evidence sentence lacks."""
    clause: frozenset[str]
    """The stems of the evidence's clause."""


def align(
    claim: Claim, index: ExactIndex, claim_range: tuple[int, int], candidate: Candidate, evidence_range: tuple[int, int]
) -> Alignment:
    """The alignment of the clauses around two mentions.

    Args:
        claim: the claim.
        index: the evidence.
        claim_range: start and end of the mention in the claim.
        candidate: the sentence with the mention of the evidence.
        evidence_range: start and end of that mention in the evidence text.
    """
    weights = _weights(claim, index, *claim_range)
    clause = index.surroundings(candidate.sentence, *evidence_range).clause
    sentence = index.sentences[candidate.sentence]
    if sentence.passage in index.records.passages and sentence.last - sentence.first <= _LONGEST_RECORD:
        clause |= {word.stem for word in index.reading(candidate.sentence).words.lexemes}
    generic = has_generic_subject(index.passages[sentence.passage], sentence)
    leading = leading_stems(claim.words.lexemes) if generic else frozenset()
    subject = index.subject(candidate.sentence)
    if not clause.isdisjoint(subject) and not subject <= clause:
        subject = frozenset()  # "the west gate is closed, the east gate is open": the clause has a subject of its own
    total = found_weight = 0.0
    missing, elsewhere = [], []
    for stem, (weight, own) in weights.items():
        total += weight
        if stem in clause:
            found_weight += weight
        elif stem in subject or (generic and (stem in claim.named or stem in leading)):
            found_weight += weight * _OF_SENTENCE
        elif stem in candidate.heading:
            found_weight += weight * _OF_TITLE
        elif stem in SYNONYMS and not clause.isdisjoint(SYNONYMS[stem]):
            found_weight += weight * _BY_SYNONYM
        else:
            if own:
                missing.append(stem)
            if stem in candidate.stems or stem in candidate.around:
                found_weight += weight * _NEARBY
            if stem not in candidate.stems:
                elsewhere.append(stem)
    return Alignment(found_weight / total if total else 0.0, frozenset(missing), frozenset(elsewhere), clause)


def _weights(claim: Claim, index: ExactIndex, start: int, end: int) -> dict[str, tuple[float, bool]]:
    """The weights of a claim's words around a mention, lower in other clauses, each with whether its clause has it."""
    words = claim.words
    clause_stems = surroundings(claim.text, words, start, end, 0, len(words)).clause
    weights: dict[str, tuple[float, bool]] = {}
    for position, lexeme in enumerate(words.lexemes):
        if start <= words.starts[position] < end or lexeme.stem in weights:
            continue
        weight = claim.weights.get(lexeme.stem, _FIGURE * index.weight(lexeme.stem) if lexeme.digit else 0.0)
        if weight:
            own = lexeme.stem in clause_stems
            weights[lexeme.stem] = (weight if own else weight * _OTHER_CLAUSE), own
    if not LIGHT_VERBS.isdisjoint(weights) and not LIGHT_VERBS.issuperset(weights):
        weights = {stem: entry for stem, entry in weights.items() if stem not in LIGHT_VERBS}
    return weights


LEAST_ALIGNED = 0.3
"""A clause with a smaller share is on another subject than the claim's clause."""


def has_other_subject(claim: Claim, index: ExactIndex, candidate: Candidate, alignment: Alignment) -> bool:
    """Whether a clause is about a different subject than the claim.

    It is if it has another figure after a word of the claim ("version 1" for "version 2"), or if its sentence lacks all
    words of the claim's subject while another sentence has some. Words that the evidence lacks may be a paraphrase.
    """
    lexemes = claim.words.lexemes
    for word, figure in pairwise(lexemes):
        if figure.digit and word.weight and figure.stem in alignment.missing:
            others = _figures_after(index, candidate, word.stem) & alignment.clause
            if others and figure.stem not in others:
                return True
    subject = leading_stems(lexemes) & claim.weights.keys()
    return bool(subject) and subject <= alignment.elsewhere and any(stem in index.postings for stem in subject)


def _figures_after(index: ExactIndex, candidate: Candidate, stem: str) -> set[str]:
    """The figures that follow a word in the sentence."""
    if stem not in candidate.stems:
        return set()
    lexemes = index.reading(candidate.sentence).words.lexemes
    return {after.stem for word, after in pairwise(lexemes) if word.stem == stem and after.digit}


def stem_ranges(index: ExactIndex, sentence: int, stem: str) -> Iterator[tuple[int, int]]:
    """The ranges of the words with a stem in a sentence, as offsets into the evidence text."""
    words = index.reading(sentence).words
    found = 0
    for position, lexeme in enumerate(words.lexemes):
        if lexeme.stem == stem:
            yield words.starts[position], words.ends[position]
            found += 1
            if found == MOST_PLACES:
                return
