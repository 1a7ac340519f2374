"""Words of a statement that are no value as they stand, checked against the fields that it names by their type."""

from functools import partial
from typing import Final

from assay.text.dates import MONTH_NAMES, DateMention
from assay.text.quantities import UNIT_SYMBOLS, UNIT_WORDS, Quantity
from assay.verify.exact.compare_records.matching import Match, Mention
from assay.verify.exact.compare_records.value_relation import is_as_written, relation_of, states_one_value

_SHORTEST_SHAPE: Final = 2
_SHORT_SHAPE: Final = 8
"""Words of a value that may differ in all of its figures and still be written alike; no date or code is longer."""

_LONGEST_SHAPE: Final = 24
_LONG_SHAPE_SHARE: Final = 3
"""Words of a longer value for each that may differ."""

_MOST_ROWS_OF_COLUMN: Final = 500
"""Rows of a table of which the values are looked for."""

_UNITS: Final = frozenset({*UNIT_SYMBOLS, *UNIT_WORDS})

_SMALL_COUNT: Final = 3
"""Numbers up to here, and those in words, may count rows."""

_FARTHER: Final = 2
"""Words that a field may be farther from a value than the nearest, and the value still be meant as its own."""

_MONTHS: Final = frozenset(name[:3] for name in MONTH_NAMES)


class Placement:
    """Takes up numbers, dates, and the fields that are true or false."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.statement = match.statement
        self.cells = match.cells
        self.roles = match.roles
        self.named = match.named
        self.unvalued = match.unvalued
        self.valued = match.valued
        self.differing: tuple[int, int, int] | None = None
        """The one field that the statement gives another value, and the words of that value."""
        self.flag: tuple[int, bool, int] | None = None
        """The one field that is true or false, or empty, whether it is true, and the word that names it."""
        self.is_of_other_row = False
        """Whether that value is another row's."""
        self.is_loose = False
        """Whether a value fits by its bound or by rounding only."""

    def place(self) -> bool:
        """Takes up what can be; false where something cannot be placed."""
        self._place_other_rows_value()
        if self.differing is None:
            self._place_same_shape()
        return self._place_typed() and self._place_flag()

    def _place_other_rows_value(self) -> None:
        """Takes up the words that are the value of a field that is named, not of this row of a table but of another."""
        group, records = self.match.group, self.match.records.records
        if not group.table:
            return
        rows = records[group.first : min(group.last, group.first + _MOST_ROWS_OF_COLUMN)]
        for number in [n for n in self.unvalued if n < self.match.own and self.cells[n].words]:
            cell = self.cells[number]
            others = {c.words for row in rows for c in row.cells if c.stems == cell.stems and c.words}
            for words in sorted(others, key=lambda words: (-len(words), words)):
                if _is_within(words, cell.words) or _is_within(cell.words, words):
                    continue
                for first, last in self.match.word_ranges(words):
                    if self.match.in_slot(number, first, last) and self.match.absorb(first, last, number):
                        self.differing = (number, first, last)
                        self.is_of_other_row = True
                        return

    def _place_same_shape(self) -> None:
        """Takes up the words that are written as the value of a field is and differ in figures, months or units."""
        partly = [n for n, mentions in self.valued.items() if not any(m.whole for m in mentions)]
        for number in [*self.unvalued, *partly]:
            words = self.cells[number].words
            if self.differing is not None or not any(w[0].isdigit() for w in words) or len(words) > _LONGEST_SHAPE:
                continue
            runs = [
                at
                for at in range(len(self.roles) - len(words) + 1)
                if self._is_shaped(at, number) and not self._is_same_date(at, number)
            ]
            if len(runs) == 1 and self.match.absorb(runs[0], runs[0] + len(words), number):
                self.differing = (number, runs[0], runs[0] + len(words))

    def _is_shaped(self, at: int, number: int) -> bool:
        """Whether the words from `at` on are written as the value of a cell is, and are not that value."""
        words, last = self.cells[number].words, at + len(self.cells[number].words)
        mine = self.match.folds[at:last]
        if any(role not in (None, "value") for role in self.roles[at:last]):
            return False
        if mine == words:
            return self.match.is_in_other_currency(self.cells[number], at, last)
        if len(words) < _SHORTEST_SHAPE or self.cells[number].kind == "number":
            return False
        differing = [(a, b) for a, b in zip(mine, words, strict=True) if a != b and not _are_same_month(a, b)]
        if not differing:
            return False  # "10 Nov 2025" is 10 November 2025
        if len(words) > _SHORT_SHAPE and len(differing) * _LONG_SHAPE_SHARE > len(words):
            return False
        return all(
            (a.isdigit() and b.isdigit()) or (a[:3] in _MONTHS and b[:3] in _MONTHS) or {a, b} <= _UNITS
            for a, b in differing
        )

    def _is_same_date(self, at: int, number: int) -> bool:
        """Whether words written as the value of a cell is are a date that says what it says.

        "10 November 2025" is "10 Nov 2025": which words differ tells nothing where they are read as a day.
        """
        cell, last = self.cells[number], at + len(self.cells[number].words)
        dates = [date for first, end, date in self.statement.dates if at <= first and end <= last]
        return bool(dates) and all(
            relation_of(
                date,
                cell,
                self.match.values,
                alone=not self.match.group.table,
                record=self.match.record,
                records=self.match.records,
            )
            for date in dates
        )

    def _place_typed(self) -> bool:
        """Holds numbers and dates that are no value as they stand against the fields that are named.

        False where one of them cannot be placed.
        """
        for first, last, date in self.statement.dates:
            words = self.roles[first:last]
            if "value" not in words and not set(words) <= {"key", "title"} and not self._place_value(first, last, date):
                return False
        for first, last, quantity in self.statement.quantities:
            words = self.roles[first:last]
            if "value" in words or set(words) <= {"key", "title"}:
                continue
            if not self._place_value(first, last, quantity):
                return False
        return True

    def _place_value(self, first: int, last: int, value: DateMention | Quantity) -> bool:
        """Finds the field that a number or a date is a value of, or the one whose value it differs from."""
        if isinstance(value, Quantity) and self.match.group.table and self._counts_rows(first, value):
            return False
        match = self.match
        relation = partial(
            relation_of, values=match.values, alone=not match.group.table, record=match.record, records=match.records
        )
        nearest_first = sorted(self.named, key=lambda n: (n not in self.unvalued, self._distance(n, first, last)))
        closest = min((self._distance(n, first, last) for n in nearest_first), default=0)
        for number in nearest_first:
            if self._distance(number, first, last) > closest and not states_one_value(value):
                continue
            if relation(value, self.cells[number]) is True:
                self.is_loose = self.is_loose or not is_as_written(value, self.cells[number], match.values)
                self.unvalued.pop(number, None)
                self.valued.setdefault(number, []).append(Mention(first, last, (number,), False))
                self.roles[first:last] = ["value"] * (last - first)
                return True
        differing = [n for n in nearest_first if n in self.unvalued and relation(value, self.cells[n]) is False]
        if (
            len(differing) != 1
            or self.differing is not None
            or self._distance(differing[0], first, last) > closest + _FARTHER
        ):
            return False
        self.differing = (differing[0], first, last)
        self.unvalued.pop(differing[0])
        self.roles[first:last] = ["value"] * (last - first)
        return True

    def _counts_rows(self, first: int, value: Quantity) -> bool:
        """Whether a small number before the name of a field may say how many rows there are: "one round"."""
        small = value.value <= _SMALL_COUNT or not self.statement.lexemes[first].digit
        return small and any(not self.cells[n].stems.isdisjoint(value.nouns[:2]) for n in self.named)

    def _distance(self, number: int, first: int, last: int) -> int:
        """How many words away from a run of words the nearest is that names a field."""
        return min(min(abs(first - at), abs(last - 1 - at)) for at in self.named[number])

    def _place_flag(self) -> bool:
        """Takes up the one field that is true or false, or empty, and is merely named."""
        flags = [n for n in self.unvalued if self.cells[n].kind in ("yes", "no")]
        if len(flags) != 1 or len(self.unvalued) > 1:
            return True
        number = flags[0]
        at = self.named[number][0]
        self.flag = (number, self.cells[number].kind == "yes", at)
        self.unvalued.pop(number)
        return True


def _are_same_month(one: str, other: str) -> bool:
    """Whether two words are one month, written out and short."""
    return one[:3] == other[:3] and one[:3] in _MONTHS


def _is_within(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether words stand among others in a row: one of two names of the same thing."""
    return any(others[at : at + len(words)] == words for at in range(len(others) - len(words) + 1))
