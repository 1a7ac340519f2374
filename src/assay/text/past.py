"""Whether a question asks about the past, for which superseded versions of a document are the right evidence."""

import re
from datetime import date
from typing import Final

from assay.text.dates.detection import find_dates
from assay.text.lexicon.lexemes import find_words

_PAST: Final = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|originally|histor(?:y|ic|ical|ically)|in\sthe\spast|back\sthen|at\sthe\stime|"
    r"used\sto|no\slonger|outdated|superseded|obsolete|archived|expired|"
    r"(?:old|older|earlier|earliest|prior|past|first|original|last\syear'?s)\s(?:\w+\s){0,2}?"
    r"(?:versions?|polic(?:y|ies)|rules?|editions?|revisions?|releases?|terms|text|wording|documents?|rates?|fees?|prices?|drafts?)|"
    r"(?:versions?|editions?|revisions?)\sbefore|before\sthe\s(?:change|update|revision|reform|amendment|new\s\w+)|"
    r"(?:what|which|how|when)\b[^.?!]{0,80}?\bchang(?:ed?|es)\b|(?:has|have|had|did)\b[^.?!]{0,60}?\bchange[ds]?\b|"
    r"(?:difference|differences|differ|compare|compared|changes?)\b[^.?!]{0,40}?\b(?:versions?|editions?|revisions?|old|previous|between\s20\d\d)\b|"
    r"(?:a\sfew|some|several|many|\d+|two|three|five|ten)\s(?:days|weeks|months|years)\sago|"
    r"last\s(?:year|month|quarter|decade|century))\b",
    re.IGNORECASE,
)
_PAST_TENSE: Final = re.compile(r"\b(?:was|were|did|had)\b", re.IGNORECASE)


def asks_about_past(question: str, today: date) -> bool:
    """Whether a question asks what applied before `today`.

    A date in the past shows it together with a past tense or "as of". A past tense alone does not: "What was decided on
    leave?" asks for the current rule.

    >>> today = date(2026, 6, 1)
    >>> asks_about_past("How long was leave in 2022?", today), asks_about_past("How long is parental leave?", today)
    (True, False)
    >>> asks_about_past("What did the previous policy say?", today), asks_about_past("Is it due by May 2030?", today)
    (True, False)
    >>> asks_about_past("Do I need approval before I travel?", today)
    False
    """
    if _PAST.search(question):
        return True
    has_past_tense = _PAST_TENSE.search(question) is not None
    for mention in find_dates(question, find_words(question)):
        if mention.year is None:
            continue
        is_past = mention.year < today.year or (
            mention.year == today.year and mention.month is not None and mention.month < today.month
        )
        before_mention = question[max(0, mention.start - 12) : mention.start].casefold().rstrip()
        if is_past and (has_past_tense or before_mention.endswith(("as of", "as at", "back in", "until", "before"))):
            return True
    return False
