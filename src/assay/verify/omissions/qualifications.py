"""Finds conditions, exceptions, deadlines and limits in a sentence of the evidence by their wording.

The rules are for English. They find qualifications with the usual cue words, and none that is only implied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon import Words, find_conditions


def _alternation(words: str) -> str:
    """An alternation of the words and phrases of a list; an underscore is a space within a phrase."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


_UNITS: Final = r"(?:minute|hour|day|week|month|quarter|year)s?"
_DAYS: Final = _alternation(
    "January February March April May June July August September October November December Monday Tuesday Wednesday"
    " Thursday Friday Saturday Sunday"
)
_SPELLED: Final = _alternation("one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty")
_AMOUNT: Final = rf"(?:[$€£¥]\s?)?(?:\d[\d.,]*|{_SPELLED})\b"
_CONSENT: Final = _alternation(
    "approval consent permission agreement authori[sz]ation notice registration receipts? proof certificate referral"
)
_STATES: Final = _alternation("eligible entitled covered included available refundable permitted allowed")
_PARTICIPLES: Final = _alternation(
    "approved accompanied documented registered signed notified authori[sz]ed agreed confirmed reported"
)
_BOUNDS: Final = _alternation(
    "up_to at_most no_more_than not_more_than not_exceed(?:ing)? a?\\s?maximum_of at_least no_less_than not_less_than"
    " a?\\s?minimum_of limited_to capped_at fewer_than less_than more_than over under"
)
_UNTIL: Final = _alternation("by before until no_later_than not_later_than at_the_latest_by")
_EXCEPTIONS: Final = _alternation(
    "except(?:\\s+(?:for|that|when|if|in))? excluding other_than with_the_exception_of unless"
)
_DATE: Final = rf"(?:(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?{_DAYS}|\d{{4}}-\d\d-\d\d)"
_AHEAD: Final = _alternation("in_advance before(?:hand)? ahead notice prior")
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
    ("condition", 0.65, rf"\bmust\s+(?:first\s+|also\s+)?be\s+{_PARTICIPLES}\b"),
    ("condition", 0.65, rf"\b(?:after|following)\s+{_AMOUNT}\s+(?:\w+\s)?{_UNITS}\s+(?:of|in|with|on)\b"),
    ("condition", 0.7, r"\bonly\s+(?:for|to|by|on|in|where|who|those)\b"),
)
_COMPILED: Final = tuple((kind, strength, re.compile(pattern, re.IGNORECASE)) for kind, strength, pattern in _PATTERNS)
_RULES: Final = _alternation(
    "may must can cannot shall should will entitle[sd]? eligible allow(?:s|ed)? permit(?:s|ted)? requir(?:es?|ed)"
    " refund(?:s|ed|able)? reimburse[sd]? cover(?:s|ed)? pa(?:y|ys|id) claim(?:s|ed)? appl(?:y|ies|ied)"
    " submit(?:s|ted)? request(?:s|ed)?"
    " expires? valid free discounts? limit(?:s|ed)? deadlines? approve[sd]? cancel(?:s|led|ed)?"
    " return(?:s|ed)?"
)
_NORMATIVE: Final = re.compile(rf"\b{_RULES}\b", re.IGNORECASE)
"""Words of a sentence that states a rule; elsewhere "at most 30" and "after two years" describe and do not qualify."""
_RULES_ONLY: Final = 0.65
"""Patterns of at most this strength count only in sentences that state a rule."""
_NOUN: Final = re.compile(r"\s+[^\W\d_]{2,}|\s?%")
_CLAUSE_END: Final = re.compile(r"[,;:!?()—–\n]|\.(?=\s|$)|\b(?:but|whereas|although|though|however)\b")
_LONGEST: Final = 160
"""The most characters of a qualification; a longer one is cut at a word."""
LONGEST_SENTENCE: Final = 2_000
"""Characters of the longest sentence that is searched; anything longer is a table or otherwise not prose."""


@dataclass(frozen=True, slots=True)
class Qualification:
    """A condition, an exception, a deadline or a limit, as a half-open range of a text."""

    kind: str
    start: int
    end: int
    strength: float
    """How surely leaving it out changes the meaning, 0 to 1."""


def find_qualifications(text: str, words: Words, start: int, end: int) -> tuple[Qualification, ...]:
    """The qualifications of one sentence, in order, without overlaps.

    Args:
        text: the text that contains the sentence.
        words: the words of the sentence, with offsets into the text.
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
        Qualification("condition", words.starts[condition.first], words.ends[condition.last - 1], condition.strength)
        for condition in find_conditions(text, words)
    ]
    states_rule = _NORMATIVE.search(text, start, end) is not None
    for kind, strength, pattern in _COMPILED:
        if states_rule or strength > _RULES_ONLY:
            found.extend(
                Qualification(kind, match.start(), _end(kind, text, match.end(), end), strength)
                for match in pattern.finditer(text, start, end)
            )
    return _without_overlaps(text, found)


def _end(kind: str, text: str, at: int, end: int) -> int:
    """Where a qualification ends: a limit with the noun after its amount, a deadline at once, any other with its
    clause."""
    if kind == "deadline":
        return at
    if kind == "limit":
        noun = _NOUN.match(text, at, end)
        return noun.end() if noun else at
    return _clause_end(text, at, end)


def _clause_end(text: str, start: int, end: int) -> int:
    match = _CLAUSE_END.search(text, start, min(end, start + _LONGEST))
    if match is not None:
        end = match.start()
    elif end > start + _LONGEST:
        space = text.rfind(" ", start, start + _LONGEST)
        end = space if space > start else start + _LONGEST
    return start + len(text[start:end].rstrip())


def _without_overlaps(text: str, found: list[Qualification]) -> tuple[Qualification, ...]:
    """The qualifications without overlaps: each ends where the next begins.

    Of two that begin at the same place, within four characters of each other, or of the same kind, the first stays; an
    exception precedes a condition that begins at the same place.
    """
    rank = {"exception": 0, "deadline": 1, "limit": 2, "condition": 3}
    kept: list[Qualification] = []
    for qualification in sorted(found, key=lambda q: (q.start, rank[q.kind], -q.end)):
        if kept and qualification.start < kept[-1].end:
            previous = kept[-1]
            if qualification.start - previous.start < 4 or qualification.kind == previous.kind:
                continue
            kept[-1] = Qualification(
                previous.kind,
                previous.start,
                _trimmed_end(text, previous.start, qualification.start),
                previous.strength,
            )
        kept.append(qualification)
    return tuple(kept)


def _trimmed_end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())
