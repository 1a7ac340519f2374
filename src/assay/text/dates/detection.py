"""Finds the dates, times of day and parts of the calendar in a text.

A date has only the fields that it states: "January 2024" has a year and a month, "14 March" has no year, "3/4/2020" is
either of two days. Two dates are compared field by field, so a coarser one is compatible with a finer one within it.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress
from operator import itemgetter

from assay.text.dates.clock_times import TRIGGERS, find_adjoining_clocks, find_clock_words
from assay.text.dates.months import DAYS_IN_MONTH, MONTHS
from assay.text.dates.other_languages import MONTH_FOLDS, other_dates
from assay.text.dates.values import Bound, DateMention, DateRelation, relate_dates
from assay.text.lexicon.lexemes import Words, find_words, word_list, word_set
from assay.text.quantities.units import OTHER_UNIT_WORDS, UNIT_WORDS
from assay.text.quantities.units_after import UnitAfter, unit_after

__all__ = ["Bound", "DateMention", "DateRelation", "find_dates", "relate_dates"]

_AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan", "dec", "sep", "jun"})
_DAY_NAMES = word_list("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAYS = {form: n for n, name in enumerate(_DAY_NAMES) for form in (name, f"{name}s")}
_WORD_CENTURIES = {
    word: n
    for n, word in enumerate(
        word_list(
            """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"""
        ),
        start=1,
    )
}

_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4})(?!\d)(?!-\d)"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?!\d)(?![-/.]\d)")
_SLASHED = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)(?![-/.]\d)")
_DAY_OF = re.compile(r"(?:st|nd|rd|th)?\s?(?:of\s)?(?=[^\W\d_])")
_AFTER_MONTH_DAY = re.compile(rf"\.?\s(?:the\s)?{_DAY}(?![\d:%]|,\d{{3}}|[.]\d)(?:(?:,\s?|\s){_YEAR})?")
_AFTER_MONTH_YEAR = re.compile(rf"\.?,?\s(?:of\s)?{_YEAR}")
_QUARTER = re.compile(r"[Qq]([1-4])\b(?:[\s,]*(?:of\s)?(?:FY\s?)?(\d{4})\b)?")
_DECADE = re.compile(r"(\d{3}0)['’]?s\b")
_SHORT_DECADE = re.compile(r"['’](\d0)s\b")
_CENTURY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)[\s-]century\b", re.IGNORECASE)
_ERA = re.compile(r"\s?(BCE|BC|B\.C\.(?:E\.)?)(?!\w)")
_ERA_AFTER = re.compile(r"\s?(?:AD|CE|A\.D\.|C\.E\.)(?!\w)")
_ERA_STARTS = frozenset("ABC")
_CLOCK = re.compile(
    r"(\d{1,2})(?::([0-5]\d)(?::[0-5]\d)?)?\s?([AaPp])(?:[Mm]\b|\.\s?[Mm]\b\.?)|([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?![:\d])"
)
_SPAN_REST = re.compile(r"[-–/](?:\d\d)?(\d\d)(?![\d-])")
"""The second half of a range of two years: "2018–19", "2018-2019"."""

_SPAN_MARKS = frozenset("-–/")
_YEAR_QUARTER = re.compile(r"\s?[-]?Q([1-4])\b")
_BOUND_WORDS: dict[str, Bound] = {
    "before": "before",
    "after": "after",
    "since": "since",
    "until": "until",
    "till": "until",
    "by": "until",
    "about": "about",
    "around": "about",
    "circa": "about",
    "c": "about",
    "ca": "about",
    "approximately": "about",
    "following": "after",
    "from": "exact",
    "post": "after",
    "pre": "before",
}
_YEAR_CONTEXT = word_set(
    """in since by until of from to and before after during around about circa year fiscal late early mid through
    between spring summer autumn fall winter c ca season on for the or till than born died established founded"""
)
_YEAR_MARKS = frozenset({"(", "-", "–", "—", ",", "[", ":", "/", "(-", "),", ")", "|", ";"})
_LABEL_MARKS = frozenset({":", "|", "="})
_CERTAIN_YEARS = frozenset({"in", "since", "year", "during"})
"""Words before a year after which even a plural follows a year: "in 2019 sales rose"."""

_YEAR_LEADS = _CERTAIN_YEARS | {"of", "for", "the", "by", "until"}
"""Words before a number after which a symbol that may be another word does not make it an amount."""

_USUAL_YEARS = range(1900, 2100)
_WORD_SYMBOLS = frozenset({"bar"})
_PRICE_CUES = word_set("price priced cost costs costing pay pays paid fee fare worth korean krw charge charges rent")
_MEASURES = word_set(
    """power voltage current output load rating capacity storage memory disk energy weight mass length height width
    distance speed force volume temperature charge"""
)
_UPPER_END = re.compile(r"(?:\s?[-–—]\s?|\s(?:to|and|or)\s)(\d{3,9})(?![.,-]?\d)")
"""The rest of a range of numbers, of which the second is written without separators."""

_NO_UNIT_REST = re.compile(
    r"\d|[$€£]|[\s-]levels?\b|\s(?:won|wins|win|beat|lost|took|had|has|have|was|were|is|sent|did)\b"
)
"""What follows a letter that is no unit: "2019 V8", "2019 A$5", "1999 A level", "2012 GB won"."""

_WINS = re.compile(r"\s(?:\d|(?:the|an?|its|his|her|their|over|by|three|two|several|many)\b)")
_INITIAL = re.compile(r"\.\s[^\W\d_]")
_GOES_ON = re.compile(r"[\s-]?(?!per\b)[^\W\d_]")
_DATE_MARKS = frozenset("-/.")
_NOT_A_YEAR = frozenset({"$", "€", "£", "¥", "#", "₹"})
_EARLIEST_YEAR, _LATEST_YEAR = 1000, 2199
_FOLD, _DIGIT = itemgetter(0), itemgetter(4)
"""`Lexeme.fold` and `Lexeme.digit`, as fast getters for all words of a text."""


class _Reader:
    """Reads the dates of one text."""

    def __init__(self, text: str, words: Words, skip: Sequence[tuple[int, int]], day_first: bool) -> None:
        self.text = text
        self.words = words
        self.folds = list(map(_FOLD, words.lexemes))
        self.skip = sorted(skip)
        self.skip_starts = [start for start, _ in self.skip]
        self.day_first = day_first

    def read(self) -> list[DateMention]:
        found: list[DateMention] = []
        read_to = 0
        starts = self.words.starts
        lexemes = self.words.lexemes
        for at in self._candidate_words():
            if starts[at] < read_to:
                continue
            if self.is_skipped(starts[at]):
                continue
            mention = self._from_digits(at) if lexemes[at].digit else self._from_word(at)
            if mention is not None:
                found.append(mention)
                read_to = mention.end
        return found

    def is_skipped(self, start: int) -> bool:
        """Whether a character is in one of the spans to skip."""
        at = bisect_left(self.skip_starts, start + 1)
        return at > 0 and self.skip[at - 1][1] > start

    def _candidate_words(self) -> list[int]:
        """Indices of the words with which a date may begin."""
        lexemes = self.words.lexemes
        digits = list(compress(range(len(lexemes)), map(_DIGIT, lexemes)))
        if _DATE_WORDS.isdisjoint(self.folds):
            return digits
        return sorted({*digits, *[at for at, folded in enumerate(self.folds) if folded in _DATE_WORDS]})

    def _bound(self, at: int) -> Bound:
        """The bound set by the one or two words before word `at`."""
        for back in (1, 2):
            if at - back < 0:
                break
            word = self.folds[at - back]
            if word in _BOUND_WORDS:
                return _BOUND_WORDS[word]
            if word not in {"the", "early", "late", "mid", "year"}:
                break
        return "exact"

    def _from_digits(self, at: int) -> DateMention | None:
        text, start = self.text, self.words.starts[at]
        bound = self._bound(at)
        before = text[start - 1] if start else " "
        if before in _NOT_A_YEAR:
            return None
        if before in ".,-/:" and start > 1 and text[start - 2].isdigit():
            return self._year(at, bound) if before == "-" and text[max(0, start - 5) : start - 1].isdecimal() else None
        if before == "'" or before == "’":
            short = _SHORT_DECADE.match(text, start - 1)
            if short:
                year = 1900 + int(short.group(1))
                return DateMention(start - 1, short.end(), year, year + 9, bound=bound)
        if text[start : self.words.ends[at]].isdecimal():
            return self._digits_only(at, bound)
        clock = _CLOCK.match(text, start)
        if clock:
            return _clock(clock, bound)
        century = _CENTURY.match(text, start)
        if century:
            last = int(century.group(1)) * 100
            return DateMention(start, century.end(), last - 99, last, bound=bound)
        iso = _ISO.match(text, start)
        if iso:
            mention = self._iso(iso, bound)
            if mention is not None:
                return mention
        slashed = _SLASHED.match(text, start)
        if slashed:
            mention = self._slashed(slashed, bound)
            if mention is not None:
                return mention
        return self._day_month(at, bound) or self._year(at, bound)

    def _digits_only(self, at: int, bound: Bound) -> DateMention | None:
        """A date whose first word is only digits: their number and the next character leave few forms to try."""
        text, start, end = self.text, self.words.starts[at], self.words.ends[at]
        follower = text[end : end + 1]
        if end - start <= 2:
            clock = _CLOCK.match(text, start) if follower == ":" or follower.isspace() else None
            if clock:
                return _clock(clock, bound)
            slashed = _SLASHED.match(text, start) if follower in _DATE_MARKS else None
            mention = self._slashed(slashed, bound) if slashed else None
            return mention or self._day_month(at, bound) or self._year(at, bound)
        iso = _ISO.match(text, start) if end - start == 4 and follower in _DATE_MARKS else None
        return (self._iso(iso, bound) if iso else None) or self._year(at, bound)

    def _iso(self, match: re.Match[str], bound: Bound) -> DateMention | None:
        year, month = int(match.group(1)), int(match.group(3))
        day = int(match.group(4)) if match.group(4) else None
        if not 1 <= month <= 12 or (day is not None and not 1 <= day <= DAYS_IN_MONTH[month - 1]):
            return None
        if day is None and (
            match.group(2) != "-" or len(match.group(3)) != 2 or not _EARLIEST_YEAR <= year <= _LATEST_YEAR
        ):
            return None
        return DateMention(match.start(), match.end(), year, month=month, day=day, bound=bound)

    def _slashed(self, match: re.Match[str], bound: Bound) -> DateMention | None:
        first, second = int(match.group(1)), int(match.group(3))
        year = int(match.group(4))
        if len(match.group(4)) == 2:
            if match.group(2) != "/":
                return None
            year += 2000 if year < 50 else 1900
        day_first = self.day_first or match.group(2) == "."
        readings = [(second, first), (first, second)] if day_first else [(first, second), (second, first)]
        valid = [(m, d) for m, d in readings if 1 <= m <= 12 and 1 <= d <= DAYS_IN_MONTH[m - 1]]
        if not valid:
            return None
        month, day = valid[0]
        ambiguous = len(valid) > 1 and valid[0] != valid[1] and match.group(2) != "."
        other = valid[1] if ambiguous else None
        return DateMention(match.start(), match.end(), year, month=month, day=day, other=other, bound=bound)

    def _day_month(self, at: int, bound: Bound) -> DateMention | None:
        """ "14 March 2020", "14th of March"."""
        text, start = self.text, self.words.starts[at]
        following = self.folds[at + 1] if at + 1 < len(self.folds) else ""
        if following not in MONTHS and following != "of":
            return None
        digits = self.folds[at].rstrip("sthndr")
        if not digits.isdecimal() or len(digits) > 2:
            return None
        between = _DAY_OF.match(text, start + len(digits))
        if between is None:
            return None
        next_word = bisect_left(self.words.starts, between.end())
        if next_word >= len(self.folds) or self.words.starts[next_word] != between.end():
            return None
        month = MONTHS.get(self.folds[next_word])
        day = int(digits)
        if month is None or not 1 <= day <= DAYS_IN_MONTH[month - 1] or not self.words.lexemes[next_word].capital:
            return None
        end = self.words.ends[next_word]
        year = _AFTER_MONTH_YEAR.match(text, end)
        if year:
            return DateMention(start, year.end(), int(year.group(1)), month=month, day=day, bound=bound)
        return DateMention(start, end, month=month, day=day, bound=bound)

    def _year(self, at: int, bound: Bound) -> DateMention | None:
        text, start, end = self.text, self.words.starts[at], self.words.ends[at]
        digits = text[start:end]
        decade = None if digits.isdecimal() else _DECADE.match(text, start)
        if decade:
            year = int(decade.group(1))
            last = year + (99 if year % 100 == 0 and self._is_century(at) else 9)
            return DateMention(start, decade.end(), year, last, bound=bound)
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 4):
            return None
        if text[end : end + 2].lstrip()[:1] in _ERA_STARTS:
            era = _ERA.match(text, end)
            if era:
                return DateMention(start, era.end(), -int(digits), bound=bound)
            if _ERA_AFTER.match(text, end):
                return DateMention(start, end, int(digits), bound=bound)
        if len(digits) != 4 or not _EARLIEST_YEAR <= int(digits) <= _LATEST_YEAR or not self._reads_as_year(at):
            return None
        rest = _SPAN_REST.match(text, end) if text[end : end + 1] in _SPAN_MARKS else None
        if rest and int(rest.group(1)) == (int(digits) + 1) % 100:
            return DateMention(start, rest.end(), int(digits), int(digits) + 1, bound=bound)
        quarter = _YEAR_QUARTER.match(text, end)
        if quarter:
            return _quarter(start, quarter.end(), int(quarter.group(1)), int(digits), bound)
        return DateMention(start, end, int(digits), bound=bound)

    def _is_century(self, at: int) -> bool:
        return at > 0 and self.folds[at - 1] == "the" and not (at > 1 and self.folds[at - 2] in {"early", "late"})

    def _reads_as_year(self, at: int) -> bool:
        """Whether a bare four-digit number is a year rather than a count, judged by the words around it."""
        text, end = self.text, self.words.ends[at]
        follower = text[end : end + 1]
        if follower and follower in "%°$€£+":
            return False
        if follower in {".", ","} and text[end + 1 : end + 2].isdigit():
            return False
        if self._is_amount(at):
            return False
        if follower in {"-", "–", "/"} and _SPAN_REST.match(text, end):
            return True
        if at + 1 < len(self.folds) and text[end : self.words.starts[at + 1]] in {" ", "-"}:
            following = self.words.lexemes[at + 1]
            plural = following.fold.endswith("s") and following.stem != following.fold and not following.capital
            if plural and not (at and self.folds[at - 1] in _CERTAIN_YEARS):
                return False
        if at == 0:
            return True
        if text[self.words.ends[at - 1] : self.words.starts[at]].strip(" ") in _YEAR_MARKS:
            return True
        return self.folds[at - 1] in _YEAR_CONTEXT or self.words.lexemes[at - 1].capital or self._follows_year(at)

    def _is_amount(self, at: int) -> bool:
        """Whether a unit, a currency or a scale follows the number or the upper end of its range: "1500-2000 kg"."""
        text, end = self.text, self.words.ends[at]
        before = self.folds[at - 1] if at else ""
        gap = text[self.words.ends[at - 1] : self.words.starts[at]] if at else ""
        labelled = gap.strip(" ") in _LABEL_MARKS
        leads = gap == " " and before in _YEAR_LEADS
        certain_year = gap == " " and before in _CERTAIN_YEARS
        found = unit_after(text, end)
        if found is None and not (certain_year or (leads and before in {"by", "until"})):
            upper = _UPPER_END.match(text, end)
            if upper and int(upper.group(1)) > int(text[self.words.starts[at] : end]):
                found = unit_after(text, upper.end())
        if found is None or found.unit.dimension == "factor" or self._is_other_word(found, at, labelled):
            return False
        if found.spelled or found.word in _WORD_SYMBOLS:
            return not certain_year and self._is_unit_word(found, labelled)
        if gap == " " and (certain_year or before == "the") and found.unit.dimension.startswith("money") and found.word:
            return False  # "in 2015 USD"
        lone = len(found.word) == 1
        ambiguous = found.unit.dimension == "data" or (lone and found.word.isupper())
        if labelled or not ambiguous:
            return not (lone and certain_year)
        followed = _NO_UNIT_REST.match(text, found.end) or (lone and _INITIAL.match(text, found.end))
        if certain_year or followed:
            return False
        if lone and int(text[self.words.starts[at] : end]) not in _USUAL_YEARS:
            return True
        return self._follows_measure(at) or not (leads or (gap == " " and self.words.lexemes[at - 1].capital))

    def _is_other_word(self, found: UnitAfter, at: int, labelled: bool) -> bool:
        """Whether what is spelled like a unit is another word, as in "of 2005 won" and "2018 million-dollar"."""
        if found.unit.dimension == "scale":
            year = int(self.text[self.words.starts[at] : self.words.ends[at]]) in _USUAL_YEARS
            return self.text[found.end : found.end + 1] == "-" or (year and at > 0 and self.folds[at - 1] == "the")
        if found.word.lower() != "won":
            return False
        cued = labelled or not _PRICE_CUES.isdisjoint(self.folds[max(0, at - 4) : at])
        return not cued or _WINS.match(self.text, found.end) is not None

    def _follows_measure(self, at: int) -> bool:
        """Whether what is measured stands before the number: "a power of 2000 W"."""
        back = at - 2 if at > 1 and self.folds[at - 1] == "of" else at - 1
        return back >= 0 and self.folds[back] in _MEASURES

    def _is_unit_word(self, found: UnitAfter, labelled: bool) -> bool:
        """Whether a word that may be a unit is one after a number that may be a year.

        A plural is, and so is a singular at the end of its phrase or after a label: in "the 2019 second quarter" and
        "the class of 1995 won" the word is something else.
        """
        lexeme = find_words(found.word).lexemes[0]
        if lexeme.capital and not labelled and lexeme.fold not in OTHER_UNIT_WORDS:
            return False
        if found.unit.dimension in {"scale", "share"} or lexeme.fold.endswith("s"):
            return True
        if lexeme.stem != lexeme.fold and lexeme.stem in UNIT_WORDS:  # "feet"
            return True
        return (labelled and found.unit.dimension != "time") or not _GOES_ON.match(self.text, found.end)

    def _follows_year(self, at: int) -> bool:
        following = self.folds[at + 1] if at + 1 < len(self.folds) else ""
        return following in {"and", "to"} or self.words.ends[at] == len(self.text.rstrip(".!? "))

    def _from_word(self, at: int) -> DateMention | None:
        text, start, end = self.text, self.words.starts[at], self.words.ends[at]
        folded, capital = self.folds[at], self.words.lexemes[at].capital
        bound = self._bound(at)
        if folded[0] == "q" or folded.startswith("fy"):
            return self._fiscal(start, bound)
        if folded in _WORD_CENTURIES:
            return self._from_ordinal_word(at, bound)
        if not capital:
            return None
        if folded in _WEEKDAYS:
            return DateMention(start, end, weekday=_WEEKDAYS[folded], bound=bound)
        month = MONTHS[folded]
        day = _AFTER_MONTH_DAY.match(text, end)
        if day and 1 <= int(day.group(1)) <= DAYS_IN_MONTH[month - 1]:
            year = int(day.group(2)) if day.group(2) else None
            return DateMention(start, day.end(), year, month=month, day=int(day.group(1)), bound=bound)
        in_year = _AFTER_MONTH_YEAR.match(text, end)
        if in_year:
            return DateMention(start, in_year.end(), int(in_year.group(1)), month=month, bound=bound)
        if folded in _AMBIGUOUS_MONTHS and (
            at == 0 or self.folds[at - 1] not in _YEAR_CONTEXT | {"last", "next", "this"}
        ):
            return None
        return DateMention(start, end, month=month, bound=bound)

    def _fiscal(self, start: int, bound: Bound) -> DateMention | None:
        quarter = _QUARTER.match(self.text, start)
        if quarter:
            year = int(quarter.group(2)) if quarter.group(2) else None
            return _quarter(start, quarter.end(), int(quarter.group(1)), year, bound)
        fiscal = re.compile(r"FY\s?(\d{4})\b").match(self.text, start)
        return DateMention(start, fiscal.end(), int(fiscal.group(1)), bound=bound) if fiscal else None

    def _from_ordinal_word(self, at: int, bound: Bound) -> DateMention | None:
        """ "nineteenth century" and "third quarter of 2020"."""
        if at + 1 >= len(self.folds):
            return None
        start, following, end = self.words.starts[at], self.folds[at + 1], self.words.ends[at + 1]
        number = _WORD_CENTURIES[self.folds[at]]
        if following == "century":
            if number == 1 and at and self.folds[at - 1] == "twenty":
                number, start = 21, self.words.starts[at - 1]
            return DateMention(start, end, number * 100 - 99, number * 100, bound=bound)
        if following == "quarter" and number <= 4:
            year = re.compile(r"(?:,?\s(?:of\s)?(?:fiscal\s(?:year\s)?)?)(\d{4})\b").match(self.text, end)
            return _quarter(start, year.end() if year else end, number, int(year.group(1)) if year else None, bound)
        return None


_DATE_WORDS = (
    frozenset(_WEEKDAYS)
    | frozenset(MONTHS)
    | frozenset(_WORD_CENTURIES)
    | {"q1", "q2", "q3", "q4", "fy"}
    | {f"fy{year}" for year in range(1980, 2080)}
)


def _quarter(start: int, end: int, number: int, year: int | None, bound: Bound) -> DateMention:
    return DateMention(start, end, year, month=3 * number - 2, last_month=3 * number, bound=bound)


def _clock(match: re.Match[str], bound: Bound) -> DateMention | None:
    if match.group(3):
        hour, minute = int(match.group(1)), int(match.group(2) or 0)
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match.group(3) in "Pp" else 0)
        return DateMention(match.start(), match.end(), minute=60 * hour + minute, bound=bound)
    hour, minute = int(match.group(4)), int(match.group(5))
    half_day = hour > 12 or hour == 0 or match.group(4).startswith("0")
    return DateMention(match.start(), match.end(), minute=60 * (hour % 24) + minute, half_day=half_day, bound=bound)


def find_dates(
    text: str, words: Words | None = None, *, skip: Sequence[tuple[int, int]] = (), day_first: bool = False
) -> tuple[DateMention, ...]:
    """The dates and times of day of a text in reading order.

    Args:
        text: the text.
        words: its words, if the caller has split it already.
        skip: half-open character ranges in which no date begins.
        day_first: whether 3/4/2020 is 3 April rather than 4 March; the other reading is kept in `DateMention.other`.

    >>> [(d.year, d.month, d.day) for d in find_dates("From 14 March 2020 until January 2024.")]
    [(2020, 3, 14), (2024, 1, None)]
    """
    reader = _Reader(text, words if words is not None else find_words(text), skip, day_first)
    found = reader.read()
    has_month_name = not MONTH_FOLDS.isdisjoint(reader.folds)
    other_language_dates = (
        [one for one in other_dates(text) if not reader.is_skipped(one.start)] if has_month_name else []
    )
    if other_language_dates:  # their years were also read as dates of their own
        disjoint = [one for one in found if all(one.end <= o.start or o.end <= one.start for o in other_language_dates)]
        found = sorted([*disjoint, *other_language_dates], key=lambda m: m.start)
    clock_times = [*find_adjoining_clocks(text), *(() if TRIGGERS.isdisjoint(reader.folds) else find_clock_words(text))]
    return tuple(
        _add_disjoint(found, [one for one in clock_times if not reader.is_skipped(one.start)]) if clock_times else found
    )


def _add_disjoint(found: list[DateMention], clock_times: Sequence[DateMention]) -> list[DateMention]:
    """The mentions with the clock times that overlap none of them; of two that overlap, the longer one is added."""
    taken = sorted((one.start, one.end) for one in found)
    for one in sorted(clock_times, key=lambda m: m.start - m.end):
        at = bisect_left(taken, (one.end, 0))
        if not at or taken[at - 1][1] <= one.start:
            found.append(one)
            taken.insert(at, (one.start, one.end))
    return sorted(found, key=lambda m: m.start)
