"""Finds the quantities in a text: numbers with their unit, currency, scale, bound and the nouns that they count.

A quantity is read into an interval in the base unit of its dimension, in decimal arithmetic, so that "5 km" equals
"5,000 m", "over 100" excludes 50 but not 120, and "$35M" is not comparable with "35%". Years, dates, clock times and
identifiers have their own modules: callers pass in their spans, which are skipped here.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal
from operator import itemgetter

from assay.text.lexicon.lexemes import STOP_WORDS, Words, find_words, word_set
from assay.text.quantities.after_numbers import nouns_after, read_currency
from assay.text.quantities.bounds import bound_before, read_minus
from assay.text.quantities.compounds import find_duration, join_compounds
from assay.text.quantities.draft import Draft
from assay.text.quantities.number_words import (
    NUMBER_WORDS,
    SCALES,
    SHORT_SCALES,
    SHORTENED_SCALES,
    find_number_words,
)
from assay.text.quantities.numerals import FRACTIONS, decode_number
from assay.text.quantities.other_number_words import other_number_words
from assay.text.quantities.ranges import merge_pairs
from assay.text.quantities.units import (
    CURRENCY_CODES,
    CURRENCY_PREFIXES,
    CURRENCY_SYMBOLS,
    KEY_UNITS,
    MINOR_CURRENCY_WORDS,
    OTHER_SCALES,
    UNIT_SYMBOLS,
    UNIT_WORDS,
    Unit,
    is_unit_letter,
)
from assay.text.quantities.units_after import NEXT_WORD, find_per, find_unit, read_per, unit_after
from assay.text.quantities.values import Bound, Quantity, Relation, relate, roundness
from assay.text.sentences.languages import looks_foreign

__all__ = ["Bound", "Quantity", "Relation", "decode_number", "find_quantities", "relate", "roundness"]

_FRACTION_CLASS = "".join(FRACTIONS)
_RAW = re.compile(rf"[\d{_FRACTION_CLASS}](?:(?<=\d)\d*(?:[.,'’\u00a0\u202f\u2009]\d+)*)?")
"""A number or a fraction. It begins with one character class, which keeps the search fast in text without digits."""

_SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?(?![.,]?\d)")
_CODE_BEFORE = re.compile(r"\b([A-Z]{3})[ \u00a0]$")
_LISTED = re.compile(r"\d(?:,|\s(?:and|or))\s$")
_WORD_BEHIND = re.compile(r"[ -]([a-z]+)")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[^\S\n]$")
_LEADING = word_set("about almost approximately around at for nearly only over roughly under")
"""Words that may begin a sentence right before an amount. Another capitalised word may have a number of its own, as in
"Pixel 8"."""

_NUMBERED = word_set(
    """act appendix article batch block bus case chapter class clause day episode error exercise exhibit figure flat
    flight floor gate grade group highway hour house invoice issue item lane lap lesson level line lot match minute
    module month number order page paragraph part phase platform player point question quarter release room round
    route row rule scenario season seat section series session shelf site stage step table task team terminal test
    tier track unit version volume ward week year zone"""
)
"""Nouns whose number stands behind them: "in week 2 500 euros were paid"."""

_FRACTION = re.compile(r"[ -]?(\d{1,2})/(\d{1,3})(?![\d/])|/(\d{1,3})(?![\d/])")
_ATTACHED_FRACTION = re.compile(rf" ?([{_FRACTION_CLASS}])")
_POWER = re.compile(r"\s?[x×·*]\s?10(?:\^|\*\*)?([-−]?\d{1,2})(?!\d)|[eE]([-+]?\d{1,2})(?![\d\w])")
_POWER_SIGNS = frozenset("xX×·*eE")
_ORDINAL_SUFFIX = re.compile(r"(?:st|nd|rd|th)\b")
_OR_MORE = re.compile(
    r"\s?\+(?!\w)|,?\s(?:or|and)\s"
    r"(more|above|over|older|greater|longer|higher|later|newer|up|less|fewer|below|under|younger|lower|earlier)\b"
)
_LEFT_CURRENCY = re.compile(
    r"(?:\b([A-Z]{3})[\s\u00a0]?|(?:\b(US|AU?|CA?|HK|NZ|S|R|MX))?([$€£¥₹₩₽₿₺₴₪฿₫₦])\s?)([-−–])?$"
)
_SIGN = re.compile(r"(?:^|[\s(\[=:])([-−])$")

_OR_MORE_STARTS, _LIMIT_STARTS = frozenset("+oa"), frozenset("amoAMO")
"""First characters of `_OR_MORE` after its space, and of the two patterns below after theirs."""

_AT_MOST_AFTER = re.compile(r"\s(?:at (?:the )?(?:most|latest)|max(?:imum)?\b|or sooner|or earlier)", re.IGNORECASE)
_AT_LEAST_AFTER = re.compile(r"\s(?:at (?:the )?least|minimum\b|or later)", re.IGNORECASE)
_KEY = re.compile(r"([A-Za-z%]+)\)?[\"']?\s?[:=]\s?[\"']?$")
"""The last word of the key whose value is a number, as in `eta_days": 3`."""

_LETTERED_KEY = re.compile(r"([\w-]*[^\W_])_[A-Za-z]\)?[\"']?\s?[:=]\s?[\"']?$")
_KEY_REACH = 64
"""Characters before a number that are searched for the head of a key that ends in a letter."""

_NUMBERED_PERIOD = re.compile(r"\b(day|week|month|year|hour|minute)\s$", re.IGNORECASE)
_NUMBERED_PERIOD_ENDS = frozenset("ykhre")
"""The last letters of the words in `_NUMBERED_PERIOD`."""

_SPACED_COMMAS = re.compile(r"\d{1,3}(?: , \d{3})+(?![\d,])")
"""A grouped number in tokenised text: "23 , 000"."""

_LEFT_WINDOW = 40
_FOLD = itemgetter(0)

_ONE, _HALF = Decimal(1), Decimal("0.5")
_PRECISION = 28
"""Decimal arithmetic keeps every digit of a number with fewer digits than this, the default precision of `decimal`."""

_COUNT = Unit("count", _ONE, "")
_PERIODS = frozenset({"decade", "century", "fortnight"})
"""Units that mean one of themselves after an article: "a decade"."""

_SPELLED_HEADS = NUMBER_WORDS | _PERIODS
_UPPER_BOUND_WORDS = frozenset({"less", "fewer", "below", "under", "younger", "lower", "earlier"})


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
        drafts = sorted(
            [*self._read_digits(), *self._read_number_words(), *self._read_other_languages()], key=lambda d: d.start
        )
        kept: list[Draft] = []
        for draft in sorted(drafts, key=lambda d: d.start):
            if kept and draft.start < kept[-1].end:
                continue
            kept.append(draft)
        return list(merge_pairs(self.text, [self._to_quantity(draft) for draft in kept]))

    def _read_digits(self) -> Iterator[Draft]:
        text = self.text
        done = 0
        for match in _RAW.finditer(text):
            start, end = match.span()
            if start < done or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
                continue
            if self.skip and self.skipped(start, end):
                continue
            if text[end : end + 1] == "h" and (duration := find_duration(text, start)) is not None:
                minutes, done = duration
                yield Draft(start, done, start, done, minutes, 0, _ONE, UNIT_WORDS["minute"])
                continue
            raw = match.group()
            if text[end : end + 3] == " , " and (tokenized := _SPACED_COMMAS.match(text, start)):
                raw, end = tokenized.group().replace(" , ", ","), tokenized.end()
            spaced = (
                _SPACED.match(text, start) if text[end : end + 1] == " " and text[end + 1 : end + 2].isdigit() else None
            )
            if spaced and spaced.end() > end and self._is_grouped(spaced):
                raw, end = spaced.group().replace(" ", ""), spaced.end()
            decoded = decode_number(raw, self.locale)
            if decoded is None:
                continue
            draft = self._read_around(start, end, *decoded)
            if draft is not None:
                done = draft.end
                yield draft

    def _is_grouped(self, spaced: re.Match[str]) -> bool:
        """Whether digits with spaces between them are one number: "12 500 euros", and "12 500" in some locales.

        Outside those locales only amounts of money are, since many a number stands before another one: that of a name
        or a place in a list ("Pixel 8 799 €", "on day 3 200 mg"), and that of things which have a size or a value ("2
        500 ml bottles", "2 500 euro notes").
        """
        text, start, end = self.text, spaced.start(), spaced.end()
        if self.spaced or spaced.group().count(" ") > 1:
            return True
        before = text[max(0, start - _LEFT_WINDOW) : start]
        found = unit_after(text, end)
        money = found is not None and found.unit.dimension.startswith("money")
        code = _CODE_BEFORE.search(before)
        if before.rstrip(" \u00a0")[-1:] in CURRENCY_SYMBOLS or (code and code[1] in CURRENCY_CODES):
            return (found is None or money) and not self._is_before_noun(end if found is None else found.end)
        if found is None or not money or _LISTED.search(before):
            return False
        word = named[1] if (named := _WORD_BEFORE.search(before)) else ""
        if word.lower() in _NUMBERED or (word != word.lower() and word.lower() not in _LEADING):
            return False
        plural = found.spelled and found.word.endswith("s")  # "12 500 euros altogether", but "2 500 euro notes"
        return plural or looks_foreign(text) or not self._is_before_noun(found.end)

    def _is_before_noun(self, end: int) -> bool:
        behind = _WORD_BEHIND.match(self.text, end)
        return behind is not None and behind[1] not in STOP_WORDS

    def _read_around(self, start: int, end: int, value: Decimal, decimals: int) -> Draft | None:
        text = self.text
        draft = Draft(start, end, start, end, value, decimals, _ONE, _COUNT)
        if start and text[start - 1] == ".":
            if start > 1 and text[start - 2].isalnum():
                return None
            if not decimals and value != 0:
                draft.value, draft.decimals = Decimal(f"0.{text[start:end]}"), end - start
                draft.start = draft.number_start = start - 1
        follower, following = text[end : end + 1], text[end + 1 : end + 2]
        apart = follower in {" ", "-"} and (following.isdigit() or following in FRACTIONS)
        if apart or follower == "/" or follower in FRACTIONS:
            self._read_fraction(draft)
        if follower in _POWER_SIGNS or (follower == " " and following in _POWER_SIGNS):
            self._read_power(draft)
        if follower in {"s", "n", "r", "t"} and (ordinal := _ORDINAL_SUFFIX.match(text, draft.end)):
            draft.end = draft.number_end = ordinal.end()
            draft.ordinal = True
        self._read_left(draft)
        if not draft.ordinal and not self._read_right(draft):
            return None
        if draft.unit is _COUNT and not draft.ordinal:
            self._read_key(draft)
        read_minus(text, draft)
        self._read_bound(draft)
        return draft

    def _read_fraction(self, draft: Draft) -> None:
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

    def _read_power(self, draft: Draft) -> None:
        match = _POWER.match(self.text, draft.end)
        if match:
            power = int((match.group(1) or match.group(2)).replace("−", "-"))
            draft.scale *= Decimal(10) ** power
            draft.end = draft.number_end = match.end()

    def _read_left(self, draft: Draft) -> None:
        if not draft.start:
            return
        before = self.text[max(0, draft.start - 8) : draft.start]
        last = before[-1]
        if last in " \u00a0":
            if not (before[-2:-1].isupper() or before[-2:-1] in CURRENCY_SYMBOLS):
                return
        elif last not in "-−–" and last not in CURRENCY_SYMBOLS and not last.isupper():
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

    def _read_right(self, draft: Draft) -> bool:
        """Reads scale and unit; false where the number turns out to be part of a longer token."""
        text = self.text
        for _ in range(2):
            match = NEXT_WORD.match(text, draft.end)
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
                read_currency(text, draft)
                if text[draft.end : draft.end + 1] == "." and word.lower() in SHORTENED_SCALES:
                    after = unit_after(text, draft.end + 1)
                    draft.end += after is not None and after.unit.dimension.startswith("money")
                continue
            if not self._read_unit(draft, word, match.end(), glued) and glued:
                return False
            break
        if draft.unit.dimension.startswith("money:") and "/" not in draft.unit.dimension:
            found = find_per(text, draft.end)
            draft.per = found[0] if found else None
        return True

    def _read_key(self, draft: Draft) -> None:
        """Takes the unit from the key before the number: `"eta_days": 3`, "Duration (weeks): 16", "day 30"."""
        before = self.text[max(0, draft.start - 24) : draft.start]
        if before[-1:] in {":", "=", " ", '"', "'"} and (":" in before or "=" in before):
            key = _KEY.search(before)
            word = key.group(1) if key else ""
            symbol = UNIT_SYMBOLS.get(word) if len(word) != 1 or word == "%" or self._ends_key(draft, word) else None
            unit = UNIT_WORDS.get(word.lower()) or symbol
            unit = unit or KEY_UNITS.get(word.lower())
            if unit is None and word in {"c", "f"} and "temp" in before:
                unit = UNIT_SYMBOLS[f"°{word.upper()}"]
            if unit is None and word.lower() in MINOR_CURRENCY_WORDS:
                name = MINOR_CURRENCY_WORDS[word.lower()]
                unit = Unit(f"money:{name}", Decimal("0.01"), name)
            if unit is not None:
                draft.unit = unit
            elif word.upper() in CURRENCY_CODES and len(word) == 3:
                draft.unit = Unit(f"money:{word.upper()}", Decimal(1), word.upper())
        elif (
            before[-1:] == " "
            and before[-2:-1].lower() in _NUMBERED_PERIOD_ENDS
            and (counted := _NUMBERED_PERIOD.search(before))
            and not nouns_after(self.text, self.words, draft.end)
        ):
            draft.unit, draft.weak = UNIT_WORDS[counted.group(1).lower()], True

    def _ends_key(self, draft: Draft, letter: str) -> bool:
        """Whether a letter is the unit at the end of the key before the number, as in "timeout_s"."""
        key = _LETTERED_KEY.search(self.text[max(0, draft.start - _KEY_REACH) : draft.start])
        return key is not None and is_unit_letter(letter, key.group(1), self.text)

    def _read_scale(self, draft: Draft, word: str, end: int, glued: bool) -> bool:
        scale = (SCALES.get(word.lower()) or OTHER_SCALES.get(word.lower())) if len(word) > 1 else None
        if scale is None and (glued or draft.unit.dimension.startswith("money")):
            scale = SHORT_SCALES.get(word)
            if scale is None and word in {"m", "b"} and draft.unit.dimension.startswith("money"):
                scale = SHORT_SCALES[word.upper()]
        if scale is None:
            return False
        draft.scale *= scale
        draft.end = draft.number_end = end
        return True

    def _read_unit(self, draft: Draft, word: str, end: int, glued: bool) -> bool:
        found = find_unit(self.text, word, end, glued=glued)
        if found is None:
            return False
        unit, end = found
        if draft.unit is _COUNT:
            draft.unit, draft.end = unit, end
            read_per(self.text, draft)
        elif draft.unit.dimension.startswith("money") and unit.dimension == draft.unit.dimension:
            draft.end = end
        return True

    def _read_bound(self, draft: Draft) -> None:
        follower, following = self.text[draft.end : draft.end + 1], self.text[draft.end + 1 : draft.end + 2]
        plus = _OR_MORE.match(self.text, draft.end) if follower != " " or following in _OR_MORE_STARTS else None
        if plus:
            word = plus.group(1)
            draft.bound = "at_most" if word in _UPPER_BOUND_WORDS else "at_least"
            draft.end = plus.end()
            return
        if follower == " " and following in _LIMIT_STARTS:
            if _AT_MOST_AFTER.match(self.text, draft.end):
                draft.bound = "at_most"
            elif _AT_LEAST_AFTER.match(self.text, draft.end):
                draft.bound = "at_least"
        before = self.text[max(0, draft.start - _LEFT_WINDOW) : draft.start]
        found = bound_before(before, self.text, draft.end)
        if found is not None:
            draft.bound = found[0]
            draft.start -= len(before) - found[1]

    def _read_number_words(self) -> Iterator[Draft]:
        words = self.words
        folds = list(map(_FOLD, words.lexemes))
        if _SPELLED_HEADS.isdisjoint(folds):
            return
        done = 0
        for at in [i for i, f in enumerate(folds) if f in _SPELLED_HEADS]:
            if at < done:
                continue
            low = max(0, at - 1)
            if folds[at] in SCALES and low < at and folds[low][0].isdigit():
                continue
            if folds[at] in _PERIODS:
                if folds[low] in {"a", "an"} and low < at:
                    yield self._read_period(low, at)
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
            unit = Unit(found.kind, Decimal(1), "") if found.kind in {"share", "factor"} else _COUNT
            draft = Draft(start, end, start, end, found.value, 0, Decimal(1), unit, ordinal=found.kind == "ordinal")
            draft.decimals = {"share": 2, "factor": 1}.get(found.kind, 0)
            draft.weak = found.kind == "ordinal" or (found.kind == "cardinal" and found.value <= 1)
            if found.kind == "cardinal":
                self._read_right(draft)
                draft.weak = draft.weak and draft.unit is _COUNT
                read_minus(self.text, draft)
            self._read_bound(draft)
            endless = found.kind == "share" and found.value * 100 != (found.value * 100).to_integral_value()
            if (found.approximate or endless) and draft.bound == "exact":
                draft.bound = "about"
            yield draft

    def _read_other_languages(self) -> Iterator[Draft]:
        for first, last, value in other_number_words(self.text, self.words):
            start, end = self.words.starts[first], self.words.ends[last - 1]
            if not (self.skip and self.skipped(start, end)) and not self._gaps(first, last).strip(" -\u00a0"):
                draft = Draft(start, end, start, end, value, 0, _ONE, _COUNT, quiet=True)
                read_currency(self.text, draft)
                self._read_right(draft)
                yield draft

    def _read_period(self, first: int, last: int) -> Draft:
        """ "a decade"."""
        start, end = self.words.starts[first], self.words.ends[last]
        unit = UNIT_WORDS[self.words.lexemes[last].fold]
        draft = Draft(start, end, start, end, Decimal(1), 0, Decimal(1), unit)
        self._read_bound(draft)
        return draft

    def _gaps(self, first: int, last: int) -> str:
        words = self.words
        return "".join(self.text[words.ends[i] : words.starts[i + 1]] for i in range(first, last - 1))

    def _to_quantity(self, draft: Draft) -> Quantity:
        unit = draft.unit
        if (
            unit is _COUNT
            and not draft.decimals
            and draft.scale is _ONE
            and draft.number_end - draft.start < _PRECISION
        ):
            value = base = draft.value
            place = _HALF
        else:
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
            draft.start,
            draft.end,
            draft.number_start,
            draft.number_end,
            value,
            low,
            high,
            place,
            dimension,
            unit.name,
            nouns_after(self.text, self.words, draft.end),
            draft.bound,
            rounded,
            draft.weak,
            draft.quiet,
            draft.per,
        )


def find_quantities(
    text: str, words: Words | None = None, *, locale: str = "en", skip: Sequence[tuple[int, int]] = ()
) -> tuple[Quantity, ...]:
    """The quantities of a text in reading order, none overlapping another or a span of `skip`.

    >>> [(q.dimension, str(q.low)) for q in find_quantities("It costs $35M and takes 2 weeks.")]
    [('money:USD', '35000000'), ('time', '1209600')]
    """
    return join_compounds(text, _Reader(text, words if words is not None else find_words(text), locale, skip).read())
