"""Values of a passage that can be asked for: numbers, dates and names of sentences, cells of tables."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay.redteam.cases import Passage
from assay.redteam.generate.questions import Asked, ask
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import find_names, find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.text.sentences import read_tables, split_sentences

CELL: Final = 0.9
"""The plausibility of a question for a cell of a table."""
LONGEST_CELL: Final = 40
"""Characters of a cell that is asked for; what is longer is prose."""
_BOUND_VERBS: Final = re.compile(r"^(?:exceeds?|exceeding|reach(?:es)?)\s+", re.IGNORECASE)
_STAYS: Final = re.compile(r"^(?:prior to|about|around|approximately|roughly|nearly|almost)\s+", re.IGNORECASE)
_NOUN_AFTER: Final = re.compile(r"\s+((?:[a-z][\w’'-]*)(?:\s+of(?:\s+[a-z][\w’'-]*){1,2})?)")
_NOT_COUNTED: Final = word_set(
    """in on at per of for from to by with and or than until since before after within means is are was were a an the
    times if when as each every above below against into between over under like through without about around among
    only other others more less most but not so then it they that which who this these those has have had may must
    can"""
)
_MARKED_UP: Final = re.compile(r"[*`\"“”|<>\[\](){}\\_#=]")
"""Signs of markup, code and quotations: a question about such a sentence would carry half of them along."""
_CODE_NAME: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
"""A name as code writes it."""
_WHEN: Final = {"until": "until when", "till": "until when", "since": "since when", "before": "before what date"}


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with a question for it."""

    passage: Passage
    title: str
    sentence: str
    """The sentence that states it; for a cell one that the row and the heads amount to."""
    start: int
    """First character of the value in the sentence."""
    end: int
    kind: str
    """number, date, name or cell."""
    value: str
    """The value as written, with its unit."""
    question: str
    plausibility: float
    number: Decimal | None = None
    row: str | None = None
    """For a cell what names its row."""
    column: str | None = None

    @property
    def key(self) -> str:
        """The same for facts that answer the same question of documents with the same title."""
        return f"{self.title.casefold()}\0{self.question.casefold()}"

    @property
    def is_cell(self) -> bool:
        """Whether it is of a table."""
        return self.kind == "cell"

    def with_value(self, value: str) -> str:
        """The sentence with another value in the place of this one."""
        return self.sentence[: self.start] + value + self.sentence[self.end :]

    def passage_with(self, value: str) -> str:
        """The passage with another value; for a cell in its row alone."""
        if not self.is_cell:
            return self.passage.text.replace(self.sentence, self.with_value(value), 1)
        lines = self.passage.text.split("\n")
        for at, line in enumerate(lines):
            if self.row is not None and self.row in line and self.value in line:
                before, found, after = line.rpartition(self.value)
                lines[at] = before + value + after if found else line
                break
        return "\n".join(lines)


def facts_of(passage: Passage, title: str, lower: Callable[[str], str]) -> Iterator[Fact]:
    """The facts of one passage, in order."""
    text = passage.text
    for place in split_sentences(text):
        if place.block in {"prose", "list_item"}:
            # Where the splitter is unsure it leaves two sentences together; a question is of one.
            for sentence in re.split(r"(?<=[a-z0-9)]\.)\s+(?=[A-Z])", text[place.start : place.end].strip()):
                if "\n" not in sentence and _MARKED_UP.search(_CODE_NAME.sub("", sentence)) is None:
                    yield from _of_sentence(passage, title, sentence.lstrip("-*• "), lower)
    yield from _of_tables(passage, title)


def _of_sentence(passage: Passage, title: str, sentence: str, lower: Callable[[str], str]) -> Iterator[Fact]:
    words = find_words(sentence)
    dates = [one for one in find_dates(sentence, words) if one.minute is None and one.other is None]
    quantities = find_quantities(sentence, words, skip=[(one.start, one.end) for one in dates])

    def fact(kind: str, start: int, end: int, asked: Asked, number: Decimal | None = None) -> Fact:
        return Fact(
            passage, title, sentence, start, end, kind, sentence[start:end], asked.text, asked.plausibility, number
        )

    for one in quantities:
        if len([q for q in quantities if q.dimension == one.dimension]) > 1:
            continue  # a question by the unit alone would have two answers
        found = _number(sentence, one, lower)
        if found is not None:
            yield fact("number", found[0], found[1], found[2], one.value)
    if len(dates) == 1 and dates[0].year is not None:
        asked = _date(sentence, dates[0], lower)
        if asked is not None:
            yield fact("date", dates[0].start, dates[0].end, asked)
    names = [one for one in find_names(sentence, words) if one.sure]
    if names and sentence[names[-1].end :] == ".":
        last = names[-1]
        by = re.search(r"\bby (?:the \w+ )?$", sentence[: last.start])
        be = re.search(r"^The [\w -]{3,60} (?:is|was) $", sentence[: last.start])
        if by is not None:
            asked = ask(sentence, by.start(), last.end, "by whom or what", lower)
        else:
            asked = ask(sentence, last.start, last.end, "who or what", lower) if be is not None else None
        if asked is not None and asked.plausibility > 0.7:
            yield fact("name", last.start, last.end, asked)


def _number(sentence: str, one: Quantity, lower: Callable[[str], str]) -> tuple[int, int, Asked] | None:
    if one.dimension == "ordinal" or one.weak or one.bound == "range":
        return None
    if not sentence[one.number_start : one.number_end][:1].isdigit():
        return None  # "two" and "twice" are as often no figure
    if re.search(
        r"(?:version|code|section|status|page|step|level|no\.) $", sentence[: one.number_start], re.IGNORECASE
    ):
        return None  # it names one thing and counts none
    bound = sentence[one.start : one.number_start]
    unit = sentence[one.number_end : one.end].strip()
    start, end = one.start, one.end
    verb = _BOUND_VERBS.match(bound) or _STAYS.match(bound)
    if verb is not None:
        start += verb.end()
        bound = bound[verb.end() :]
    if bound.lower().startswith("limited "):
        start, bound = start + len("limited "), bound[len("limited ") :]
    if any(not (c.isalpha() or c.isspace() or c == "-") for c in bound):
        return None  # a sign of currency before the number
    if not unit:
        noun = _NOUN_AFTER.match(sentence, one.number_end)
        if noun is None or noun[1].split()[0] in _NOT_COUNTED:
            return None
        unit, end = noun[1], noun.end()
    if one.value == 1 and unit.isalpha() and not unit.endswith("s") and unit != "percent":
        unit += "s"
    if len(unit) < 2 and unit != "%":
        return None
    share = unit.split()[0] in {"percent", "%"}
    asks = "what percentage" if share else f"how many {unit}"
    asked = ask(sentence, start, end, f"{bound}{asks}".strip(), lower)
    return (one.number_start, max(one.end, one.number_end), asked) if asked is not None else None


def _date(sentence: str, one: DateMention, lower: Callable[[str], str]) -> Asked | None:
    before = re.search(r"\b(on|in|since|until|till|before|around) $", sentence[: one.start], re.IGNORECASE)
    if before is None:
        return None
    return ask(sentence, before.start(), one.end, _WHEN.get(before[1].lower(), "when"), lower)


def _of_tables(passage: Passage, title: str) -> Iterator[Fact]:
    for table in read_tables(passage.text):
        for cells in table.rows:
            row = cells[0].text.strip()
            for head, cell in zip(table.head[1:], cells[1:], strict=True):
                value = cell.text.strip()
                if (
                    not re.search(r"[^\W\d_]{2}", head)
                    or not row
                    or not value
                    or len(row) > LONGEST_CELL
                    or len(value) > LONGEST_CELL
                    or len(head) > 60
                    or value == row
                ):
                    continue
                sentence = f"{row}: {head} is {value}."
                start = len(sentence) - 1 - len(value)
                numbers = find_quantities(value, skip=[(d.start, d.end) for d in find_dates(value)])
                number = numbers[0].value if len(numbers) == 1 else None
                yield Fact(
                    passage,
                    title,
                    sentence,
                    start,
                    start + len(value),
                    "cell",
                    value,
                    f"What does the table list under “{head}” for {row}?",
                    CELL,
                    number,
                    row,
                    head,
                )
