"""The values of a document as claims: worded, placed, and none left out."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.schema import ExtractedClaim
from assay.schema.structure import Structure
from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.verify.documents.json_text import parse
from assay.verify.documents.value_claims import document_claims, subschema, value_sentence


def claims(output: str, schema: Any = None, **structure: Any) -> tuple[ExtractedClaim, ...]:
    return document_claims(output, parse(output), schema, Structure(**structure), RuleClaimExtractor())


def said(document: Any, schema: Any = None, **structure: Any) -> dict[str, str]:
    return {c.path or "": c.text for c in claims(json.dumps(document), schema, **structure) if c.checkable}


def test_each_value_is_a_sentence_with_its_pointer() -> None:
    document = {"leave_weeks": 4, "starts": "2025-03-01", "offices": [{"city": "Lyon", "staffCount": 12}]}
    assert said(document) == {
        "/leave_weeks": "The leave is 4 weeks.",
        "/starts": "The starts is 2025-03-01.",
        "/offices/0/city": "The office city is Lyon.",
        "/offices/0/staffCount": "The staff count of Lyon is 12.",
    }


@pytest.mark.parametrize(
    ("path", "value", "about", "owner", "text"),
    [
        (("price_usd",), 5, None, None, "The price is 5 USD."),
        (("price_euros",), 5, None, None, "The price is 5 euros."),
        (("priceDollars",), 5, None, None, "The price is 5 dollars."),
        (("rate_pct",), 2.5, None, None, "The rate is 2.5 percent."),
        (("x",), 3, {"title": "Notice period"}, None, "The notice period is 3."),
        (("ok",), True, {"description": "Whether interns can apply"}, None, "Interns can apply."),
        (("ok",), False, {"description": "Whether interns can apply"}, None, "Interns can not apply."),
        (("isOpen",), False, None, "Lyon", "Open of Lyon: no."),
        ((0,), "red", None, None, "The value is red."),
    ],
)
def test_a_value_is_worded_by_its_key_its_unit_and_its_schema(
    path: Any, value: Any, about: Any, owner: Any, text: str
) -> None:
    assert value_sentence(path, value, about, owner) == text


def test_prose_inside_of_a_document_is_split_into_its_claims() -> None:
    output = '{"note": "Acme was founded in 1990. It sells oars."}'
    made = [c for c in claims(output) if c.checkable]
    assert [output[c.span.start : c.span.end].rstrip(".") for c in made] == [
        "Acme was founded in 1990",
        "It sells oars",
    ]
    assert {c.path for c in made} == {"/note"}


def test_prose_with_escapes_is_placed_at_the_whole_text() -> None:
    output = json.dumps({"note": 'Acme sells "oars" in Lyon.\nIt has 40 people.'})
    assert all(output[c.span.start : c.span.end].startswith('"Acme') for c in claims(output) if c.checkable)


def test_what_says_nothing_is_no_claim() -> None:
    schema = {"properties": {"version": {"const": 2}, "kind": {"enum": ["a"]}}}
    document = {"version": 2, "kind": "a", "end": None, "blank": " ", "score": 0.5, "refs": ["x"], "deep": {"a": 1}}
    assert said(document, schema, skip=["/score", "/deep"], references=["/refs"]) == {}


def test_what_stands_around_a_document_is_read_too() -> None:
    output = 'Acme has 40 people.\n```json\n{"a": 1}\n```\nIt was founded in 1990.'
    texts = [c.text for c in claims(output) if c.checkable]
    assert texts == ["Acme has 40 people.", "The a is 1.", "It was founded in 1990."]


def test_a_schema_is_followed_through_references() -> None:
    schema = {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"properties": {"a": {"title": "T"}}}}}
    assert subschema(schema, (0, "a")) == {"title": "T"}
    assert subschema({"$ref": "#"}, ("a",)) is None


def test_a_reference_to_an_anchor_is_left_alone() -> None:
    assert subschema({"properties": {"a": {"$ref": "#address"}}}, ("a", "b")) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('aé 💧."\\\n', max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab_N é", max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(VALUES.filter(lambda value: isinstance(value, list | dict)), st.sampled_from([None, 1]))
def test_the_sentences_of_the_claims_cover_the_document(value: Any, indent: int | None) -> None:
    output = json.dumps(value, indent=indent, ensure_ascii=False)
    made = claims(output)
    covered: set[int] = set()
    for claim in made:
        assert claim.sentence.start <= claim.span.start <= claim.span.end <= claim.sentence.end <= len(output)
        assert claim.text.strip()
        covered.update(range(claim.sentence.start, claim.sentence.end))
    assert {i for i, char in enumerate(output) if char.isalnum()} <= covered
