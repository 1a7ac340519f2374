"""Quantities in a text: numbers with their unit, currency, scale, bound and what they count; and how two compare.

A quantity is read into an interval in the base unit of its dimension, in decimal arithmetic, so that "5 km" equals
"5,000 m", "over 100" excludes 50 but not 120, and "$35M" is not comparable with "35%". Years, dates, clock times and
identifiers are left to their own modules: their spans are passed in and skipped.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.text.lexemes import Words, find_words, word_set
from assay.text.number_words import NUMBER_WORDS, SCALES, SHORT_SCALES, find_number_words
from assay.text.numerals import FRACTIONS, decode_number
from assay.text.quantity_values import Bound, Quantity, Relation, relate
from assay.text.units import (
    CURRENCY_CODES,
    CURRENCY_PREFIXES,
    CURRENCY_SYMBOLS,
    CURRENCY_WORDS,
    MINOR_CURRENCY_WORDS,
    TWO_WORD_HEADS,
    UNIT_SYMBOLS,
    UNIT_WORDS,
    Unit,
)

__all__ = ["Bound", "Quantity", "Relation", "decode_number", "find_quantities", "relate"]

_FRACTION_CLASS = "".join(FRACTIONS)
_RAW = re.compile(rf"\d+(?:[.,'’\u00a0\u202f\u2009]\d+)*|[{_FRACTION_CLASS}]")
_SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)")
_FRACTION = re.compile(r"[ -]?(\d{1,2})/(\d{1,3})(?![\d/])|/(\d{1,3})(?![\d/])")
_ATTACHED_FRACTION = re.compile(rf" ?([{_FRACTION_CLASS}])")
_POWER = re.compile(r"\s?[x×·*]\s?10(?:\^|\*\*)?([-−]?\d{1,2})(?!\d)|[eE]([-+]?\d{1,2})(?![\d\w])")
_NEXT_WORD = re.compile(r"[\s\u00a0\u202f-]?(?:([^\W\d_]+[²³]?|%|％|٪|‰|°\s?[CF]\b|°|℃|℉)|([$€£¥₹₩₽₺]))")
_PER = re.compile(r"\s?(?:/|\bper\s|\ban?\s|\bevery\s|\beach\s)\s?([^\W\d_]+)")
_ORDINAL_SUFFIX = re.compile(r"(?:st|nd|rd|th)\b")
_PLUS = re.compile(
    r"\s?\+(?!\w)|,?\s(?:or|and)\s(more|above|over|older|greater|longer|less|fewer|below|under|younger)\b"
)
_LEFT_CURRENCY = re.compile(
    r"(?:\b([A-Z]{3})[\s\u00a0]?|(?:\b(US|AU?|CA?|HK|NZ|S|R|MX))?([$€£¥₹₩₽₿₺₴₪฿₫₦])\s?)([-−–])?$"
)
_SIGN = re.compile(r"(?:^|[\s(\[=:])([-−])$")
_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s(?:to|through|until|or)\s(?:[$€£])?")
_AND_GAP = re.compile(r"\sand\s(?:[$€£])?")

_BOUND_PHRASES: tuple[tuple[Bound, str], ...] = (
    ("at_least", r"at least|(?:no|not) (?:fewer|less) than|a?\s?minimum of|as many as|≥|>=|from at least"),
    ("at_most", r"at most|up to|no more than|not more than|a?\s?maximum of|no later than|≤|<=|capped at|limited to"),
    ("more", r"(?:more|greater|higher|larger|longer|older) than|over|above|(?:exceed|surpass)(?:s|es|ed|ing)?|>"),
    ("more", r"upwards of|in excess of"),
    ("less", r"(?:less|fewer|lower|smaller|shorter|younger) than|under|below|<"),
    ("about", r"about|around|approximately|approx\.?|roughly|some|nearly|almost|close to|circa|ca?\.|~|≈|±|estimated"),
    ("about", r"an estimated|just over|just under|slightly (?:more|less) than|a little (?:over|under)"),
)  # fmt: skip
_BOUND = re.compile(
    "|".join(f"(?P<b{n}>{phrases})" for n, (_, phrases) in enumerate(_BOUND_PHRASES))
)  # fmt: skip
_LEFT_BOUND = re.compile(rf"(?:^|(?<=[^\w]))(?:{_BOUND.pattern})\s?(?:the |an? |another )?$", re.IGNORECASE)
_BOUND_LAST_WORDS = word_set(
    """least than of as to over above exceed exceeds exceeded exceeding surpass surpasses surpassed surpassing
    under below about around approximately approx approx. roughly some nearly almost circa ca. c. estimated at
    the a an another ca"""
)
_BOUND_SIGNS = "~≈±<>≤≥="
_LEFT_WINDOW = 40

_NOUN_BREAK = word_set(
    """of in on at to for from with by and or per as than that which who is are was were be been the a an between
    through until into after before since while when if but not can will may must has have had do does did more
    less fewer"""
)


@dataclass(slots=True)
class _Draft:
    """A quantity while it is being read."""

    start: int
    end: int
    number_start: int
    number_end: int
    value: Decimal
    decimals: int
    scale: Decimal
    unit: Unit
    bound: Bound = "exact"
    ordinal: bool = False
    weak: bool = False
    approximate: bool = False


_COUNT = Unit("count", Decimal(1), "")


class _Reader:
    """Reads the quantities of one text."""

    def __init__(self, text: str, words: Words, locale: str, skip: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.words = words
        self.locale = locale
        self.skip = sorted(skip)
        self.skip_starts = [start for start, _ in self.skip]
        self.spaced = locale[:2].lower() in {"fr", "ru", "pl", "cs", "sv", "nb", "no", "fi", "uk", "bg", "sk", "hu"}

    def skipped(self, start: int, end: int) -> bool:
        at = bisect_left(self.skip_starts, end)
        return at > 0 and self.skip[at - 1][1] > start

    def read(self) -> list[Quantity]:
        drafts = sorted([*self._digits(), *self._spelled()], key=lambda d: d.start)
        kept: list[_Draft] = []
        for draft in drafts:
            if kept and draft.start < kept[-1].end:
                continue
            kept.append(draft)
        return list(_merge_ranges(self.text, [self._finish(draft) for draft in kept]))

    def _digits(self) -> Iterator[_Draft]:
        text = self.text
        done = 0
        for match in _RAW.finditer(text):
            start, end = match.span()
            if start < done or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
                continue
            if self.skip and self.skipped(start, end):
                continue
            raw = match.group()
            spaced = _SPACED.match(text, start)
            if spaced and spaced.end() > end and (self.spaced or raw.count(" ") or spaced.group().count(" ") > 1):
                raw, end = spaced.group().replace(" ", ""), spaced.end()
            decoded = decode_number(raw, self.locale)
            if decoded is None:
                continue
            draft = self._complete(start, end, *decoded)
            if draft is not None:
                done = draft.end
                yield draft

    def _complete(self, start: int, end: int, value: Decimal, decimals: int) -> _Draft | None:
        text = self.text
        draft = _Draft(start, end, start, end, value, decimals, Decimal(1), _COUNT)
        if start and text[start - 1] == ".":
            if start > 1 and text[start - 2].isalnum():
                return None
            if not decimals and value != 0:
                draft.value, draft.decimals = Decimal(f"0.{text[start:end]}"), end - start
                draft.start = draft.number_start = start - 1
        follower = text[end : end + 1]
        if follower in {"/", " ", "-"} or follower in FRACTIONS:
            self._read_fraction(draft)
        if follower and follower in " xX×·*eE":
            self._read_power(draft)
        if follower in {"s", "n", "r", "t"} and (ordinal := _ORDINAL_SUFFIX.match(text, draft.end)):
            draft.end = draft.number_end = ordinal.end()
            draft.ordinal = True
        self._read_left(draft)
        if not draft.ordinal and not self._read_right(draft):
            return None
        self._read_bound(draft)
        return draft

    def _read_fraction(self, draft: _Draft) -> None:
        match = _FRACTION.match(self.text, draft.end)
        if match and draft.decimals == 0:
            if match.group(3):
                bottom = Decimal(match.group(3))
                if draft.value < bottom <= 100 and draft.value < 100:
                    draft.value, draft.decimals = draft.value / bottom, 2
                    draft.unit = Unit("share", Decimal(1), "")
                    draft.end = draft.number_end = match.end()
                return
            top, bottom = Decimal(match.group(1)), Decimal(match.group(2))
            if 0 < top < bottom and self.text[draft.end] in " -":
                draft.value += top / bottom
                draft.decimals = 2
                draft.end = draft.number_end = match.end()
            return
        attached = _ATTACHED_FRACTION.match(self.text, draft.end)
        if attached:
            draft.value += FRACTIONS[attached.group(1)]
            draft.decimals = 2
            draft.end = draft.number_end = attached.end()

    def _read_power(self, draft: _Draft) -> None:
        match = _POWER.match(self.text, draft.end)
        if match:
            power = int((match.group(1) or match.group(2)).replace("−", "-"))
            draft.scale *= Decimal(10) ** power
            draft.end = draft.number_end = match.end()

    def _read_left(self, draft: _Draft) -> None:
        if not draft.start:
            return
        before = self.text[max(0, draft.start - 8) : draft.start]
        last = before[-1]
        if last not in " \u00a0-−–$€£¥₹₩₽₿₺₴₪฿₫₦" and not last.isupper():
            return
        currency = _LEFT_CURRENCY.search(before)
        if currency:
            code, prefix, symbol, sign = currency.groups()
            if code is None or code in CURRENCY_CODES:
                name = code or (CURRENCY_PREFIXES.get(prefix or "") if symbol == "$" else None)
                name = name or CURRENCY_SYMBOLS[symbol]
                draft.unit = Unit(f"money:{name}", Decimal(1), name)
                draft.start -= len(before) - currency.start()
                if sign:
                    draft.value = -draft.value
                elif (
                    draft.start
                    and self.text[draft.start - 1] in "-−"
                    and self.text[draft.start - 2 : draft.start - 1] in {"", " ", "("}
                ):
                    draft.value, draft.start = -draft.value, draft.start - 1
                return
        if _SIGN.search(before):
            draft.value = -draft.value
            draft.start = draft.number_start = draft.start - 1

    def _read_right(self, draft: _Draft) -> bool:
        """Reads scale and unit; false where the number turns out to be part of a longer token."""
        text = self.text
        for _ in range(2):
            match = _NEXT_WORD.match(text, draft.end)
            if match is None:
                break
            word, symbol = match.groups()
            glued = match.start(match.lastindex or 0) == draft.end
            if symbol:
                if (glued or symbol != "$") and draft.unit is _COUNT:
                    name = CURRENCY_SYMBOLS[symbol]
                    draft.unit, draft.end = Unit(f"money:{name}", Decimal(1), name), match.end()
                break
            if self._read_scale(draft, word, match.end(), glued):
                continue
            if not self._read_unit(draft, word, match.end(), glued) and glued:
                return False
            break
        return True

    def _read_scale(self, draft: _Draft, word: str, end: int, glued: bool) -> bool:
        scale = SCALES.get(word.lower()) if len(word) > 1 else None
        if scale is None and (glued or draft.unit.dimension.startswith("money")):
            scale = SHORT_SCALES.get(word)
            if scale is None and word in {"m", "b"} and draft.unit.dimension.startswith("money"):
                scale = SHORT_SCALES[word.upper()]
        if scale is None:
            return False
        draft.scale *= scale
        draft.end = draft.number_end = end
        return True

    def _read_unit(self, draft: _Draft, word: str, end: int, glued: bool) -> bool:
        text = self.text
        lowered = word.lower()
        unit: Unit | None = None
        if lowered in TWO_WORD_HEADS or lowered in {"us", "pounds", "swiss", "canadian", "australian"}:
            second = _NEXT_WORD.match(text, end)
            if second and second.group(1):
                pair = f"{lowered} {second.group(1).lower()}"
                unit = UNIT_WORDS.get(pair)
                if unit is None and pair in CURRENCY_WORDS:
                    unit = Unit(f"money:{CURRENCY_WORDS[pair]}", Decimal(1), CURRENCY_WORDS[pair])
                if unit is not None:
                    end = second.end()
        if unit is None:
            unit = UNIT_SYMBOLS.get(word.replace(" ", "")) or UNIT_WORDS.get(lowered)
            if (
                unit is not None
                and len(word) == 1
                and word in "msghldBKAJWVLxX"
                and not glued
                and not _stands_alone(text, end)
            ):
                unit = None
        if unit is None and (word in CURRENCY_CODES or lowered in CURRENCY_WORDS):
            name = CURRENCY_WORDS.get(lowered, word)
            unit = Unit(f"money:{name}", Decimal(1), name)
        if unit is None and lowered in MINOR_CURRENCY_WORDS:
            name = MINOR_CURRENCY_WORDS[lowered]
            unit = Unit(f"money:{name}", Decimal("0.01"), name)
        if unit is None:
            return False
        if draft.unit is not _COUNT:
            if draft.unit.dimension.startswith("money") and unit.dimension == draft.unit.dimension:
                draft.end = end
            return True
        draft.unit, draft.end = unit, end
        self._read_per(draft)
        return True

    def _read_per(self, draft: _Draft) -> None:
        match = _PER.match(self.text, draft.end)
        if match is None:
            return
        below = UNIT_SYMBOLS.get(match.group(1)) or UNIT_WORDS.get(match.group(1).lower())
        if (
            below is None
            or below.dimension not in {"time", "length", "mass", "volume", "area"}
            or "/" in draft.unit.dimension
        ):
            return
        if draft.unit.dimension in {"share", "points", "factor"}:
            return
        top = draft.unit
        draft.unit = Unit(f"{top.dimension}/{below.dimension}", top.size / below.size, f"{top.name}/{below.name}")
        draft.end = match.end()

    def _read_bound(self, draft: _Draft) -> None:
        plus = _PLUS.match(self.text, draft.end)
        if plus:
            word = plus.group(1)
            draft.bound = "at_most" if word in {"less", "fewer", "below", "under", "younger"} else "at_least"
            draft.end = plus.end()
            return
        before = self.text[max(0, draft.start - _LEFT_WINDOW) : draft.start]
        tail = before.rstrip()
        if not tail:
            return
        if tail[-1] not in _BOUND_SIGNS and tail.rsplit(None, 1)[-1].lstrip("(").lower() not in _BOUND_LAST_WORDS:
            return
        match = _LEFT_BOUND.search(before)
        if match and match.lastgroup:
            draft.bound = _BOUND_PHRASES[int(match.lastgroup[1:])][0]
            draft.start -= len(before) - match.start(match.lastgroup)

    def _spelled(self) -> Iterator[_Draft]:
        words = self.words
        folds = [w.fold for w in words.lexemes]
        done = 0
        for at in [i for i, f in enumerate(folds) if f in NUMBER_WORDS]:
            if at < done:
                continue
            low = max(0, at - 1)
            if folds[at] in SCALES and low < at and folds[low][0].isdigit():
                continue
            found = find_number_words(folds[low : at + 13], at - low)
            if found is None:
                continue
            first, last = found.first + low, found.last + low
            if folds[at] in SCALES or folds[at] in {"third", "dozen", "half", "quarter"}:
                first = low if folds[low] in {"a", "an"} else first
            start, end = words.starts[first], words.ends[last - 1]
            if any(c not in " -,\u00a0" for c in self._gaps(first, last)) or (self.skip and self.skipped(start, end)):
                continue
            done = last
            unit = Unit(found.sort, Decimal(1), "") if found.sort in {"share", "factor"} else _COUNT
            draft = _Draft(start, end, start, end, found.value, 0, Decimal(1), unit, ordinal=found.sort == "ordinal")
            draft.decimals = {"share": 2, "factor": 1}.get(found.sort, 0)
            draft.weak = found.sort == "ordinal" or (found.sort == "cardinal" and found.value <= 1)
            if found.sort == "cardinal":
                self._read_right(draft)
            self._read_bound(draft)
            if found.approximate and draft.bound == "exact":
                draft.bound = "about"
            yield draft

    def _gaps(self, first: int, last: int) -> str:
        words = self.words
        return "".join(self.text[words.ends[i] : words.starts[i + 1]] for i in range(first, last - 1))

    def _finish(self, draft: _Draft) -> Quantity:
        unit = draft.unit
        value = draft.value * draft.scale
        base = value * unit.size + unit.offset
        place = Decimal(10) ** (-draft.decimals) * draft.scale * abs(unit.size) / 2
        low: Decimal | None = base
        high: Decimal | None = base
        if draft.bound in {"more", "at_least"}:
            high = None
        elif draft.bound in {"less", "at_most"}:
            low = None
        dimension = "ordinal" if draft.ordinal else unit.dimension
        rounded = draft.decimals > 0 or draft.scale != 1 or dimension == "share"
        return Quantity(
            draft.start, draft.end, draft.number_start, draft.number_end, value, low, high, place, dimension,
            unit.name, self._nouns(draft.end), draft.bound, rounded, draft.weak,
        )  # fmt: skip

    def _nouns(self, end: int) -> tuple[str, ...]:
        words = self.words
        at = bisect_left(words.starts, end)
        nouns: list[str] = []
        previous = end
        while at < len(words) and len(nouns) < 3:
            gap = self.text[previous : words.starts[at]]
            lexeme = words.lexemes[at]
            if len(gap) > 1 or gap not in {" ", "-", ""} or lexeme.fold in _NOUN_BREAK or lexeme.fold[:1].isdigit():
                break
            if lexeme.weight:
                nouns.append(lexeme.stem)
            previous = words.ends[at]
            at += 1
        return tuple(nouns)


def _stands_alone(text: str, end: int) -> bool:
    """Whether no letter word follows a one-letter unit, so that "5 m wide" is read and "5 A players" is not."""
    following = text[end : end + 2].strip()
    return not following or not following[0].isupper()


def _merge_ranges(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    pending: Quantity | None = None
    for quantity in found:
        if pending is None:
            pending = quantity
            continue
        merged = _as_range(text, pending, quantity)
        if merged is not None:
            pending = merged
            continue
        yield pending
        pending = quantity
    if pending is not None:
        yield pending


def _as_range(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """Both as one range, where the words between them and before them say so."""
    gap = text[first.end : second.start]
    if len(gap) > 12 or first.bound == "range" or not second.exact:
        return None
    before = text[max(0, first.start - 10) : first.start].lower().rstrip()
    connected = bool(_RANGE_GAP.fullmatch(gap)) and not before.endswith("from")
    if gap.strip() == "or" and not before.endswith("either") and second.value != first.value + 1:
        connected = False
    if not connected and not (before.endswith("between") and _AND_GAP.fullmatch(gap)):
        return None
    factor = Decimal(1)
    if first.dimension == "count" and not first.nouns and first.dimension != second.dimension:
        unit = UNIT_SYMBOLS.get(second.unit) or UNIT_WORDS.get(second.unit)
        factor = unit.size if unit is not None else Decimal(1)
        if unit is not None and unit.offset:
            return None
    elif second.dimension == "count" and first.dimension.startswith("money"):
        second = replace(second, dimension=first.dimension, unit=first.unit)
    elif first.dimension != second.dimension:
        return None
    low = first.low if first.low is not None else first.high
    if low is None or second.high is None:
        return None
    low *= factor
    written = text[second.number_start : second.number_end]
    if second.rounded and first.value < second.value and not first.rounded and written[-1:].isalpha():
        scale = _trailing_scale(written)
        low *= scale
    if not low < second.high:
        return None
    return replace(
        second, start=first.start, number_start=first.number_start, value=first.value, low=low, bound="range"
    )


def _trailing_scale(written: str) -> Decimal:
    match = re.search(r"([^\W\d_]+)$", written)
    if match is None:
        return Decimal(1)
    return SCALES.get(match.group(1).lower()) or SHORT_SCALES.get(match.group(1)) or Decimal(1)


def find_quantities(
    text: str, words: Words | None = None, *, locale: str = "en", skip: Sequence[tuple[int, int]] = ()
) -> tuple[Quantity, ...]:
    """The quantities of a text in reading order, none overlapping another or a span of `skip`.

    >>> [(q.dimension, str(q.low)) for q in find_quantities("It costs $35M and takes 2 weeks.")]
    [('money:USD', '35000000'), ('time', '1209600')]
    """
    return tuple(_Reader(text, words if words is not None else find_words(text), locale, skip).read())
