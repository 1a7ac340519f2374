"""Decides whether a record supports or contradicts the statement that it was matched with."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assay.text.quantities import NUMBER_WORDS
from assay.verify.exact.compare_records.identity import count_alike, found_by_name, is_meant, title_is_named
from assay.verify.exact.compare_records.matching import Match, Mention
from assay.verify.exact.compare_records.outcome import DOUBTFUL, LIKELY, SURE, Outcome
from assay.verify.exact.compare_records.placement import Placement
from assay.verify.exact.compare_records.text_difference import is_person, overlaps, text_differs
from assay.verify.exact.compare_records.vocabulary import (
    BLOCKERS,
    FRAME,
    NEGATIONS,
    PLAIN_NEGATIONS,
    negating_words,
)

_FEWEST_IN_ROW: Final = 2
"""The values of a row that a claim has to contain at least: one that identifies the row and one that it is given."""

_LONGEST_PLAIN_VALUE: Final = 6
"""The most words of a cell that holds no more than a date or a number."""


def decide(match: Match) -> Outcome | None:
    """The outcome of the statement that a record was matched with; none where the record decides nothing."""
    return _Decision(match).outcome()


class _Decision:
    """The rules that decide a statement from what it and a record have in common, and from what is left of either."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.statement = match.statement
        self.cells = match.cells
        self.roles = match.roles
        self.named_fields = match.named_fields
        self.fields_without_value = match.fields_without_value
        self.field_values = match.field_values
        self.nameless_values = match.nameless_values
        self.placement = Placement(match)
        self.negated_at = 0
        """The index of the word that negates the statement, if there is one."""

    def outcome(self) -> Outcome | None:
        """The outcome; none where the record decides nothing. With the title of another record it is contradicted."""
        found = self._value_outcome()
        if found is None or not found.agrees or not self.match.other_title_words:
            return found
        return replace(
            found,
            agrees=False,
            confidence=LIKELY,
            code="record.title",
            shown_instead=self.match.own_title,
            first=self.match.other_title_words[0][0],
            last=self.match.other_title_words[-1][1],
            wrong=self.match.other_title_words,
        )

    def _value_outcome(self) -> Outcome | None:
        """The outcome by the values alone, whatever the title is."""
        negations = self._count_negations()
        if negations is None:
            return None
        placement = self.placement
        if not placement.place() or self._is_blocked():
            return None
        unexplained = self._unexplained_words()
        if not unexplained and self.field_values and placement.differing_value is None and placement.flag is None:
            self._drop_presenting_fields()
        by_name = found_by_name(self.match)
        if not is_meant(self.match):
            return None
        if placement.flag is not None:
            cell, says, at = placement.flag
            if unexplained or self.fields_without_value or placement.differing_value is not None:
                return None
            return self._result(says != bool(negations), SURE, cell, at, at + 1, by_name, "record.mismatch")
        if placement.differing_value is not None:
            number, first, last = placement.differing_value
            if negations and (not by_name or self.cells[number].naming):
                return None
            if unexplained or any(n != number for n in self.fields_without_value) or self._unattached_values():
                return None
            code = "record.count" if self.cells[number].kind == "array" else "record.mismatch"
            confidence = self._confidence_of(number, first, last)
            return self._result(bool(negations), confidence, number, first, last, by_name, code)
        if not self.fields_without_value and not negations and (exchanged := self._judge_exchanged(by_name)):
            return exchanged
        if not self.fields_without_value:
            return self._judge_all_valued(unexplained, negations, by_name)
        if len(self.fields_without_value) == 1 and not negations:
            return self._judge_other_value(unexplained, by_name)
        return None

    def _result(
        self, agrees: bool, confidence: float, number: int, first: int, last: int, by_name: bool, code: str
    ) -> Outcome:
        wrong = () if agrees else self._wrong_words(number, first, last)
        return Outcome(
            agrees,
            confidence,
            self.cells[number],
            self.match.group.passage,
            first,
            last,
            by_name,
            code,
            self.match.record.group,
            1 if agrees else count_alike(self.match, number),
            wrong,
            len(self.nameless_values) + sum(map(len, self.field_values.values())),
        )

    def _wrong_words(self, number: int, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """The wrong words: those that negate, or a value without the words that the right one begins or ends with."""
        folds, at = self.match.folds, self.negated_at
        if "negation" in self.roles:
            return (negating_words(folds, at),)
        theirs = self.cells[number].words
        while last - first > 1 and theirs and folds[last - 1] == theirs[-1]:
            last, theirs = last - 1, theirs[:-1]
        while last - first > 1 and theirs and folds[first] == theirs[0]:
            first, theirs = first + 1, theirs[1:]
        return ((first, last),)

    def _count_negations(self) -> int | None:
        """The number of negations, 0 or 1; none where there are several or it is no plain negation."""
        found = [at for at, fold in enumerate(self.match.folds) if fold in NEGATIONS and self.roles[at] is None]
        if len(found) > 1:
            return None
        if found:
            if self.match.folds[found[0]] not in PLAIN_NEGATIONS and self.match.folds[found[0]] != "no":
                return None
            self.roles[found[0]] = "negation"
            self.negated_at = found[0]
        return len(found)

    def _is_blocked(self) -> bool:
        """Whether a word makes the statement more than a statement of values ("more than", "only", "if")."""
        inside = [False] * len(self.roles)
        for first, last, _ in (*self.statement.quantities, *self.statement.dates):
            inside[first:last] = [True] * (last - first)
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and not inside[at] and word.fold in BLOCKERS:
                return True
        return False

    def _drop_presenting_fields(self) -> None:
        """Drops fields that only words of presentation name: "points" in "the record gives 4 points"."""
        for number in list(self.fields_without_value):
            if all(self.statement.lexemes[at].stem in FRAME for at in self.named_fields[number]):
                del self.fields_without_value[number]

    def _unexplained_words(self) -> list[int]:
        """The indices of the content words that nothing explains."""
        return [
            at
            for at, word in enumerate(self.statement.lexemes)
            if self.roles[at] is None
            and (word.weight or word.digit or word.fold in NUMBER_WORDS)
            and word.stem not in FRAME
        ]

    def _unattached_values(self) -> list[Mention]:
        """The values that belong to no named field and do not name the record."""
        return [m for m in self.nameless_values if not any(self.cells[c].naming and m.whole for c in m.cells)]

    def _judge_all_valued(self, unexplained: Sequence[int], negations: int, by_name: bool) -> Outcome | None:
        """The outcome where every named field has its value, so that at most values without a named field are left."""
        if unexplained:
            return self._judge_wrong_item(unexplained, by_name) if not negations else None
        unattached = self._unattached_values()
        if any(self._is_ambiguous(m) for m in unattached):
            return None
        pairs = [(n, m) for n, ms in self.field_values.items() for m in ms]
        if any(self._is_scattered(ms) for ms in self.field_values.values()):
            return None
        if unattached:
            if not negations and (wrong := self._judge_strange_item(unattached, by_name)):
                return wrong
            if not by_name or (not self.match.group.table and not title_is_named(self.match)):
                return None
        if not pairs and len(unattached) != 1:
            return None
        if pairs:
            number, mention = max(pairs, key=lambda p: (not self.cells[p[0]].naming, p[1].last))
        else:
            number, mention = unattached[0].cells[0], unattached[0]
            if self.cells[number].kind == "number" or not self.nameless_values or len(self.nameless_values) < 2:
                return None
        code = "record.negation" if negations else "record.mismatch"
        at = self.negated_at if negations else mention.first
        confidence = SURE if pairs and not unattached and not self.placement.is_loose else DOUBTFUL
        if (
            pairs
            and all(self.cells[n].naming for n, _ in pairs)
            and not unattached
            and not self._is_named_besides(pairs)
        ):
            return None
        if self.match.group.table and len(pairs) + len(self.nameless_values) < _FEWEST_IN_ROW:
            return None
        return self._result(not negations, confidence, number, min(at, mention.first), mention.last, by_name, code)

    def _judge_exchanged(self, by_name: bool) -> Outcome | None:
        """A contradiction where the value and the record's name are exchanged: "Ann Lee was directed by Blue Door"."""
        names_of_record = [
            (m.first, m.last) for m in self.nameless_values if m.whole and any(self.cells[c].naming for c in m.cells)
        ]
        for number, mentions in self.field_values.items():
            for at in self.named_fields[number]:
                by = at + 1
                if self.cells[number].kind != "text" or self.match.folds[by : by + 1] != ("by",):
                    continue
                last = by + 1
                while last < len(self.roles) and self.roles[last] == "title":
                    last += 1
                doer = (by + 1, last) if last > by + 1 else next((n for n in names_of_record if n[0] == by + 1), None)
                before = [m for m in mentions if m.last <= at]
                if doer and len(before) == 1:
                    (value,) = before
                    found = self._result(False, SURE, number, value.first, value.last, by_name, "record.mismatch")
                    return replace(found, wrong=((value.first, value.last), doer))
        return None

    def _is_named_besides(self, pairs: Sequence[tuple[int, Mention]]) -> bool:
        """Whether the record is also named by something other than the value in question: its title, another name."""
        return (
            len(pairs) > 1 or bool(self.nameless_values) or (not self.match.group.table and title_is_named(self.match))
        )

    def _is_scattered(self, mentions: Sequence[Mention]) -> bool:
        """Whether items of one list are apart in the statement, so that they are not stated as one list."""
        ordered = sorted(mentions, key=lambda m: m.first)
        return any(any(t is not None for t in self.roles[one.last : other.first]) for one, other in pairwise(ordered))

    def _judge_strange_item(self, unattached: Sequence[Mention], by_name: bool) -> Outcome | None:
        """A contradiction where a value of another field is among the items of a list."""
        if len(unattached) != 1:
            return None
        strange = unattached[0]
        for number, mentions in self.field_values.items():
            cell = self.cells[number]
            if (
                not cell.items
                or all(m.whole for m in mentions)
                or overlaps(self.match, cell, strange.first, strange.last)
            ):
                continue
            if any(
                m.last == strange.first or m.first == strange.last or self._is_joined(m, strange.first, strange.last)
                for m in mentions
            ):
                return self._result(False, LIKELY, number, strange.first, strange.last, by_name, "record.mismatch")
        return None

    def _is_ambiguous(self, mention: Mention) -> bool:
        """Whether a value is a number that may belong to another field and happen to be equal."""
        return any(self.cells[c].kind == "number" for c in mention.cells)

    def _judge_other_value(self, unexplained: Sequence[int], by_name: bool) -> Outcome | None:
        """A contradiction where the one field that is left is given another value than its own."""
        (number,) = self.fields_without_value
        cell = self.cells[number]
        if cell.kind in ("array", "yes", "no", "none") or not cell.words:
            return None
        unattached = self._unattached_values()
        if not unexplained and len(unattached) == 1:
            value = unattached[0]
            other = self.cells[value.cells[0]]
            if other.kind != cell.kind or not value.whole or overlaps(self.match, cell, value.first, value.last):
                return None
            if not self.match.in_slot(number, value.first, value.last):
                return None
            confidence = SURE if self.match.group.table or is_person(cell) else LIKELY
            return self._result(False, confidence, number, value.first, value.last, by_name, "record.mismatch")
        if not unexplained or unattached:
            return None
        first, last = unexplained[0], unexplained[-1] + 1
        if any(t is not None for t in self.roles[first:last]) or overlaps(self.match, cell, first, last):
            return None
        if not self.match.in_slot(number, first, last):
            return None
        confidence = text_differs(self.match, cell, number, first, last)
        return self._result(False, confidence, number, first, last, by_name, "record.mismatch") if confidence else None

    def _judge_wrong_item(self, unexplained: Sequence[int], by_name: bool) -> Outcome | None:
        """A contradiction where the statement has an item among those of a list that the record's list lacks."""
        first, last = unexplained[0], unexplained[-1] + 1
        if any(t is not None for t in self.roles[first:last]) or self._unattached_values():
            return None
        for number, mentions in self.field_values.items():
            cell = self.cells[number]
            if not cell.items or cell.kind != "text":
                continue
            beside = any(m.last == first or m.first == last or self._is_joined(m, first, last) for m in mentions)
            if beside and all(not m.whole for m in mentions) and not overlaps(self.match, cell, first, last):
                confidence = text_differs(self.match, cell, number, first, last)
                if confidence:
                    return self._result(False, confidence, number, first, last, by_name, "record.mismatch")
        return None

    def _is_joined(self, mention: Mention, first: int, last: int) -> bool:
        """Whether only "and" is between an item and a range of words."""
        between = (
            self.match.folds[mention.last : first] if mention.last <= first else self.match.folds[last : mention.first]
        )
        return between == ("and",)

    def _confidence_of(self, number: int, first: int, last: int) -> float:
        """The confidence that a number or a date differs from the value of a field."""
        cell = self.cells[number]
        if self.placement.is_of_other_row:
            return SURE
        if self.placement.is_loose or any(
            q.bound != "exact" for a, b, q in self.statement.quantities if first <= a < last
        ):
            return DOUBTFUL
        return SURE if cell.number is not None or len(cell.words) <= _LONGEST_PLAIN_VALUE else LIKELY
