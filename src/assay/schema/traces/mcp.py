"""Reads MCP tool calls: the JSON-RPC messages between a client and its servers, or their bare parameters and results.

The form is that of the Model Context Protocol up to version 2026-07-28: `tools/list` with `inputSchema` and
`outputSchema`, `tools/call` with an object of arguments, results with `content`, `structuredContent` and `isError`.
Embedded resources and what `resources/read` returns become passages. The id of a call is the id of its request.
"""

from typing import Any, Final

from assay.schema.run.arguments import read_argument_object
from assay.schema.run.model import Part, Passage, Step, ToolCall, ToolResult
from assay.schema.traces.content import opaque, read_part
from assay.schema.traces.fields import Fields, merged, numbered
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.tools import read_tools

NAME = "mcp"
"""The name of the format."""

_RESOURCES: Final = ("resource", "resource_link")


def read(value: Any, place: str = "") -> ReadTrace:
    """Reads one message or a list of messages; batches may be nested."""
    session = _Session()
    session.read(value, place)
    return ReadTrace(session.steps)


class _Session:
    """The messages of one session; remembers the method of each request, since a response has only its id."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._methods: dict[tuple[str, Any], str] = {}

    def read(self, value: Any, place: str) -> None:
        stack = [(place, value)]
        while stack:
            where, item = stack.pop()
            if isinstance(item, list):
                stack += reversed(numbered(item, where))
            elif isinstance(item, dict):
                self.steps += self._message(item, where)
            else:
                self.steps.append(opaque(item, where))

    def _message(self, message: dict[str, Any], place: str) -> list[Step]:
        fields = Fields(message, place)
        fields.drop("jsonrpc", "2.0")
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            if isinstance(number, str | int):
                self._methods[_key(number)] = method
            if method == "tools/call":
                return [_read_call(fields)]
            return [_named(message, place, method)]
        answered_method = self._methods.pop(_key(number), None) if isinstance(number, str | int) else None
        if "error" in fields and "result" not in fields:
            if answered_method in (None, "tools/call"):
                return [_read_error(fields)]
            return [_named(message, place, answered_method)]
        if isinstance(message.get("result"), dict):
            return self._result(fields, answered_method, message)
        return self._plain_message(fields, message)

    def _result(self, outer: Fields, method: str | None, message: dict[str, Any]) -> list[Step]:
        number = _number(outer)
        fields = Fields(outer.object("result") or {}, outer.at("result"))
        steps: list[Step]
        if method == "tools/call" or (method is None and "content" in fields):
            steps = _read_result(fields, number)
        elif method == "tools/list" or (method is None and "tools" in fields):
            steps = _read_declarations(fields)
        elif method == "resources/read":
            contents = numbered(fields.items("contents") or [], fields.at("contents"))
            steps = [_read_resource(resource, where, None) for where, resource in contents]
        else:
            steps = []
        if not steps:
            return [_named(message, outer.place, method or "result")]
        beside = outer.rest() | ({"result": fields.rest()} if method == "resources/read" and fields.rest() else {})
        if number is not None and method is None and not isinstance(steps[0], ToolResult):
            beside["id"] = message["id"]  # its request, which would have kept the id, is not in the transcript
        if beside:
            steps[0] = steps[0].model_copy(update={"extra": {**steps[0].extra, "message": beside}})
        return steps

    def _plain_message(self, fields: Fields, message: dict[str, Any]) -> list[Step]:
        """Parameters and results without the JSON-RPC frame, as the SDKs hold them."""
        if isinstance(message.get("tools"), list):
            return _read_declarations(fields) or [_named(message, fields.place, "tools/list")]
        if isinstance(message.get("content"), list):
            return _read_result(fields, None)
        return [opaque(message, fields.place)]


def _number(fields: Fields) -> str | None:
    """Takes the id of a message; an id that is neither a number nor a text stays in the rest."""
    number = fields.peek("id")
    return str(fields.any("id")) if isinstance(number, str | int) else None


def _key(number: str | int) -> tuple[str, Any]:
    """The key of a request id: to JSON-RPC the number 1 and the text "1" are different ids."""
    return type(number).__name__, number


def _named(message: dict[str, Any], place: str, method: str | None) -> Step:
    return opaque(message, place, known=True).model_copy(update={"type": method or "error"})


def _read_call(outer: Fields) -> ToolCall:
    outer.any("method")
    call_id = _number(outer)
    fields = Fields(outer.object("params") or {}, outer.at("params"))
    name = fields.text("name", "")
    if not name:
        fields.fault("call.no_name", "a tool is called without a name")
    # A call of a tool without parameters may leave its arguments out.
    arguments = read_argument_object(fields.any("arguments") if "arguments" in fields else {})
    faults = (*outer.faults, *fields.faults)
    extra = merged(outer, fields, "params")
    return ToolCall(id=call_id, name=name, arguments=arguments, place=outer.place, faults=faults, extra=extra)


def _read_declarations(fields: Fields) -> list[Step]:
    tools = read_tools(fields.items("tools") or [], fields.at("tools"))
    if tools and fields.rest():
        tools[0] = tools[0].model_copy(update={"extra": {**tools[0].extra, "list": fields.rest()}})
    return tools


def _read_error(fields: Fields) -> ToolResult:
    call_id = _number(fields)
    error = fields.any("error")
    return ToolResult(call_id=call_id, structured=error, is_error=True, **fields.step())


def _read_result(fields: Fields, call_id: str | None) -> list[Step]:
    words: list[Part] = []
    passages: list[Step] = []
    content = fields.any("content") if isinstance(fields.peek("content"), list) else []
    for where, block in numbered(content, fields.at("content")):
        if isinstance(block, dict) and block.get("type") in _RESOURCES:
            passages.append(_read_resource(block, where, call_id))
        else:
            words.append(read_part(block, where, fields.faults))
    structured = fields.any("structuredContent")
    failed = fields.boolean("isError") or False
    values: dict[str, Any] = {"content": tuple(words), "structured": structured, "is_error": failed}
    return [ToolResult(call_id=call_id, **values, **fields.step()), *passages]


def _read_resource(block: Any, place: str, call_id: str | None) -> Step:
    if not isinstance(block, dict):
        return opaque(block, place, call_id=call_id)
    outer = Fields(block, place)
    outer.drop("type", *_RESOURCES)
    inner = outer.object("resource")
    fields = outer if inner is None else Fields(inner, outer.at("resource"))
    values = {"source": fields.text("uri"), "title": fields.text("title") or fields.text("name")}
    text = fields.text("text", "")
    faults = tuple(outer.faults if fields is outer else (*outer.faults, *fields.faults))
    extra = outer.rest() if fields is outer else merged(outer, fields, "resource")
    return Passage(text=text, **values, call_id=call_id, place=place, faults=faults, extra=extra)
