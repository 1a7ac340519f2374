"""The values of a document as claims: each says something of the evidence, and is checked against it like a sentence.

`{"leave": {"partner_weeks": 4}}` says that the partner leave is 4 weeks. The words of a key, the unit at its end, the
title or description that the schema gives it and what names the object around it make a sentence of a value; a text
that is prose already is split into its own claims. Every claim carries the JSON Pointer and the place of its value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.schema import ClaimKind, ExtractedClaim, Span, Structure
from assay.text.claims import ClaimExtractor, critical_reasons, hedge_score
from assay.text.dates import find_dates
from assay.text.lexicon import word_set
from assay.text.quantities import UNIT_SYMBOLS, UNIT_WORDS
from assay.verify.documents.field_rules import begins, read_pattern
from assay.verify.documents.json_text import Parsed, Path, Place, pointer, walk

_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_NAMING: Final = ("name", "title", "label", "product", "item", "city", "id", "code", "sku", "key")
"""Keys whose value names the object that they are in, the best first."""
_CODES: Final = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cad", "aud", "cny", "inr", "sek", "nok", "dkk", "pln"})
"""Currencies that are written with capitals in a sentence."""
_SYMBOLS: Final = {symbol for symbol in UNIT_SYMBOLS if symbol.isalpha() and symbol.islower() and len(symbol) > 1} | {
    "m",
    "l",
    "g",
    "h",
}
"""Units by the letters that keys end in: `weight_kg`, `voltage_v`."""
_UNITS_OF_KEYS: Final = (
    frozenset(UNIT_WORDS) | _CODES | {"percent", "pct", "euro", "euros", "dollar", "dollars", "francs", "yen"}
)
_WHETHER: Final = re.compile(r"\s*(?:whether|if|true if|says whether)\s+(?:or not\s+)?(.{3,200}?)[.\s]*", re.IGNORECASE)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|must|will|does|do|did|needs|applies|includes|covers)\b"
)
_NAMES: Final = re.compile(r"[A-Z][a-z]|[A-Z\d].*\d|\d.*[A-Z]")
_LONGEST_OWNER: Final = 40
_DEEPEST_REFERENCE: Final = 16
LONGEST_VALUE: Final = 2_000
"""Characters of one value that become part of a sentence; longer ones are split as prose."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the claims of one document are made with."""

    parsed: Parsed
    schema: Any
    structure: Structure
    extractor: ClaimExtractor
    skipped: tuple[tuple[str, ...], ...]


def document_claims(
    output: str,
    parsed: Parsed,
    schema: Any,
    structure: Structure,
    extractor: ClaimExtractor,
    question: str | None = None,
) -> tuple[ExtractedClaim, ...]:
    """Every value of a document as a claim, and the claims of what is written around it, in the order of the text.

    The sentences of the claims cover the document from end to end, so that nothing in it counts as looked at that
    no value stands for.

    Args:
        output: the whole output.
        parsed: the document in it.
        schema: its JSON Schema; titles and descriptions help to word the claims.
        structure: which values are claims.
        extractor: splits prose into claims.
        question: what the output answers.
    """
    skipped = tuple(
        map(read_pattern, (*structure.skip, *structure.references, *(cited.sources for cited in structure.cited)))
    )
    reader = _Reader(parsed, schema, structure, extractor, skipped)
    end = parsed.start + len(parsed.text.rstrip())
    before = extractor.extract(output[: parsed.start], question) if parsed.start else []
    after = [_moved(claim, end) for claim in extractor.extract(output[end:], question)] if end < len(output) else []
    return (*before, *_document(reader, end), *after)


def _document(reader: _Reader, end: int) -> Iterator[ExtractedClaim]:
    leaves = [(path, place) for path, place in walk(reader.parsed) if _is_leaf(reader, place)]
    if not leaves:
        whole = Span(start=reader.parsed.start, end=end)
        if whole.end > whole.start:
            yield _silent(reader.parsed.text.strip(), whole, whole, None)
        return
    at = reader.parsed.start
    for number, (path, place) in enumerate(leaves):
        until = end if number == len(leaves) - 1 else place.end
        yield from _claims_of(reader, path, place, Span(start=at, end=until))
        at = until


def _is_leaf(reader: _Reader, place: Place) -> bool:
    return reader.parsed.text[place.start - reader.parsed.start] not in "{["


def _claims_of(reader: _Reader, path: Path, place: Place, sentence: Span) -> Iterator[ExtractedClaim]:
    """The claim or the claims of one value."""
    value = _value_at(reader.parsed.value, path)
    span = Span(start=place.start, end=place.end)
    about = subschema(reader.schema, path)
    if _says_nothing(reader, value, path, about):
        yield _silent(_key_words(path) or "value", span, sentence, path)
        return
    if isinstance(value, str) and _is_prose(value):
        inner = [claim for claim in reader.extractor.extract(value) if claim.text.strip()]
        if inner:
            literal = reader.parsed.text[place.start - reader.parsed.start + 1 :].startswith(value)
            for claim in inner:
                yield _within(claim, span, sentence, path, place.start + 1 if literal else None)
            return
    document = reader.parsed.value
    text = wording(path, value, about, _owner(document, path), _currency(document, path))
    yield ExtractedClaim(
        text=text,
        span=span,
        sentence=sentence,
        kind=ClaimKind.FACTUAL,
        checkable=True,
        critical=critical_reasons(text, text),
        hedge=hedge_score(text),
        path=pointer(path),
    )


def _says_nothing(reader: _Reader, value: Any, path: Path, about: Any) -> bool:
    """Whether a value is none, is fixed by the schema, or is left out by the caller."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(about, Mapping) and ("const" in about or about.get("enum") == [value]):
        return True
    return begins(path, reader.skipped)


def _silent(text: str, span: Span, sentence: Span, path: Path | None) -> ExtractedClaim:
    return ExtractedClaim(
        text=text[:200] or "value",
        span=span,
        sentence=sentence,
        kind=ClaimKind.META,
        checkable=False,
        path=None if path is None else pointer(path),
    )


def _within(claim: ExtractedClaim, span: Span, sentence: Span, path: Path, start: int | None) -> ExtractedClaim:
    """A claim of a text inside of a document; at the whole text where JSON writes it with escapes."""
    place = span if start is None else Span(start=start + claim.span.start, end=start + claim.span.end)
    return claim.model_copy(update={"span": place, "sentence": sentence, "path": pointer(path)})


def _moved(claim: ExtractedClaim, by: int) -> ExtractedClaim:
    return claim.model_copy(
        update={
            "span": Span(start=claim.span.start + by, end=claim.span.end + by),
            "sentence": Span(start=claim.sentence.start + by, end=claim.sentence.end + by),
        }
    )


def _is_prose(value: str) -> bool:
    """Whether a text is sentences rather than a value: several words with a verb or an end."""
    words = value.split()
    ended = len(words) >= 3 and value.rstrip().endswith((".", "!", "?"))
    return len(value) > LONGEST_VALUE or ended or (len(words) >= 5 and bool(_VERB.search(value)))


def wording(path: Path, value: Any, about: Any = None, owner: str | None = None, currency: str | None = None) -> str:
    """A value as a sentence.

    Args:
        path: where it stands.
        value: what is there.
        about: its part of the schema.
        owner: what names the object that it is in.
        currency: of sums in it.

    >>> wording(("total",), 1250, currency="EUR")
    'The total is 1,250 EUR.'
    >>> wording(("leave", "partner_weeks"), 4)
    'The partner leave is 4 weeks.'
    >>> wording(("items", 0, "unitPrice"), 2.5, owner="Widget")
    'The unit price of Widget is 2.5.'
    >>> wording(("paid",), False, {"description": "Whether the leave is paid."})
    'The leave is not paid.'
    """
    if isinstance(value, bool):
        return _truth(path, value, about, owner)
    said = value if isinstance(value, str) else _sum(path, value, currency) or _number(value)
    name, unit = _named(path, about, value, with_outer=owner is None)
    said = f"{said} {unit}" if unit else str(said)
    return f"The {name}{f' of {owner}' if owner else ''} is {said}".rstrip(" .") + "."


def _named(path: Path, about: Any, value: Any, *, with_outer: bool) -> tuple[str, str]:
    """What a value is called, and its unit where the key ends in one."""
    title = about.get("title") if isinstance(about, Mapping) else None
    if isinstance(title, str) and 0 < len(title.strip()) <= 40:
        return _lower_first(title.strip()), ""
    keys = [part for part in path if isinstance(part, str)]
    words = _split(keys[-1]) if keys else []
    unit = ""
    rate = words[-2:-1] == ["per"]  # the price per month, not a price of so many months
    ended = len(words) > 1 and words[-1] in _SYMBOLS
    if words and isinstance(value, int | float) and not rate and (words[-1] in _UNITS_OF_KEYS or ended):
        last = words.pop()
        unit = last.upper() if last in _CODES else last
        unit = "percent" if unit == "pct" else unit
    names = bool(words) and words[-1] in _NAMING
    wants = len(keys) > 1 and with_outer and (not words or bool(unit) or names)
    outer = _singular(_split(keys[-2])) if wants else []
    words = [_LONG.get(word, word) for word in words]
    return " ".join((*outer, *words) if names else (*words, *outer)) or ("amount" if unit else "value"), unit


_LONG: Final = {"qty": "quantity", "amt": "amount", "desc": "description", "addr": "address", "tel": "telephone"}


def _singular(words: Sequence[str]) -> list[str]:
    made = list(words)
    if made and len(made[-1]) > 3 and made[-1].endswith("s") and not made[-1].endswith("ss"):
        made[-1] = made[-1][:-1]
    return made


def _truth(path: Path, value: bool, about: Any, owner: str | None) -> str:
    """A truth value as the statement that the schema describes, or as a field that is true or false."""
    description = about.get("description") if isinstance(about, Mapping) else None
    found = _WHETHER.fullmatch(description) if isinstance(description, str) else None
    if found is None:
        words = " ".join(_split(str(path[-1]))).removeprefix("is ") if path else "value"
        named = f"{words} of {owner}" if owner else words
        return f"{named[:1].upper()}{named[1:]}: {'yes' if value else 'no'}."
    statement = found[1].strip()
    if not value:
        verb = _VERB.search(statement)
        if verb is None:
            return f"It is not true that {statement}."
        statement = f"{statement[: verb.end()]} not{statement[verb.end() :]}"
    return statement[:1].upper() + statement[1:] + "."


def _owner(document: Any, path: Path) -> str | None:
    """What names the object that a value is in: the value of one of its own naming keys.

    A document that has none is named by its first value, where that is a name: a capital or a digit tells that.
    """
    holder = _value_at(document, path[:-1]) if path else None
    if not isinstance(holder, Mapping):
        return None
    lower = {str(key).lower(): key for key in holder}
    for word in _NAMING:
        for name, key in lower.items():
            named = holder[key]
            fits = name == word or name.endswith(f"_{word}")
            if fits and key != path[-1] and isinstance(named, str) and 0 < len(named.strip()) <= 80:
                return named.strip()
    first = next(iter(holder), None)
    named = holder.get(first) if len(path) == 1 and first != path[-1] else None
    if not isinstance(named, str) or not 0 < len(named.strip()) <= _LONGEST_OWNER or find_dates(named):
        return None
    return named.strip() if _NAMES.search(named) is not None else None


def subschema(schema: Any, path: Path) -> Any:
    """The part of a schema that mentions a path, as far as it can be followed; references inside it are.

    >>> subschema({"properties": {"a": {"items": {"title": "A"}}}}, ("a", 3))
    {'title': 'A'}
    """
    at = _resolved(schema, schema)
    for part in path:
        if not isinstance(at, Mapping):
            return None
        inner: Any = None
        if isinstance(part, str):
            properties = at.get("properties")
            inner = properties.get(part) if isinstance(properties, Mapping) else None
            inner = at.get("additionalProperties") if inner is None else inner
        else:
            listed = at.get("prefixItems")
            inner = listed[part] if isinstance(listed, list) and part < len(listed) else at.get("items")
        at = _resolved(schema, inner)
    return at


def _resolved(schema: Any, at: Any) -> Any:
    for _ in range(_DEEPEST_REFERENCE):
        target = at.get("$ref") if isinstance(at, Mapping) else None
        if not isinstance(target, str) or not (target == "#" or target.startswith("#/")):
            return at  # an anchor, or another document: the value is worded without its description
        at = schema
        for part in read_pattern(target[1:]):
            at = at.get(part) if isinstance(at, Mapping) else None
    return at


def _value_at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _key_words(path: Path) -> str:
    return " ".join(word for part in path if isinstance(part, str) for word in _split(part))


def _split(key: str) -> list[str]:
    """The words of a key, however it is written.

    >>> _split("leaveWeeks"), _split("VAT_rate-pct")
    (['leave', 'weeks'], ['VAT', 'rate', 'pct'])
    """
    return [word if word.isupper() and len(word) > 1 else word.lower() for word in _WORDS.findall(key)]


def _lower_first(title: str) -> str:
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and value == round(value, 6) and abs(value) < 1e6 else str(value)


_AMOUNTS: Final = word_set(
    """total amount price sum cost fee subtotal tax vat balance revenue salary budget income turnover deposit payment
    charge premium excess rent refund"""
)
"""Words of keys whose values are sums: digits are in groups, so that 1,250 is no year."""


def _sum(path: Path, value: Any, currency: str | None) -> str | None:
    """A sum of money with its currency, where the key says that it is one."""
    words = {word.lower() for word in _split(str(path[-1]))} if path else set()
    if isinstance(value, bool) or not isinstance(value, int | float) or words.isdisjoint(_AMOUNTS):
        return None
    return f"{value:,}{f' {currency}' if currency else ''}"


def _currency(document: Any, path: Path) -> str | None:
    """The currency that an object, or one around it, gives for its sums."""
    for end in range(len(path) - 1, -1, -1):
        holder = _value_at(document, path[:end])
        if isinstance(holder, Mapping):
            named = next((v for key, v in holder.items() if str(key).lower() in {"currency", "currency_code"}), None)
            if isinstance(named, str) and named.lower() in _CODES:
                return named.upper()
    return None
