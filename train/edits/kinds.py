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
    """What is wrong in the claim, as a character range of it: the words that are new, and outside of it the claim is as
    it was. Where words were only left out, it is the word or the verb that says too much without them."""
    label: Label = "contradicted"
    parts: tuple[tuple[int, int], ...] = ()
    """Where several places within the span are wrong and what stands between them is as it was: those places."""
    gap: int | None = None
    """Where in the claim words were left out, if what says too much without them does not stand beside them."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The wrong places of the claim, in its order."""
        return self.parts or (self.span,)

    def within(self, before: str, claim: str) -> Edit:
        """The same edit in a longer claim, where `before` stands before what was edited."""
        by = len(before)
        parts = tuple((start + by, end + by) for start, end in self.parts)
        gap = None if self.gap is None else self.gap + by
        return Edit(self.kind, claim, (self.span[0] + by, self.span[1] + by), self.label, parts, gap)


@dataclass(frozen=True)
class Base:
    """A claim that the evidence supports."""

    text: str
    form: str
    """How it was made of the evidence: extracted, shortened, converted and so on."""
    sources: tuple[int, ...]
    """Indices of the pieces of the document that it needs."""


def replace(kind: str, text: str, start: int, end: int, new: str, label: Label = "contradicted") -> Edit:
    """The text with one range replaced; the span covers those words of what was put there that are new.

    An article before the range follows the new word (`an increase`, `a decrease`); the span then covers it too.
    """
    article = ARTICLE.search(text, max(0, start - 4), start)
    if article and new[:1].isalpha() and text[start : start + 1].isalpha():
        wanted = article.group(1)[0] + ("n" if new[0] in VOWELS else "")
        had_n = text[start] in VOWELS
        if (new[0] in VOWELS) != had_n and len(article.group(1)) == 1 + had_n:
            start, new = article.start(1), f"{wanted} {new}"
    first, last = changed(text[start:end], new)
    return Edit(kind, text[:start] + new + text[end:], (start + first, start + last), label)


_WORD = re.compile(r"\S+")
_AROUND_WORD = " ,.;:!?\"'()“”’"


def changed(old: str, new: str) -> tuple[int, int]:
    """The character range of `new` that differs from `old`: without the words that both begin or end with.

    Case and punctuation at the ends of a word make it no other word. Where nothing in `new` is new because words were
    only left out, it is the one word beside the gap.

    Raises:
        ValueError: `new` has no word.

    >>> changed("more than", "less than"), changed("is", "is not"), changed("is not", "is")
    ((0, 4), (3, 6), (0, 2))
    """
    words = list(_WORD.finditer(new))
    if not words:
        raise ValueError("what was put in holds no word")
    before = [word.strip(_AROUND_WORD).lower() for word in old.split()]
    after = [word.group().strip(_AROUND_WORD).lower() for word in words]
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if head + tail < len(after):
        return words[head].start(), words[-1 - tail].end()
    beside = words[min(head, len(words) - 1)]
    return beside.span()


def match_case(model: str, word: str) -> str:
    """The word in upper case at its start where the model has it."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def _replaced(original: str, claim: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...] | None:
    """What stood in the original where the claim has the spans; nothing where they differ outside of the spans."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(claim)]
    kept = [claim[end:start] for end, start in zip(ends, starts, strict=True)]
    kept = [kept[0].rstrip(" ,"), *kept[1:-1], kept[-1].lstrip(" ,")]
    found = re.fullmatch("(.*?)".join(map(re.escape, kept)), original, re.DOTALL)
    return None if found is None else found.groups()


def _left_out(original: str, claim: str, gap: int) -> bool:
    """Whether the claim is the original without a run of its words at the gap, case apart."""
    head, tail = claim[:gap].lower(), claim[gap:].lower()
    return (
        original.lower().startswith(head)
        and original.lower().endswith(tail)
        and bool(original[len(head) : len(original) - len(tail)].strip(_AROUND_WORD))
    )


def is_single(original: str, edit: Edit) -> bool:
    """Whether the claim is the original outside of the recorded places, and each place is no wider than what changed.

    A place is too wide where its first or last word stood there before. Blanks and commas that join an insertion to
    its neighbours stand outside of it. Where words were left out with their place in the claim recorded (`Edit.gap`),
    the rest must be as it was, and the span a range of whole words of it.

    >>> is_single("It is long.", Edit("antonym", "It is short.", (6, 11)))
    True
    >>> is_single("It is long.", Edit("antonym", "It is short.", (3, 11)))
    False
    >>> is_single("It is long.", Edit("antonym", "He is short.", (6, 11)))
    False
    """
    claim, spans = edit.claim, edit.spans
    bounds = [0, *(at for span in spans for at in span), len(claim)]
    if (
        claim == original
        or bounds != sorted(bounds)
        or not all(claim[a:b].strip() == claim[a:b] != "" for a, b in spans)
    ):
        return False
    if edit.gap is not None:
        whole = all(not claim[a - 1 : a].isalnum() and not claim[b : b + 1].isalnum() for a, b in spans)
        return whole and _left_out(original, claim, edit.gap)
    before = _replaced(original, claim, spans)
    return before is not None and all(
        old != claim[a:b] and changed(old, claim[a:b]) == (0, b - a) for old, (a, b) in zip(before, spans, strict=True)
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
