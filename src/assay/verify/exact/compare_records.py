"""A claim held against records: which record and fields it speaks of, and whether their values are those it gives.

A statement is read as conditions on one record: this field has this value. Every word of content in it has to be
explained, by the record's title, the name of a field, a value, or a phrase that only presents ("the table lists").
Where all conditions hold it is supported; where one record is meant, one condition is left, and the claim gives a
value of the same type that differs, it is contradicted. Anything else says nothing.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assay.schema import EvidenceSpan
from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexemes import Lexeme, lexeme, word_set
from assay.text.number_words import NUMBER_WORDS
from assay.text.quantities import Quantity, Relation, find_quantities, relate
from assay.text.synonyms import GENERIC_NOUNS, PRONOUNS, SYNONYMS
from assay.verify.exact.claim import Claim
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.records import Cell, Group, Record, Records

MOST_RECORDS: Final = 12
"""Records that a statement is held against; one that fits more of them says nothing of any."""

MOST_POSTINGS: Final = 400
"""A word that begins the values of more records finds none."""

_ALONE: Final = 8
"""Up to so many records that belong to no group are looked at without a value that finds them."""

_LONGEST_STATEMENT: Final = 60
_LONGEST_SHAPE: Final = 8
_ENUMERATED: Final = 2
"""Words that a state or a kind has at most: "in production"."""

_FEWEST_IN_ROW: Final = 2
"""Values of a row that a claim has to have: one that finds the row, one that is said of it."""

_SMALL_COUNT: Final = 3
_MOST_ALIKE: Final = 1000
"""Records of a group of which is counted how many fit."""
_MOST_STATEMENTS: Final = 4
_MOST_CELLS_READ: Final = 80
"""Cells of one record whose names and values are looked for; wider records are left alone."""

_FRAME: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """table record list lists listed give gives given show shows shown state stated states entry entries row
        column value values according information provide provided context text based answer yes following data
        document source have has had result results detail details say says name named called total number under
        mention mentioned passage clear article summary specifically question answer described section page
        report reported evidence available note indicate indicates it its there field record's recorded"""
    )
)
"""Words of phrases that present a value and say nothing of it."""

_BLOCKERS: Final = word_set(
    """more most less least fewer than only just every each any some several both either neither nor or if unless
    except but without almost nearly approximately about around over above below between before during until since
    while although however should would could might may must can than another other same such too also again further
    against same when who whose which where because though yet per all one"""
)
"""Function words that turn a statement of a value into another statement."""

_NEGATIONS: Final = word_set(
    """not no never none don't doesn't didn't isn't aren't wasn't weren't won't can't couldn't hasn't haven't hadn't
    cannot"""
)
_PLAIN_NEGATIONS: Final = frozenset({"not", "isn't", "aren't", "wasn't", "weren't", "doesn't", "didn't", "don't"})

_PEOPLE: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """by director directed producer produced writer written author artist composer actor starring parent parents
        spouse spouses child children owner founder founded ceo captain coach manager passenger driver winner incumbent
        editor edited designer chairman president player leader name mayor father mother"""
    )
)

SURE, LIKELY, DOUBTFUL = 0.9, 0.75, 0.55


@dataclass(frozen=True, slots=True)
class RecordResult:
    """What the records say of a claim."""

    findings: tuple[ExactFinding, ...] = ()
    support: float = 0.0
    """How sure it is that records state all of the claim, 0 to 1."""
    spans: tuple[EvidenceSpan, ...] = ()
    """The values that support it."""
    passages: frozenset[int] = frozenset()
    """Evidence whose records state it."""


NOTHING: Final = RecordResult()


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of a claim."""

    text: str
    """Of the whole claim."""
    starts: Sequence[int]
    ends: Sequence[int]
    lexemes: Sequence[Lexeme]
    quantities: tuple[tuple[int, int, Quantity], ...]
    """With their words, from the first to before the last; likewise the next."""
    dates: tuple[tuple[int, int, DateMention], ...]

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(slots=True)
class _Mention:
    """A run of a statement's words that is the value of cells."""

    first: int
    last: int
    cells: tuple[int, ...]
    """Indices of the record's cells that have this value."""
    whole: bool
    """Whether it is all of the value and not an item or a part."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one record says of a statement."""

    verdict: bool
    """Whether it states it; otherwise it says otherwise."""
    confidence: float
    cell: Cell
    passage: int
    first: int
    """The words of the claim that are right or wrong."""
    last: int
    naming: bool
    """Whether the record was found by what names it."""
    code: str = "record.mismatch"
    group: int = 0
    alike: int = 1
    """How many records of the group fit what the statement says right."""


def compare_records(claim: Claim, index: ExactIndex) -> RecordResult:
    """Holds a claim against the records of the evidence; nothing where there are none, or where several fit."""
    records = index.records
    if not records:
        return NOTHING
    statements = list(_statements(claim))
    if not statements or len(statements) > _MOST_STATEMENTS:
        return NOTHING
    findings: list[ExactFinding] = []
    supports: list[_Outcome] = []
    for statement in statements:
        outcome = _judge(statement, records, index)
        if outcome is None:
            continue
        if outcome.verdict:
            supports.append(outcome)
        else:
            findings.append(_finding(statement, outcome, index))
    if findings:
        return RecordResult(tuple(findings))
    if len(supports) < len(statements):
        return NOTHING
    spans = tuple(_span(o, index, "supports") for o in supports)
    passages = frozenset(o.passage for o in supports)
    return RecordResult((), min(o.confidence for o in supports), spans, passages)


def _finding(statement: _Statement, outcome: _Outcome, index: ExactIndex) -> ExactFinding:
    start, end = statement.starts[outcome.first], statement.ends[outcome.last - 1]
    ours, cell = statement.text[start:end], outcome.cell
    name = cell.name.strip()
    if outcome.code == "record.negation":
        message = f'The claim denies what the record has: its "{name}" is {_shown(cell)}.'
    elif outcome.code == "record.count":
        message = f'The claim says "{ours}", but the record has {cell.number} under "{name}".'
    else:
        message = f'The claim says "{ours}", but the record\'s "{name}" is {_shown(cell)}.'
    return ExactFinding(
        outcome.code, message, start, end, _span(outcome, index, "contradicts"), "contradicts", outcome.confidence
    )


def _shown(cell: Cell) -> str:
    if cell.kind == "none":
        return "empty"
    return f'"{cell.text[:80]}"'


def _span(outcome: _Outcome, index: ExactIndex, relation: str) -> EvidenceSpan:
    passage, cell = index.passages[outcome.passage], outcome.cell
    end = min(cell.end, cell.start + 300)
    return EvidenceSpan(
        evidence_id=passage.evidence_id, start=cell.start, end=end, text=passage.text[cell.start : end],
        relation=relation, score=outcome.confidence,
    )  # fmt: skip


def _statements(claim: Claim) -> Iterator[_Statement]:
    """The sentences of a claim."""
    words = claim.words
    starts = words.starts
    cuts = [0]
    for at in range(1, len(words)):
        gap = claim.text[words.ends[at - 1] : starts[at]]
        ended = gap.strip() and (gap[0] in "!?;" or (gap[0] == "." and len(gap) > 1))
        if ("\n" in gap or ended) and (gap[0] != "." or not _abbreviated(words.lexemes[at - 1], claim, at)):
            cuts.append(at)
    cuts.append(len(words))
    quantities = [(*_range(starts, q.start, q.end), q) for q in claim.quantities]
    dates = [(*_range(starts, d.start, d.end), d) for d in claim.dates]
    for first, last in pairwise(cuts):
        if first == last:
            continue
        yield _Statement(
            claim.text, starts[first:last], words.ends[first:last], words.lexemes[first:last],
            tuple((a - first, b - first, q) for a, b, q in quantities if first <= a < b <= last),
            tuple((a - first, b - first, d) for a, b, d in dates if first <= a < b <= last),
        )  # fmt: skip


def _abbreviated(word: Lexeme, claim: Claim, at: int) -> bool:
    following = claim.words.lexemes[at]
    return len(word.fold) <= 2 or not (following.capital or following.digit)


def _range(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    return bisect_left(starts, start), bisect_left(starts, end)


def _judge(statement: _Statement, records: Records, index: ExactIndex) -> _Outcome | None:
    """What the records say of one statement; none where nothing or several things."""
    if len(statement) > _LONGEST_STATEMENT:
        return None
    outcomes: list[_Outcome] = []
    for number in _candidates(statement, records):
        outcome = _Reading(statement, records, number, index).outcome()
        if outcome is not None:
            outcomes.append(outcome)
    if not outcomes:
        return None
    agreeing = [o for o in outcomes if o.verdict]
    if agreeing:
        # A record that has all that is claimed is the one that is meant, unless another source says otherwise.
        best = max(agreeing, key=lambda o: (o.confidence, o.naming, -o.cell.start))
        return best if all(o.group == best.group or not o.naming for o in outcomes if not o.verdict) else None
    named = [o for o in outcomes if o.naming] or outcomes
    fits = max(o.alike for o in named)
    if len(named) < fits:
        return None
    return max(named, key=lambda o: (o.confidence, -o.cell.start))


def _candidates(statement: _Statement, records: Records) -> list[int]:
    """The records that have values of the statement, those with most of them first."""
    hits: dict[int, int] = {}
    for at in range(len(statement)):
        fold = statement.lexemes[at].fold
        posted = records.postings.get(fold, ())
        if not posted or len(posted) > MOST_POSTINGS or (fold in _FUNCTION and len(posted) > _ALONE):
            continue
        for number in posted:
            hits[number] = hits.get(number, 0) + 1
    alone = [group.first for group in records.groups if group.last - group.first == 1]
    if len(alone) <= _ALONE:
        for number in alone:
            hits.setdefault(number, 0)
    return sorted(hits, key=lambda number: (-hits[number], number))[:MOST_RECORDS]


_CITED: Final = word_set("passage source document page section step text")
_PRESENTING: Final = word_set("is are was were be by as has have had lists list gives with under")
_FUNCTION: Final = word_set("a an the of in on at to for from by with is are was were and as its it has have had")


class _Reading:
    """One statement held against one record."""

    def __init__(self, statement: _Statement, records: Records, number: int, index: ExactIndex) -> None:
        self.statement = statement
        self.record: Record = records.records[number]
        self.group: Group = records.groups[self.record.group]
        self.records = records
        self.index = index
        own = self.record.cells
        self.cells: list[Cell] = list(own)
        self.own = len(own)
        names = {cell.stems for cell in own}
        parent = self.record.parent
        while parent is not None:
            self.cells += [c for c in records.records[parent].cells if c.stems not in names and c.kind != "array"]
            parent = records.records[parent].parent
        self.taken: list[str | None] = [None] * len(statement)
        self.folds = tuple(w.fold for w in statement.lexemes)

    def outcome(self) -> _Outcome | None:
        """What the record says of the statement."""
        if len(self.cells) > _MOST_CELLS_READ:
            return None
        values = self._values()
        keys = self._keys()
        self._title()
        pairs: dict[int, list[_Mention]] = {}
        left: list[_Mention] = []
        open_keys = dict(keys)
        for mention in values:
            fits = [cell for cell in mention.cells if cell in keys]
            if fits:
                best = min(fits, key=lambda cell: (cell not in open_keys, self._distance(mention, keys[cell])))
                for cell in fits:
                    open_keys.pop(cell, None)
                pairs.setdefault(best, []).append(mention)
            else:
                left.append(mention)
        told = {at for cell in keys if cell not in open_keys for at in keys[cell]}
        for cell in list(open_keys):
            short = self.cells[cell].needed != self.cells[cell].stems
            subject = short and (
                self.cells[cell].naming or all(self.statement.lexemes[at].stem in self.group.title for at in keys[cell])
            )
            if told.issuperset(keys[cell]) or subject:
                del open_keys[cell]
        for cell in list(open_keys):
            mine = self.cells[cell]
            if any(
                keys[o] == keys[cell] and len(self.cells[o].stems) < len(mine.stems) for o in open_keys if o != cell
            ):
                del open_keys[cell]
        return _Decision(self, keys, open_keys, pairs, left).outcome()

    def _distance(self, mention: _Mention, place: tuple[int, ...]) -> int:
        return min(min(abs(mention.first - at), abs(mention.last - 1 - at)) for at in place)

    def _values(self) -> list[_Mention]:
        """The values of the record that stand in the statement, the longest first, none within another."""
        found: dict[tuple[int, int], dict[int, bool]] = {}
        places: dict[str, list[int]] = {}
        for at, fold in enumerate(self.folds):
            places.setdefault(fold, []).append(at)
        for number, cell in enumerate(self.cells):
            if cell.kind in ("yes", "no", "none"):
                continue
            for words, whole in ((cell.words, True), *((item, False) for item in cell.items)):
                if not words or words[0] not in places or (len(words) == 1 and words[0] in _FUNCTION):
                    continue
                for at in places[words[0]]:
                    if self.folds[at : at + len(words)] == words and self._same_number(cell, at, at + len(words)):
                        spot = found.setdefault((at, at + len(words)), {})
                        spot[number] = spot.get(number, False) or whole
        mentions: list[_Mention] = []
        for first, last in sorted(found, key=lambda p: (p[0] - p[1], p[0])):
            if any(self.taken[first:last]) or self._splits_amount(first, last):
                continue
            self.taken[first:last] = ["value"] * (last - first)
            cells = found[first, last]
            mentions.append(_Mention(first, last, tuple(cells), any(cells.values())))
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
            if self.taken[at] is None and word.fold not in _NEGATIONS:
                for stem in _forms(word.stem):
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
                self.taken[at] = "key"
        optional = {stem for number in named for stem in self.cells[number].stems}
        for at, word in enumerate(self.statement.lexemes):
            if self.taken[at] is None and word.stem in optional:
                self.taken[at] = "key"
        return named

    def _places(self, stem: str, stems: dict[str, list[int]]) -> list[int]:
        found: list[int] = []
        for form in _forms(stem):
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
            if self.taken[at] is not None:
                continue
            cited = word.digit and at > 0 and self.folds[at - 1] in _CITED
            generic = cited or word.fold in PRONOUNS or (alone and word.fold in GENERIC_NOUNS)
            if word.stem in title or generic:
                self.taken[at] = "title"


def _forms(stem: str) -> Iterator[str]:
    """A stem, that of the deed behind a doer ("director", "directed"), and their synonyms."""
    yield stem
    if len(stem) > 5 and stem.endswith(("or", "er")):
        yield stem[:-2]
    elif len(stem) > 4:
        yield stem + "or"
        yield stem + "er"


class _Decision:
    """Names and values of a statement, matched as far as they go: what is left decides."""

    def __init__(self, reading: _Reading, keys: dict[int, tuple[int, ...]], open_keys: dict[int, tuple[int, ...]],
                 pairs: dict[int, list[_Mention]], left: list[_Mention]) -> None:  # fmt: skip
        self.reading = reading
        self.statement = reading.statement
        self.cells = reading.cells
        self.taken = reading.taken
        self.keys = keys
        self.open = open_keys
        self.pairs = pairs
        self.left = left
        self.typed: tuple[int, int, int] | None = None
        self.loose = False
        """Whether a value fits by its bound or by rounding only."""

    def outcome(self) -> _Outcome | None:
        negation = self._negation()
        if negation is None:
            return None
        self._shapes_fit()
        if not self._typed_fit() or not self._flags_fit():
            return None
        if self._blocked():
            return None
        rest = self._rest()
        naming = self._found_by_name()
        identified = self._identified()
        if not identified:
            return None
        if self.flag is not None:
            cell, says, at = self.flag
            if rest or self.open or self.typed is not None:
                return None
            return self._result(says != bool(negation), SURE, cell, at, at + 1, naming, "record.mismatch")
        if self.typed is not None:
            number, first, last = self.typed
            if negation and (not naming or self.cells[number].naming):
                return None
            if rest or any(n != number for n in self.open) or self._fillers():
                return None
            code = "record.count" if self.cells[number].kind == "array" else "record.mismatch"
            sure = self._sure_of(number, first, last)
            return self._result(bool(negation), sure, number, first, last, naming, code)
        if not self.open:
            return self._complete(rest, negation, naming)
        if len(self.open) == 1 and not negation:
            return self._filled(rest, naming)
        return None

    def _result(self, verdict: bool, confidence: float, number: int, first: int, last: int, naming: bool,
                code: str) -> _Outcome:  # fmt: skip
        return _Outcome(verdict, confidence, self.cells[number], self.reading.group.passage, first, last, naming, code,
                        self.reading.record.group, 1 if verdict else self._alike(number))  # fmt: skip

    def _alike(self, wrong: int) -> int:
        """How many records of the group have the values that the statement has right."""
        group = self.reading.group
        if not group.table:
            return 1
        right: list[tuple[frozenset[str], tuple[str, ...]]] = []
        for number, mentions in self.pairs.items():
            if number != wrong and number < self.reading.own and any(m.whole for m in mentions):
                right.append((self.cells[number].stems, self.cells[number].words))
        for mention in self.left:
            number = mention.cells[0]
            if number != wrong and number < self.reading.own and mention.whole and self.cells[number].naming:
                right.append((self.cells[number].stems, self.cells[number].words))
        if not right:
            return _MOST_ALIKE
        records = self.reading.records
        posted = [n for n in records.postings.get(right[0][1][0], ()) if group.first <= n < group.last]
        if len(posted) > _MOST_ALIKE:
            return _MOST_ALIKE
        return sum(
            all(any(c.stems == stems and c.words == words for c in records.records[n].cells) for stems, words in right)
            for n in posted
        )

    def _negation(self) -> int | None:
        """How many negations the statement has, one at most; none where it has another form."""
        found = [at for at, fold in enumerate(self.reading.folds) if fold in _NEGATIONS and self.taken[at] is None]
        if len(found) > 1:
            return None
        if found:
            if self.reading.folds[found[0]] not in _PLAIN_NEGATIONS and self.reading.folds[found[0]] != "no":
                return None
            self.taken[found[0]] = "negation"
            self.negated_at = found[0]
        return len(found)

    def _blocked(self) -> bool:
        """Whether a word turns the statement into more than values of fields."""
        inside = [False] * len(self.taken)
        for first, last, _ in (*self.statement.quantities, *self.statement.dates):
            inside[first:last] = [True] * (last - first)
        for at, word in enumerate(self.statement.lexemes):
            if self.taken[at] is None and not inside[at] and word.fold in _BLOCKERS:
                return True
        return False

    def _rest(self) -> list[int]:
        """The words of content that nothing explains."""
        return [
            at
            for at, word in enumerate(self.statement.lexemes)
            if self.taken[at] is None
            and (word.weight or word.digit or word.fold in NUMBER_WORDS)
            and word.stem not in _FRAME
        ]

    def _found_by_name(self) -> bool:
        """Whether something that names the record is among the values: its first cell, an identifier, its title."""
        if not self.reading.group.table:
            return True
        mentions = [(n, m) for n, ms in self.pairs.items() for m in ms] + [(m.cells[0], m) for m in self.left]
        return any(
            any(cell < self.reading.own and self.cells[cell].naming for cell in {n, *m.cells}) and m.whole
            for n, m in mentions
        )

    def _identified(self) -> bool:
        """Whether the statement speaks of this record."""
        if not self.reading.group.table:
            return self._titled()
        mentions = [c for ms in self.pairs.values() for m in ms for c in m.cells] + [
            c for m in self.left for c in m.cells
        ]
        return any(c < self.reading.own for c in mentions)

    def _titled(self) -> bool:
        """Whether the statement names the record by its title, or it can mean no other."""
        title = self.reading.group.titled
        if not title:
            records = self.reading.records
            roots = sum(record.parent is None for record in records.records[:_MOST_ALIKE])
            only = len(records.records) < _MOST_ALIKE and roots == 1 == len(self.reading.index.passages)
            return (only and self.reading.record.parent is None) or any(
                self.cells[c].naming for ms in [*self.pairs.values(), self.left] for m in ms for c in m.cells
            )
        named = {f for at, f in enumerate(self.reading.folds) if self.taken[at] == "title"}
        if named & set(title) - _FUNCTION:
            return True
        return len(self.reading.records.passages) == len(self.reading.index.passages) == 1

    def _fillers(self) -> list[_Mention]:
        """Values that no field's name goes with and that do not name the record."""
        return [m for m in self.left if not any(self.cells[c].naming and m.whole for c in m.cells)]

    def _shapes_fit(self) -> None:
        """Takes up the words that are written as the value of an open field is and differ in figures or months."""
        for number in list(self.open):
            words = self.cells[number].words
            if not any(w[0].isdigit() for w in words) or len(words) > _LONGEST_SHAPE or self.typed is not None:
                continue
            runs = [at for at in range(len(self.taken) - len(words) + 1) if self._shaped(at, words)]
            if len(words) < 2 or len(runs) != 1 or self.cells[number].kind == "number":
                continue
            first, last = runs[0], runs[0] + len(words)
            self.typed = (number, first, last)
            self.open.pop(number)
            self.taken[first:last] = ["value"] * (last - first)

    def _shaped(self, at: int, words: tuple[str, ...]) -> bool:
        mine = self.reading.folds[at : at + len(words)]
        if any(t is not None for t in self.taken[at : at + len(words)]) or mine == words:
            return False
        return all(
            a == b or (a.isdigit() and b.isdigit()) or (a[:3] in _MONTHS and b[:3] in _MONTHS)
            for a, b in zip(mine, words, strict=True)
        )

    def _typed_fit(self) -> bool:
        """Holds numbers and dates that are no value as they stand against the fields that are named.

        False where one of them cannot be placed.
        """
        for first, last, date in self.statement.dates:
            words = self.taken[first:last]
            if "value" not in words and set(words) != {"title"} and not self._place(first, last, date):
                return False
        for first, last, quantity in self.statement.quantities:
            words = self.taken[first:last]
            if "value" in words or set(words) == {"title"} or (
                set(words) <= {"key", "title"} and not self.statement.lexemes[first].digit):  # fmt: skip
                continue
            if not self._place(first, last, quantity):
                return False
        return True

    def _place(self, first: int, last: int, value: DateMention | Quantity) -> bool:
        if isinstance(value, Quantity) and self.reading.group.table and self._counts_rows(first, value):
            return False
        near = sorted(self.keys, key=lambda n: (n not in self.open, self._gap(n, first, last)))
        closest = min((self._gap(n, first, last) for n in near), default=0)
        for number in near:
            if self._gap(number, first, last) > closest and not _plain(value):
                continue
            if relation_of(value, self.cells[number], not self.reading.group.table) is True:
                self.loose = self.loose or not _as_written(value, self.cells[number])
                self.open.pop(number, None)
                self.pairs.setdefault(number, []).append(_Mention(first, last, (number,), False))
                self.taken[first:last] = ["value"] * (last - first)
                return True
        differing = [
            n
            for n in near
            if n in self.open and relation_of(value, self.cells[n], not self.reading.group.table) is False
        ]
        if len(differing) != 1 or self.typed is not None or self._gap(differing[0], first, last) > closest + 2:
            return False
        self.typed = (differing[0], first, last)
        self.open.pop(differing[0])
        self.taken[first:last] = ["value"] * (last - first)
        return True

    def _counts_rows(self, first: int, value: Quantity) -> bool:
        """Whether a small number before the name of a field may say how many rows there are: "one round"."""
        small = value.value <= _SMALL_COUNT or not self.statement.lexemes[first].digit
        return small and any(not self.cells[n].stems.isdisjoint(value.nouns[:2]) for n in self.keys)

    def _gap(self, number: int, first: int, last: int) -> int:
        return min(min(abs(first - at), abs(last - 1 - at)) for at in self.keys[number])

    def _flags_fit(self) -> bool:
        """Takes up the one field that is true or false, or empty, and is merely named."""
        self.flag: tuple[int, bool, int] | None = None
        flags = [n for n in self.open if self.cells[n].kind in ("yes", "no")]
        if len(flags) != 1 or len(self.open) > 1:
            return True
        number = flags[0]
        at = self.keys[number][0]
        self.flag = (number, self.cells[number].kind == "yes", at)
        self.open.pop(number)
        return True

    def _complete(self, rest: Sequence[int], negation: int, naming: bool) -> _Outcome | None:
        """Every field that is named has its value: what is left are values without a name, or nothing."""
        if rest:
            return self._wrong_item(rest, naming) if not negation else None
        fillers = self._fillers()
        if any(self._ambiguous(m) for m in fillers):
            return None
        told = [(n, m) for n, ms in self.pairs.items() for m in ms]
        if any(self._scattered(ms) for ms in self.pairs.values()):
            return None
        if fillers:
            if not negation and (wrong := self._strange_item(fillers, naming)):
                return wrong
            if not naming or (not self.reading.group.table and not self._title_named()):
                return None
        if not told and len(fillers) != 1:
            return None
        if told:
            number, mention = max(told, key=lambda p: (not self.cells[p[0]].naming, p[1].last))
        else:
            number, mention = fillers[0].cells[0], fillers[0]
            if self.cells[number].kind == "number" or not self.left or len(self.left) < 2:
                return None
        code = "record.negation" if negation else "record.mismatch"
        at = self.negated_at if negation else mention.first
        sure = SURE if told and not fillers and not self.loose else DOUBTFUL
        if told and all(self.cells[n].naming for n, _ in told) and not fillers:
            return None
        if self.reading.group.table and len(told) + len(self.left) < _FEWEST_IN_ROW:
            return None
        return self._result(not negation, sure, number, min(at, mention.first), mention.last, naming, code)

    def _scattered(self, mentions: Sequence[_Mention]) -> bool:
        """Whether the items of one list stand apart, so that they are not told as one list."""
        ordered = sorted(mentions, key=lambda m: m.first)
        return any(any(t is not None for t in self.taken[one.last : other.first]) for one, other in pairwise(ordered))

    def _strange_item(self, fillers: Sequence[_Mention], naming: bool) -> _Outcome | None:
        """A value of another field among the items of a list."""
        if len(fillers) != 1:
            return None
        filler = fillers[0]
        for number, mentions in self.pairs.items():
            cell = self.cells[number]
            if not cell.items or all(m.whole for m in mentions) or self._overlaps(cell, filler.first, filler.last):
                continue
            if any(m.last == filler.first or m.first == filler.last or self._joined(m, filler.first, filler.last)
                   for m in mentions):  # fmt: skip
                return self._result(False, LIKELY, number, filler.first, filler.last, naming, "record.mismatch")
        return None

    def _title_named(self) -> bool:
        """Whether the statement has what names its record."""
        title = set(self.reading.group.titled) - _FUNCTION
        named = {f for at, f in enumerate(self.reading.folds) if self.taken[at] == "title"}
        return bool(named & title) or any(
            self.cells[c].naming for ms in [*self.pairs.values(), self.left] for m in ms for c in m.cells
        )

    def _ambiguous(self, mention: _Mention) -> bool:
        return any(self.cells[c].kind == "number" for c in mention.cells)

    def _filled(self, rest: Sequence[int], naming: bool) -> _Outcome | None:
        """One field is named and has another value than the one in its place."""
        (number,) = self.open
        cell = self.cells[number]
        if cell.kind in ("array", "yes", "no", "none") or not cell.words:
            return None
        fillers = self._fillers()
        if not rest and len(fillers) == 1:
            filler = fillers[0]
            other = self.cells[filler.cells[0]]
            if other.kind != cell.kind or not filler.whole or self._overlaps(cell, filler.first, filler.last):
                return None
            if not self._in_slot(number, filler.first, filler.last):
                return None
            sure = SURE if self.reading.group.table or _is_person(cell) else LIKELY
            return self._result(False, sure, number, filler.first, filler.last, naming, "record.mismatch")
        if not rest or fillers:
            return None
        first, last = rest[0], rest[-1] + 1
        if any(t is not None for t in self.taken[first:last]) or self._overlaps(cell, first, last):
            return None
        if not self._in_slot(number, first, last):
            return None
        confidence = self._text_differs(cell, number, first, last)
        return self._result(False, confidence, number, first, last, naming, "record.mismatch") if confidence else None

    def _in_slot(self, number: int, first: int, last: int) -> bool:
        """Whether the words stand where a value of the field would: "the mayor is X", "X is the mayor"."""
        folds = self.reading.folds
        before = folds[first - 1] if first else ""
        after = folds[last] if last < len(folds) else ""
        behind = max(self.keys[number]) < first
        if behind:
            return before in _PRESENTING
        ahead = min(self.keys[number]) >= last
        return ahead and (before in _PRESENTING or (first == 0 and after in _PRESENTING))

    def _wrong_item(self, rest: Sequence[int], naming: bool) -> _Outcome | None:
        """Something stands among the items of a list that the record's list has not."""
        first, last = rest[0], rest[-1] + 1
        if any(t is not None for t in self.taken[first:last]) or self._fillers():
            return None
        for number, mentions in self.pairs.items():
            cell = self.cells[number]
            if not cell.items or cell.kind != "text":
                continue
            beside = any(m.last == first or m.first == last or self._joined(m, first, last) for m in mentions)
            if beside and all(not m.whole for m in mentions) and not self._overlaps(cell, first, last):
                confidence = self._text_differs(cell, number, first, last)
                if confidence:
                    return self._result(False, confidence, number, first, last, naming, "record.mismatch")
        return None

    def _joined(self, mention: _Mention, first: int, last: int) -> bool:
        between = (
            self.reading.folds[mention.last : first]
            if mention.last <= first
            else self.reading.folds[last : mention.first]
        )
        return between == ("and",)

    def _overlaps(self, cell: Cell, first: int, last: int) -> bool:
        joined = "".join(self.reading.folds[first:last])
        if joined in "".join(cell.words) or "".join(cell.words) in joined:
            return True
        words = {w.fold for w in self.statement.lexemes[first:last] if w.weight or w.digit}
        stems = {lexeme(w).stem for w in cell.words}
        return bool(words & set(cell.words)) or any(
            word.stem in stems or not stems.isdisjoint(SYNONYMS.get(word.stem, ()))
            for word in self.statement.lexemes[first:last]
            if word.weight
        )

    def _text_differs(self, cell: Cell, number: int, first: int, last: int) -> float:
        """How sure it is that the words stand for another value of the field; 0 where they may say the same."""
        if cell.kind != "text":
            return 0.0
        folds = self.reading.folds[first:last]
        if self.reading.group.table and number < self.reading.own and self._in_column(folds, number):
            return SURE
        lexemes = self.statement.lexemes[first:last]
        code = len(folds) == 1 and _is_code(folds[0])
        if code and len(cell.words) == 1 and _is_code(cell.words[0]):
            return SURE
        ours = all(w.capital for w in lexemes if w.weight)
        theirs = all(part[:1].isupper() for part in cell.text.split() if part[:1].isalpha() and len(part) > 3)
        said = self.statement.text[self.statement.starts[first] : self.statement.ends[last - 1]]
        if said.isupper() and cell.text.isupper() and len(said) == len(cell.text) and len(folds) == 1:
            return SURE
        if len(folds) > 8 or any(c.isdigit() for c in cell.text):
            return 0.0
        if ours and theirs:
            return SURE if _is_person(cell) else DOUBTFUL
        short = len(cell.words) <= _ENUMERATED and len(folds) <= _ENUMERATED
        return DOUBTFUL if self.reading.group.table or cell.items or short else 0.0

    def _in_column(self, folds: tuple[str, ...], number: int) -> bool:
        group, column = self.reading.group, self.cells[number].stems
        for record in self.reading.records.records[group.first : min(group.last, group.first + 500)]:
            for cell in record.cells:
                if cell.stems == column and cell.words == folds:
                    return True
        return False

    def _sure_of(self, number: int, first: int, last: int) -> float:
        cell = self.cells[number]
        if self.loose or any(q.bound != "exact" for a, b, q in self.statement.quantities if first <= a < last):
            return DOUBTFUL
        return SURE if cell.number is not None or len(cell.words) <= 6 else LIKELY


def _is_code(word: str) -> bool:
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def _is_person(cell: Cell) -> bool:
    return not _PEOPLE.isdisjoint(cell.stems)


def relation_of(value: DateMention | Quantity, cell: Cell, alone: bool = True) -> bool | None:
    """Whether a cell has a number or a date of a claim; none where the two cannot be compared.

    Args:
        value: of the claim.
        cell: of the record.
        alone: whether the record is no row of a table, so that "two children" counts what a cell lists.

    A cell is read with the name of its field, which may hold its unit: "eta days: 3".
    """
    if cell.kind == "array":
        if isinstance(value, Quantity) and value.dimension == "count" and value.exact and cell.number is not None:
            return value.value == cell.number
        return None
    if cell.kind not in ("text", "number"):
        return None
    if isinstance(value, DateMention):
        if cell.number is not None and value.month is None and value.last_year is None and value.year is not None:
            return value.year == cell.number if value.bound == "exact" else None
        dates = find_dates(cell.text) or find_dates(f"in {cell.text}")
        relations = [relate_dates(value, other) for other in dates]
        if DateRelation.SAME in relations:
            return True
        return False if relations and all(r is DateRelation.DIFFERENT for r in relations) else None
    quantities = find_quantities(f"{cell.name}: {cell.text}")
    others = [q for q in quantities if q.start >= len(cell.name)]
    relations_q = [relate(value, other) for other in others]
    if Relation.SAME in relations_q:
        if value.bound == "range" and len(others) > 1:
            return None
        return True if len(others) == 1 or any(
            r is Relation.SAME and o.value == value.value and o.bound == value.bound
            for o, r in zip(others, relations_q, strict=True)
        ) else None  # fmt: skip
    plain = cell.number
    if plain is not None and value.exact:
        if value.value in (plain, plain * _scale_of(cell.name)):
            return True
        money = value.dimension.startswith("money") and not _MONEY.isdisjoint(cell.stems)
        return False if value.dimension == "count" or money else None
    if cell.kind == "text" and value.dimension == "count" and value.exact:
        same = value.value == max(1, len(cell.items))
        if not _LISTED.isdisjoint(value.nouns):
            return same
        if not alone:
            return None
        if not cell.stems.isdisjoint(value.nouns):
            return same or None
    if len(others) == 1 and relations_q[0] is Relation.DIFFERENT:
        return False
    return None


def _scale_of(name: str) -> int:
    """What the name of a field says its numbers are counted in: "viewers (millions)"."""
    return next((scale for word, scale in _SCALES.items() if word in name.lower()), 1)


_MONTHS: Final = word_set("jan feb mar apr may jun jul aug sep oct nov dec")
_LISTED: Final = frozenset(lexeme(word).stem for word in word_set("entry item value name"))
"""What a list is said to have so and so many of, whatever it lists."""

_MONEY: Final = frozenset(
    lexeme(word).stem
    for word in word_set("price cost fee fare amount total balance budget salary revenue paid payment")
)
"""Stems of the names of fields whose bare numbers are sums of money."""

_SCALES: Final = {"billion": 10**9, "million": 10**6, "thousand": 1000}


def _as_written(value: DateMention | Quantity, cell: Cell) -> bool:
    """Whether a value that fits a cell is the cell's own, and not merely within its bounds or rounded."""
    if isinstance(value, DateMention):
        return value.bound == "exact"
    if value.bound != "exact":
        return False
    if cell.number is not None:
        return value.value in (cell.number, cell.number * _scale_of(cell.name))
    others = [q for q in find_quantities(f"{cell.name}: {cell.text}") if q.dimension == value.dimension]
    return not others or any(value.low == other.low for other in others)


def _plain(value: DateMention | Quantity) -> bool:
    """Whether it states one value and no bound, so that only its own field is likely to have it."""
    return value.exact if isinstance(value, Quantity) else value.day is not None or value.bound == "exact"
