"""An answer that tells both sides of a disagreement is in no conflict with either source."""

from assay import Guard
from assay.schema import Action, Evidence

SOURCES = [
    Evidence(id="notice", text="Admission is free for pensioners."),
    Evidence(id="list", text="Pensioners pay a reduced admission of 4 euros."),
]


def test_an_answer_that_follows_one_side_is_held_back() -> None:
    report = Guard("general").check("Admission is free for pensioners.", SOURCES)
    assert report.retrieval.conflicts
    assert report.action is not Action.EMIT


def test_words_of_the_documents_in_front_of_it_change_nothing() -> None:
    report = Guard("general").check("The documents say admission is free for pensioners.", SOURCES)
    assert report.action is not Action.EMIT


def test_an_answer_that_tells_both_sides_as_what_the_sources_say_is_emitted() -> None:
    answer = (
        "The sources disagree. One document says that admission is free for pensioners. "
        "Another document says that pensioners pay a reduced admission of 4 euros."
    )
    report = Guard("general").check(answer, SOURCES)
    assert report.action is Action.EMIT


def test_two_sides_that_the_answer_asserts_itself_are_no_disclosure() -> None:
    answer = "Admission is free for pensioners. Pensioners pay a reduced admission of 4 euros."
    report = Guard("general").check(answer, SOURCES)
    assert report.action is not Action.EMIT


def test_the_other_source_on_another_matter_discloses_nothing() -> None:
    sources = [SOURCES[0], Evidence(id="list", text=f"{SOURCES[1].text} The café is in the court.")]
    answer = (
        "One document says that admission is free for pensioners. Another document says that the café is in the court."
    )
    assert Guard("general").check(answer, sources).action is not Action.EMIT
