"""Transcripts become plain JSON; what JSON cannot hold is written out and marked."""

import math
from collections import OrderedDict
from datetime import UTC, datetime
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from assay.errors import InputError
from assay.schema.run.json_values import Altered, escaped, parse_json, places, plain_json, restored


class Role(Enum):
    USER = "user"


class Message(BaseModel):
    role: Role = Role.USER
    input_schema: dict[str, object] = Field(default_factory=dict, alias="inputSchema")
    at: datetime | None = None


texts = st.text(max_size=5)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def test_values_of_clients_are_dumped_by_their_names_on_the_wire() -> None:
    message = Message(inputSchema={"a": 1}, at=datetime(2026, 1, 2, tzinfo=UTC))
    expected = {"role": "user", "inputSchema": {"a": 1}, "at": "2026-01-02T00:00:00+00:00"}
    assert plain_json([message]).value == [expected]


def test_mappings_and_tuples_become_objects_and_arrays() -> None:
    assert plain_json(OrderedDict(a=(1, 2))).value == {"a": [1, 2]}


def test_what_json_cannot_hold_is_written_out_and_marked() -> None:
    plain = plain_json({"n": math.nan, "i": [math.inf, -math.inf], "s": "x\ud83dy", "k\udc00": 1})
    assert plain.value == {"n": "NaN", "i": ["Infinity", "-Infinity"], "s": "x\\ud83dy", "k\\udc00": 1}
    assert [(fault.code, fault.place) for fault in plain.faults] == [
        ("value.not_finite", "/n"),
        ("value.not_finite", "/i/0"),
        ("value.not_finite", "/i/1"),
        ("value.lone_surrogate", "/s"),
        ("value.lone_surrogate", ""),
    ]


@given(anything)
def test_the_written_form_can_be_restored(value: object) -> None:
    try:
        plain = plain_json(value)
    except InputError:
        return  # two names had the same written form
    assert repr(restored(plain.value)) == repr(value)
    assert bool(plain.faults) == any(isinstance(item, Altered) for _, item in places(plain.value))


def test_two_names_with_the_same_written_form_are_refused() -> None:
    with pytest.raises(InputError, match="same written name"):
        plain_json({"\ud800": 1, "\\ud800": 2})


@pytest.mark.parametrize("raw", [object(), b"bytes", {1, 2}, {"a": b""}, [iter([])]])
def test_what_is_no_json_is_refused(raw: object) -> None:
    with pytest.raises(InputError, match="is a Python"):
        plain_json(raw)


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(InputError, match="at most 200 levels"):
        plain_json(loop)


def test_names_stand_in_pointers_escaped() -> None:
    assert escaped("a/b~c") == "a~1b~0c"
    assert plain_json({"a/b": math.nan}).faults[0].place == "/a~1b"


def test_json_lines_are_read_as_an_array() -> None:
    assert parse_json('{"a": 1}\n\n{"b": 2}\n', "it") == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029"])
def test_a_sign_that_ends_a_line_elsewhere_ends_none_of_json_lines(sign: str) -> None:
    assert parse_json(f'{{"a": "x{sign}y"}}\r\n{{"b": 2}}\n', "it") == [{"a": f"x{sign}y"}, {"b": 2}]


def test_thousands_of_equal_names_are_refused_at_once() -> None:
    with pytest.raises(InputError, match="twice in one object"):
        parse_json("{" + ",".join(['"a": 1'] * 5000) + "}", "it")
