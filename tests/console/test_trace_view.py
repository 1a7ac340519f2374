"""The run of an agent as a tree: what is inside of what, how long it took, and what failed."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.server.console.views.trace_tree import MOST_NODES, Node, trace_of
from assay.server.console.views.trace_view import trace_view

_SPANS = st.tuples(st.sampled_from("abcdef"), st.sampled_from(["", *"abcdefg"]), st.integers(0, 9), st.integers(0, 9))


def span(id_: str, parent: str | None, begin: int, end: int, operation: str = "chat", **more: Any) -> dict[str, Any]:
    made = {
        "traceId": "t1",
        "spanId": id_,
        "name": f"{operation} {id_}",
        "startTimeUnixNano": str(10**18 + begin * 10**6),
        "endTimeUnixNano": str(10**18 + end * 10**6),
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": operation}}],
        **more,
    }
    return made if parent is None else {**made, "parentSpanId": parent}


def traced(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"run": {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}}


def test_spans_are_nested_by_their_parents_and_ordered_by_time() -> None:
    trace = trace_of(
        traced(
            span("c", "a", 50, 90, "execute_tool", status={"code": 2, "message": "timeout"}),
            span("a", None, 0, 100, "invoke_agent"),
            span("b", "a", 10, 40),
        )
    )
    assert trace is not None
    [root] = trace.roots
    assert (root.kind, [one.name for one in root.children]) == ("agent", ["chat b", "execute_tool c"])
    assert (trace.total_ms, trace.failed, root.children[1].took_ms, root.children[1].failed) == (100.0, 1, 40.0, True)
    assert root.children[1].words == "timeout"


def test_a_trace_that_goes_in_a_circle_is_still_shown() -> None:
    trace = trace_of(traced(span("a", "b", 0, 1), span("b", "a", 0, 1), span("c", "c", 0, 1)))
    assert trace is not None
    assert len(trace.roots) == 3


def test_a_chat_transcript_has_its_calls_below_the_turn_that_asked() -> None:
    messages = [
        {"role": "user", "content": "Cancel W-17."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": "W-17"}'}},
                {"id": "c2", "type": "function", "function": {"name": "cancel", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "assistant", "content": "It is cancelled."},
    ]
    trace = trace_of({"run": messages})
    assert trace is not None
    assert trace.total_ms is None
    tools = [one for root in trace.roots for one in root.children]
    assert [(one.name, one.open, len(one.children)) for one in tools] == [("find", False, 1), ("cancel", True, 0)]


def test_a_check_without_a_run_has_no_trace() -> None:
    assert trace_of({"answer": "x"}) is None
    assert trace_of({"run": "not a transcript"}) is None
    assert trace_view(None) is None


def test_a_large_trace_is_cut_and_says_so() -> None:
    trace = trace_of(traced(*(span(f"s{number}", None, number, number + 1) for number in range(MOST_NODES + 20))))
    assert trace is not None
    assert (len(trace.roots), trace.left_out) == (MOST_NODES, 20)


@settings(max_examples=60, deadline=None)
@given(st.lists(_SPANS, min_size=1))
def test_any_trace_is_drawn_with_each_span_once(rows: list[tuple[str, str, int, int]]) -> None:
    trace = trace_of(traced(*(span(id_, parent or None, begin, begin + took) for id_, parent, begin, took in rows)))
    assert trace is not None

    def count(node: Node) -> int:
        return 1 + sum(map(count, node.children))

    assert sum(map(count, trace.roots)) == len({id_ for id_, *_ in rows})


def test_hostile_names_are_text() -> None:
    drawn = trace_view(traced(span("a", None, 0, 1, "<script>alert(1)</script>")))
    assert drawn is not None
    assert "<script" not in drawn.html
