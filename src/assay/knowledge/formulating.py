"""From a claim to what is asked about it: its names, numbers, dates and content words, by rules and offline.

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

MOST_ENTITIES: Final = 8
MOST_TERMS: Final = 24
MOST_NUMBERS: Final = 8
LONGEST: Final = 200
"""Characters of one entity; a longer one names nothing."""

_QUOTED: Final = re.compile(r"[“\"«„]([^“”\"«»„\n]{1,80})[”\"»“]")
_NUMBER_AFTER: Final = re.compile(r"[ -]?\d+(?:\.\d+)*[A-Za-z]{0,2}(?![\w.,%-]*\d)(?!\s?[%°€$£])\b")
"""The number of a model, a version or a room that goes on a name: "Aria 2", "Boeing 747-400"."""
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9][\w-]{1,40}(?<!-)(?![\w-])")
"""A word with capitals and digits: "X-200", "SKU-4411"."""
_ARTICLE: Final = re.compile(
    r"^(?:the|a|an|our|your|their|its|this|that|these|those|all|each|every|any)\s+", re.IGNORECASE
)
_POSSESSED: Final = re.compile(r"^(?P<owner>.+?)['’]s?\s+(?P<thing>\S.*)$")
_OF: Final = re.compile(r"^(?P<thing>[\w -]+?)\s+(?:of|for|at|in)\s+(?P<owner>\S.*)$", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def formulate(claim: str) -> Inquiry:
    """What is asked about a claim.

    >>> asked = formulate("The Aria 2 costs EUR 59.99.")
    >>> asked.entities, asked.numbers, asked.terms
    (('Aria 2', 'Aria'), ('59.99', '2'), ('Aria', '2', 'costs', 'EUR', '59', '99'))
    """
    text = " ".join(_CONTROL.sub(" ", claim).split())[:4_000]
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
    dated = [(one.start, one.end) for one in mentions]
    numbers = [
        _plain(str(q.value))
        for q in find_quantities(text)
        if not any(start < q.end and q.start < end for start, end in dated)
    ]
    return Inquiry(
        entities=_first(_entities(text, dated), MOST_ENTITIES),
        numbers=_first(_with_own_first(text, numbers), MOST_NUMBERS),
        years=tuple(dict.fromkeys(years))[:4],
        dates=tuple(dict.fromkeys(days))[:4],
        terms=_first(_terms(text), MOST_TERMS),
        claim=text,
    )


def _plain(number: str) -> str:
    """A decimal without exponent: what a typed parameter takes."""
    from decimal import Decimal

    return f"{Decimal(number):f}"


def _with_own_first(text: str, numbers: Iterable[str]) -> Iterator[str]:
    """Numbers with those that are part of a name last: they measure nothing."""
    named = {m.group().lstrip(" -") for name in find_names(text) if (m := _NUMBER_AFTER.match(text, name.end))}
    listed = list(numbers)
    yield from (one for one in listed if one not in named)
    yield from (one for one in listed if one in named)


def _entities(text: str, dated: list[tuple[int, int]]) -> Iterator[str]:
    """Candidates for what the claim is about: first what is surely a name, last the words before the verb."""
    weak = []
    quoted = [found.group(1) for found in _QUOTED.finditer(text)]
    codes = [found.group() for found in _CODE.finditer(text)]
    identifiers = [text[one.start : one.end] for one in find_identifiers(text)]
    names: list[str] = []
    for name in find_names(text):
        if any(start < name.end and name.start < end for start, end in dated):
            continue
        form = text[name.start : name.end]
        grown = _NUMBER_AFTER.match(text, name.end)
        if grown is not None and not any(start < grown.end() and name.end < end for start, end in dated):
            names.append(form + grown.group())
        if name.sure or " " in form:
            names.append(form)
        else:
            weak.append(form)
    subject = _subject(text)
    whole = (
        [subject] if subject and any(one in subject for one in (*names, *codes, *weak)) and len(subject) < 60 else []
    )
    yield from (one.strip(" ,;:.!?") for one in quoted)  # a title keeps its article
    for one in (*quoted, *codes, *identifiers, *names, *weak, *whole):
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
    """The words before the main verb, without an article; empty where there is no verb."""
    tokens = tokenise(text)
    verb = find_verb(tokens)
    if verb < 1:
        return ""
    from assay.text.lexicon import render

    said = render(subject_of(tokens, verb))
    return _ARTICLE.sub("", said).strip() if len(said) <= LONGEST else ""


def _terms(text: str) -> Iterator[str]:
    words = find_words(text)
    for one, start, end in zip(words.lexemes, words.starts, words.ends, strict=True):
        if one.fold not in STOP_WORDS:
            yield text[start:end]


def _first(found: Iterable[str], most: int) -> tuple[str, ...]:
    """The first of them, each once, upper and lower case not told apart."""
    kept: dict[str, str] = {}
    for one in found:
        if 0 < len(one) <= LONGEST:
            kept.setdefault(one.casefold(), one)
        if len(kept) == most:
            break
    return tuple(kept.values())


PARAMETERS: Final = frozenset({"entity", "number", "year", "date", "terms", "claim"})
"""What a statement, a request or a query can take: one entity, number, year or date of the claim, its content words as
one text, or all of it."""


def bindings(names: Iterable[str], inquiry: Inquiry, most: int) -> Iterator[dict[str, object]]:
    """The values that a statement's parameters are bound to, one mapping for each time that it is asked.

    Args:
        names: the parameters that it has.
        inquiry: what is asked.
        most: mappings at most.

    Yields:
        Mappings with every name; none where the inquiry has no value for one of them.

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
    wanted = sorted(names)
    for made, values in enumerate(product(*(known[name] for name in wanted))):
        if made == most:
            return
        yield dict(zip(wanted, values, strict=True))
