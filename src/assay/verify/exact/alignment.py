"""Which clause of the evidence a claim's clause is checked against: the one that says something of the same subject.

A sentence often has several clauses, each of something else: "the west gate is closed, the east gate stays open". What
is in one of them contradicts a claim only where it is the clause that the claim repeats. Alignment is measured by
the words around a mention of the claim that are in the clause around a mention of the evidence, or in what that
clause takes from its sentence: the subject and the title. Figures count as words here: of "version 1 is, version 2 is
not" the figure tells the clauses apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from assay.text.lexicon import LIGHT_VERBS, SYNONYMS
from assay.verify.exact.index import Candidate, ExactIndex, leading_stems
from assay.verify.exact.parsed_claim import Claim, is_generic
from assay.verify.exact.surroundings import surroundings

_OF_SENTENCE = 0.5
"""What a word counts that is in the subject of the sentence and not in the clause."""
_OF_TITLE = 0.85
_NEARBY = 0.3
"""What a word counts that is in another clause of the sentence or beside it."""
_BY_SYNONYM = 0.85
_OTHER_CLAUSE = 0.3
"""Weight of the claim's words outside of the mention's own clause."""
_FIGURE = 1.0
_LONGEST_RECORD = 30
"""Words of a record on one line, whose marks part fields of one thing and no clauses."""
MOST_PLACES = 4
"""Places of a word in a sentence that are looked at."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How far the clause around a mention of the evidence is the one that a claim's clause repeats."""

    share: float
    """Weight of the claim's words around its mention that the other clause has too, 0 to 1."""
    missing: frozenset[str]
    """Stems of the claim's own clause that stand neither in the other clause nor in what that takes from elsewhere."""
    elsewhere: frozenset[str]
    """Those of all its clauses that the whole sentence has not."""
    clause: frozenset[str]
    """The stems of the other clause."""


def align(
    claim: Claim, index: ExactIndex, place: tuple[int, int], candidate: Candidate, theirs: tuple[int, int]
) -> Alignment:
    """The alignment of the clauses around two mentions, given by their characters in the claim and in the evidence."""
    weights = _weights(claim, index, *place)
    around = index.surroundings(candidate.sentence, *theirs).clause
    here = index.sentences[candidate.sentence]
    if here.passage in index.records.passages and here.last - here.first <= _LONGEST_RECORD:
        around |= {word.stem for word in index.reading(candidate.sentence).words.lexemes}
    generic = is_generic(index.passages[here.passage], here)
    leading = leading_stems(claim.words.lexemes) if generic else frozenset()
    subject = index.subject(candidate.sentence)
    if not around.isdisjoint(subject) and not subject <= around:
        subject = frozenset()  # "the west gate is closed, the east gate is open": the clause has a subject of its own
    total = found = 0.0
    missing, absent = [], []
    for stem, (weight, own) in weights.items():
        total += weight
        if stem in around:
            found += weight
        elif stem in subject or (generic and (stem in claim.named or stem in leading)):
            found += weight * _OF_SENTENCE
        elif stem in candidate.heading:
            found += weight * _OF_TITLE
        elif stem in SYNONYMS and not around.isdisjoint(SYNONYMS[stem]):
            found += weight * _BY_SYNONYM
        else:
            if own:
                missing.append(stem)
            if stem in candidate.stems or stem in candidate.around:
                found += weight * _NEARBY
            if stem not in candidate.stems:
                absent.append(stem)
    return Alignment(found / total if total else 0.0, frozenset(missing), frozenset(absent), around)


def _weights(claim: Claim, index: ExactIndex, start: int, end: int) -> dict[str, tuple[float, bool]]:
    """The claim's words around one of its mentions, those of other clauses at less, and whether its clause has them."""
    words = claim.words
    near = surroundings(claim.text, words, start, end, 0, len(words)).clause
    weights: dict[str, tuple[float, bool]] = {}
    for at, lexeme in enumerate(words.lexemes):
        if start <= words.starts[at] < end or lexeme.stem in weights:
            continue
        weight = claim.weights.get(lexeme.stem, _FIGURE * index.weight(lexeme.stem) if lexeme.digit else 0.0)
        if weight:
            own = lexeme.stem in near
            weights[lexeme.stem] = (weight if own else weight * _OTHER_CLAUSE), own
    if not LIGHT_VERBS.isdisjoint(weights) and not LIGHT_VERBS.issuperset(weights):
        weights = {stem: one for stem, one in weights.items() if stem not in LIGHT_VERBS}
    return weights


LEAST_ALIGNED = 0.3
"""A clause that shares less than this with a claim's clause says something else."""


def speaks_of_another(claim: Claim, index: ExactIndex, candidate: Candidate, found: Alignment) -> bool:
    """Whether a clause is of another subject than the claim: one that the evidence mentions somewhere else.

    So where it has another figure beside a word of the claim ("version 1" for "version 2"), or where its sentence lacks
    all words of the claim's subject and another has some. Words that the evidence has nowhere may be a paraphrase.
    """
    lexemes = claim.words.lexemes
    for word, figure in pairwise(lexemes):
        if figure.digit and word.weight and figure.stem in found.missing:
            others = _figures_behind(index, candidate, word.stem) & found.clause
            if others and figure.stem not in others:
                return True
    subject = leading_stems(lexemes) & claim.weights.keys()
    return bool(subject) and subject <= found.elsewhere and any(stem in index.postings for stem in subject)


def _figures_behind(index: ExactIndex, candidate: Candidate, stem: str) -> set[str]:
    """The figures that follow a word in the sentence."""
    if stem not in candidate.stems:
        return set()
    lexemes = index.reading(candidate.sentence).words.lexemes
    return {after.stem for word, after in pairwise(lexemes) if word.stem == stem and after.digit}


def places_of(index: ExactIndex, sentence: int, stem: str) -> Iterator[tuple[int, int]]:
    """Where a sentence has words of a stem, as characters of its evidence."""
    words = index.reading(sentence).words
    found = 0
    for at, lexeme in enumerate(words.lexemes):
        if lexeme.stem == stem:
            yield words.starts[at], words.ends[at]
            found += 1
            if found == MOST_PLACES:
                return
