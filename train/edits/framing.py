"""Phrases that models put around an answer. They are put around true and wrong claims alike, so they carry no label."""

from __future__ import annotations

import random

from train.edits.document import Document, parse
from train.edits.kinds import Edit

BEFORE_CLAUSE = (
    "According to the passage, ",
    "According to the document, ",
    "According to the provided text, ",
    "According to the context, ",
    "According to the article, ",
    "According to the information provided, ",
    "Based on the provided text, ",
    "Based on the passage, ",
    "Based on the given passages, ",
    "Based on the information provided, ",
    "Based on the context, ",
    "The document states that ",
    "The passage states that ",
    "The text says that ",
    "The article mentions that ",
    "The text notes that ",
    "The passage explains that ",
    "The source reports that ",
    "Yes, ",
    "Yes, ",
    "In short, ",
    "As stated in the text, ",
    "As mentioned in passage 1, ",
    "From the passage, it is clear that ",
    "It is stated that ",
    "The provided context indicates that ",
    "In the passage, it is mentioned that ",
    "To answer your question, ",
    "Specifically, ",
)
BEFORE_SENTENCE = (
    "Answer: ",
    "Yes. ",
    "Sure! ",
    "Here is what the passage says: ",
    "The answer is as follows: ",
    "- ",
    "1. ",
    "Summary: ",
)
_LOWER_FIRST = frozenset(
    """a an the in on at by for from with after before during since until while when as although because if
    unless both most many some several all each every no one two three four five six seven eight nine ten
    more only about under over between among through despite this these those there according following along
    its his her their such other another people members employees students customers researchers scientists
    police officials""".split()  # noqa: SIM905
)


def _lowered(text: str, document: Document) -> str | None:
    """The text with its first word in lower case unless it is a name; nothing where that is unclear."""
    word = text.split(" ", 1)[0].strip(",.'")
    if word.lower() in _LOWER_FIRST and word != "I":
        return text[0].lower() + text[1:]
    names = parse(text).names
    if names and names[0].start == 0 and names[0].sure:
        return text
    if word.isupper() or any(c.isdigit() for c in word) or any(n.text.startswith(word) for _, n in document.names):
        return text
    if word.lower() in document.words and f" {word.lower()}" in document.text:
        return text[0].lower() + text[1:]
    return None


def framed(claim: str, document: Document, prefix: str) -> str | None:
    """The claim behind a phrase, or nothing where it is unclear whether its first word keeps its capital."""
    if prefix in BEFORE_SENTENCE:
        return prefix + claim
    lowered = _lowered(claim, document)
    return None if lowered is None else prefix + lowered


def draw_frame(rng: random.Random, share: float = 0.3) -> str:
    """A phrase, or an empty one."""
    if rng.random() >= share:
        return ""
    return rng.choice(BEFORE_CLAUSE) if rng.random() < 0.85 else rng.choice(BEFORE_SENTENCE)


def frame_edit(edit: Edit, original: str, document: Document, prefix: str) -> tuple[Edit, str]:
    """The edit and its unedited twin behind the same phrase; both stay bare where one of them cannot take it."""
    if not prefix:
        return edit, original
    ours, theirs = framed(edit.claim, document, prefix), framed(original, document, prefix)
    if ours is None or theirs is None:
        return edit, original
    return edit.within(prefix, ours), theirs
