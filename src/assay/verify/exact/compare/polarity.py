"""Compares negation, antonyms, direction and conditions of a claim with the evidence sentences nearest to it."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from assay.text.lexicon import (
    Condition,
    Negation,
    Words,
    find_conditions,
    opposites,
    word_set,
)
from assay.verify.exact.alignment import LEAST_ALIGNED, align, has_other_subject, stem_ranges
from assay.verify.exact.compare.antonyms import find_opposites
from assay.verify.exact.compare.polarity_evidence import (
    LEAST_CONFIDENCE,
    Side,
    confidence_of,
    difference_finding,
    negated_stems,
    place_of,
    recall_without,
    side_of,
)
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex, content_of, leading_stems
from assay.verify.exact.mention_roles import claim_negations
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.surroundings import clause

_LOOKED_AT = 3
_LEAST_RECALL = 0.3
_NEGATION = 0.9
_MOST_CONDITION_KEPT = 0.34
_AS_GOOD = 0.1
"""A sentence whose recall is lower by no more than this fits the claim as well."""

_PARAPHRASED, _SAME_ORDER = 0.7, 0.5
"""The highest confidence where a claim does not repeat a sentence, and the share of word pairs from which it does."""
_DENIED_TOO = 0.67
"""The weight share of the words in the scope of a negation that the other text has to have."""


def compare_polarity(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], bool, bool]:
    """Findings about polarity, whether the claim is negated, and whether the best sentence differs in being negated."""
    negations = claim_negations(claim)
    sides = [side_of(index, c) for c in claim.candidates[:_LOOKED_AT] if c.wide >= _LEAST_RECALL]
    findings: list[ExactFinding] = []
    against = frozenset().union(*[opposites(w.stem) for w in claim.words.lexemes]) if sides else frozenset()
    for side in sides:
        if negations or side.negations:
            findings.extend(_negation(claim, index, negations, side))
        if not against.isdisjoint(side.candidate.stems):
            findings.extend(find_opposites(claim, index, negations, side))
    findings = [f for f in findings if not _is_agreed_elsewhere(claim, negations, f, sides)]
    if sides:
        findings.extend(_conditions(claim, index, sides[0]))
    differs = bool(sides) and bool(negations) != bool(sides[0].negations)
    return _strongest(findings), bool(negations), differs


def _strongest(findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """The finding with the highest confidence for each code and place."""
    best: dict[tuple[str, int, int], ExactFinding] = {}
    for finding in findings:
        key = (finding.code, finding.claim_start, finding.claim_end)
        if key not in best or finding.confidence > best[key].confidence:
            best[key] = finding
    return list(best.values())


def _denied_words(words: Words, negations: Sequence[Negation]) -> dict[str, int]:
    """The stem of the first word in the scope of each negation, with the index of the negating word."""
    return {words.lexemes[n.scope[0]].stem: n.cue for n in negations if n.scope}


def _repeats(claim: Claim, index: ExactIndex, side: Side) -> bool:
    """Whether a claim has the words of a sentence in their order, so that a negation is the only change."""
    pairs = frozenset(pairwise(content_of(claim.words.lexemes)))
    shared = pairs & index.content(side.candidate.sentence).pairs
    return bool(pairs) and len(shared) >= _SAME_ORDER * len(pairs)


def _is_mentioned(words: Words, negations: Sequence[Negation], cue: int, known: AbstractSet[str]) -> bool:
    """Whether the other text mentions what a negation denies: most of the words in its scope.

    "The test was stopped because the funds ended, not because the cell failed" says nothing about "the cell lost a
    fifth".
    """
    scope = next((n.scope for n in negations if n.cue == cue), ())
    weights = {words.lexemes[i].stem: words.lexemes[i].weight for i in scope}
    return sum(w for stem, w in weights.items() if stem in known) >= _DENIED_TOO * sum(weights.values())


def _negation(claim: Claim, index: ExactIndex, negations: Sequence[Negation], side: Side) -> Iterator[ExactFinding]:
    """Findings that a sentence affirms what the claim denies, or the other way round."""
    ours, theirs = _denied_words(claim.words, negations), _denied_words(side.words, side.negations)
    negated = negated_stems(claim.words, negations)
    recall = recall_without(claim, side.candidate, set())
    elision = _find_elision(side)
    own = {w.stem for w in claim.words.lexemes}
    most_confidence = _NEGATION if _repeats(claim, index, side) else _PARAPHRASED
    confidence = confidence_of(recall, min(most_confidence, _most_confidence(claim, side, negations)))
    if confidence < LEAST_CONFIDENCE:
        return
    if elision is not None and elision.subject & set(claim.weights):
        shared = sorted(elision.predicate & set(claim.weights) & own)
        if not negations and shared:
            place = (side.words.starts[elision.first], side.words.ends[elision.cue])
            yield difference_finding(
                claim, index, side, "polarity.negation", place_of(claim.words, shared[0]), place, confidence, "negated"
            )
        return
    twice = _affirmed_stems(claim.words, negations)
    known = side.candidate.stems | side.candidate.heading | side.candidate.around
    for stem, cue in ours.items():
        if not _is_mentioned(claim.words, negations, cue, known):
            continue
        if _is_contrast(claim, side, cue) or _is_of_other_part(claim, index, side, cue):
            continue
        if stem not in side.candidate.stems or stem in twice:
            continue
        affirmed_at = _denied(claim, index, side, cue, stem)
        if affirmed_at is not None:
            span = (claim.words.starts[cue], _end_of(claim.words, stem, cue))
            yield difference_finding(
                claim, index, side, "polarity.negation", span, affirmed_at, confidence, "without the negation"
            )
    for stem, cue in theirs.items():
        if not _is_mentioned(side.words, side.negations, cue, own):
            continue
        if stem in claim.weights and stem in own and stem not in negated and not ours:
            place = (side.words.starts[cue], _end_of(side.words, stem, cue))
            found = align(claim, index, place_of(claim.words, stem), side.candidate, place)
            if found.share < LEAST_ALIGNED or has_other_subject(claim, index, side.candidate, found):
                continue
            yield difference_finding(
                claim, index, side, "polarity.negation", place_of(claim.words, stem), place, confidence, "negated"
            )


def _affirms(index: ExactIndex, side: Side, place: tuple[int, int]) -> bool:
    """Whether the clause around a word of the sentence has no negation, and the word is no key of nothing."""
    sentence = index.sentences[side.candidate.sentence]
    passage = index.passages[sentence.passage]
    low, high = clause(passage.text, passage.words, *place, sentence.first, sentence.last)
    if _EMPTY.match(passage.text, place[1]):
        return False
    return not any(low - 1 <= sentence.first + one.cue < high for one in side.negations)


def _denied(claim: Claim, index: ExactIndex, side: Side, cue: int, stem: str) -> tuple[int, int] | None:
    """The place at which the sentence affirms of the same subject what the claim denies; none where it does not.

    "Not before it is paid" sets a limit, and "without its captain" denies only that it has one. Where the clause that
    fits the claim best is itself negated, the two agree.
    """
    lexemes = claim.words.lexemes
    following = frozenset([w.fold for w in lexemes[cue + 1 : cue + 1 + _LIMIT_REACH]])
    if following & _SETS_LIMIT and not following & _SETS_LIMIT <= side.folds:
        return None
    if lexemes[cue].fold == "without" and not any(_is_had(side.words, at, stem) for at in range(len(side.words))):
        return None
    ours = claim.words.starts[cue], _end_of(claim.words, stem, cue)
    aligned = [
        (align(claim, index, ours, side.candidate, at), _affirms(index, side, at), at)
        for at in stem_ranges(index, side.candidate.sentence, stem)
    ]
    if not aligned:
        return None
    found, affirms, place = max(aligned, key=lambda one: (one[0].share, not one[1]))
    denied_too = found.missing & negated_stems(side.words, side.negations)  # "water but not electricity"
    if not affirms or denied_too or has_other_subject(claim, index, side.candidate, found):
        return None
    unshared = leading_stems(claim.words.lexemes) & found.missing
    if unshared and unshared <= side.candidate.stems:
        return None  # "export was added; import is planned" says nothing against "import has not been added"
    return place if found.share >= (_SURELY_ALIGNED if side.negations else LEAST_ALIGNED) else None


def _is_had(words: Words, at: int, stem: str) -> bool:
    """Whether the word at an index has the stem and follows a word for having it: "with", "includes"."""
    before = words.lexemes[max(0, at - _REACH) : at]
    return words.lexemes[at].stem == stem and any(w.fold in _HAVING for w in before)


@dataclass(frozen=True, slots=True)
class _Elision:
    """A negation that leaves its predicate out: "the laptop is covered, but batteries are not"."""

    subject: frozenset[str]
    predicate: frozenset[str]
    """Content stems before the clause of the negation, which it negates for its own subject."""
    first: int
    """The first word of the clause of the negation."""
    cue: int
    """The negating word."""


_ELISION_BREAKS = word_set("but and while whereas although though")
_MOST_DATES = 16
_LIMITING = word_set("only except unless solely exclusively just other otherwise until till")
_COMPARING = word_set("more less than fewer as better worse")
_AGAINST_LIMIT, _AGAINST_COMPARISON = 0.45, 0.7
_REACH = 5
"""How many words after "not" are searched for "the least", and before a word for one that means having it."""
_PARTS = frozenset({"count", "share"})
_HAVING = word_set("with have has had having include includes included including use uses used using contain contains")
_SETS_LIMIT = word_set("before until till unless except beyond more without")
"""Words that make a negation a limit: what is not the case before Monday may be on Monday."""
_LIMIT_REACH = 8
_EMPTY = re.compile(
    r"[\w ]{0,24}[\"']?\s{0,2}[:=|]\s{0,2}(?:\[\s*\]|\{\s*\}|\"\"|''|(?:null|none|nil|false|n/a|0)\b(?![.,]\d))",
    re.IGNORECASE,
)
"""The empty value after a key: `"passengers": []`."""
_SURELY_ALIGNED = 0.6
"""The alignment that a clause needs where another one of its sentence is negated."""


def _find_elision(side: Side) -> _Elision | None:
    """The first negation of a sentence that leaves its predicate out; none without one."""
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
            return _Elision(subject, predicate, first, negation.cue)
    return None


def _affirmed_stems(words: Words, negations: Sequence[Negation]) -> set[str]:
    """The stems that a text has outside of negations: "exposing one, never exposing the other"."""
    negated_indices = {i for n in negations for i in n.scope}
    return {w.stem for i, w in enumerate(words.lexemes) if i not in negated_indices}


def _most_confidence(claim: Claim, side: Side, negations: Sequence[Negation]) -> float:
    """The highest confidence for a negation on one side only.

    "Only with consent" means "not without consent", two negations may cancel each other, and a negated comparison
    excludes little.
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


def _is_contrast(claim: Claim, side: Side, cue: int) -> bool:
    """Whether a "not" of the claim contrasts two things and denies no predicate: "Ann, not Bo, won", "not the least".

    The name after "not" is contrasted with the one before it, or with the one after "but"; the words alone do not show
    which of the two the sentence is about. Not the least successful may be the most successful.
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


def _is_of_other_part(claim: Claim, index: ExactIndex, side: Side, cue: int) -> bool:
    """Whether the claim denies of one number of things what the sentence says of another: 30 were not, 90 were.

    The two may be parts of one whole. The comparison of numbers decides whether they agree.
    """
    at = claim.words.starts[cue]
    ours = [q for q in claim.quantities if q.end <= at and q.exact and q.dimension in _PARTS]
    if not ours:
        return False
    theirs = [q for q in index.quantities.get(side.candidate.sentence, ())[:_MOST_DATES] if q.dimension in _PARTS]
    return bool(theirs) and all(q.dimension != o.dimension or q.low != o.low for q in ours for o in theirs)


def _is_agreed_elsewhere(
    claim: Claim, negations: Sequence[Negation], finding: ExactFinding, sides: Sequence[Side]
) -> bool:
    """Whether another sentence that fits the claim as well has the same words with the claim's polarity."""
    if finding.code != "polarity.negation" or finding.evidence is None or not sides:
        return False
    own = next((s for s in sides if _is_of_side(s, finding)), None)
    if own is None:
        return False
    ours = negated_stems(claim.words, negations)
    marked = {
        w.stem
        for w, start in zip(claim.words.lexemes, claim.words.starts, strict=True)
        if w.weight and finding.claim_start <= start < finding.claim_end
    }
    for side in sides:
        if side is own or side.candidate.recall < own.candidate.recall - _AS_GOOD:
            continue
        theirs = negated_stems(side.words, side.negations)
        if any(s in side.candidate.stems and (s in ours) == (s in theirs) for s in marked):
            return True
    return False


def _is_of_side(side: Side, finding: ExactFinding) -> bool:
    """Whether the evidence of a finding is in a sentence."""
    return (
        bool(side.words.starts)
        and finding.evidence is not None
        and (
            side.words.starts[0] <= finding.evidence.start < side.words.ends[-1]
            and side.evidence_id == finding.evidence.evidence_id
        )
    )


def _end_of(words: Words, stem: str, cue: int) -> int:
    """The last character of the first word with a stem from a negation on."""
    at = next((i for i in range(cue, len(words)) if words.lexemes[i].stem == stem), cue)
    return words.ends[at]


_LEAST_MAIN = 0.6
"""The share of the limited clause's content words that a claim has to repeat: one that says something else about the
matter leaves out no condition of this clause."""
_MAIN_BREAKS = word_set("but whereas although though however")


def _main_clause(words: Words, condition: Condition) -> set[str]:
    """The content stems of the clause that a condition limits: up to "but" before it, or what follows it."""
    lexemes = words.lexemes
    first = condition.first
    while first and lexemes[first - 1].fold not in _MAIN_BREAKS:
        first -= 1
    main = {w.stem for w in lexemes[first : condition.first] if w.weight}
    return main or {w.stem for w in lexemes[condition.last :] if w.weight}


def _conditions(claim: Claim, index: ExactIndex, side: Side) -> Iterator[ExactFinding]:
    """Findings that the claim leaves out a condition of the clause that it repeats."""
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
        confidence = confidence_of(recall_without(claim, side.candidate, set()), condition.strength)
        if confidence < LEAST_CONFIDENCE:
            continue
        place = (side.words.starts[condition.first], side.words.ends[condition.last - 1])
        yield difference_finding(
            claim,
            index,
            side,
            "condition.dropped",
            (0, len(claim.text)),
            place,
            confidence,
            "the claim leaves this condition out",
            contradicts=False,
        )
