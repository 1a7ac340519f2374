"""Claims about records and tables: "key: value" lines, rows of cells, and the JSON that a tool would answer with."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from train.edits.kinds import Base

_FIELD = re.compile(r"^([^:|\n]{2,30}): (\S.{0,300})$")
_BLANKS = re.compile(r"\s+")
_ADDITIVE = re.compile(
    r"^(?:points|goals|wins|won|losses|lost|draws|population|games|seats|votes|gold|silver|bronze|total|"
    r"attendance|caps|"
    r"apps|played|matches|tries|rebounds|assists|students|employees|passengers)\b",
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:directed|produced|written|edited|distributed|composed|designed|developed|published|built) by$")
_MONTH_OR_DAY = re.compile(r"^(?:\d{1,2} [A-Z]|[A-Z][a-z]+ \d{1,2}\b)")
_NO_VALUE = re.compile(r"^(?:\W*|n ?/ ?a|none|unknown|tba|tbd|see .*|official website.*)$", re.IGNORECASE)
_LONGEST_VALUE = 90
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven")


@dataclass(frozen=True)
class Fact:
    """One value of a record or table."""

    subject: str
    key: str
    value: str
    line: int
    """Index of the piece that states it."""


@dataclass(frozen=True)
class Record:
    """Evidence that is no prose: its facts, and how many lines at its head (title, column names) belong to all."""

    title: str
    facts: tuple[Fact, ...]
    head: int
    table: bool


def read_record(lines: Sequence[str]) -> Record | None:
    """Reads "key: value" lines or a table of cells under a title; nothing where the lines are something else.

    >>> read_record(["Blue Door", "Directed by: Ann Lee", "Length: 90 minutes", "Country: Norway"]).facts[0].value
    'Ann Lee'
    """
    lines = [_BLANKS.sub(" ", line).strip() for line in lines]
    if len(lines) < 4 or len(lines) > 60 or len(lines[0]) > 200:
        return None
    if sum(" | " in line for line in lines[1:]) >= len(lines) - 1:
        return _read_table(lines)
    found = [_FIELD.match(line) for line in lines[1:]]
    keys = [m.group(1) for m in found if m]
    if ":" in lines[0] or len(keys) < 0.8 * len(lines[1:]) or len(set(keys)) < len(keys):
        return None
    facts = tuple(
        Fact(lines[0], m.group(1), re.sub(r" +,", ",", m.group(2)).strip(" .,"), i + 1)
        for i, m in enumerate(found)
        if m and len(m.group(2)) <= _LONGEST_VALUE and not _NO_VALUE.match(m.group(2))
    )
    return Record(lines[0], facts, 1, table=False)


def _read_table(lines: Sequence[str]) -> Record | None:
    header = [c.strip() for c in lines[1].split("|")]
    rows = [[c.strip() for c in line.split("|")] for line in lines[2:]]
    if any(len(row) != len(header) for row in rows) or len({row[0] for row in rows}) < len(rows) or len(header) < 2:
        return None
    if not all(re.match(r"[^\W\d_]{2}|#|no\b", cell) for cell in header):
        return None  # a row of values, not of column names
    facts = tuple(
        Fact(f"{header[0]} {row[0]}".strip() if row[0][:1].isdigit() else row[0], header[j], row[j], i + 2)
        for i, row in enumerate(rows)
        for j in range(1, len(header))
        if row[0]
        and header[j]
        and not _NO_VALUE.match(row[j])
        and max(len(row[j]), len(row[0])) <= 60
        and row[j] not in (*row[:j], *header)
    )
    return Record(lines[0], facts, 2, table=True) if facts else None


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(record: Record, fact: Fact, rng: random.Random) -> str:
    title, key, value = record.title, fact.key.replace("(s)", "").strip(), fact.value
    if record.table:
        return _upper(
            rng.choice(
                (
                    f"in the table on {title}, the {key} for {fact.subject} is {value}.",
                    f"{fact.subject} has {value} as its {key}.",
                    f"the {key} of {fact.subject} is {value}.",
                    f"for {fact.subject}, the table lists {value} under {key}.",
                )
            )
        )
    low = key if key.isupper() else key[0].lower() + key[1:]
    if _BY.match(low):
        return f"{title} was {low} {value}."
    if low == "starring":
        return f"{title} stars {value}."
    if low in ("known for", "also known as", "based on"):
        return f"{title} is {low} {value}."
    if low in ("released", "founded", "established", "introduced", "born", "died") and re.fullmatch(
        r"(?:\d{1,2} )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4}", value
    ):
        verb = "died" if low == "died" else f"was {low}"
        return f"{title} {verb} {'on' if _MONTH_OR_DAY.match(value) else 'in'} {value}."
    if low.endswith((" by", " for", " as", "ed", "born")):
        return f"For {title}, the record gives {value} under {key}."
    plural = "are" if low.endswith("s") and not low.endswith("ss") else "is"
    return rng.choice(
        (
            f"The {low} of {title} {plural} {value}.",
            f"{title}'s {low} {plural} {value}.",
            f"For {title}, the {low} {plural} given as {value}.",
            f"The record gives the {low} of {title} as {value}.",
        )
    )


def _total(record: Record, rng: random.Random) -> Base | None:
    """A count or a sum that the record does not state but that follows from it."""
    if not record.table:
        lists = [
            f for f in record.facts if 2 <= f.value.count(", ") <= 5 and not re.search(r"\d|\(|;| and |&", f.value)
        ]
        lists = [
            f
            for f in lists
            if re.match(r"Starring|Genres|Occupation|Instruments|Labels|Children|Founder|Written by", f.key)
        ]
        if not lists:
            return None
        fact = rng.choice(lists)
        count = _COUNTS[fact.value.count(", ")]
        return Base(f"The record of {record.title} lists {count} entries under {fact.key}.", "total", (fact.line,))
    columns: dict[str, list[Fact]] = {}
    for fact in record.facts:
        if _ADDITIVE.match(fact.key) and re.fullmatch(r"\d{1,7}", fact.value):
            columns.setdefault(fact.key, []).append(fact)
    some = [c for c in columns.values() if len(c) >= 2]
    if not some:
        return None
    a, b = rng.sample(rng.choice(some), 2)
    total = int(a.value) + int(b.value)
    text = f"{a.subject} and {b.subject} together have a total of {total} for {a.key}."
    return Base(_upper(text), "total", (a.line, b.line))


def record_claims(record: Record, rng: random.Random) -> Iterator[Base]:
    """True claims of a record without end."""
    while record.facts:
        if rng.random() < 0.15:
            base = _total(record, rng)
            if base is not None:
                yield base
                continue
        fact = rng.choice(record.facts)
        text = _sentence(record, fact, rng)
        if rng.random() < 0.2:
            other = rng.choice([f for f in record.facts if f.subject == fact.subject])
            if other != fact:
                yield Base(f"{text} {_sentence(record, other, rng)}", "record", (fact.line, other.line))
                continue
        yield Base(text, "record", (fact.line,))


def as_json(record: Record, lines: Sequence[int], rng: random.Random) -> str:
    """The facts of some lines as a tool would return them."""
    wanted = set(lines)

    def name(key: str) -> str:
        return re.sub(r"\W+", "_", key.strip().lower()).strip("_") or "value"

    indent = rng.choice((None, None, 2))
    if not record.table:
        found = {"name": record.title} | {name(f.key): f.value for f in record.facts if f.line in wanted}
        return json.dumps(found, ensure_ascii=False, indent=indent)
    rows: dict[int, dict[str, str]] = {}
    for f in record.facts:
        if f.line in wanted:
            rows.setdefault(f.line, {"name": f.subject})[name(f.key)] = f.value
    return json.dumps({"title": record.title, "results": list(rows.values())}, ensure_ascii=False, indent=indent)
