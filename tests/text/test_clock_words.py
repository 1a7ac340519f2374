"""Times of day in words are read as times, and ranges of numbers are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.dates.clock_times import find_clock_words
from assay.text.dates.detection import find_dates

HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def minutes(text: str) -> list[int | None]:
    return [d.minute for d in find_dates(text) if d.minute is not None]


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("It starts at half past two in the afternoon.", 870),
        ("It starts at a quarter to nine in the evening.", 1245),
        ("Be there at twenty to five.", 280),
        ("Bins are out by six in the morning.", 360),
        ("The gate closes at 11 o'clock at night.", 1380),
        ("It opens at noon.", 720),
        ("It ends at half past midnight.", 30),
        ("Come at 10.30 a.m. on Monday.", 630),
        ("The shift ends at ten minutes past one at night.", 70),
    ],
)
def test_a_time_in_words_is_the_minute_that_it_names(text: str, minute: int) -> None:
    assert minutes(text) == [minute]


@pytest.mark.parametrize(
    "text",
    [
        "Five to seven people came.",
        "It takes two to four days.",
        "A quarter of the memory is free.",
        "Half past participants left.",
        "Six people sang in the evening.",
        "It weighs 10.30 kg.",
        "One in the group left.",
    ],
)
def test_what_is_no_time_is_left_alone(text: str) -> None:
    assert minutes(text) == []


def test_the_second_time_of_a_span_and_the_time_of_a_timestamp_are_read() -> None:
    assert minutes("open 18:00-19:30") == [1080, 1170]
    assert minutes('"start": "2026-02-12T17:30:00Z"') == [1050]
    assert minutes("08:00,10:00,12:00") == [480, 600, 720]


@given(st.integers(0, 11), st.integers(0, 59), st.booleans())
def test_a_clock_and_its_words_name_one_minute(hour: int, minute: int, evening: bool) -> None:
    part = "at night" if evening and hour >= 6 else "in the morning"
    word = HOURS[hour - 1]
    said = f"at {minute} minutes past {word} {part}" if 1 <= minute <= 30 else f"at {word} {part}"
    expected = 60 * (hour % 12) + (minute if 1 <= minute <= 30 else 0) + (720 if part == "at night" else 0)
    assert [m.minute for m in find_clock_words(said) if m.start == 3][:1] == [expected]


@given(st.text(alphabet="atohlfpsqure 0123456789:.-'", max_size=60))
def test_any_text_is_read_within_its_bounds(text: str) -> None:
    for mention in find_dates(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.minute is None or 0 <= mention.minute < 1440
