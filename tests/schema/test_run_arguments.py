"""Arguments are read strictly, kept verbatim and marked where malformed."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema.run.arguments import Arguments, ArgumentsForm, free_text, read_argument_object, read_arguments
from assay.schema.run.json_values import plain_json


def _codes(arguments: Arguments) -> list[str]:
    return [fault.code.removeprefix("arguments.") for fault in arguments.faults]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        (' {"a": [1, 2.5, "x", null, true]} ', {"a": [1, 2.5, "x", None, True]}),
        ('{"emoji": "\\ud83d\\ude00"}', {"emoji": "😀"}),
        ('{"a": {"x": 1}, "b": {"x": 2}}', {"a": {"x": 1}, "b": {"x": 2}}),
        ('{"big": 123456789012345678901234567890}', {"big": 123456789012345678901234567890}),
    ],
)
def test_an_object_is_read_and_kept_as_written(text: str, value: object) -> None:
    arguments = read_arguments(text)
    assert arguments.value == value
    assert arguments.verbatim == text
    assert arguments.well_formed


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["empty"]),
        (" \n", ["empty"]),
        ("{'a': 1}", ["invalid_json"]),
        ('{"a": 1,}', ["invalid_json"]),
        ('{"a": 1} {"b": 2}', ["invalid_json"]),
        ("\ufeff{}", ["invalid_json"]),
        ("null", ["not_an_object"]),
        ('"{}"', ["not_an_object"]),
        ("[{}]", ["not_an_object"]),
        ('{"a": 1, "a": 1}', ["duplicate_key"]),
        ('{"x": {"a": 1, "\\u0061": 2}}', ["duplicate_key"]),
        ('{"a": NaN}', ["not_finite"]),
        ('{"a": -Infinity}', ["not_finite"]),
        ('{"a": 1e999}', ["not_finite"]),
        ('{"a": ' + "9" * 401 + "}", ["number_too_long"]),
        ('{"a": 0.' + "9" * 401 + "}", ["number_too_long"]),
        ('{"a": "\\ud800"}', ["lone_surrogate"]),
        ('{"\\udfff": 1}', ["lone_surrogate"]),
        ('{"a": ' * 201 + "1" + "}" * 201, ["too_deep"]),
        ("[" * 100_000, ["too_deep"]),
        ('{"n": NaN, "n": 1}', ["not_finite", "duplicate_key"]),
    ],
)
def test_malformed_text_is_kept_and_says_what_is_wrong(text: str, codes: list[str]) -> None:
    arguments = read_arguments(text)
    assert _codes(arguments) == codes
    assert arguments.value is None
    assert arguments.verbatim == text


def test_thousands_of_faults_are_told_once() -> None:
    text = "{" + ", ".join(['"a": NaN'] * 5000) + "}"
    assert _codes(read_arguments(text)) == ["not_finite", "duplicate_key"]


@pytest.mark.parametrize("unit", ['"', "\\", '{"a":', "[", '"\\', "\\u", "{", '","'])
def test_a_hundred_kilobytes_of_anything_are_read_or_marked(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    arguments = read_arguments(text)
    assert not arguments.well_formed
    assert arguments.verbatim == text


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_raises(text: str) -> None:
    arguments = read_arguments(text)
    assert arguments.verbatim == text
    assert (arguments.value is not None) == arguments.well_formed


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), st.integers() | st.booleans() | st.none()))
def test_objects_and_their_text_have_the_same_value(value: dict[str, object]) -> None:
    assert read_argument_object(value).value == value
    assert read_arguments(json.dumps(value)).value == value
    assert read_argument_object(value).verbatim is None


@pytest.mark.parametrize(
    ("value", "codes", "verbatim"),
    [
        (None, ["missing"], None),
        ([1], ["not_an_object"], "[1]"),
        ("text", ["not_an_object"], '"text"'),
        ({"a": math.nan}, ["not_finite"], '{"a": NaN}'),
        ({"a": [-math.inf]}, ["not_finite"], '{"a": [-Infinity]}'),
        ({"a": "\ud800"}, ["lone_surrogate"], '{"a": "\\ud800"}'),
        ({"\ud800": 1}, ["lone_surrogate"], '{"\\ud800": 1}'),
    ],
)
def test_values_that_are_no_arguments_are_kept_as_text(value: object, codes: list[str], verbatim: str | None) -> None:
    for given_value in (value, plain_json(value).value):
        arguments = read_argument_object(given_value)
        assert _codes(arguments) == codes
        assert arguments.verbatim == verbatim


def test_free_text_is_no_json_and_well_formed() -> None:
    arguments = free_text("{not json")
    assert (arguments.form, arguments.value, arguments.verbatim) == (ArgumentsForm.TEXT, None, "{not json")
    assert arguments.well_formed
