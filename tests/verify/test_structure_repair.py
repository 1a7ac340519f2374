"""Mending broken JSON: what the text says stays, every change is told, and nothing is guessed."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.documents.json_repair import repair_json
from assay.verify.documents.json_text import JsonTextError

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text("ab \"'\\é\n💧,:{}[]", max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abcé", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
DOCUMENTS = VALUES.filter(lambda value: isinstance(value, list | dict))


@pytest.mark.parametrize(
    ("broken", "value", "wrong"),
    [
        ('```json\n{"a": 1}\n```\nThat is all.', {"a": 1}, ["fence", "fence", "prose"]),
        ('Here you are: {"a": 1,}', {"a": 1}, ["prose", "trailing_comma"]),
        ('```json\n{"a": 1,}\n```', {"a": 1}, ["fence", "trailing_comma", "fence"]),
        ('{"a": [1, 2, }', {"a": [1, 2]}, ["trailing_comma", "unclosed"]),
        ('{"a": {"b": "x"', {"a": {"b": "x"}}, ["unclosed", "unclosed"]),
        ('{"a": 1}}', {"a": 1}, ["surplus"]),
        ("{'it': 'isn't'}", {"it": "isn't"}, ["quotes", "quotes"]),
        ("{\u201ca\u201d: \u201cb\u201d}", {"a": "b"}, ["quotes", "quotes"]),
        ("{a: 1, b_2: null}", {"a": 1, "b_2": None}, ["bare_key", "bare_key"]),
        ('{"a": True, "b": None}', {"a": True, "b": None}, ["constant", "constant"]),
        ('{"a": .5, "b": +3, "c": 2.}', {"a": 0.5, "b": 3, "c": 2}, ["number", "number", "number"]),
        ('{"a": "x"\n "b": 2}', {"a": "x", "b": 2}, ["missing_comma"]),
        ("[1,, 2]", [1, 2], ["double_comma"]),
        ('{"a": 1 // one\n, /* two */ "b": 2}', {"a": 1, "b": 2}, ["comment", "comment"]),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, ["control"]),
        ('{"a": "a "big" word"}', {"a": 'a "big" word'}, ["inner_quote", "inner_quote"]),
        ('{"a": "50\\% of it\\d"}', {"a": "50\\% of it\\d"}, ["escape", "escape"]),
    ],
)
def test_what_is_plainly_broken_is_mended(broken: str, value: Any, wrong: list[str]) -> None:
    mended = repair_json(broken)
    assert json.loads(mended.text) == value
    assert [repair.code for repair in mended.repairs] == wrong


@pytest.mark.parametrize(
    "unclear",
    [
        "",
        "no document",
        '{"a": }',
        '{"a": 1, "b"}',
        '{"a": NaN}',
        '{"a": undefined}',
        '{"a" 1}',
        '{"a": 1} {"b": 2}',
        '{"say": "yes", no", "b": 1}',
        "{: 1}",
        '{"a": 007}',
        '{"a": 1_000}',
        "[1, 2",
        '{"a": "Ann',
        '{"a": 1, "b": ',
        '{"a": 12',
        "{[1]}",
        '{"a": 1-2}',
    ],
)
def test_what_would_be_a_guess_is_not_mended(unclear: str) -> None:
    with pytest.raises(JsonTextError):
        repair_json(unclear)


def test_a_document_that_was_cut_off_is_closed_only_if_asked_for() -> None:
    mended = repair_json('{"a": 1, "b": "Ann', cut_off=True)
    assert json.loads(mended.text) == {"a": 1, "b": "Ann"}
    assert not mended.complete
    assert "cut_off" in [repair.code for repair in mended.repairs]
    assert json.loads(repair_json('{"a": 1, "b', cut_off=True).text) == {"a": 1, "b": None}
    assert not repair_json('{"a": [12', cut_off=True).complete


def test_a_document_without_its_brackets_only_is_complete() -> None:
    assert repair_json('{"a": ["x", "y"').complete


@given(DOCUMENTS, st.sampled_from([None, 2]))
def test_a_valid_document_stays_as_it_is(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    mended = repair_json(text)
    assert mended.text == text
    assert mended.repairs == ()


@given(DOCUMENTS)
def test_what_is_lost_at_the_end_comes_back(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    bare = text.rstrip("]}")
    if bare and bare[-1] not in '"{[el':  # the last value is a number, which may be half of one
        return
    assert json.loads(repair_json(bare or text).text) == value


@given(DOCUMENTS)
def test_commas_before_closing_brackets_change_nothing(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    outside = _outside(text)
    made = "".join(f",{c}" if c in "]}" and outside[i] and text[i - 1] not in "[{" else c for i, c in enumerate(text))
    assert json.loads(repair_json(made).text) == value


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text("xyz éß", max_size=6), min_size=1, max_size=4))
def test_single_quotes_change_nothing(value: dict[str, str]) -> None:
    assert json.loads(repair_json(json.dumps(value, ensure_ascii=False).replace('"', "'")).text) == value


@given(st.text("{}[]\"':,\\ /*\n1aTé\u201c\u201d", max_size=60), st.booleans())
def test_any_text_is_mended_or_refused(text: str, cut_off: bool) -> None:
    try:
        mended = repair_json(text, cut_off=cut_off)
    except JsonTextError:
        return
    json.loads(mended.text)
    assert all(0 <= repair.at <= len(text) and repair.message for repair in mended.repairs)


@pytest.mark.parametrize("piece", ['{"a":', "[", '"', "'", '"\\', '{"a" "', "/*", "[1,", '{"a": "b" ', "\u201c", "}]"])
def test_a_long_hostile_text_is_read(piece: str) -> None:
    with suppress(JsonTextError):
        repair_json(("{" + piece * 100_000)[:100_000], cut_off=True)


def _outside(text: str) -> list[bool]:
    """For every character whether it stands outside of a string."""
    found, inside, escaped = [], False, False
    for char in text:
        found.append(not inside)
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            inside = not inside
    return found
