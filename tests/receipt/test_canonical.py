"""Canonical bytes: RFC 8785, one text for one value, and a reader that takes no liberties."""

import json
import math
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ReceiptError
from assay.receipt.canonical_json import LARGEST_EXACT, canonical, digest, read_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_EXACT, LARGEST_EXACT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)

# RFC 8785, appendix B: the bits of a double and how it is written.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.parametrize(("bits", "text"), NUMBERS)
def test_numbers_are_written_as_in_the_appendix_of_rfc_8785(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).decode() == text


def test_keys_are_sorted_by_their_utf_16_code_units() -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    order = [json.loads(line) for line in ('"\\r"', '"1"')] + ["\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(value))) == order


def test_control_characters_are_escaped_and_nothing_else_is() -> None:
    assert canonical("\u20ac$\u000f\nA'B\"\\/\x7f").decode() == '"\u20ac$\\u000f\\nA\'B\\"\\\\/\x7f"'


@given(JSON)
def test_what_is_written_reads_back_as_the_same_value(value: object) -> None:
    def as_a_double(digits: str) -> int | float:
        return int(digits) if abs(int(digits)) <= LARGEST_EXACT else float(digits)

    assert json.loads(canonical(value), parse_int=as_a_double) == value


@given(JSON)
def test_the_order_in_which_keys_were_set_does_not_count(value: object) -> None:
    def turned(inner: object) -> object:
        if isinstance(inner, dict):
            return {key: turned(inner[key]) for key in reversed(inner)}
        return [turned(item) for item in inner] if isinstance(inner, list) else inner

    assert digest(turned(value)) == digest(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_reads_back_as_itself(value: float) -> None:
    text = canonical(value).decode()
    assert float(text) == value
    assert len(text) <= 25


def test_whole_numbers_keep_all_their_digits() -> None:
    assert canonical(10**30 + 1).decode() == str(10**30 + 1)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, {1: 2}, {"a": {2: 3}}, b"x", {"a"}, "\ud800", object()]
)
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(ReceiptError, match="expected"):
        canonical(value)


def test_a_value_that_is_nested_without_end_is_refused() -> None:
    nest: list[object] = []
    for _ in range(100_000):
        nest = [nest]
    with pytest.raises(ReceiptError, match="nested"):
        canonical(nest)
    # Taken apart by hand: to free it in one go would recurse as well on some builds.
    while nest:
        nest = nest.pop()  # type: ignore[assignment]


# Reading


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('{"a":1,"a":1}', "a key twice"),
        ('{"a":{"b":1,"b":2}}', "a key twice"),
        ('{"a":"x","\\u0061":"y"}', "a key twice"),
        ("NaN", "not whole"),
        ("[Infinity]", "not whole"),
        ("-Infinity", "not whole"),
        ("1.0", "not whole"),
        ("1e5", "not whole"),
        (str(LARGEST_EXACT + 1), "beyond"),
        ("9" * 9_000, "beyond"),
        ("[" * 9_000, "nested|JSON"),
        ('{"a":' * 2_000, "nested|JSON"),
        ("{", "line 1, column 2"),
        ("", "line 1, column 1"),
        ("\ufeff{}", "JSON"),
        ("{} {}", "line 1, column 4"),
        ("'a'", "line 1"),
        ("x" * 10_001, "10,000 bytes"),
    ],
)
def test_hostile_json_is_refused_with_what_is_wrong(text: str, shape: str) -> None:
    with pytest.raises(ReceiptError, match=shape) as caught:
        read_json(text, "the thing", 10_000)
    assert str(caught.value).startswith("expected the thing ")
    assert len(str(caught.value)) < 200


def test_bytes_that_are_no_utf_8_and_halves_of_surrogate_pairs_are_refused() -> None:
    for text in (b"\xff\xfe", b'"\xed\xa0\x80"', '"\ud800"'):
        with pytest.raises(ReceiptError, match="UTF-8"):
            read_json(text, "the thing", 100)


@given(st.binary(max_size=200) | TEXT)
def test_whatever_is_read_gives_a_value_or_the_one_kind_of_error(text: bytes | str) -> None:
    with suppress(ReceiptError):
        read_json(text, "the thing", 100)
