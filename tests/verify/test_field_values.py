"""Values of fields say the same, however each is written; what cannot be compared is neither the same nor different."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.documents.field_values import key_stems, same_value

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10_000, 10_000),
    st.dates(dt.date(1990, 1, 1), dt.date(2060, 1, 1)).map(str),
    st.text("abc XYZ_-", max_size=12),
)


@given(SCALARS)
def test_a_value_says_the_same_as_itself(value: Any) -> None:
    assert same_value(value, value) is True


@given(SCALARS, SCALARS)
def test_the_order_of_two_values_says_nothing(one: Any, other: Any) -> None:
    assert same_value(one, other) == same_value(other, one)


@given(st.integers(1, 10**9), st.sampled_from(["EUR {}", "{} EUR", "{}.00", "{} "]))
def test_a_sum_is_the_number_that_it_names(number: int, form: str) -> None:
    assert same_value(form.format(f"{number:,}"), number) is True
    assert same_value(form.format(f"{number:,}"), number + 1) is False


@given(st.dates(dt.date(1990, 1, 1), dt.date(2060, 1, 1)), st.integers(1, 400))
def test_a_day_is_the_same_in_figures_and_in_words(day: dt.date, later: int) -> None:
    said = f"{day.day} {day:%B} {day.year}"
    assert same_value(said, str(day)) is True
    assert same_value(said, str(day + dt.timedelta(days=later))) is False


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("87%", 87),
        ("30 cm", 30),
        ("$19.90", 19.9),
        ("three", 3),
        ("14:35", "2:35 pm"),
        ("no", False),
        ("none", None),
        (0, []),
        ("none", []),
        (2, ["a", "b"]),
        ("photo, receipt", ["photo", "receipt"]),
        ("pro annual", "PRO_ANNUAL"),
        ("inTransit", "IN_TRANSIT"),
        (Decimal("1.50"), 1.5),
        ("1 March 2025", "2025-03-01T14:05:00Z"),
    ],
)
def test_other_forms_of_a_value_are_that_value(ours: Any, theirs: Any) -> None:
    assert same_value(ours, theirs) is True


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("78%", 87),
        (-5, 5),
        ("-5", 5),
        ("$19.90", "€19.90"),
        ("14:35", "2:45 pm"),
        ("no", True),
        ("Kim", None),
        (3, ["a", "b"]),
        ("007", "7"),
        ("basic annual", "PRO_ANNUAL"),
        ("M. Osei", "R. Osei"),
        ("2 March 2025", "2025-03-01"),
    ],
)
def test_another_value_differs(ours: Any, theirs: Any) -> None:
    assert same_value(ours, theirs) is False


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("enabled", True),
        ("unlimited", 50),
        ("Kappeler", "Kappeler AG"),
        ("5 kg", "5 hours"),
        ("A small kettle that whistles when it boils", "It whistles, and it is small, and it is a kettle"),
    ],
)
def test_what_cannot_be_compared_is_left_open(ours: Any, theirs: Any) -> None:
    assert same_value(ours, theirs) is None


def test_keys_in_any_style_have_the_same_words() -> None:
    assert key_stems("orderId") == key_stems("order_id") == key_stems("Order ID")
