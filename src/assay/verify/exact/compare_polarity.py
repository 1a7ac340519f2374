"""Negation, antonyms, direction and conditions of a claim against the evidence sentences nearest to it."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from assay.text.antonyms import CONVERSES, DIRECTIONS, OPPOSITES, opposites
from assay.text.dates import DateRelation, relate_dates
from assay.text.lexemes import Words, word_set
from assay.text.polarity import (
    Condition,
    Negation,
    find_conditions,
)
from assay.verify.exact.alignment import LEAST_ALIGNED, align, places_of, speaks_of_another
from assay.verify.exact.claim import Claim
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, content_of
from assay.verify.exact.roles import negations_of
from assay.verify.exact.surroundings import clause

_LOOKED_AT = 3
_LEAST_RECALL = 0.3
_NEGATION = 0.9
_ANTONYM = 0.9
_DIRECTION = 0.9
_LEAST_CONFIDENCE = 0.2
_MOST_CONDITION_KEPT = 0.34
_AS_GOOD = 0.1
"""A sentence whose recall is lower by no more than this fits the claim as well."""

_PARAPHRASED, _SAME_ORDER = 0.7, 0.5
"""The most confidence where the claim does not repeat the sentence, of whose neighbouring words it then has less."""
_DENIED_TOO = 0.67
"""The share of what a negation denies that the other text has to speak of."""
_EVENTS = frozenset({"open", "clos", "start", "end", "begin", "finish", "arriv", "depart", "enter", "leav", "stop"})
"""Stems of what happens at two times of one thing: "open until 9" is "closes at 9"."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One evidence sentence with its polarity."""

    candidate: Candidate
    evidence_id: str
    words: Words
    """The sentence's words, at their places in the whole evidence text."""
    folds: frozenset[str]
    negations: tuple[Negation, ...]
    conditions: tuple[Condition, ...]


def compare_polarity(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], bool, bool]:
    """Findings about polarity, whether the claim is negated, and whether the best sentence differs in that."""
    negations = negations_of(claim)
    sides = [_side(index, c) for c in claim.candidates[:_LOOKED_AT] if c.wide >= _LEAST_RECALL]
    findings: list[ExactFinding] = []
    against = frozenset().union(*[opposites(w.stem) for w in claim.words.lexemes]) if sides else frozenset()
    for side in sides:
        if negations or side.negations:
            findings.extend(_negation(claim, index, negations, side))
        if not against.isdisjoint(side.candidate.stems):
            findings.extend(_opposites(claim, index, negations, side))
    findings = [f for f in findings if not _agreed_elsewhere(claim, negations, f, sides)]
    if sides:
        findings.extend(_conditions(claim, index, sides[0]))
    differs = bool(sides) and bool(negations) != bool(sides[0].negations)
    return _strongest(findings), bool(negations), differs


def _strongest(findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """One finding for each code and place, the strongest."""
    best: dict[tuple[str, int, int], ExactFinding] = {}
    for finding in findings:
        key = (finding.code, finding.claim_start, finding.claim_end)
        if key not in best or finding.confidence > best[key].confidence:
            best[key] = finding
    return list(best.values())


def _side(index: ExactIndex, candidate: Candidate) -> _Side:
    read = index.reading(candidate.sentence)
    evidence_id = index.passages[index.sentences[candidate.sentence].passage].evidence_id
    return _Side(candidate, evidence_id, read.words, read.folds, read.negations, read.conditions)


def _recall_without(claim: Claim, candidate: Candidate, left_out: set[str]) -> float:
    """The share of the claim's weight, some stems left out, that the sentence and what is around it have."""
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


def _strength(recall: float, most: float) -> float:
    """Confidence from the share of other words that agree: 0 at one half, `most` from 0.95 on."""
    return most * min(1.0, max(0.0, (recall - 0.5) / 0.45))


def _heads(words: Words, negations: Sequence[Negation]) -> dict[str, int]:
    """The first word in the scope of each negation, by stem, with the index of the negating word."""
    return {words.lexemes[n.scope[0]].stem: n.cue for n in negations if n.scope}


def _repeats(claim: Claim, index: ExactIndex, side: _Side) -> bool:
    """Whether a claim has the words of a sentence in their order, so that a negation is all that it changes."""
    pairs = frozenset(pairwise(content_of(claim.words.lexemes)))
    shared = pairs & index.content(side.candidate.sentence).pairs
    return bool(pairs) and len(shared) >= _SAME_ORDER * len(pairs)


def _aligned(words: Words, negations: Sequence[Negation], cue: int, known: AbstractSet[str]) -> bool:
    """Whether the other text speaks of what a negation denies: of most of the words in its scope.

    "The test was stopped because the funds ended, not because the cell failed" says nothing of "the cell lost a fifth".
    """
    scope = next((n.scope for n in negations if n.cue == cue), ())
    weights = {words.lexemes[i].stem: words.lexemes[i].weight for i in scope}
    return sum(w for stem, w in weights.items() if stem in known) >= _DENIED_TOO * sum(weights.values())


def _scoped(words: Words, negations: Sequence[Negation]) -> set[str]:
    return {words.lexemes[i].stem for n in negations for i in n.scope}


def _finding(
    claim: Claim, index: ExactIndex, side: _Side, code: str, ours: tuple[int, int], theirs: tuple[int, int],
    confidence: float, what: str, *, contradicts: bool = True,
) -> ExactFinding:  # fmt: skip
    start, end = theirs
    relation = "contradicts" if contradicts else "related"
    span = index.span(side.candidate.sentence, start, end, relation, confidence)
    return ExactFinding(
        code, f"The claim says {claim.text[ours[0] : ours[1]]!r}; the evidence says {span.text!r}: {what}.",
        *ours, span, "contradicts" if contradicts else "missing", round(confidence, 4),
    )  # fmt: skip


def _negation(claim: Claim, index: ExactIndex, negations: Sequence[Negation], side: _Side) -> Iterator[ExactFinding]:
    ours, theirs = _heads(claim.words, negations), _heads(side.words, side.negations)
    ours_all, theirs_all = _scoped(claim.words, negations), _scoped(side.words, side.negations)
    recall = _recall_without(claim, side.candidate, set())
    elided = _elided(side)
    own = {w.stem for w in claim.words.lexemes}
    alike = _NEGATION if _repeats(claim, index, side) else _PARAPHRASED
    confidence = _strength(recall, min(alike, _most_sure(claim, side, negations)))
    if confidence < _LEAST_CONFIDENCE:
        return
    if elided is not None and elided.subject & set(claim.weights):
        shared = sorted(elided.predicate & set(claim.weights) & own)
        if not negations and shared:
            place = (side.words.starts[elided.first], side.words.ends[elided.cue])
            yield _finding(
                claim, index, side, "polarity.negation", _place(claim.words, shared[0]), place, confidence, "negated"
            )
        return
    twice = _affirmed(claim.words, negations)
    known = side.candidate.stems | side.candidate.heading | side.candidate.around
    for stem, cue in ours.items():
        if not _aligned(claim.words, negations, cue, known):
            continue
        if _set_apart(claim, side, cue) or _other_part(claim, index, side, cue):
            continue
        if stem in side.candidate.stems and stem not in twice:
            place = next(
                (at for at in places_of(index, side.candidate.sentence, stem) if _affirms(index, side, at)), None
            )
            if place is None:
                continue
            span = (claim.words.starts[cue], _last_end(claim.words, stem, cue))
            if not _denies(claim, index, side, cue, stem):
                continue
            yield _finding(claim, index, side, "polarity.negation", span, place, confidence, "without the negation")
    for stem, cue in theirs.items():
        if not _aligned(side.words, side.negations, cue, own):
            continue
        if stem in claim.weights and stem in own and stem not in ours_all and not ours:
            place = (side.words.starts[cue], _last_end(side.words, stem, cue))
            found = align(claim, index, _place(claim.words, stem), side.candidate, place)
            if found.share < LEAST_ALIGNED or speaks_of_another(claim, index, side.candidate, found):
                continue
            yield _finding(
                claim, index, side, "polarity.negation", _place(claim.words, stem), place, confidence, "negated"
            )


def _affirms(index: ExactIndex, side: _Side, place: tuple[int, int]) -> bool:
    """Whether the clause around a word of the sentence has no negation, and the word is no key of nothing."""
    sentence = index.sentences[side.candidate.sentence]
    passage = index.passages[sentence.passage]
    low, high = clause(passage.text, passage.words, *place, sentence.first, sentence.last)
    if _EMPTY.match(passage.text, place[1]):
        return False
    return not any(low - 1 <= sentence.first + one.cue < high for one in side.negations)


def _denies(claim: Claim, index: ExactIndex, side: _Side, cue: int, stem: str) -> bool:
    """Whether a negation of the claim denies what the sentence says of the same subject.

    "Not before it is paid" sets a limit, and "without its captain" denies only that it has one.
    """
    lexemes = claim.words.lexemes
    following = frozenset([w.fold for w in lexemes[cue + 1 : cue + 1 + _LIMIT_REACH]])
    if following & _SETS_LIMIT and not following & _SETS_LIMIT <= side.folds:
        return False
    if lexemes[cue].fold == "without" and not any(_is_had(side.words, at, stem) for at in range(len(side.words))):
        return False
    ours = claim.words.starts[cue], _last_end(claim.words, stem, cue)
    places = places_of(index, side.candidate.sentence, stem)
    found = max((align(claim, index, ours, side.candidate, at) for at in places), key=lambda a: a.share, default=None)
    if found is None or found.missing & _scoped(side.words, side.negations):
        return False  # the sentence denies it of that too: "water but not electricity"
    return found.share >= (_SURELY_ALIGNED if side.negations else LEAST_ALIGNED) and not speaks_of_another(
        claim, index, side.candidate, found
    )


def _is_had(words: Words, at: int, stem: str) -> bool:
    """Whether the word at a place is the stem and something has it or is with it."""
    before = words.lexemes[max(0, at - _REACH) : at]
    return words.lexemes[at].stem == stem and any(w.fold in _HAVING for w in before)


@dataclass(frozen=True, slots=True)
class _Elided:
    """A negation that leaves its predicate out: "the laptop is covered, but batteries are not"."""

    subject: frozenset[str]
    predicate: frozenset[str]
    """Content stems before the clause of the negation, which it negates for its own subject."""
    first: int
    cue: int


_ELISION_BREAKS = word_set("but and while whereas although though")
_MOST_DATES = 16
_LIMITING = word_set("only except unless solely exclusively just other otherwise until till")
_COMPARING = word_set("more less than fewer as better worse")
_AGAINST_LIMIT, _AGAINST_COMPARISON = 0.45, 0.7
_COMPARED_TO = frozenset({"with", "to"})
_REACH = 5
"""Words after "not" among which "the least" or "one of the least" stands."""
_PARTS = frozenset({"count", "share"})
_HAVING = word_set("with have has had having include includes included including use uses used using contain contains")
_SETS_LIMIT = word_set("before until till unless except beyond more")
"""Words after a negation that make a limit of it: what is not so before Monday may be so on Monday."""
_LIMIT_REACH = 8
_EMPTY = re.compile(
    r"[\w ]{0,24}[\"']?\s{0,2}[:=|]\s{0,2}(?:\[\s*\]|\{\s*\}|\"\"|''|(?:null|none|nil|false|n/a|0)\b(?![.,]\d))",
    re.IGNORECASE,
)
"""What follows a key that has no value: `"passengers": []`."""
_SURELY_ALIGNED = 0.6
"""The alignment that a clause needs where another one of its sentence is negated."""


def _elided(side: _Side) -> _Elided | None:
    lexemes = side.words.lexemes
    for negation in side.negations:
        if negation.scope:
            continue
        first = negation.cue
        while first and lexemes[first - 1].fold not in _ELISION_BREAKS:
            first -= 1
        if not first:
            continue
        subject = frozenset([w.stem for w in lexemes[first : negation.cue] if w.weight])
        predicate = frozenset([w.stem for w in lexemes[:first] if w.weight]) - subject
        if subject and predicate:
            return _Elided(subject, predicate, first, negation.cue)
    return None


def _affirmed(words: Words, negations: Sequence[Negation]) -> set[str]:
    """The stems that a text has outside of its negations too: "exposing one, never exposing the other"."""
    scoped = {i for n in negations for i in n.scope}
    return {w.stem for i, w in enumerate(words.lexemes) if i not in scoped}


def _most_sure(claim: Claim, side: _Side, negations: Sequence[Negation]) -> float:
    """The most confidence that a negation on one side only deserves.

    "Only with consent" is "not without consent", two negations may undo each other, and a negated comparison leaves
    much open.
    """
    ours, theirs = claim.folds, side.folds
    if (not negations and ours & _LIMITING and side.negations) or (negations and theirs & _LIMITING):
        return _AGAINST_LIMIT
    if len(negations) > 1 and len(negations) % 2 == 0 and not side.negations:
        return _AGAINST_LIMIT
    if not negations and "few" in theirs:
        return _AGAINST_LIMIT  # few of them were not sold: nearly all were
    if ours & _COMPARING and "than" in ours | theirs:
        return _AGAINST_COMPARISON
    return 1.0


def _set_apart(claim: Claim, side: _Side, cue: int) -> bool:
    """Whether a "not" of the claim denies no predicate that the sentence states: "Ann, not Bo, won", "not the least".

    The name after "not" is set against the one before it, or with "but" against the one after it; which of the two the
    sentence speaks of cannot be told from the words alone. Who is not the least successful may be the most successful.
    """
    lexemes, starts = claim.words.lexemes, claim.words.starts
    if lexemes[cue].fold != "not" or cue + 1 >= len(lexemes):
        return False
    following = [w.fold for w in lexemes[cue + 1 : cue + 1 + _REACH]]
    if "least" in following and "least" not in side.folds and "the" in following:
        return True
    if not claim.text[starts[cue + 1]].isupper():
        return False
    if cue and claim.text[: starts[cue]].rstrip().endswith(","):
        return lexemes[cue - 1].stem in side.candidate.stems
    other = next((at + 1 for at in range(cue + 1, len(lexemes) - 1) if lexemes[at].fold == "but"), None)
    return other is not None and lexemes[other].stem in side.candidate.stems


def _other_part(claim: Claim, index: ExactIndex, side: _Side, cue: int) -> bool:
    """Whether the claim negates of one number of things what the sentence says of another number: 30 were not, 90 were.

    The two may be parts of one whole. Whether their numbers agree is for the numbers' own comparison.
    """
    at = claim.words.starts[cue]
    ours = [q for q in claim.quantities if q.end <= at and q.exact and q.dimension in _PARTS]
    if not ours:
        return False
    theirs = [q for q in index.quantities.get(side.candidate.sentence, ())[:_MOST_DATES] if q.dimension in _PARTS]
    return bool(theirs) and all(q.dimension != o.dimension or q.low != o.low for q in ours for o in theirs)


def _agreed_elsewhere(
    claim: Claim, negations: Sequence[Negation], finding: ExactFinding, sides: Sequence[_Side]
) -> bool:
    """Whether another sentence that fits the claim as well says the same with the same polarity."""
    if finding.code != "polarity.negation" or finding.evidence is None or not sides:
        return False
    own = next((s for s in sides if _holds(s, finding)), None)
    if own is None:
        return False
    ours = _scoped(claim.words, negations)
    marked = {
        w.stem
        for w, start in zip(claim.words.lexemes, claim.words.starts, strict=True)
        if w.weight and finding.claim_start <= start < finding.claim_end
    }
    for side in sides:
        if side is own or side.candidate.recall < own.candidate.recall - _AS_GOOD:
            continue
        theirs = _scoped(side.words, side.negations)
        if any(s in side.candidate.stems and (s in ours) == (s in theirs) for s in marked):
            return True
    return False


def _holds(side: _Side, finding: ExactFinding) -> bool:
    return bool(side.words.starts) and finding.evidence is not None and (
        side.words.starts[0] <= finding.evidence.start < side.words.ends[-1]
        and side.evidence_id == finding.evidence.evidence_id
    )  # fmt: skip


def _place(words: Words, stem: str) -> tuple[int, int]:
    at = next(i for i, w in enumerate(words.lexemes) if w.stem == stem)
    return words.starts[at], words.ends[at]


def _last_end(words: Words, stem: str, cue: int) -> int:
    at = next((i for i in range(cue, len(words)) if words.lexemes[i].stem == stem), cue)
    return words.ends[at]


def _opposites(claim: Claim, index: ExactIndex, negations: Sequence[Negation], side: _Side) -> Iterator[ExactFinding]:
    negated = _scoped(claim.words, negations)
    theirs_negated = _scoped(side.words, side.negations)
    seen: set[str] = set()
    for at, lexeme in enumerate(claim.words.lexemes):
        stem = lexeme.stem
        if stem in seen or stem in side.candidate.stems or opposites(stem).isdisjoint(side.candidate.stems):
            continue
        if any(c.isdigit() for c in stem):
            continue
        seen.add(stem)
        hit = _opposite_in(stem, side)
        if hit is None:
            continue
        other, code, most = hit
        if stem in _EVENTS and claim.dates and not _same_dates(claim, index, side):
            continue
        if any(date.start <= claim.words.starts[at] < date.end for date in claim.dates):
            continue  # a day of the week or a month: dates are compared as such
        if (stem in negated) != (other in theirs_negated):
            continue
        if other in claim.weights or any(w.stem == other for w in claim.words.lexemes):
            continue
        if other in CONVERSES.get(stem, ()) and _changed_places(claim, at, side, other):
            continue
        recall = _recall_without(claim, side.candidate, {stem})
        confidence = _strength(max(recall, (recall + _local(claim, at, side, other)) / 2), most)
        ours = (claim.words.starts[at], claim.words.ends[at])
        if confidence >= _LEAST_CONFIDENCE and _is_aligned(claim, index, ours, side, other, stem):
            yield _finding(claim, index, side, code, ours, _place(side.words, other), confidence, "the opposite")


def _is_aligned(claim: Claim, index: ExactIndex, ours: tuple[int, int], side: _Side, other: str, own: str) -> bool:
    """Whether a clause with the word `other` is the one that the claim's clause is about.

    It is not where it shares little with it, speaks of something else that the evidence tells of elsewhere, or where
    another clause with the claim's own word fits the claim as well.
    """
    found = max(
        (align(claim, index, ours, side.candidate, at) for at in places_of(index, side.candidate.sentence, other)),
        key=lambda one: one.share,
        default=None,
    )
    if found is None or found.share < LEAST_ALIGNED or speaks_of_another(claim, index, side.candidate, found):
        return False
    return not any(
        align(claim, index, ours, candidate, at).share >= found.share
        for candidate in claim.candidates
        if own in candidate.stems
        for at in places_of(index, candidate.sentence, own)
    )


def _changed_places(claim: Claim, at: int, side: _Side, other: str) -> bool:
    """Whether the two that a claim relates stand in the sentence the other way about: its opposite is then the same.

    "A is wider than B" and "B is narrower than A", "A bought it from B" and "B sold it to A".
    """
    before, after = _related(claim.words, at)
    for place, lexeme in enumerate(side.words.lexemes):
        if lexeme.stem != other:
            continue
        first, second = _related(side.words, place)
        crossed, there = (before & second) - first - after, (after & first) - second - before
        stayed = (before & first) | (after & second)
        if crossed and there and len(crossed) + len(there) >= len(stayed):
            return True
    return False


def _related(words: Words, at: int) -> tuple[set[str], set[str]]:
    """The content stems before and after a relating word; what stands between "compared with" and it is parted anew.

    "Compared with B, A is wider" is read as "A is wider than B": the words up to the comma stand after.
    """
    lexemes = words.lexemes
    before, after = lexemes[:at], lexemes[at + 1 :]
    led = next(
        (i for i in range(at - 1) if lexemes[i].fold == "compared" and lexemes[i + 1].fold in _COMPARED_TO), None
    )
    if led is not None:
        comma = next((i for i in range(led + 2, at) if words.starts[i] - words.ends[i - 1] > 1), None)
        if comma is not None:
            before, after = lexemes[comma:at], (*lexemes[led + 2 : comma], *after)
    return {w.stem for w in before if w.weight}, {w.stem for w in after if w.weight}


def _same_dates(claim: Claim, index: ExactIndex, side: _Side) -> bool:
    """Whether the sentence states every date of the claim: opening and closing are then of one day.

    A time of day may be the end of one and the beginning of the other, and what is over "by 1952" began before it.
    """
    if any(date.minute is not None or date.bound != "exact" for date in claim.dates):
        return False
    theirs = index.dates.get(side.candidate.sentence, ())[:_MOST_DATES]
    return all(any(relate_dates(d, other) is DateRelation.SAME for other in theirs) for d in claim.dates[:_MOST_DATES])


def _local(claim: Claim, at: int, side: _Side, other: str) -> float:
    """Share of the content words within two of a claim's word that stand within three of the evidence's word."""
    ours = _near_stems(claim.words, at, 2)
    place = next((i for i, w in enumerate(side.words.lexemes) if w.stem == other), None)
    if place is None or not ours:
        return 0.0
    return len(ours & _near_stems(side.words, place, 3)) / len(ours)


def _near_stems(words: Words, at: int, reach: int) -> set[str]:
    near = [*words.lexemes[max(0, at - reach) : at], *words.lexemes[at + 1 : at + 1 + reach]]
    return {w.stem for w in near if w.weight}


def _opposite_in(stem: str, side: _Side) -> tuple[str, str, float] | None:
    """The word of the sentence that cannot be true with `stem`, the finding's code and the most confidence."""
    stems = side.candidate.stems
    for table, code, most in (
        (DIRECTIONS, "comparative.reversed", _DIRECTION),
        (OPPOSITES, "antonym.clash", _ANTONYM),
    ):
        others = table.get(stem)
        if others and not others.isdisjoint(stems):
            return min(others & stems), code, most
    return None


_LEAST_MAIN = 0.6
"""The least share of the limited clause's content words that the claim repeats: a claim that says something else of the
same matter leaves out no condition of this clause."""
_MAIN_BREAKS = word_set("but whereas although though however")


def _main_clause(words: Words, condition: Condition) -> set[str]:
    """The content stems of the clause that a condition limits: up to "but" before it, or what follows it."""
    lexemes = words.lexemes
    first = condition.first
    while first and lexemes[first - 1].fold not in _MAIN_BREAKS:
        first -= 1
    main = {w.stem for w in lexemes[first : condition.first] if w.weight}
    return main or {w.stem for w in lexemes[condition.last :] if w.weight}


def _conditions(claim: Claim, index: ExactIndex, side: _Side) -> Iterator[ExactFinding]:
    ours = find_conditions(claim.text, claim.words) if side.conditions else ()
    for condition in side.conditions:
        own = {w.stem for w in side.words.lexemes[condition.first + 1 : condition.last] if w.weight}
        own -= {"to", "that", "as", "if"}
        if ours or not own:
            continue
        kept = len([s for s in own if s in claim.weights]) / len(own)
        if kept > _MOST_CONDITION_KEPT:
            continue
        main = _main_clause(side.words, condition)
        if len(main & set(claim.weights)) < _LEAST_MAIN * len(main):
            continue
        confidence = _strength(_recall_without(claim, side.candidate, set()), condition.strength)
        if confidence < _LEAST_CONFIDENCE:
            continue
        place = (side.words.starts[condition.first], side.words.ends[condition.last - 1])
        yield _finding(
            claim, index, side, "condition.dropped", (0, len(claim.text)), place, confidence,
            "the claim leaves this condition out", contradicts=False,
        )  # fmt: skip
