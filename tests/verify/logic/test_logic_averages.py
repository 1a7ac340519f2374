"""An average that a sentence states of the values which the sentence before it lists is recomputed."""

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.growth import assert_linear

from assay.verify.logic import LogicFinding, audit_logic


def found(text: str) -> list[LogicFinding]:
    return list(audit_logic(text).findings)


WRONG = [
    "The three scores are 10, 20 and 30. The average is 25.",
    "They scored 10, 20 and 30. Their average score is 25.",
    "The loads are 10 kg, 20 kg and 30 kg. The average load was 25 kg.",
    "Her marks are 10, 20 and 30. So the average is 25.",
    "In the spring 10, 20 and 30 people came. That is an average of 25.",
    "The rents are $10, $20 and $30. Therefore, the mean is $25.",
    "The scores were 10, 20 and 30; the average is 25.",
    "The scores were 10, 20, 30. The average of these is 25.",
    "The scores were 10 in May, 20 in June and 30 in July. The median is 25.",
    "The values are 10, 20 and 30. They average 25.",
]

HONEST = [
    "The average is 25. The three scores are 10, 20 and 30.",
    "There are 10, 20 and 30 pupils in the classes. The average age is 25.",
    "The scores are 10, 20 and 30. The weighted average is 25.",
    "The scores are 10, 20 and 30. The national average is 25.",
    "Last year 7 people came. The scores are 10, 20 and 30 in 3 of 4 rounds. The average is 25.",
    "Of 40 people 10, 20 and 5 voted for them. The average is 25.",
    "The scores are 10, 20 and 30, among others. The average is 25.",
    "The scores are 10, 20 and 30. The average of the year is 25.",
    "The lengths are 10 m, 20 m and 30 m. The average is 25 kg.",
    "The scores are 10, 20 and more than 30. The average is 25.",
    "The scores are 10, 20 and 30. The average is below 25.",
    "The scores are 10, 20 and 30. The average is at least 15.",
    "The scores are 10, 20 and 30.\n\nAnn wrote a report. The average is 25.",
    "The scores are 10, 20 and 30. The average is 25 without the first.",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_average_is_found(text: str) -> None:
    assert [(one.code, "not" in one.message) for one in found(text)] == [("logic.arithmetic", True)]


@pytest.mark.parametrize("text", WRONG)
def test_the_right_average_in_the_same_words_is_left_alone(text: str) -> None:
    assert found(text.replace("25", "20")) == []


@pytest.mark.parametrize("text", HONEST)
def test_an_average_of_something_else_is_left_alone(text: str) -> None:
    assert found(text) == []


@given(values=st.lists(st.integers(1, 9_000), min_size=2, max_size=8), off=st.integers(2, 500))
def test_the_average_of_every_list_is_recomputed(values: list[int], off: int) -> None:
    listed = f"The amounts are {', '.join(f'${one:,}' for one in values[:-1])} and ${values[-1]:,}."
    average = (Decimal(sum(values)) / len(values)).quantize(Decimal("0.01"))
    assert found(f"{listed} The average is ${average:,}.") == []
    assume(off * 50 > average)  # what lies within a rounding of it may be meant
    assert len(found(f"{listed} The average is ${average + off:,}.")) == 1


def test_long_texts_take_time_in_proportion() -> None:
    assert_linear(lambda text: lambda: found(text), "The scores are 10, 20 and 30. The average is 25. ")
    assert_linear(lambda text: lambda: found(f"The scores are {text}10. The average is 25."), "10, ")
