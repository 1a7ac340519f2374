"""Whether the evidence or the output mentions the subject of the question."""

import re
from collections.abc import Iterable
from typing import Final

from assay.schema import Issue
from assay.text.lexicon import SAYING, find_words
from assay.text.rewording import question_parts

IRRELEVANT: Final = "evidence.irrelevant"
"""The code of the issue that neither a passage nor the output mentions the subject of the question."""
_PREFIX: Final = 4
"""Words with the same first four letters count as one: "decide" and "decision"."""
_CODE: Final = re.compile(r"[^\W\d_]{1,4}[-_]?(\d{1,4})")
"""A short code with a number: "GH3" matches "greenhouse 3"."""
_FEWEST_WORDS: Final = 2
"""The fewest content words of a question that names its subject: "And for children?" does not."""


_TEXT_STEMS: Final = frozenset(
    word.stem
    for word in find_words(
        "article document passage page text profile report review reviewer summary excerpt source context "
        + " ".join(sorted(SAYING))
    ).lexemes
)
"""Stems of words for a text and for what it says: "What does the article report?" fits any evidence."""


def find_irrelevant(question: str | None, evidence: Iterable[str], output: str) -> Issue | None:
    """The issue that an output answers a different question than the one asked, from evidence on another subject.

    It is raised where no content word of the question is in the evidence or in the output, while the output shares
    words with the evidence: whatever is supported is then beside the point. Passages often use other words than the
    question, and so do answers; both at once is rare. Of 2,145 questions that people and models had answered, 32 meet
    the condition, nearly all of them with passages retrieved by mistake; with the question of another row, 64% of 1,408
    do. Requests without a question mark ("Summarise the minutes.") need not name a subject and are ignored, as are
    questions in a script or language other than the evidence's, whose answers share no word with it.

    Args:
        question: the question, if known.
        evidence: the texts of all passages, titles included.
        output: the answer.

    >>> found = find_irrelevant("How long is partners' leave?", ["Tungsten melts at 3422 °C."], "It melts at 3422 °C.")
    >>> found.code
    'evidence.irrelevant'
    >>> find_irrelevant("How long is partners' leave?", ["Partners may be away for two weeks."], "Two weeks.") is None
    True
    """
    if question is None or "?" not in question:
        return None
    question_stems = _content(question) - _TEXT_STEMS
    if len(question_stems) < _FEWEST_WORDS:
        return None
    evidence_stems = frozenset().union(*map(_content, evidence))
    output_stems = _content(output)
    if (
        not evidence_stems & output_stems
        or _share_words(question_stems, evidence_stems)
        or _share_words(question_stems, output_stems)
    ):
        return None
    return Issue(
        code=IRRELEVANT,
        message=(
            "Neither the passages nor the output deal with what was asked: retrieve evidence on the question, or "
            "say that there is none."
        ),
    )


def _content(text: str) -> frozenset[str]:
    """The stems of a text's content words, and its numbers."""
    return frozenset(
        word.stem for word in find_words(text).lexemes if word.weight or any(sign.isdigit() for sign in word.fold)
    )


def _share_words(first: frozenset[str], second: frozenset[str]) -> bool:
    if not first.isdisjoint(second):
        return True
    numbers = {word for word in first if word.isdigit()}
    if numbers and any(match[1] in numbers for word in second if (match := _CODE.fullmatch(word))):
        return True  # "greenhouse 3" in a log of "GH3"
    beginnings = {word[:_PREFIX] for word in second if len(word) >= _PREFIX}
    return any(len(word) >= _PREFIX and word[:_PREFIX] in beginnings for word in first)


def unmentioned_parts(question: str | None, evidence: Iterable[str], output: str) -> tuple[str, ...]:
    """The parts of a question about several things that neither the evidence nor the output mentions.

    Args:
        question: the question, if known.
        evidence: the texts of all passages, titles included.
        output: the answer; a part that it mentions, if only to say that nothing is known, does not count.

    >>> unmentioned_parts("How long is the leave of partners and of mothers?", ["Partners get two weeks."], "2 weeks.")
    ('mothers',)
    >>> unmentioned_parts("How long is the leave of partners and of mothers?", ["Nobody gets leave."], "None.")
    ()
    """
    pairs = question_parts(question) if question and "?" in question else []
    if not pairs:
        return ()
    evidence_stems = frozenset().union(*map(_content, evidence))
    output_stems = _content(output)
    unmentioned = []
    for pair in pairs:
        for part, other in (pair, pair[::-1]):
            own_stems = _content(part) - _content(other)
            if (
                own_stems
                and _share_words(_content(other), evidence_stems)
                and not _share_words(own_stems, evidence_stems | output_stems)
            ):
                unmentioned.append(part)
    return tuple(dict.fromkeys(unmentioned))
