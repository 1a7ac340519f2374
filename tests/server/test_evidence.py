"""What counts as evidence for the answer to a request."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema.run_formats import read_run
from assay.server.gateway.evidence import Asked, evidence_of, question_of, read_asked
from assay.server.gateway.exchange import depth_of, read_object, without_member


def pieces(messages: list[dict[str, Any]], asked: Asked | None = None, format: str = "openai_chat") -> dict[str, str]:  # noqa: A002
    run = read_run({"model": "m", "messages": messages}, format=format)
    return {piece.id: piece.text for piece in evidence_of(run, asked or Asked())}


def test_tools_users_and_the_system_prompt_say_something_and_the_model_does_not() -> None:
    found = pieces(
        [
            {"role": "system", "content": "Leave is paid."},
            {"role": "user", "content": "I work in Bonn. How long is my leave?"},
            {"role": "assistant", "content": "It is 9 weeks."},
            {"role": "tool", "tool_call_id": "c1", "content": "Leave in Bonn: 2 weeks."},
        ]
    )
    text = " ".join(found.values())
    assert "Leave is paid." in text
    assert "I work in Bonn." in text
    assert "Leave in Bonn: 2 weeks." in text
    assert "9 weeks" not in text
    assert "How long" not in text


def test_passages_that_a_prompt_labels_keep_their_names() -> None:
    found = pieces(
        [{"role": "user", "content": "Answer from these:\n[hr-2] Leave is 2 weeks.\n[hr-3] It is paid.\n\nGo."}]
    )
    assert found["hr-2"].strip() == "Leave is 2 weeks."
    assert found["hr-3"].strip() == "It is paid."


def test_documents_in_elements_keep_their_names() -> None:
    found = pieces([{"role": "user", "content": '<document id="a1">Leave is 2 weeks.</document> How long is it?'}])
    assert found["a1"] == "Leave is 2 weeks."


def test_a_result_that_is_a_list_of_records_gives_each_record() -> None:
    rows = [{"id": "d1", "text": "Leave is 2 weeks.", "score": 0.3}, {"id": "d2", "text": "It is paid."}]
    for content in (json.dumps(rows), json.dumps({"results": rows})):
        found = pieces([{"role": "tool", "tool_call_id": "c1", "content": content}])
        assert set(found) == {"d1", "d2"}
    other = pieces([{"role": "tool", "tool_call_id": "c1", "content": json.dumps({"results": rows, "total": 2})}])
    assert "total" in next(iter(other.values()))


def test_documents_and_search_results_of_messages_are_passages() -> None:
    blocks = [
        {"type": "document", "title": "HR", "source": {"type": "text", "media_type": "text/plain", "data": "2 weeks."}},
        {"type": "search_result", "source": "hr.md", "title": "T", "content": [{"type": "text", "text": "Paid."}]},
        {"type": "text", "text": "How long is it?"},
    ]
    found = pieces([{"role": "user", "content": blocks}], format="anthropic_messages")
    assert sorted(found.values()) == ["2 weeks.", "Paid."]


def test_given_evidence_stands_beside_tools_and_documents_unless_it_is_said_otherwise() -> None:
    messages = [{"role": "system", "content": "Paid."}, {"role": "tool", "tool_call_id": "c", "content": "2 weeks."}]
    asked = read_asked({"evidence": ["Bonn."]}, None, None)
    assert sorted(pieces(messages, asked).values()) == ["2 weeks.", "Bonn."]
    only = read_asked({"evidence": ["Bonn."], "sources": []}, None, None)
    assert sorted(pieces(messages, only).values()) == ["Bonn."]


def test_ids_that_are_used_twice_are_told_apart() -> None:
    rows = [{"id": "d", "text": "One."}]
    others = [{"id": "d", "text": "Two."}]
    found = pieces(
        [{"role": "tool", "tool_call_id": c, "content": json.dumps(r)} for c, r in (("1", rows), ("2", others))]
    )
    assert found == {"d": "One.", "d~2": "Two."}


def test_the_question_is_the_users_last_word_unless_it_is_given() -> None:
    run = read_run({"messages": [{"role": "user", "content": "How long?"}]}, format="openai_chat")
    assert question_of(run, Asked()) == "How long?"
    assert question_of(run, Asked(question="Since when?")) == "Since when?"


@pytest.mark.parametrize(
    "field", [3, {"colour": 1}, {"stakes": "huge"}, {"claim_free": "yes"}, {"evidence": 4}, {"sources": ["web"]}]
)
def test_a_field_that_makes_no_sense_is_refused(field: Any) -> None:
    with pytest.raises(InputError):
        read_asked(field, None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
BLANK = st.text(" \n\t\r", max_size=2)


@given(
    members=st.dictionaries(st.text(max_size=5), JSON, max_size=4), field=JSON, place=st.integers(0, 4), data=st.data()
)
def test_taking_a_member_out_leaves_every_other_byte(
    members: dict[str, Any], field: Any, place: int, data: st.DataObject
) -> None:
    members.pop("assay", None)
    items = [(key, json.dumps(value, ensure_ascii=False)) for key, value in members.items()]
    items.insert(place % (len(items) + 1), ("assay", json.dumps(field)))
    written = ",".join(
        f"{data.draw(BLANK)}{json.dumps(key)}{data.draw(BLANK)}:{data.draw(BLANK)}{value}{data.draw(BLANK)}"
        for key, value in items
    )
    body = f"{data.draw(BLANK)}{{{written}}}".encode("utf-8", "surrogatepass")
    try:
        body.decode()
    except UnicodeDecodeError:
        return
    left = without_member(body, "assay")
    assert read_object(left, "the body") == members
    assert without_member(left, "assay") == left


def test_depth_is_counted_no_further_than_asked() -> None:
    value: Any = []
    for _ in range(5000):
        value = [value]
    assert depth_of(value, 100) == 101
