"""What an answer leaves out of its evidence (docs/concepts.md#omissions): the part that needs no model.

1. The sentences that the answer draws on are those whose statement, its qualifications aside, one of its claims makes.
2. Their qualifications are looked at, and those of the sentences around them that go on about the same thing.
3. A qualification is left out where the answer has little of its words and none of its numbers.

What the question does not touch does not count, nor what qualifies a claim that fails anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay.schema import EvidenceSpan, Span
from assay.schema.report_parts import Omission
from assay.text.lexicon import find_words, word_set
from assay.text.quantities import find_quantities
from assay.verify.exact.index import ExactIndex
from assay.verify.judge.quotes import stems
from assay.verify.omissions.qualifications import Qualification, find_qualifications

DRAWN_ON: Final = 0.6
"""The share of the words of a sentence, its qualifications aside, that a claim has in order to be drawn from it."""
FEWEST_SHARED: Final = 2
MOST_KEPT: Final = 0.34
"""A qualification is left out where the answer has at most this share of its words."""
LEAST_CONFIDENCE: Final = 0.4
AROUND: Final = 2
"""Sentences behind one that is drawn on that may go on about the same thing."""
FURTHER_AWAY: Final = 0.8
"""What the confidence of a qualification in another sentence is multiplied by."""
MOST: Final = 12
"""The most omissions that are reported of one answer."""
_REFERS: Final = word_set(
    "this these that those it they such however but only except exceptions exception otherwise there if unless both"
)
"""Words that begin a sentence that goes on about what was said before."""
_OBLIGES: Final = re.compile(r"\b(?:must|needs?|requires?|may not|can ?not|shall)\b", re.IGNORECASE)
"""What makes the very next sentence on one of the same things go on about them."""
_CUES: Final = stems(
    "subject to only if when with after unless provided that as long on condition except excluding other than up at"
    " most least no more not less exceed maximum minimum of limited capped within by before until later latest the a"
    " an must be requires require requiring need needs without does do apply is are prior case pending may can shall"
)
"""The words that introduce a qualification; what they introduce counts."""
_PREFIX: Final = 5
"""Letters from which on words that begin alike count as one: approval, approves."""
_NAMES: Final = {
    "condition": "a condition",
    "exception": "an exception",
    "deadline": "a deadline",
    "limit": "a limit",
}


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim of the answer."""

    text: str
    """The claim, together with the question where it is a mere fragment of an answer to it."""
    span: Span
    """Where it is in the answer."""


def find_omissions(
    claims: Sequence[Stated], answer: str, question: str | None, index: ExactIndex
) -> tuple[Omission, ...]:
    """The qualifications of the evidence that an answer leaves out, the surest first.

    Args:
        claims: those that do not fail.
        answer: all of it, whatever of it is a claim.
        question: what it answers.
        index: the evidence.

    >>> from assay.schema import Evidence
    >>> from assay.verify.exact import index_evidence
    >>> policy = Evidence(id="p", text="Remote work is permitted subject to manager approval.")
    >>> claim = Stated("Remote work is permitted.", Span(start=0, end=25))
    >>> found = find_omissions([claim], claim.text, "May I work remotely?", index_evidence([policy]))
    >>> [(one.kind, one.evidence.text) for one in found]
    [('condition', 'subject to manager approval')]
    """
    said = _plain(answer)
    asked = stems(question or "")
    best: dict[tuple[int, int, int], Omission] = {}
    for claim in claims:
        for number, share in _drawn_on(claim, index):
            for at, weight in _around(number, share, claim, asked, index):
                for one in _left_out(at, said, _main(number, index), index):
                    key = index.sentences[at].passage, one.start, one.end
                    made = _omission(one, at, weight, claim, index)
                    if made.confidence >= LEAST_CONFIDENCE and (
                        key not in best or best[key].confidence < made.confidence
                    ):
                        best[key] = made
    ordered = sorted(best.values(), key=lambda o: (-o.confidence, o.evidence.evidence_id, o.evidence.start))
    return tuple(_without_repeats(ordered))[:MOST]


def _drawn_on(claim: Stated, index: ExactIndex) -> Iterator[tuple[int, float]]:
    """The sentences that a claim is drawn from, each with the share of its statement that the claim makes."""
    wanted = _plain(claim.text)
    words = {w.stem for w in find_words(claim.text).lexemes if w.weight}
    weights = {stem: index.weight(stem) for stem in words}
    for candidate in index.candidates(weights):
        main = _main(candidate.sentence, index)
        shared = len(main & wanted)
        if shared >= min(FEWEST_SHARED, len(main)) and shared and shared / len(main) >= DRAWN_ON:
            yield candidate.sentence, shared / len(main)


def _main(number: int, index: ExactIndex) -> set[str]:
    """The words of a sentence without those of its qualifications."""
    sentence = index.sentences[number]
    text = index.passages[sentence.passage].text
    pieces, at = [], sentence.start
    for one in _qualifications(number, index):
        pieces.append(text[at : one.start])
        at = max(at, one.end)
    return _plain(" ".join((*pieces, text[at : sentence.end])))


def _qualifications(number: int, index: ExactIndex) -> tuple[Qualification, ...]:
    sentence = index.sentences[number]
    words = index.reading(number).words
    return find_qualifications(index.passages[sentence.passage].text, words, sentence.start, sentence.end)


def _around(
    number: int, share: float, claim: Stated, asked: set[str], index: ExactIndex
) -> Iterator[tuple[int, float]]:
    """The sentence itself and those behind it that go on about the same thing, each with what it counts."""
    yield number, share
    passage = index.passages[index.sentences[number].passage]
    about = index.stems[number] | stems(claim.text)
    for at in range(number + 1, min(passage.last, number + 1 + AROUND)):
        here = index.sentences[at]
        first = passage.words.lexemes[here.first].fold if here.last > here.first else ""
        shared = index.stems[at] & (about | asked)
        goes_on = at == number + 1 and shared and _OBLIGES.search(passage.text, here.start, here.end)
        if first in _REFERS or len(shared) >= FEWEST_SHARED or goes_on:
            yield at, share * FURTHER_AWAY
        else:
            return


def _left_out(number: int, said: set[str], stated: set[str], index: ExactIndex) -> Iterator[Qualification]:
    """The qualifications of a sentence that are not said; words of the statement itself tell nothing of them."""
    sentence = index.sentences[number]
    text = index.passages[sentence.passage].text
    for one in _qualifications(number, index):
        own = _plain(text[one.start : one.end])
        if not _said(own - stated or own, said, only_number=one.kind in ("deadline", "limit")):
            yield one


def says(text: str, qualification: str) -> bool:
    """Whether a text says a qualification, as far as words show it: its number where it has one, else its words.

    >>> says("if your manager approves", "subject to manager approval")
    True
    >>> says("if you like", "subject to manager approval")
    False
    """
    return _said(_plain(qualification), _plain(text), only_number=True)


def touches(text: str, qualification: str) -> bool:
    """Whether a text has any word of a qualification, and its number where it has one."""
    own, said = _plain(qualification), _plain(text)
    numbers = {word for word in own if word[0].isdigit()}
    return bool(numbers & said) if numbers else bool(own & said)


def _said(own: set[str], said: set[str], *, only_number: bool) -> bool:
    """Whether a qualification is said: by its number, or, unless that alone counts, by most of its words."""
    numbers = {word for word in own if word[0].isdigit()}
    words = own - numbers
    if numbers & said or not own:
        return True
    return not (only_number and numbers) and bool(words) and len(words & said) / len(words) > MOST_KEPT


def _plain(text: str) -> set[str]:
    """The content of a text: the beginnings of its words, without those that introduce a qualification, and its numbers
    as digits, however they are written."""
    words = find_words(text)
    found = {word.stem[:_PREFIX] for word in words.lexemes if word.weight and word.stem not in _CUES}
    found |= {word.fold for word in words.lexemes if word.digit}
    return found | {_digits(one.value) for one in find_quantities(text, words)}


def _digits(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _omission(one: Qualification, number: int, weight: float, claim: Stated, index: ExactIndex) -> Omission:
    sentence = index.sentences[number]
    confidence = min(1.0, one.strength * (0.5 + 0.5 * weight))
    words = index.span(number, one.start, one.end, "related", confidence)
    whole = index.span(number, sentence.start, sentence.end, "related", confidence)
    return Omission(
        kind=one.kind,
        message=omission_message(one.kind, words),
        evidence=words,
        statement=whole,
        span=claim.span,
        confidence=round(confidence, 6),
        found_by="rules",
    )


def omission_message(kind: str, words: EvidenceSpan) -> str:
    """The sentence for people on one omission."""
    quoted = words.text if len(words.text) <= 160 else f"{words.text[:159]}…"
    return f"The answer leaves out {_NAMES[kind]} of the evidence: “{quoted}”."


def _without_repeats(found: Sequence[Omission]) -> Iterator[Omission]:
    """The same words of several sources once."""
    seen: set[str] = set()
    for one in found:
        key = " ".join(one.evidence.text.casefold().split())
        if key not in seen:
            seen.add(key)
            yield one
