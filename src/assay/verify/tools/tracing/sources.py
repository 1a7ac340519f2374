"""The sources to which arguments are traced: the texts of a run so far, each indexed once and only where needed.

Appending shares the existing indexes, so that a run can be checked as it grows.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, Self

from assay.schema import Span
from assay.schema.report_parts import SourceKind
from assay.text.dates import DateMention, InformalDate, find_dates, informal_clocks, informal_dates
from assay.text.quantities import Quantity, decode_number, find_quantities
from assay.verify.tools.tracing.excluded_mentions import find_excluded

MOST_PROSE: Final = 20_000
"""Characters of the longest source in which quantities and dates in words are read; in a longer one, only digits
are."""

MOST_NUMBERS: Final = 5_000
"""The most numbers of one source that are indexed."""

MOST_JSON: Final = 500_000
"""Characters of the longest JSON text whose lists are counted."""

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*(?:[eE][+-]?\d{1,3})?")
_ISO: Final = re.compile(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_RANKS: Final = {SourceKind.USER: 0, SourceKind.TOOL: 1, SourceKind.PASSAGE: 2}
_ESCAPES: Final = frozenset({"\\n", "\\t", "\\r"})
"""White space as JSON escapes it: a word begins after it."""

_TRIES: Final = 200
"""Occurrences of a needle that are examined one by one before a regular expression searches for the rest."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in a source."""

    source: "SourceText"
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text at the place."""
        return self.source.text[self.start : self.end]

    @property
    def span(self) -> Span:
        """The place as a value."""
        return Span(start=self.start, end=self.end)


class SourceText:
    """One text of the run with its lazily computed indexes."""

    def __init__(self, kind: SourceKind, id_: str, text: str) -> None:
        """`id_` is the id by which a provenance refers to it."""
        self.kind = kind
        self.id = id_
        self.text = text
        self._excluded: dict[frozenset[str], tuple[tuple[int, int], ...]] = {}
        self._without_excluded: dict[tuple[tuple[int, int], ...], SourceText] = {}

    def without_excluded(self, tool_words: AbstractSet[str]) -> "SourceText":
        """The text with spaces in place of the parts that justify no argument of a tool with these words in its
        name."""
        # Only what a user forbids depends on the tool.
        words = frozenset(tool_words) if self.kind is SourceKind.USER else frozenset()
        if words not in self._excluded:
            self._excluded[words] = tuple(find_excluded(self.kind, self.text, words))
        ranges = self._excluded[words]
        if not ranges:
            return self
        if ranges not in self._without_excluded:
            self._without_excluded[ranges] = SourceText(self.kind, self.id, _blank(self.text, ranges))
        return self._without_excluded[ranges]

    @cached_property
    def lowercase(self) -> str:
        """The text in lower case, with the same length and offsets."""
        lowercase = self.text.lower()
        return lowercase if len(lowercase) == len(self.text) else "".join(map(_lowercase_character, self.text))

    @cached_property
    def has_prose(self) -> bool:
        """Whether words of the text are read: it is not JSON, and has at most `MOST_PROSE` characters."""
        return len(self.text) <= MOST_PROSE and self.text.lstrip()[:1] not in ("{", "[")

    @cached_property
    def numbers(self) -> Mapping[Decimal, tuple[int, int]]:
        """The numbers in digits, and of prose also those in words, without signs, each with its first span."""
        numbers: dict[Decimal, tuple[int, int]] = {}
        for match in _DIGITS.finditer(self.text):
            for value in _possible_values(match.group()):
                numbers.setdefault(value, match.span())
            if len(numbers) >= MOST_NUMBERS:
                break
        if self.has_prose:
            for quantity in self.quantities:
                numbers.setdefault(abs(quantity.value), (quantity.start, quantity.end))
        return numbers

    @cached_property
    def date_numbers(self) -> frozenset[Decimal]:
        """The numbers that occur in this text only as a part of a day or of a time of day.

        The 15 of "15 June" or of "15:30" is not an amount that can be added or multiplied.
        """
        spans = [(m.start, m.end) for m in self.date_mentions if m.day is not None or m.minute is not None]
        if not spans:
            return frozenset()
        inside: set[Decimal] = set()
        outside: set[Decimal] = set()
        for match in _DIGITS.finditer(self.text):
            within = any(start <= match.start() and match.end() <= end for start, end in spans)
            (inside if within else outside).update(_possible_values(match.group()))
        for quantity in self.quantities:
            if not any(start < quantity.end and quantity.start < end for start, end in spans):
                outside.add(abs(quantity.value))
        return frozenset(inside - outside)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities in words or digits, with their units; none in a text longer than `MOST_PROSE`."""
        return find_quantities(self.text) if len(self.text) <= MOST_PROSE else ()

    @cached_property
    def date_mentions(self) -> tuple[DateMention, ...]:
        """The dates and times of day, as completely as the text states them."""
        return find_dates(self.text) if self.has_prose else ()

    @cached_property
    def days(self) -> Mapping[date, tuple[int, int]]:
        """The days that are stated with year, month and day, each with its first span."""
        days: dict[date, tuple[int, int]] = {}
        for match in _ISO.finditer(self.text):
            day = day_of(int(match.group(1)), int(match.group(2)), int(match.group(3)))
            if day is not None:
                days.setdefault(day, match.span())
        for mention in self.date_mentions:
            for month, dom in ((mention.month, mention.day), mention.other or (None, None)):
                if mention.year is not None and month is not None and dom is not None:
                    day = day_of(mention.year, month, dom)
                    if day is not None:
                        days.setdefault(day, (mention.start, mention.end))
        for informal in self.informal_mentions:
            if informal.year is not None and informal.month is not None and informal.day is not None:
                day = day_of(informal.year, informal.month, informal.day)
                if day is not None:
                    days.setdefault(day, (informal.start, informal.end))
        return days

    @cached_property
    def informal_mentions(self) -> tuple[InformalDate, ...]:
        """The dates in informal notation, which may be incomplete."""
        return tuple(informal_dates(self.lowercase)) if self.has_prose else ()

    @cached_property
    def minutes(self) -> Mapping[int, tuple[int, int]]:
        """The times of day in minutes since midnight, each with its first span."""
        if len(self.text) > MOST_PROSE:
            return {}
        minutes: dict[int, tuple[int, int]] = {}
        for mention in find_dates(self.text):
            if mention.minute is not None:
                minutes.setdefault(mention.minute, (mention.start, mention.end))
                if not mention.half_day:
                    minutes.setdefault((mention.minute + 720) % 1440, (mention.start, mention.end))
        for start, end, minute in informal_clocks(self.lowercase):
            minutes.setdefault(minute, (start, end))
        return minutes

    @cached_property
    def list_lengths(self) -> frozenset[int]:
        """The lengths of the lists in a JSON text, at any depth."""
        if self.text.lstrip()[:1] not in ("{", "[") or len(self.text) > MOST_JSON:
            return frozenset()
        try:
            stack: list[Any] = [json.loads(self.text)]
        except (ValueError, RecursionError):
            return frozenset()
        lengths: set[int] = set()
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                lengths.add(len(item))
            if isinstance(item, list | dict):
                stack.extend(item.values() if isinstance(item, dict) else item)
        return frozenset(lengths)

    @cached_property
    def normal_words(self) -> str:
        """The words of the text in normal form (see `normalise_words`), with a space between them and at both ends."""
        return f" {normalise_words(self.text)} "

    def find(self, needle: str) -> SourcePlace | None:
        """The first place of a lower-case needle where it is not part of a longer word or number."""
        for form in _written_forms(needle):
            place = _find_whole(self.lowercase, form)
            if place is not None:
                return SourcePlace(self, *place)
        return None

    def find_words(self, words: str) -> SourcePlace | None:
        """The first place of words in normal form, with any punctuation between them."""
        if not words or f" {words} " not in self.normal_words:
            return None
        parts = words.split(" ")
        pattern = r"[\W_]*".join(re.escape(part) for part in parts[:40])
        match = re.search(pattern, self.lowercase)
        # Words whose accents were removed are not found in the text itself: then the place is the whole text.
        return SourcePlace(self, match.start(), match.end()) if match else SourcePlace(self, 0, len(self.text))


class Sources:
    """The texts of a run in their order, and the current time of the run."""

    def __init__(self, texts: Iterable[SourceText] = (), now: datetime | date | None = None) -> None:
        """`now` is the time from which relative dates such as "tomorrow" are counted; without it they have no trace."""
        self.texts = tuple(texts)
        self.now = now.date() if isinstance(now, datetime) else now
        self.moment = now if isinstance(now, datetime) else None

    def append(self, *texts: SourceText) -> Self:
        """The sources with more texts at the end; existing indexes are shared."""
        return type(self)((*self.texts, *texts), self.moment or self.now)

    def __iter__(self) -> Iterator[SourceText]:
        """The texts in the order in which they are searched: the user's, tool results, passages, the rest; newest
        first."""
        return iter(self._by_rank)

    @cached_property
    def _by_rank(self) -> tuple[SourceText, ...]:
        newest_first = list(reversed(self.texts))
        return tuple(sorted(newest_first, key=lambda text: _RANKS.get(text.kind, len(_RANKS))))

    @cached_property
    def numbers(self) -> tuple[Decimal, ...]:
        """The distinct numbers of all sources in ascending order."""
        return tuple(sorted({value for text in self.texts for value in text.numbers}))

    @cached_property
    def days(self) -> frozenset[date]:
        """The days that any source states completely."""
        return frozenset(day for text in self.texts for day in text.days)

    @cached_property
    def months(self) -> frozenset[tuple[int, int]]:
        """The months, as (year, month), that any source states, and the current one."""
        stated = {
            (informal_dates.year, informal_dates.month)
            for text in self.texts
            for informal_dates in text.informal_mentions
        }
        stated |= {(mention.year, mention.month) for text in self.texts for mention in text.date_mentions}
        known = {(day.year, day.month) for day in self.days | ({self.now} if self.now else set())}
        return frozenset(known | {(year, month) for year, month in stated if year is not None and month is not None})

    @cached_property
    def years(self) -> frozenset[int]:
        """The years that a date without a year may be in: those of any source, the current one and its neighbours.

        Empty where neither the sources nor `now` give a year.
        """
        stated = {mention.year for text in self.texts for mention in text.date_mentions if mention.year is not None}
        stated |= {
            informal_dates.year
            for text in self.texts
            for informal_dates in text.informal_mentions
            if informal_dates.year is not None
        }
        stated |= {day.year for day in self.days}
        for words, shift in (("next year", 1), ("last year", -1)):
            if any(words in text.lowercase for text in self.texts if text.has_prose):
                stated |= {year + shift for year in stated}
        near = {self.now.year - 1, self.now.year, self.now.year + 1} if self.now else set()
        return frozenset(stated | near)

    def without_excluded(self, tool_words: AbstractSet[str]) -> Self:
        """The sources without the parts that justify no argument (`assay.verify.tools.tracing.excluded_mentions`)."""
        texts = tuple(text.without_excluded(tool_words) for text in self.texts)
        same = all(text is other for text, other in zip(texts, self.texts, strict=True))
        return self if same else type(self)(texts, self.moment or self.now)

    def allowed(self, kinds: frozenset[SourceKind] | None) -> Self:
        """The sources of the given kinds; all of them where none."""
        if kinds is None:
            return self
        return type(self)((text for text in self.texts if text.kind in kinds), self.moment or self.now)


def day_of(year: int, month: int, day: int) -> date | None:
    """The date; none where the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def normalise_words(text: str) -> str:
    """The words of a text in normal form: decomposed (NFKD), case-folded, without accents, only letters and digits.

    >>> normalise_words("  Café-Crème_2 ")
    'cafe creme 2'
    """
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _blank(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """A text with spaces in the place of ranges, which may overlap."""
    pieces = []
    at = 0
    for start, end in sorted(ranges):
        if end > at:
            pieces += [text[at:start], " " * (end - max(start, at))]
            at = end
    return "".join((*pieces, text[at:]))


def _lowercase_character(character: str) -> str:
    lowercase = character.lower()
    return lowercase if len(lowercase) == 1 else character


def _possible_values(digits: str) -> Iterator[Decimal]:
    """The possible values of digits with separators: a comma or a point may group digits or be the decimal sign."""
    if len(digits) > 40:
        return
    if "e" in digits or "E" in digits:
        yield Decimal(digits.replace(",", ""))
        return
    seen = set()
    for locale in ("en", "de"):
        decoded = decode_number(digits, locale)
        if decoded is not None and decoded[0] not in seen:
            seen.add(decoded[0])
            yield decoded[0]
    if "," in digits:
        # A list without spaces looks like grouped digits: each part may be a number of its own.
        yield from (decoded[0] for part in digits.split(",") if (decoded := decode_number(part)) is not None)
    if not seen and digits.count(".") > 1:
        yield from (Decimal(part) for part in re.split(r"[.,]", digits))


def _written_forms(needle: str) -> Iterator[str]:
    """The needle, and the forms in which JSON may escape it."""
    yield needle
    if not needle.isascii() or any(c in needle for c in '"\\\n\t'):
        yield json.dumps(needle, ensure_ascii=False)[1:-1].lower()
        yield json.dumps(needle)[1:-1].lower()
    if "/" in needle:
        yield needle.replace("/", "\\/")


def _find_whole(lowercase: str, needle: str) -> tuple[int, int] | None:
    """The first span of the needle where it is not part of a longer word or number."""
    if not needle:
        return None
    guard_left, guard_right = needle[0].isalnum(), needle[-1].isalnum()
    start = lowercase.find(needle)
    for _ in range(_TRIES):
        if start < 0:
            return None
        end = start + len(needle)
        clear_left = (
            not guard_left
            or start == 0
            or not lowercase[start - 1].isalnum()
            or lowercase[start - 2 : start] in _ESCAPES
        )
        clear_right = not guard_right or end == len(lowercase) or not lowercase[end].isalnum()
        if clear_left and clear_right:
            return start, end
        start = lowercase.find(needle, start + 1)
    left, right = r"(?:(?<![^\W_])|(?<=\\[ntr]))" if guard_left else "", r"(?![^\W_])" if guard_right else ""
    match = re.search(left + re.escape(needle) + right, lowercase)
    return match.span() if match else None
