"""Two ways to run one network, held against each other row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.agreement import balanced, by_set, right_where_apart, summary, table
from train.rows import Row

ROWS = [
    Row("a", ("E.",), "C.", "supported"),
    Row("a", ("E.",), "D.", "contradicted"),
    Row("b", ("E.",), "F.", "not_supported"),
]
FIRST = np.array([[0.9, 0.1, 0.0], [0.6, 0.1, 0.3], [0.4, 0.5, 0.1]])
SECOND = np.array([[0.4, 0.6, 0.0], [0.2, 0.1, 0.7], [0.3, 0.6, 0.1]])


def test_each_set_is_judged_by_itself() -> None:
    a, b = by_set(FIRST, SECOND, ROWS)
    assert (a.name, a.rows, a.before, a.after, a.flipped) == ("a", 2, 0.5, 0.5, 1.0)
    assert a.moved == pytest.approx((0.5 + 0.4) / 2)
    assert (b.name, b.rows, b.before, b.after, b.flipped) == ("b", 1, 1.0, 1.0, 0.0)


def test_a_set_of_one_class_counts_the_share_of_it_that_is_found() -> None:
    assert balanced(np.array([True, False, False, False]), np.array([True] * 4)) == 0.25
    assert balanced(np.array([True, False, False, False]), np.array([False] * 4)) == 0.75


def test_where_the_ways_part_it_is_said_who_is_right() -> None:
    assert right_where_apart(FIRST, SECOND, ROWS) == (1, 1)
    assert right_where_apart(FIRST, FIRST, ROWS) == (0, 0)


def test_the_table_has_a_line_for_each_set_and_their_mean() -> None:
    lines = table(by_set(FIRST, SECOND, ROWS), "in float", "in int8")
    assert lines[2:] == [
        "| a | 2 | 0.500 | 0.500 | +0.000 | 100.0% | 0.4500 |",
        "| b | 1 | 1.000 | 1.000 | +0.000 | 0.0% | 0.1000 |",
        "| mean | 3 | 0.750 | 0.750 | +0.000 | | |",
    ]
    assert summary(FIRST, SECOND) == [
        "3 pairs: labels agree on 33.33%",
        "probabilities move by 0.3333 on average, 0.500 at most",
    ]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_balanced_accuracy_is_turned_around_where_every_verdict_is(verdicts: list[tuple[bool, bool]]) -> None:
    said, supported = (np.array(column) for column in zip(*verdicts, strict=True))
    assert balanced(~said, supported) == pytest.approx(1 - balanced(said, supported))
