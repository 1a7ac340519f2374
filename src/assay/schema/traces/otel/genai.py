"""Reads OpenTelemetry GenAI spans: the `gen_ai.*` attributes of inference, agent, tool and retrieval spans.

The form is that of the semantic conventions for generative AI (schema 1.42, in development): messages with `parts`
under `gen_ai.input.messages` and `gen_ai.output.messages`, `gen_ai.system_instructions`, `gen_ai.tool.definitions`,
`gen_ai.retrieval.documents`, and `execute_tool` spans. Spans come as OTLP JSON, as the JSON of the Python SDK, or as
bare messages; attributes as JSON or as JSON text. Events of a span, which may carry the messages instead, are read like
its attributes.

Each inference span repeats the conversation so far. What a span repeats of an earlier one is read once; where it does
not continue any earlier one, all of it is read: evidence may then come twice, and never not at all.
"""

import json
import re
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from assay.errors import InputError
from assay.schema.run.json_values import Fault, parse_json, plain_json
from assay.schema.run.model import Opaque, Step, SystemPrompt, ToolCall, ToolDeclaration, ToolResult
from assay.schema.traces.content import read_part
from assay.schema.traces.fields import numbered
from assay.schema.traces.otel.messages import read_document, read_either_arguments, read_message, result_fields_of
from assay.schema.traces.otel.spans import Span, spans_of
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.tools import read_tools

NAME = "otel_genai"
"""The name of the format."""

_TRAILING: Final = re.compile(r'(?:\s|\\[nrt])+(?=")')
"""White space before a quotation mark in JSON, escaped or not."""
_WRAPPERS: Final = frozenset({"invoke_agent", "invoke_workflow", "create_agent"})
"""Operations whose output is that of a span inside of them."""


def read(value: Any, place: str = "") -> ReadTrace:
    """Reads spans in any of their forms, or a bare list of messages with `parts`."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "parts" in item for item in value):
        return ReadTrace([step for where, message in numbered(value, place) for step in read_message(message, where)])
    spans, around = spans_of(value, place)
    trace = _Trace()
    for span, ends in _moments(spans):
        if ends:
            trace.end(span)
        else:
            trace.start(span)
    extra: dict[str, Any] = {"spans": [span.beside() for span in spans]}
    if around:
        extra["around"] = around
    run_id = next((span.trace_id for span in spans if span.trace_id), None)
    return ReadTrace(trace.steps, faults=trace.faults, extra=extra, run_id=run_id)


def _moments(spans: list[Span]) -> list[tuple[Span, bool]]:
    """The starts and ends of spans in time: an agent's span starts before the spans inside of it and ends behind them.

    Where any span is without its times, all are read in the order in which they stand.
    """
    if any(span.start is None or span.end is None for span in spans):
        return [(span, ends) for span in spans for ends in (False, True)]
    moments: list[tuple[int, int, int, bool]] = []
    for index, span in enumerate(spans):
        start, end = span.start or 0, span.end or 0
        moments.append((start, 1, index, False))
        # Of an end and a start at the same moment the end comes first, unless they are of the same span.
        moments.append((end, 0, index, True) if end > start else (start, 1, index, True))
    return [(spans[index], ends) for _, _, index, ends in sorted(moments)]


MOST_HISTORIES: Final = 64
"""How many conversations of one trace are held side by side; a span that continues an older one is read whole."""


class _Trace:
    """The steps so far, and what later spans may repeat of them."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.faults: list[Fault] = []
        self._histories: deque[list[str]] = deque(maxlen=MOST_HISTORIES)
        self._of_span: dict[str, list[str]] = {}
        self._contents: dict[tuple[str, str], set[str]] = {}

    def start(self, span: Span) -> None:
        """Reads the inputs of a span."""
        tools, where = self._decoded(span, "gen_ai.tool.definitions")
        self._add(read_tools(tools, where))
        system, where = self._decoded(span, "gen_ai.system_instructions")
        if system:
            faults: list[Fault] = []
            content = tuple(read_part(part, place, faults) for place, part in numbered(system, where))
            self._add([SystemPrompt(content=content, place=where, faults=tuple(faults))])
        messages, where = self._decoded(span, "gen_ai.input.messages")
        if messages:
            self._read_input(span, messages, where)
        if span.operation == "execute_tool":
            self._read_execution(span)

    def end(self, span: Span) -> None:
        """Reads the outputs of a span."""
        messages, where = self._decoded(span, "gen_ai.output.messages")
        if messages:
            self._read_output(span, messages, where)
        documents, where = self._decoded(span, "gen_ai.retrieval.documents")
        self._add(read_document(document, place) for place, document in numbered(documents, where))
        if span.operation == "execute_tool":
            self._read_return(span)

    def _decoded(self, span: Span, key: str) -> tuple[list[Any], str]:
        """Takes an attribute that is an array, as JSON or as JSON text; one that was cut off is kept as it came."""
        found = span.take(key)
        if found is None:
            return [], span.place
        value, where = found
        if isinstance(value, str):
            try:
                plain = plain_json(parse_json(value, f"the attribute {key}"))
            except InputError as error:
                fault = Fault(code="item.invalid_json", message=str(error), place=where)
                self.steps.append(Opaque(type=key, value=value, place=where, faults=(fault,)))
                return [], where
            self.faults += [fault.model_copy(update={"place": f"{where}{fault.place}"}) for fault in plain.faults]
            value = plain.value
        return value if isinstance(value, list) else [value], where

    def _read_input(self, span: Span, messages: list[Any], where: str) -> None:
        keys = [_key(message) for message in messages]
        known, best = 0, list[str]()
        for history in self._histories:
            overlap = _overlap(history, keys)
            if overlap > known:
                known, best = overlap, history
        if not known:
            self._histories.append(best)
        self._emit(numbered(messages, where)[known:])
        best += keys[known:]
        self._of_span[span.place] = best

    def _read_output(self, span: Span, messages: list[Any], where: str) -> None:
        keys = [_key(message) for message in messages]
        if span.operation in _WRAPPERS:
            values = [_loosely(key) for key in keys]
            if any([_loosely(key) for key in history[-len(keys) :]] == values for history in self._histories):
                return
        self._emit(numbered(_with_reasons(span, messages), where))
        if span.place not in self._of_span:
            self._histories.append([])
            self._of_span[span.place] = self._histories[-1]
        self._of_span[span.place] += keys

    def _read_execution(self, span: Span) -> None:
        call_id = span.text("gen_ai.tool.call.id")
        name = span.text("gen_ai.tool.name") or ""
        attribute = span.take("gen_ai.tool.call.arguments")
        if attribute is None and call_id is not None and ("call", call_id) in self._contents:
            return
        arguments = read_either_arguments(None if attribute is None else attribute[0])
        kind = span.text("gen_ai.tool.type") or "function"
        self._add([ToolCall(id=call_id, name=name, arguments=arguments, type=kind, place=span.place)])

    def _read_return(self, span: Span) -> None:
        result = span.take("gen_ai.tool.call.result")
        if result is None and not span.failed:
            return
        result_fields = {} if result is None else result_fields_of(result[0])
        name, call_id = span.text("gen_ai.tool.name"), span.text("gen_ai.tool.call.id")
        failed = True if span.failed else None
        self._add([ToolResult(call_id=call_id, name=name, is_error=failed, place=span.place, **result_fields)])

    def _emit(self, messages: Iterable[tuple[str, Any]]) -> None:
        for where, message in messages:
            self._add(read_message(message, where))

    def _add(self, steps: Iterable[Step]) -> None:
        """Adds steps; what several spans report alike comes once, what they report differently gets a fault."""
        for step in steps:
            identity = _identity(step)
            if identity is not None:
                subject, content = identity
                known = self._contents.setdefault(subject, set())
                if content in known:
                    continue
                if known and subject[0] in ("call", "result"):
                    fault = Fault(
                        code="span.differs",
                        message=f"another span tells this {subject[0]} differently",
                        place=step.place,
                    )
                    self.steps.append(step.model_copy(update={"faults": (*step.faults, fault)}))
                else:
                    self.steps.append(step)
                known.add(content)
            else:
                self.steps.append(step)


def _with_reasons(span: Span, messages: list[Any]) -> list[Any]:
    """The output messages with finish reasons, those of the span where they have none; `error` in a failed span."""
    reason = span.attributes.get("gen_ai.response.finish_reasons", (None, ""))[0]
    reasons = reason if isinstance(reason, list) else []
    return [
        _with_reason(message, reasons[index] if index < len(reasons) else None, span.failed)
        for index, message in enumerate(messages)
    ]


def _with_reason(message: Any, span_reason: Any, failed: bool) -> Any:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    reason = message.get("finish_reason") or (span_reason if isinstance(span_reason, str) else None)
    if failed and reason in (None, "stop"):
        reason = "error"
    return message if reason is None else {**message, "finish_reason": reason}


def _identity(step: Step) -> tuple[tuple[str, str], str] | None:
    """What a step is about, and its content; none for a step that may legitimately occur twice."""
    match step:
        case ToolCall(id=str(number)):
            arguments = step.arguments.verbatim if step.arguments.value is None else _canonical(step.arguments.value)
            return ("call", number), f"{step.name} {arguments} {_canonical(step.extra)}"
        case ToolResult(call_id=str(number)):
            return ("result", number), f"{_canonical(_parsed(step.text))} {_canonical(step.extra)}"
        case SystemPrompt():
            return ("system", ""), step.model_dump_json(include={"content"})
        case ToolDeclaration():
            return ("tool", step.name), step.model_dump_json(exclude={"place", "faults"})
        case _:
            return None


def _key(message: Any) -> str:
    """Identifies a message by everything but its finish reason, which only outputs have."""
    if isinstance(message, dict):
        message = {key: value for key, value in message.items() if key != "finish_reason" and value is not None}
    return _canonical(message)


def _loosely(key: str) -> str:
    """A key without white space before quotation marks: an agent may repeat a model's answer with a line end added.

    >>> _loosely('{"content": "Here. \\\\n"}')
    '{"content":"Here."}'
    """
    return _TRAILING.sub("", key)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _parsed(text: str) -> Any:
    try:
        return parse_json(text, "a result")
    except InputError:
        return text


def _overlap(history: list[str], keys: list[str]) -> int:
    """How many messages at the start of `keys` are those at the end of `history` (Knuth, Morris and Pratt)."""
    if not keys:
        return 0
    failure = [0] * len(keys)
    matched = 0
    for index in range(1, len(keys)):
        while matched and keys[index] != keys[matched]:
            matched = failure[matched - 1]
        matched += keys[index] == keys[matched]
        failure[index] = matched
    matched = 0
    for key in history[-len(keys) :]:
        while matched and key != keys[matched]:
            matched = failure[matched - 1]
        matched += key == keys[matched]
    return matched
