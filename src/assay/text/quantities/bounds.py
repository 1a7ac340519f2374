"""The words beside a quantity that make it a bound ("at least", "must not exceed") or negative ("minus")."""

import re

from assay.text.lexicon.lexemes import word_set
from assay.text.quantities.draft import Draft
from assay.text.quantities.values import Bound

_BOUND_PHRASES: tuple[tuple[Bound, str], ...] = (
    ("at_least", r"at least|(?:no|not) (?:fewer|less) than|a?\s?minimum of|as many as|≥|>=|from at least"),
    ("at_most", r"at most|up to|no more than|not more than|a?\s?maximum of|no later than|≤|<=|capped at|limited to"),
    ("at_most", r"not later than|no longer than|not longer than|as (?:high|early|late|long) as|within"),
    ("more", r"(?:more|greater|higher|larger|longer|older) than|over|above|(?:exceed|surpass)(?:s|es|ed|ing)?|>"),
    ("more", r"upwards of|in excess of"),
    ("less", r"(?:less|fewer|lower|smaller|shorter|younger) than|under|below|<"),
    ("about", r"about|around|approximately|approx\.?|roughly|some|nearly|almost|close to|circa|ca?\.|~|≈|±|estimated"),
    ("about", r"an estimated|just over|just under|slightly (?:more|less) than|a little (?:over|under)"),
)
_BOUND = re.compile("|".join(f"(?P<b{n}>{phrases})" for n, (_, phrases) in enumerate(_BOUND_PHRASES)))
_LEFT_BOUND = re.compile(rf"(?:^|(?<=[^\w]))(?:{_BOUND.pattern})\s?(?:the |an? |another )?$", re.IGNORECASE)
_NEGATED_BOUND = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor)|n['’]t)\s(?:be\s|to\s|last\s|take\s|go\s|have\s)?$", re.IGNORECASE
)
_BEFORE_EVENT = re.compile(r"\s(?:before|prior\b|in advance|ahead of|earlier\b)")
_AT_LEAST_BEFORE = re.compile(r"(?:no|not) later than", re.IGNORECASE)
_BOUND_LAST_WORDS = word_set(
    """within late early long high least most
    than of as to over above exceed exceeds exceeded exceeding surpass surpasses surpassed
    surpassing under below about around approximately approx approx. roughly some nearly almost circa ca. c.
    estimated at
    the a an another ca"""
)
_BOUND_SIGNS = "~≈±<>≤≥="
_MINUS = re.compile(r"(?:^|(?P<before>[^\W\d_]+)\s|(?P<mark>[(:|=])\s?)(?P<minus>minus)[\s\u00a0]$", re.IGNORECASE)
_MINUS_LENGTH = 32
"""Characters before a number in which "minus" and the word before it are looked for."""

_BELOW_ZERO = re.compile(r"\sbelow\s(?:zero|0)\b", re.IGNORECASE)
_BESIDE_MINUS = frozenset({"or", "and"})
"""Words before a "minus" that is no sign: "plus or minus 5"."""

_BEFORE_MINUS = word_set("is was are were be been of at to from by with between than reached")
"""Words after which "minus" is a sign; behind any other it may subtract, as in "you get that minus 5 euros"."""


def bound_before(before: str, text: str, end: int) -> tuple[Bound, int] | None:
    """The bound that the last words of `before` set for a quantity, and where those words begin in `before`.

    "must not exceed 5" is at most 5, and "no later than 8 weeks before" is at least 8 weeks before.

    Args:
        before: the text in front of the quantity, or its last characters.
        text: the whole text, read after the quantity for "before" and "in advance".
        end: index in `text` after the quantity.

    >>> bound_before("It takes up to ", "It takes up to 5 days", 21)
    ('at_most', 9)
    """
    tail = before.rstrip()
    if not tail:
        return None
    if tail[-1] not in _BOUND_SIGNS and tail.rsplit(None, 1)[-1].lstrip("(").lower() not in _BOUND_LAST_WORDS:
        return None
    match = _LEFT_BOUND.search(before)
    if match is None or not match.lastgroup:
        return None
    start = match.start(match.lastgroup)
    bound = _BOUND_PHRASES[int(match.lastgroup[1:])][0]
    if bound in {"more", "less"} and _NEGATED_BOUND.search(before, 0, start):
        return ("at_most" if bound == "more" else "at_least"), start
    if bound == "at_most" and _AT_LEAST_BEFORE.match(before, start) and _BEFORE_EVENT.match(text, end):
        return "at_least", start
    return bound, start


def read_minus(text: str, draft: Draft) -> None:
    """Makes a number negative where a word says so: "was minus 5 °C", "5 degrees below zero".

    After a number or what has one, "minus" subtracts: "10 minus 5", "the price minus 5 euros", "all minus 5 euros". A
    temperature is not subtracted from a thing, so any word may precede it.
    """
    degrees = draft.unit.dimension in {"temperature", "angle"}
    if draft.value <= 0:
        return
    if degrees and (below := _BELOW_ZERO.match(text, draft.end)):
        draft.value, draft.end = -draft.value, below.end()
        return
    low = max(0, draft.start - _MINUS_LENGTH)
    found = (
        _MINUS.search(text[low : draft.start])
        if text[max(0, draft.start - 3) : draft.start - 1].lower() == "us"
        else None
    )
    if found is None:
        return
    word = (found["before"] or "").lower()
    if word in _BESIDE_MINUS or (not degrees and ((word and word not in _BEFORE_MINUS) or found["mark"] == ":")):
        return
    if draft.number_start == draft.start:
        draft.number_start = low + found.start("minus")
    draft.value, draft.start = -draft.value, low + found.start("minus")
