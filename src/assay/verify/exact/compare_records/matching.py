"""Matches a statement with a record: which of its words are values, names of fields, or the record's title."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from assay.text.lexicon import GENERIC_NOUNS, PRONOUNS, SYNONYMS
from assay.text.quantities import NUMBER_WORDS
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.value_relation import CellValues, differs_in_unit
from assay.verify.exact.compare_records.vocabulary import CITED, FUNCTION_WORDS, NEGATIONS, PRESENTING
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.records import Cell, Group, Record, Records

_MOST_CELLS_READ: Final = 80
"""The most cells of a record; wider records are not matched."""

_SHORTEST_DOER: Final = 6
"""The fewest letters of a stem that may be an agent noun ("director"); shorter ones end so by chance ("order")."""

_SHORTEST_DEED: Final = 5
"""The fewest letters of the stem of a verb that may have an agent noun."""

_FEWEST_IN_TITLE: Final = 2
"""The fewest words of a title that is matched as a whole; a single word may as well be a value."""

_FEWEST_IN_OTHER_TITLE: Final = 3
_OTHER_TITLE_SHARE: Final = 3
"""How many words a title needs for each figure that differs in the claim, for the claim still to mean that title."""

_MONEY: Final = "money:"
"""The prefix of the dimension of an amount in a known currency."""

Role = Literal["value", "key", "title", "negation"]
"""What explains a word of a statement; "key" is the name of a field."""


@dataclass(slots=True)
class Mention:
    """A range of a statement's words that is the value of cells."""

    first: int
    last: int
    cells: tuple[int, ...]
    """Indices of the record's cells that have this value."""
    whole: bool
    """Whether it is the whole value and not an item or a part."""


class Match:
    """One statement matched with one record, as far as it contains names and values exactly as they are.

    Cells are referred to by their index in `cells`. `Placement` and the decision explain further words.
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
        """The cells of the record and then those of the records around it."""
        self.own_count = len(own)
        names = {cell.stems for cell in own}
        parent = self.record.parent
        while parent is not None:
            self.cells += [c for c in records.records[parent].cells if c.stems not in names and c.kind != "array"]
            parent = records.records[parent].parent
        self.roles: list[Role | None] = [None] * len(statement)
        """The role of each word; none for words that nothing explains yet."""
        self.folds = tuple(w.fold for w in statement.lexemes)
        self.named_fields: dict[int, tuple[int, ...]] = {}
        """The fields that the statement names, with the indices of the words that name them."""
        self.fields_without_value: dict[int, tuple[int, ...]] = {}
        """Those of the named fields for which no value is found yet."""
        self.field_values: dict[int, list[Mention]] = {}
        """The values of the other named fields."""
        self.nameless_values: list[Mention] = []
        """Values of fields that the statement does not name."""
        self.other_title_words: tuple[tuple[int, int], ...] = ()
        """The ranges of words in which a title in the statement differs from the record's: another year or number."""
        self.own_title = ""
        """The record's title, where the statement has another one."""

    @property
    def too_wide(self) -> bool:
        """Whether the record has too many cells to be matched."""
        return len(self.cells) > _MOST_CELLS_READ

    def match(self) -> None:
        """Finds the values, the names of fields and the title, and assigns values to named fields."""
        if not any(self.word_ranges(words) for words in self._titles_above()):
            self._mark_other_title()
        values = self._find_values()
        self.named_fields = keys = self._find_keys()
        self._mark_title()
        self.fields_without_value = fields_without_value = dict(keys)
        for mention in values:
            fits = [cell for cell in mention.cells if cell in keys]
            if fits:
                best = min(
                    fits, key=lambda cell: (cell not in fields_without_value, self._distance(mention, keys[cell]))
                )
                for cell in fits:
                    fields_without_value.pop(cell, None)
                self.field_values.setdefault(best, []).append(mention)
            else:
                self.nameless_values.append(mention)
        at_keys = {at for cell in keys if cell not in fields_without_value for at in keys[cell]}
        for cell in list(fields_without_value):
            short = self.cells[cell].needed != self.cells[cell].stems
            subject = short and (
                self.cells[cell].naming or all(self.statement.lexemes[at].stem in self.group.title for at in keys[cell])
            )
            if at_keys.issuperset(keys[cell]) or subject:
                del fields_without_value[cell]
        for cell in list(fields_without_value):
            mine = self.cells[cell]
            if any(
                keys[o] == keys[cell] and len(self.cells[o].stems) < len(mine.stems)
                for o in fields_without_value
                if o != cell
            ):
                del fields_without_value[cell]

    def _distance(self, mention: Mention, place: tuple[int, ...]) -> int:
        """How many words away from a value the nearest is that names a field."""
        return min(min(abs(mention.first - at), abs(mention.last - 1 - at)) for at in place)

    def _find_values(self) -> list[Mention]:
        """The values of the record that are in the statement, the longest first, none within another."""
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
                    end = at + len(words)
                    if (
                        self.folds[at:end] == words
                        and self._is_same_number(cell, at, end)
                        and not self.is_in_other_currency(cell, at, end)
                    ):
                        spot = found.setdefault((at, at + len(words)), {})
                        spot[number] = spot.get(number, False) or whole
        mentions: list[Mention] = []
        titles = [place for place in self._caption_places() if not any(found.get(place, {}).values())]
        for first, last in sorted({*found, *titles}, key=lambda p: (p[0] - p[1], p[0])):
            if any(self.roles[first:last]):
                continue
            if (first, last) in titles:
                self.roles[first:last] = ["title"] * (last - first)
                continue
            if self._splits_amount(first, last) or self._is_cited(first, last):
                continue
            self.roles[first:last] = ["value"] * (last - first)
            cells = found[first, last]
            mentions.append(Mention(first, last, tuple(cells), any(cells.values())))
        return sorted(mentions, key=lambda m: m.first)

    def _titles_above(self) -> list[tuple[str, ...]]:
        """The words of the titles above the record: a line of text, or the name of a record around it."""
        above = [cell.words for cell in self.cells[self.own_count :] if cell.naming and cell.kind == "text"]
        return [words for words in (self.group.caption, *above) if len(words) >= _FEWEST_IN_TITLE]

    def word_ranges(self, words: tuple[str, ...]) -> list[tuple[int, int]]:
        """The ranges at which the statement has the words."""
        ends = range(len(words), len(self.folds) + 1)
        return [(end - len(words), end) for end in ends if self.folds[end - len(words) : end] == words]

    def _caption_places(self) -> list[tuple[int, int]]:
        """The ranges at which the statement has the whole title; its words are then no values of other fields."""
        words = self.group.caption
        return self.word_ranges(words) if len(words) >= _FEWEST_IN_TITLE else []

    def _mark_other_title(self) -> None:
        """Marks the words that are a title except for its figures, where the statement has no title exactly."""
        for words in self._titles_above():
            if len(words) < _FEWEST_IN_OTHER_TITLE:
                continue
            for first in range(len(self.folds) - len(words) + 1):
                mine = self.folds[first : first + len(words)]
                differing = [at for at, (a, b) in enumerate(zip(mine, words, strict=True)) if a != b]
                figures = all(_is_figure(mine[at]) and _is_figure(words[at]) for at in differing)
                if differing and figures and len(words) >= _OTHER_TITLE_SHARE * len(differing):
                    self.roles[first : first + len(words)] = ["title"] * len(words)
                    self.other_title_words = tuple((first + at, first + at + 1) for at in differing)
                    self.own_title = " ".join(words)
                    return

    def _is_cited(self, first: int, last: int) -> bool:
        """Whether the words are the number of a piece of evidence ("passage 2") and not of anything in the record."""
        before = self.statement.lexemes[first - 1] if first else None
        if before is None or before.fold not in CITED or last - first > 1 or not self.statement.lexemes[first].digit:
            return False
        return not any(before.stem in cell.stems or before.fold in cell.words for cell in self.cells)

    def _is_same_number(self, cell: Cell, first: int, last: int) -> bool:
        """Whether a number in the statement has the sign and the scale of the cell's."""
        if cell.number is None or cell.kind != "number":
            return True
        start, end = self.statement.starts[first], self.statement.ends[last - 1]
        for _, _, quantity in self.statement.quantities:
            if quantity.number_start <= start and end <= quantity.number_end:
                if quantity.value == cell.number:
                    return not differs_in_unit(quantity, cell, self.values)
                signed = "-" in self.statement.text[max(0, start - 2) : start]
                return quantity.value == abs(cell.number) and signed == (cell.number < 0) and quantity.exact
        return True

    def is_in_other_currency(self, cell: Cell, first: int, last: int) -> bool:
        """Whether an amount among the words is in another currency than all that the cell has."""
        start, end = self.statement.starts[first], self.statement.ends[last - 1]
        for _, _, quantity in self.statement.quantities:
            if quantity.dimension.startswith(_MONEY) and start <= quantity.number_start < end:
                theirs = {q.dimension for q in self.values.quantities(cell) if q.dimension.startswith(_MONEY)}
                if theirs and quantity.dimension not in theirs:
                    return True
        return False

    def absorb(self, first: int, last: int, number: int) -> bool:
        """Makes words one value of a field and removes other values found in them; false where that is not allowed.

        It is not allowed for names of fields, for the only value of another named field, and for a value that names the
        record.
        """
        if any(role not in (None, "value") for role in self.roles[first:last]):
            return False
        mentioned = [*self.nameless_values, *(m for mentions in self.field_values.values() for m in mentions)]
        inside = [m for m in mentioned if m.first < last and first < m.last]
        if any(m.first < first or last < m.last for m in inside):
            return False
        kept = {cell: [m for m in mentions if m not in inside] for cell, mentions in self.field_values.items()}
        if any(not mentions for cell, mentions in kept.items() if cell != number):
            return False
        if any(m.whole and any(self.cells[c].naming for c in m.cells) for m in inside if m in self.nameless_values):
            return False
        self.nameless_values[:] = [m for m in self.nameless_values if m not in inside]
        self.field_values.clear()
        self.field_values.update({cell: mentions for cell, mentions in kept.items() if mentions})
        self.fields_without_value.pop(number, None)
        self.roles[first:last] = ["value"] * (last - first)
        return True

    def in_slot(self, number: int, first: int, last: int) -> bool:
        """Whether words are where a value of a field would be: "the mayor is X", "X is the mayor"."""
        folds = self.folds
        before = folds[first - 1] if first else ""
        after = folds[last] if last < len(folds) else ""
        behind = max(self.named_fields[number]) < first
        if behind:
            return before in PRESENTING
        ahead = min(self.named_fields[number]) >= last
        return ahead and (before in PRESENTING or (first == 0 and after in PRESENTING))

    def _splits_amount(self, first: int, last: int) -> bool:
        """Whether the words are only part of a number: "5" is no value in "5.2"."""
        start, end = self.statement.starts[first], self.statement.ends[last - 1]
        for _, _, quantity in self.statement.quantities:
            if quantity.number_start < end and start < quantity.number_end:
                inside = start >= quantity.number_start and end <= quantity.number_end
                if inside and (start, end) != (quantity.number_start, quantity.number_end):
                    return True
        return False

    def _find_keys(self) -> dict[int, tuple[int, ...]]:
        """The fields that the statement names, with the indices of the words that name them."""
        stems: dict[str, list[int]] = {}
        numbering = self._numbering_words()
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and (word.fold not in NEGATIONS or at in numbering):
                for stem in _doer_forms(word.stem):
                    stems.setdefault(stem, []).append(at)
        named_fields: dict[int, tuple[int, ...]] = {}
        synonyms: list[int] = []
        for number, cell in enumerate(self.cells):
            places = [self._places_of(stem, stems) for stem in cell.needed]
            if not places or not all(places):
                synonyms.append(number)
                continue
            named_fields[number] = tuple(sorted({at for place in places for at in place}))
        used = {at for place in named_fields.values() for at in place}
        for number in synonyms:
            alike = [
                [at for s in SYNONYMS.get(stem, ()) for at in stems.get(s, ()) if at not in used]
                for stem in self.cells[number].needed
            ]
            if len(alike) == 1 and alike[0]:
                named_fields[number] = tuple(sorted(set(alike[0])))
        named_fields = self._without_shorter_names(named_fields, stems)
        for place in named_fields.values():
            for at in place:
                self.roles[at] = "key"
        optional = {stem for number in named_fields for stem in self.cells[number].stems}
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is None and word.stem in optional:
                self.roles[at] = "key"
        return named_fields

    def _numbering_words(self) -> set[int]:
        """The indices of words "no" that mean "number", as in the name of a field: "no in series"."""
        found: set[int] = set()
        for at, fold in enumerate(self.folds):
            if fold == "no" and any(
                words[:1] == ("no",) and len(words) > 1 and self.folds[at : at + len(words)] == words
                for words in (tuple(cell.name.lower().split()) for cell in self.cells)
            ):
                found.add(at)
        return found

    def _places_of(self, stem: str, stems: dict[str, list[int]]) -> list[int]:
        """The indices of the statement's words that may be a stem of a field's name."""
        found: list[int] = []
        for form in _doer_forms(stem):
            found += stems.get(form, [])
        return found

    def _without_shorter_names(
        self, named_fields: dict[int, tuple[int, ...]], stems: dict[str, list[int]]
    ) -> dict[int, tuple[int, ...]]:
        """The fields without those whose words all belong to a longer name: "home team" beside "home team score"."""
        kept: dict[int, tuple[int, ...]] = {}
        content = {
            number: frozenset(at for at in place if self.folds[at] not in FUNCTION_WORDS) or frozenset(place)
            for number, place in named_fields.items()
        }
        depths = {number: len([s for s in self.cells[number].stems if s in stems]) for number in named_fields}
        for number, place in named_fields.items():
            mine = content[number]
            rivals = [
                other
                for other, theirs in content.items()
                if other != number
                and mine <= theirs
                and (len(theirs) > len(mine) or len(named_fields[other]) > len(place) or depths[other] > depths[number])
            ]
            if not rivals:
                kept[number] = place
        return kept

    def _mark_title(self) -> None:
        """Marks the words of the title, and pronouns and generic nouns that may refer to the record."""
        title = self.group.title
        alone = not self.group.table
        for at, word in enumerate(self.statement.lexemes):
            if self.roles[at] is not None:
                continue
            cited = word.digit and at > 0 and self.folds[at - 1] in CITED
            generic = cited or word.fold in PRONOUNS or (alone and word.fold in GENERIC_NOUNS)
            if word.stem in title or generic:
                self.roles[at] = "title"


def _is_figure(word: str) -> bool:
    """Whether a word is a number."""
    return word[:1].isdigit() or word in NUMBER_WORDS


def _doer_forms(stem: str) -> Iterator[str]:
    """A stem and those of the verb of an agent noun or the agent nouns of a verb: "director" and "directed"."""
    yield stem
    if len(stem) >= _SHORTEST_DOER and stem.endswith(("or", "er")):
        yield stem[:-2]
    elif len(stem) >= _SHORTEST_DEED:
        yield stem + "or"
        yield stem + "er"
