"""Two sources that take opposite stands on one thing, and two that speak of different things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.guard.conflicts.stances import clashes
from assay.guard.conflicts.subjects import has_other_subject, subject


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("Visitors have to register.", "Visitors need not register."),
        ("No permit is needed for the lake.", "Without a permit nobody may fish in the lake."),
        ("Cyclists may use the path.", "Cyclists must not use the path."),
        ("Parking is free of charge.", "Parking costs 4 euros."),
    ],
)
def test_two_stands_that_nobody_can_take_at_once_clash_whichever_is_claimed(claim: str, other: str) -> None:
    assert clashes(claim, other)
    assert clashes(other, claim)


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("Visitors have to register.", "Visitors have to register at the gate."),
        ("Visitors have to register.", "Staff need not wear a badge."),
        ("Cyclists may use the path.", "Cyclists must not use the stairs."),
        ("Parking is free of charge.", "Parking costs 4 euros from the third hour."),
        ("The bridge is open.", "The bridge was closed before it was repaired."),
        ("Members get 5 euros.", "Parking costs 4 euros."),
        ("", ""),
    ],
)
def test_stands_on_two_things_and_under_conditions_do_not(claim: str, other: str) -> None:
    assert not clashes(claim, other)


@given(st.text(max_size=300))
def test_no_text_clashes_with_itself(text: str) -> None:
    assert not clashes(text, text)


def test_the_subject_is_the_noun_with_what_tells_it_from_others_of_its_kind() -> None:
    found = subject("Ticket 4471 has been closed.")
    assert found is not None
    assert found.head == {"ticket"}
    assert found.marks == {"4471"}


def test_how_many_there_are_does_not_tell_which_are_meant() -> None:
    found = subject("312 households have answered.")
    assert found is not None
    assert found.marks == frozenset()


@pytest.mark.parametrize(
    ("claim", "passage", "another"),
    [
        ("The east lift is out of order.", "Since this morning the west lift is working.", True),
        ("The east lift is out of order.", "The east lift is working.", False),
        ("The mushrooms are edible.", "The berries are poisonous.", True),
        ("The ticket is valid.", "It has expired.", False),
        ("The company is based in Graz.", "Registered office: Linz", False),
        ("A crew of five runs the lock.", "The lock is run by three people.", False),
    ],
)
def test_sentences_about_two_subjects_cannot_disagree(claim: str, passage: str, another: bool) -> None:
    assert has_other_subject(claim, claim, passage, passage) is another


@given(st.text(max_size=300), st.text(max_size=300))
def test_whether_two_texts_have_two_subjects_is_told_of_any_text(claim: str, passage: str) -> None:
    assert has_other_subject(claim, claim, passage, passage) in {True, False}
