"""Facts of a passage that can be asked for: numbers, dates and names in sentences, and cells of tables."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay.redteam.cases import Passage
from assay.redteam.generate.questions import Question, ask
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import find_names, find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.text.sentences import read_tables, split_sentences

CELL: Final = 0.9
"""The plausibility of a question for a cell of a table."""
LONGEST_CELL: Final = 40
"""The most characters of a cell that is asked for; longer ones are prose."""
_BOUND_VERBS: Final = re.compile(r"^(?:exceeds?|exceeding|reach(?:es)?)\s+", re.IGNORECASE)
_APPROXIMATORS: Final = re.compile(r"^(?:prior to|about|around|approximately|roughly|nearly|almost)\s+", re.IGNORECASE)
_NOUN_AFTER: Final = re.compile(r"\s+((?:[a-z][\w’'-]*)(?:\s+of(?:\s+[a-z][\w’'-]*){1,2})?)")
_NO_NOUNS: Final = word_set(
    """in on at per of for from to by with and or than until since before after within means is are was were a an the
    times if when as each every above below against into between over under like through without about around among
    only other others more less most but not so then it they that which who this these those has have had may must
    can"""
)
_MARKUP: Final = re.compile(r"[*`\"“”|<>\[\](){}\\_#=]")
"""Characters of markup, code and quotations: a question about such a sentence would contain unbalanced ones."""
_CODE_NAME: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
"""An identifier in snake case."""
_DATE_INTERROGATIVES: Final = {
    "until": "until when",
    "till": "until when",
    "since": "since when",
    "before": "before what date",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with a question for it."""

    passage: Passage
    title: str
    sentence: str
    """The sentence that states it; for a cell, one made of its row and heading."""
    start: int
    """First character of the value in the sentence."""
    end: int
    kind: str
    """`number`, `date`, `name` or `cell`."""
    value: str
    """The value as written, with its unit."""
    question: str
    plausibility: float
    number: Decimal | None = None
    row: str | None = None
    """For a cell, the name of its row."""
    column: str | None = None
    """For a cell, the heading of its column."""

    @property
    def key(self) -> str:
        """The same for facts that answer the same question about documents with the same title."""
        return f"{self.title.casefold()}\0{self.question.casefold()}"

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell of a table."""
        return self.kind == "cell"

    @property
    def is_positive_whole(self) -> bool:
        """Whether its value is a whole number above 0."""
        return self.number is not None and self.number > 0 and self.number == self.number.to_integral_value()

    def with_value(self, value: str) -> str:
        """The sentence with another value in place of this one."""
        return self.sentence[: self.start] + value + self.sentence[self.end :]

    def passage_with(self, value: str) -> str:
        """The passage with another value in place of this one; for a cell, in its row alone."""
        if not self.is_cell:
            return self.passage.text.replace(self.sentence, self.with_value(value), 1)
        lines = self.passage.text.split("\n")
        for at, line in enumerate(lines):
            if self.row is not None and self.row in line and self.value in line:
                before, found, after = line.rpartition(self.value)
                lines[at] = before + value + after if found else line
                break
        return "\n".join(lines)


def facts_of(passage: Passage, title: str, decapitalise: Callable[[str], str]) -> Iterator[Fact]:
    """The facts of one passage, in order."""
    text = passage.text
    for place in split_sentences(text):
        if place.block in {"prose", "list_item"}:
            # Where the splitter is unsure it leaves two sentences together; a question needs a single one.
            for sentence in re.split(r"(?<=[a-z0-9)]\.)\s+(?=[A-Z])", text[place.start : place.end].strip()):
                if "\n" not in sentence and _MARKUP.search(_CODE_NAME.sub("", sentence)) is None:
                    yield from _sentence_facts(passage, title, sentence.lstrip("-*• "), decapitalise)
    yield from _table_facts(passage, title)


def _sentence_facts(passage: Passage, title: str, sentence: str, decapitalise: Callable[[str], str]) -> Iterator[Fact]:
    words = find_words(sentence)
    dates = [quantity for quantity in find_dates(sentence, words) if quantity.minute is None and quantity.other is None]
    quantities = find_quantities(sentence, words, skip=[(quantity.start, quantity.end) for quantity in dates])

    def fact(kind: str, start: int, end: int, question: Question, number: Decimal | None = None) -> Fact:
        return Fact(
            passage,
            title,
            sentence,
            start,
            end,
            kind,
            sentence[start:end],
            question.text,
            question.plausibility,
            number,
        )

    for quantity in quantities:
        if len([q for q in quantities if q.dimension == quantity.dimension]) > 1:
            continue  # a question that names only the unit would have two answers
        numbered = _number_question(sentence, quantity, decapitalise)
        if numbered is not None:
            yield fact("number", numbered[0], numbered[1], numbered[2], quantity.value)
    if len(dates) == 1 and dates[0].year is not None:
        question = _date_question(sentence, dates[0], decapitalise)
        if question is not None:
            yield fact("date", dates[0].start, dates[0].end, question)
    names = [quantity for quantity in find_names(sentence, words) if quantity.sure]
    if names and sentence[names[-1].end :] == ".":
        last = names[-1]
        by = re.search(r"\bby (?:the \w+ )?$", sentence[: last.start])
        copula = re.search(r"^The [\w -]{3,60} (?:is|was) $", sentence[: last.start])
        if by is not None:
            question = ask(sentence, by.start(), last.end, "by whom or what", decapitalise)
        else:
            question = ask(sentence, last.start, last.end, "who or what", decapitalise) if copula is not None else None
        if question is not None and question.plausibility > 0.7:
            yield fact("name", last.start, last.end, question)


def _number_question(
    sentence: str, quantity: Quantity, decapitalise: Callable[[str], str]
) -> tuple[int, int, Question] | None:
    if quantity.dimension == "ordinal" or quantity.weak or quantity.bound == "range":
        return None
    if not sentence[quantity.number_start : quantity.number_end][:1].isdigit():
        return None  # "two" and "twice" are often not figures
    if re.search(
        r"(?:version|code|section|status|page|step|level|no\.) $", sentence[: quantity.number_start], re.IGNORECASE
    ):
        return None  # it identifies something and does not count
    bound = sentence[quantity.start : quantity.number_start]
    unit = sentence[quantity.number_end : quantity.end].strip()
    start, end = quantity.start, quantity.end
    verb = _BOUND_VERBS.match(bound) or _APPROXIMATORS.match(bound)
    if verb is not None:
        start += verb.end()
        bound = bound[verb.end() :]
    if bound.lower().startswith("limited "):
        start, bound = start + len("limited "), bound[len("limited ") :]
    if any(not (c.isalpha() or c.isspace() or c == "-") for c in bound):
        return None  # a currency sign before the number
    if not unit:
        noun = _NOUN_AFTER.match(sentence, quantity.number_end)
        if noun is None or noun[1].split()[0] in _NO_NOUNS:
            return None
        unit, end = noun[1], noun.end()
    if quantity.value == 1 and unit.isalpha() and not unit.endswith("s") and unit != "percent":
        unit += "s"
    if len(unit) < 2 and unit != "%":
        return None
    is_share = unit.split()[0] in {"percent", "%"}
    interrogative = "what percentage" if is_share else f"how many {unit}"
    question = ask(sentence, start, end, f"{bound}{interrogative}".strip(), decapitalise)
    return (quantity.number_start, max(quantity.end, quantity.number_end), question) if question is not None else None


def _date_question(sentence: str, date: DateMention, decapitalise: Callable[[str], str]) -> Question | None:
    preposition = re.search(r"\b(on|in|since|until|till|before|around) $", sentence[: date.start], re.IGNORECASE)
    if preposition is None:
        return None
    return ask(
        sentence, preposition.start(), date.end, _DATE_INTERROGATIVES.get(preposition[1].lower(), "when"), decapitalise
    )


def _table_facts(passage: Passage, title: str) -> Iterator[Fact]:
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
