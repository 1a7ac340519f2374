"""Finds qualifications of the evidence that an answer omits (docs/concepts.md#omissions), without a model.

1. The answer is based on a sentence if one of its claims makes the statement of that sentence, without its
   qualifications.
2. The qualifications of that sentence are candidates, as are those of the next sentences on the same subject.
3. A qualification is omitted if the answer has few of its words and none of its numbers.

Qualifications of claims that fail anyway do not count.
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

BASIS_SHARE: Final = 0.6
"""A claim is based on a sentence if it has at least this share of the sentence's words, qualifications not counted."""
FEWEST_SHARED: Final = 2
"""The fewest words that a claim shares with a sentence that it is based on, or two sentences on the same subject."""
MOST_KEPT: Final = 0.34
"""A qualification is omitted if the answer has at most this share of its words."""
LEAST_CONFIDENCE: Final = 0.4
"""Omissions with less confidence are not reported."""
FOLLOWING_SENTENCES: Final = 2
"""How many sentences after one that an answer is based on may continue its subject."""
FOLLOWING_WEIGHT: Final = 0.8
"""The factor on the confidence of a qualification in a following sentence."""
MOST_OMISSIONS: Final = 12
"""The most omissions that are reported for one answer."""
_CONTINUING_WORDS: Final = word_set(
    "this these that those it they such however but only except exceptions exception otherwise there if unless both"
)
"""First words of a sentence that continues the subject of the one before."""
_OBLIGATION: Final = re.compile(r"\b(?:must|needs?|requires?|may not|can ?not|shall)\b", re.IGNORECASE)
"""Words of obligation: the next sentence with one of them continues the subject if it shares a single word."""
_CUES: Final = stems(
    "subject to only if when with after unless provided that as long on condition except excluding other than up at"
    " most least no more not less exceed maximum minimum of limited capped within by before until later latest the a"
    " an must be requires require requiring need needs without does do apply is are prior case pending may can shall"
)
"""The words that introduce a qualification; only the words after them are compared."""
_PREFIX: Final = 5
"""Words with the same first five letters count as one: approval, approves."""
_KIND_NAMES: Final = {
    "condition": "a condition",
    "exception": "an exception",
    "deadline": "a deadline",
    "limit": "a limit",
}


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """A claim of the answer."""

    text: str
    """The claim; where it is only a fragment that answers the question, together with the question."""
    span: Span
    """Where it is in the answer."""


def find_omissions(
    claims: Sequence[AnswerClaim], answer: str, question: str | None, index: ExactIndex
) -> tuple[Omission, ...]:
    """The qualifications of the evidence that an answer omits, the most confident first.

    Args:
        claims: the claims of the answer that do not fail.
        answer: the whole text of the answer.
        question: the question that it answers.
        index: the evidence.

    >>> from assay.schema import Evidence
    >>> from assay.verify.exact import index_evidence
    >>> policy = Evidence(id="p", text="Remote work is permitted subject to manager approval.")
    >>> claim = AnswerClaim("Remote work is permitted.", Span(start=0, end=25))
    >>> found = find_omissions([claim], claim.text, "May I work remotely?", index_evidence([policy]))
    >>> [(one.kind, one.evidence.text) for one in found]
    [('condition', 'subject to manager approval')]
    """
    answer_content = _content(answer)
    question_stems = stems(question or "")
    best: dict[tuple[int, int, int], Omission] = {}
    for claim in claims:
        for number, share in _basis_sentences(claim, index):
            for other, weight in _subject_sentences(number, share, claim, question_stems, index):
                for qualification in _omitted(other, answer_content, _main_content(number, index), index):
                    key = index.sentences[other].passage, qualification.start, qualification.end
                    omission = _make_omission(qualification, other, weight, claim, index)
                    if omission.confidence >= LEAST_CONFIDENCE and (
                        key not in best or best[key].confidence < omission.confidence
                    ):
                        best[key] = omission
    ordered = sorted(best.values(), key=lambda o: (-o.confidence, o.evidence.evidence_id, o.evidence.start))
    return tuple(_without_repeats(ordered))[:MOST_OMISSIONS]


def _basis_sentences(claim: AnswerClaim, index: ExactIndex) -> Iterator[tuple[int, float]]:
    """The sentences that a claim is based on, each with the share of its words that the claim has."""
    claim_content = _content(claim.text)
    words = {w.stem for w in find_words(claim.text).lexemes if w.weight}
    weights = {stem: index.weight(stem) for stem in words}
    for candidate in index.candidates(weights):
        main = _main_content(candidate.sentence, index)
        shared = len(main & claim_content)
        if shared >= min(FEWEST_SHARED, len(main)) and shared and shared / len(main) >= BASIS_SHARE:
            yield candidate.sentence, shared / len(main)


def _main_content(number: int, index: ExactIndex) -> set[str]:
    """The content of a sentence without its qualifications."""
    sentence = index.sentences[number]
    text = index.passages[sentence.passage].text
    pieces, position = [], sentence.start
    for qualification in _qualifications(number, index):
        pieces.append(text[position : qualification.start])
        position = max(position, qualification.end)
    return _content(" ".join((*pieces, text[position : sentence.end])))


def _qualifications(number: int, index: ExactIndex) -> tuple[Qualification, ...]:
    sentence = index.sentences[number]
    words = index.reading(number).words
    return find_qualifications(index.passages[sentence.passage].text, words, sentence.start, sentence.end)


def _subject_sentences(
    number: int, share: float, claim: AnswerClaim, question_stems: set[str], index: ExactIndex
) -> Iterator[tuple[int, float]]:
    """The sentence and those after it that continue its subject, each with its weight."""
    yield number, share
    passage = index.passages[index.sentences[number].passage]
    subject_stems = index.stems[number] | stems(claim.text)
    for following in range(number + 1, min(passage.last, number + 1 + FOLLOWING_SENTENCES)):
        sentence = index.sentences[following]
        first = passage.words.lexemes[sentence.first].fold if sentence.last > sentence.first else ""
        shared = index.stems[following] & (subject_stems | question_stems)
        obliges = following == number + 1 and shared and _OBLIGATION.search(passage.text, sentence.start, sentence.end)
        if first in _CONTINUING_WORDS or len(shared) >= FEWEST_SHARED or obliges:
            yield following, share * FOLLOWING_WEIGHT
        else:
            return


def _omitted(number: int, answer_content: set[str], statement: set[str], index: ExactIndex) -> Iterator[Qualification]:
    """The qualifications of a sentence that the answer lacks; words that the statement itself has do not count."""
    sentence = index.sentences[number]
    text = index.passages[sentence.passage].text
    for qualification in _qualifications(number, index):
        own = _content(text[qualification.start : qualification.end])
        if not _is_contained(
            own - statement or own, answer_content, only_number=qualification.kind in ("deadline", "limit")
        ):
            yield qualification


def contains_qualification(text: str, qualification: str) -> bool:
    """Whether a text contains a qualification, judged by words: its number where it has one, else most of its words.

    >>> contains_qualification("if your manager approves", "subject to manager approval")
    True
    >>> contains_qualification("if you like", "subject to manager approval")
    False
    """
    return _is_contained(_content(qualification), _content(text), only_number=True)


def shares_words(text: str, qualification: str) -> bool:
    """Whether a text has a number of a qualification or, where that has none, any of its words."""
    own, text_content = _content(qualification), _content(text)
    numbers = {word for word in own if word[0].isdigit()}
    return bool(numbers & text_content) if numbers else bool(own & text_content)


def _is_contained(own: set[str], text_content: set[str], *, only_number: bool) -> bool:
    """Whether a text has a number of a qualification or, unless only numbers count, most of its words (`MOST_KEPT`)."""
    numbers = {word for word in own if word[0].isdigit()}
    words = own - numbers
    if numbers & text_content or not own:
        return True
    return not (only_number and numbers) and bool(words) and len(words & text_content) / len(words) > MOST_KEPT


def _content(text: str) -> set[str]:
    """The content of a text: prefixes of its words, without those that introduce a qualification, and its numbers as
    digits, however they are written."""
    words = find_words(text)
    content = {word.stem[:_PREFIX] for word in words.lexemes if word.weight and word.stem not in _CUES}
    content |= {word.fold for word in words.lexemes if word.digit}
    return content | {_digits(one.value) for one in find_quantities(text, words)}


def _digits(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _make_omission(
    qualification: Qualification, number: int, weight: float, claim: AnswerClaim, index: ExactIndex
) -> Omission:
    sentence = index.sentences[number]
    confidence = min(1.0, qualification.strength * (0.5 + 0.5 * weight))
    words_span = index.span(number, qualification.start, qualification.end, "related", confidence)
    sentence_span = index.span(number, sentence.start, sentence.end, "related", confidence)
    return Omission(
        kind=qualification.kind,
        message=omission_message(qualification.kind, words_span),
        evidence=words_span,
        statement=sentence_span,
        span=claim.span,
        confidence=round(confidence, 6),
        found_by="rules",
    )


def omission_message(kind: str, words: EvidenceSpan) -> str:
    """The message of one omission."""
    quoted = words.text if len(words.text) <= 160 else f"{words.text[:159]}…"
    return f"The answer leaves out {_KIND_NAMES[kind]} of the evidence: “{quoted}”."


def _without_repeats(omissions: Sequence[Omission]) -> Iterator[Omission]:
    """The omissions without those whose words an earlier one has, from another source."""
    seen: set[str] = set()
    for omission in omissions:
        key = " ".join(omission.evidence.text.casefold().split())
        if key not in seen:
            seen.add(key)
            yield omission
