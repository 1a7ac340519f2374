"""Structured outputs: every violation with its pointer, its place, what was expected and what came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.verify.documents.json_schema import MOST_ISSUES, check_structure
from assay.verify.documents.json_text import parse, walk

CLAIM: dict[str, Any] = {
    # The claim object of docs/concepts.md#structured-output.
    "type": "object",
    "additionalProperties": False,
    "required": ["claim_id", "statement", "claim_type", "source_refs", "confidence"],
    "properties": {
        "claim_id": {"type": "string", "format": "uuid"},
        "statement": {"type": "string", "minLength": 1, "maxLength": 500},
        "claim_type": {"enum": ["FACTUAL", "INFERENTIAL", "PROCEDURAL", "UNCERTAIN"]},
        "source_refs": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "caveats": {"type": "array", "items": {"type": "string"}},
    },
}
GOOD: dict[str, Any] = {
    "claim_id": "4b1c1a2e-7a3c-4f47-9a1e-0d0c6f4f8a11",
    "statement": "Leave lasts 16 weeks.",
    "claim_type": "FACTUAL",
    "source_refs": ["POL-0042"],
    "confidence": 0.9,
}


def only(output: str, schema: dict[str, Any] | bool) -> tuple[str, str | None, str, str]:
    [issue] = check_structure(output, schema)
    assert issue.span is not None
    return issue.code, issue.path, output[issue.span.start : issue.span.end], issue.message


def test_an_output_that_keeps_to_its_schema_has_no_issues() -> None:
    assert check_structure(json.dumps(GOOD), CLAIM) == []


@pytest.mark.parametrize(
    ("change", "code", "path", "place", "words"),
    [
        ({"claim_type": "GUESS"}, "structure.enum", "/claim_type", '"GUESS"', '"FACTUAL", "INFERENTIAL"'),
        ({"confidence": 1.5}, "structure.range", "/confidence", "1.5", "Expected at most 1"),
        ({"confidence": -0.5}, "structure.range", "/confidence", "-0.5", "Expected at least 0"),
        ({"confidence": "high"}, "structure.type", "/confidence", '"high"', "Expected a number"),
        ({"statement": ""}, "structure.range", "/statement", '""', "at least 1 characters at /statement, got 0"),
        ({"source_refs": ["POL-42"]}, "structure.pattern", "/source_refs/0", '"POL-42"', "pattern"),
        ({"caveats": None}, "structure.type", "/caveats", "null", "Expected a list"),
        ({"claim_id": "7"}, "structure.format", "/claim_id", '"7"', "the format uuid"),
        ({"author": {"n": 1}}, "structure.additional", "/author", '{"n": 1}', '"author" at /author is not allowed'),
    ],
)
def test_each_kind_of_violation_says_where_it_is_and_what_was_expected(
    change: dict[str, Any], code: str, path: str, place: str, words: str
) -> None:
    found = only(json.dumps(GOOD | change), CLAIM)
    assert found[:3] == (code, path, place)
    assert words in found[3]


def test_a_missing_field_is_named_at_its_object() -> None:
    output = json.dumps({k: v for k, v in GOOD.items() if k != "confidence"})
    assert only(output, CLAIM) == ("structure.required", "", output, 'The field "confidence" is missing at the top.')


@pytest.mark.parametrize(
    ("schema", "output", "code"),
    [
        ({"const": 5}, "4", "structure.enum"),
        ({"multipleOf": 3}, "4", "structure.range"),
        ({"exclusiveMinimum": 4}, "4", "structure.range"),
        ({"minItems": 1}, "[]", "structure.range"),
        ({"uniqueItems": True}, "[1, 1]", "structure.unique"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "4", "structure.choice"),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, "4", "structure.choice"),
        ({"not": {"type": "number"}}, "4", "structure.forbidden"),
        ({"contains": {"type": "string"}}, "[1]", "structure.range"),
        ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', "structure.name"),
        ({"unevaluatedProperties": False}, '{"ab": 1}', "structure.additional"),
        (False, "1", "structure.additional"),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True},
            "3",
            "structure.range",
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}},
            '{"a": 1}',
            "structure.required",
        ),
        ({"items": [{"type": "string"}, {"type": "integer"}]}, '["a", "b"]', "structure.type"),
        ({"maximum": 3, "exclusiveMaximum": True}, "3", "structure.range"),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', "structure.required"),
    ],
)
def test_every_draft_and_keyword_has_its_code(schema: dict[str, Any] | bool, output: str, code: str) -> None:
    assert only(output, schema)[0] == code


def test_json_inside_one_fenced_block_is_read_at_its_place() -> None:
    output = 'Here you are:\n```json\n{"n": "x"}\n```\nAnything else?'
    assert only(output, {"properties": {"n": {"type": "integer"}}})[:3] == ("structure.type", "/n", '"x"')


def test_two_fenced_blocks_are_not_guessed_between() -> None:
    assert only("```\n1\n```\n```\n2\n```", True)[0] == "structure.not_json"


@pytest.mark.parametrize(
    "output", ["", "   ", "no json", "{'a': 1}", '{"a": 1,}', '{"a": 1} and more', "[1, 2", '"open']
)
def test_text_that_is_not_json_is_an_issue_with_a_place(output: str) -> None:
    [issue] = check_structure(output, True)
    assert issue.code == "structure.not_json"
    assert issue.span is not None
    assert issue.span.end <= len(output)


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_know_is_an_issue(literal: str) -> None:
    [issue] = check_structure(f'{{"a": {literal}}}', True)
    assert issue.code == "structure.not_json"
    assert issue.span is not None
    assert issue.span.start == 6


def test_a_key_that_comes_twice_is_an_issue_at_the_second() -> None:
    output = '{"a": {"b": 1, "b": 2}, "c": [{"b": 1}, {"b": 1}]}'
    assert only(output, True)[:3] == ("structure.duplicate_key", "/a/b", '"b": 2')


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5000])
def test_a_number_that_no_reader_holds_is_an_issue_at_its_place(number: str) -> None:
    assert only(f'{{"a": [{number}]}}', True)[:3] == ("structure.number", "/a/0", number)


def test_a_number_of_three_hundred_digits_is_compared_as_it_stands() -> None:
    assert only("9" * 300, {"maximum": 10})[0] == "structure.range"


@pytest.mark.parametrize("output", ["[" * 10_000, "[" * 10_000 + "]" * 10_000, '{"a":' * 10_000 + "1" + "}" * 10_000])
def test_nesting_without_end_is_an_issue_and_no_crash(output: str) -> None:
    [issue] = check_structure(output, True)
    assert issue.code == "structure.too_deep"
    assert "deeper than 200 levels" in issue.message


def test_brackets_inside_a_text_are_not_nesting() -> None:
    assert check_structure(json.dumps("[{" * 10_000), True) == []


def test_a_flood_of_violations_is_cut_and_says_so() -> None:
    issues = check_structure(json.dumps(["x"] * 5000), {"items": {"type": "integer"}})
    assert len(issues) == MOST_ISSUES + 1
    assert issues[-1].code == "structure.more"


def test_an_evil_pattern_gives_an_answer() -> None:
    issues = check_structure(json.dumps("a" * 5000 + "b"), {"pattern": "^(?=(a+)+$)(a|aa)+$"})
    assert [issue.code for issue in issues] in (["structure.pattern"], ["structure.unchecked"])


@pytest.mark.parametrize(
    "schema",
    [{"type": "integ"}, {"pattern": "("}, {"$ref": "#/nowhere"}, {"properties": 3}, {"$ref": "https://example.com/x"}],
)
def test_a_broken_schema_is_an_input_error(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="JSON Schema is broken"):
        check_structure("{}", schema)


@pytest.mark.parametrize("schema", ["{}", None, [1], 3])
def test_a_schema_that_is_no_mapping_is_an_input_error(schema: Any) -> None:
    with pytest.raises(InputError, match="must be a mapping or a bool"):
        check_structure("{}", schema)


def test_a_schema_that_holds_itself_is_an_input_error() -> None:
    schema: dict[str, Any] = {}
    schema["properties"] = {"a": schema}
    with pytest.raises(InputError):
        check_structure("{}", schema)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values, st.booleans(), st.booleans())
def test_every_value_is_found_at_a_place_that_reads_as_itself(value: Any, spaced: bool, plain: bool) -> None:
    output = " \n" + json.dumps(value, indent=1 if spaced else None, ensure_ascii=not plain)
    parsed = parse(output)
    for path, place in walk(parsed):
        inner = value
        for part in path:
            inner = inner[part]
        assert json.loads(output[place.start : place.end]) == inner


@given(st.text(max_size=60))
def test_any_text_gives_an_answer_whose_spans_lie_inside(text: str) -> None:
    for issue in check_structure(text, {"type": "object", "required": ["a"]}):
        assert issue.span is not None
        assert issue.span.end <= len(text)


@given(values)
def test_what_python_writes_as_json_keeps_to_the_open_schema(value: Any) -> None:
    assert check_structure(json.dumps(value), True) == []
