"""A date as a value, and how a claim's date relates to one of the evidence."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Bound = Literal["exact", "about", "before", "after", "until", "since"]


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date, a part of the calendar or a time of day, as far as the text states it."""

    start: int
    end: int
    year: int | None = None
    """Negative before the common era (1 BC is -1)."""
    last_year: int | None = None
    """The last year, if it covers several (a decade, a century)."""
    month: int | None = None
    last_month: int | None = None
    """The last month, if it covers several (a quarter)."""
    day: int | None = None
    weekday: int | None = None
    """0 is Monday."""
    minute: int | None = None
    """Minutes since midnight, for a time of day."""
    half_day: bool = True
    """Whether a time of day says which half of the day it means."""
    other: tuple[int, int] | None = None
    """The other reading of an ambiguous date, as month and day."""
    bound: Bound = "exact"


class DateRelation(Enum):
    """How a claim's date relates to one of the evidence."""

    SAME = "same"
    """The evidence states all that the claim states, or the claim follows from it."""
    COMPATIBLE = "compatible"
    """Nothing differs, but the claim states more than the evidence."""
    DIFFERENT = "different"
    ORDER = "order"
    """The claim's "before" or "after" contradicts the evidence."""
    INCOMPARABLE = "incomparable"
    """No field in common."""


def relate_dates(claim: DateMention, evidence: DateMention) -> DateRelation:
    """How a claim's date relates to one of the evidence.

    >>> from assay.text.dates.detection import find_dates
    >>> relate_dates(find_dates("in 2024")[0], find_dates("on 2 January 2024")[0])
    <DateRelation.SAME: 'same'>
    """
    if claim.minute is not None or evidence.minute is not None:
        return _relate_clocks(claim, evidence)
    years = claim.year is not None and evidence.year is not None
    finer = (
        (claim.month is not None and evidence.month is not None)
        or (claim.day is not None and evidence.day is not None)
        or (claim.weekday is not None and evidence.weekday is not None)
    )
    if not years and not finer:
        return DateRelation.INCOMPARABLE
    if years and (claim.bound in _ORDERED or evidence.bound in _ORDERED):
        return _relate_ordered(claim, evidence)
    if _agree(claim, evidence, (claim.month, claim.day), (evidence.month, evidence.day)):
        return DateRelation.SAME if _covers(claim, evidence) else DateRelation.COMPATIBLE
    for own in filter(None, ((claim.month, claim.day), claim.other)):
        for other in filter(None, ((evidence.month, evidence.day), evidence.other)):
            if _agree(claim, evidence, own, other):
                return DateRelation.COMPATIBLE if not _covers(claim, evidence) else DateRelation.SAME
    if "about" in (claim.bound, evidence.bound) and not finer and abs((claim.year or 0) - (evidence.year or 0)) <= 3:
        return DateRelation.COMPATIBLE
    return DateRelation.DIFFERENT


_ORDERED = frozenset({"before", "after", "until", "since"})


def _relate_clocks(claim: DateMention, evidence: DateMention) -> DateRelation:
    if claim.minute is None or evidence.minute is None:
        return DateRelation.INCOMPARABLE
    if claim.minute == evidence.minute:
        return DateRelation.SAME
    if not (claim.half_day and evidence.half_day) and claim.minute % 720 == evidence.minute % 720:
        return DateRelation.COMPATIBLE
    if (
        evidence.bound == "exact"
        and claim.half_day
        and evidence.half_day
        and _is_on_stated_side(claim, evidence.minute)
    ):
        return DateRelation.COMPATIBLE
    return DateRelation.DIFFERENT


def _is_on_stated_side(claim: DateMention, minute: int) -> bool:
    """Whether a time of day is on the side that the claim states: what closes at 9:30 pm closes before 10 pm."""
    stated = claim.minute or 0
    return (claim.bound == "before" and minute < stated) or (claim.bound == "after" and minute > stated)


def _agree(
    claim: DateMention,
    evidence: DateMention,
    ours: tuple[int | None, int | None],
    theirs: tuple[int | None, int | None],
) -> bool:
    """Whether all fields that both state agree, with the given readings of month and day."""
    years = _overlap(claim.year, claim.last_year, evidence.year, evidence.last_year)
    if not years or not _overlap(ours[0], claim.last_month, theirs[0], evidence.last_month):
        return False
    if ours[1] is not None and theirs[1] is not None and ours[1] != theirs[1]:
        return False
    return claim.weekday is None or evidence.weekday is None or claim.weekday == evidence.weekday


def _overlap(first: int | None, last: int | None, other_first: int | None, other_last: int | None) -> bool:
    """Whether two ranges share a value; one that is not stated overlaps any."""
    if first is None or other_first is None:
        return True
    return (last or first) >= other_first and (other_last or other_first) >= first


def _covers(claim: DateMention, evidence: DateMention) -> bool:
    """Whether the evidence states everything that the claim does, in at least the same detail."""
    if (
        (claim.year is not None and evidence.year is None)
        or (claim.month is not None and evidence.month is None)
        or (claim.day is not None and evidence.day is None)
        or (claim.weekday is not None and evidence.weekday is None)
    ):
        return False
    if (
        claim.year is not None
        and evidence.last_year is not None
        and (claim.last_year is None or claim.year > (evidence.year or 0) or claim.last_year < evidence.last_year)
    ):
        return False
    return claim.month is None or evidence.last_month is None or claim.last_month is not None


def _sort_key(mention: DateMention, last: bool) -> tuple[int, int, int]:
    year = mention.year or 0
    if last:
        return (mention.last_year or year, mention.last_month or mention.month or 12, mention.day or 31)
    return (year, mention.month or 1, mention.day or 1)


def _relate_ordered(claim: DateMention, evidence: DateMention) -> DateRelation:
    c_first, c_last = _sort_key(claim, False), _sort_key(claim, True)
    e_first, e_last = _sort_key(evidence, False), _sort_key(evidence, True)
    if claim.bound == evidence.bound:
        if _agree(claim, evidence, (claim.month, claim.day), (evidence.month, evidence.day)):
            return DateRelation.SAME if _covers(claim, evidence) else DateRelation.COMPATIBLE
        return DateRelation.DIFFERENT
    if claim.bound in _ORDERED and evidence.bound in _ORDERED:
        opposite = {claim.bound, evidence.bound} in ({"before", "after"}, {"until", "since"}, {"before", "since"})
        return DateRelation.ORDER if opposite and c_first == e_first else DateRelation.COMPATIBLE
    if claim.bound in {"before", "until"}:
        if e_last < c_first or (claim.bound == "until" and e_first <= c_last):
            return DateRelation.SAME
        return (
            DateRelation.ORDER
            if e_first > c_last or (claim.bound == "before" and e_first >= c_first)
            else DateRelation.COMPATIBLE
        )
    if claim.bound in {"after", "since"}:
        if e_first > c_last or (claim.bound == "since" and e_last >= c_first):
            return DateRelation.SAME
        return (
            DateRelation.ORDER
            if e_last < c_first or (claim.bound == "after" and e_last <= c_last)
            else DateRelation.COMPATIBLE
        )
    if evidence.bound in {"before", "until"}:
        if c_first == e_first:
            return DateRelation.COMPATIBLE
        return DateRelation.ORDER if c_first > e_last else DateRelation.COMPATIBLE
    if c_first == e_first:
        return DateRelation.COMPATIBLE
    return DateRelation.ORDER if c_last < e_first else DateRelation.COMPATIBLE
