"""Follows every entity of a call's arguments back, and says of each where it comes from or why it is refused."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from assay.schema import Issue, Span
from assay.schema.report_parts import ArgumentProvenance, EntityKind, SourceKind, TraceStatus
from assay.text.lexicon import word_set
from assay.text.quantities import CURRENCY_CODES, CURRENCY_WORDS, KEY_UNITS, UNIT_SYMBOLS, UNIT_WORDS, Unit
from assay.verify.documents.json_text import Path, pointer
from assay.verify.tools.quoting import as_quote
from assay.verify.tools.tracing.argument_entities import MOST_LEAVES, Entity, Leaf, entities, leaves, name_words
from assay.verify.tools.tracing.calculations import NumberContext
from assay.verify.tools.tracing.calendar_dates import trace_calendar
from assay.verify.tools.tracing.numbers import trace_number
from assay.verify.tools.tracing.sources import Found, Sources, SourceText, squash
from assay.verify.tools.tracing.texts import trace_text
from assay.verify.tools.tracing.trace import Trace, chosen, declared, derived, untraced
from assay.verify.tools.tracing_rules import ArgumentRule, ToolRule, Tracing

MOST_UNTRACED: Final = 40
"""Refused entities of one call after which the rest is not looked at: the call is rejected as it is."""

_PAGING: Final = word_set(
    """limit page pages perpage offset top topk results timeout retries seed decimals decimal round rounding precision
    skip index start count size"""
)
_USUAL: Final = frozenset({2, 3, 4, 5, 10, 12, 15, 20, 25, 30, 42, 50, 60, 100, 200, 250, 500, 1000})
"""Words of argument names, and the numbers that a caller chooses for them without being told."""

_IN_UNIT: Final = re.compile(r"\bin (?:degrees )?([a-z]{2,12})\b")
_BARE_UNIT: Final = re.compile(r"(?:^|[.?!\n;])\s*([a-z]{4,12})\s*(?=$|[.?!\n;])")
_SYMBOLS: Final = frozenset({"km", "cm", "mm", "mi", "ft", "kg", "lb", "lbs", "oz", "mph", "kmh"})
"""Symbols of units that are no words of their own."""
_SENTENCE_END: Final = re.compile(r"[.?!;](?=\s|$)|\n|,\s(?=(?:and |then )?i\b)")
_EXAMPLE: Final = re.compile(r"\b(?:e g|eg|example|examples|such as|for instance|like)\b")
_TARGETS: Final = frozenset({"to", "target", "into", "output", "dest", "destination", "desired", "quote", "new"})
_ORIGINS: Final = frozenset({"from", "source", "origin"})
_KNOBS: Final = frozenset({"threshold", "tolerance", "confidence", "similarity", "temperature", "epsilon", "dropout"})
_MOST_TURNED: Final = 2
"""Settings of a model or a search that are small numbers and refer to nothing."""

_UNHEEDED: Final = "it stands only in what the user rules out, or in what a text tells the model to do"
_MOST_ANCHORS: Final = 12
_NEW_THINGS: Final = frozenset({"new", "output", "out", "dest", "destination", "target", "save", "export", "create"})
_MAKERS: Final = word_set("create touch mkdir make new save export write generate add copy cp mv move")
_NOUNS: Final = {
    EntityKind.URL: "address",
    EntityKind.EMAIL: "e-mail address",
    EntityKind.HANDLE: "handle",
    EntityKind.IDENTIFIER: "identifier",
    EntityKind.PATH: "path",
    EntityKind.NUMBER: "number",
    EntityKind.DATE: "date or time",
    EntityKind.UNIT: "unit",
    EntityKind.NAME: "name",
    EntityKind.TEXT: "text",
    EntityKind.FLAG: "flag",
}


@dataclass(frozen=True, slots=True)
class Traced:
    """The provenance of a call's arguments, and what is wrong with it."""

    provenance: tuple[ArgumentProvenance, ...]
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """What tracing one entity needs to know of its call."""

    tool: str
    said: str
    """The tool's description."""
    lengths: frozenset[int]
    numbers: frozenset[Decimal]
    """The numbers among the arguments."""
    totals: Mapping[str, Decimal]
    """The sum of each numeric field over the items of its list, by the field's path with stars for the items."""
    places: tuple[str, ...]
    """The other texts among the arguments, in lower case, that no unit is read in: what the call is about."""
    anchors: tuple[str, ...]
    """The texts among the arguments that look like identifiers: the records that the call is about."""


def trace_arguments(
    tool: str,
    arguments: Mapping[str, Any],
    sources: Sources,
    rule: ToolRule,
    schema: Mapping[str, Any] | None = None,
    description: str = "",
) -> Traced:
    """Follows each entity of the arguments back to the sources.

    >>> from assay.verify.tools.tracing.sources import SourceText
    >>> seen = Sources([SourceText(SourceKind.USER, "user", "Cancel order W-17, please.")])
    >>> result = trace_arguments("cancel", {"order_id": "W-71"}, seen, ToolRule())
    >>> result.issues[0].code, result.issues[0].path
    ('tool.invented_identifier', '/order_id')
    """
    heeded = sources.heeded(frozenset(name_words(tool)))
    found = []
    for number, leaf in enumerate(leaves(arguments, schema)):
        if number >= MOST_LEAVES:
            message = f"The call has more than {MOST_LEAVES} values; at most so many are traced."
            return Traced((), (Issue(code="tool.unchecked", message=message, path=""),))
        found.append(leaf)
    call = _call(tool, description, arguments, found)
    provenance: list[ArgumentProvenance] = []
    issues: list[Issue] = []
    for leaf in found:
        argument_rule = rule.of(leaf.path)
        for entity in _entities(leaf, argument_rule):
            traced = _trace(entity, leaf, argument_rule, heeded, call)
            if traced.status is TraceStatus.UNTRACED and heeded is not sources:
                everywhere = _trace(entity, leaf, argument_rule, sources, call)
                traced = traced if everywhere.status is TraceStatus.UNTRACED else untraced(_UNHEEDED)
            provenance.append(_recorded(leaf, entity, traced))
            if traced.status is TraceStatus.UNTRACED and _refuses(entity, argument_rule):
                issues.append(_issue(leaf, entity, traced, argument_rule))
            if len(issues) >= MOST_UNTRACED:
                message = f"{MOST_UNTRACED} references of the call lead nowhere; the rest was not looked at."
                issues.append(Issue(code="tool.more", message=message, path=""))
                return Traced(tuple(provenance), tuple(issues))
    return Traced(tuple(provenance), tuple(issues))


def _call(tool: str, description: str, arguments: Mapping[str, Any], found: list[Leaf]) -> _Call:
    lengths = frozenset(len(member) for member in _lists(arguments))
    numbers = frozenset(
        abs(Decimal(str(leaf.value)))
        for leaf in found
        if isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
    )
    texts = (leaf.value for leaf in found if isinstance(leaf.value, str) and 4 <= len(leaf.value) <= 80)
    anchors = tuple(dict.fromkeys(text.lower() for text in texts if any(c.isdigit() for c in text)))[:_MOST_ANCHORS]
    said = (leaf.value for leaf in found if isinstance(leaf.value, str) and "enum" not in leaf.schema)
    names = dict.fromkeys(text.lower() for text in said if len(text) >= 3 and _unit(text) is None)
    places = tuple(names)[:_MOST_ANCHORS]
    return _Call(tool, description, lengths, numbers, _totals(found), places, anchors)


def _totals(found: list[Leaf]) -> dict[str, Decimal]:
    groups: dict[str, list[Decimal]] = {}
    for leaf in found:
        is_number = isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
        if is_number and any(isinstance(part, int) for part in leaf.path):
            groups.setdefault(_field(leaf.path), []).append(Decimal(str(leaf.value)))
    return {field: sum(values, Decimal(0)) for field, values in groups.items() if len(values) > 1}


def _field(path: Path) -> str:
    return pointer(tuple("*" if isinstance(part, int) else part for part in path))


def _lists(value: object) -> Iterator[list[Any]]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            yield item
        if isinstance(item, list | Mapping):
            stack.extend(item.values() if isinstance(item, Mapping) else item)


def _entities(leaf: Leaf, rule: ArgumentRule) -> tuple[Entity, ...]:
    if rule.tracing is Tracing.OFF:
        return (Entity(EntityKind.TEXT, leaf.value),)
    if rule.tracing is Tracing.VERBATIM and isinstance(leaf.value, str):
        return (Entity(EntityKind.NAME, leaf.value),)
    return entities(leaf)


def _refuses(entity: Entity, rule: ArgumentRule) -> bool:
    return entity.kind in rule.kinds or rule.tracing is Tracing.VERBATIM


def _trace(entity: Entity, leaf: Leaf, rule: ArgumentRule, sources: Sources, call: _Call) -> Trace:
    if rule.tracing is Tracing.OFF:
        return Trace(TraceStatus.SKIPPED, None, "the rule of this argument says so")
    if entity.kind is EntityKind.FLAG:
        return chosen("a choice, not a reference")
    entry = rule.allows(str(leaf.value)) or rule.allows(str(entity.value))
    if entry is not None:
        return Trace(TraceStatus.DECLARED, None, f"allowed by {as_quote(entry)}", SourceKind.ALLOWLIST)
    sources = sources.allowed(rule.origins)
    if entity.kind is EntityKind.UNIT:
        return _trace_unit(str(entity.value), leaf, sources, call)
    offered = _offered(leaf)
    if offered is not None:
        return offered
    if rule.tracing is Tracing.VERBATIM and isinstance(entity.value, str):
        return _verbatim(entity.value, sources)
    traced = _lead(entity, leaf, sources, call)
    return traced or _unled(entity, leaf, call)


def _offered(leaf: Leaf) -> Trace | None:
    """A value that the declaration itself offers."""
    schema = leaf.schema
    options = schema.get("enum")
    if isinstance(options, list) and leaf.value in options:
        return declared("one of the values that the tool declares")
    if "const" in schema and schema["const"] == leaf.value:
        return declared("the value that the tool declares")
    if "default" in schema and schema["default"] == leaf.value:
        return declared("the default that the tool declares")
    return None


def _verbatim(value: str, sources: Sources) -> Trace:
    words = squash(value)
    for text in sources:
        found = text.find(value.strip().lower()) or text.find_words(words)
        if found is not None:
            return Trace(TraceStatus.TRACED, found, "verbatim")
    return untraced("it must stand in what the user or a tool said, and does not")


def _lead(entity: Entity, leaf: Leaf, sources: Sources, call: _Call) -> Trace | None:
    if entity.kind is EntityKind.NUMBER:
        value = Decimal(str(entity.value).replace(",", ""))
        traced = trace_number(
            value,
            sources,
            NumberContext(leaf.name, call.lengths, call.numbers, call.totals.get(_field(leaf.path)), call.anchors),
        )
        return _in_its_unit(traced, leaf, call) if traced else None
    if entity.calendar is not None:
        traced = trace_calendar(entity.calendar, sources)
        if traced is not None:
            return traced
    declaration = f"{call.said} {leaf.schema.get('description', '')} {leaf.schema.get('default', '')}"
    return trace_text(str(entity.value), entity.kind, sources, declaration)


def _unled(entity: Entity, leaf: Leaf, call: _Call) -> Trace:
    """What becomes of an entity that no source leads to: a choice, a word of the declaration, or nothing."""
    text = str(entity.value)
    if entity.kind is EntityKind.TEXT:
        return chosen("words without a reference in them")
    if entity.kind is EntityKind.NUMBER and _is_choice(text, leaf):
        return chosen("the caller's own choice")
    if entity.kind is EntityKind.PATH and _names_new(leaf, call):
        return chosen("the name of something new")
    described = squash(str(leaf.schema.get("description", "")))
    if squash(text) and f" {squash(text)} " in f" {described} ":
        if entity.kind in (EntityKind.NUMBER, EntityKind.NAME, EntityKind.DATE):
            return declared("the argument's description")
        if entity.kind is EntityKind.IDENTIFIER and len(text) <= (4 if _EXAMPLE.search(described) else 8):
            return declared("one of the values that the argument's description names")
        return untraced("it stands only in the tool's description, as an example")
    return untraced("neither the user nor a tool result nor the system prompt has it, and nothing leads to it")


def _is_choice(text: str, leaf: Leaf) -> bool:
    value = Decimal(text.replace(",", ""))
    if abs(value) in (0, 1):
        return True
    if _KNOBS & set(name_words(leaf.name)) and abs(value) <= _MOST_TURNED:
        return True
    return value in _USUAL and bool(_PAGING & set(name_words(leaf.name)))


def _names_new(leaf: Leaf, call: _Call) -> bool:
    made = _MAKERS & set(name_words(call.tool))
    return bool(made or _NEW_THINGS & set(name_words(leaf.name))) and "/" not in str(leaf.value)


def _trace_unit(value: str, leaf: Leaf, sources: Sources, call: _Call) -> Trace:
    """A unit is wrong where the call has a number as a source wrote it, but in another unit of the same kind."""
    unit = _unit(value)
    if unit is not None:
        words = set(name_words(leaf.name))
        clash = None if _TARGETS & words else _clash(unit, sources, call.numbers)
        if clash is None and _ORIGINS & words:
            clash = _written_otherwise(unit, sources, call.numbers)
        elif clash is None and not _TARGETS & words:
            clash = _asked_otherwise(unit, sources, call.places)
        if clash is not None:
            return untraced(f'{as_quote(clash.source.id)} says "{clash.text[:60]}", in another unit')
    traced = trace_text(value, EntityKind.NAME, sources)
    if traced is not None:
        return traced
    for text in sources if unit is not None else ():
        for quantity in text.quantities:
            if unit is not None and (quantity.unit == unit.name or quantity.dimension == unit.dimension == unit.name):
                return derived("the unit of a quantity", Found(text, quantity.start, quantity.end))
    return _offered(leaf) or chosen("the caller's own choice of unit")


def _clash(unit: Unit, sources: Sources, numbers: frozenset[Decimal]) -> Found | None:
    """The place where a source has another unit of the same kind and no source has this one.

    None where a number of the call is such a quantity converted into the unit: then the model converted.
    """
    clash = None
    for text in sources:
        if not text.has_prose:
            continue
        if _mentions(text, unit):
            return None
        for quantity in text.quantities:
            if quantity.dimension != unit.dimension and not _both_money(quantity.dimension, unit.dimension):
                continue
            if quantity.low is not None and not unit.dimension.startswith("money:"):
                converted = (quantity.low - unit.offset) / unit.size
                if any(abs(converted - number) <= abs(number) / 100 for number in numbers):
                    return None
            clash = clash or Found(text, quantity.start, quantity.end)
        clash = clash or _other_unit(text, unit)
    return clash


def _written_otherwise(unit: Unit, sources: Sources, numbers: frozenset[Decimal]) -> Found | None:
    """The place where a number of the call stands with another unit of the same kind, where none has it with this one.

    What a value is converted from is the unit that it was given in, whatever other units the text names.
    """
    found = None
    for text in sources:
        for quantity in text.quantities if text.has_prose else ():
            if quantity.dimension != unit.dimension or abs(quantity.value) not in numbers:
                continue
            if quantity.unit == unit.name:
                return None
            found = found or Found(text, quantity.start, quantity.end)
    return found


def _asked_otherwise(unit: Unit, sources: Sources, places: tuple[str, ...]) -> Found | None:
    """The place where a sentence with the call's own texts asks for another unit of the same kind.

    Of several questions in one request each may want another unit. None where a sentence with these texts has the unit,
    or where no sentence has all of them.
    """
    found = None
    for text in sources:
        for start, end in _sentences(text) if text.has_prose and places else ():
            low = text.low[start:end]
            if not all(place in low for place in places):
                continue
            if any(f" {spelling} " in f" {squash(text.text[start:end])} " for spelling in _spellings(unit)):
                return None
            other = _other_unit(text, unit, start, end)
            found = found or other
    return found


def _sentences(text: SourceText) -> Iterator[tuple[int, int]]:
    at = 0
    for mark in _SENTENCE_END.finditer(text.low):
        yield at, mark.end()
        at = mark.end()
    yield at, len(text.low)


def _both_money(one: str, other: str) -> bool:
    return one.startswith("money:") and other.startswith("money:")


def _other_unit(text: SourceText, unit: Unit, start: int = 0, end: int | None = None) -> Found | None:
    """Another unit of the same kind that a text names without a number: "in miles", or a sentence of one word."""
    limit = len(text.low) if end is None else end
    for pattern in (_IN_UNIT, _BARE_UNIT):
        for match in pattern.finditer(text.low, start, limit):
            word = match.group(1)
            named = UNIT_WORDS.get(word) or (UNIT_SYMBOLS.get(word) if word in _SYMBOLS else None)
            if named is not None and named.dimension == unit.dimension and named.name != unit.name:
                return Found(text, *match.span(1))
    return None


def _mentions(text: SourceText, unit: Unit) -> bool:
    """Whether a text has the unit in any spelling."""
    if any(q.unit == unit.name or q.dimension == unit.dimension == f"money:{unit.name}" for q in text.quantities):
        return True
    return any(f" {spelling} " in text.squashed for spelling in _spellings(unit))


@lru_cache(maxsize=256)
def _spellings(unit: Unit) -> tuple[str, ...]:
    if unit.dimension.startswith("money:"):
        words = [word for word, code in CURRENCY_WORDS.items() if code == unit.name]
        return (*words, unit.name.lower(), *(_POUNDS if unit.name == "GBP" else ()))
    known = {**UNIT_WORDS, **{symbol: known for symbol, known in UNIT_SYMBOLS.items() if len(symbol) > 1}}
    return tuple({squash(word) for word, known_unit in known.items() if known_unit.name == unit.name} - {""})


_POUNDS: Final = ("pound", "pounds", "british pounds", "sterling")


def _in_its_unit(traced: Trace, leaf: Leaf, call: _Call) -> Trace:
    """Refuses a number taken over as it is for an argument whose name says another unit of the same kind."""
    words = name_words(leaf.name)
    unit = _unit(words[-1]) if len(words) > 1 and len(words[-1]) > 1 else None
    found = traced.found
    if unit is None or found is None or traced.status is not TraceStatus.TRACED or not found.source.has_prose:
        return traced
    for quantity in found.source.quantities:
        here = quantity.start <= found.start and found.end <= quantity.end
        other = quantity.unit != unit.name and quantity.dimension == unit.dimension
        if here and other and abs(quantity.value) in call.numbers:
            return untraced(f'{as_quote(found.source.id)} says "{found.text[:60]}", in another unit than {words[-1]}')
    return traced


def _unit(word: str) -> Unit | None:
    low = word.strip().lower()
    code = CURRENCY_WORDS.get(low) or (word.strip().upper() if len(low) == 3 and low.isalpha() else None)
    known = UNIT_SYMBOLS.get(word.strip()) or UNIT_WORDS.get(low) or KEY_UNITS.get(low)
    if known is not None:
        return known
    return Unit(f"money:{code}", Decimal(1), code) if code in _CODES and code is not None else None


_CODES: Final = CURRENCY_CODES


def _recorded(leaf: Leaf, entity: Entity, traced: Trace) -> ArgumentProvenance:
    found = traced.found
    return ArgumentProvenance(
        path=pointer(leaf.path),
        value=entity.value,
        kind=entity.kind,
        status=traced.status,
        span=Span(start=entity.span[0], end=entity.span[1]) if entity.span else None,
        source=found.source.kind if found else traced.source,
        source_id=found.source.id if found else None,
        source_span=found.span if found else None,
        source_text=found.text[:_LONGEST_QUOTE] if found else None,
        how=traced.how,
    )


_LONGEST_QUOTE: Final = 200
"""Characters of a source that a provenance repeats; its span names all of them."""


def _issue(leaf: Leaf, entity: Entity, traced: Trace, rule: ArgumentRule) -> Issue:
    where = pointer(leaf.path)
    wanted = "" if rule.origins is None else f" (it may come from: {', '.join(sorted(rule.origins))})"
    message = f"The {_NOUNS[entity.kind]} {as_quote(entity.value)} at {where} comes from nowhere: {traced.how}{wanted}."
    return Issue(code=f"tool.invented_{entity.kind.value}", message=message, path=where)
