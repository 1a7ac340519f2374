"""The run of an agent as a tree with times: what was called inside of what, how long it took, what failed.

A trace of OpenTelemetry says all of it: spans name the span around them, and when they began and ended. Transcripts of
chat formats have an order and no times: there the calls of a turn stand below it, each with its result. What is shown
of either is as it was told by whoever ran the agent, and no evidence of anything.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import AssayError
from assay.schema.run import ModelTurn, Passage, Run, ToolCall, ToolResult, UserInput
from assay.schema.traces.any_format import read_run
from assay.schema.traces.otel.spans import Span, spans_of

MOST_NODES: Final = 500
"""Nodes of a tree that are shown; the rest is counted."""
LONGEST_WORDS: Final = 400
"""Characters of what a node says."""
_NS_PER_MS: Final = 1e6
_DEEPEST: Final = 40


@dataclass(slots=True)
class Node:
    """One call, turn or span."""

    kind: str
    """`agent`, `model`, `tool`, `user`, `passage` or `span`."""
    name: str
    words: str = ""
    """What it says, shortened."""
    begin_ms: float | None = None
    """Milliseconds since the run began."""
    took_ms: float | None = None
    failed: bool = False
    open: bool = False
    """Whether a call has no result."""
    tokens: int | None = None
    children: "list[Node]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trace:
    """A run as a tree."""

    roots: tuple[Node, ...]
    total_ms: float | None
    """From the first beginning to the last end; none where the trace has no times."""
    nodes: int
    failed: int
    left_out: int = 0
    """Nodes beyond `MOST_NODES`."""
    tokens: int | None = None
    """Tokens of all model calls, where the trace tells them."""


def trace_of(asked: Mapping[str, Any]) -> Trace | None:
    """The tree of what a check of a run was given; none of a check that is not of a run, or cannot be read."""
    raw = asked.get("run")
    if raw is None:
        return None
    spans, _ = spans_of(raw, "") if isinstance(raw, (dict, list)) else ([], [])
    if spans and all(_id(span) for span in spans):
        return _finished(_of_spans(spans[: 4 * MOST_NODES]), max(0, len(spans) - 4 * MOST_NODES))
    try:
        run = read_run(raw, format=asked.get("format"))
    except (AssayError, ValueError, RecursionError):
        return None
    roots = _of_steps(run)
    return _finished(roots) if roots else None


# Spans


def _of_spans(spans: Sequence[Span]) -> list[Node]:
    begins = [span.start for span in spans if span.start is not None]
    first = min(begins, default=0)
    nodes = {_id(span): _of_span(span, first) for span in spans}
    parents = {_id(span): _parent(span) for span in spans}
    roots: list[Node] = []
    for id_, node in nodes.items():
        above = nodes.get(parents[id_])
        # A trace may name itself as its own ancestor: such a span is a root.
        if above is None or _in_circle(id_, parents):
            roots.append(node)
        else:
            above.children.append(node)
    _in_order(roots)
    return roots


def _in_circle(id_: str, parents: Mapping[str, str]) -> bool:
    at, seen = parents.get(id_, ""), 0
    while at in parents and seen <= _DEEPEST:
        if at == id_:
            return True
        at, seen = parents[at], seen + 1
    return seen > _DEEPEST


def _in_order(nodes: list[Node]) -> None:
    nodes.sort(key=lambda node: node.begin_ms if node.begin_ms is not None else float("inf"))
    for node in nodes:
        _in_order(node.children)


def _context(span: Span) -> Mapping[str, Any]:
    found = span.rest.get("context")
    return found if isinstance(found, Mapping) else span.rest


def _id(span: Span) -> str:
    context = _context(span)
    return _text(context.get("spanId", context.get("span_id")))


def _parent(span: Span) -> str:
    return _text(span.rest.get("parentSpanId", span.rest.get("parent_id", span.rest.get("parent_span_id"))))


_OPERATIONS: Final = {
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "embeddings": "passage",
}


def _of_span(span: Span, first: int) -> Node:
    kind = _OPERATIONS.get(span.operation or "", "span")
    named = span.text("gen_ai.tool.name") or span.text("gen_ai.agent.name") or span.text("gen_ai.request.model")
    name = _text(span.rest.get("name")) or named or span.operation or "span"
    timed = span.start is not None and span.end is not None
    used = [span.attributes.get(f"gen_ai.usage.{way}_tokens", (None, ""))[0] for way in ("input", "output")]
    tokens = [int(one) for one in used if isinstance(one, int) or (isinstance(one, str) and one.isdigit())]
    status = span.rest.get("status")
    told = _text(status.get("message", status.get("description"))) if isinstance(status, Mapping) else ""
    return Node(
        kind,
        name,
        _short(told or span.text("error.type") or (named if named and named not in name else "") or ""),
        (span.start - first) / _NS_PER_MS if span.start is not None else None,
        max(0.0, ((span.end or 0) - (span.start or 0)) / _NS_PER_MS) if timed else None,
        span.failed,
        tokens=sum(tokens) if tokens else None,
    )


# Steps


def _of_steps(run: Run) -> list[Node]:
    roots: list[Node] = []
    calls: dict[str, Node] = {}
    turn: Node | None = None
    last: Node | None = None
    for step in run.steps:
        if isinstance(step, UserInput):
            turn = None
            roots.append(Node("user", step.name or "user", _short(step.text)))
        elif isinstance(step, ModelTurn):
            turn = Node("model", step.name or "model", _short(step.text))
            roots.append(turn)
        elif isinstance(step, ToolCall):
            if turn is None:
                turn = Node("model", "model", "asked for tools")
                roots.append(turn)
            last = Node("tool", step.name, _short(_arguments(step)), open=True)
            if step.id is not None:
                calls[step.id] = last
            turn.children.append(last)
        elif isinstance(step, ToolResult):
            found = calls.get(step.call_id or "") or last
            if found is not None:
                found.open, found.failed = False, bool(step.is_error)
                found.children.append(Node("result", "result", _short(step.text), failed=bool(step.is_error)))
            turn = None
        elif isinstance(step, Passage):
            above = calls.get(step.call_id or "")
            made = Node("passage", step.title or step.id or "passage", _short(step.text))
            (above.children if above is not None else roots).append(made)
    return roots


def _arguments(call: ToolCall) -> str:
    told = call.arguments
    return told.verbatim or json.dumps(told.value or {}, ensure_ascii=False)


def _finished(roots: list[Node], unread: int = 0) -> Trace:
    """The tree with its sums; `unread` more spans were not looked at."""
    every = _all(roots)
    count = len(every) + unread
    ends = [one.begin_ms + one.took_ms for one in every if one.begin_ms is not None and one.took_ms is not None]
    tokens = [one.tokens for one in every if one.tokens is not None and one.kind == "model"]
    left = _cut(roots, MOST_NODES)
    return Trace(
        tuple(roots),
        max(ends, default=None),
        count,
        sum(one.failed for one in every if one.kind != "result"),
        max(0, count - (MOST_NODES - left)),
        sum(tokens) if tokens else None,
    )


def _all(nodes: Sequence[Node]) -> list[Node]:
    found, waiting = list[Node](), list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += reversed(node.children)
    return found


def _cut(nodes: list[Node], left: int, depth: int = 0) -> int:
    """Keeps so many nodes, in the order in which they are shown; how many more there is room for."""
    for place, node in enumerate(nodes):
        if left <= 0 or depth > _DEEPEST:
            del nodes[place:]
            return max(left, 0)
        left = _cut(node.children, left - 1, depth + 1)
    return left


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_WORDS].split())
    return line if len(line) <= LONGEST_WORDS else line[: LONGEST_WORDS - 1] + "…"
