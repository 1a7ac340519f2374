"""The run of an agent as a tree with times: what was called inside of what, how long it took, what failed.

A trace of OpenTelemetry says all of it: spans name the span around them, and when they began and ended. Transcripts of
chat formats have an order and no times: there the calls of a turn stand below it, each with its results. What is shown
of either is as it was told by whoever ran the agent, and no evidence of anything.

**Nothing that failed looks clean, and nothing is left out without a word.** A call of which any result failed has
failed. Ids that come twice, results of calls that nobody made and items that no reader knows are shown and named as
such. Where a run has more steps than are shown, those that failed go before the others, and each place says how many
steps are left out there and how many of them failed.
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

MOST_NODES: Final = 500
"""Nodes of a tree that are shown; the rest is counted."""
LONGEST_WORDS: Final = 400
"""Characters of what a node says."""
MOST_NOTES: Final = 5
"""Notes of one node; the rest is counted."""
_COUNT_DIGITS: Final = 15
"""The most digits of a count of tokens."""
_NS_PER_MS: Final = 1e6
_DEEPEST: Final = 40
"""Levels of a tree that are shown; what is inside of the last one is counted."""
_ROOT: Final = -1


@dataclass(slots=True)
class Node:
    """One call, turn or span."""

    kind: str
    """`agent`, `model`, `tool`, `user`, `system`, `result`, `stray`, `passage`, `other` or `span`; `stray` is a result
    of a call that is not in the run."""
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
    notes: list[str] = field(default_factory=list)
    """What is odd about it, in words of ours or of the reader of its format."""
    children: "list[Node]" = field(default_factory=list)
    left_out: int = 0
    """Nodes inside of it that are not shown."""
    left_out_failed: int = 0
    """Those of them that failed."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A run as a tree."""

    roots: tuple[Node, ...]
    total_ms: float | None
    """From the first beginning to the last end; none where the trace has no times."""
    nodes: int
    failed: int
    left_out: int = 0
    """Nodes beyond `MOST_NODES`, or too deep."""
    left_out_failed: int = 0
    """Those of them that failed."""
    tokens: int | None = None
    """Tokens of all model calls, where the trace tells them."""
    notes: tuple[str, ...] = ()
    """What is wrong with the trace as a whole."""


def trace_of(asked: Mapping[str, Any]) -> Trace | None:
    """The tree of what a check of a run was given; none of a check that is not of a run, or cannot be read."""
    raw, named = asked.get("run"), asked.get("format")
    if raw is None:
        return None
    spans, _ = spans_of(raw, "") if isinstance(raw, (dict, list)) and named in (None, genai.NAME) else ([], [])
    if any(_id(span) for span in spans):
        return _finished(_of_spans(spans))
    try:
        run = read_run(raw, format=named)
    except (AssayError, ValueError, RecursionError):
        return None
    roots = _of_steps(run)
    return _finished(roots, [fault.message for fault in run.faults]) if roots else None


# Spans


def _of_spans(spans: Sequence[Span]) -> list[Node]:
    first = min((start for span in spans if (start := _moment(span.start)) is not None), default=0)
    nodes = [_of_span(span, first) for span in spans]
    # Ids of spans are unique within a trace, and an export may hold several traces.
    names = [(span.trace_id or "", _id(span)) for span in spans]
    places: dict[tuple[str, str], int] = {}
    for at, name in enumerate(names):
        if name[1]:
            places.setdefault(name, at)
    parents = [places.get((span.trace_id or "", _parent(span)), _ROOT) for span in spans]
    counts = Counter(names)
    circling = _circling(parents)
    roots: list[Node] = []
    for at, (node, span) in enumerate(zip(nodes, spans, strict=True)):
        if not names[at][1]:
            node.notes.append("it has no id")
        elif counts[names[at]] > 1:
            node.notes.append(f"{counts[names[at]]:,} spans have its id")
        if at in circling:
            # A trace may name itself as its own ancestor: such a span is a root.
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


def _circling(parents: Sequence[int]) -> set[int]:
    """Those that are their own ancestors.

    >>> sorted(_circling([1, 0, 0, 3, -1]))
    [0, 1, 3]
    """
    found, seen = set[int](), [0] * len(parents)
    for begin in range(len(parents)):
        at = begin
        while at != _ROOT and not seen[at]:
            seen[at] = begin + 1
            at = parents[at]
        # Only a way that meets itself has found a circle; one that meets an earlier way has been looked at.
        while at != _ROOT and seen[at] == begin + 1 and at not in found:
            found.add(at)
            at = parents[at]
    return found


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
    start, end = _moment(span.start), _moment(span.end)
    used = [span.attributes.get(f"gen_ai.usage.{way}_tokens", (None, ""))[0] for way in ("input", "output")]
    tokens = [count for value in used if (count := _count(value)) is not None]
    status = span.rest.get("status")
    message = _text(status.get("message", status.get("description"))) if isinstance(status, Mapping) else ""
    took = None if start is None or end is None else (end - start) / _NS_PER_MS
    return Node(
        kind,
        name,
        _short(message or span.text("error.type") or (named if named and named not in name else "") or ""),
        None if start is None else (start - first) / _NS_PER_MS,
        None if took is None else max(0.0, took),
        span.failed,
        tokens=sum(tokens) if tokens else None,
        notes=["it ends before it begins"] if took is not None and took < 0 else [],
    )


# Steps


def _of_steps(run: Run) -> list[Node]:
    made = _Steps()
    for step in run.steps:
        made.add(step)
    for id_, calls in made.calls.items():
        if len(calls) > 1:
            for call in calls:
                call.notes.append(f"{len(calls):,} calls have its id {_short(id_)[:40]}")
    return made.roots


class _Steps:
    """Puts the steps of a transcript below each other."""

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self.calls: dict[str, list[Node]] = {}
        self._unnamed: list[Node] = []
        """Calls without an id."""
        self._turn: Node | None = None

    def add(self, step: Step) -> None:
        node = self._add(step)
        if node is not None:
            faults = (*step.faults, *(step.arguments.faults if isinstance(step, ToolCall) else ()))
            node.notes += [fault.message for fault in faults]

    def _add(self, step: Step) -> Node | None:
        match step:
            case UserInput():
                self._turn = None
                return self._root(Node("user", step.name or "user", _short(step.text)))
            case SystemPrompt():
                self._turn = None
                return self._root(Node("system", step.role, _short(step.text)))
            case ModelTurn():
                self._turn = self._root(Node("model", step.name or "model", _short(step.text)))
                self._turn.notes += ["it refused"] if step.refused else []
                return self._turn
            case ToolCall():
                return self._call(step)
            case ToolResult():
                return self._result(step)
            case Passage():
                made = Node("passage", step.title or step.id or "passage", _short(step.text))
                return self._below(step.call_id, made)
            case Opaque():
                made = Node("other", step.type, notes=["no reader knows this type"])
                return self._below(step.call_id, made)
            case _:
                # Declarations of tools are no happenings: they stand in the record.
                return None

    def _root(self, node: Node) -> Node:
        self.roots.append(node)
        return node

    def _below(self, call: str | None, node: Node) -> Node:
        """Below the call that it names, or among the roots."""
        known = self.calls.get(call or "")
        if known is None:
            node.notes += [] if call is None else [_no_such(call)]
            return self._root(node)
        known[-1].children.append(node)
        return node

    def _call(self, step: ToolCall) -> Node:
        if self._turn is None:
            self._turn = self._root(Node("model", "model", "asked for tools"))
        made = Node("tool", step.name, _short(_arguments(step)), open=True)
        if step.id is None:
            self._unnamed.append(made)
        else:
            self.calls.setdefault(step.id, []).append(made)
        self._turn.children.append(made)
        return made

    def _result(self, step: ToolResult) -> Node:
        self._turn, failed = None, bool(step.is_error)
        made = Node("result", "result", _short(step.text), failed=failed)
        call = self._call_of(step)
        if call is None:
            made.kind = "stray"
            made.notes.append("no call is open that it could be of" if step.call_id is None else _no_such(step.call_id))
            return self._root(made)
        if not call.open:
            made.notes.append("its call had a result before")
        # What failed once has failed: a later result does not undo it.
        call.open, call.failed = False, call.failed or failed
        call.children.append(made)
        return made

    def _call_of(self, step: ToolResult) -> Node | None:
        """The first call of its id that waits, or else the last one; without an id, the first that waits without one,
        of its name where it has one."""
        if step.call_id is not None:
            known = self.calls.get(step.call_id, [])
            return next((call for call in known if call.open), known[-1] if known else None)
        waiting = [call for call in self._unnamed if call.open and step.name in (None, call.name)]
        return waiting[0] if waiting else None


def _no_such(call: str) -> str:
    return f"no call before it has the id {_short(call)[:40]}"


def _arguments(call: ToolCall) -> str:
    arguments = call.arguments
    return arguments.verbatim or json.dumps(arguments.value or {}, ensure_ascii=False)


# The whole


def _finished(roots: list[Node], notes: Sequence[str] = ()) -> Trace:
    """The tree with its sums, cut to what is shown."""
    every = list(_walk(roots))
    nodes = [node for node, _, _ in every]
    ends = [one.begin_ms + one.took_ms for one in nodes if one.begin_ms is not None and one.took_ms is not None]
    tokens = [one.tokens for one in nodes if one.tokens is not None and one.kind == "model"]
    failed = sum(map(_counts, nodes))
    shown = _kept(every)
    _cut(every, shown)
    for node in nodes:
        if len(node.notes) > MOST_NOTES:
            node.notes[MOST_NOTES:] = [f"{len(node.notes) - MOST_NOTES:,} more such notes"]
    return Trace(
        tuple(node for at, (node, above, _) in enumerate(every) if above == _ROOT and at in shown),
        max(ends, default=None),
        len(every),
        failed,
        len(every) - len(shown),
        failed - sum(_counts(nodes[at]) for at in shown),
        sum(tokens) if tokens else None,
        (*notes[:MOST_NOTES], *([f"{len(notes) - MOST_NOTES:,} more such notes"] if len(notes) > MOST_NOTES else [])),
    )


def _counts(node: Node) -> bool:
    """Whether it counts as failed: the result of a call is the call's."""
    return node.failed and node.kind != "result"


def _walk(roots: Sequence[Node]) -> Iterator[tuple[Node, int, int]]:
    """Each node in the order in which they are shown, with the place of the one around it and its depth."""
    waiting, at = [(node, _ROOT, 0) for node in reversed(roots)], 0
    while waiting:
        node, above, depth = waiting.pop()
        yield node, above, depth
        waiting += [(child, at, depth + 1) for child in reversed(node.children)]
        at += 1


def _kept(every: Sequence[tuple[Node, int, int]]) -> set[int]:
    """The places of the nodes that are shown: those that failed with what is around them, then the first ones."""
    shown = set[int]()
    for begin, (node, _, _) in enumerate(every if len(every) > MOST_NODES else ()):
        if node.failed or node.kind == "stray":
            way, at = list[int](), begin
            while at != _ROOT and at not in shown:
                way.append(at)
                at = every[at][1]
            way = [one for one in way if every[one][2] <= _DEEPEST]
            if len(shown) + len(way) <= MOST_NODES:
                shown.update(way)
    for at, (_, above, depth) in enumerate(every):
        if len(shown) >= MOST_NODES:
            break
        if depth <= _DEEPEST and (above == _ROOT or above in shown):
            shown.add(at)
    return shown


def _cut(every: Sequence[tuple[Node, int, int]], shown: set[int]) -> None:
    """Takes out what is not shown, and has each node that is shown say what is missing inside of it."""
    stands = list[int]()
    for at, (node, above, _) in enumerate(every):
        stands.append(at if at in shown else _ROOT if above == _ROOT else stands[above])
        if at not in shown and stands[at] != _ROOT:
            around = every[stands[at]][0]
            around.left_out += 1
            around.left_out_failed += _counts(node)
    kept = {id(every[at][0]) for at in shown}
    for at in shown:
        node = every[at][0]
        node.children = [child for child in node.children if id(child) in kept]


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


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_WORDS].split())
    whole = len(text) <= 4 * LONGEST_WORDS and len(line) <= LONGEST_WORDS
    return line if whole else line[: LONGEST_WORDS - 1] + "…"
