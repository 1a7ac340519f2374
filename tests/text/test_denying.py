"""Denials of statements, and statements with another value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.rewording.negation import denial_of
from assay.text.rewording.value_substitution import MAX_SUBSTITUTIONS, value_substitutions


@pytest.mark.parametrize(
    ("statement", "denial"),
    [
        ("The patent has been granted.", "The patent has not been granted."),
        ("The choir has 46 members.", "The choir does not have 46 members."),
        ("Jan Moe wrote the song.", "Jan Moe did not write the song."),
        ("The ferry carries 60 cars.", "The ferry does not carry 60 cars."),
        ("Staff may work from home.", "Staff may not work from home."),
        ("Guests must wear a badge.", "Guests do not have to wear a badge."),
        ("A guest must wear a badge.", "A guest does not have to wear a badge."),
        ("The app does not store data.", "The app does store data."),
        ("The lift isn't working.", "The lift is working."),
        ("Nobody may enter.", "Somebody may enter."),
        ("The app stores no data.", "The app stores data."),
        ("So much for that.", "It is not so that So much for that."),
    ],
)
def test_a_statement_is_denied_at_its_verb_or_loses_its_negation(statement: str, denial: str) -> None:
    assert denial_of(statement) == denial


@given(st.text(max_size=600))
def test_every_text_has_a_denial_that_differs_from_it(text: str) -> None:
    assert denial_of(text) != text.strip()


@pytest.mark.parametrize(
    ("statement", "text", "made"),
    [
        ("The lease ends on 4 June 2026.", "Lease until 2027-05-31.", ("The lease ends on 2027-05-31.",)),
        (
            "The shop is open until 8 pm.",
            "Hours: 9:00 - 18:00.",
            ("The shop is open until 9:00.", "The shop is open until 18:00."),
        ),
        ("The lamp draws 9 watts.", '{"power_w": 14}', ("The lamp draws 14 watts.",)),
        (
            "The book was translated by Ewa Lind.",
            "Translator: Tom Archer.",
            ("The book was translated by Tom Archer.",),
        ),
        # Values that the text has too, and values of another kind, are left alone.
        ("The shop is open until 8 pm.", "It closes at 20:00.", ()),
        ("The walk takes 2 hours.", "The walk is 8 km long.", ()),
        ("The walk takes 2 hours.", "Allow 120 minutes.", ()),
    ],
)
def test_values_of_one_kind_are_exchanged(statement: str, text: str, made: tuple[str, ...]) -> None:
    assert value_substitutions(statement, text) == made


@given(st.text(max_size=200), st.text(max_size=200))
def test_exchanges_are_few_and_never_the_statement_itself(statement: str, text: str) -> None:
    made = value_substitutions(statement, text)
    assert len(set(made)) == len(made) <= MAX_SUBSTITUTIONS
    assert statement not in made
