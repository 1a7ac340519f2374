"""What an argument may be traced to: the texts that a run has seen so far, each indexed once and only where needed.

Appending shares every index that is already made, so that a run is checked as it grows.
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
"""Characters of one source in which quantities and dates in words are read; beyond it, only digits are."""

MOST_NUMBERS: Final = 5_000
"""Numbers of one source that are kept."""

MOST_JSON: Final = 500_000
"""Characters of a JSON text in which lists are counted."""

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*(?:[eE][+-]?\d{1,3})?")
_ISO: Final = re.compile(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_RANKS: Final = {SourceKind.USER: 0, SourceKind.TOOL: 1, SourceKind.PASSAGE: 2}
_ESCAPES: Final = frozenset({"\\n", "\\t", "\\r"})
"""White space as JSON writes it: what follows it begins a word."""

_TRIES: Final = 200
"""Places of a text that are tried before a pattern takes over."""


@dataclass(frozen=True, slots=True)
class Found:
    """A place in a source."""

    source: "SourceText"
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words that are there."""
        return self.source.text[self.start : self.end]

    @property
    def span(self) -> Span:
        """The place as a value."""
        return Span(start=self.start, end=self.end)


class SourceText:
    """One text that the run has seen, with what was read in it so far. Equal texts give equal answers."""

    def __init__(self, kind: SourceKind, id_: str, text: str) -> None:
        """`id_` is the name by which a provenance refers to it."""
        self.kind = kind
        self.id = id_
        self.text = text
        self._excluded: dict[frozenset[str], tuple[tuple[int, int], ...]] = {}
        self._heeded: dict[tuple[tuple[int, int], ...], SourceText] = {}

    def heeded(self, tool_words: AbstractSet[str]) -> "SourceText":
        """The text with blanks in the place of what lends nothing to a call of a tool with these words in its name."""
        # Only what a user forbids depends on the tool.
        words = frozenset(tool_words) if self.kind is SourceKind.USER else frozenset()
        if words not in self._excluded:
            self._excluded[words] = tuple(find_excluded(self.kind, self.text, words))
        ranges = self._excluded[words]
        if not ranges:
            return self
        if ranges not in self._heeded:
            self._heeded[ranges] = SourceText(self.kind, self.id, _blank(self.text, ranges))
        return self._heeded[ranges]

    @cached_property
    def low(self) -> str:
        """The text in lower case, character for character as long as the text."""
        low = self.text.lower()
        return low if len(low) == len(self.text) else "".join(map(_low_character, self.text))

    @cached_property
    def has_prose(self) -> bool:
        """Whether the text is short enough, and no JSON, so that words in it are read."""
        return len(self.text) <= MOST_PROSE and self.text.lstrip()[:1] not in ("{", "[")

    @cached_property
    def numbers(self) -> Mapping[Decimal, tuple[int, int]]:
        """The numbers written in digits, each with its first place; signs are left out."""
        found: dict[Decimal, tuple[int, int]] = {}
        for match in _DIGITS.finditer(self.text):
            for value in _readings(match.group()):
                found.setdefault(value, match.span())
            if len(found) >= MOST_NUMBERS:
                break
        if self.has_prose:
            for quantity in self.quantities:
                found.setdefault(abs(quantity.value), (quantity.start, quantity.end))
        return found

    @cached_property
    def dated(self) -> frozenset[Decimal]:
        """The numbers that are in this text only as a part of a day or of a time of day.

        The 15 of "15 June" or of "15:30" is no amount that anything could be added to or multiplied with.
        """
        spans = [(m.start, m.end) for m in self.mentions if m.day is not None or m.minute is not None]
        if not spans:
            return frozenset()
        inside: set[Decimal] = set()
        outside: set[Decimal] = set()
        for match in _DIGITS.finditer(self.text):
            within = any(start <= match.start() and match.end() <= end for start, end in spans)
            (inside if within else outside).update(_readings(match.group()))
        for quantity in self.quantities:
            if not any(start < quantity.end and quantity.start < end for start, end in spans):
                outside.add(abs(quantity.value))
        return frozenset(inside - outside)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities with their units, in words or digits."""
        return find_quantities(self.text) if len(self.text) <= MOST_PROSE else ()

    @cached_property
    def mentions(self) -> tuple[DateMention, ...]:
        """The dates and times of day as far as the text states them."""
        return find_dates(self.text) if self.has_prose else ()

    @cached_property
    def days(self) -> Mapping[date, tuple[int, int]]:
        """The days that are written with year, month and day, each with its first place."""
        found: dict[date, tuple[int, int]] = {}
        for match in _ISO.finditer(self.text):
            day = day_of(int(match.group(1)), int(match.group(2)), int(match.group(3)))
            if day is not None:
                found.setdefault(day, match.span())
        for mention in self.mentions:
            for month, dom in ((mention.month, mention.day), mention.other or (None, None)):
                if mention.year is not None and month is not None and dom is not None:
                    day = day_of(mention.year, month, dom)
                    if day is not None:
                        found.setdefault(day, (mention.start, mention.end))
        for loose in self.loose:
            if loose.year is not None and loose.month is not None and loose.day is not None:
                day = day_of(loose.year, loose.month, loose.day)
                if day is not None:
                    found.setdefault(day, (loose.start, loose.end))
        return found

    @cached_property
    def loose(self) -> tuple[InformalDate, ...]:
        """The dates as people type them, with all that they leave out."""
        return tuple(informal_dates(self.low)) if self.has_prose else ()

    @cached_property
    def minutes(self) -> Mapping[int, tuple[int, int]]:
        """The times of day in minutes since midnight, each with its first place."""
        if len(self.text) > MOST_PROSE:
            return {}
        found: dict[int, tuple[int, int]] = {}
        for mention in find_dates(self.text):
            if mention.minute is not None:
                found.setdefault(mention.minute, (mention.start, mention.end))
                if not mention.half_day:
                    found.setdefault((mention.minute + 720) % 1440, (mention.start, mention.end))
        for start, end, minute in informal_clocks(self.low):
            found.setdefault(minute, (start, end))
        return found

    @cached_property
    def list_lengths(self) -> frozenset[int]:
        """How many items the lists have that a JSON text holds, at any depth."""
        if self.text.lstrip()[:1] not in ("{", "[") or len(self.text) > MOST_JSON:
            return frozenset()
        try:
            stack: list[Any] = [json.loads(self.text)]
        except (ValueError, RecursionError):
            return frozenset()
        found: set[int] = set()
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                found.add(len(item))
            if isinstance(item, list | dict):
                stack.extend(item.values() if isinstance(item, dict) else item)
        return frozenset(found)

    @cached_property
    def squashed(self) -> str:
        """The words of the text in a normal form (NFKC, case folded, marks off), one space between them and around."""
        return f" {squash(self.text)} "

    def find(self, needle: str) -> Found | None:
        """The first place of a text in lower case that is no part of a longer word or number."""
        for form in _written_forms(needle):
            place = _find_whole(self.low, form)
            if place is not None:
                return Found(self, *place)
        return None

    def find_words(self, words: str) -> Found | None:
        """The first place of words in their squashed form, whatever stands between them."""
        if not words or f" {words} " not in self.squashed:
            return None
        parts = words.split(" ")
        pattern = r"[\W_]*".join(re.escape(part) for part in parts[:40])
        match = re.search(pattern, self.low)
        # Where marks were taken off the words the place is not found in the text itself: all of it is named.
        return Found(self, match.start(), match.end()) if match else Found(self, 0, len(self.text))


class Sources:
    """The texts of a run in the order in which they came, and the time that counts as now."""

    def __init__(self, texts: Iterable[SourceText] = (), now: datetime | date | None = None) -> None:
        """`now` is what relative dates such as "tomorrow" are counted from; without it they lead nowhere."""
        self.texts = tuple(texts)
        self.now = now.date() if isinstance(now, datetime) else now
        self.moment = now if isinstance(now, datetime) else None

    def append(self, *texts: SourceText) -> Self:
        """The sources with more texts at the end; what was indexed stays indexed."""
        return type(self)((*self.texts, *texts), self.moment or self.now)

    def __iter__(self) -> Iterator[SourceText]:
        """The user's words first, then the newest tool results, then the rest: the order in which origins are named."""
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
        """The days that any source writes out."""
        return frozenset(day for text in self.texts for day in text.days)

    @cached_property
    def months(self) -> frozenset[tuple[int, int]]:
        """The months, with their years, that any source names or that now is in."""
        stated = {(loose.year, loose.month) for text in self.texts for loose in text.loose}
        stated |= {(mention.year, mention.month) for text in self.texts for mention in text.mentions}
        known = {(day.year, day.month) for day in self.days | ({self.now} if self.now else set())}
        return frozenset(known | {(year, month) for year, month in stated if year is not None and month is not None})

    @cached_property
    def years(self) -> frozenset[int]:
        """The years that a date without one may be in: those that any source states, and this one and its neighbours.

        Empty where nothing says when the run takes place.
        """
        stated = {mention.year for text in self.texts for mention in text.mentions if mention.year is not None}
        stated |= {loose.year for text in self.texts for loose in text.loose if loose.year is not None}
        stated |= {day.year for day in self.days}
        for words, shift in (("next year", 1), ("last year", -1)):
            if any(words in text.low for text in self.texts if text.has_prose):
                stated |= {year + shift for year in stated}
        near = {self.now.year - 1, self.now.year, self.now.year + 1} if self.now else set()
        return frozenset(stated | near)

    def heeded(self, tool_words: AbstractSet[str]) -> Self:
        """The sources without what lends nothing to a call (`assay.verify.tools.tracing.excluded_mentions`)."""
        texts = tuple(text.heeded(tool_words) for text in self.texts)
        same = all(one is other for one, other in zip(texts, self.texts, strict=True))
        return self if same else type(self)(texts, self.moment or self.now)

    def allowed(self, kinds: frozenset[SourceKind] | None) -> Self:
        """The sources of some kinds only; all of them where none are named."""
        if kinds is None:
            return self
        return type(self)((text for text in self.texts if text.kind in kinds), self.moment or self.now)


def day_of(year: int, month: int, day: int) -> date | None:
    """The day, or none where the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def squash(text: str) -> str:
    """Words in the form in which two are compared: NFKC, case folded, accents off, only letters and digits.

    >>> squash("  Café-Crème_2 ")
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


def _low_character(character: str) -> str:
    low = character.lower()
    return low if len(low) == 1 else character


def _readings(digits: str) -> Iterator[Decimal]:
    """The values that digits with separators may have: grouped or decimal, as either half of the world writes."""
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
        # A list without spaces looks like groups of digits: every part may be meant.
        yield from (decoded[0] for part in digits.split(",") if (decoded := decode_number(part)) is not None)
    if not seen and digits.count(".") > 1:
        yield from (Decimal(part) for part in re.split(r"[.,]", digits))


def _written_forms(needle: str) -> Iterator[str]:
    """The needle, and the forms in which JSON may have escaped it."""
    yield needle
    if not needle.isascii() or any(c in needle for c in '"\\\n\t'):
        yield json.dumps(needle, ensure_ascii=False)[1:-1].lower()
        yield json.dumps(needle)[1:-1].lower()
    if "/" in needle:
        yield needle.replace("/", "\\/")


def _find_whole(low: str, needle: str) -> tuple[int, int] | None:
    """The first place of the needle with no letter or digit of a longer word beside it."""
    if not needle:
        return None
    guard_left, guard_right = needle[0].isalnum(), needle[-1].isalnum()
    at = low.find(needle)
    for _ in range(_TRIES):
        if at < 0:
            return None
        end = at + len(needle)
        clear_left = not guard_left or at == 0 or not low[at - 1].isalnum() or low[at - 2 : at] in _ESCAPES
        clear_right = not guard_right or end == len(low) or not low[end].isalnum()
        if clear_left and clear_right:
            return at, end
        at = low.find(needle, at + 1)
    left, right = r"(?:(?<![^\W_])|(?<=\\[ntr]))" if guard_left else "", r"(?![^\W_])" if guard_right else ""
    match = re.search(left + re.escape(needle) + right, low)
    return match.span() if match else None
