"""What a reader takes in at a glance is put as it would plainly be said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.rewording.plain_wording import in_plain_words


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Partners get 2 + 2 weeks of leave.", "Partners get 4 weeks of leave."),
        ("It takes 3 × 4 days.", "It takes 12 days."),
        ("A month costs $\\frac{70}{2}$ euros.", "A month costs 35 euros."),
        ("Partners get f o u r weeks.", "Partners get four weeks."),
        ("T-o-w-e-l-s are provided.", "Towels are provided."),
        ("It costs two-five euros.", "It costs 25 euros."),
        ("The leave is twice as long as two weeks.", "The leave is 4 weeks."),
        ("It is not so that they get more than 3 days.", "they get at most 3 days."),
    ],
)
def test_a_number_or_a_word_in_another_dress_is_put_plainly(written: str, said: str) -> None:
    assert in_plain_words(written) == said


@pytest.mark.parametrize(
    "plain",
    [
        "It is open from 9 - 17 hours.",
        "2 + 2 is 4.",
        "Plans a, b and c cost the same.",
        "It takes two-three days.",
        "See e. g. the terms.",
        "He is as tall as his brother.",
        "It is open 10 – 5 pm.",
    ],
)
def test_ranges_lists_and_sums_that_are_told_whole_stay(plain: str) -> None:
    assert in_plain_words(plain) == plain


@given(st.integers(0, 999), st.integers(0, 999))
def test_a_sum_before_a_unit_is_its_value(a: int, b: int) -> None:
    assert in_plain_words(f"They get {a} + {b} weeks.") == f"They get {a + b} weeks."


@given(st.text(max_size=80))
def test_what_is_plain_is_not_changed_again(text: str) -> None:
    once = in_plain_words(text)
    assert in_plain_words(once) == once or len(once) < len(text)
