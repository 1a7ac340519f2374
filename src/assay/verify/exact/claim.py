"""A claim parsed for the exact tier, and how well the words around one of its mentions agree with the evidence."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from assay.text.dates import DateMention, find_dates
from assay.text.identifiers import Identifier, find_identifiers
from assay.text.lexemes import Words, find_words, word_set
from assay.text.names import Name, find_names
from assay.text.quantities import Quantity, find_quantities
from assay.text.synonyms import GENERIC_NOUNS, LIGHT_VERBS, PRONOUNS, SYNONYMS
from assay.verify.exact.index import Candidate, ExactIndex, Passage, Sentence, reads_day_first

_CLAUSE_MARKS = ",;:()\n—–"
_CLAUSE_WORDS = word_set("and but while whereas although though or")
_LONGEST_CLAUSE = 24
"""A clause reaches at most this many words to either side of a mention."""

_QUESTION_WEIGHT = 0.4
_FEW_WORDS = 4
_IN_SENTENCE, _IN_HEADING, _AROUND = 0.9, 0.85, 0.45
_OTHER_CLAUSE = 0.3
"""Weight, in a mention's context, of the claim's words outside of the mention's own clause."""

_BY_SYNONYM = 0.85
_BY_PRONOUN = 0.8
"""What a name of the claim counts where the evidence's subject is "it" or "the model"."""

_COMPLEMENT = 0.2
"""What is left of the weight of "of leave" in "2 weeks of leave" where the evidence says merely "2 weeks"."""

LONG_SENTENCE, LONG_SENTENCE_FACTOR = 80, 0.8
"""From this many words on a sentence is likely a list or a page's debris, and what its numbers are about less clear."""

_SUBJECT_ENDS = word_set(
    """is are was were be been am has have had will would can could may might must shall should do does did get gets
    got receive receives received give given take takes need needs cannot for with from at by to in"""
)
_LONGEST_SUBJECT = 4
_SHORTEST_SUBJECT = 2


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim's text with all that the comparisons need of it."""

    text: str
    words: Words
    weights: Mapping[str, float]
    """Content stems with their weight in this evidence."""
    quantities: tuple[Quantity, ...]
    dates: tuple[DateMention, ...]
    identifiers: tuple[Identifier, ...]
    names: tuple[Name, ...]
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate | None:
        """The evidence sentence that has most of the claim's words."""
        return self.candidates[0] if self.candidates else None


def parse_claim(text: str, index: ExactIndex, question: str | None = None) -> Claim:
    """Parses a claim and finds its candidate sentences.

    A claim of few content words borrows those of the question, at less weight: "4 weeks." answers something.
    """
    words = find_words(text)
    identifiers = find_identifiers(text)
    taken = [(i.start, i.end) for i in identifiers]
    day_first = reads_day_first(index.locale)
    dates = find_dates(text, words, skip=taken, day_first=day_first)
    taken += [(d.start, d.end) for d in dates]
    quantities = find_quantities(text, words, locale=index.locale, skip=taken)
    weights: dict[str, float] = {}
    for lexeme in words.lexemes:
        if lexeme.weight and lexeme.stem not in weights:
            weights[lexeme.stem] = lexeme.weight * index.weight(lexeme.stem)
    if question and len(weights) < _FEW_WORDS:
        for lexeme in find_words(question).lexemes:
            if lexeme.weight and lexeme.stem not in weights:
                weights[lexeme.stem] = _QUESTION_WEIGHT * lexeme.weight * index.weight(lexeme.stem)
    candidates = tuple(index.candidates(weights))
    names = [n for n in find_names(text, words) if not any(q.start <= n.start and n.end <= q.end for q in quantities)]
    return Claim(text, words, weights, quantities, dates, identifiers, tuple(names), candidates)


def clause(text: str, words: Words, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """The words of the clause around the characters from start to end, within the words from first to last."""
    low = bisect_left(words.starts, start)
    high = max(bisect_left(words.starts, end), low)
    if first < low < len(words) and ":" in text[words.ends[low - 1] : words.starts[low]]:
        low -= 1
    first, last = max(first, low - _LONGEST_CLAUSE), min(last, high + _LONGEST_CLAUSE)
    while low > first:
        gap = text[words.ends[low - 1] : words.starts[low]] if low < len(words) else " "
        if any(c in _CLAUSE_MARKS for c in gap) or words.lexemes[low - 1].fold in _CLAUSE_WORDS:
            break
        low -= 1
    while high < last:
        gap = text[words.ends[high - 1] : words.starts[high]] if high else ""
        if any(c in _CLAUSE_MARKS for c in gap) or words.lexemes[high].fold in _CLAUSE_WORDS:
            break
        high += 1
    return low, high


class Context:
    """The words of the claim around one of its mentions, against those around a mention in the evidence."""

    def __init__(self, claim: Claim, index: ExactIndex, start: int, end: int) -> None:
        self.claim = claim
        self.index = index
        words = claim.words
        inside = {
            words.lexemes[i].stem for i in range(bisect_left(words.starts, start), bisect_left(words.starts, end))
        }
        low, high = clause(claim.text, words, start, end, 0, len(words))
        near = {w.stem for w in words.lexemes[low:high]}
        self.weights = {
            stem: weight * (1.0 if stem in near else _OTHER_CLAUSE)
            for stem, weight in claim.weights.items()
            if stem not in inside
        }
        if any(stem not in LIGHT_VERBS for stem in self.weights):
            self.weights = {stem: weight for stem, weight in self.weights.items() if stem not in LIGHT_VERBS}
        self.total = sum(self.weights.values())
        self.near = _window(words, start, end)
        self.complement = _complement(words, end)
        self.named = {w.stem for n in claim.names if n.sure for w in words.lexemes[n.first : n.last] if w.weight}
        self.subject = _subject(claim, self.weights)

    def agreement(self, candidate: Candidate, start: int, end: int) -> float:
        """How much of the context's weight stands around a mention of the evidence, 0 to 1.

        A word counts whole in the mention's clause and less in its sentence, its heading and the sentences around.
        """
        if not self.total:
            return 0.0
        here = self.index.sentences[candidate.sentence]
        passage = self.index.passages[here.passage]
        low, high = clause(passage.text, passage.words, start, end, here.first, here.last)
        near = {w.stem for w in passage.words.lexemes[low:high]}
        found, total = 0.0, self.total
        for stem, weight in self.weights.items():
            if stem in near:
                found += weight
            elif stem in candidate.stems:
                found += weight * _IN_SENTENCE
            elif stem in candidate.heading:
                found += weight * _IN_HEADING
            elif not near.isdisjoint(SYNONYMS.get(stem, ())):
                found += weight * _BY_SYNONYM
            elif stem in self.named and is_generic(passage, here):
                found += weight * _BY_PRONOUN
            elif stem in candidate.around:
                found += weight * _AROUND
            elif stem in self.complement and not _complement(passage.words, end):
                total -= weight * (1 - _COMPLEMENT)
        return found / total

    def covered(self, candidate: Candidate) -> float:
        """How much of the weight of the claim's subject the evidence's sentence and its heading have, 0 to 1."""
        total = sum(self.weights[stem] for stem in self.subject)
        if not total:
            return 0.0
        here = self.index.sentences[candidate.sentence]
        generic = bool(self.named & self.subject) and is_generic(self.index.passages[here.passage], here)
        return (
            sum(
                self.weights[s]
                for s in self.subject
                if s in candidate.stems or s in candidate.heading or (generic and s in self.named)
            )
            / total
        )

    def closeness(self, candidate: Candidate, start: int, end: int) -> float:
        """Share of the three words on either side that agree, function words included: tells "from" from "to"."""
        here = self.index.sentences[candidate.sentence]
        passage = self.index.passages[here.passage]
        theirs = _window(passage.words, start, end)
        same = sum(1 for mine, other in zip(self.near, theirs, strict=True) if mine and mine == other)
        return same / 6 + len(set(self.near) & set(theirs) - {""}) / 12


def is_generic(passage: Passage, here: Sentence) -> bool:
    """Whether the sentence's subject stands for a name given elsewhere: "it", "the model"."""
    folds = [w.fold for w in passage.words.lexemes[here.first : min(here.first + 2, here.last)]]
    return bool(folds) and (
        folds[0] in PRONOUNS or (len(folds) > 1 and folds[0] == "the" and folds[1] in GENERIC_NOUNS)
    )


def _complement(words: Words, end: int) -> frozenset[str]:
    """The stems of "of leave" right after a mention."""
    at = bisect_left(words.starts, end)
    if at >= len(words) or words.lexemes[at].fold != "of":
        return frozenset()
    return frozenset([w.stem for w in words.lexemes[at + 1 : at + 4] if w.weight])


def _subject(claim: Claim, weights: Mapping[str, float]) -> frozenset[str]:
    """The stems of the claim's leading words up to its verb, as far as function words show where that is."""
    stems: list[str] = []
    for at, lexeme in enumerate(claim.words.lexemes):
        if lexeme.fold in _SUBJECT_ENDS and stems:
            return frozenset(stems)
        if lexeme.stem in weights and not lexeme.digit:
            stems.append(lexeme.stem)
        if len(stems) == _LONGEST_SUBJECT or at > 3 * _LONGEST_SUBJECT:
            break
    return frozenset(stems[:_SHORTEST_SUBJECT])


def _window(words: Words, start: int, end: int) -> tuple[str, ...]:
    low, high = bisect_left(words.starts, start), bisect_left(words.starts, end)
    before = [words.lexemes[i].stem for i in range(max(0, low - 3), low)]
    after = [words.lexemes[i].stem for i in range(high, min(len(words), high + 3))]
    return tuple([""] * (3 - len(before)) + before + after + [""] * (3 - len(after)))


def confidence_of(agreement: float) -> float:
    """The confidence that two mentions with this agreement of context speak of one thing, before any doubts.

    A straight line from 0 at 0.2 to 0.95 at 0.85; the combination of the tiers recalibrates it.

    >>> confidence_of(0.9), confidence_of(0.1)
    (0.95, 0.0)
    """
    return 0.95 * min(1.0, max(0.0, (agreement - 0.2) / 0.65))
