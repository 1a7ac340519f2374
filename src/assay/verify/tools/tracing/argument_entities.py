"""Finds the entities in an argument: URLs, e-mail addresses, identifiers, handles, paths, numbers, dates, units,
names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.schema.report_parts import EntityKind
from assay.text.lexicon import IdentifierKind, find_identifiers, word_set
from assay.text.quantities import CURRENCY_CODES, CURRENCY_WORDS, UNIT_SYMBOLS, UNIT_WORDS
from assay.verify.documents.json_text import Path
from assay.verify.tools.tracing.calendar_dates import CalendarEntity, find_calendar_entities

MOST_LEAVES: Final = 5_000
"""The most values of one call that are traced; a call with more is not accepted."""

_NAME_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ID_NAMES: Final = word_set("id ids uuid guid sku isbn iban ticket pnr vin imei asin doi")
_URL_NAMES: Final = word_set("url urls uri link links website webpage homepage webhook href")
_EMAIL_NAMES: Final = word_set("email emails mail e-mail cc bcc")
_HANDLE_NAMES: Final = word_set("handle handles username usernames login nickname screenname mention mentions")
_PATH_NAMES: Final = word_set("path paths file files filename filepath directory folder dir")
_UNIT_NAMES: Final = word_set("unit units currency currencies uom")
_FORMATS: Final = {
    "uri": EntityKind.URL,
    "url": EntityKind.URL,
    "iri": EntityKind.URL,
    "uri-reference": EntityKind.URL,
    "email": EntityKind.EMAIL,
    "idn-email": EntityKind.EMAIL,
    "uuid": EntityKind.IDENTIFIER,
    "ipv4": EntityKind.IDENTIFIER,
    "ipv6": EntityKind.IDENTIFIER,
    "hostname": EntityKind.URL,
}
_IDENTIFIER_ENTITIES: Final[Mapping[IdentifierKind, EntityKind]] = {
    "url": EntityKind.URL,
    "email": EntityKind.EMAIL,
    "path": EntityKind.PATH,
}
_HANDLE: Final = re.compile(r"(?<![\w@.])@[A-Za-z0-9_][\w.-]{0,60}\w")
_NUMBER: Final = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)|(?<![\w.])\.\d+(?!\w)")
_UNIT_LIKE: Final = re.compile(r"[^\W\d_]{1,20}(?:[ /·*^-][^\W\d_]{1,20}){0,3}[²³]?")
_CODE: Final = re.compile(
    r"(?<![\w-])(?:[A-Z]{2,6}-|[a-z]{2,6}_)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{4,32}(?![\w-])|\b[A-Z]{6,20}\b"
)
"""Codes without a digit: a short prefix and capitals, or a word of capitals."""

_SWITCH: Final = re.compile(r"/[A-Za-z?]{1,4}")
"""A switch of a Windows command, which looks like a path."""

_EMAIL: Final = re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar value of a call's arguments."""

    path: Path
    value: str | int | float | bool | None
    schema: Mapping[str, Any]
    """Its part of the declared schema; empty where there is none."""
    is_key: bool = False
    """Whether it is the name of an undeclared field."""

    @property
    def name(self) -> str:
        """The name of the innermost field that contains it."""
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")


@dataclass(frozen=True, slots=True)
class Entity:
    """A reference in an argument, or the argument as a whole."""

    kind: EntityKind
    value: str | int | float | bool | None
    span: tuple[int, int] | None = None
    """Its start and end, where it is only a part of the argument."""
    calendar: CalendarEntity | None = None


def leaves(value: object, schema: Mapping[str, Any] | None) -> Iterator[Leaf]:
    """The scalar values of a call's arguments in order, each with its part of the schema.

    Names of undeclared fields are values as well: a model may invent them.
    """
    root = schema if isinstance(schema, Mapping) else {}
    stack: list[tuple[Path, object, Mapping[str, Any]]] = [((), value, root)]
    while stack:
        path, item, part_schema = stack.pop()
        if isinstance(item, Mapping):
            members = [
                ((*path, str(key)), member, subschema(root, part_schema, str(key))) for key, member in item.items()
            ]
            stack.extend(reversed(members))
            if path:
                declared = declared_properties(root, part_schema)
                yield from (Leaf((*path, key), key, {}, True) for key in map(str, item) if key not in declared)
        elif isinstance(item, list | tuple):
            stack.extend(
                reversed([((*path, n), member, subschema(root, part_schema, n)) for n, member in enumerate(item)])
            )
        elif item is None or isinstance(item, str | int | float | bool):
            yield Leaf(path, item, part_schema)


def subschema(root: Mapping[str, Any], schema: Mapping[str, Any], key: str | int) -> Mapping[str, Any]:
    """The schema of one field or item, found through references and alternatives; empty where there is none."""
    for form in _forms(root, schema):
        if isinstance(key, int):
            prefix = form.get("prefixItems")
            candidate = prefix[key] if isinstance(prefix, list) and key < len(prefix) else form.get("items")
        else:
            fields = form.get("properties")
            candidate = fields.get(key) if isinstance(fields, Mapping) else None
            candidate = candidate if candidate is not None else form.get("additionalProperties")
        if isinstance(candidate, Mapping):
            chosen = next((f for f in _forms(root, candidate) if "enum" in f or "type" in f), candidate)
            inherits = isinstance(key, int) and "description" not in chosen and "description" in schema
            return {**chosen, "description": schema["description"]} if inherits else chosen
    return {}


def declared_properties(root: Mapping[str, Any], schema: Mapping[str, Any]) -> frozenset[str]:
    """The names of the fields that a schema declares in any of its alternatives."""
    names: set[str] = set()
    for form in _forms(root, schema):
        fields = form.get("properties")
        if isinstance(fields, Mapping):
            names.update(map(str, fields))
    return frozenset(names)


def _forms(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and those that it refers to or consists of, at most 64."""
    queue: list[object] = [schema]
    for _ in range(64):
        if not queue:
            return
        form = queue.pop(0)
        if not isinstance(form, Mapping):
            continue
        yield form
        reference = form.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            queue.append(_resolve_reference(root, reference))
        for word in ("allOf", "anyOf", "oneOf"):
            inner = form.get(word)
            if isinstance(inner, list):
                queue.extend(inner)


def _resolve_reference(root: Mapping[str, Any], reference: str) -> object:
    target: object = root
    for part in reference[2:].split("/"):
        if not isinstance(target, Mapping):
            return None
        target = target.get(part.replace("~1", "/").replace("~0", "~"))
    return target


def entities(leaf: Leaf) -> tuple[Entity, ...]:
    """The entities of one value: the value as a whole, or the references within it; at least one.

    >>> [(e.kind.value, e.value) for e in entities(Leaf(("note",), "Mail ann@example.com by 2024-05-20", {}))]
    [('email', 'ann@example.com'), ('date', '2024-05-20')]
    """
    value = leaf.value
    if value is None or isinstance(value, bool):
        return (Entity(EntityKind.FLAG, value),)
    if isinstance(value, int | float):
        return (Entity(EntityKind.NUMBER, value),)
    whole = _kind_of_whole(leaf, value)
    if whole is not None:
        return (Entity(whole, value),)
    return tuple(_embedded(value)) or (Entity(_plain_kind(value), value),)


def name_words(name: str) -> list[str]:
    """The words of a field's name in lower case.

    >>> name_words("userId"), name_words("order_ids")
    (['user', 'id'], ['order', 'ids'])
    """
    return [word.lower() for word in _NAME_WORDS.findall(name)]


def _kind_of_whole(leaf: Leaf, value: str) -> EntityKind | None:
    """The kind of a value that is a single reference, by its format or the name of its field."""
    kind = _FORMATS.get(str(leaf.schema.get("format")))
    if kind is not None:
        return kind
    words = name_words(leaf.name)
    last = words[-1] if words else ""
    if _CODE.fullmatch(value) and not value.isalpha():
        return EntityKind.IDENTIFIER
    if last in _UNIT_NAMES and (is_unit(value) or _UNIT_LIKE.fullmatch(value)):
        return EntityKind.UNIT
    if not value.strip() or len(value.split()) > 1 or leaf.is_key:
        return None
    if last in _ID_NAMES or (last == "number" and any(c.isdigit() for c in value)):
        return EntityKind.IDENTIFIER
    if last in _EMAIL_NAMES and _EMAIL.fullmatch(value):
        return EntityKind.EMAIL
    if last in _URL_NAMES:
        return EntityKind.URL
    if last in _HANDLE_NAMES or words[-2:] in (["user", "name"], ["screen", "name"]):
        return EntityKind.HANDLE
    if last in _PATH_NAMES or words[-2:] in (["file", "name"], ["dir", "name"], ["folder", "name"]):
        return EntityKind.PATH
    return None


def _embedded(value: str) -> Iterator[Entity]:
    """The references in a text, in reading order, without overlaps."""
    entities: list[Entity] = []
    covered = bytearray(len(value))

    def add(kind: EntityKind, start: int, end: int, calendar: CalendarEntity | None = None) -> None:
        if start < end and covered.find(1, start, end) < 0:
            covered[start:end] = b"\1" * (end - start)
            entities.append(Entity(kind, value[start:end], (start, end), calendar))

    for date in find_calendar_entities(value) if any(c.isdigit() for c in value) or value[:1].isupper() else ():
        if not (date.day is None and date.start and value[date.start - 1] in "/_\\@"):
            add(EntityKind.DATE, date.start, date.end, date)
    for identifier in find_identifiers(value):
        digits = any(c.isdigit() for c in identifier.text)
        if identifier.kind == "reference" or (identifier.kind in ("code", "hash") and not digits):
            continue
        if identifier.kind == "path" and _SWITCH.fullmatch(identifier.text) and len(value.split()) > 1:
            continue
        add(_IDENTIFIER_ENTITIES.get(identifier.kind, EntityKind.IDENTIFIER), identifier.start, identifier.end)
    for match in _CODE.finditer(value):
        if not match.group().isalpha() or sum(c in "AEIOUY" for c in match.group()) * 5 < len(match.group()):
            add(EntityKind.IDENTIFIER, *match.span())
    for match in _HANDLE.finditer(value):
        add(EntityKind.HANDLE, *match.span())
    for match in _NUMBER.finditer(value):
        add(EntityKind.NUMBER, *match.span())
    yield from sorted(entities, key=lambda entity: entity.span or (0, 0))


def _plain_kind(value: str) -> EntityKind:
    text = value.strip()
    if not text:
        return EntityKind.FLAG
    return EntityKind.NAME if len(text.split()) <= 6 and len(text) <= 80 else EntityKind.TEXT


def is_unit(value: str) -> bool:
    """Whether a text is a known unit of measurement or currency.

    >>> is_unit("km"), is_unit("EUR"), is_unit("bananas")
    (True, True, False)
    """
    lowercase = value.strip().lower()
    return (
        value.strip() in UNIT_SYMBOLS
        or lowercase in UNIT_WORDS
        or value.strip().upper() in CURRENCY_CODES
        or lowercase in CURRENCY_WORDS
    )
