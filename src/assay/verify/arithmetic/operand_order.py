"""Which of two numbers of the evidence is the earlier one, and which way a claim's number goes.

By dates and by words such as "from" and "a year earlier"; a sentence that is compared as a whole, without such words,
is read in the order of its text.
"""

import re
from typing import Final, NamedTuple

from assay.text.lexicon import Words
from assay.text.quantities import Quantity
from assay.verify.arithmetic.changes import Course, change_of, is_added
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.surroundings import clause

_MOST_OPERANDS: Final = 24
_OLD_BEFORE: Final = re.compile(
    r"(?<!\w)(?:from|than|against|versus|vs\.?|after|previous(?:ly)?|former(?:ly)?|initial(?:ly)?|original(?:ly)?"
    r"|were once|compared\s(?:with|to)|\(was|had been|used to \w+)\s(?:an?\s|the\s)?(?:[\w’']+\s){0,2}$",
    re.IGNORECASE,
)
"""The text before the number that a change began with: "down from last year's 100"."""
_LEFT_BEHIND: Final = re.compile(r"\b(?:up|down)\sfrom\s(?:an?\s|the\s)?(?:[\w’']+\s){0,2}$", re.IGNORECASE)
"""The text before a number that is older than another one of "last year"."""
_OLD_AROUND: Final = re.compile(r"\b(?:earlier|before|previously|formerly|prior|ago|last|originally)\b", re.IGNORECASE)
_NEW_AROUND: Final = re.compile(r"\b(?:now|today|currently|this|since then)\b", re.IGNORECASE)
_LATER_AROUND: Final = re.compile(r"\b(?:later|next|planned|expected|from then on)\b", re.IGNORECASE)
_REACH: Final = 40
"""Characters before a number that are searched."""
_Moment = tuple[int, int, int]


class Place(NamedTuple):
    """A number of the evidence with its sentence."""

    sentence: int
    quantity: Quantity


def course_of(claim: Claim, index: ExactIndex, quantity: Quantity) -> Course:
    """The change that a claim states with a number, and the order and the signs of the numbers of the evidence."""
    folds = clause_folds(claim.text, claim.words, quantity)
    places = {
        id(one): Place(candidate.sentence, one)
        for candidate in claim.candidates
        for one in index.quantities.get(candidate.sentence, ())[:_MOST_OPERANDS]
    }

    def order(first: Quantity, second: Quantity) -> int:
        ours, theirs = places.get(id(first)), places.get(id(second))
        return stated_order(index, ours, theirs) if ours is not None and theirs is not None else 0

    def sign(share: Quantity) -> int:
        place = places.get(id(share))
        return sign_of(index, place) if place is not None else is_added(folds)

    return Course(change_of(folds), order, sign)


def clause_folds(text: str, words: Words, quantity: Quantity) -> frozenset[str]:
    """The folded words of the clause of a number in a text without other sentences."""
    first, last = clause(text, words, quantity.start, quantity.end, 0, len(words))
    return frozenset(word.fold for word in words.lexemes[first:last])


def sign_of(index: ExactIndex, share: Place) -> int:
    """1 where a share of the evidence is added to a number, -1 where it is taken off, else 0."""
    return is_added(_clause_folds(index, *share))


def order_of(index: ExactIndex, first: Place, second: Place) -> int:
    """-1 where the first of two numbers is the earlier one, 1 where the second is, 0 where that is unknown.

    Numbers of one sentence are in the order of the text where nothing else is stated.
    """
    stated = stated_order(index, first, second)
    if stated or first.sentence != second.sentence:
        return stated
    return -1 if first.quantity.start < second.quantity.start else 1


def stated_order(index: ExactIndex, first: Place, second: Place) -> int:
    """The order of two numbers as far as dates or other words state it, and not only the order of the text."""
    moments = _moment(index, *first), _moment(index, *second)
    if moments[0] is not None and moments[1] is not None and moments[0] != moments[1]:
        return -1 if moments[0] < moments[1] else 1
    ages = _age(index, *first), _age(index, *second)
    return (ages[0] > ages[1]) - (ages[0] < ages[1])


def _age(index: ExactIndex, sentence: int, quantity: Quantity) -> int:
    """-1 or less where the words around a number say that it is of an earlier time, 1 for now, 2 for later, else 0."""
    here = index.sentences[sentence]
    text = index.passages[here.passage].text
    reach = max(here.start, quantity.start - _REACH)
    if _LEFT_BEHIND.search(text, reach, quantity.start):
        return -2
    if _OLD_BEFORE.search(text, reach, quantity.start):
        return -1
    start, end = _clause_range(index, sentence, quantity)
    row = index.quantities.get(sentence, ())
    start = max([start, *(q.end for q in row if q.end <= quantity.start)])
    end = min([end, *(q.start for q in row if q.start >= quantity.end)])
    around = text[start : quantity.start], text[quantity.end : end]
    if any(_OLD_AROUND.search(part) for part in around):
        return -1
    if any(_LATER_AROUND.search(part) for part in around):
        return 2
    return int(any(_NEW_AROUND.search(part) for part in around))


def _moment(index: ExactIndex, sentence: int, quantity: Quantity) -> _Moment | None:
    """The date of a number: by rank where the sentence has as many dates as numbers of its kind, else of its clause."""
    dates = [d for d in index.dates.get(sentence, ()) if d.year is not None and d.last_year is None]
    row = [q for q in index.quantities.get(sentence, ()) if q.dimension == quantity.dimension]
    if len(dates) == len(row):
        own = dates[row.index(quantity)]
    else:
        start, end = _clause_range(index, sentence, quantity)
        inside = [d for d in dates if start <= d.start and d.end <= end]
        if len(inside) != 1:
            return None
        own = inside[0]
    return own.year or 0, own.month or 0, own.day or 0


def _clause_range(index: ExactIndex, sentence: int, quantity: Quantity) -> tuple[int, int]:
    """The characters of the clause around a number."""
    first, last = _clause(index, sentence, quantity)
    words = index.passages[index.sentences[sentence].passage].words
    return words.starts[first], words.ends[last - 1]


def _clause_folds(index: ExactIndex, sentence: int, quantity: Quantity) -> frozenset[str]:
    first, last = _clause(index, sentence, quantity)
    lexemes = index.passages[index.sentences[sentence].passage].words.lexemes
    return frozenset(word.fold for word in lexemes[first:last])


def _clause(index: ExactIndex, sentence: int, quantity: Quantity) -> tuple[int, int]:
    here = index.sentences[sentence]
    passage = index.passages[here.passage]
    first, last = clause(passage.text, passage.words, quantity.start, quantity.end, here.first, here.last)
    return first, max(last, min(first + 1, here.last))
