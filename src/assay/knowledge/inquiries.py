"""Derives from a claim what is asked about it: its names, numbers, dates and content words, by rules and offline.

Nothing here is a query: the values are bound to statements, requests and queries that the operator wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import product
from typing import Final

from assay.knowledge.interface import Inquiry
from assay.text.claims import find_verb, subject_of
from assay.text.dates import find_dates
from assay.text.lexicon import STOP_WORDS, find_identifiers, find_names, find_words, tokenise
from assay.text.quantities import find_quantities

MAX_ENTITIES: Final = 8
MAX_TERMS: Final = 24
MAX_NUMBERS: Final = 8
MAX_ENTITY_LENGTH: Final = 200
"""Characters; a longer entity is not a name."""

_QUOTED: Final = re.compile(r"[“\"«„]([^“”\"«»„\n]{1,80})[”\"»“]")
_NUMBER_AFTER: Final = re.compile(r"[ -]?\d+(?:\.\d+)*[A-Za-z]{0,2}(?![\w.,%-]*\d)(?!\s?[%°€$£])\b")
"""The number of a model, a version or a room that continues a name: "Aria 2", "Boeing 747-400"."""
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9][\w-]{1,40}(?<!-)(?![\w-])")
"""A word with capitals and digits: "X-200", "SKU-4411"."""
_ARTICLE: Final = re.compile(
    r"^(?:the|a|an|our|your|their|its|this|that|these|those|all|each|every|any)\s+", re.IGNORECASE
)
_POSSESSED: Final = re.compile(r"^(?P<owner>.+?)['’]s?\s+(?P<thing>\S.*)$")
_OF: Final = re.compile(r"^(?P<thing>[\w -]+?)\s+(?:of|for|at|in)\s+(?P<owner>\S.*)$", re.IGNORECASE)


def formulate(claim: str) -> Inquiry:
    """The inquiry about a claim.

    >>> asked = formulate("The Aria 2 costs EUR 59.99.")
    >>> asked.entities, asked.numbers, asked.terms
    (('Aria 2', 'Aria'), ('59.99', '2'), ('Aria', '2', 'costs', 'EUR', '59', '99'))
    """
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in claim).split())[:4_000]
    mentions = find_dates(text)
    days, years = [], []
    for one in mentions:
        if one.year is not None and one.bound in {"exact", "about"}:
            years.append(one.year)
        if one.year is not None and one.month is not None and one.day is not None and one.year > 0:
            try:
                days.append(date(one.year, one.month, one.day))
            except ValueError:
                continue
    date_ranges = [(one.start, one.end) for one in mentions]
    numbers = [
        _plain(str(q.value))
        for q in find_quantities(text)
        if not any(start < q.end and q.start < end for start, end in date_ranges)
    ]
    return Inquiry(
        entities=_first_distinct(_entities(text, date_ranges), MAX_ENTITIES),
        numbers=_first_distinct(_measures_first(text, numbers), MAX_NUMBERS),
        years=tuple(dict.fromkeys(years))[:4],
        dates=tuple(dict.fromkeys(days))[:4],
        terms=_first_distinct(_terms(text), MAX_TERMS),
        claim=text,
    )


def _plain(number: str) -> str:
    """A decimal without an exponent, as typed parameters require."""
    from decimal import Decimal

    return f"{Decimal(number):f}"


def _measures_first(text: str, numbers: Iterable[str]) -> Iterator[str]:
    """The numbers, with those that are part of a name last, since they measure nothing."""
    named = {m.group().lstrip(" -") for name in find_names(text) if (m := _NUMBER_AFTER.match(text, name.end))}
    numbers_in_order = list(numbers)
    yield from (one for one in numbers_in_order if one not in named)
    yield from (one for one in numbers_in_order if one in named)


def _entities(text: str, date_ranges: list[tuple[int, int]]) -> Iterator[str]:
    """Candidates for what the claim is about, from certain names to the words before the verb."""
    uncertain = []
    quoted = [found.group(1) for found in _QUOTED.finditer(text)]
    codes = [found.group() for found in _CODE.finditer(text)]
    identifiers = [text[one.start : one.end] for one in find_identifiers(text)]
    names: list[str] = []
    for name in find_names(text):
        if any(start < name.end and name.start < end for start, end in date_ranges):
            continue
        form = text[name.start : name.end]
        number_after = _NUMBER_AFTER.match(text, name.end)
        if number_after is not None and not any(
            start < number_after.end() and name.end < end for start, end in date_ranges
        ):
            names.append(form + number_after.group())
        if name.sure or " " in form:
            names.append(form)
        else:
            uncertain.append(form)
    subject = _subject(text)
    whole_subject = (
        [subject]
        if subject and any(one in subject for one in (*names, *codes, *uncertain)) and len(subject) < 60
        else []
    )
    yield from (one.strip(" ,;:.!?") for one in quoted)  # a title keeps its article
    for one in (*quoted, *codes, *identifiers, *names, *uncertain, *whole_subject):
        yield from _variants(one)
    if subject:
        yield from _variants(subject)
        for pattern in (_POSSESSED, _OF):
            if (found := pattern.match(subject)) is not None:
                yield from _variants(found["owner"])
                yield from _variants(found["thing"])


def _variants(form: str) -> Iterator[str]:
    plain = _ARTICLE.sub("", form.strip(" ,;:.!?()[]'\"“”")).strip()
    if plain:
        yield plain
        if plain.endswith(("'s", "’s")):
            yield plain[:-2]


def _subject(text: str) -> str:
    """The words before the main verb, without an article; empty without a verb."""
    tokens = tokenise(text)
    verb = find_verb(tokens)
    if verb < 1:
        return ""
    from assay.text.lexicon import render

    said = render(subject_of(tokens, verb))
    return _ARTICLE.sub("", said).strip() if len(said) <= MAX_ENTITY_LENGTH else ""


def _terms(text: str) -> Iterator[str]:
    words = find_words(text)
    for one, start, end in zip(words.lexemes, words.starts, words.ends, strict=True):
        if one.fold not in STOP_WORDS:
            yield text[start:end]


def _first_distinct(found: Iterable[str], most: int) -> tuple[str, ...]:
    """The first `most` distinct texts, compared without case."""
    kept: dict[str, str] = {}
    for one in found:
        if 0 < len(one) <= MAX_ENTITY_LENGTH:
            kept.setdefault(one.casefold(), one)
        if len(kept) == most:
            break
    return tuple(kept.values())


PARAMETERS: Final = frozenset({"entity", "number", "year", "date", "terms", "claim"})
"""The parameters of a statement, request or query: one entity, number, year or date of the claim, its content words as
one text, or the whole claim."""


def bindings(names: Iterable[str], inquiry: Inquiry, most: int) -> Iterator[dict[str, object]]:
    """The values for a statement's parameters, one mapping for each execution.

    Args:
        names: the parameters of the statement.
        inquiry: the values to choose from.
        most: the most mappings.

    Yields:
        Mappings with every parameter; none where the inquiry has no value for one of them.

    >>> list(bindings({"entity"}, Inquiry(entities=("Aria 2", "Aria")), 5))
    [{'entity': 'Aria 2'}, {'entity': 'Aria'}]
    """
    known: dict[str, tuple[object, ...]] = {
        "entity": inquiry.entities,
        "number": inquiry.numbers,
        "year": inquiry.years,
        "date": inquiry.dates,
        "terms": (" ".join(inquiry.terms),) if inquiry.terms else (),
        "claim": (inquiry.claim,) if inquiry.claim else (),
    }
    parameters = sorted(names)
    for count, values in enumerate(product(*(known[name] for name in parameters))):
        if count == most:
            return
        yield dict(zip(parameters, values, strict=True))
