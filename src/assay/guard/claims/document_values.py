"""Values of documents and tables that no evidence states, and how much support they keep.

A sentence may say in its own words what the evidence implies. A field of a document or a cell of a table gives a value,
which must come from the evidence or be computed from it. A figure of several digits, a day or a time that is neither
was made up, whatever the network says of the words around it.
"""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay._lru import LruCache
from assay.guard.check.evidence_index import PreparedEvidence
from assay.text.dates import DateMention, find_dates
from assay.text.quantities import find_quantities
from assay.verify.exact import ExactFinding, ExactIndex, ExactResult
from assay.verify.network import Judgement

UNSTATED: Final = 0.5
"""The highest support of a value that is neither stated nor computed."""
_CONFIDENCE: Final = 0.8
_SPECIFIC: Final = 2
"""The number of significant digits from which a figure is hardly a count of listed things."""
_DAY_SECONDS: Final = 86_400
_HALF_DAY: Final = 720
_MOST_DATES: Final = 64
_FIGURE: Final = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True, slots=True)
class _Stated:
    """The figures, days and times of a body of evidence."""

    figures: frozenset[Decimal]
    days: tuple[DateMention, ...]
    clocks: tuple[DateMention, ...]
    lengths: frozenset[int]
    """Durations in days."""


_STATED: Final = LruCache[_Stated](64)


def _stated(evidence: PreparedEvidence) -> _Stated:
    return _STATED.get(evidence.key, lambda: _read(evidence.index))


def _read(index: ExactIndex) -> _Stated:
    quantities = [one for row in index.quantities.values() for one in row]
    figures = {one.value for one in quantities} | {one.low for one in quantities if one.low is not None}
    figures |= {cell.number for record in index.records.records for cell in record.cells if cell.number is not None}
    figures |= {
        Decimal(match.group().replace(",", ""))
        for passage in index.passages
        for match in _FIGURE.finditer(passage.text)
        if match.group().replace(",", "").count(".") <= 1
    }
    dates = [date for row in index.dates.values() for date in row]
    taken = {int(one.low // _DAY_SECONDS) for one in quantities if one.dimension == "time" and one.low is not None}
    return _Stated(
        frozenset(figures),
        tuple(one for one in dates if one.day is not None),
        tuple(one for one in dates if one.minute is not None),
        frozenset(taken),
    )


def unstated(value: str, evidence: PreparedEvidence, exact: ExactResult) -> str | None:
    """The figure, day or time in a value that the evidence neither states nor leads to; None if there is none.

    Args:
        value: the value as the document or the table writes it.
        evidence: the evidence.
        exact: the exact tier's result for the claim; a number that follows from the evidence is not missing.
    """
    stripped = value.strip("\"' ")
    dates = find_dates(stripped)
    stated = _stated(evidence)
    for date in dates:
        if not _is_dated(date, stated):
            return stripped[date.start : date.end]
    if exact.signals.get("numbers_computed", 0.0) > 0 or exact.signals.get("supports_record", 0.0) > 0:
        return None
    taken = [(date.start, date.end) for date in dates]
    for quantity in find_quantities(stripped, skip=taken):
        digits = len(quantity.value.normalize().as_tuple().digits)
        if quantity.exact and digits >= _SPECIFIC and not {quantity.value, quantity.low} & stated.figures:
            return stripped[quantity.start : quantity.end]
    return None


def without_unstated(
    value: str, evidence: PreparedEvidence, exact: ExactResult, judgement: Judgement, length: int
) -> tuple[Judgement, ExactResult]:
    """The judgement and the findings of a document's value, bounded if no evidence states it."""
    missing = unstated(value, evidence, exact)
    if missing is None:
        return judgement, exact
    message = f"No evidence states {missing!r}, and it does not follow from what it states."
    found = ExactFinding("number.missing", message, 0, length, None, "missing", _CONFIDENCE)
    others = tuple(one for one in exact.findings if one.effect != "missing")
    result = ExactResult(
        (found, *others), exact.signals, exact.best, exact.supporting, exact.changed, exact.settled, exact.same
    )
    return Judgement(min(judgement.support, UNSTATED), judgement.contradiction), result


def _is_dated(date: DateMention, stated: _Stated) -> bool:
    """Whether the evidence has this day or time, has one that leads to it, or has none at all."""
    if date.minute is not None:
        return not stated.clocks or any(_same_clock(date, one) for one in stated.clocks)
    if date.day is None or not stated.days:
        return True
    days = {(date.month, date.day), date.other} - {None}
    if any(days & {(one.month, one.day), one.other} for one in stated.days):
        return True
    return any(_days_apart(date, one) in stated.lengths for one in stated.days[:_MOST_DATES])


def _same_clock(one: DateMention, other: DateMention) -> bool:
    ours, theirs = one.minute or 0, other.minute or 0
    return ours == theirs or (not (one.half_day and other.half_day) and ours % _HALF_DAY == theirs % _HALF_DAY)


def _days_apart(date: DateMention, other: DateMention) -> int | None:
    if None in (date.month, date.day, other.month, other.day):
        return None
    year = date.year or other.year or dt.MINYEAR
    try:
        first = dt.date(other.year or year, other.month or 1, other.day or 1)
        return abs((dt.date(year, date.month or 1, date.day or 1) - first).days)
    except ValueError:
        return None
