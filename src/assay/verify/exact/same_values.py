"""Values of a claim that the evidence writes in another form: the network is asked in the evidence's own.

"2:35 pm" and 14:35, "£38m" and "38 million pounds", 2026-03-01 and "1 March" are one value each to the exact tier, and
different words to a network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.text.dates import DateMention
from assay.text.quantities import Quantity
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_SENTENCES = 6
"""Evidence sentences that are looked through for each value, those closest to the claim."""
_MOST_VALUES = 16
"""Values of a claim, and of a sentence, that are compared."""


@dataclass(frozen=True, slots=True)
class SameValue:
    """A stretch of the claim and the words with which the evidence states the same value."""

    start: int
    end: int
    text: str


def same_values(claim: Claim, index: ExactIndex) -> tuple[SameValue, ...]:
    """The values of the claim that a sentence close to it states in another form, in the order of the claim."""
    found = [*_quantities(claim, index), *_dates(claim, index)]
    found.sort(key=lambda one: (one.start, -one.end))
    apart: list[SameValue] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return tuple(apart)


def _quantities(claim: Claim, index: ExactIndex) -> Iterator[SameValue]:
    for ours in claim.quantities[:_MOST_VALUES]:
        if not ours.exact or ours.bound != "exact" or ours.weak:
            continue
        for candidate in claim.candidates[:_SENTENCES]:
            row = index.quantities.get(candidate.sentence, ())[:_MOST_VALUES]
            theirs = next((one for one in row if _same(ours, one)), None)
            if theirs is None:
                continue
            text = index.passages[index.sentences[candidate.sentence].passage].text
            if ours.dimension in {"count", "ordinal"}:
                start, end, words = ours.number_start, ours.number_end, text[theirs.number_start : theirs.number_end]
            else:
                start, end, words = ours.start, ours.end, text[theirs.start : theirs.end]
            if words.casefold() != claim.text[start:end].casefold():
                yield SameValue(start, end, words)
            break


def _same(ours: Quantity, theirs: Quantity) -> bool:
    counted = not ours.nouns or not theirs.nouns or not set(ours.nouns).isdisjoint(theirs.nouns)
    return (
        theirs.dimension == ours.dimension
        and theirs.bound == "exact"
        and theirs.exact
        and theirs.low == ours.low
        and (ours.dimension not in {"count", "ordinal"} or counted)
    )


def _dates(claim: Claim, index: ExactIndex) -> Iterator[SameValue]:
    for ours in claim.dates[:_MOST_VALUES]:
        if ours.bound != "exact" and ours.minute is None:
            continue
        for candidate in claim.candidates[:_SENTENCES]:
            row = index.dates.get(candidate.sentence, ())[:_MOST_VALUES]
            theirs = next((one for one in row if _stated(ours, one)), None)
            if theirs is None:
                continue
            words = index.passages[index.sentences[candidate.sentence].passage].text[theirs.start : theirs.end]
            if words.casefold() != claim.text[ours.start : ours.end].casefold():
                yield SameValue(ours.start, ours.end, words)
            break


def _stated(ours: DateMention, theirs: DateMention) -> bool:
    """Whether two dates state one value; a time without its half of the day is either of two."""
    if ours.minute is not None and theirs.minute is not None:
        unsure = not ours.half_day or not theirs.half_day
        return ours.minute % 720 == theirs.minute % 720 if unsure else ours.minute == theirs.minute
    return theirs.bound == "exact" and _fields(theirs, ours) == _fields(ours, ours)


def _fields(date: DateMention, like: DateMention) -> tuple[int | bool | None, ...]:
    """What a date states; its year only where the other one has one, since a day is said without its year."""
    year = date.year if like.year is not None or like.day is None else None
    return year, date.last_year, date.month, date.last_month, date.day, date.weekday, date.minute, date.half_day
