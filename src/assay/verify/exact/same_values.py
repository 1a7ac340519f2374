"""Finds values of a claim that the evidence writes in another form, so that the network can read the evidence's form.

"2:35 pm" and 14:35, "£38m" and "38 million pounds", 2026-03-01 and "1 March" are equal values for the exact tier, but
different words for a network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.text.dates import DateMention
from assay.text.quantities import Quantity
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_SENTENCES = 6
"""The most evidence sentences that are searched for each value, those closest to the claim."""
_MOST_VALUES = 16
"""The most values of a claim, and of a sentence, that are compared."""


@dataclass(frozen=True, slots=True)
class SameValue:
    """A range of the claim, and the words of the evidence for the same value."""

    start: int
    end: int
    text: str


def same_values(claim: Claim, index: ExactIndex) -> tuple[SameValue, ...]:
    """The values that a sentence close to the claim states in another form, in the order of the claim."""
    values = [*_quantities(claim, index), *_dates(claim, index)]
    values.sort(key=lambda value: (value.start, -value.end))
    apart: list[SameValue] = []
    for value in values:
        if not apart or value.start >= apart[-1].end:
            apart.append(value)
    return tuple(apart)


def _quantities(claim: Claim, index: ExactIndex) -> Iterator[SameValue]:
    for claim_value in claim.quantities[:_MOST_VALUES]:
        if not claim_value.exact or claim_value.bound != "exact" or claim_value.weak:
            continue
        for candidate in claim.candidates[:_SENTENCES]:
            row = index.quantities.get(candidate.sentence, ())[:_MOST_VALUES]
            evidence_value = next((one for one in row if _same_quantity(claim_value, one)), None)
            if evidence_value is None:
                continue
            text = index.passages[index.sentences[candidate.sentence].passage].text
            if claim_value.dimension in {"count", "ordinal"}:
                start, end, words = (
                    claim_value.number_start,
                    claim_value.number_end,
                    text[evidence_value.number_start : evidence_value.number_end],
                )
            else:
                start, end, words = claim_value.start, claim_value.end, text[evidence_value.start : evidence_value.end]
            if words.casefold() != claim.text[start:end].casefold():
                yield SameValue(start, end, words)
            break


def _same_quantity(claim_value: Quantity, evidence_value: Quantity) -> bool:
    counted = (
        not claim_value.nouns or not evidence_value.nouns or not set(claim_value.nouns).isdisjoint(evidence_value.nouns)
    )
    return (
        evidence_value.dimension == claim_value.dimension
        and evidence_value.bound == "exact"
        and evidence_value.exact
        and evidence_value.low == claim_value.low
        and (claim_value.dimension not in {"count", "ordinal"} or counted)
    )


def _dates(claim: Claim, index: ExactIndex) -> Iterator[SameValue]:
    for claim_value in claim.dates[:_MOST_VALUES]:
        if claim_value.bound != "exact" and claim_value.minute is None:
            continue
        for candidate in claim.candidates[:_SENTENCES]:
            row = index.dates.get(candidate.sentence, ())[:_MOST_VALUES]
            evidence_value = next((one for one in row if _same_date(claim_value, one)), None)
            if evidence_value is None:
                continue
            words = index.passages[index.sentences[candidate.sentence].passage].text[
                evidence_value.start : evidence_value.end
            ]
            if words.casefold() != claim.text[claim_value.start : claim_value.end].casefold():
                yield SameValue(claim_value.start, claim_value.end, words)
            break


def _same_date(claim_value: DateMention, evidence_value: DateMention) -> bool:
    """Whether two dates have the same value; a time without am or pm may be either."""
    if claim_value.minute is not None and evidence_value.minute is not None:
        unsure = not claim_value.half_day or not evidence_value.half_day
        return (
            claim_value.minute % 720 == evidence_value.minute % 720
            if unsure
            else claim_value.minute == evidence_value.minute
        )
    return evidence_value.bound == "exact" and _fields(evidence_value, claim_value) == _fields(claim_value, claim_value)


def _fields(date: DateMention, like: DateMention) -> tuple[int | bool | None, ...]:
    """The fields of a date; the year only if the other date has one or has no day, since a day may omit its year."""
    year = date.year if like.year is not None or like.day is None else None
    return year, date.last_year, date.month, date.last_month, date.day, date.weekday, date.minute, date.half_day
