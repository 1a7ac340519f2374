"""The run of an agent as a tree with times: which step was called inside which, how long it took, and what failed.

In an OpenTelemetry trace each span names its parent and has a start and an end. Transcripts of chat formats have an
order but no times: there the calls of a turn are below the turn, each with its results. Both are shown as the client
that ran the agent reported them, and neither is evidence.

**Nothing that failed looks clean, and nothing is left out silently.** A call has failed if any of its results failed.
Duplicate ids, results without a call and items that no reader knows are shown and marked as such. If a run has more
steps than are shown, failed steps come before others, and each place says how many steps are left out there and how
many of them failed.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import AssayError
from assay.schema.run import ModelTurn, Opaque, Passage, Run, Step, SystemPrompt, ToolCall, ToolResult, UserInput
from assay.schema.traces.any_format import read_run
from assay.schema.traces.otel import genai
from assay.schema.traces.otel.spans import Span, spans_of
from assay.server.console.parts import shorten

MOST_NODES: Final = 500
"""The most nodes of a tree that are shown; the others are counted."""
LONGEST_WORDS: Final = 400
"""The most characters of the text of a node."""
_LONGEST_ID: Final = 40
"""The most characters of an id in a note."""
MOST_NOTES: Final = 5
"""The most notes of one node; the others are counted."""
_COUNT_DIGITS: Final = 15
"""The most digits of a count of tokens."""
_NS_PER_MS: Final = 1e6
_DEEPEST: Final = 40
"""The deepest level that is shown; nodes below it are counted."""
_ROOT: Final = -1
"""The index that stands for the parent of a root."""


@dataclass(slots=True)
class Node:
    """A call, a turn of the conversation, a result or a span."""

    kind: str
    """`agent`, `model`, `tool`, `user`, `system`, `result`, `stray`, `passage`, `other` or `span`. A `stray` is a
    result whose call is not in the run."""
    name: str
    words: str = ""
    """Its text, shortened."""
    begin_ms: float | None = None
    """Milliseconds from the beginning of the run."""
    took_ms: float | None = None
    failed: bool = False
    open: bool = False
    """Whether it is a call without a result."""
    tokens: int | None = None
    notes: list[str] = field(default_factory=list)
    """What is unusual about it, in the words of this module or of the reader of its format."""
    children: "list[Node]" = field(default_factory=list)
    left_out: int = 0
    """Nodes below it that are not shown."""
    left_out_failed: int = 0
    """How many of these failed."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A run as a tree."""

    roots: tuple[Node, ...]
    total_ms: float | None
    """From the first start to the last end; `None` if the trace has no times."""
    nodes: int
    """The number of all nodes."""
    failed: int
    """How many of them failed; a failed result counts with its call."""
    left_out: int = 0
    """Nodes that are not shown: those beyond `MOST_NODES` and those too deep."""
    left_out_failed: int = 0
    """How many of these failed."""
    tokens: int | None = None
    """Tokens of all model calls, as far as the trace has them."""
    notes: tuple[str, ...] = ()
    """What is wrong with the trace as a whole."""


def trace_of(asked: Mapping[str, Any]) -> Trace | None:
    """The tree of the agent run that a check was given.

    Args:
        asked: the arguments of the check.

    Returns:
        The tree; `None` if the check was not of a run, or the run cannot be read.
    """
    raw, format_ = asked.get("run"), asked.get("format")
    if raw is None:
        return None
    spans, _ = spans_of(raw, "") if isinstance(raw, (dict, list)) and format_ in (None, genai.NAME) else ([], [])
    if any(_id(span) for span in spans):
        return _trace(_roots_of_spans(spans))
    try:
        run = read_run(raw, format=format_)
    except (AssayError, ValueError, RecursionError):
        return None
    roots = _roots_of_steps(run)
    return _trace(roots, [fault.message for fault in run.faults]) if roots else None


# Spans


def _roots_of_spans(spans: Sequence[Span]) -> list[Node]:
    first = min((start for span in spans if (start := _moment(span.start)) is not None), default=0)
    nodes = [_node_of_span(span, first) for span in spans]
    # The id of a span is unique within its trace only, and an export may contain several traces.
    keys = [(span.trace_id or "", _id(span)) for span in spans]
    by_key: dict[tuple[str, str], int] = {}
    for at, key in enumerate(keys):
        if key[1]:
            by_key.setdefault(key, at)
    parents = [by_key.get((span.trace_id or "", _parent(span)), _ROOT) for span in spans]
    counts = Counter(keys)
    on_cycles = _on_cycles(parents)
    roots: list[Node] = []
    for at, (node, span) in enumerate(zip(nodes, spans, strict=True)):
        if not keys[at][1]:
            node.notes.append("it has no id")
        elif counts[keys[at]] > 1:
            node.notes.append(f"{counts[keys[at]]:,} spans have its id")
        if at in on_cycles:
            # A span that is its own ancestor has no place in a tree: it is shown as a root.
            node.notes.append("it says that it is inside of itself")
            roots.append(node)
        elif parents[at] == _ROOT:
            if _parent(span):
                node.notes.append("the step around it is not in this trace")
            roots.append(node)
        else:
            nodes[parents[at]].children.append(node)
    for siblings in (roots, *(node.children for node in nodes)):
        siblings.sort(key=lambda node: node.begin_ms if node.begin_ms is not None else float("inf"))
    return roots


def _on_cycles(parents: Sequence[int]) -> set[int]:
    """The nodes on cycles: those that are their own ancestors.

    Args:
        parents: for each node the index of its parent, or `_ROOT`.

    >>> sorted(_on_cycles([1, 0, 0, 3, -1]))
    [0, 1, 3]
    """
    cycles, visited_from = set[int](), [0] * len(parents)
    for start in range(len(parents)):
        at = start
        while at != _ROOT and not visited_from[at]:
            visited_from[at] = start + 1
            at = parents[at]
        # Only a path that meets itself has found a cycle; one that meets an earlier path ends in what was visited.
        while at != _ROOT and visited_from[at] == start + 1 and at not in cycles:
            cycles.add(at)
            at = parents[at]
    return cycles


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


def _node_of_span(span: Span, first: int) -> Node:
    kind = _OPERATIONS.get(span.operation or "", "span")
    target = span.text("gen_ai.tool.name") or span.text("gen_ai.agent.name") or span.text("gen_ai.request.model")
    name = _text(span.rest.get("name")) or target or span.operation or "span"
    start, end = _moment(span.start), _moment(span.end)
    used = [span.attributes.get(f"gen_ai.usage.{way}_tokens", (None, ""))[0] for way in ("input", "output")]
    tokens = [count for value in used if (count := _count(value)) is not None]
    status = span.rest.get("status")
    message = _text(status.get("message", status.get("description"))) if isinstance(status, Mapping) else ""
    took = None if start is None or end is None else (end - start) / _NS_PER_MS
    return Node(
        kind,
        name,
        _line(message or span.text("error.type") or (target if target and target not in name else "") or ""),
        None if start is None else (start - first) / _NS_PER_MS,
        None if took is None else max(0.0, took),
        span.failed,
        tokens=sum(tokens) if tokens else None,
        notes=["it ends before it begins"] if took is not None and took < 0 else [],
    )


# Steps


def _roots_of_steps(run: Run) -> list[Node]:
    tree = _StepTree()
    for step in run.steps:
        tree.add(step)
    for id_, calls in tree.calls.items():
        if len(calls) > 1:
            for call in calls:
                call.notes.append(f"{len(calls):,} calls have its id {shorten(id_, _LONGEST_ID)}")
    return tree.roots


class _StepTree:
    """Builds the tree of a transcript, step by step."""

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self.calls: dict[str, list[Node]] = {}
        """Calls by their ids; several may have the same id."""
        self._without_id: list[Node] = []
        """Calls without an id."""
        self._turn: Node | None = None
        """The turn of the model that is open: further calls belong to it."""

    def add(self, step: Step) -> None:
        node = self._add(step)
        if node is not None:
            faults = (*step.faults, *(step.arguments.faults if isinstance(step, ToolCall) else ()))
            node.notes += [fault.message for fault in faults]

    def _add(self, step: Step) -> Node | None:
        match step:
            case UserInput():
                self._turn = None
                return self._root(Node("user", step.name or "user", _line(step.text)))
            case SystemPrompt():
                self._turn = None
                return self._root(Node("system", step.role, _line(step.text)))
            case ModelTurn():
                self._turn = self._root(Node("model", step.name or "model", _line(step.text)))
                self._turn.notes += ["it refused"] if step.refused else []
                return self._turn
            case ToolCall():
                return self._call(step)
            case ToolResult():
                return self._result(step)
            case Passage():
                made = Node("passage", step.title or step.id or "passage", _line(step.text))
                return self._below(step.call_id, made)
            case Opaque():
                made = Node("other", step.type, notes=["no reader knows this type"])
                return self._below(step.call_id, made)
            case _:
                # Declarations of tools are not steps; they are in the record itself.
                return None

    def _root(self, node: Node) -> Node:
        self.roots.append(node)
        return node

    def _below(self, call: str | None, node: Node) -> Node:
        """Adds a node below the call with an id, or to the roots if there is no such call."""
        known = self.calls.get(call or "")
        if known is None:
            node.notes += [] if call is None else [_no_such(call)]
            return self._root(node)
        known[-1].children.append(node)
        return node

    def _call(self, step: ToolCall) -> Node:
        if self._turn is None:
            self._turn = self._root(Node("model", "model", "asked for tools"))
        node = Node("tool", step.name, _line(_arguments(step)), open=True)
        if step.id is None:
            self._without_id.append(node)
        else:
            self.calls.setdefault(step.id, []).append(node)
        self._turn.children.append(node)
        return node

    def _result(self, step: ToolResult) -> Node:
        self._turn, failed = None, bool(step.is_error)
        node = Node("result", "result", _line(step.text), failed=failed)
        call = self._call_of(step)
        if call is None:
            node.kind = "stray"
            node.notes.append("no call is open that it could be of" if step.call_id is None else _no_such(step.call_id))
            return self._root(node)
        if not call.open:
            node.notes.append("its call had a result before")
        # A failure is final: a later result of the same call does not undo it.
        call.open, call.failed = False, call.failed or failed
        call.children.append(node)
        return node

    def _call_of(self, step: ToolResult) -> Node | None:
        """The call that a result belongs to.

        That is the first open call with the id of the result, or else the last one with it. A result without an id
        belongs to the first open call without one, and with its name if it has a name.
        """
        if step.call_id is not None:
            known = self.calls.get(step.call_id, [])
            return next((call for call in known if call.open), known[-1] if known else None)
        waiting = [call for call in self._without_id if call.open and step.name in (None, call.name)]
        return waiting[0] if waiting else None


def _no_such(call: str) -> str:
    return f"no call before it has the id {shorten(call, _LONGEST_ID)}"


def _arguments(call: ToolCall) -> str:
    arguments = call.arguments
    return arguments.verbatim or json.dumps(arguments.value or {}, ensure_ascii=False)


# The whole tree


def _trace(roots: list[Node], notes: Sequence[str] = ()) -> Trace:
    """The trace with its totals, cut to the nodes that are shown."""
    placed = list(_walk(roots))
    nodes = [node for node, _, _ in placed]
    ends = [one.begin_ms + one.took_ms for one in nodes if one.begin_ms is not None and one.took_ms is not None]
    tokens = [one.tokens for one in nodes if one.tokens is not None and one.kind == "model"]
    failed = sum(map(_counts_as_failed, nodes))
    shown = _shown_indices(placed)
    _cut(placed, shown)
    for node in nodes:
        if len(node.notes) > MOST_NOTES:
            node.notes[MOST_NOTES:] = [f"{len(node.notes) - MOST_NOTES:,} more such notes"]
    return Trace(
        tuple(node for at, (node, parent, _) in enumerate(placed) if parent == _ROOT and at in shown),
        max(ends, default=None),
        len(placed),
        failed,
        len(placed) - len(shown),
        failed - sum(_counts_as_failed(nodes[at]) for at in shown),
        sum(tokens) if tokens else None,
        (*notes[:MOST_NOTES], *([f"{len(notes) - MOST_NOTES:,} more such notes"] if len(notes) > MOST_NOTES else [])),
    )


def _counts_as_failed(node: Node) -> bool:
    """Whether a node counts as failed; a failed result counts with its call."""
    return node.failed and node.kind != "result"


def _walk(roots: Sequence[Node]) -> Iterator[tuple[Node, int, int]]:
    """All nodes in the order in which they are shown, each with the index of its parent and its depth."""
    stack, at = [(node, _ROOT, 0) for node in reversed(roots)], 0
    while stack:
        node, parent, depth = stack.pop()
        yield node, parent, depth
        stack += [(child, at, depth + 1) for child in reversed(node.children)]
        at += 1


def _shown_indices(placed: Sequence[tuple[Node, int, int]]) -> set[int]:
    """The indices of the nodes that are shown: failed nodes with their ancestors first, then the others in order."""
    shown = set[int]()
    for start, (node, _, _) in enumerate(placed if len(placed) > MOST_NODES else ()):
        if node.failed or node.kind == "stray":
            path, at = list[int](), start
            while at != _ROOT and at not in shown:
                path.append(at)
                at = placed[at][1]
            path = [one for one in path if placed[one][2] <= _DEEPEST]
            if len(shown) + len(path) <= MOST_NODES:
                shown.update(path)
    for at, (_, parent, depth) in enumerate(placed):
        if len(shown) >= MOST_NODES:
            break
        if depth <= _DEEPEST and (parent == _ROOT or parent in shown):
            shown.add(at)
    return shown


def _cut(placed: Sequence[tuple[Node, int, int]], shown: set[int]) -> None:
    """Removes the nodes that are not shown, and counts them at their nearest ancestor that is shown."""
    nearest_shown = list[int]()
    for at, (node, parent, _) in enumerate(placed):
        nearest_shown.append(at if at in shown else _ROOT if parent == _ROOT else nearest_shown[parent])
        if at not in shown and nearest_shown[at] != _ROOT:
            ancestor = placed[nearest_shown[at]][0]
            ancestor.left_out += 1
            ancestor.left_out_failed += _counts_as_failed(node)
    shown_nodes = {id(placed[at][0]) for at in shown}
    for at in shown:
        node = placed[at][0]
        node.children = [child for child in node.children if id(child) in shown_nodes]


def _line(text: str) -> str:
    return shorten(text, LONGEST_WORDS)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moment(nanoseconds: int | None) -> int | None:
    """A time of a span; `None` where it has more than the 64 bits of OTLP: a trace may contain any number."""
    return nanoseconds if nanoseconds is not None and abs(nanoseconds) < 2**64 else None


def _count(value: Any) -> int | None:
    """A count as a trace writes it, as a number or in digits; `None` for everything else.

    >>> _count(12), _count("12"), _count("²"), _count(True), _count(10**20)
    (12, 12, None, None, None)
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _COUNT_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**_COUNT_DIGITS else None
