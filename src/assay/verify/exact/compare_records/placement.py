"""Compares numbers, dates and look-alikes of values in a statement with the fields that it names, by their type."""

from functools import partial
from typing import Final

from assay.text.dates import MONTH_NAMES, DateMention
from assay.text.quantities import UNIT_SYMBOLS, UNIT_WORDS, Quantity
from assay.verify.exact.compare_records.matching import Match, Mention
from assay.verify.exact.compare_records.value_relation import is_as_written, relation_of, states_one_value

_SHORTEST_SHAPE: Final = 2
_SHORT_SHAPE: Final = 8
"""Values of up to this many words may differ in all figures and still have the same shape; dates and codes do."""

_LONGEST_SHAPE: Final = 24
_LONG_SHAPE_SHARE: Final = 3
"""How many words a longer value needs for each word that differs."""

_MOST_ROWS_OF_COLUMN: Final = 500
"""The most rows of a table whose values are compared."""

_UNITS: Final = frozenset({*UNIT_SYMBOLS, *UNIT_WORDS})

_SMALL_COUNT: Final = 3
"""Numbers up to here, and those in words, may count rows."""

_FARTHER: Final = 2
"""How many words farther than the nearest field the field of a value may be."""

_MONTHS: Final = frozenset(name[:3] for name in MONTH_NAMES)


class Placement:
    """Assigns numbers and dates to named fields, and finds the one field that differs or is a flag."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.statement = match.statement
        self.cells = match.cells
        self.roles = match.roles
        self.named_fields = match.named_fields
        self.fields_without_value = match.fields_without_value
        self.field_values = match.field_values
        self.differing_value: tuple[int, int, int] | None = None
        """The one field to which the statement gives another value, and the range of words of that value."""
        self.flag: tuple[int, bool, int] | None = None
        """The one field that is true or false, whether it is true, and the index of the word that names it."""
        self.is_of_other_row = False
        """Whether that other value is in another row of the table."""
        self.is_loose = False
        """Whether a value fits only by its bound or by rounding."""

    def place(self) -> bool:
        """Assigns all numbers, dates and flags; false where one cannot be assigned."""
        self._place_other_rows_value()
        if self.differing_value is None:
            self._place_same_shape()
        return self._place_typed() and self._place_flag()

    def _place_other_rows_value(self) -> None:
        """Finds words that are the value of a named field in another row of the table."""
        group, records = self.match.group, self.match.records.records
        if not group.table:
            return
        rows = records[group.first : min(group.last, group.first + _MOST_ROWS_OF_COLUMN)]
        for number in [n for n in self.fields_without_value if n < self.match.own_count and self.cells[n].words]:
            cell = self.cells[number]
            others = {c.words for row in rows for c in row.cells if c.stems == cell.stems and c.words}
            for words in sorted(others, key=lambda words: (-len(words), words)):
                if _is_within(words, cell.words) or _is_within(cell.words, words):
                    continue
                for first, last in self.match.word_ranges(words):
                    if self.match.in_slot(number, first, last) and self.match.absorb(first, last, number):
                        self.differing_value = (number, first, last)
                        self.is_of_other_row = True
                        return

    def _place_same_shape(self) -> None:
        """Finds words with the shape of a field's value that differ from it in figures, months or units."""
        partly = [n for n, mentions in self.field_values.items() if not any(m.whole for m in mentions)]
        for number in [*self.fields_without_value, *partly]:
            words = self.cells[number].words
            if (
                self.differing_value is not None
                or not any(w[0].isdigit() for w in words)
                or len(words) > _LONGEST_SHAPE
            ):
                continue
            runs = [
                at
                for at in range(len(self.roles) - len(words) + 1)
                if self._is_shaped(at, number) and not self._is_same_date(at, number)
            ]
            if len(runs) == 1 and self.match.absorb(runs[0], runs[0] + len(words), number):
                self.differing_value = (number, runs[0], runs[0] + len(words))

    def _is_shaped(self, at: int, number: int) -> bool:
        """Whether the words from `at` on have the shape of a cell's value and are not that value."""
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
        """Whether words with the shape of a cell's value are the same date as it: "10 November 2025", "10 Nov 2025"."""
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
        """Compares numbers and dates that are no exact values with the named fields.

        False where one of them cannot be assigned.
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
        nearest_first = sorted(
            self.named_fields, key=lambda n: (n not in self.fields_without_value, self._distance(n, first, last))
        )
        closest = min((self._distance(n, first, last) for n in nearest_first), default=0)
        for number in nearest_first:
            if self._distance(number, first, last) > closest and not states_one_value(value):
                continue
            if relation(value, self.cells[number]) is True:
                self.is_loose = self.is_loose or not is_as_written(value, self.cells[number], match.values)
                self.fields_without_value.pop(number, None)
                self.field_values.setdefault(number, []).append(Mention(first, last, (number,), False))
                self.roles[first:last] = ["value"] * (last - first)
                return True
        differing = [
            n for n in nearest_first if n in self.fields_without_value and relation(value, self.cells[n]) is False
        ]
        if (
            len(differing) != 1
            or self.differing_value is not None
            or self._distance(differing[0], first, last) > closest + _FARTHER
        ):
            return False
        self.differing_value = (differing[0], first, last)
        self.fields_without_value.pop(differing[0])
        self.roles[first:last] = ["value"] * (last - first)
        return True

    def _counts_rows(self, first: int, value: Quantity) -> bool:
        """Whether a small number before the name of a field may be a number of rows: "one round"."""
        small = value.value <= _SMALL_COUNT or not self.statement.lexemes[first].digit
        return small and any(not self.cells[n].stems.isdisjoint(value.nouns[:2]) for n in self.named_fields)

    def _distance(self, number: int, first: int, last: int) -> int:
        """The distance in words from a range of words to the nearest word that names a field."""
        return min(min(abs(first - at), abs(last - 1 - at)) for at in self.named_fields[number])

    def _place_flag(self) -> bool:
        """Finds the one field that is true or false and is only named."""
        flags = [n for n in self.fields_without_value if self.cells[n].kind in ("yes", "no")]
        if len(flags) != 1 or len(self.fields_without_value) > 1:
            return True
        number = flags[0]
        at = self.named_fields[number][0]
        self.flag = (number, self.cells[number].kind == "yes", at)
        self.fields_without_value.pop(number)
        return True


def _are_same_month(one: str, other: str) -> bool:
    """Whether two words are the same month, written out and abbreviated."""
    return one[:3] == other[:3] and one[:3] in _MONTHS


def _is_within(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether words are contained in others, as one of two names of the same thing is."""
    return any(others[at : at + len(words)] == words for at in range(len(others) - len(words) + 1))
