"""Spans of OpenTelemetry in their written forms: OTLP JSON, and the JSON of the Python SDK."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from assay.schema.run.json_values import escaped
from assay.schema.traces.fields import numbered

_GROUPS: Final = ("resourceSpans", "scopeSpans", "spans")
"""The levels of OTLP JSON around spans."""

_NANOSECONDS: Final = 1_000_000_000


@dataclass(slots=True)
class Span:
    """One span; its attributes are taken one by one, and the rest is kept beside the steps of the run."""

    place: str
    attributes: dict[str, tuple[Any, str]]
    """Each with its place in the transcript; those of its events among them."""
    rest: dict[str, Any]
    """Its other fields."""
    operation: str | None = None
    """Its `gen_ai.operation.name`."""
    start: int | None = None
    """Nanoseconds since 1970."""
    end: int | None = None
    trace_id: str | None = None
    taken: set[str] = field(default_factory=set)

    def take(self, key: str) -> tuple[Any, str] | None:
        """Takes an attribute, with its place."""
        found = self.attributes.get(key)
        if found is not None:
            self.taken.add(key)
        return found

    def text(self, key: str) -> str | None:
        """An attribute that is a text; without taking it."""
        found = self.attributes.get(key)
        return found[0] if found is not None and isinstance(found[0], str) else None

    @property
    def failed(self) -> bool:
        """Whether it reports that its operation failed."""
        status = self.rest.get("status")
        code = status.get("code", status.get("status_code")) if isinstance(status, dict) else None
        return "error.type" in self.attributes or code in (2, "STATUS_CODE_ERROR", "ERROR")

    def beside(self) -> dict[str, Any]:
        """Everything of the span that is in no step."""
        left = {key: value for key, (value, _) in self.attributes.items() if key not in self.taken}
        return {"place": self.place, **self.rest, "attributes": left}


def spans_of(value: Any, place: str) -> tuple[list[Span], list[Any]]:
    """The spans in any nesting of OTLP groups and arrays, in order; and the groups around them without their spans."""
    found: list[Span] = []
    around: list[Any] = []
    stack = [(place, value)]
    while stack:
        where, item = stack.pop()
        if isinstance(item, list):
            stack += reversed(numbered(item, where))
            continue
        groups = [key for key in _GROUPS if isinstance(item, dict) and isinstance(item.get(key), list)]
        if groups:
            stack += [(f"{where}/{key}", item[key]) for key in reversed(groups)]
            rest = {key: member for key, member in item.items() if key not in groups}
            around += [rest] if rest else []
        elif isinstance(item, dict):
            found.append(_read_span(item, where))
        else:
            around.append(item)
    return found, around


def spans_by_trace(value: Any) -> dict[str, list[dict[str, Any]]]:
    """The spans of one export as they stand, by the trace that they are of; spans without one are of the trace ``""``.

    Args:
        value: spans in any nesting of OTLP groups and arrays.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, dict):
            groups = [key for key in _GROUPS if isinstance(item.get(key), list)]
            if groups:
                stack += [item[key] for key in reversed(groups)]
            else:
                found.setdefault(_trace_id(item) or "", []).append(item)
    return found


def _trace_id(item: dict[str, Any]) -> str | None:
    context = item.get("context") if isinstance(item.get("context"), dict) else item
    trace_id = context.get("traceId", context.get("trace_id")) if isinstance(context, dict) else None
    return trace_id if isinstance(trace_id, str) else None


def _read_span(item: dict[str, Any], place: str) -> Span:
    rest = {key: value for key, value in item.items() if key not in ("attributes", "events")}
    attributes, odd = _read_attributes(item.get("attributes"), f"{place}/attributes")
    if odd:
        rest["attributes_unread"] = odd
    events = []
    for where, event in numbered(_list(item.get("events")), f"{place}/events"):
        more, odd = _read_attributes(
            event.get("attributes") if isinstance(event, dict) else None, f"{where}/attributes"
        )
        news = {key: pair for key, pair in more.items() if key.startswith("gen_ai.") and key not in attributes}
        attributes |= news
        if not isinstance(event, dict):
            events.append(event)
            continue
        left = {key: value for key, (value, _) in more.items() if key not in news}
        events.append({**event, "attributes": left, **({"attributes_unread": odd} if odd else {})})
    if events or (item.get("events") and not isinstance(item.get("events"), list)):
        rest["events"] = events or item.get("events")
    operation = attributes.get("gen_ai.operation.name", (None, ""))[0]
    return Span(
        place=place,
        attributes=attributes,
        rest=rest,
        operation=operation if isinstance(operation, str) else None,
        start=_nanoseconds(item.get("startTimeUnixNano", item.get("start_time"))),
        end=_nanoseconds(item.get("endTimeUnixNano", item.get("end_time"))),
        trace_id=_trace_id(item),
    )


def _read_attributes(raw: Any, place: str) -> tuple[dict[str, tuple[Any, str]], list[Any]]:
    """Attributes by name, and what could not be read as one: OTLP writes pairs, the SDK an object."""
    if isinstance(raw, dict):
        return {key: (value, f"{place}/{escaped(key)}") for key, value in raw.items()}, []
    found: dict[str, tuple[Any, str]] = {}
    odd: list[Any] = [raw] if raw is not None and not isinstance(raw, list) else []
    for where, pair in numbered(_list(raw), place):
        key = pair.get("key") if isinstance(pair, dict) else None
        if isinstance(key, str) and key not in found:
            found[key] = (_any_value(pair.get("value")), f"{where}/value")
        else:
            odd.append(pair)
            continue
        if len(pair) > 2:
            odd.append(pair)
    return found, odd


def _any_value(value: Any) -> Any:
    """The JSON of an OTLP value; anything else stays as it came."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    match kind, inner:
        case (("stringValue" | "boolValue" | "doubleValue"), _):
            return inner
        case "intValue", str() if len(inner) <= 20 and inner.removeprefix("-").isdecimal():
            return int(inner)
        case "intValue", int():
            return inner
        case "arrayValue", {"values": list(items)} if len(inner) == 1:
            return [_any_value(item) for item in items]
        case "kvlistValue", {"values": list(pairs)} if len(inner) == 1 and _are_pairs(pairs):
            return {pair["key"]: _any_value(pair["value"]) for pair in pairs}
        case _:
            return value


def _are_pairs(pairs: list[Any]) -> bool:
    """Whether each is a name with a value, and no name comes twice."""
    if not all(isinstance(pair, dict) and pair.keys() == {"key", "value"} for pair in pairs):
        return False
    names = [pair["key"] for pair in pairs]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _nanoseconds(written: Any) -> int | None:
    if isinstance(written, int) and not isinstance(written, bool):
        return written
    if not isinstance(written, str) or len(written) > 40:
        return None
    if written.isascii() and written.isdigit():
        return int(written)
    try:
        moment = datetime.fromisoformat(written)
        # A time without a zone is UTC: the zone of this machine would make reading depend on where it runs.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * _NANOSECONDS)
    except (ValueError, OverflowError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
