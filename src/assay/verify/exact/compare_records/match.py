"""A statement matched with a record: which of its words are values, names of fields, or the record's title."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from assay.text.synonyms import GENERIC_NOUNS, PRONOUNS, SYNONYMS
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.value_relation import CellValues
from assay.verify.exact.compare_records.vocabulary import CITED, FUNCTION_WORDS, NEGATIONS
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.records import Cell, Group, Record, Records

_MOST_CELLS_READ: Final = 80
"""Cells of one record whose names and values are looked for; wider records are left alone."""

_SHORTEST_DOER: Final = 6
"""Letters of a stem that may be that of a doer; shorter ones only happen to end so ("order")."""

_SHORTEST_DEED: Final = 5
"""Letters of a stem that may be that of a doer's deed."""

Role = Literal["value", "key", "title", "negation"]
"""What explains a word of a statement; "key" is the name of a field."""


@dataclass(slots=True)
class Mention:
    """A run of a statement's words that is the value of cells."""

    first: int
    last: int
    cells: tuple[int, ...]
    """Indices of the record's cells that have this value."""
    whole: bool
    """Whether it is all of the value and not an item or a part."""


class Match:
    """One statement matched with one record, as far as names and values stand in it as they are.

    Cells are named by their index in `cells`. Those who decide what is left take up more of it.
    """

    def __init__(
        self, statement: Statement, records: Records, number: int, index: ExactIndex, values: CellValues
    ) -> None:
        self.statement = statement
        self.record: Record = records.records[number]
        self.group: Group = records.groups[self.record.group]
        self.records = records
        self.index = index
        self.values = values
        own = self.record.cells
        self.cells: list[Cell] = list(own)
        """Of the record and then of those it lies in."""
        self.own = len(own)
        names = {cell.stems for cell in own}
        parent = self.record.parent
        while parent is not None:
            self.cells += [c for c in records.records[parent].cells if c.stems not in names and c.kind != "array"]
            parent = records.records[parent].parent
        self.roles: list[Role | None] = [None] * len(statement)
        """What explains each word; none for what nothing does yet."""
        self.folds = tuple(w.fold for w in statement.lexemes)
        self.named: dict[int, tuple[int, ...]] = {}
        """The fields that the statement names, with the words that name them."""
        self.unvalued: dict[int, tuple[int, ...]] = {}
        """Those of them that it gives no value of yet."""
        self.valued: dict[int, list[Mention]] = {}
        """The values of the others."""
        self.unnamed: list[Mention] = []
        """Values that no field's name goes with."""

    @property
    def too_wide(self) -> bool:
        """Whether the record has too many cells to be matched."""
        return len(self.cells) > _MOST_CELLS_READ

    def match(self) -> None:
        """Finds the values, the names of fields and the title, and puts values and names together."""
        values = self._values()
        self.named = keys = self._keys()
        self._title()
        self.unvalued = unvalued = dict(keys)
        for mention in values:
            fits = [cell for cell in mention.cells if cell in keys]
            if fits:
                best = min(fits, key=lambda cell: (cell not in unvalued, self._distance(mention, keys[cell])))
                for cell in fits:
                    unvalued.pop(cell, None)
                self.valued.setdefault(best, []).append(mention)
            else:
                self.unnamed.append(mention)
        told = {at for cell in keys if cell not in unvalued for at in keys[cell]}
        for cell in list(unvalued):
            short = self.cells[cell].needed != self.cells[cell].stems
            subject = short and (
                self.cells[cell].naming or all(self.statement.lexemes[at].stem in self.group.title for at in keys[cell])
            )
            if told.issuperset(keys[cell]) or subject:
                del unvalued[cell]
        for cell in list(unvalued):
            mine = self.cells[cell]
            if any(keys[o] == keys[cell] and len(self.cells[o].stems) < len(mine.stems) for o in unvalued if o != cell):
                del unvalued[cell]

    def _distance(self, mention: Mention, place: tuple[int, ...]) -> int:
        """How many words away from a value the nearest is that names a field."""
        return min(min(abs(mention.first - at), abs(mention.last - 1 - at)) for at in place)

    def _values(self) -> list[Mention]:
        """The values of the record that stand in the statement, the longest first, none within another."""
        found: dict[tuple[int, int], dict[int, bool]] = {}
        places: dict[str, list[int]] = {}
        for at, fold in enumerate(self.folds):
            places.setdefault(fold, []).append(at)
        for number, cell in enumerate(self.cells):
            if cell.kind in ("yes", "no", "none"):
                continue
            for words, whole in ((cell.words, True), *((item, False) for item in cell.items)):
                if not words or words[0] not in places or (len(words) == 1 and words[0] in FUNCTION_WORDS):
                    continue
                for at in places[words[0]]:
                    if self.folds[at : at + len(words)] == words and self._same_number(cell, at, at + len(words)):
                        spot = found.setdefault((at, at + len(words)), {})
                        spot[number] = spot.get(number, False) or whole
        mentions: list[Mention] = []
        for first, last in sorted(found, key=lambda p: (p[0] - p[1], p[0])):
            if any(self.roles[first:last]) or self._splits_amount(first, last):
                continue
            self.roles[first:last] = ["value"] * (last - first)
            cells = found[first, last]
            mentions.append(Mention(first, last, tuple(cells), any(cells.values())))
        return sorted(mentions, key=lambda m: m.first)

    def _same_number(self, cell: Cell, first: int, last: int) -> bool:
        """Whether a number in the statement has the sign and the scale of the cell's."""
        if cell.number is None or cell.kind != "number":
            return True
        start, end = self.statement.starts[first], self.statement.ends[last - 1]
        for _, _, quantity in self.statement.quantities:
            if quantity.number_start <= start and end <= quantity.number_end:
                if quantity.value == cell.number:
                    return True
                signed = "-" in self.statement.text[max(0, start - 2) : start]
                return quantity.value == abs(cell.number) and signed == (cell.number < 0) and quantity.exact
        return True

    def _splits_amount(self, first: int, last: int) -> bool:
        """Whether the words are a part of a number, so that "5" is no value in "5.2"."""
        start, end = self.statement.starts[first], self.statement.ends[last - 1]
        for _, _, quantity in self.statement.quantities:
            if quantity.number_start < end and start < quantity.number_end:
                inside = start >= quantity.number_start and end <= quantity.number_end
                if inside and (start, end) != (quantity.number_start, quantity.number_end):
                    return True
        return False

    def _keys(self) -> dict[int, tuple[int, ...]]:
        """The fields that the statement names, with the words that name them."""
        stems: dict[str, list[int]] = {}
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and word.fold not in NEGATIONS:
                for stem in _doer_forms(word.stem):
                    stems.setdefault(stem, []).append(at)
        named: dict[int, tuple[int, ...]] = {}
        synonyms: list[int] = []
        for number, cell in enumerate(self.cells):
            places = [self._places(stem, stems) for stem in cell.needed]
            if not places or not all(places):
                synonyms.append(number)
                continue
            named[number] = tuple(sorted({at for place in places for at in place}))
        used = {at for place in named.values() for at in place}
        for number in synonyms:
            alike = [[at for s in SYNONYMS.get(stem, ()) for at in stems.get(s, ()) if at not in used]
                     for stem in self.cells[number].needed]  # fmt: skip
            if len(alike) == 1 and alike[0]:
                named[number] = tuple(sorted(set(alike[0])))
        named = self._narrowed(named, stems)
        for place in named.values():
            for at in place:
                self.roles[at] = "key"
        optional = {stem for number in named for stem in self.cells[number].stems}
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and word.stem in optional:
                self.roles[at] = "key"
        return named

    def _places(self, stem: str, stems: dict[str, list[int]]) -> list[int]:
        """The words of the statement that may be a stem of a field's name."""
        found: list[int] = []
        for form in _doer_forms(stem):
            found += stems.get(form, [])
        return found

    def _narrowed(self, named: dict[int, tuple[int, ...]], stems: dict[str, list[int]]) -> dict[int, tuple[int, ...]]:
        """Without the fields whose words all belong to a fuller name: "home team" beside "home team score"."""
        kept: dict[int, tuple[int, ...]] = {}
        for number, place in named.items():
            mine = frozenset(place)
            depth = len([s for s in self.cells[number].stems if s in stems])
            rivals = [
                other
                for other, theirs in named.items()
                if other != number
                and mine <= frozenset(theirs)
                and (len(theirs) > len(place) or len([s for s in self.cells[other].stems if s in stems]) > depth)
            ]
            if not rivals:
                kept[number] = place
        return kept

    def _title(self) -> None:
        """Marks the words of the title, and what may stand for it."""
        title = self.group.title
        alone = not self.group.table
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is not None:
                continue
            cited = word.digit and at > 0 and self.folds[at - 1] in CITED
            generic = cited or word.fold in PRONOUNS or (alone and word.fold in GENERIC_NOUNS)
            if word.stem in title or generic:
                self.roles[at] = "title"


def _doer_forms(stem: str) -> Iterator[str]:
    """A stem with that of the deed behind a doer, or with those of a deed's doers: "director" and "directed"."""
    yield stem
    if len(stem) >= _SHORTEST_DOER and stem.endswith(("or", "er")):
        yield stem[:-2]
    elif len(stem) >= _SHORTEST_DEED:
        yield stem + "or"
        yield stem + "er"
