"""Dates with a day or a year beside a month's name in German, French, Spanish, Italian and Portuguese.

"3. März 2024", "1er août", "3 de marzo de 2024", "im März 2024". A month alone is none: "mars" and "mayo" are English
words too.
"""

import re
from collections.abc import Iterator
from typing import Final

from assay.text.dates.months import MONTH_NAMES
from assay.text.dates.values import DateMention
from assay.text.lexicon.lexemes import lexeme, word_list
from assay.text.sentences.languages import leans_from_english

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
_ONE_OF: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"(?:(?<![\w.,/:-])(\d{{1,2}})(?:\.|er|º|°)?\s(?:de\s)?)?\b({_ONE_OF})\b(?:\s(?:de\s|del\s)?(\d{{4}})(?![\d-]))?",
    re.IGNORECASE,
)
MONTH_FOLDS: Final = frozenset(lexeme(name).fold for name in _MONTHS)
"""The names as words are folded: a text without any of them has no such date."""
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def other_dates(text: str) -> Iterator[DateMention]:
    """The dates of a text that name a month in another language than English.

    >>> [(one.year, one.month, one.day) for one in other_dates("Am 3. März 2024 wird das Büro geöffnet.")]
    [(2024, 3, 3)]
    >>> list(other_dates("They sold 3 Mars bars."))
    []
    """
    leans: bool | None = None
    for match in _DATE.finditer(text):
        day, name, year = match.group(1), match.group(2).lower(), match.group(3)
        month = _MONTHS[name]
        if (day is None and year is None) or not 1 <= int(day or 1) <= _DAYS[month - 1]:
            continue
        if name in _ENGLISH:
            leans = leans_from_english(text) if leans is None else leans
            if not leans:
                continue
        yield DateMention(
            match.start(),
            match.end(),
            None if year is None else int(year),
            month=month,
            day=None if day is None else int(day),
        )
