"""Finds what a claim changes in a sentence of the evidence that it otherwise repeats word for word.

Models often copy. Where all but a few words of a claim are in one sentence in the same order, those few words are where
it may be wrong: two names exchanged, another name, another unit after the same number, "because" instead of "although".
Elsewhere such differences mean little, since a paraphrase changes many words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from assay.text.lexicon import Name, Words, find_names, stem, word_set
from assay.text.quantities import NUMBER_WORDS, UNIT_SYMBOLS, UNIT_WORDS, Unit
from assay.text.sentences import split_sentences
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex
from assay.verify.exact.mention_roles import claim_negations
from assay.verify.exact.parsed_claim import Claim

_LOOKED_AT = 4
_LONGEST = 96
"""The most words of a sentence of a claim that is aligned."""
_REPEATED = 0.6
"""From this share of its words on, in one sentence and in order, a claim repeats it."""
_FEWEST_REPEATED = 3
_MOST_CHANGES = 6
"""A claim with more changes than this is a paraphrase."""
_NUMERAL = re.compile(r"[-+$€£¥]?\d+(?:[.,]\d+)*%?")
_LONGEST_NUMERAL = 32
_AT_END = 9
"""How many words count as equal where both texts begin or end."""
_CONTEXT, _BOTH_CONTEXTS = 2, 5
"""The fewest equal words on either side of a change, and on both sides together, for it to be embedded."""
_MOST_NAMES = 10
_MOST_BETWEEN = 25

_EXCHANGED = 0.9
_OTHER_NAME = 0.85
_OTHER_UNIT = 0.85
_OTHER_REASON = 0.85

_SYMMETRIC = word_set(
    """and or nor with & vs versus meet marri between near plus border neighbor neighbour fac play fight dat ti draw
    equal against alongsid join resembl like sibl brother sister cousin twin friend partner colleagu rival"""
)
"""Stems of words for relations that are symmetric in two names."""
_DIRECTED = word_set("by of to from for over than before after under into in on at as")
"""Function words for relations that are not symmetric in the names beside them."""

_SAYING = frozenset(map(stem, word_set("says states notes writes adds argues explains")))
"""Stems of verbs that may be before or after their subject: "said Ann", "Ann said"."""

_BECAUSE = frozenset({"because", "because of", "due to", "owing to", "thanks to", "as a result of", "on account of"})
_ALTHOUGH = frozenset(
    {"although", "though", "even though", "despite", "in spite of", "notwithstanding", "regardless of"}
)
_RESULT = stem("results")


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a claim that replace others of a sentence, as half-open ranges of word indices; one may be empty."""

    first: int
    last: int
    their_first: int
    their_last: int
    before: int
    """The number of equal words directly before; `_AT_END` where both texts begin here."""
    after: int
    """The number of equal words directly after; `_AT_END` where both texts end here."""

    @property
    def embedded(self) -> bool:
        """Whether enough words around it are equal for it to be the only change of its statement."""
        return min(self.before, self.after) >= _CONTEXT and self.before + self.after >= _BOTH_CONTEXTS


@dataclass(frozen=True, slots=True)
class Repetition:
    """A sentence of the claim that repeats one of the evidence except for some changes."""

    candidate: Candidate
    words: Words
    """The words of the evidence sentence, with their positions in its passage."""
    changes: tuple[Change, ...]


def compare_wording(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], tuple[tuple[int, int], ...]]:
    """Findings about what the claim changes, and the character ranges of all changes in the order of the claim."""
    exchanged = _exchanged_names(claim, index)
    repeated = list(_repetitions(claim, index))
    findings = [*exchanged]
    for repetition in repeated:
        findings += _changed(claim, index, repetition)
    places = {(f.claim_start, f.claim_end) for f in exchanged}
    for repetition in repeated:
        places |= {_place(claim, change) for change in repetition.changes if change.first < change.last}
    return findings, tuple(sorted(places))


def _place(claim: Claim, change: Change) -> tuple[int, int]:
    """The character range of a change; numbers are included whole, with sign and decimals."""
    start, end = claim.words.starts[change.first], claim.words.ends[change.last - 1]
    for numeral in _NUMERAL.finditer(claim.text, max(0, start - _LONGEST_NUMERAL), end + _LONGEST_NUMERAL):
        if numeral.start() < end and start < numeral.end():
            start, end = min(start, numeral.start()), max(end, numeral.end())
    return start, end


def _parts(claim: Claim) -> list[tuple[int, int]]:
    """The sentences of the claim as ranges of words."""
    words = claim.words
    if not any(mark in claim.text[:-1] for mark in ".!?;\n"):
        return [(0, len(words))]
    found = []
    first = 0
    for sentence in split_sentences(claim.text):
        last = next((i for i in range(first, len(words)) if words.starts[i] >= sentence.end), len(words))
        if last > first:
            found.append((first, last))
        first = last
    return found


def _repetitions(claim: Claim, index: ExactIndex) -> Iterator[Repetition]:
    folds = [w.fold for w in claim.words.lexemes]
    for first, last in _parts(claim):
        if not _FEWEST_REPEATED < last - first <= _LONGEST:
            continue
        best: tuple[int, Repetition] | None = None
        for candidate in claim.candidates[:_LOOKED_AT]:
            words = index.reading(candidate.sentence).words
            alike, changes = _aligned(folds, first, last, [w.fold for w in words.lexemes])
            if alike < max(_FEWEST_REPEATED, _REPEATED * (last - first)) or len(changes) > _MOST_CHANGES:
                continue
            if best is None or alike > best[0]:
                best = alike, Repetition(candidate, words, changes)
        if best is not None:
            yield best[1]


class _Run(NamedTuple):
    """Words of two texts that are equal, or that are not; half-open ranges."""

    equal: bool
    first: int
    last: int
    their_first: int
    their_last: int


def _aligned(folds: Sequence[str], first: int, last: int, theirs: Sequence[str]) -> tuple[int, tuple[Change, ...]]:
    """How many words of `folds[first:last]` are in `theirs` in the same order, and the changes between them.

    >>> _aligned("it took 9 long days".split(), 0, 5, "it took 12 days".split())
    (3, (Change(first=2, last=4, their_first=2, their_last=3, before=9, after=9),))
    """
    from rapidfuzz.distance import Levenshtein

    alike = 0
    runs: list[_Run] = []
    for step in Levenshtein.opcodes(list(folds[first:last]), list(theirs)):
        run = _Run(step.tag == "equal", step.src_start, step.src_end, step.dest_start, step.dest_end)
        alike += (run.last - run.first) if run.equal else 0
        if runs and not run.equal and not runs[-1].equal:
            before = runs.pop()
            run = run._replace(first=before.first, their_first=before.their_first)
        runs.append(run)
    changes = []
    for at, run in enumerate(runs):
        if run.equal:
            continue
        left = runs[at - 1] if at else _Run(True, 0, _AT_END, 0, _AT_END)
        right = runs[at + 1] if at + 1 < len(runs) else None
        alike_before = _AT_END if left.first == left.their_first == 0 else left.last - left.first
        is_last = right is None or (right.last >= last - first and right.their_last >= len(theirs))
        alike_after = _AT_END if right is None or is_last else right.last - right.first
        changes.append(
            Change(first + run.first, first + run.last, run.their_first, run.their_last, alike_before, alike_after)
        )
    return alike, tuple(changes)


def _changed(claim: Claim, index: ExactIndex, repetition: Repetition) -> Iterator[ExactFinding]:
    """Findings about the embedded changes of a repetition."""
    for change in repetition.changes:
        if change.first == change.last or change.their_first == change.their_last or not change.embedded:
            continue
        found = (
            _other_name(claim, index, repetition, change)
            or _other_unit(claim, repetition, change)
            or _other_reason(claim, repetition, change)
        )
        if found is None:
            continue
        code, what, confidence = found
        start, end = repetition.words.starts[change.their_first], repetition.words.ends[change.their_last - 1]
        span = index.span(repetition.candidate.sentence, start, end, "contradicts", confidence)
        ours = _place(claim, change)
        yield ExactFinding(
            code,
            f"The claim says {claim.text[slice(*ours)]!r} where the evidence says {span.text!r}: {what}.",
            *ours,
            span,
            "contradicts",
            confidence,
        )


_Found = tuple[str, str, float]


def _other_name(claim: Claim, index: ExactIndex, repetition: Repetition, change: Change) -> _Found | None:
    """Another name, unless both may be names of the same: a part, an acronym, a spelling, a second name."""
    first = _after_article(claim.words, change.first, change.last)
    ours = next((n for n in claim.names if n.sure and (n.first, n.last) == (first, change.last)), None)
    if ours is None or claim_negations(claim):  # who lives nowhere in Norway does not live in Oslo
        return None
    sentence = index.sentences[repetition.candidate.sentence]
    text = index.passages[sentence.passage].text
    their_first = _after_article(repetition.words, change.their_first, change.their_last)
    start, end = repetition.words.starts[their_first], repetition.words.ends[change.their_last - 1]
    theirs = [n for n in find_names(text[sentence.start : sentence.end]) if n.sure]
    other = next((n for n in theirs if sentence.start + n.start == start and sentence.start + n.end == end), None)
    if other is None or _may_be_same(ours, other) or _are_said_to_be_same(index, ours, other):
        return None
    return "name.mismatch", "another name in the same sentence", _OTHER_NAME


def _after_article(words: Words, first: int, last: int) -> int:
    return first + 1 if last - first > 1 and words.lexemes[first].fold == "the" else first


_SPELLED_ALIKE = 4
_ABBREVIATED = 3
"""Single words up to this length ("WW2", "LA") may stand for a longer name."""


def _may_be_same(ours: Name, theirs: Name) -> bool:
    """Whether two names can be forms of the same: a shared word, an acronym, words that begin alike."""
    if set(ours.keys) & set(theirs.keys) or ours.acronym or theirs.acronym:
        return True
    if any(len(name.keys) == 1 and len(name.keys[0]) <= _ABBREVIATED for name in (ours, theirs)):
        return True
    return any(a[:_SPELLED_ALIKE] == b[:_SPELLED_ALIKE] for a in ours.keys for b in theirs.keys)


_NEAR = 6


def _are_said_to_be_same(index: ExactIndex, ours: Name, theirs: Name) -> bool:
    """Whether any sentence of the evidence has both names close together, like a second name in brackets."""
    mine, other = stem(ours.keys[-1]), stem(theirs.keys[-1])
    for number in set(index.postings.get(mine, ())) & set(index.postings.get(other, ())):
        stems = [w.stem for w in index.reading(number).words.lexemes]
        at = [i for i, s in enumerate(stems) if s == mine]
        if any(abs(i - j) <= _NEAR for i in at for j, s in enumerate(stems) if s == other):
            return True
    return False


def _other_unit(claim: Claim, repetition: Repetition, change: Change) -> _Found | None:
    """Another unit after the same number."""
    lexemes = claim.words.lexemes
    if change.last - change.first != 1 or change.their_last - change.their_first != 1 or not change.first:
        return None
    if not (lexemes[change.first - 1].digit or lexemes[change.first - 1].fold in NUMBER_WORDS):
        return None
    ours = _unit(lexemes[change.first].fold)
    theirs = _unit(repetition.words.lexemes[change.their_first].fold)
    if ours is None or theirs is None or (ours.dimension, ours.size) == (theirs.dimension, theirs.size):
        return None
    return "number.mismatch", "another unit after the same number", _OTHER_UNIT


def _unit(fold: str) -> Unit | None:
    return UNIT_WORDS.get(fold) or UNIT_SYMBOLS.get(fold)


def _other_reason(claim: Claim, repetition: Repetition, change: Change) -> _Found | None:
    """A reason instead of a concession or the reverse, or cause and result exchanged."""
    ours = _with_neighbours(claim.words, change.first, change.last)
    theirs = _with_neighbours(repetition.words, change.their_first, change.their_last)
    for one, other in ((_BECAUSE, _ALTHOUGH), (_ALTHOUGH, _BECAUSE)):
        if ours & one and theirs & other:
            return "polarity.reason", "a reason and no reason", _OTHER_REASON
    before = claim.words.lexemes[change.first - 1].stem if change.first else ""
    changed = {
        _joined(claim.words, change.first, change.last),
        _joined(repetition.words, change.their_first, change.their_last),
    }
    if before == _RESULT and changed == {"from", "in"}:
        return "polarity.reason", "cause and result exchanged", _OTHER_REASON
    return None


def _joined(words: Words, first: int, last: int) -> str:
    return " ".join(w.fold for w in words.lexemes[max(0, first) : last])


def _with_neighbours(words: Words, first: int, last: int) -> set[str]:
    """The text of a range, alone and with one more word on either side: "in spite" and the "of" after it."""
    return {_joined(words, first - before, last + after) for before in (0, 1) for after in (0, 1)}


def _exchanged_names(claim: Claim, index: ExactIndex) -> list[ExactFinding]:
    """Findings that two names are exchanged: with them exchanged back, the evidence has the same words.

    Nothing is found where the words between them are symmetric, a list of names, or in the evidence in both orders.
    """
    names = claim.names[:_MOST_NAMES]
    if len(names) < 2:
        return []
    read = [(c, index.reading(c.sentence).words) for c in claim.candidates]
    said = [f" {_joined(words, 0, len(words))} " for _, words in read]
    for first, second in combinations(names, 2):
        between = claim.words.lexemes[first.last : second.first]
        if not 0 < len(between) <= _MOST_BETWEEN or not _is_directed(claim, first, second):
            continue
        one, middle, other = (
            _joined(claim.words, a, b)
            for a, b in ((first.first, first.last), (first.last, second.first), (second.first, second.last))
        )
        if one == other or any(f" {one} {middle} {other} " in text for text in said):
            continue
        reverse = f" {other} {middle} {one} "
        at = next((i for i, text in enumerate(said) if reverse in text), None)
        if at is not None:
            begin = said[at][: said[at].index(reverse)].count(" ")
            return _exchange_findings(claim, index, (first, second), read[at], begin)
    return []


def _is_directed(claim: Claim, first: Name, second: Name) -> bool:
    """Whether the words between two names, other names aside, mean something that depends on their order."""
    inside = {i for n in claim.names for i in range(n.first, n.last)}
    if {claim.words.lexemes[i].stem for i in range(first.last, second.first)} <= _SAYING:
        return False
    between = [claim.words.lexemes[i] for i in range(first.last, second.first) if i not in inside]
    if not any(w.weight or w.fold in _DIRECTED for w in between):
        return False
    symmetric = any(w.stem in _SYMMETRIC or w.fold in _SYMMETRIC for w in between)
    return not symmetric or any(w.fold == "by" for w in between)


def _exchange_findings(
    claim: Claim, index: ExactIndex, names: tuple[Name, Name], read: tuple[Candidate, Words], begin: int
) -> list[ExactFinding]:
    """A finding for each of two names that the sentence has in reverse order, from its word `begin` on."""
    candidate, words = read
    first, second = names
    end = begin + second.last - first.first
    start, stop = words.starts[begin], words.ends[end - 1]
    span = index.span(candidate.sentence, start, stop, "contradicts", _EXCHANGED)
    text = claim.text[first.start : second.end]
    message = f"The claim says {text!r}; the evidence has the two in each other's place: {span.text!r}."
    return [
        ExactFinding("name.swapped", message, name.start, name.end, span, "contradicts", _EXCHANGED) for name in names
    ]
