"""Names and values of a statement, matched as far as they go: what is left decides."""

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
"""Values of a row that a claim has to have: one that finds the row, one that is said of it."""

_LONGEST_PLAIN_VALUE: Final = 6
"""Words of a cell with a date or a number; longer ones say more about it."""


def decide(match: Match) -> Outcome | None:
    """What the record says of the statement that it was matched with; none where it says nothing."""
    return _Decision(match).outcome()


class _Decision:
    """What a statement and a record have in common, and what is left of either."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.statement = match.statement
        self.cells = match.cells
        self.roles = match.roles
        self.named = match.named
        self.unvalued = match.unvalued
        self.valued = match.valued
        self.unnamed = match.unnamed
        self.placement = Placement(match)
        self.negated_at = 0
        """The word that negates the statement, if one does."""

    def outcome(self) -> Outcome | None:
        """What is decided; none where the record says nothing of the statement."""
        found = self._value_outcome()
        if found is None or not found.verdict or not self.match.retitled:
            return found
        return replace(
            found,
            verdict=False,
            confidence=LIKELY,
            code="record.title",
            instead=self.match.own_title,
            first=self.match.retitled[0][0],
            last=self.match.retitled[-1][1],
            wrong=self.match.retitled,
        )

    def _value_outcome(self) -> Outcome | None:
        """What the values decide, whatever the title."""
        negation = self._count_negations()
        if negation is None:
            return None
        placement = self.placement
        if not placement.place() or self._is_blocked():
            return None
        rest = self._unexplained_words()
        if not rest and self.valued and placement.differing is None and placement.flag is None:
            self._drop_presenting_fields()
        naming = found_by_name(self.match)
        if not is_meant(self.match):
            return None
        if placement.flag is not None:
            cell, says, at = placement.flag
            if rest or self.unvalued or placement.differing is not None:
                return None
            return self._result(says != bool(negation), SURE, cell, at, at + 1, naming, "record.mismatch")
        if placement.differing is not None:
            number, first, last = placement.differing
            if negation and (not naming or self.cells[number].naming):
                return None
            if rest or any(n != number for n in self.unvalued) or self._nameless_values():
                return None
            code = "record.count" if self.cells[number].kind == "array" else "record.mismatch"
            confidence = self._confidence_of(number, first, last)
            return self._result(bool(negation), confidence, number, first, last, naming, code)
        if not self.unvalued and not negation and (exchanged := self._judge_exchanged(naming)):
            return exchanged
        if not self.unvalued:
            return self._judge_all_valued(rest, negation, naming)
        if len(self.unvalued) == 1 and not negation:
            return self._judge_other_value(rest, naming)
        return None

    def _result(
        self, verdict: bool, confidence: float, number: int, first: int, last: int, naming: bool, code: str
    ) -> Outcome:
        wrong = () if verdict else self._wrong_words(number, first, last)
        return Outcome(
            verdict,
            confidence,
            self.cells[number],
            self.match.group.passage,
            first,
            last,
            naming,
            code,
            self.match.record.group,
            1 if verdict else count_alike(self.match, number),
            wrong,
            len(self.unnamed) + sum(map(len, self.valued.values())),
        )

    def _wrong_words(self, number: int, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """Which words are wrong: those that negate, or of a value what does not begin or end the right one as well."""
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
        """How many negations the statement has, one at most; none where it has another form."""
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
        """Whether a word turns the statement into more than values of fields."""
        inside = [False] * len(self.roles)
        for first, last, _ in (*self.statement.quantities, *self.statement.dates):
            inside[first:last] = [True] * (last - first)
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and not inside[at] and word.fold in BLOCKERS:
                return True
        return False

    def _drop_presenting_fields(self) -> None:
        """Takes fields for words that present where nothing else names them: "the record gives 4 under points"."""
        for number in list(self.unvalued):
            if all(self.statement.lexemes[at].stem in FRAME for at in self.named[number]):
                del self.unvalued[number]

    def _unexplained_words(self) -> list[int]:
        """The words of content that nothing explains."""
        return [
            at
            for at, word in enumerate(self.statement.lexemes)
            if self.roles[at] is None
            and (word.weight or word.digit or word.fold in NUMBER_WORDS)
            and word.stem not in FRAME
        ]

    def _nameless_values(self) -> list[Mention]:
        """Values that no field's name goes with and that do not name the record."""
        return [m for m in self.unnamed if not any(self.cells[c].naming and m.whole for c in m.cells)]

    def _judge_all_valued(self, rest: Sequence[int], negation: int, naming: bool) -> Outcome | None:
        """Every field that is named has its value: what is left are values without a name, or nothing."""
        if rest:
            return self._judge_wrong_item(rest, naming) if not negation else None
        nameless = self._nameless_values()
        if any(self._is_ambiguous(m) for m in nameless):
            return None
        valued = [(n, m) for n, ms in self.valued.items() for m in ms]
        if any(self._is_scattered(ms) for ms in self.valued.values()):
            return None
        if nameless:
            if not negation and (wrong := self._judge_strange_item(nameless, naming)):
                return wrong
            if not naming or (not self.match.group.table and not title_is_named(self.match)):
                return None
        if not valued and len(nameless) != 1:
            return None
        if valued:
            number, mention = max(valued, key=lambda p: (not self.cells[p[0]].naming, p[1].last))
        else:
            number, mention = nameless[0].cells[0], nameless[0]
            if self.cells[number].kind == "number" or not self.unnamed or len(self.unnamed) < 2:
                return None
        code = "record.negation" if negation else "record.mismatch"
        at = self.negated_at if negation else mention.first
        confidence = SURE if valued and not nameless and not self.placement.is_loose else DOUBTFUL
        if (
            valued
            and all(self.cells[n].naming for n, _ in valued)
            and not nameless
            and not self._is_named_besides(valued)
        ):
            return None
        if self.match.group.table and len(valued) + len(self.unnamed) < _FEWEST_IN_ROW:
            return None
        return self._result(not negation, confidence, number, min(at, mention.first), mention.last, naming, code)

    def _judge_exchanged(self, naming: bool) -> Outcome | None:
        """A value as the subject, and the record's name as the doer: "Ann Lee was directed by Blue Door"."""
        names_of_record = [
            (m.first, m.last) for m in self.unnamed if m.whole and any(self.cells[c].naming for c in m.cells)
        ]
        for number, mentions in self.valued.items():
            for at in self.named[number]:
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
                    found = self._result(False, SURE, number, value.first, value.last, naming, "record.mismatch")
                    return replace(found, wrong=((value.first, value.last), doer))
        return None

    def _is_named_besides(self, valued: Sequence[tuple[int, Mention]]) -> bool:
        """Whether something else names the record than what is said of it: its title, or another of its names."""
        return len(valued) > 1 or bool(self.unnamed) or (not self.match.group.table and title_is_named(self.match))

    def _is_scattered(self, mentions: Sequence[Mention]) -> bool:
        """Whether the items of one list stand apart, so that they are not told as one list."""
        ordered = sorted(mentions, key=lambda m: m.first)
        return any(any(t is not None for t in self.roles[one.last : other.first]) for one, other in pairwise(ordered))

    def _judge_strange_item(self, nameless: Sequence[Mention], naming: bool) -> Outcome | None:
        """A value of another field among the items of a list."""
        if len(nameless) != 1:
            return None
        strange = nameless[0]
        for number, mentions in self.valued.items():
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
                return self._result(False, LIKELY, number, strange.first, strange.last, naming, "record.mismatch")
        return None

    def _is_ambiguous(self, mention: Mention) -> bool:
        """Whether a value may be a figure of another field that happens to be equal."""
        return any(self.cells[c].kind == "number" for c in mention.cells)

    def _judge_other_value(self, rest: Sequence[int], naming: bool) -> Outcome | None:
        """One field is named and has another value than the one in its place."""
        (number,) = self.unvalued
        cell = self.cells[number]
        if cell.kind in ("array", "yes", "no", "none") or not cell.words:
            return None
        nameless = self._nameless_values()
        if not rest and len(nameless) == 1:
            value = nameless[0]
            other = self.cells[value.cells[0]]
            if other.kind != cell.kind or not value.whole or overlaps(self.match, cell, value.first, value.last):
                return None
            if not self.match.in_slot(number, value.first, value.last):
                return None
            confidence = SURE if self.match.group.table or is_person(cell) else LIKELY
            return self._result(False, confidence, number, value.first, value.last, naming, "record.mismatch")
        if not rest or nameless:
            return None
        first, last = rest[0], rest[-1] + 1
        if any(t is not None for t in self.roles[first:last]) or overlaps(self.match, cell, first, last):
            return None
        if not self.match.in_slot(number, first, last):
            return None
        confidence = text_differs(self.match, cell, number, first, last)
        return self._result(False, confidence, number, first, last, naming, "record.mismatch") if confidence else None

    def _judge_wrong_item(self, rest: Sequence[int], naming: bool) -> Outcome | None:
        """Something stands among the items of a list that the record's list has not."""
        first, last = rest[0], rest[-1] + 1
        if any(t is not None for t in self.roles[first:last]) or self._nameless_values():
            return None
        for number, mentions in self.valued.items():
            cell = self.cells[number]
            if not cell.items or cell.kind != "text":
                continue
            beside = any(m.last == first or m.first == last or self._is_joined(m, first, last) for m in mentions)
            if beside and all(not m.whole for m in mentions) and not overlaps(self.match, cell, first, last):
                confidence = text_differs(self.match, cell, number, first, last)
                if confidence:
                    return self._result(False, confidence, number, first, last, naming, "record.mismatch")
        return None

    def _is_joined(self, mention: Mention, first: int, last: int) -> bool:
        """Whether nothing but "and" stands between an item and words."""
        between = (
            self.match.folds[mention.last : first] if mention.last <= first else self.match.folds[last : mention.first]
        )
        return between == ("and",)

    def _confidence_of(self, number: int, first: int, last: int) -> float:
        """How sure it is that a number or a date differs from the value of a field."""
        cell = self.cells[number]
        if self.placement.is_of_other_row:
            return SURE
        if self.placement.is_loose or any(
            q.bound != "exact" for a, b, q in self.statement.quantities if first <= a < last
        ):
            return DOUBTFUL
        return SURE if cell.number is not None or len(cell.words) <= _LONGEST_PLAIN_VALUE else LIKELY
