"""Quantities told in two parts are one."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.quantities.detection import find_quantities


@pytest.mark.parametrize(
    ("text", "shown", "dimension", "low"),
    [
        ("It lasts 1 hour and 45 minutes.", "1 hour and 45 minutes", "time", "6300"),
        ("It lasts an hour and a half.", "an hour and a half", "time", "5400"),
        ("It lasts two hours and a half.", "two hours and a half", "time", "9000"),
        ("It lasts half an hour.", "half an hour", "time", "1800"),
        ("It weighs 2 kg 300 g.", "2 kg 300 g", "mass", "2300"),
        ("It takes half a dozen eggs.", "half a dozen", "count", "6"),
        ("Half a million people came.", "Half a million", "count", "500000"),
    ],
)
def test_two_parts_make_one_value(text: str, shown: str, dimension: str, low: str) -> None:
    (quantity,) = find_quantities(text)
    assert (text[quantity.start : quantity.end], quantity.dimension) == (shown, dimension)
    assert quantity.low == quantity.high == Decimal(low)


@pytest.mark.parametrize(
    "text",
    [
        "It lasts between 1 hour and 45 minutes.",
        "It lasts 1 hour, 45 minutes of which are free.",
        "2 weeks and 20 days",
        "1 kg and 30 minutes",
        "half of the 12 members",
    ],
)
def test_two_values_stay_two(text: str) -> None:
    assert len(find_quantities(text)) == 2


@given(st.integers(1, 20), st.integers(1, 59), st.sampled_from([" and ", " "]))
def test_hours_and_minutes_are_their_sum(hours: int, minutes: int, joint: str) -> None:
    text = f"It took {hours} hours{joint}{minutes} minutes."
    (quantity,) = find_quantities(text)
    assert quantity.low == hours * 3600 + minutes * 60
    assert text[quantity.start : quantity.end] == f"{hours} hours{joint}{minutes} minutes"
