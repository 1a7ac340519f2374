"""Numbers written in English words."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.text.lexicon.lexemes import word_list

_ONES = {
    word: value
    for value, word in enumerate(
        word_list(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        word_list(
            """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
        ),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100, "thousandth": 1000}
_DENOMINATORS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourth": 4,
    "fourths": 4,
    "fifth": 5,
    "fifths": 5,
    "sixth": 6,
    "sixths": 6,
    "seventh": 7,
    "sevenths": 7,
    "eighth": 8,
    "eighths": 8,
    "ninth": 9,
    "ninths": 9,
    "tenth": 10,
    "tenths": 10,
    "hundredths": 100,
}

SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(1000),
    "million": Decimal(10) ** 6,
    "billion": Decimal(10) ** 9,
    "trillion": Decimal(10) ** 12,
    "lakh": Decimal(10) ** 5,
    "lakhs": Decimal(10) ** 5,
    "crore": Decimal(10) ** 7,
    "crores": Decimal(10) ** 7,
    "millions": Decimal(10) ** 6,
    "billions": Decimal(10) ** 9,
    "mn": Decimal(10) ** 6,
    "bn": Decimal(10) ** 9,
    "tn": Decimal(10) ** 12,
    "mio": Decimal(10) ** 6,
    "mrd": Decimal(10) ** 9,
    "dozen": Decimal(12),
    "mln": Decimal(10) ** 6,
    "bln": Decimal(10) ** 9,
}
"""Words that multiply the number before them."""

SHORTENED_SCALES = frozenset({"mn", "bn", "tn", "mio", "mrd", "mln", "bln"})
"""Those of them that are abbreviations, which a full stop may follow within a sentence."""

SHORT_SCALES = {
    "k": Decimal(1000),
    "K": Decimal(1000),
    "M": Decimal(10) ** 6,
    "B": Decimal(10) ** 9,
    "bn": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "Bn": Decimal(10) ** 9,
    "mn": Decimal(10) ** 6,
    "MM": Decimal(10) ** 6,
}
"""Letters that multiply the number they are glued to."""

FACTORS = {
    "double": 2,
    "doubled": 2,
    "doubles": 2,
    "doubling": 2,
    "twice": 2,
    "twofold": 2,
    "triple": 3,
    "tripled": 3,
    "triples": 3,
    "tripling": 3,
    "thrice": 3,
    "threefold": 3,
    "quadruple": 4,
    "quadrupled": 4,
    "quadrupling": 4,
    "fourfold": 4,
    "quintupled": 5,
    "fivefold": 5,
    "tenfold": 10,
}
"""Words that name a factor between two values; `find_number_words` reads "halved" as a factor of one half."""

_STARTERS = frozenset(_ONES) | frozenset(_TENS) | {"a", "an", "half", "quarter", "couple", "dozen", "halved"}
NUMBER_WORDS = (
    (_STARTERS - {"a", "an"}) | frozenset(_ORDINALS) | frozenset(FACTORS) | (frozenset(SCALES) - SHORTENED_SCALES)
)
"""Folded words with which a number in words may begin."""

_LONGEST = 12
"""The most words that one number may have."""


class WordNumber(NamedTuple):
    """A number in words: the half-open range of its word indices, its value and its kind."""

    first: int
    last: int
    value: Decimal
    kind: str
    """`cardinal`, `ordinal`, `share` or `factor`."""
    approximate: bool = False


def _cardinal(folds: Sequence[str], start: int) -> tuple[int, Decimal] | None:
    """Reads a cardinal at `start`; the index after it and its value."""
    total = Decimal(0)
    current: Decimal | None = None
    at = start
    if folds[at] in {"a", "an"}:
        if at + 1 >= len(folds) or folds[at + 1] not in SCALES:
            return None
        current, at = Decimal(1), at + 1
    smallest = Decimal(100)
    end = at
    while at < len(folds) and at - start < _LONGEST:
        word = folds[at]
        if word in _TENS and smallest > 10:
            current, smallest = (current or Decimal(0)) + _TENS[word], Decimal(10)
        elif word in _ONES and smallest > (min(10, _ONES[word])):
            current, smallest = (current or Decimal(0)) + _ONES[word], Decimal(0)
        elif word in {"hundred", "dozen"} and current is not None:
            current, smallest = current * SCALES[word], Decimal(100)
        elif word in SCALES and (current is not None):
            total, current, smallest = total + current * SCALES[word], None, Decimal(100)
        elif word == "and" and at > start and at + 1 < len(folds) and folds[at - 1] in SCALES:
            if folds[at + 1] not in _ONES and folds[at + 1] not in _TENS:
                break
            at += 1
            continue
        else:
            break
        at += 1
        end = at
    if end == start or (current is None and total == 0):
        return None
    return end, total + (current or Decimal(0))


def find_number_words(folds: Sequence[str], start: int) -> WordNumber | None:
    """The number that begins at the word `start`; none where no number begins there.

    `folds` need not be the whole text: the reader looks back one word and ahead at most twelve.

    >>> find_number_words(["twenty", "five", "people"], 0).value
    Decimal('25')
    """
    word = folds[start]
    following = folds[start + 1] if start + 1 < len(folds) else ""
    before = folds[start - 1] if start else ""
    if word in FACTORS:
        return WordNumber(start, start + 1, Decimal(FACTORS[word]), "factor")
    if word == "halved":
        return WordNumber(start, start + 1, Decimal("0.5"), "factor")
    if word == "couple":
        return WordNumber(start, start + 1, Decimal(2), "cardinal", True)
    if word in {"half", "quarter"}:
        if word == "quarter" and before not in {"a", "one"}:
            return None
        return WordNumber(start, start + 1, Decimal("0.5") if word == "half" else Decimal("0.25"), "share")
    if word == "dozen":
        return WordNumber(start, start + 1, Decimal(12), "cardinal") if before in {"a", "per"} else None
    if word == "third" and before == "a":
        return WordNumber(start, start + 1, Decimal(1) / 3, "share")
    if word in _ORDINALS:
        return WordNumber(start, start + 1, Decimal(_ORDINALS[word]), "ordinal")
    if word in SCALES:
        return WordNumber(start, start + 1, SCALES[word], "cardinal") if before in {"a", "per"} else None
    read = _cardinal(folds, start)
    if read is None:
        return None
    end, value = read
    if end < len(folds):
        if folds[end] in _DENOMINATORS and 0 < value < _DENOMINATORS[folds[end]]:
            return WordNumber(start, end + 1, value / _DENOMINATORS[folds[end]], "share")
        if folds[end] in _ORDINALS and value % 10 == 0 and value >= 20 and _ORDINALS[folds[end]] < 10:
            return WordNumber(start, end + 1, value + _ORDINALS[folds[end]], "ordinal")
    if list(folds[end : end + 3]) == ["and", "a", "half"] and value < 1000:
        return WordNumber(start, end + 3, value + Decimal("0.5"), "cardinal")
    if end == start + 1 and word == "one" and following in {"of", "another", "or", "and"}:
        return None
    return WordNumber(start, end, value, "cardinal")
