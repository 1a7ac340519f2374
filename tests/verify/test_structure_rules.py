"""Rules over several fields of a document, and references into the evidence."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.errors import InputError
from assay.schema.structure import CitedField, FieldRule, Structure
from assay.verify.documents.field_rules import check_rules, cited_objects, find_values, is_within, read_pattern
from assay.verify.documents.json_text import parse

INVOICE: dict[str, Any] = {
    "issued": "2025-03-01",
    "due": "2025-03-31",
    "lines": [{"id": "a", "price": 10.0}, {"id": "b", "price": 5.5}],
    "count": 2,
    "total": 15.5,
    "known": ["a", "b", "c"],
}


def issues(document: Any, **structure: Any) -> list[tuple[str, str]]:
    text = json.dumps(document)
    found_issues = check_rules(parse(text), Structure(**structure), {"hr-1", "hr-2"})
    for issue in found_issues:
        assert issue.span is not None
        assert text[issue.span.start : issue.span.end]
    return [(issue.code, issue.path or "") for issue in found_issues]


RULES: list[dict[str, Any]] = [
    {"rule": "order", "of": "/issued", "to": "/due"},
    {"rule": "sum", "of": "/lines/*/price", "to": "/total"},
    {"rule": "count", "of": "/lines/*", "to": "/count"},
    {"rule": "unique", "of": "/lines/*/id"},
    {"rule": "member", "of": "/lines/*/id", "to": "/known/*"},
    {"rule": "equal", "of": "/lines/0/price", "to": "/lines/0/price"},
]


def test_a_document_that_keeps_to_its_rules_has_no_findings() -> None:
    assert issues(INVOICE, rules=RULES) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"due": "2025-02-28"}, "/issued"),
        ({"total": 15.4}, "/total"),
        ({"count": 3}, "/count"),
        ({"lines": [{"id": "a", "price": 10.0}, {"id": "a", "price": 5.5}]}, "/lines/1/id"),
        ({"known": ["a"]}, "/lines/1/id"),
        ({"due": "soon"}, "/issued"),
        ({"total": "15.5"}, "/total"),
    ],
)
def test_a_broken_rule_names_the_field(change: dict[str, Any], path: str) -> None:
    assert ("structure.rule", path) in issues({**INVOICE, **change}, rules=RULES)


def test_dates_with_times_and_zones_are_compared_as_moments() -> None:
    rule = [{"rule": "order", "of": "/a", "to": "/b"}]
    assert issues({"a": "2025-03-01T23:00:00+01:00", "b": "2025-03-01T22:30:00Z"}, rules=rule) == []
    assert issues({"a": "2025-03-01T23:00:00Z", "b": "2025-03-01T23:30:00+01:00"}, rules=rule)


def test_a_star_on_both_sides_is_the_same_thing() -> None:
    rule = [{"rule": "order", "of": "/stays/*/from", "to": "/stays/*/till"}]
    stays = [{"from": 1, "till": 2}, {"from": 5, "till": 4}]
    assert issues({"stays": stays}, rules=rule) == [("structure.rule", "/stays/1/from")]
    sums = [{"rule": "sum", "of": "/carts/*/prices/*", "to": "/carts/*/total"}]
    carts = [{"prices": [1, 2], "total": 3}, {"prices": [4], "total": 5}]
    assert issues({"carts": carts}, rules=sums) == [("structure.rule", "/carts/1/total")]


def test_a_reference_has_to_be_an_id_of_the_evidence() -> None:
    document = {"one": "hr-1", "many": ["hr-2", "hr-9", 3]}
    assert issues(document, references=["/one", "/many"]) == [
        ("structure.reference", "/many/1"),
        ("structure.reference", "/many/2"),
    ]


def test_statements_come_with_the_sources_beside_them() -> None:
    document = {"claims": [{"says": 'A "b".', "refs": ["hr-1", "hr-9"]}, {"says": "C.", "refs": "hr-2"}]}
    cited = [CitedField(statement="/claims/*/says", sources="/claims/*/refs")]
    made = cited_objects(parse(json.dumps(document)), cited, {"hr-1", "hr-2"})
    assert [(one["claim_text"], [c["source_id"] for c in one["citations"]]) for one in made] == [
        ('A "b".', ["hr-1"]),
        ("C.", ["hr-2"]),
    ]


def test_a_pattern_names_what_lies_inside_of_it() -> None:
    assert is_within(("a", 0, "b"), [("a", "*")])
    assert not is_within(("a",), [("a", "*")])
    assert read_pattern("/x~1y/~0") == ("x/y", "~")
    with pytest.raises(InputError, match="slash"):
        read_pattern("x")


def test_a_rule_has_the_sides_that_it_needs() -> None:
    with pytest.raises(ValidationError, match="field to compare with"):
        FieldRule(rule="sum", of="/a")
    with pytest.raises(ValidationError, match="no second side"):
        FieldRule(rule="unique", of="/a", to="/b")


@given(
    st.recursive(
        st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab*/~0", max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.text("/*ab0~", max_size=8),
)
def test_what_a_pattern_finds_stands_at_its_path(value: Any, text: str) -> None:
    pattern = read_pattern(f"/{text}")
    for path, at, bound in find_values(value, pattern):
        inner = value
        for part in path:
            inner = inner[part]
        assert inner is at
        assert len(path) == len(pattern)
        assert len(bound) == pattern.count("*")


@pytest.mark.parametrize(
    "rule", [FieldRule(rule="sum", of="/a/*", to="/t"), FieldRule(rule="equal", of="/a/0", to="/t")]
)
def test_a_number_that_no_float_holds_breaks_a_rule_like_another(rule: FieldRule) -> None:
    parsed = parse(f'{{"a": [{10**390}, 1.5], "t": 3.5}}')
    assert [issue.code for issue in check_rules(parsed, Structure(rules=(rule,)), ())] == ["structure.rule"]


def test_a_sum_that_no_float_can_hold_is_compared_all_the_same() -> None:
    rule = FieldRule(rule="sum", of="/a/*", to="/t")
    (issue,) = check_rules(parse('{"a": [1e308, 1e308], "t": 5}'), Structure(rules=[rule]), ())
    assert "add up to 2000" in issue.message
    exact = f'{{"a": [1e308, 1e308], "t": {2 * int(1e308)}}}'
    assert check_rules(parse(exact), Structure(rules=[rule]), ()) == []
