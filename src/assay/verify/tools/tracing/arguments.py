"""Traces every entity of a call's arguments: where it comes from, or why it is refused."""

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
from assay.verify.tools.tracing.calendar_dates import trace_calendar_entity
from assay.verify.tools.tracing.numbers import trace_number
from assay.verify.tools.tracing.sources import SourcePlace, Sources, SourceText, normalise_words
from assay.verify.tools.tracing.texts import trace_text
from assay.verify.tools.tracing.trace import Trace, chosen, declared, derived, untraced
from assay.verify.tools.tracing_rules import ArgumentRule, ToolRule, Tracing

MOST_UNTRACED: Final = 40
"""After so many refused entities of one call the rest is not traced; the call is rejected anyway."""

_PAGING_NAMES: Final = word_set(
    """limit page pages perpage offset top topk results timeout retries seed decimals decimal round rounding precision
    skip index start count size"""
)
_USUAL_NUMBERS: Final = frozenset({2, 3, 4, 5, 10, 12, 15, 20, 25, 30, 42, 50, 60, 100, 200, 250, 500, 1000})
"""Numbers that a caller may choose freely for arguments with a name of `_PAGING`."""

_IN_UNIT: Final = re.compile(r"\bin (?:degrees )?([a-z]{2,12})\b")
_UNIT_ALONE: Final = re.compile(r"(?:^|[.?!\n;])\s*([a-z]{4,12})\s*(?=$|[.?!\n;])")
_SYMBOLS: Final = frozenset({"km", "cm", "mm", "mi", "ft", "kg", "lb", "lbs", "oz", "mph", "kmh"})
"""Symbols of units that are not words otherwise."""
_SENTENCE_END: Final = re.compile(r"[.?!;](?=\s|$)|\n|,\s(?=(?:and |then )?i\b)")
_EXAMPLE: Final = re.compile(r"\b(?:e g|eg|example|examples|such as|for instance|like)\b")
_TARGET_NAMES: Final = frozenset({"to", "target", "into", "output", "dest", "destination", "desired", "quote", "new"})
_ORIGIN_NAMES: Final = frozenset({"from", "source", "origin"})
_SETTING_NAMES: Final = frozenset(
    {"threshold", "tolerance", "confidence", "similarity", "temperature", "epsilon", "dropout"}
)
"""Names of settings of a model or a search, which a caller may choose freely up to `_LARGEST_SETTING`."""
_LARGEST_SETTING: Final = 2

_EXCLUDED: Final = "it stands only in what the user rules out, or in what a text tells the model to do"
_MOST_ANCHORS: Final = 12
_NEW_NAMES: Final = frozenset({"new", "output", "out", "dest", "destination", "target", "save", "export", "create"})
_CREATING_WORDS: Final = word_set("create touch mkdir make new save export write generate add copy cp mv move")
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
class ArgumentTrace:
    """The provenance of a call's arguments, and the issues of refused entities."""

    provenance: tuple[ArgumentProvenance, ...]
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """The context of a call that tracing its entities needs."""

    tool: str
    description: str
    """The tool's description."""
    lengths: frozenset[int]
    """The lengths of the lists among the arguments."""
    numbers: frozenset[Decimal]
    """The numbers among the arguments, without signs."""
    totals: Mapping[str, Decimal]
    """The sum of each numeric field over the items of its list, by the field's path with stars for the items."""
    places: tuple[str, ...]
    """The texts among the arguments that are not units, in lower case: the subject of the call."""
    anchors: tuple[str, ...]
    """The texts among the arguments with a digit, in lower case: identifiers of the records that the call is about."""


def trace_arguments(
    tool: str,
    arguments: Mapping[str, Any],
    sources: Sources,
    rule: ToolRule,
    schema: Mapping[str, Any] | None = None,
    description: str = "",
) -> ArgumentTrace:
    """Trace each entity of the arguments to the sources.

    >>> from assay.verify.tools.tracing.sources import SourceText
    >>> seen = Sources([SourceText(SourceKind.USER, "user", "Cancel order W-17, please.")])
    >>> result = trace_arguments("cancel", {"order_id": "W-71"}, seen, ToolRule())
    >>> result.issues[0].code, result.issues[0].path
    ('tool.invented_identifier', '/order_id')
    """
    usable = sources.without_excluded(frozenset(name_words(tool)))
    values = []
    for number, leaf in enumerate(leaves(arguments, schema)):
        if number >= MOST_LEAVES:
            message = f"The call has more than {MOST_LEAVES} values; at most so many are traced."
            return ArgumentTrace((), (Issue(code="tool.unchecked", message=message, path=""),))
        values.append(leaf)
    call = _call(tool, description, arguments, values)
    provenance: list[ArgumentProvenance] = []
    issues: list[Issue] = []
    for leaf in values:
        argument_rule = rule.rule_for(leaf.path)
        for entity in _entities(leaf, argument_rule):
            trace = _trace(entity, leaf, argument_rule, usable, call)
            if trace.status is TraceStatus.UNTRACED and usable is not sources:
                unrestricted = _trace(entity, leaf, argument_rule, sources, call)
                trace = trace if unrestricted.status is TraceStatus.UNTRACED else untraced(_EXCLUDED)
            provenance.append(_provenance(leaf, entity, trace))
            if trace.status is TraceStatus.UNTRACED and _refuses(entity, argument_rule):
                issues.append(_issue(leaf, entity, trace, argument_rule))
            if len(issues) >= MOST_UNTRACED:
                message = f"{MOST_UNTRACED} references of the call lead nowhere; the rest was not looked at."
                issues.append(Issue(code="tool.more", message=message, path=""))
                return ArgumentTrace(tuple(provenance), tuple(issues))
    return ArgumentTrace(tuple(provenance), tuple(issues))


def _call(tool: str, description: str, arguments: Mapping[str, Any], values: list[Leaf]) -> _Call:
    lengths = frozenset(len(member) for member in _lists(arguments))
    numbers = frozenset(
        abs(Decimal(str(leaf.value)))
        for leaf in values
        if isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
    )
    texts = (leaf.value for leaf in values if isinstance(leaf.value, str) and 4 <= len(leaf.value) <= 80)
    anchors = tuple(dict.fromkeys(text.lower() for text in texts if any(c.isdigit() for c in text)))[:_MOST_ANCHORS]
    free_texts = (leaf.value for leaf in values if isinstance(leaf.value, str) and "enum" not in leaf.schema)
    names = dict.fromkeys(text.lower() for text in free_texts if len(text) >= 3 and _unit(text) is None)
    places = tuple(names)[:_MOST_ANCHORS]
    return _Call(tool, description, lengths, numbers, _totals(values), places, anchors)


def _totals(scalars: list[Leaf]) -> dict[str, Decimal]:
    groups: dict[str, list[Decimal]] = {}
    for leaf in scalars:
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
    declared_trace = _trace_declared(leaf)
    if declared_trace is not None:
        return declared_trace
    if rule.tracing is Tracing.VERBATIM and isinstance(entity.value, str):
        return _trace_verbatim(entity.value, sources)
    trace = _trace_to_source(entity, leaf, sources, call)
    return trace or _trace_without_source(entity, leaf, call)


def _trace_declared(leaf: Leaf) -> Trace | None:
    """The trace of a value that the declaration itself gives."""
    schema = leaf.schema
    options = schema.get("enum")
    if isinstance(options, list) and leaf.value in options:
        return declared("one of the values that the tool declares")
    if "const" in schema and schema["const"] == leaf.value:
        return declared("the value that the tool declares")
    if "default" in schema and schema["default"] == leaf.value:
        return declared("the default that the tool declares")
    return None


def _trace_verbatim(value: str, sources: Sources) -> Trace:
    words = normalise_words(value)
    for text in sources:
        place = text.find(value.strip().lower()) or text.find_words(words)
        if place is not None:
            return Trace(TraceStatus.TRACED, place, "verbatim")
    return untraced("it must stand in what the user or a tool said, and does not")


def _trace_to_source(entity: Entity, leaf: Leaf, sources: Sources, call: _Call) -> Trace | None:
    if entity.kind is EntityKind.NUMBER:
        value = Decimal(str(entity.value).replace(",", ""))
        trace = trace_number(
            value,
            sources,
            NumberContext(leaf.name, call.lengths, call.numbers, call.totals.get(_field(leaf.path)), call.anchors),
        )
        return _check_name_unit(trace, leaf, call) if trace else None
    if entity.calendar is not None:
        trace = trace_calendar_entity(entity.calendar, sources)
        if trace is not None:
            return trace
    declaration = f"{call.description} {leaf.schema.get('description', '')} {leaf.schema.get('default', '')}"
    return trace_text(str(entity.value), entity.kind, sources, declaration)


def _trace_without_source(entity: Entity, leaf: Leaf, call: _Call) -> Trace:
    """The trace of an entity without a source: a free choice, a word of the declaration, or untraced."""
    text = str(entity.value)
    if entity.kind is EntityKind.TEXT:
        return chosen("words without a reference in them")
    if entity.kind is EntityKind.NUMBER and _is_choice(text, leaf):
        return chosen("the caller's own choice")
    if entity.kind is EntityKind.PATH and _names_new(leaf, call):
        return chosen("the name of something new")
    description = normalise_words(str(leaf.schema.get("description", "")))
    if normalise_words(text) and f" {normalise_words(text)} " in f" {description} ":
        if entity.kind in (EntityKind.NUMBER, EntityKind.NAME, EntityKind.DATE):
            return declared("the argument's description")
        if entity.kind is EntityKind.IDENTIFIER and len(text) <= (4 if _EXAMPLE.search(description) else 8):
            return declared("one of the values that the argument's description names")
        return untraced("it stands only in the tool's description, as an example")
    return untraced("neither the user nor a tool result nor the system prompt has it, and nothing leads to it")


def _is_choice(text: str, leaf: Leaf) -> bool:
    value = Decimal(text.replace(",", ""))
    if abs(value) in (0, 1):
        return True
    if _SETTING_NAMES & set(name_words(leaf.name)) and abs(value) <= _LARGEST_SETTING:
        return True
    return value in _USUAL_NUMBERS and bool(_PAGING_NAMES & set(name_words(leaf.name)))


def _names_new(leaf: Leaf, call: _Call) -> bool:
    made = _CREATING_WORDS & set(name_words(call.tool))
    return bool(made or _NEW_NAMES & set(name_words(leaf.name))) and "/" not in str(leaf.value)


def _trace_unit(value: str, leaf: Leaf, sources: Sources, call: _Call) -> Trace:
    """Trace a unit; it is refused where the sources give or ask for another unit of the same dimension."""
    unit = _unit(value)
    if unit is not None:
        words = set(name_words(leaf.name))
        clash = None if _TARGET_NAMES & words else _unit_clash(unit, sources, call.numbers)
        if clash is None and _ORIGIN_NAMES & words:
            clash = _stated_in_other_unit(unit, sources, call.numbers)
        elif clash is None and not _TARGET_NAMES & words:
            clash = _asked_for_other_unit(unit, sources, call.places)
        if clash is not None:
            return untraced(f'{as_quote(clash.source.id)} says "{clash.text[:60]}", in another unit')
    trace = trace_text(value, EntityKind.NAME, sources)
    if trace is not None:
        return trace
    for text in sources if unit is not None else ():
        for quantity in text.quantities:
            if unit is not None and (quantity.unit == unit.name or quantity.dimension == unit.dimension == unit.name):
                return derived("the unit of a quantity", SourcePlace(text, quantity.start, quantity.end))
    return _trace_declared(leaf) or chosen("the caller's own choice of unit")


def _unit_clash(unit: Unit, sources: Sources, numbers: frozenset[Decimal]) -> SourcePlace | None:
    """The place where a source has another unit of the same dimension, if no source has this one.

    None where a number of the call is such a quantity converted into the unit: then the model converted it.
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
            clash = clash or SourcePlace(text, quantity.start, quantity.end)
        clash = clash or _other_unit(text, unit)
    return clash


def _stated_in_other_unit(unit: Unit, sources: Sources, numbers: frozenset[Decimal]) -> SourcePlace | None:
    """The place where a number of the call has another unit of the same dimension, if no source has it with this one.

    A value is converted from the unit that it is stated in, whatever other units the text mentions.
    """
    place = None
    for text in sources:
        for quantity in text.quantities if text.has_prose else ():
            if quantity.dimension != unit.dimension or abs(quantity.value) not in numbers:
                continue
            if quantity.unit == unit.name:
                return None
            place = place or SourcePlace(text, quantity.start, quantity.end)
    return place


def _asked_for_other_unit(unit: Unit, sources: Sources, places: tuple[str, ...]) -> SourcePlace | None:
    """The place where a sentence with the call's own texts asks for another unit of the same dimension.

    Each of several questions in one request may ask for another unit. None where a sentence with these texts has the
    unit, or where no sentence has all of them.
    """
    place = None
    for text in sources:
        for start, end in _sentences(text) if text.has_prose and places else ():
            lowercase = text.lowercase[start:end]
            if not all(place in lowercase for place in places):
                continue
            if any(f" {spelling} " in f" {normalise_words(text.text[start:end])} " for spelling in _spellings(unit)):
                return None
            other = _other_unit(text, unit, start, end)
            place = place or other
    return place


def _sentences(text: SourceText) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _SENTENCE_END.finditer(text.lowercase):
        yield start, mark.end()
        start = mark.end()
    yield start, len(text.lowercase)


def _both_money(first: str, second: str) -> bool:
    return first.startswith("money:") and second.startswith("money:")


def _other_unit(text: SourceText, unit: Unit, start: int = 0, end: int | None = None) -> SourcePlace | None:
    """Another unit of the same dimension that a text names without a number: "in miles", or a sentence of one word."""
    limit = len(text.lowercase) if end is None else end
    for pattern in (_IN_UNIT, _UNIT_ALONE):
        for match in pattern.finditer(text.lowercase, start, limit):
            word = match.group(1)
            named = UNIT_WORDS.get(word) or (UNIT_SYMBOLS.get(word) if word in _SYMBOLS else None)
            if named is not None and named.dimension == unit.dimension and named.name != unit.name:
                return SourcePlace(text, *match.span(1))
    return None


def _mentions(text: SourceText, unit: Unit) -> bool:
    """Whether a text has the unit in any spelling."""
    if any(q.unit == unit.name or q.dimension == unit.dimension == f"money:{unit.name}" for q in text.quantities):
        return True
    return any(f" {spelling} " in text.normal_words for spelling in _spellings(unit))


@lru_cache(maxsize=256)
def _spellings(unit: Unit) -> tuple[str, ...]:
    if unit.dimension.startswith("money:"):
        words = [word for word, code in CURRENCY_WORDS.items() if code == unit.name]
        return (*words, unit.name.lower(), *(_POUNDS if unit.name == "GBP" else ()))
    known = {**UNIT_WORDS, **{symbol: known for symbol, known in UNIT_SYMBOLS.items() if len(symbol) > 1}}
    return tuple({normalise_words(word) for word, known_unit in known.items() if known_unit.name == unit.name} - {""})


_POUNDS: Final = ("pound", "pounds", "british pounds", "sterling")


def _check_name_unit(trace: Trace, leaf: Leaf, call: _Call) -> Trace:
    """Refuse a number that is copied without conversion into an argument whose name has another unit."""
    words = name_words(leaf.name)
    unit = _unit(words[-1]) if len(words) > 1 and len(words[-1]) > 1 else None
    place = trace.place
    if unit is None or place is None or trace.status is not TraceStatus.TRACED or not place.source.has_prose:
        return trace
    for quantity in place.source.quantities:
        inside = quantity.start <= place.start and place.end <= quantity.end
        other = quantity.unit != unit.name and quantity.dimension == unit.dimension
        if inside and other and abs(quantity.value) in call.numbers:
            return untraced(f'{as_quote(place.source.id)} says "{place.text[:60]}", in another unit than {words[-1]}')
    return trace


def _unit(word: str) -> Unit | None:
    lowercase_word = word.strip().lower()
    code = CURRENCY_WORDS.get(lowercase_word) or (
        word.strip().upper() if len(lowercase_word) == 3 and lowercase_word.isalpha() else None
    )
    known = UNIT_SYMBOLS.get(word.strip()) or UNIT_WORDS.get(lowercase_word) or KEY_UNITS.get(lowercase_word)
    if known is not None:
        return known
    return Unit(f"money:{code}", Decimal(1), code) if code in _CODES and code is not None else None


_CODES: Final = CURRENCY_CODES


def _provenance(leaf: Leaf, entity: Entity, trace: Trace) -> ArgumentProvenance:
    place = trace.place
    return ArgumentProvenance(
        path=pointer(leaf.path),
        value=entity.value,
        kind=entity.kind,
        status=trace.status,
        span=Span(start=entity.span[0], end=entity.span[1]) if entity.span else None,
        source=place.source.kind if place else trace.source,
        source_id=place.source.id if place else None,
        source_span=place.span if place else None,
        source_text=place.text[:_LONGEST_QUOTE] if place else None,
        how=trace.how,
    )


_LONGEST_QUOTE: Final = 200
"""Characters of a source that a provenance repeats; its span covers all of them."""


def _issue(leaf: Leaf, entity: Entity, trace: Trace, rule: ArgumentRule) -> Issue:
    path = pointer(leaf.path)
    origins = "" if rule.origins is None else f" (it may come from: {', '.join(sorted(rule.origins))})"
    message = f"The {_NOUNS[entity.kind]} {as_quote(entity.value)} at {path} comes from nowhere: {trace.how}{origins}."
    return Issue(code=f"tool.invented_{entity.kind.value}", message=message, path=path)
