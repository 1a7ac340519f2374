"""Replaces a value of a statement by one of another text.

"The lease ends in May" and "Lease until: August" disagree if the second supports "The lease ends in August". Only the
kinds of the two values are compared here; whether they are values of the same thing is for the verifier that checks the
changed statement.
"""

from collections.abc import Iterator
from typing import Final

from assay.text.dates.detection import DateMention, find_dates
from assay.text.lexicon.lexemes import find_words
from assay.text.lexicon.names import find_names
from assay.text.quantities.detection import Quantity, find_quantities
from assay.text.quantities.values import Relation, relate

MAX_SUBSTITUTIONS: Final = 4
"""The most substitutions for one statement and one text."""
_MAX_VALUES: Final = 8
"""The most values of a kind that are considered in a statement and in a text."""


def value_substitutions(statement: str, text: str, *, locale: str = "en") -> tuple[str, ...]:
    """The statement with one of its values that the text lacks replaced by one of the text, at most four times.

    A value is replaced by one of its kind: an amount of the same dimension (a bare number has any), a date that states
    a common part of the calendar, a time of day, a name.

    >>> value_substitutions("The archive is kept in Trondheim.", "All boxes are stored at the Bergen site.")
    ('The archive is kept in Bergen.',)
    >>> value_substitutions("The ferry carries 60 cars.", "Car deck: room for 45 cars.")
    ('The ferry carries 45 cars.',)
    """
    substitutions = (
        *_date_substitutions(statement, text),
        *_quantity_substitutions(statement, text, locale),
        *_name_substitutions(statement, text),
    )
    return tuple(dict.fromkeys(one for one in substitutions if one != statement))[:MAX_SUBSTITUTIONS]


def _replaced(statement: str, start: int, end: int, words: str) -> str:
    return statement[:start] + words + statement[end:]


def _date_substitutions(statement: str, text: str) -> Iterator[str]:
    own_values, other_values = (find_dates(one, find_words(one))[:_MAX_VALUES] for one in (statement, text))
    stated = [_fields(one) for one in other_values]
    for own in own_values:
        if any(set(_fields(own).items()) <= set(fields.items()) for fields in stated):
            continue
        for other, fields in zip(other_values, stated, strict=True):
            if set(_fields(own)) & set(fields) and not _is_stated(fields, own_values):
                yield _replaced(statement, own.start, own.end, text[other.start : other.end])


def _fields(date: DateMention) -> dict[str, int]:
    """The stated fields of a date: year, month, day, day of the week, time of day."""
    fields = {"year": date.year, "month": date.month, "day": date.day, "weekday": date.weekday, "minute": date.minute}
    return {name: value for name, value in fields.items() if value is not None}


def _is_stated(fields: dict[str, int], own_values: tuple[DateMention, ...]) -> bool:
    return any(set(fields.items()) <= set(_fields(one).items()) for one in own_values)


def _quantity_substitutions(statement: str, text: str, locale: str) -> Iterator[str]:
    date_ranges = [[(d.start, d.end) for d in find_dates(one, find_words(one))] for one in (statement, text)]
    own_values = find_quantities(statement, locale=locale, skip=date_ranges[0])[:_MAX_VALUES]
    other_values = find_quantities(text, locale=locale, skip=date_ranges[1])[:_MAX_VALUES]
    for own in own_values:
        if any(_same(own, one) for one in other_values):
            continue
        for other in other_values:
            if not other.weak and _is_rival(own, other) and not any(_same(one, other) for one in own_values):
                with_unit = own.dimension == other.dimension and own.dimension != "count"
                start, end = (own.start, own.end) if with_unit else (own.number_start, own.number_end)
                words = text[other.start : other.end] if with_unit else text[other.number_start : other.number_end]
                yield _replaced(statement, start, end, words)


def _same(one: Quantity, other: Quantity) -> bool:
    if one.dimension == other.dimension:
        return relate(one, other) is Relation.SAME or relate(other, one) is Relation.SAME
    return "count" in (one.dimension, other.dimension) and one.value == other.value


def _is_rival(one: Quantity, other: Quantity) -> bool:
    """Whether two amounts can be values of one thing: both of one dimension, or one a bare number."""
    if one.dimension == other.dimension:
        return True
    unitless = one if one.dimension == "count" else other if other.dimension == "count" else None
    return unitless is not None and not unitless.nouns


def _name_substitutions(statement: str, text: str) -> Iterator[str]:
    other_words = {word.fold for word in find_words(text).lexemes}
    stated = {word.fold for word in find_words(statement).lexemes}
    own_names = [one for one in find_names(statement) if other_words.isdisjoint(one.keys)][:_MAX_VALUES]
    other_values = [
        one
        for one in find_names(text)
        if stated.isdisjoint(one.keys) and (one.sure or text[: one.start].rstrip().endswith(":"))
    ][:_MAX_VALUES]
    for own in own_names:
        for other in other_values:
            yield _replaced(statement, own.start, own.end, text[other.start : other.end])
