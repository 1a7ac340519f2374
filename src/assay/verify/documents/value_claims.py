"""Turns the values of a document into claims, which are checked against the evidence like sentences.

`{"leave": {"partner_weeks": 4}}` claims that the partner leave is 4 weeks. The sentence of a value is made of the words
of its key, the unit at the end of the key, its title or description in the schema, and the name of the object around
it. A value that is prose is split into its own claims. Every claim has the JSON Pointer and the span of its value.
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
from assay.verify.documents.field_rules import is_within, read_pattern
from assay.verify.documents.json_text import KEY_PART, Parsed, Path, Place, pointer, value_at, walk

_NAMING: Final = ("name", "title", "label", "product", "item", "city", "id", "code", "sku", "key")
"""Keys whose value names the object that contains them, the best first."""
_CODES: Final = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cad", "aud", "cny", "inr", "sek", "nok", "dkk", "pln"})
"""Currency codes, which are upper-case in a sentence."""
_SYMBOLS: Final = {symbol for symbol in UNIT_SYMBOLS if symbol.isalpha() and symbol.islower() and len(symbol) > 1} | {
    "m",
    "l",
    "g",
    "h",
}
"""Symbols of units at the end of keys, such as `weight_kg`."""
_UNITS_OF_KEYS: Final = (
    frozenset(UNIT_WORDS) | _CODES | {"percent", "pct", "euro", "euros", "dollar", "dollars", "francs", "yen"}
)
_WHETHER: Final = re.compile(r"\s*(?:whether|if|true if|says whether)\s+(?:or not\s+)?(.{3,200}?)[.\s]*", re.IGNORECASE)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|must|will|does|do|did|needs|applies|includes|covers)\b"
)
_LOOKS_LIKE_NAME: Final = re.compile(r"[A-Z][a-z]|[A-Z\d].*\d|\d.*[A-Z]")
_LONGEST_OWNER: Final = 40
_DEEPEST_REFERENCE: Final = 16
LONGEST_VALUE: Final = 2_000
"""Characters of the longest value that becomes a part of a sentence; a longer one is split as prose."""


@dataclass(frozen=True, slots=True)
class _Context:
    """The context in which the claims of one document are made."""

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
    """The values of a document as claims, and the claims of the text around it, in the order of the text.

    The sentences of the claims cover the whole document, so that every part of it belongs to a value.

    Args:
        output: the whole output.
        parsed: the document in the output.
        schema: its JSON Schema; titles and descriptions are used to word the claims.
        structure: which values are claims.
        extractor: splits prose into claims.
        question: the question that the output answers.
    """
    skipped = tuple(
        map(read_pattern, (*structure.skip, *structure.references, *(cited.sources for cited in structure.cited)))
    )
    context = _Context(parsed, schema, structure, extractor, skipped)
    end = parsed.start + len(parsed.text.rstrip())
    before = extractor.extract(output[: parsed.start], question) if parsed.start else []
    after = [_shift(claim, end) for claim in extractor.extract(output[end:], question)] if end < len(output) else []
    return (*before, *_document(context, end), *after)


def _document(context: _Context, end: int) -> Iterator[ExtractedClaim]:
    leaves = [(path, place) for path, place in walk(context.parsed) if _is_leaf(context, place)]
    if not leaves:
        whole = Span(start=context.parsed.start, end=end)
        if whole.end > whole.start:
            yield _uncheckable(context.parsed.text.strip(), whole, whole, None)
        return
    start = context.parsed.start
    for index, (path, place) in enumerate(leaves):
        end_of_value = end if index == len(leaves) - 1 else place.end
        yield from _claims_of(context, path, place, Span(start=start, end=end_of_value))
        start = end_of_value


def _is_leaf(context: _Context, place: Place) -> bool:
    return context.parsed.text[place.start - context.parsed.start] not in "{["


def _claims_of(context: _Context, path: Path, place: Place, sentence: Span) -> Iterator[ExtractedClaim]:
    """The claims of one value."""
    value = value_at(context.parsed.value, path)
    span = Span(start=place.start, end=place.end)
    part_schema = subschema(context.schema, path)
    if _is_excluded(context, value, path, part_schema):
        yield _uncheckable(_key_words(path) or "value", span, sentence, path)
        return
    if isinstance(value, str) and _is_prose(value):
        inner = [claim for claim in context.extractor.extract(value) if claim.text.strip()]
        if inner:
            literal = context.parsed.text[place.start - context.parsed.start + 1 :].startswith(value)
            for claim in inner:
                yield _claim_within(claim, span, sentence, path, place.start + 1 if literal else None)
            return
    document = context.parsed.value
    text = value_sentence(path, value, part_schema, _owner(document, path), _currency(document, path))
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


def _is_excluded(context: _Context, value: Any, path: Path, part_schema: Any) -> bool:
    """Whether a value is empty, fixed by the schema, or excluded by the caller."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(part_schema, Mapping) and ("const" in part_schema or part_schema.get("enum") == [value]):
        return True
    return is_within(path, context.skipped)


def _uncheckable(text: str, span: Span, sentence: Span, path: Path | None) -> ExtractedClaim:
    return ExtractedClaim(
        text=text[:200] or "value",
        span=span,
        sentence=sentence,
        kind=ClaimKind.META,
        checkable=False,
        path=None if path is None else pointer(path),
    )


def _claim_within(claim: ExtractedClaim, span: Span, sentence: Span, path: Path, start: int | None) -> ExtractedClaim:
    """A claim of a string in a document; its span is the whole string where JSON writes it with escapes."""
    place = span if start is None else Span(start=start + claim.span.start, end=start + claim.span.end)
    return claim.model_copy(update={"span": place, "sentence": sentence, "path": pointer(path)})


def _shift(claim: ExtractedClaim, by: int) -> ExtractedClaim:
    return claim.model_copy(
        update={
            "span": Span(start=claim.span.start + by, end=claim.span.end + by),
            "sentence": Span(start=claim.sentence.start + by, end=claim.sentence.end + by),
        }
    )


def _is_prose(value: str) -> bool:
    """Whether a text is prose rather than a value: several words with a verb or a full stop."""
    words = value.split()
    ended = len(words) >= 3 and value.rstrip().endswith((".", "!", "?"))
    return len(value) > LONGEST_VALUE or ended or (len(words) >= 5 and bool(_VERB.search(value)))


def value_sentence(
    path: Path, value: Any, part_schema: Any = None, owner: str | None = None, currency: str | None = None
) -> str:
    """A value as a sentence.

    Args:
        path: its path.
        value: the value.
        part_schema: its part of the schema.
        owner: the name of the object that contains it.
        currency: the currency of sums in that object.

    >>> value_sentence(("total",), 1250, currency="EUR")
    'The total is 1,250 EUR.'
    >>> value_sentence(("leave", "partner_weeks"), 4)
    'The partner leave is 4 weeks.'
    >>> value_sentence(("items", 0, "unitPrice"), 2.5, owner="Widget")
    'The unit price of Widget is 2.5.'
    >>> value_sentence(("paid",), False, {"description": "Whether the leave is paid."})
    'The leave is not paid.'
    """
    if isinstance(value, bool):
        return _boolean_sentence(path, value, part_schema, owner)
    stated = value if isinstance(value, str) else _money(path, value, currency) or _number(value)
    name, unit = _name_and_unit(path, part_schema, value, with_outer=owner is None)
    stated = f"{stated} {unit}" if unit else str(stated)
    return f"The {name}{f' of {owner}' if owner else ''} is {stated}".rstrip(" .") + "."


def _name_and_unit(path: Path, part_schema: Any, value: Any, *, with_outer: bool) -> tuple[str, str]:
    """The name of a value, and its unit where the key ends in one."""
    title = part_schema.get("title") if isinstance(part_schema, Mapping) else None
    if isinstance(title, str) and 0 < len(title.strip()) <= 40:
        return _lower_first(title.strip()), ""
    keys = [part for part in path if isinstance(part, str)]
    words = _split_key(keys[-1]) if keys else []
    unit = ""
    rate = words[-2:-1] == ["per"]  # the price per month, not a price of so many months
    ended = len(words) > 1 and words[-1] in _SYMBOLS
    if words and isinstance(value, int | float) and not rate and (words[-1] in _UNITS_OF_KEYS or ended):
        last = words.pop()
        unit = last.upper() if last in _CODES else last
        unit = "percent" if unit == "pct" else unit
    names = bool(words) and words[-1] in _NAMING
    needs_outer = len(keys) > 1 and with_outer and (not words or bool(unit) or names)
    outer = _singular(_split_key(keys[-2])) if needs_outer else []
    words = [_ABBREVIATIONS.get(word, word) for word in words]
    return " ".join((*outer, *words) if names else (*words, *outer)) or ("amount" if unit else "value"), unit


_ABBREVIATIONS: Final = {
    "qty": "quantity",
    "amt": "amount",
    "desc": "description",
    "addr": "address",
    "tel": "telephone",
}


def _singular(words: Sequence[str]) -> list[str]:
    result = list(words)
    if result and len(result[-1]) > 3 and result[-1].endswith("s") and not result[-1].endswith("ss"):
        result[-1] = result[-1][:-1]
    return result


def _boolean_sentence(path: Path, value: bool, part_schema: Any, owner: str | None) -> str:
    """A boolean as the statement that the schema describes, or as a field with the value yes or no."""
    description = part_schema.get("description") if isinstance(part_schema, Mapping) else None
    whether = _WHETHER.fullmatch(description) if isinstance(description, str) else None
    if whether is None:
        words = " ".join(_split_key(str(path[-1]))).removeprefix("is ") if path else "value"
        named = f"{words} of {owner}" if owner else words
        return f"{named[:1].upper()}{named[1:]}: {'yes' if value else 'no'}."
    statement = whether[1].strip()
    if not value:
        verb = _VERB.search(statement)
        if verb is None:
            return f"It is not true that {statement}."
        statement = f"{statement[: verb.end()]} not{statement[verb.end() :]}"
    return statement[:1].upper() + statement[1:] + "."


def _owner(document: Any, path: Path) -> str | None:
    """The name of the object that contains a value: the value of one of its naming keys.

    A document without a naming key is named by its first value if that looks like a name, with a capital or a digit.
    """
    holder = value_at(document, path[:-1]) if path else None
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
    return named.strip() if _LOOKS_LIKE_NAME.search(named) is not None else None


def subschema(schema: Any, path: Path) -> Any:
    """The part of a schema for a path, as far as it can be followed, through references inside the schema.

    >>> subschema({"properties": {"a": {"items": {"title": "A"}}}}, ("a", 3))
    {'title': 'A'}
    """
    current = _resolve(schema, schema)
    for part in path:
        if not isinstance(current, Mapping):
            return None
        inner: Any = None
        if isinstance(part, str):
            properties = current.get("properties")
            inner = properties.get(part) if isinstance(properties, Mapping) else None
            inner = current.get("additionalProperties") if inner is None else inner
        else:
            listed = current.get("prefixItems")
            inner = listed[part] if isinstance(listed, list) and part < len(listed) else current.get("items")
        current = _resolve(schema, inner)
    return current


def _resolve(schema: Any, current: Any) -> Any:
    for _ in range(_DEEPEST_REFERENCE):
        target = current.get("$ref") if isinstance(current, Mapping) else None
        if not isinstance(target, str) or not (target == "#" or target.startswith("#/")):
            return current  # an anchor, or another document: the value is worded without its description
        current = schema
        for part in read_pattern(target[1:]):
            current = current.get(part) if isinstance(current, Mapping) else None
    return current


def _key_words(path: Path) -> str:
    return " ".join(word for part in path if isinstance(part, str) for word in _split_key(part))


def _split_key(key: str) -> list[str]:
    """The words of a key, in any notation.

    >>> _split_key("leaveWeeks"), _split_key("VAT_rate-pct")
    (['leave', 'weeks'], ['VAT', 'rate', 'pct'])
    """
    return [word if word.isupper() and len(word) > 1 else word.lower() for word in KEY_PART.findall(key)]


def _lower_first(title: str) -> str:
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and value == round(value, 6) and abs(value) < 1e6 else str(value)


_AMOUNTS: Final = word_set(
    """total amount price sum cost fee subtotal tax vat balance revenue salary budget income turnover deposit payment
    charge premium excess rent refund"""
)
"""Words of keys whose values are sums of money, written with grouped digits so that 1,250 is not a year."""


def _money(path: Path, value: Any, currency: str | None) -> str | None:
    """A sum of money with its currency, if the key is that of a sum."""
    words = {word.lower() for word in _split_key(str(path[-1]))} if path else set()
    if isinstance(value, bool) or not isinstance(value, int | float) or words.isdisjoint(_AMOUNTS):
        return None
    return f"{value:,}{f' {currency}' if currency else ''}"


def _currency(document: Any, path: Path) -> str | None:
    """The currency that an object, or one around it, states for its sums."""
    for end in range(len(path) - 1, -1, -1):
        holder = value_at(document, path[:end])
        if isinstance(holder, Mapping):
            named = next((v for key, v in holder.items() if str(key).lower() in {"currency", "currency_code"}), None)
            if isinstance(named, str) and named.lower() in _CODES:
                return named.upper()
    return None
