"""The words of a model's reasoning are taken out of what nobody checked; everything else stays as it came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.wire.parts.reasoning import event_without_reasoning, without_reasoning
from assay.wire.sse import read_event

THOUGHT = "It was 4 weeks, I guess."

ANSWERS: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        {"choices": [{"message": {"role": "assistant", "content": "Two.", name: value}, "finish_reason": "stop"}]}
        for name, value in {
            "reasoning_content": THOUGHT,
            "reasoning": THOUGHT,
            "reasoning_details": [
                {"type": "reasoning.text", "text": THOUGHT, "signature": "s1", "index": 0},
                {"type": "reasoning.summary", "summary": THOUGHT},
                {"type": "reasoning.encrypted", "data": "gAAA"},
            ],
            "provider_specific_fields": {"thinking_blocks": [{"type": "thinking", "thinking": THOUGHT}]},
        }.items()
    ],
    "anthropic_messages": [
        {"content": [{"type": "thinking", "thinking": THOUGHT, "signature": "s1"}, {"type": "text", "text": "Two."}]}
    ],
    "openai_responses": [
        {
            "output": [
                {
                    "id": "rs_1",
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": THOUGHT}],
                    "content": [{"type": "reasoning_text", "text": THOUGHT}],
                    "encrypted_content": "gAAA",
                },
                {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Two."}]},
            ],
            "reasoning": {"effort": "high", "summary": "auto"},
        }
    ],
}

EVENTS: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        {"choices": [{"index": 0, "delta": {"reasoning_content": THOUGHT}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": "Two.", "reasoning_details": [{"text": THOUGHT}]}}]},
    ],
    "anthropic_messages": [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": THOUGHT}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": THOUGHT}},
        {"type": "message_start", "message": {"content": [{"type": "thinking", "thinking": THOUGHT}]}},
    ],
    "openai_responses": [
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "sequence_number": 4, "delta": THOUGHT},
        {"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "text": THOUGHT},
        {"type": "response.reasoning_summary_part.done", "part": {"type": "summary_text", "text": THOUGHT}},
        {"type": "response.reasoning_text.delta", "delta": THOUGHT},
        {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": THOUGHT}},
        {"type": "response.output_item.done", "item": ANSWERS["openai_responses"][0]["output"][0]},
        {"type": "response.completed", "response": ANSWERS["openai_responses"][0]},
    ],
}


def cases(of: dict[str, list[dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, one) for name, some in of.items() for one in some]


@pytest.mark.parametrize(("name", "answer"), cases(ANSWERS))
def test_an_answer_keeps_its_text_and_loses_the_words_of_its_reasoning(name: str, answer: dict[str, Any]) -> None:
    before = json.dumps(answer)
    quiet = json.dumps(without_reasoning(name, answer))
    assert THOUGHT not in quiet
    assert "Two." in quiet
    assert json.dumps(answer) == before
    for kept in ("s1", "gAAA", "rs_1", '"effort": "high"'):
        assert (kept in quiet) == (kept in before)


@pytest.mark.parametrize(("name", "data"), cases(EVENTS))
def test_an_event_stays_in_its_place_and_loses_the_words_of_reasoning(name: str, data: dict[str, Any]) -> None:
    event = read_event(b"id: 7\nevent: some\ndata: " + json.dumps(data).encode() + b"\n\n")
    quiet, told = event_without_reasoning(name, event, data)
    assert THOUGHT not in quiet.raw.decode()
    assert quiet.raw.startswith(b"id: 7\nevent: some\ndata: {")
    assert json.loads(read_event(quiet.raw).data or "") == told
    assert told.get("type") == data.get("type")
    assert told.get("sequence_number") == data.get("sequence_number")
    # Taken out once, there is nothing left to take out.
    assert event_without_reasoning(name, quiet, told) == (quiet, told)


@pytest.mark.parametrize("name", list(ANSWERS))
@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        3,
        {},
        {"choices": None},
        {"choices": [3, {"delta": None}]},
        {"content": "text"},
        {"output": [None]},
        {"choices": [{"index": 0, "delta": {"content": "Two.", "reasoning_content": None}, "finish_reason": "stop"}]},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Two."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s1"}},
        {"type": "content_block_start", "content_block": {"type": "redacted_thinking", "data": "gAAA"}},
        {"type": "response.output_text.delta", "delta": "Two.", "output_index": 0},
        {"type": "response.completed", "response": {"output": [{"type": "reasoning", "summary": []}]}},
    ],
)
def test_what_shows_no_reasoning_stays_to_the_byte(name: str, data: Any) -> None:
    event = read_event(b"data:" + json.dumps(data).encode() + b"\r\n\r\n")
    quiet, told = event_without_reasoning(name, event, data)
    assert quiet is event
    assert told is data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(st.sampled_from(["reasoning_content", "reasoning", "reasoning_details", "provider_specific_fields"]), JSON)
def test_whatever_form_reasoning_has_no_word_of_it_is_left(member: str, value: Any) -> None:
    marked = json.loads(json.dumps(value).replace('""', '"~"'))
    answer = {"choices": [{"delta": {"content": "Two.", member: [marked, {"more": {"words": "~"}}, "~"]}}]}
    quiet = without_reasoning("openai_chat", answer)["choices"][0]["delta"]
    assert quiet["content"] == "Two."
    assert not list(words(quiet[member]))


def words(value: Any) -> Any:
    if isinstance(value, str) and value:
        yield value
    for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from words(inner)
