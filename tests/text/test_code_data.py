"""Data in a block of code is read as what it states; calls and control flow state nothing here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.text.sentences.code_block_data import code_data


def told(code: str) -> list[str]:
    return [one.text for one in code_data(code)]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('{"role": "partner", "weeks": 4}', ["role: partner; weeks: 4"]),
        ('{"leave": {"weeks": 4, "who": ["partners", "mothers"]}}', ["leave weeks: 4", "leave who: partners, mothers"]),
        ("```yaml\npartners:\n  weeks: 4\n```", ["partners weeks: 4"]),
        ("```toml\n[leave]\nweeks = 4\n```", ["leave weeks: 4"]),
        ("role,weeks\npartner,4\nmother,16", ["role: partner; weeks: 4", "role: mother; weeks: 16"]),
        ("```mermaid\ngraph LR\nA[Partner] -->|4 weeks| B[Home]\n```", ["Partner 4 weeks Home"]),
        ("sequenceDiagram\nA->>B: refund approved", ["refund approved"]),
        ("PARTNER_LEAVE_WEEKS = 4", ["partner leave weeks: 4"]),
        ("const partnerLeaveWeeks = 4;", ["partner leave weeks: 4"]),
        ("HTTP/1.1 200 OK\nX-Rate-Limit: 6000", ["X-Rate-Limit: 6000"]),
    ],
)
def test_data_states(code: str, said: list[str]) -> None:
    assert told(code) == said


@pytest.mark.parametrize(
    "code",
    [
        "x = f(4)",
        "for i in range(4):\n    print(i)",
        "API_KEY = 'your-key'",
        "```python\nlimit = 50\n```",
        'BASE_URL = "https://api.example.com"',
        "SELECT weeks FROM leave WHERE role = 1",
        "```\n```",
        "{",
        "",
    ],
)
def test_what_only_runs_states_nothing(code: str) -> None:
    assert told(code) == []


@given(st.text(max_size=300))
def test_places_lie_in_the_code_and_in_order(code: str) -> None:
    for one in code_data(code):
        assert 0 <= one.start < one.end <= len(code)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(0, 999), min_size=1, max_size=5))
def test_every_value_of_a_document_is_said(document: dict[str, int]) -> None:
    said = " ".join(told(json.dumps(document)))
    assert all(f"{key}: {value}" in said for key, value in document.items())


def test_data_in_a_block_is_a_claim_with_its_place() -> None:
    text = 'The leave is paid.\n\n```json\n{"weeks": 4}\n```\n'
    (claim,) = [one for one in RuleClaimExtractor().extract(text) if one.checkable and "weeks" in one.text]
    assert claim.text == "weeks: 4"
    assert text[claim.span.start : claim.span.end] == '{"weeks": 4}'


def test_json_nested_as_deep_as_the_parser_goes_ends_no_check() -> None:
    for depth in range(850, 1_000):
        code_data("[" * depth + "1" + "]" * depth)
