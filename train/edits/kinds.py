"""What an edit is: a claim that differs from a true one in one recorded place."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from train.rows import Label

VOWELS = "aeiouAEIOU"
ARTICLE = re.compile(r"\b([Aa]n?) $")


@dataclass(frozen=True)
class Edit:
    """A claim made wrong in one place."""

    kind: str
    claim: str
    span: tuple[int, int]
    """What is wrong in the claim, as a character range of it; outside of it the claim is as it was."""
    label: Label = "contradicted"
    parts: tuple[tuple[int, int], ...] = ()
    """Where several places within the span are wrong and what stands between them is as it was: those places."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The wrong places of the claim, in its order."""
        return self.parts or (self.span,)

    def within(self, before: str, claim: str) -> Edit:
        """The same edit in a longer claim, where `before` stands before what was edited."""
        by = len(before)
        parts = tuple((start + by, end + by) for start, end in self.parts)
        return Edit(self.kind, claim, (self.span[0] + by, self.span[1] + by), self.label, parts)


@dataclass(frozen=True)
class Base:
    """A claim that the evidence supports."""

    text: str
    form: str
    """How it was made of the evidence: extracted, shortened, converted and so on."""
    sources: tuple[int, ...]
    """Indices of the pieces of the document that it needs."""


def replace(kind: str, text: str, start: int, end: int, new: str, label: Label = "contradicted") -> Edit:
    """The text with one range replaced; the span covers what was put there.

    An article before the range follows the new word (`an increase`, `a decrease`); the span then covers it too.
    """
    article = ARTICLE.search(text, max(0, start - 4), start)
    if article and new[:1].isalpha() and text[start : start + 1].isalpha():
        wanted = article.group(1)[0] + ("n" if new[0] in VOWELS else "")
        had_n = text[start] in VOWELS
        if (new[0] in VOWELS) != had_n and len(article.group(1)) == 1 + had_n:
            start, new = article.start(1), f"{wanted} {new}"
    return Edit(kind, text[:start] + new + text[end:], (start, start + len(new)), label)


def narrowed(edit: Edit, old: str) -> Edit:
    """The edit with a span that leaves out the words that what was there before (`old`) began or ended with, too.

    >>> claim = "It took less than an hour."
    >>> narrowed(Edit("quantifier", claim, (8, 17)), "more than").span
    (8, 12)
    """
    (start, end), claim = edit.span, edit.claim
    before, after = old.split(), claim[start:end].split()
    last = 0
    while last < min(len(before), len(after)) - 1 and before[-1 - last] == after[-1 - last]:
        last += 1
        end = start + len(claim[start:end].rstrip().removesuffix(after[-last]).rstrip())
    first = 0
    while first < min(len(before), len(after)) - 1 - last and before[first] == after[first]:
        start += len(claim[start:end]) - len(claim[start:end].lstrip().removeprefix(after[first]).lstrip())
        first += 1
    return Edit(edit.kind, claim, (start, end), edit.label)


def match_case(model: str, word: str) -> str:
    """The word in upper case at its start where the model has it."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def is_single(original: str, edit: Edit) -> bool:
    """Whether the claim is the original outside of the recorded span, and the span lies within it and is not empty.

    Blanks and commas that join an insertion to its neighbours stand outside of the span.

    >>> is_single("It is long.", Edit("antonym", "It is short.", (6, 11)))
    True
    >>> is_single("It is long.", Edit("antonym", "He is short.", (6, 11)))
    False
    """
    start, end = edit.span
    head, tail = edit.claim[:start].rstrip(" ,"), edit.claim[end:].lstrip(" ,")
    return (
        0 <= start < end <= len(edit.claim)
        and edit.claim != original
        and original.startswith(head)
        and original.endswith(tail)
        and len(head) + len(tail) <= len(original)
    )


def weighted_order(
    choices: Sequence[tuple[str, float, Callable[..., Edit | None]]], rng: random.Random
) -> list[tuple[str, Callable[..., Edit | None]]]:
    """The choices in a random order in which heavier ones tend to come first (exponential races)."""
    raced = sorted((rng.expovariate(weight), name, make) for name, weight, make in choices if weight > 0)
    return [(name, make) for _, name, make in raced]


def pick(rng: random.Random, items: Iterable[str]) -> str | None:
    """One of the items, or nothing where there is none; the order of a set does not matter."""
    found = sorted(set(items))
    return rng.choice(found) if found else None
