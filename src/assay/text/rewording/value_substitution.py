"""A statement with a value of another text in the place of its own.

"The lease ends in May" and "Lease until: August" disagree where the second supports "The lease ends in August". What
the two values are of is left to whoever reads the exchanged statement: only their kinds are compared here.
"""

from collections.abc import Iterator
from typing import Final

from assay.text.dates.detection import DateMention, find_dates
from assay.text.lexicon.lexemes import find_words
from assay.text.lexicon.names import find_names
from assay.text.quantities.detection import Quantity, find_quantities
from assay.text.quantities.values import Relation, relate

MOST: Final = 4
"""Exchanges that are made of one statement and one text."""
_MOST_VALUES: Final = 8
"""Values of a kind that are looked at in a statement and in a text."""


def value_substitutions(statement: str, text: str, *, locale: str = "en") -> tuple[str, ...]:
    """The statement with a value of the text in the place of one of its own that the text lacks, at most four.

    Values of one kind are exchanged: amounts of one dimension (a bare number may be of any), dates that name the same
    parts of the calendar, times of day, names.

    >>> value_substitutions("The archive is kept in Trondheim.", "All boxes are stored at the Bergen site.")
    ('The archive is kept in Bergen.',)
    >>> value_substitutions("The ferry carries 60 cars.", "Car deck: room for 45 cars.")
    ('The ferry carries 45 cars.',)
    """
    made = (*_of_dates(statement, text), *_of_quantities(statement, text, locale), *_of_names(statement, text))
    return tuple(dict.fromkeys(one for one in made if one != statement))[:MOST]


def _put(statement: str, start: int, end: int, words: str) -> str:
    return statement[:start] + words + statement[end:]


def _of_dates(statement: str, text: str) -> Iterator[str]:
    ours, theirs = (find_dates(one, find_words(one))[:_MOST_VALUES] for one in (statement, text))
    said = [_parts(one) for one in theirs]
    for mine in ours:
        if any(set(_parts(mine).items()) <= set(parts.items()) for parts in said):
            continue
        for other, parts in zip(theirs, said, strict=True):
            if set(_parts(mine)) & set(parts) and not _is_stated(parts, ours):
                yield _put(statement, mine.start, mine.end, text[other.start : other.end])


def _parts(date: DateMention) -> dict[str, int]:
    """What a date names: year, month, day, day of the week, time of day."""
    fields = {"year": date.year, "month": date.month, "day": date.day, "weekday": date.weekday, "minute": date.minute}
    return {name: value for name, value in fields.items() if value is not None}


def _is_stated(parts: dict[str, int], ours: tuple[DateMention, ...]) -> bool:
    return any(set(parts.items()) <= set(_parts(one).items()) for one in ours)


def _of_quantities(statement: str, text: str, locale: str) -> Iterator[str]:
    dated = [[(d.start, d.end) for d in find_dates(one, find_words(one))] for one in (statement, text)]
    ours = find_quantities(statement, locale=locale, skip=dated[0])[:_MOST_VALUES]
    theirs = find_quantities(text, locale=locale, skip=dated[1])[:_MOST_VALUES]
    for mine in ours:
        if any(_same(mine, one) for one in theirs):
            continue
        for other in theirs:
            if not other.weak and _is_rival(mine, other) and not any(_same(one, other) for one in ours):
                whole = mine.dimension == other.dimension and mine.dimension != "count"
                start, end = (mine.start, mine.end) if whole else (mine.number_start, mine.number_end)
                words = text[other.start : other.end] if whole else text[other.number_start : other.number_end]
                yield _put(statement, start, end, words)


def _same(one: Quantity, other: Quantity) -> bool:
    if one.dimension == other.dimension:
        return relate(one, other) is Relation.SAME or relate(other, one) is Relation.SAME
    return "count" in (one.dimension, other.dimension) and one.value == other.value


def _is_rival(one: Quantity, other: Quantity) -> bool:
    """Whether two amounts can be values of one thing: of one dimension, or one a bare number."""
    if one.dimension == other.dimension:
        return True
    unitless = one if one.dimension == "count" else other if other.dimension == "count" else None
    return unitless is not None and not unitless.nouns


def _of_names(statement: str, text: str) -> Iterator[str]:
    there = {word.fold for word in find_words(text).lexemes}
    said = {word.fold for word in find_words(statement).lexemes}
    own = [one for one in find_names(statement) if there.isdisjoint(one.keys)][:_MOST_VALUES]
    theirs = [
        one
        for one in find_names(text)
        if said.isdisjoint(one.keys) and (one.sure or text[: one.start].rstrip().endswith(":"))
    ][:_MOST_VALUES]
    for mine in own:
        for other in theirs:
            yield _put(statement, mine.start, mine.end, text[other.start : other.end])
