"""Dates: how forms are read, and how two compare."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.dates.detection import DateRelation, find_dates, relate_dates


@pytest.mark.parametrize(
    ("claim", "evidence", "relation"),
    [
        ("in 2024", "on 2 January 2024", DateRelation.SAME),
        ("on 2 January 2024", "in 2024", DateRelation.COMPATIBLE),
        ("January 2024", "2024-01-15", DateRelation.SAME),
        ("14 March 2020", "3/14/2020", DateRelation.SAME),
        ("4 March 2020", "3/4/2020", DateRelation.SAME),
        ("3 April 2020", "3/4/2020", DateRelation.SAME),
        ("5 April 2020", "3/4/2020", DateRelation.DIFFERENT),
        ("March 14, 2020", "14.03.2020", DateRelation.SAME),
        ("in Q3 2020", "in August 2020", DateRelation.SAME),
        ("in Q3 2020", "in October 2020", DateRelation.DIFFERENT),
        ("in the 1990s", "in 1994", DateRelation.SAME),
        ("in 1994", "in the 1990s", DateRelation.COMPATIBLE),
        ("in the 1980s", "in 1994", DateRelation.DIFFERENT),
        ("in the 19th century", "in 1852", DateRelation.SAME),
        ("in the twentieth century", "in 1852", DateRelation.DIFFERENT),
        ("before 1990", "in 1995", DateRelation.ORDER),
        ("after 1990", "in 1995", DateRelation.SAME),
        ("after 1990", "in 1985", DateRelation.ORDER),
        ("at 3 pm", "at 15:00", DateRelation.SAME),
        ("at 3:30 p.m.", "at 4 pm", DateRelation.DIFFERENT),
        ("on Monday", "on Tuesday", DateRelation.DIFFERENT),
        ("in May 2021", "in June 2021", DateRelation.DIFFERENT),
        ("in 44 BC", "in 44 BCE", DateRelation.SAME),
        ("on Monday", "in 2020", DateRelation.INCOMPARABLE),
    ],
)
def test_two_dates_stand_in_the_right_relation(claim: str, evidence: str, relation: DateRelation) -> None:
    assert relate_dates(find_dates(claim)[0], find_dates(evidence)[0]) is relation


@pytest.mark.parametrize("text", ["You may go.", "2,500 people", "2000 users", "march on", "$2020", "the second man"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert find_dates(text) == ()


def test_both_years_of_a_span_are_dates() -> None:
    assert [d.year for d in find_dates("King: Louis (1814-1824), Charles (1824–1830)")] == [1814, 1824, 1824, 1830]


@given(st.dates(), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%b %d, %Y"]))
def test_a_written_day_is_read_back(day, form: str) -> None:  # type: ignore[no-untyped-def]
    if day.year < 1000:
        return
    found = find_dates(f"It happened on {day.strftime(form)} here.")
    assert [(d.year, d.month, d.day) for d in found] == [(day.year, day.month, day.day)]


@given(st.text(max_size=300))
def test_spans_of_dates_slice_back_in_any_unicode(text: str) -> None:
    last = 0
    for found in find_dates(text):
        assert last <= found.start < found.end <= len(text)
        last = found.end


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("at 9:30", (None, None, None, 570)),
        ("at 9 pm", (None, None, None, 1260)),
        ("at 9\u00a0p.m.", (None, None, None, 1260)),
        ("on 3/4/2020", (2020, 3, 4, None)),
        ("on 3.4.2020", (2020, 4, 3, None)),
        ("on 2020-04-03", (2020, 4, 3, None)),
        ("in 2020-04", (2020, 4, None, None)),
        ("on 3 April", (None, 4, 3, None)),
        ("on 3 of April 2020", (2020, 4, 3, None)),
        ("on 3rd April 2020", (2020, 4, 3, None)),
        ("in 44 BC", (-44, None, None, None)),
        ("in 79 AD", (79, None, None, None)),
        ("in 1990", (1990, None, None, None)),
        ("in the 1990s", (1990, None, None, None)),
        ("in 2018-19", (2018, None, None, None)),
        ("in 2020 Q3", (2020, 7, None, None)),
    ],
)
def test_what_follows_the_digits_says_which_form_a_date_has(
    text: str, fields: tuple[int | None, int | None, int | None, int | None]
) -> None:
    (found,) = find_dates(text)
    assert (found.year, found.month, found.day, found.minute) == fields


@pytest.mark.parametrize("text", ["It has 12 rooms", "It has 300 rooms", "He took 5 of them", "It weighs 20200 kg"])
def test_a_bare_number_is_no_date(text: str) -> None:
    assert find_dates(text) == ()
