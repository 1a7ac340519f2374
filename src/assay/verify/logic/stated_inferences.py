"""Finds the inferences that a text states: the conclusion, its premises and the word that signals it.

Two forms are read: a sentence that begins with a word of conclusion (therefore, thus, so, it follows that), whose
premises are the sentences before it; and clauses of one sentence: "P, so Q", "P; therefore Q", "because P, Q", "Q
because P".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Span
from assay.text.sentences import Sentence, split_sentences

_LEAD: Final = re.compile(
    r"(?:[-*•>#\s]*(?:step\s\d{1,2}[.:)]\s*|\d{1,2}[.)]\s+)?)"
    r"(?P<cue>therefore|thus|hence|consequently|accordingly|so|as a result|it follows(?: from this)? that|"
    r"from this (?:it )?follows(?: that)?|this (?:means|implies|shows|proves) that|that means that|this means|"
    r"we (?:can )?(?:conclude|infer) that|which means that|ergo|in conclusion)\b(?P<comma>,?)\s+",
    re.IGNORECASE,
)
_COMMA_ONLY: Final = frozenset({"so", "in conclusion"})
"""Words that signal a conclusion only with a comma after them, unlike "So far" and "So many"."""
_MIDDLE: Final = re.compile(
    r"(?:[,;]\s+(?:and\s)?(?P<cue>therefore|thus|hence|consequently|so)|"
    r",?\s(?P<means>which means(?: that)?|which implies that|from which it follows that))\b,?\s+",
    re.IGNORECASE,
)
_BECAUSE_FIRST: Final = re.compile(r"(?P<cue>because|since|given that|as a result of the fact that)\s", re.IGNORECASE)
_BECAUSE: Final = re.compile(r",?\s(?P<cue>because|given that|on the grounds that)\s", re.IGNORECASE)
_SINCE_WHEN: Final = re.compile(
    r"since\s(?:then|when|\w+\s\d{4}|\d|last|the\s(?:\d|early|late|start|beginning|end))", re.IGNORECASE
)
_NOT_A_REASON: Final = re.compile(r"\b(?:not|simply|just|only|partly|mainly|largely)$", re.IGNORECASE)
_SHORTEST: Final = 8
"""The fewest characters of a premise or a conclusion."""
_QUESTION: Final = "?"
_SO_THAT: Final = frozenset({"that", "as", "far", "long", "much", "many", "called", "to"})


@dataclass(frozen=True, slots=True)
class Inference:
    """One inference of the text."""

    conclusion: Span
    premises: tuple[Span, ...]
    cue: str
    within: bool
    """Whether premise and conclusion are in one sentence."""


def find_inferences(text: str, premises: int = 4, sentences: Sequence[Sentence] | None = None) -> list[Inference]:
    """The inferences of a text in order.

    Args:
        text: the text.
        premises: how many sentences before a conclusion are its premises, back to the beginning of the paragraph.
        sentences: the sentences of the text, if it is already split.

    >>> text = "All staff must badge in. Ada is staff. Therefore, Ada must badge in."
    >>> found = find_inferences(text)[0]
    >>> text[found.conclusion.start : found.conclusion.end], len(found.premises), found.cue
    ('Ada must badge in.', 2, 'therefore')
    """
    all_sentences = list(split_sentences(text) if sentences is None else sentences)
    inferences: list[Inference] = []
    for index, sentence in enumerate(all_sentences):
        if sentence.block in {"code", "table_row", "heading"} or text[sentence.end - 1 : sentence.end] == _QUESTION:
            continue
        words = text[sentence.start : sentence.end]
        lead = _LEAD.match(words)
        if lead is not None and _concludes(lead, words):
            premises_before = _premises_before(text, all_sentences, index, premises)
            if premises_before:
                span = Span(start=sentence.start + lead.end(), end=sentence.end)
                inferences.append(Inference(span, premises_before, lead.group("cue").lower(), within=False))
                continue
        inference = _inference_within(sentence, words)
        if inference is not None:
            inferences.append(inference)
    return inferences


def _concludes(lead: re.Match[str], words: str) -> bool:
    if len(words) - lead.end() < _SHORTEST:
        return False
    if lead.group("cue").lower() in _COMMA_ONLY:
        return lead.group("comma") == ","
    return True


def _premises_before(text: str, split: Sequence[Sentence], number: int, most: int) -> tuple[Span, ...]:
    """The sentences before one, back to an empty line, without questions and headings."""
    kept: list[Span] = []
    index = number
    while index > 0 and len(kept) < most:
        gap = text[split[index - 1].end : split[index].start]
        if gap.count("\n") > 1:
            break
        index -= 1
        sentence = split[index]
        if sentence.block in {"code", "heading"} or text[sentence.end - 1] == _QUESTION:
            continue
        kept.append(Span(start=sentence.start, end=sentence.end))
    return tuple(reversed(kept))


def _inference_within(sentence: Sentence, words: str) -> Inference | None:
    """An inference between the clauses of one sentence."""
    first = _BECAUSE_FIRST.match(words)
    if first is not None and _SINCE_WHEN.match(words) is None:
        comma = words.find(", ", first.end())
        if comma > 0:
            return _inference(sentence, (comma + 2, len(words)), (first.end(), comma), first.group("cue"))
        return None
    middle = _MIDDLE.search(words)
    if middle is not None:
        cue = middle.group("cue") or middle.group("means")
        follower = words[middle.end() :].split(maxsplit=1)[:1]
        if cue.lower() != "so" or (follower and follower[0].lower().strip(",") not in _SO_THAT):
            return _inference(sentence, (middle.end(), len(words)), (0, middle.start()), cue)
    reason = _BECAUSE.search(words)
    if (
        reason is not None
        and _NOT_A_REASON.search(words[: reason.start()]) is None
        and words[reason.end() :][:3] != "of "
    ):
        return _inference(sentence, (0, reason.start()), (reason.end(), len(words)), reason.group("cue"))
    return None


def _inference(sentence: Sentence, conclusion: tuple[int, int], premise: tuple[int, int], cue: str) -> Inference | None:
    if conclusion[1] - conclusion[0] < _SHORTEST or premise[1] - premise[0] < _SHORTEST:
        return None
    begin = sentence.start
    return Inference(
        Span(start=begin + conclusion[0], end=begin + conclusion[1]),
        (Span(start=begin + premise[0], end=begin + premise[1]),),
        cue.lower(),
        within=True,
    )
