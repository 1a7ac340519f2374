"""Spans and lists of dates, and what a span holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.dates.detection import find_dates
from assay.text.dates.ranges import find_date_lists, find_date_ranges, range_contains

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def pairs(text: str) -> list[tuple[str, str]]:
    return [(text[a.start : a.end], text[b.start : b.end]) for a, b in find_date_ranges(text, find_dates(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open from Monday to Thursday", ("Monday", "Thursday")),
        ("open Monday through Friday", ("Monday", "Friday")),
        ("open Monday-Friday", ("Monday", "Friday")),
        ("open between May and July", ("May", "July")),
        ("from 3 May 2024 to 7 May 2024", ("3 May 2024", "7 May 2024")),
        ("he lived there from 1990 to 1995", ("1990", "1995")),
        ("from 9:00 until 17:00", ("9:00", "17:00")),
    ],
)
def test_a_span_has_two_ends(text: str, found: tuple[str, str]) -> None:
    assert pairs(text) == [found]


@pytest.mark.parametrize(
    "text", ["on Monday and Friday", "on Monday. Tuesday is free", "born in 1990, died in 1995", ""]
)
def test_dates_that_only_stand_near_each_other_are_no_span(text: str) -> None:
    assert pairs(text) == []


def test_a_list_has_all_its_members() -> None:
    text = "on Monday, Wednesday and Friday; the report of May follows in June"
    lists = [[text[d.start : d.end] for d in group] for group in find_date_lists(text, find_dates(text))]
    assert lists == [["Monday", "Wednesday", "Friday"]]


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
def test_a_span_of_weekdays_goes_round_the_week(first: int, last: int, day: int) -> None:
    text = f"{DAYS[first]} to {DAYS[last]}; {DAYS[day]}"
    dates = find_dates(text)
    length = (last - first) % 7
    assert range_contains(text, dates[0], dates[1], dates[2]) == (day in {(first + n) % 7 for n in range(length + 1)})


@given(st.dates(), st.dates(), st.dates())
def test_a_span_of_days_holds_what_lies_between(first: object, last: object, day: object) -> None:
    text = f"from {first} to {last}; on {day}"
    dates = find_dates(text)
    if len(dates) != 3:
        return  # years before 1000 are not read
    assert range_contains(text, *dates) == (str(first) <= str(day) <= str(last))


def test_a_year_that_stands_once_counts_for_both_ends() -> None:
    text = "from 3 May to 7 June 2024; on 9 May 2024; on 9 May 2023"
    dates = find_dates(text)
    assert range_contains(text, dates[0], dates[1], dates[2])
    assert not range_contains(text, dates[0], dates[1], dates[3])


def test_a_month_is_not_held_by_a_span_of_days() -> None:
    text = "from 3 May 2024 to 7 May 2024; in May 2024"
    assert not range_contains(text, *find_dates(text))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("from 9:00 to 17:00; at 10:00", True),
        ("from 9 am to 5 pm; at 10:30", True),
        ("from 9:00 to 17:00; at 16:59", True),
        ("from 9:00 to 17:00; at 17:00", True),
        ("from 9:00 to 11:00; at 10:00", True),
        ("from 8:00 to 20:00; at 9:00", True),
        ("from 6:30 to 21:00; at 8:00", True),
        ("from 6:30 to 9:00 pm; at 8:00", False),
        ("from 6:30 to 9 p.m.; at 8:00", False),
        ("from 6:30 to 21:00; at 6:00", False),
        ("from 9:00 to 17:00; at 18:00", False),
        ("from 9:00 to 17:00; at 8:30", False),
        ("from 1:00 to 5:00 pm; at 10:00", False),
        ("from 1:00 to 5:00 pm; at 3 am", False),
        ("from 9:00 to 11:00; at 10 am", False),
    ],
)
def test_a_span_of_times_holds_what_surely_lies_in_it(text: str, held: bool) -> None:
    first, last, one = find_dates(text)
    assert range_contains(text, first, last, one) is held
