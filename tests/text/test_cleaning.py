"""Sentences without their markup, and where each character stood."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.text.sentences.markup import clean

SIGNS = st.text(alphabet=" \t\n\u2028ab9.,;:!?*_`~[]()<>#>-&¹④【】é\u0301漢", max_size=60)


@example(raw="\U0001d6a4")
@given(raw=st.one_of(SIGNS, st.text(max_size=60)))
def test_every_character_knows_where_it_stood(raw: str) -> None:
    cleaned = clean(raw)
    assert len(cleaned.text) == len(cleaned.offsets)
    assert all(a < b for a, b in pairwise(cleaned.offsets))
    for char, at in zip(cleaned.text, cleaned.offsets, strict=True):
        # A letter that only looks like a plain one, or is a plain one in another type face.
        dressed = (char.isascii() and not raw[at].isascii()) or char == unicodedata.normalize("NFKC", raw[at])
        # A reference to a character stands where it begins.
        assert raw[at] == char or (char == " " and raw[at].isspace()) or dressed or raw.startswith("&#", at)
    assert "  " not in cleaned.text
    assert cleaned.text == cleaned.text.strip(" ")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Plain words stay.", "Plain words stay."),
        ("  Two  blanks\nand a break .", "Two blanks and a break."),
        ("- **Leave** is [paid](https://example.org) [hr-2].", "Leave is paid."),
        ("> Said so¹.", "Said so."),
        ("A snake_case name", "A snake_case name"),
        ("It has 5 m² of space.", "It has 5 m² of space."),
        ("", ""),
        (" ", ""),
    ],
)
def test_markup_and_markers_go_and_words_stay(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("Partners get f\u043eur weeks.", "Partners get four weeks."),
        ("Partners get ~~two~~ four weeks.", "Partners get four weeks."),
        ("Partners: 4\ufe0f\u20e3 weeks", "Partners: 4 weeks"),
        ("Partners get \uff14 or \U0001d7d2 weeks", "Partners get 4 or 4 weeks"),
        ("fo\u200bur we\u00adeks", "four weeks"),
        (
            "\u03b1-Tocopherol, \u041c\u043e\u0441\u043a\u0432\u0430",
            "\u03b1-Tocopherol, \u041c\u043e\u0441\u043a\u0432\u0430",
        ),
    ],
)
def test_letters_that_only_look_like_others_are_read_as_people_read_them(raw: str, plain: str) -> None:
    assert clean(raw).text == plain


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("It is &#52; weeks.", "It is 4 weeks."),
        ("It is &#x34; weeks.", "It is 4 weeks."),
        ("It is&nbsp;&#52;&#48; weeks.", "It is 40 weeks."),
        ("It is 4&#8203;0 weeks.", "It is 40 weeks."),
        ("It is ④ weeks.", "It is 4 weeks."),
        ("It is ⒋ or ❷ weeks (⑵ days).", "It is 4 or 2 weeks (2 days)."),
        ("① It is 4 weeks.", "It is 4 weeks."),
        ("AT&T; it is R&D.", "AT&T; it is R&D."),
        ("&#99999999; is no character.", "&#99999999; is no character."),
    ],
)
def test_digits_that_only_a_reader_sees_are_digits(raw: str, text: str) -> None:
    assert clean(raw).text == text
