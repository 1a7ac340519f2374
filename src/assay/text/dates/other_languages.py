"""Dates with a day or a year beside a month's name in German, French, Spanish, Italian and Portuguese.

"3. März 2024", "1er août", "3 de marzo de 2024", "im März 2024", "vom 3. bis zum 8. Mai 2024". A month alone is none:
"mars" and "mayo" are English words too. A number behind a month is its year where no other thing can be counted by it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assay.text.dates.months import MONTH_NAMES
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
_ENGLISH: Final = frozenset({*MONTH_NAMES, "mars", "mayo"})
"""Names that are English words as well: they count in a text that is in another language."""
_NEVER: Final = "mai"
"""German and French for May, and Italian for never."""
_ONE_OF: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?<![\w.,/:-])(\d{1,2})(?:\.|er|º|°)?"
_DATE: Final = re.compile(
    rf"(?:{_DAY}\s(?:de\s)?)?\b({_ONE_OF})\b(?:\s(de\s|del\s)?(\d{{4}})(?![\d-]|[.,]\d))?", re.IGNORECASE
)
_TO: Final = r"\s?[-–—]\s?|\s(?:bis(?:\szum|\seinschließlich)?|au|al|a|à|ao|até(?:\so)?|hasta(?:\sel)?)\s|\sall['’]"
_AND: Final = r"\s(?:und|et|y|e|ou|oder|o|sowie)\s(?:(?:dem|den|le|el|il|o)\s|l['’])?"
_FIRST_DAY: Final = re.compile(rf"{_DAY}(?:{_TO}|{_AND})$", re.IGNORECASE)
_DAY_BEFORE: Final = re.compile(rf"{_DAY},\s$")
_SPAN_GAP: Final = re.compile(rf"(?:{_TO})(?:(?:dem|den|le|el|il|o|am)\s)?", re.IGNORECASE)
"""What makes two dates the ends of one span: "vom 3. Mai bis zum 8. Juni 2024"."""
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
_LONGEST_BOUND: Final = 28
_LONGEST_LINK: Final = 24
_YEARS: Final = range(1900, 2101)
_YEARS_OF: Final = range(1000, 2200)
"""Years that count behind a day or "de": "en marzo de 1492"."""
_WORD_BEHIND: Final = re.compile(r"\s([^\W\d_]+)|\s?[%€$£]")
MONTH_FOLDS: Final = frozenset(lexeme(name).fold for name in _MONTHS)
"""The names as words are folded: a text without any of them has no such date."""
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def other_dates(text: str) -> Iterator[DateMention]:
    """The dates of a text that name a month in another language than English, those that share a month included.

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
        if one.year is None and later.year is not None and _SPAN_GAP.fullmatch(text, one.end, later.start):
            found[at] = replace(one, year=later.year)
    yield from found


def _mentions(text: str, match: re.Match[str], done: int) -> Iterator[DateMention]:
    """The date of a match, and before it those that share its month: "3." of "3. und 8. Mai"."""
    name = match.group(2).lower()
    month = _MONTHS[name]
    day = None if match.group(1) is None else int(match.group(1))
    year = _year(text, match)
    if (day is None and (year is None or (name == _NEVER and not _has_may(text)))) or not _is_day(day, month):
        return
    if name in _ENGLISH and not looks_foreign(text):
        return
    end = match.end() if year is not None else match.end(2)
    start = match.start()
    before: list[DateMention] = []
    if day is not None:
        low = max(done, start - _LONGEST_LINK)
        first = _FIRST_DAY.search(text[low:start])
        while first is not None and _is_day(int(first.group(1)), month):
            start = low + first.start(1)
            before.append(DateMention(start, low + first.end(1), year, month=month, day=int(first.group(1))))
            low = max(done, start - _LONGEST_LINK)
            first = _DAY_BEFORE.search(text[low:start])
    left = text[max(0, match.start() - _LONGEST_BOUND) : match.start()]
    joined = bool(before) or (done and _SPAN_GAP.fullmatch(text, done, match.start()))
    bound: Bound = "exact" if joined else next((one for one, words in _BOUNDS if words.search(left)), "exact")
    if bound == "since" and _opens_a_span(text, match.end()):
        bound = "exact"
    yield from reversed(before)
    yield DateMention(match.start(), end, year, month=month, day=day, bound=bound)


def _is_day(day: int | None, month: int) -> bool:
    return 1 <= (1 if day is None else day) <= _DAYS[month - 1]


def _year(text: str, match: re.Match[str]) -> int | None:
    """The year behind a month's name; none where the number may be of what follows ("A settembre 2000 studenti")."""
    if match.group(4) is None:
        return None
    year = int(match.group(4))
    if year not in (_YEARS_OF if match.group(1) or match.group(3) else _YEARS):
        return None
    behind = _WORD_BEHIND.match(text, match.end())
    if behind is None:
        return year
    word = (behind.group(1) or "").lower()
    if not word or word in UNIT_WORDS or word in CURRENCY_WORDS:
        return None
    sure = match.group(1) is not None and year in _YEARS and year % _ROUND
    return year if sure or match.group(3) or is_common_word(word) else None


_ROUND: Final = 100


def _has_may(text: str) -> bool:
    """Whether a text is in a language in which "mai" is a month."""
    votes = language_votes(text)
    return max(votes["German"], votes["French"]) > max(votes["Italian"], votes["Portuguese"], votes["Romanian"])


def _opens_a_span(text: str, end: int) -> bool:
    """Whether a date stands behind that ends what one begins: "dal 3 maggio al 8 giugno"."""
    gap = _SPAN_GAP.match(text, end)
    return gap is not None and text[gap.end() : gap.end() + 1].isdigit()
