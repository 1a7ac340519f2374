"""Conditions, exceptions, deadlines and limits in a sentence of the evidence, found by their words.

Rules by words alone, for English: they find what is said with the usual cues, and nothing that is only implied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon import Words, find_conditions


def _any(words: str) -> str:
    """An alternation of words, phrases among them with an underscore for their spaces."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


_UNITS: Final = r"(?:minute|hour|day|week|month|quarter|year)s?"
_DAYS: Final = _any(
    "January February March April May June July August September October November December Monday Tuesday Wednesday"
    " Thursday Friday Saturday Sunday"
)
_SPELLED: Final = _any("one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty")
_AMOUNT: Final = rf"(?:[$€£¥]\s?)?(?:\d[\d.,]*|{_SPELLED})\b"
_CONSENT: Final = _any(
    "approval consent permission agreement authori[sz]ation notice registration receipts? proof certificate referral"
)
_STATES: Final = _any("eligible entitled covered included available refundable permitted allowed")
_DONE: Final = _any(
    "approved accompanied documented registered signed notified authori[sz]ed agreed confirmed reported"
)
_BOUNDS: Final = _any(
    "up_to at_most no_more_than not_more_than not_exceed(?:ing)? a?\\s?maximum_of at_least no_less_than not_less_than"
    " a?\\s?minimum_of limited_to capped_at fewer_than less_than more_than over under"
)
_UNTIL: Final = _any("by before until no_later_than not_later_than at_the_latest_by")
_EXCEPTIONS: Final = _any("except(?:\\s+(?:for|that|when|if|in))? excluding other_than with_the_exception_of unless")
_DATE: Final = rf"(?:(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?{_DAYS}|\d{{4}}-\d\d-\d\d)"
_AHEAD: Final = _any("in_advance before(?:hand)? ahead notice prior")
_NOT: Final = r"(?:\s+not|n['’]t)"
_PATTERNS: Final = (
    ("exception", 0.75, rf"\b{_EXCEPTIONS}\b"),
    ("exception", 0.75, rf"\b(?:does|do|shall|will){_NOT} (?:apply|include|cover|extend)\b|\bnot applicable\b"),
    ("exception", 0.7, rf"\b(?:(?:must|may|shall|can){_NOT}|cannot)\b"),
    ("exception", 0.7, rf"\b(?:is|are){_NOT}\s+(?:\w+\s)?{_STATES}\b"),
    ("deadline", 0.65, rf"\bwithin\s+(?:the\s+(?:first|next)\s+)?{_AMOUNT}\s+(?:\w+\s)?{_UNITS}\b"),
    (
        "deadline",
        0.65,
        rf"\b{_UNTIL}\s+(?:the\s+)?(?:end of\s+)?{_DATE}\b",
    ),
    ("deadline", 0.65, rf"\b(?:no|not) later than\s+{_AMOUNT}\s+(?:\w+\s)?{_UNITS}\b"),
    ("deadline", 0.65, rf"\b(?:at least\s+)?{_AMOUNT}\s+(?:\w+\s)?{_UNITS}(?:['’]s?)?\s+{_AHEAD}\b"),
    ("deadline", 0.6, rf"\b(?:expires?|lapses?|valid)\s+(?:\w+\s){{0,2}}(?:after|for|until|on)\s+{_AMOUNT}"),
    ("limit", 0.65, rf"\b{_BOUNDS}\s+(?:a\s)?{_AMOUNT}"),
    ("limit", 0.6, rf"\bonly\s+(?:the\s)?(?:{_AMOUNT}|once|twice|first|full-time|part-time)"),
    ("condition", 0.75, rf"\b(?:requires?|needs?|subject to|after|without|with)\s+(?:\w+['’]?s?\s){{0,3}}{_CONSENT}\b"),
    ("condition", 0.65, rf"\bmust\s+(?:first\s+|also\s+)?be\s+{_DONE}\b"),
    ("condition", 0.65, rf"\b(?:after|following)\s+{_AMOUNT}\s+(?:\w+\s)?{_UNITS}\s+(?:of|in|with|on)\b"),
    ("condition", 0.7, r"\bonly\s+(?:for|to|by|on|in|where|who|those)\b"),
)
_COMPILED: Final = tuple((kind, strength, re.compile(pattern, re.IGNORECASE)) for kind, strength, pattern in _PATTERNS)
_RULES: Final = _any(
    "may must can cannot shall should will entitle[sd]? eligible allow(?:s|ed)? permit(?:s|ted)? requir(?:es?|ed)"
    " refund(?:s|ed|able)? reimburse[sd]? cover(?:s|ed)? pa(?:y|ys|id) claim(?:s|ed)? appl(?:y|ies|ied)"
    " submit(?:s|ted)? request(?:s|ed)?"
    " expires? valid free discounts? limit(?:s|ed)? deadlines? approve[sd]? cancel(?:s|led|ed)?"
    " return(?:s|ed)?"
)
_NORMATIVE: Final = re.compile(rf"\b{_RULES}\b", re.IGNORECASE)
"""What makes a sentence a rule: elsewhere "at most 30" and "after two years" tell how it was, and qualify nothing."""
_RULES_ONLY: Final = 0.65
"""Patterns of at most this strength count in sentences that are rules."""
_NOUN: Final = re.compile(r"\s+[^\W\d_]{2,}|\s?%")
_CLAUSE_END: Final = re.compile(r"[,;:!?()—–\n]|\.(?=\s|$)|\b(?:but|whereas|although|though|however)\b")
_LONGEST: Final = 160
"""Characters that a qualification may have; a longer one is cut at a word."""
LONGEST_SENTENCE: Final = 2_000
"""Characters of a sentence that are looked at; what is longer is a table or no prose."""


@dataclass(frozen=True, slots=True)
class Qualification:
    """A condition, an exception, a deadline or a limit, as a half-open range of a text."""

    kind: str
    start: int
    end: int
    strength: float
    """How surely leaving it out changes the meaning, 0 to 1."""


def find_qualifications(text: str, words: Words, start: int, end: int) -> tuple[Qualification, ...]:
    """The qualifications of one sentence, in order and apart from each other.

    Args:
        text: the text that the sentence is in.
        words: the words of the sentence, at their places in the text.
        start: where the sentence begins.
        end: where it ends.

    >>> from assay.text.lexicon.lexemes import find_words
    >>> text = "Expenses of up to 300 euros are refunded if receipts are enclosed."
    >>> [(q.kind, text[q.start:q.end]) for q in find_qualifications(text, find_words(text), 0, len(text))]
    [('limit', 'up to 300 euros'), ('condition', 'if receipts are enclosed')]
    """
    if end - start > LONGEST_SENTENCE:
        return ()
    found = [
        Qualification("condition", words.starts[one.first], words.ends[one.last - 1], one.strength)
        for one in find_conditions(text, words)
    ]
    rules = _NORMATIVE.search(text, start, end) is not None
    for kind, strength, pattern in _COMPILED:
        if rules or strength > _RULES_ONLY:
            found.extend(
                Qualification(kind, match.start(), _end(kind, text, match.end(), end), strength)
                for match in pattern.finditer(text, start, end)
            )
    return _apart(text, found)


def _end(kind: str, text: str, at: int, end: int) -> int:
    """An amount ends with the noun behind it, all else with its clause."""
    if kind == "deadline":
        return at
    if kind == "limit":
        noun = _NOUN.match(text, at, end)
        return noun.end() if noun else at
    return _clause_end(text, at, end)


def _clause_end(text: str, at: int, end: int) -> int:
    match = _CLAUSE_END.search(text, at, min(end, at + _LONGEST))
    if match is not None:
        end = match.start()
    elif end > at + _LONGEST:
        space = text.rfind(" ", at, at + _LONGEST)
        end = space if space > at else at + _LONGEST
    return at + len(text[at:end].rstrip())


def _apart(text: str, found: list[Qualification]) -> tuple[Qualification, ...]:
    """Where two overlap the one that begins first, an exception before a condition that begins with it.

    A piece ends where the next one begins.
    """
    rank = {"exception": 0, "deadline": 1, "limit": 2, "condition": 3}
    kept: list[Qualification] = []
    for one in sorted(found, key=lambda q: (q.start, rank[q.kind], -q.end)):
        if kept and one.start < kept[-1].end:
            before = kept[-1]
            if one.start - before.start < 4 or one.kind == before.kind:
                continue
            kept[-1] = Qualification(
                before.kind, before.start, _trimmed(text, before.start, one.start), before.strength
            )
        kept.append(one)
    return tuple(kept)


def _trimmed(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())
