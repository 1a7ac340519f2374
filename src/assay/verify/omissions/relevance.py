"""Whether any passage mentions what was asked."""

import re
from collections.abc import Iterable
from typing import Final

from assay.schema import Issue
from assay.text.lexicon import SAYING, find_words
from assay.text.rewording import question_parts

IRRELEVANT: Final = "evidence.irrelevant"
"""The code of the issue that no passage mentions what was asked."""
_STEM: Final = 4
"""Letters from which words that begin alike count as one: "decide" and "decision"."""
_CODE: Final = re.compile(r"[^\W\d_]{1,4}[-_]?(\d{1,4})")
_LEAST: Final = 2
"""Content words that a question has to have for its words to tell what it is about: "And for children?" does not."""


_OF_TEXTS: Final = frozenset(
    word.stem
    for word in find_words(
        "article document passage page text profile report review reviewer summary excerpt source context "
        + " ".join(sorted(SAYING))
    ).lexemes
)
"""Stems of words for a text and for what it does: "What does the article report?" may be asked of any."""


def find_irrelevant(question: str | None, evidence: Iterable[str], output: str) -> Issue | None:
    """The issue that an output answers another question than the one asked, from evidence on something else.

    It is raised where no content word of the question is in the evidence or in the output, and the output shares
    words with the evidence: then all that could be supported is beside the point. Passages in other words than the
    question's are usual, and so are answers; both together are rare. Of 2,145 questions that people and models had
    answered, 32 meet it, nearly all of them beside passages that a search had brought up by mistake; with the question
    of another row in its place, 64% of 1,408 do. Requests without a question mark ("Summarise the minutes.") name no
    subject that has to be found again, and are left alone, as are questions in another script or language than the
    evidence, whose answers share no word with it.

    Args:
        question: what was asked, if known.
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
    asked = _content(question) - _OF_TEXTS
    if len(asked) < _LEAST:
        return None
    stated = frozenset().union(*map(_content, evidence))
    said = _content(output)
    if not stated & said or _meet(asked, stated) or _meet(asked, said):
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


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    if not some.isdisjoint(others):
        return True
    numbers = {word for word in some if word.isdigit()}
    if numbers and any(match[1] in numbers for word in others if (match := _CODE.fullmatch(word))):
        return True  # "greenhouse 3" in a log of "GH3"
    beginnings = {word[:_STEM] for word in others if len(word) >= _STEM}
    return any(len(word) >= _STEM and word[:_STEM] in beginnings for word in some)


def untold_parts(question: str | None, evidence: Iterable[str], output: str) -> tuple[str, ...]:
    """The things that a question asks about beside others and that neither the evidence nor the output has a word of.

    Args:
        question: what was asked, if known.
        evidence: the texts of all passages, titles included.
        output: the answer; what it mentions itself, if only to say that nothing is known, needs no telling.

    >>> untold_parts("How long is the leave of partners and of mothers?", ["Partners get two weeks."], "Two weeks.")
    ('mothers',)
    >>> untold_parts("How long is the leave of partners and of mothers?", ["Nobody gets leave."], "None.")
    ()
    """
    pairs = question_parts(question) if question and "?" in question else []
    if not pairs:
        return ()
    stated = frozenset().union(*map(_content, evidence))
    said = _content(output)
    found = []
    for pair in pairs:
        for part, other in (pair, pair[::-1]):
            own = _content(part) - _content(other)
            if own and _meet(_content(other), stated) and not _meet(own, stated | said):
                found.append(part)
    return tuple(dict.fromkeys(found))
