"""Statements over all rows of a table: counts, all and none, largest and smallest, comparisons of rows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from train.edits.document import Document
from train.edits.forks import Fork, World
from train.edits.numbers import WORD_NUMBERS
from train.edits.records import as_json

Parts = tuple[str | tuple[str, str], ...]
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,9}(?:\.\d+)?")
_NO_QUANTITY = re.compile(
    r"\b(?:rank|no|number|pos|position|#|year|date|season|week|round|id|elected|first|last|result|score|draft|pick|jersey|place)\b|^\W*$",
    re.IGNORECASE,
)
_MOST_ROWS = 14


@dataclass(frozen=True)
class Table:
    """Named rows with the same columns; every cell is filled."""

    title: str
    noun: str
    """What a row is, in the singular."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The name of the row, then its cells."""

    def numbers(self, column: int) -> list[float] | None:
        """The values of a column where all of them are plain numbers."""
        cells = [row[column + 1] for row in self.rows]
        if not all(_NUMBER.fullmatch(cell) for cell in cells):
            return None
        return [float(cell.replace(",", "")) for cell in cells]

    def groups(self, column: int) -> Counter[str] | None:
        """How often each value of a column of words stands there, where there are a few values."""
        cells = [row[column + 1] for row in self.rows]
        found = Counter(cells)
        words = all(re.search(r"[a-z]{3}", cell) and len(cell) <= 40 for cell in cells)
        return found if words and 1 <= len(found) <= max(2, len(cells) // 2 + 1) else None


def read_table(document: Document) -> Table | None:
    """The table of a document whose rows have names; nothing where cells lack or names repeat."""
    if document.record is None or not document.record.table:
        return None
    lines = document.pieces
    header = [cell.strip() for cell in lines[1].split("|")]
    rows = [tuple(cell.strip() for cell in line.split("|")) for line in lines[2:]]
    noun = header[0]
    if not re.fullmatch(r"[a-z]{4,12}", noun) or noun.endswith("s") or _NO_QUANTITY.search(noun):
        return None
    if not 3 <= len(rows) <= _MOST_ROWS or any(len(row) != len(header) or not all(row) for row in rows):
        return None
    names = [row[0] for row in rows]
    if len(set(names)) < len(names) or any(not re.search(r"[a-z]{3}", n) or n.startswith("total") for n in names):
        return None
    return Table(lines[0], noun, tuple(header[1:]), tuple(rows))


_SCHEMES: tuple[
    tuple[str, str, tuple[str, ...], tuple[tuple[str, int, int], ...], tuple[tuple[str, tuple[str, ...]], ...]], ...
] = (
    (
        "readings of the pumps",
        "pump",
        ("P1", "P2", "P3", "north pump", "reserve pump", "well pump"),
        (("hours run", 0, 168), ("stops", 0, 9), ("litres per minute", 40, 300)),
        (("status", ("running", "standing", "in repair")), ("site", ("Arn", "Belmont", "Corin"))),
    ),
    (
        "branches of the bank",
        "branch",
        ("Arn", "Belmont", "Corin", "Dale", "Esk", "Farrow", "Glen"),
        (("employees", 4, 90), ("new accounts", 10, 400), ("complaints", 0, 30)),
        (("region", ("north", "south", "coast")), ("open on saturday", ("open", "closed"))),
    ),
    (
        "stock of the shop",
        "product",
        ("desk lamp", "kettle", "toaster", "fan", "radio", "blender", "iron"),
        (("price", 12, 190), ("units left", 0, 80), ("returns", 0, 12)),
        (("colour", ("white", "black", "silver")), ("status", ("in stock", "sold out", "discontinued"))),
    ),
    (
        "support tickets",
        "ticket",
        ("T-101", "T-102", "T-107", "T-113", "T-120", "T-124"),
        (("hours open", 1, 300), ("messages", 1, 25)),
        (("priority", ("low", "medium", "urgent")), ("state", ("resolved", "waiting", "escalated"))),
    ),
    (
        "players of the club",
        "player",
        ("Moe", "Dahl", "Berg", "Lind", "Holm", "Vik", "Ek", "Aas"),
        (("goals", 0, 30), ("games", 3, 38), ("yellow cards", 0, 9)),
        (("position", ("goalkeeper", "defender", "forward")), ("contract", ("permanent", "on loan"))),
    ),
    (
        "trial sites",
        "site",
        ("Oslo", "Turin", "Leeds", "Ghent", "Porto", "Graz"),
        (("patients", 8, 120), ("dropouts", 0, 20), ("adverse events", 0, 15)),
        (("arm", ("placebo", "treatment")), ("status", ("recruiting", "completed", "suspended"))),
    ),
    (
        "rooms of the hotel",
        "room",
        ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Larch"),
        (("beds", 1, 6), ("price", 60, 320), ("floor", 1, 7)),
        (("view", ("garden", "street", "lake")), ("state", ("booked", "vacant", "in repair"))),
    ),
    (
        "servers",
        "server",
        ("web-1", "web-2", "db-1", "db-2", "cache-1", "mail-1"),
        (("cores", 2, 64), ("days up", 0, 400), ("errors", 0, 40)),
        (("zone", ("east", "west")), ("health", ("healthy", "degraded", "offline"))),
    ),
)


def _own_table(rng: random.Random) -> Table:
    """A table of our own with drawn values."""
    title, noun, names, counted, worded = rng.choice(_SCHEMES)
    some = rng.sample(names, rng.randint(3, len(names)))
    some_counted = rng.sample(counted, rng.randint(1, len(counted)))
    some_worded = rng.sample(worded, rng.randint(1, len(worded)))
    uniform = rng.random() < 0.35
    cells = []
    for name in some:
        row = [name, *(str(rng.randint(low, high)) for _, low, high in some_counted)]
        cells.append(row)
    for _, values in some_worded:
        allowed = rng.sample(values, 1 if uniform and rng.random() < 0.7 else rng.randint(1, len(values)))
        for row in cells:
            row.append(rng.choice(allowed))
    columns = (*(c[0] for c in some_counted), *(w[0] for w in some_worded))
    return Table(title, noun, columns, tuple(tuple(row) for row in cells))


def shown(table: Table, rng: random.Random) -> str:
    """The table as people and tools show it: cells, a line or a block for each row, or JSON."""
    form = rng.randrange(4)
    if form == 0:
        head = " | ".join((table.noun, *table.columns))
        return "\n".join((table.title, head, *(" | ".join(row) for row in table.rows)))
    if form == 1:
        lines = (
            f"{row[0]}: " + ", ".join(f"{c} {v}" for c, v in zip(table.columns, row[1:], strict=True))
            for row in table.rows
        )
        return "\n".join((f"{table.title[:1].upper()}{table.title[1:]}", *lines))
    if form == 2:
        blocks = (
            "\n".join((f"{table.noun}: {row[0]}", *(f"{c}: {v}" for c, v in zip(table.columns, row[1:], strict=True))))
            for row in table.rows
        )
        return "\n".join((table.title, *blocks))
    keys = [re.sub(r"\W+", "_", key).strip("_") or "value" for key in (table.noun, *table.columns)]
    found = [dict(zip(keys, row, strict=True)) for row in table.rows]
    return json.dumps({"title": table.title, "results": found}, ensure_ascii=False, indent=rng.choice((None, None, 2)))


def _many(count: int) -> str:
    return "no" if count == 0 else WORD_NUMBERS[count - 1] if count <= len(WORD_NUMBERS) else str(count)


def _plural(noun: str) -> str:
    if noun.endswith(("ch", "s", "x", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}s"


def _extremes(table: Table, rng: random.Random) -> list[Parts]:
    """The largest and the smallest value of a column of numbers, comparisons of two rows, bounds on all rows."""
    made: list[Parts] = []
    noun, nouns = table.noun, _plural(table.noun)
    for j, column in enumerate(table.columns):
        values = table.numbers(j)
        if values is None or _NO_QUANTITY.search(column) or len(set(values)) < 2:
            continue
        order = sorted(range(len(values)), key=values.__getitem__)
        low, high = order[0], order[-1]
        names = [row[0] for row in table.rows]
        cells = [row[j + 1] for row in table.rows]
        if values.count(values[high]) == 1:
            other = rng.choice([i for i in order if i != high])
            made += [
                ((names[high], names[other]), f" has the highest value for {column}."),
                (f"The {noun} with the highest {column} is ", (names[high], names[other]), "."),
                (f"No other {noun} has a higher value for {column} than ", (names[high], names[other]), "."),
            ]
        if values.count(values[low]) == 1:
            other = rng.choice([i for i in order if i != low])
            made += [
                ((names[low], names[other]), f" has the lowest value for {column}."),
                (f"The lowest {column} of all {nouns} is ", (cells[low], cells[other]), "."),
            ]
        a, b = rng.sample(order, 2)
        if values[a] != values[b]:
            a, b = (a, b) if values[a] > values[b] else (b, a)
            made += [
                ((names[a], names[b]), f" has {_more(column)} than ", (names[b], names[a]), "."),
                (f"{names[b]} has ", (_more(column, less=True), _more(column)), f" than {names[a]}."),
                (f"Between {names[a]} and {names[b]}, ", (names[a], names[b]), f" has {_more(column)}."),
            ]
        bound = rng.choice([int(v) for v in values])
        above = sum(v > bound for v in values)
        wrong = rng.choice([n for n in (above - 2, above - 1, above + 1, above + 2) if 0 <= n <= len(values)])
        made += [
            (
                _upper_many(above, wrong),
                f" of the {nouns} {'have' if 1 not in (above, wrong) else 'had'} a value above {bound} for {column}.",
            ),
            (("No", "At least one"), f" {noun} has a value above {int(values[high]) + 1} for {column}."),
            (("Every", "Not every"), f" {noun} has a value of at least {int(values[low])} for {column}."),
            ((f"At least one {noun} has", f"No {noun} has"), f" a value of {cells[rng.choice(order)]} for {column}."),
        ]
        most = 2 * above > len(values)
        if 2 * above != len(values):
            made.append(
                (
                    (("Most", "Fewer than half") if most else ("Fewer than half", "Most")),
                    f" of the {nouns} have a value above {bound} for {column}.",
                )
            )
        if all(v == int(v) for v in values) and re.match(
            r"(?:goals|games|employees|patients|units|complaints|points|wins|losses|errors|stops|messages|beds|gold|silver|bronze|total|votes|seats)\b",
            column,
        ):
            total = int(sum(values))
            made.append(
                (
                    f"In all, the {column} add up to ",
                    (f"{total}", f"{total + rng.choice((-1, 1)) * rng.randint(2, 9)}"),
                    ".",
                )
            )
    return made


def _more(column: str, *, less: bool = False) -> str:
    if column.endswith("s") and not column.endswith("ss"):
        return f"{'fewer' if less else 'more'} {column}"
    return f"a {'lower' if less else 'higher'} {column}"


def _upper_many(right: int, wrong: int) -> tuple[str, str]:
    def upper_first(count: int) -> str:
        said = "none" if count == 0 else _many(count)
        return said[:1].upper() + said[1:]

    return upper_first(right), upper_first(wrong)


def _sorts(table: Table, rng: random.Random) -> list[Parts]:
    """How many rows have a value of a column of words: counts, none, all, only, both, one but not the other."""
    made: list[Parts] = []
    noun, nouns = table.noun, _plural(table.noun)
    for j, column in enumerate(table.columns):
        groups = table.groups(j)
        if groups is None:
            continue
        of = {row[0]: row[j + 1] for row in table.rows}
        value = rng.choice(sorted(groups))
        count, size = groups[value], len(table.rows)
        wrong = rng.choice([n for n in (count - 2, count - 1, count + 1, count + 2) if 0 <= n <= size and n != count])
        having = [name for name, v in of.items() if v == value]
        lacking = [name for name, v in of.items() if v != value]
        made += [
            (
                _upper_many(count, wrong),
                f' of the {nouns} {"have" if 1 not in (count, wrong) else "had"} "{value}" as {column}.',
            ),
            (f'The number of {nouns} whose {column} is "{value}" is ', (str(count), str(wrong)), "."),
        ]
        if count == size:
            made += 2 * [
                (("All", "Not all"), f' {nouns} have "{value}" as {column}.'),
                (("No", "One"), f' {noun} has a {column} other than "{value}".'),
            ]
        else:
            made += [
                (("Not all", "All"), f' {nouns} have "{value}" as {column}.'),
                (("At least one", "No"), f' {noun} has a {column} other than "{value}".'),
            ]
        if count == 1 and lacking:
            made += 2 * [("Only ", (having[0], rng.choice(lacking)), f' has "{value}" as {column}.')]
        if count > 1 and lacking:
            a, b = rng.sample(having, 2)
            c = rng.choice(lacking)
            made += [
                (f"Both {a} and ", (b, c), f' have "{value}" as {column}.'),
                ((a, c), ", but not ", (c, a), f', has "{value}" as {column}.'),
                (("Not only", "Only"), f' {a} has "{value}" as {column}.'),
                ((f"{a} and {b}", f"{a} and {c}"), f" have the same {column}."),
            ]
        if len(lacking) > 1:
            a, b = rng.sample(lacking, 2)
            made.append((f"Neither {a} nor ", (b, rng.choice(having)), f' has "{value}" as {column}.'))
        if 2 * count != size:
            most = 2 * count > size
            made.append(
                (
                    (("Most", "Fewer than half") if most else ("Fewer than half", "Most")),
                    f' of the {nouns} have "{value}" as {column}.',
                )
            )
    return made


_MAKERS: tuple[Callable[[Table, random.Random], list[Parts]], ...] = (_extremes, _sorts)


def statements(table: Table, rng: random.Random) -> list[Parts]:
    """Statements over the table's rows, each with a right and a wrong version."""
    return [parts for make in _MAKERS for parts in make(table, rng)]


def told_table(world: World, rng: random.Random) -> Fork | None:
    """A statement over a table of a document or of our own."""
    if world.records and rng.random() < 0.6:
        document = rng.choice(world.records)
        table = read_table(document)
        if table is None:
            return None
        record = document.record
        whole = record is not None and len(record.facts) == len(table.rows) * len(table.columns)
        text = (
            as_json(record, range(len(document.pieces)), rng)
            if record and whole and rng.random() < 0.2
            else shown(table, rng)
        )
    else:
        table = _own_table(rng)
        text = shown(table, rng)
    made = statements(table, rng)
    if not made:
        return None
    return Fork("over_rows", rng.choice(made), (text,))
