"""The run of an agent as a tree: what is inside of what, how long it took, and what failed."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.schema.run.arguments import read_arguments
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

    assert sum(map(count, trace.roots)) == len(rows)


def test_a_count_that_is_no_number_is_left_out_and_the_trace_is_shown() -> None:
    usage = [{"key": "gen_ai.usage.input_tokens", "value": {"stringValue": "²"}}]
    operation = {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}
    trace = trace_of(traced(span("a", None, 0, 1, attributes=[operation, *usage])))
    assert trace is not None
    assert trace.tokens is None


def test_a_time_that_no_clock_has_is_left_out_and_the_trace_is_shown() -> None:
    trace = trace_of(traced(span("a", None, 0, 1), span("b", None, 0, 1, startTimeUnixNano=10**400)))
    assert trace is not None
    assert [node.begin_ms for node in trace.roots] == [0.0, None]


def test_hostile_names_are_text() -> None:
    drawn = trace_view(traced(span("a", None, 0, 1, "<script>alert(1)</script>")))
    assert drawn is not None
    assert "<script" not in drawn.html


def test_spans_of_one_id_are_all_shown_and_said_to_share_it() -> None:
    trace = trace_of(
        traced(
            span("a", None, 0, 9, "invoke_agent"),
            span("b", "a", 1, 2, "execute_tool", status={"code": 2, "message": "card declined"}),
            span("b", "a", 3, 4, "execute_tool"),
        )
    )
    assert trace is not None
    [root] = trace.roots
    assert [(one.failed, one.notes) for one in root.children] == [
        (True, ["2 spans have its id"]),
        (False, ["2 spans have its id"]),
    ]
    assert trace.failed == 1


def test_spans_of_two_traces_may_have_the_same_id() -> None:
    trace = trace_of(traced(span("a", None, 0, 9), {**span("a", None, 0, 9), "traceId": "t2"}, span("b", "a", 1, 2)))
    assert trace is not None
    assert [(len(one.children), one.notes) for one in trace.roots] == [(1, []), (0, [])]


def test_one_span_without_an_id_does_not_hide_the_others() -> None:
    unnamed = span("x", "a", 1, 2, "execute_tool", status={"code": 2})
    del unnamed["spanId"]
    trace = trace_of(traced(span("a", None, 0, 9), unnamed))
    assert trace is not None
    [root] = trace.roots
    assert [(one.failed, one.notes) for one in root.children] == [(True, ["it has no id"])]


def test_a_step_whose_surroundings_are_missing_says_so() -> None:
    trace = trace_of(traced(span("b", "gone", 0, 1)))
    assert trace is not None
    assert trace.roots[0].notes == ["the step around it is not in this trace"]


def calling(*results: dict[str, Any], ids: tuple[str, ...] = ("c1",)) -> dict[str, Any]:
    """A run of the normal form: a turn with calls, and results."""
    calls = [
        {"kind": "tool_call", "id": id_, "name": f"pay{number}", "arguments": read_arguments("{}").model_dump()}
        for number, id_ in enumerate(ids)
    ]
    said = {"kind": "model_turn", "content": [{"type": "text", "text": "Paid."}]}
    return {"run": {"run_id": "r", "steps": [*calls, *results, said]}}


def result(id_: str | None, text: str, *, failed: bool) -> dict[str, Any]:
    return {"kind": "tool_result", "call_id": id_, "content": [{"type": "text", "text": text}], "is_error": failed}


def test_a_later_result_does_not_undo_a_failure() -> None:
    trace = trace_of(calling(result("c1", "card declined", failed=True), result("c1", "ok", failed=False)))
    assert trace is not None
    [call] = trace.roots[0].children
    assert (call.failed, trace.failed) == (True, 1)
    assert [(one.words, one.failed, one.notes) for one in call.children] == [
        ("card declined", True, []),
        ("ok", False, ["its call had a result before"]),
    ]


def test_a_result_of_no_call_is_shown_and_blamed_on_no_other_call() -> None:
    trace = trace_of(calling(result("c9", "card declined", failed=True), result("c1", "ok", failed=False)))
    assert trace is not None
    [call] = trace.roots[0].children
    assert (call.failed, [one.words for one in call.children]) == (False, ["ok"])
    [stray] = [one for one in trace.roots if one.kind == "stray"]
    assert (stray.words, stray.failed, trace.failed) == ("card declined", True, 1)
    assert stray.notes == ["no call before it has the id c9"]


def test_two_calls_of_one_id_have_a_result_each() -> None:
    asked = calling(result("c1", "bad", failed=True), result("c1", "ok", failed=False), ids=("c1", "c1"))
    trace = trace_of(asked)
    assert trace is not None
    calls = trace.roots[0].children
    told = [(one.failed, [child.words for child in one.children]) for one in calls]
    assert told == [(True, ["bad"]), (False, ["ok"])]
    assert all(one.notes == ["2 calls have its id c1"] for one in calls)


def test_what_no_reader_knows_and_what_is_malformed_is_named() -> None:
    asked = calling(result("c1", "ok", failed=False))
    asked["run"]["steps"][0]["faults"] = [{"code": "arguments.invalid_json", "message": "the arguments are no JSON"}]
    asked["run"]["steps"].append({"kind": "opaque", "type": "computer_use", "value": {}})
    trace = trace_of(asked)
    assert trace is not None
    assert trace.roots[0].children[0].notes == ["the arguments are no JSON"]
    assert [one.name for one in trace.roots if one.kind == "other"] == ["computer_use"]


def test_of_a_large_trace_failures_are_shown_before_other_steps_and_the_rest_is_counted_where_it_is() -> None:
    many = 5 * MOST_NODES
    asked = traced(
        span("root", None, 0, many, "invoke_agent"),
        *(span(f"s{number}", "root", number, number + 1) for number in range(many)),
        span("last", "root", many, many + 1, "execute_tool", status={"code": 2, "message": "card declined"}),
    )
    trace = trace_of(asked)
    assert trace is not None
    [root] = trace.roots
    assert [one.words for one in root.children if one.failed] == ["card declined"]
    assert (trace.nodes, trace.failed, trace.left_out) == (many + 2, 1, many + 2 - MOST_NODES)
    assert (root.left_out, root.left_out_failed) == (trace.left_out, 0)
    drawn = trace_view(asked)
    assert drawn is not None
    assert f"{trace.left_out:,} steps in here are not shown" in drawn.html


def test_failures_that_are_left_out_are_counted_as_such() -> None:
    many = 2 * MOST_NODES
    asked = traced(*(span(f"s{number}", None, number, number + 1, status={"code": 2}) for number in range(many)))
    trace = trace_of(asked)
    assert trace is not None
    assert (trace.failed, trace.left_out, trace.left_out_failed) == (many, MOST_NODES, MOST_NODES)
    drawn = trace_view(asked)
    assert drawn is not None
    assert f"{MOST_NODES:,} of which failed" in drawn.html


def test_what_is_too_deep_is_counted_where_it_is() -> None:
    deep = [span(f"s{number}", f"s{number - 1}" if number else None, number, 999) for number in range(100)]
    deep[-1]["status"] = {"code": 2}
    trace = trace_of(traced(*deep))
    assert trace is not None
    [node] = trace.roots
    while node.children:
        [node] = node.children
    assert (node.left_out, node.left_out_failed) == (trace.left_out, 1)
    assert len(trace.roots) == 1


def test_a_run_that_cannot_be_drawn_says_so() -> None:
    drawn = trace_view({"run": "not a transcript"})
    assert drawn is not None
    assert "cannot be shown" in drawn.html
