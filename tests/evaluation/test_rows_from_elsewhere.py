"""Rows of other tools, in the forms of their exports, and labels as people write them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation.rows import Row, read_rows
from assay.evaluation.rows.elsewhere import PRESETS, read_translation
from assay.evaluation.rows.elsewhere.values import as_evidence, as_text, find

LEAVE = "Leave is 2 weeks."
PAY = "It is paid in full."
SAID = "Leave is 4 weeks."
ASKED = "How long is leave?"


def write(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    text = "".join(json.dumps(row) + "\n" for row in value) if name.endswith(".jsonl") else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, preset: str | None = None, *mapped: str) -> list[Row]:
    return list(read_rows(path, read_translation(preset, mapped)))


def told(row: Row) -> tuple[str, str | None, list[str]]:
    return row.text, row.question, [piece.text for piece in row.evidence]


WHOLE = (SAID, ASKED, [LEAVE, PAY])


def test_ragas_json_lines_with_the_ids_of_its_contexts(tmp_path: Path) -> None:
    sample = {"user_input": ASKED, "response": SAID, "retrieved_contexts": [LEAVE, PAY], "reference": "2 weeks"}
    with_ids = {**sample, "retrieved_context_ids": ["hr-1", 7]}
    first, second = read(write(tmp_path, "r.jsonl", [sample, with_ids]), "ragas")
    assert told(first) == told(second) == WHOLE
    assert [piece.id for piece in second.evidence] == ["hr-1", "7"]
    assert first.meta["reference"] == "2 weeks"


def test_ragas_csv_writes_lists_as_python_prints_them(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["user_input", "retrieved_contexts", "response"])
        writer.writeheader()
        writer.writerow({"user_input": ASKED, "retrieved_contexts": [LEAVE, PAY], "response": SAID})
    assert told(read(path, "ragas")[0]) == WHOLE


def test_ragas_before_version_0_2_named_its_columns_otherwise(tmp_path: Path) -> None:
    row = {"question": ASKED, "answer": SAID, "contexts": [LEAVE, PAY], "ground_truth": "2 weeks"}
    assert told(read(write(tmp_path, "r.jsonl", [row]), "ragas")[0]) == WHOLE


@pytest.mark.parametrize("contexts", [[LEAVE, PAY], f"{LEAVE}|{PAY}"])
def test_deepeval_json_and_cells_joined_by_its_delimiter(tmp_path: Path, contexts: object) -> None:
    golden = {"input": ASKED, "actual_output": SAID, "expected_output": "2 weeks", "retrieval_context": contexts}
    assert told(read(write(tmp_path, "goldens.json", [golden]), "deepeval")[0]) == WHOLE


def test_deepeval_passages_with_a_source_keep_it(tmp_path: Path) -> None:
    golden = {
        "input": ASKED,
        "actual_output": SAID,
        "retrieval_context": [f"deepeval_source=hr.md,deepeval_context={LEAVE}"],
    }
    (piece,) = read(write(tmp_path, "g.json", [golden]), "deepeval")[0].evidence
    assert (piece.text, piece.source) == (LEAVE, "hr.md")


def test_trulens_evidence_is_what_groundedness_was_asked_with(tmp_path: Path) -> None:
    calls = [
        {"args": {"source": LEAVE, "statement": SAID}, "ret": 0.0},
        {"args": {"source": PAY, "statement": SAID}, "ret": 0.0},
    ]
    record = {"record_id": "rec-1", "input": ASKED, "output": SAID, "Groundedness": 0.0, "Groundedness_calls": calls}
    (row,) = read(write(tmp_path, "records.jsonl", [record]), "trulens")
    assert told(row) == WHOLE
    assert (row.id, row.meta["Groundedness"]) == ("rec-1", 0.0)


def test_langfuse_joins_what_was_retrieved_in_a_trace_to_its_answer(tmp_path: Path) -> None:
    observations = [
        {
            "id": "o1",
            "traceId": "t1",
            "type": "SPAN",
            "parentObservationId": None,
            "input": {"question": ASKED},
            "output": {"role": "assistant", "content": SAID},
        },
        {
            "id": "o2",
            "traceId": "t1",
            "type": "RETRIEVER",
            "parentObservationId": "o1",
            "input": ASKED,
            "output": json.dumps([{"page_content": LEAVE}, {"page_content": PAY}]),
        },
        {"id": "o3", "traceId": "t1", "type": "GENERATION", "parentObservationId": "o1", "input": "x", "output": "d"},
    ]
    (row,) = read(write(tmp_path, "observations.json", observations), "langfuse")
    assert told(row) == WHOLE
    (whole,) = read(write(tmp_path, "trace-t1.json", {"trace": {"id": "t1"}, "observations": observations}), "langfuse")
    assert told(whole) == WHOLE


def test_a_trace_that_begins_in_another_service_has_its_answer_at_its_outermost_span(tmp_path: Path) -> None:
    """Observations as version 5 of Langfuse's own API gives them: the parent of the root may be told elsewhere."""
    shared: dict[str, Any] = {
        "traceId": "t1",
        "projectId": "p",
        "startTime": "2026-11-27T08:00:00Z",
        "level": "DEFAULT",
    }
    observations: list[dict[str, Any]] = [
        {
            **shared,
            "id": "b7ad6b7169203331",
            "type": "AGENT",
            "parentObservationId": "00f067aa0ba902b7",
            "isRootObservation": True,
            "input": {"question": ASKED},
            "output": SAID,
        },
        {
            **shared,
            "id": "b7ad6b7169203332",
            "type": "RETRIEVER",
            "parentObservationId": "b7ad6b7169203331",
            "input": ASKED,
            "output": {"documents": [{"content": LEAVE}, {"content": PAY}]},
        },
        {
            **shared,
            "id": "b7ad6b7169203333",
            "type": "GENERATION",
            "parentObservationId": "b7ad6b7169203331",
            "output": "d",
        },
    ]
    (row,) = read(write(tmp_path, "observations.json", {"data": observations, "meta": {}}), "langfuse")
    assert told(row) == WHOLE
    assert (row.id, row.meta["traceId"]) == ("b7ad6b7169203331", "t1")
    service = {**shared, "id": "00f067aa0ba902b7", "type": "SPAN", "input": "GET /ask", "output": "200"}
    (row,) = read(write(tmp_path, "with_service.json", {"data": [service, *observations]}), "langfuse")
    assert told(row) == WHOLE
    bare = [{key: value for key, value in one.items() if key != "isRootObservation"} for one in observations]
    (row,) = read(write(tmp_path, "unmarked.json", {"data": bare}), "langfuse")
    assert told(row) == WHOLE


def test_phoenix_spans_as_its_client_gives_them(tmp_path: Path) -> None:
    """`Client().spans.get_spans`: the context is an object, attributes have dots in their names."""
    spans = [
        {
            "name": "answer",
            "context": {"trace_id": "t", "span_id": "s1"},
            "span_kind": "CHAIN",
            "parent_id": None,
            "attributes": {"input.value": ASKED, "output.value": SAID},
        },
        {
            "name": "search",
            "context": {"trace_id": "t", "span_id": "s2"},
            "span_kind": "RETRIEVER",
            "parent_id": "s1",
            "attributes": {"retrieval.documents": [{"document.content": LEAVE}, {"document.content": PAY}]},
        },
    ]
    (row,) = read(write(tmp_path, "spans.json", {"data": spans, "next_cursor": None}), "phoenix")
    assert told(row) == WHOLE
    assert row.id == "s1"


def test_phoenix_spans_and_its_table_of_questions_with_references(tmp_path: Path) -> None:
    documents = [{"document.id": "hr-1", "document.content": LEAVE}, {"document.content": PAY}]
    spans = [
        {
            "context.span_id": "s1",
            "context.trace_id": "t",
            "parent_id": None,
            "span_kind": "CHAIN",
            "attributes.input.value": ASKED,
            "attributes.output.value": SAID,
        },
        {
            "context.span_id": "s2",
            "context.trace_id": "t",
            "parent_id": "s1",
            "span_kind": "RETRIEVER",
            "attributes.input.value": ASKED,
            "attributes.retrieval.documents": documents,
        },
    ]
    (row,) = read(write(tmp_path, "spans.jsonl", spans), "phoenix")
    assert told(row) == WHOLE
    assert row.evidence[0].id == "hr-1"
    table = [{"context.span_id": "s1", "input": ASKED, "output": SAID, "reference": LEAVE}]
    assert told(read(write(tmp_path, "qa.jsonl", table), "phoenix")[0]) == (SAID, ASKED, [LEAVE])


def test_promptfoo_results_of_version_3(tmp_path: Path) -> None:
    result = {
        "id": "r1",
        "vars": {"question": ASKED, "context": [LEAVE, PAY]},
        "response": {"output": SAID},
        "success": False,
    }
    whole = {"evalId": "e", "results": {"version": 3, "results": [result], "stats": {}}, "config": {}}
    path = write(tmp_path, "results.json", whole)
    assert told(read(path, "promptfoo")[0]) == WHOLE
    assert read(path, "promptfoo")[0].label is None, "an assertion that failed says nothing of the evidence"
    assert read(path, "promptfoo", "label=success")[0].label == "not_supported"


def test_langsmith_runs_and_examples(tmp_path: Path) -> None:
    documents = [{"page_content": LEAVE, "metadata": {"source": "hr.md"}}, {"page_content": PAY}]
    runs = [
        {
            "id": "1",
            "trace_id": "1",
            "parent_run_id": None,
            "run_type": "chain",
            "inputs": {"question": ASKED},
            "outputs": {"answer": SAID},
        },
        {
            "id": "2",
            "trace_id": "1",
            "parent_run_id": "1",
            "run_type": "retriever",
            "inputs": {"query": ASKED},
            "outputs": {"documents": documents},
        },
    ]
    (row,) = read(write(tmp_path, "runs.jsonl", runs), "langsmith")
    assert told(row) == WHOLE
    assert row.evidence[0].source == "hr.md"
    example = {"id": "e", "inputs": {"question": ASKED, "context": [LEAVE, PAY]}, "outputs": {"answer": SAID}}
    assert told(read(write(tmp_path, "examples.jsonl", [example]), "langsmith")[0]) == WHOLE


def test_ragtruth_joins_its_two_files_and_keeps_the_wrong_characters(tmp_path: Path) -> None:
    mark = {"start": 9, "end": 16, "text": "4 weeks", "label_type": "Evident Conflict"}
    made_up = {**mark, "label_type": "Subtle Baseless Info"}
    responses = [
        {"id": "1", "source_id": "a", "labels": [mark], "response": SAID},
        {"id": "2", "source_id": "a", "labels": [], "response": LEAVE},
        {"id": "3", "source_id": "b", "labels": [made_up], "response": SAID},
    ]
    sources = [
        {"source_id": "a", "source_info": {"question": ASKED, "passages": f"passage 1:{LEAVE}\n\npassage 2:{PAY}\n\n"}},
        {"source_id": "b", "source_info": {"name": "Subway", "hours": {"Monday": "9-22"}}},
    ]
    path = write(tmp_path, "response.jsonl", responses)
    with pytest.raises(InputError, match=r"source_info\.jsonl: no such file"):
        read(path, "ragtruth")
    write(tmp_path, "source_info.jsonl", sources)
    first, second, third = read(path, "ragtruth")
    assert told(first) == WHOLE
    assert (first.label, first.spans) == ("contradicted", ((9, 16),))
    assert (second.label, second.spans) == ("supported", ())
    assert third.label == "unsupported"
    assert json.loads(third.evidence[0].text)["hours"] == {"Monday": "9-22"}


def test_any_columns_can_be_named(tmp_path: Path) -> None:
    rows = [{"nr": 5, "reply": SAID, "docs": [LEAVE, PAY], "q": ASKED, "hallucinated": 1}]
    path = write(tmp_path, "mine.jsonl", rows)
    (row,) = read(path, None, "answer=reply,evidence=docs", "question=q,id=nr,label=!hallucinated")
    assert told(row) == WHOLE
    assert (row.id, row.label) == ("5", "not_supported")


@pytest.mark.parametrize(
    ("preset", "mapped", "why"),
    [
        ("ragass", [], "did you mean ragas?"),
        (None, ["answer"], "expected OURS=THEIRS"),
        (None, ["anwser=x"], "there is no field 'anwser'"),
        (None, ["answer=!x"], "only a label can say the opposite"),
    ],
)
def test_a_translation_that_makes_no_sense_is_an_error(preset: str | None, mapped: list[str], why: str) -> None:
    with pytest.raises(InputError) as caught:
        read_translation(preset, mapped)
    assert why in str(caught.value)


def test_a_record_without_the_field_is_an_error_that_says_what_it_has(tmp_path: Path) -> None:
    path = write(tmp_path, "r.jsonl", [{"user_input": ASKED, "reply": SAID, "retrieved_contexts": [LEAVE]}])
    with pytest.raises(InputError) as caught:
        read(path, "ragas")
    assert "no answer; looked for response, answer; it has reply, retrieved_contexts, user_input" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "label"),
    [
        (1, "supported"),
        ("1", "supported"),
        (True, "supported"),
        ("Pass", "supported"),
        ("supported", "supported"),
        (0, "not_supported"),
        ("false", "not_supported"),
        ("FAIL", "not_supported"),
        ("contradicted", "contradicted"),
    ],
)
def test_labels_are_read_as_people_write_them(tmp_path: Path, given: object, label: str) -> None:
    row = {"id": "1", "evidence": [LEAVE], "claim": SAID, "label": given}
    assert read(write(tmp_path, "r.jsonl", [row]))[0].label == label


@pytest.mark.parametrize("given", ["yes?", 2, "0.5", [], {"a": 1}])
def test_what_is_no_label_is_refused(tmp_path: Path, given: object) -> None:
    row = {"id": "1", "evidence": [LEAVE], "claim": SAID, "label": given}
    with pytest.raises(InputError, match="pass and fail, or no label"):
        read(write(tmp_path, "r.jsonl", [row]))


NAMES = st.sampled_from(["content", "text", "documents", "role", "a.b", "metadata", "output", "response", "labels"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["a.b", "content.text", "documents[].content", "x", "", "[]", "."]))
def test_any_value_is_read_or_passed_over_and_never_breaks(value: Any, path: str) -> None:
    find(value, path)
    assert as_text(value) is None or isinstance(as_text(value), str)
    for one in as_evidence(value, value, "|"):
        text = one if isinstance(one, str) else one["text"]
        assert text.strip()


def test_every_preset_says_what_it_reads_and_where_that_is_described() -> None:
    assert all(preset.reads and preset.source for preset in PRESETS.values())
    page = (Path(__file__).parents[2] / "docs" / "rows.md").read_text(encoding="utf-8")
    assert [name for name in PRESETS if f"| `{name}` |" not in page] == []


def told_in_otlp(
    trace: str, answer: str, *, evidence: bool = True, model: str = "m-1", stop: str = "stop"
) -> dict[str, Any]:
    """A trace as an exporter writes it in OTLP JSON: a model that calls a tool, the tool, and the model again."""

    def span(number: int, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
        return {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "parentSpanId": "",
            "name": name,
            "startTimeUnixNano": str(number * 1000),
            "endTimeUnixNano": str(number * 1000 + 500),
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        }

    asked = {"role": "user", "parts": [{"type": "text", "content": ASKED}]}
    call = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"query": "leave"}}
    result = {"type": "tool_call_response", "id": "c1", "response": f"{LEAVE} {PAY}"}
    history = (
        [asked, {"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}] if evidence else [asked]
    )
    said = [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": stop}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
    last = {**chat, "gen_ai.input.messages": json.dumps(history), "gen_ai.output.messages": json.dumps(said)}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"}
    spans = [*([span(1, "execute_tool search", tool)] if evidence else []), span(2, "chat m-1", last)]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "app"}, "spans": spans}]}]}


def test_otlp_traces_are_rows_one_of_each(tmp_path: Path) -> None:
    exports = [
        told_in_otlp("a" * 32, SAID),
        told_in_otlp("b" * 32, LEAVE),
        told_in_otlp("c" * 32, SAID, evidence=False),
    ]
    first, second = read(write(tmp_path, "traces.jsonl", exports), "otel")
    assert (first.text, first.question, first.id) == (SAID, ASKED, "a" * 32)
    assert [piece.text for piece in first.evidence] == [f"{LEAVE} {PAY}"]
    assert first.meta["model"] == "m-1"
    assert second.text == LEAVE
    whole = {"resourceSpans": [one["resourceSpans"][0] for one in exports]}
    assert [row.text for row in read(write(tmp_path, "traces.json", whole), "otel")] == [SAID, LEAVE]


@pytest.mark.parametrize("stop", ["length", "max_tokens", "FinishReason.MAX_TOKENS", "content-filter", "error"])
def test_a_trace_whose_answer_was_cut_off_is_no_row(tmp_path: Path, stop: str) -> None:
    exports = [told_in_otlp("a" * 32, SAID[:-3], stop=stop), told_in_otlp("b" * 32, LEAVE, stop="end_turn")]
    assert [row.text for row in read(write(tmp_path, "traces.jsonl", exports), "otel")] == [LEAVE]
    told = json.loads(json.dumps(exports[0]).replace('\\"finish_reason\\"', '\\"was\\"'))
    assert "finish_reason" not in str(told)
    span = told["resourceSpans"][0]["scopeSpans"][0]["spans"][-1]
    reasons = {"arrayValue": {"values": [{"stringValue": stop}]}}
    span["attributes"].append({"key": "gen_ai.response.finish_reasons", "value": reasons})
    assert [row.text for row in read(write(tmp_path, "told.jsonl", [told, exports[1]]), "otel")] == [LEAVE]
    with pytest.raises(InputError, match="1 cut off, and left out"):
        read(write(tmp_path, "cut.jsonl", exports[:1]), "otel")


def test_a_trace_whose_last_call_of_the_model_failed_is_no_row(tmp_path: Path) -> None:
    failed = told_in_otlp("a" * 32, SAID[:-3])
    failed["resourceSpans"][0]["scopeSpans"][0]["spans"][-1]["status"] = {"code": 2}
    exports = [failed, told_in_otlp("b" * 32, LEAVE)]
    assert [row.text for row in read(write(tmp_path, "traces.jsonl", exports), "otel")] == [LEAVE]


def test_traces_without_content_say_what_is_lacking(tmp_path: Path) -> None:
    path = write(tmp_path, "bare.jsonl", [told_in_otlp("c" * 32, SAID, evidence=False)])
    with pytest.raises(InputError, match="1 traces, 1 with an answer, none with evidence"):
        read(path, "otel")
    with pytest.raises(InputError, match="--map has no place"):
        read(path, "otel", "answer=output")
