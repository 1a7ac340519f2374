"""What a request says of its own check, and its body without the field that says it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema import Stakes
from assay.wire.exchange import depth_of, read_object, without_member
from assay.wire.request_options import read_request_options


def test_given_evidence_stands_beside_tools_and_passages_unless_it_is_said_otherwise() -> None:
    assert read_request_options(None, None, None).counted == ("tools", "passages", "user", "system")
    assert read_request_options({"evidence": ["Bonn."]}, None, None).counted == ("tools", "passages")
    assert read_request_options({"evidence": ["Bonn."], "sources": []}, None, None).counted == ()


def test_a_header_and_the_field_say_the_same_or_the_request_is_refused() -> None:
    asked = read_request_options({"policy": "rag"}, None, "HIGH")
    assert (asked.policy, asked.stakes) == ("rag", Stakes.HIGH)
    asked = read_request_options({"policy": "rag", "stakes": "high"}, "rag", "HIGH")
    assert (asked.policy, asked.stakes) == ("rag", Stakes.HIGH)
    for policy, stakes in (("high-stakes", None), (None, "low")):
        with pytest.raises(InputError, match="give one"):
            read_request_options({"policy": "rag", "stakes": "high"}, policy, stakes)


@pytest.mark.parametrize(
    "field", [3, {"colour": 1}, {"stakes": "huge"}, {"claim_free": "yes"}, {"evidence": 4}, {"sources": ["web"]}]
)
def test_a_field_that_makes_no_sense_is_refused(field: Any) -> None:
    with pytest.raises(InputError):
        read_request_options(field, None, None)


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
