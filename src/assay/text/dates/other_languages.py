"""Dates with a month's name and a day or year in German, French, Spanish, Italian and Portuguese.

"3. März 2024", "1er août", "3 de marzo de 2024", "im März 2024", "vom 3. bis zum 8. Mai 2024". A month alone is not a
date: "mars" and "mayo" are English words too. A number after a month is its year unless it may count what follows it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assay.text.dates.months import DAYS_IN_MONTH, MONTH_NAMES
from assay.text.dates.values import Bound, DateMention
from assay.text.lexicon.lexemes import lexeme, word_list
from assay.text.quantities.units import CURRENCY_WORDS, UNIT_WORDS
from assay.text.sentences.languages import is_common_word, language_votes, looks_foreign

_NAMES: Final = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jänner feber märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
)
_MONTHS: Final = {name: number for names in _NAMES for number, name in enumerate(word_list(names), start=1)}
_ENGLISH_HOMOGRAPHS: Final = frozenset({*MONTH_NAMES, "mars", "mayo"})
"""Names that are English words too: they are months only in a text in another language."""
_MAI: Final = "mai"
"""May in German and French, but never in Italian."""
_ANY_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?<![\w.,/:-])(\d{1,2})(?:\.|er|º|°)?"
_DATE: Final = re.compile(
    rf"(?:{_DAY}\s(?:de\s)?)?\b({_ANY_MONTH})\b(?:\s(de\s|del\s)?(\d{{4}})(?![\d-]|[.,]\d))?", re.IGNORECASE
)
_TO: Final = r"\s?[-–—]\s?|\s(?:bis(?:\szum|\seinschließlich)?|au|al|a|à|ao|até(?:\so)?|hasta(?:\sel)?)\s|\sall['’]"
_AND: Final = r"\s(?:und|et|y|e|ou|oder|o|sowie)\s(?:(?:dem|den|le|el|il|o)\s|l['’])?"
_FIRST_DAY: Final = re.compile(rf"{_DAY}(?:{_TO}|{_AND})$", re.IGNORECASE)
_DAY_BEFORE: Final = re.compile(rf"{_DAY},\s$")
_RANGE_GAP: Final = re.compile(rf"(?:{_TO})(?:(?:dem|den|le|el|il|o|am)\s)?", re.IGNORECASE)
"""What joins two dates to a range: "vom 3. Mai bis zum 8. Juni 2024"."""
_BOUND_WORDS: Final[tuple[tuple[Bound, str], ...]] = (
    (
        "since",
        r"(?:à|a)\s(?:partir|contar)\s(?:du|de|del|do)(?:\s(?:el|le|o|l))?|a\spartire\sdal?|a\sdecorrere\sdal?",
    ),
    ("since", r"ab(?:\sdem)?|seit(?:\sdem)?|dès(?:\sle)?|depuis(?:\sle)?|desde(?:\s(?:el|o))?|dal|da"),
    (
        "until",
        r"bis(?:\szum|\sspätestens(?:\szum)?)?|spätestens(?:\sam|\sbis\szum)?|jusqu['’](?:au|en|à)|hasta(?:\sel)?",
    ),
    ("until", r"fino\s(?:al|a)|entro(?:\sil)?|até(?:\s(?:o|ao))?|au\splus\stard\sle|al\smás\stardar\sel"),
    ("before", r"vor(?:\sdem)?|avant(?:\sle)?|antes\sd(?:el|e|o)|prima\sdel"),
    ("after", r"nach(?:\sdem)?|après(?:\sle)?|después\sdel?|dopo(?:\sil)?|depois\sd(?:o|e)|após(?:\so)?"),
    ("about", r"um(?:\sden)?|etwa(?:\sam)?|circa(?:\sam|\sil)?|vers(?:\sle)?|hacia(?:\sel)?|verso(?:\sil)?"),
)
_BOUNDS: Final = tuple(
    (bound, re.compile(rf"(?:^|[^\w])(?:{words})\s?$", re.IGNORECASE)) for bound, words in _BOUND_WORDS
)
_MAX_BOUND_LENGTH: Final = 28
_MAX_LINK_LENGTH: Final = 24
_BARE_YEARS: Final = range(1900, 2101)
_LINKED_YEARS: Final = range(1000, 2200)
"""Years that are read after a day or "de": "en marzo de 1492"."""
_WORD_AFTER: Final = re.compile(r"\s([^\W\d_]+)|\s?[%€$£]")
MONTH_FOLDS: Final = frozenset(lexeme(name).fold for name in _MONTHS)
"""The folded names; a text without any of them has no such date."""


def other_dates(text: str) -> Iterator[DateMention]:
    """The dates of a text with a month in a language other than English, including dates that share a month.

    >>> [(one.year, one.month, one.day) for one in other_dates("Am 3. März 2024 wird das Büro geöffnet.")]
    [(2024, 3, 3)]
    >>> [one.day for one in other_dates("vom 3. bis zum 8. Mai 2024")]
    [3, 8]
    >>> list(other_dates("They sold 3 Mars bars.")), list(other_dates("Non superano mai 1500 euro."))
    ([], [])
    """
    found: list[DateMention] = []
    for match in _DATE.finditer(text):
        found.extend(_mentions(text, match, found[-1].end if found else 0))
    for at, one in enumerate(found[:-1]):
        later = found[at + 1]
        if one.year is None and later.year is not None and _RANGE_GAP.fullmatch(text, one.end, later.start):
            found[at] = replace(one, year=later.year)
    yield from found


def _mentions(text: str, match: re.Match[str], done: int) -> Iterator[DateMention]:
    """The dates that share a match's month, such as the 3rd in "3. und 8. Mai", and then the date of the match."""
    name = match.group(2).lower()
    month = _MONTHS[name]
    day = None if match.group(1) is None else int(match.group(1))
    year = _year(text, match)
    if (day is None and (year is None or (name == _MAI and not _mai_is_may(text)))) or not _is_day(day, month):
        return
    if name in _ENGLISH_HOMOGRAPHS and not looks_foreign(text):
        return
    end = match.end() if year is not None else match.end(2)
    start = match.start()
    before: list[DateMention] = []
    if day is not None:
        low = max(done, start - _MAX_LINK_LENGTH)
        first = _FIRST_DAY.search(text[low:start])
        while first is not None and _is_day(int(first.group(1)), month):
            start = low + first.start(1)
            before.append(DateMention(start, low + first.end(1), year, month=month, day=int(first.group(1))))
            low = max(done, start - _MAX_LINK_LENGTH)
            first = _DAY_BEFORE.search(text[low:start])
    left = text[max(0, match.start() - _MAX_BOUND_LENGTH) : match.start()]
    joined = bool(before) or (done and _RANGE_GAP.fullmatch(text, done, match.start()))
    bound: Bound = "exact" if joined else next((one for one, words in _BOUNDS if words.search(left)), "exact")
    if bound == "since" and _begins_range(text, match.end()):
        bound = "exact"
    yield from reversed(before)
    yield DateMention(match.start(), end, year, month=month, day=day, bound=bound)


def _is_day(day: int | None, month: int) -> bool:
    return 1 <= (1 if day is None else day) <= DAYS_IN_MONTH[month - 1]


def _year(text: str, match: re.Match[str]) -> int | None:
    """The year after a month's name; none where the number may count what follows ("A settembre 2000 studenti")."""
    if match.group(4) is None:
        return None
    year = int(match.group(4))
    if year not in (_LINKED_YEARS if match.group(1) or match.group(3) else _BARE_YEARS):
        return None
    after = _WORD_AFTER.match(text, match.end())
    if after is None:
        return year
    word = (after.group(1) or "").lower()
    if not word or word in UNIT_WORDS or word in CURRENCY_WORDS:
        return None
    sure = match.group(1) is not None and year in _BARE_YEARS and year % _ROUND_YEAR
    return year if sure or match.group(3) or is_common_word(word) else None


_ROUND_YEAR: Final = 100


def _mai_is_may(text: str) -> bool:
    """Whether the language of a text is one in which "mai" is a month."""
    votes = language_votes(text)
    return max(votes["German"], votes["French"]) > max(votes["Italian"], votes["Portuguese"], votes["Romanian"])


def _begins_range(text: str, end: int) -> bool:
    """Whether the date that ends at `end` is the first one of a range: "dal 3 maggio al 8 giugno"."""
    gap = _RANGE_GAP.match(text, end)
    return gap is not None and text[gap.end() : gap.end() + 1].isdigit()
