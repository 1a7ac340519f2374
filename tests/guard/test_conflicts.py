"""When two sources disagree, and when one of them merely speaks of something else."""

from assay import Guard
from assay.guard.conflicts import speaks_of_another
from assay.schema import Action, Evidence

LINDAU = "The library of Lindau opens at 9 o'clock on weekdays. A card costs 12 euros a year."
CLAIM = "The library of Lindau opens at 9 o'clock on weekdays."


def another(passage: str, claim: str = CLAIM, source: str = "") -> bool:
    return speaks_of_another(claim, LINDAU, source or passage, passage)


def test_the_same_said_of_another_place_is_no_conflict() -> None:
    assert another("The library of Bern opens at 10 o'clock on weekdays.")


def test_another_value_for_the_same_place_is_a_conflict() -> None:
    assert not another("The library of Lindau opens at 10 o'clock on weekdays.")


def test_a_source_that_names_nobody_may_speak_of_the_same() -> None:
    assert not another("The library opens at 10 o'clock on weekdays.")


def test_a_source_that_names_the_place_elsewhere_speaks_of_it() -> None:
    passage = "It opens at 10 o'clock, says Ada Byron."
    assert not another(passage, source=f"News from Lindau: the library moves. {passage}")


def test_the_name_alone_may_be_what_sources_disagree_about() -> None:
    claim = "Ada Byron was appointed head of the library."
    assert not another("Clara Wieck was appointed head of the library.", claim)


def test_a_name_at_the_start_of_a_claim_is_known_from_its_source() -> None:
    assert another("The library of Bern opens at 10 o'clock.", "Lindau opens its library at 9 o'clock.")


def test_a_right_answer_stands_beside_passages_on_other_places() -> None:
    towns = (("Lindau", 9, 12), ("Bern", 10, 15), ("Torgau", 8, 9))
    evidence = [
        Evidence(id=town, text=f"The library of {town} opens at {hour} o'clock on weekdays. A card costs {fee} euros.")
        for town, hour, fee in towns
    ]
    report = Guard().check(CLAIM, evidence)
    assert report.action is Action.EMIT
    assert not report.retrieval.conflicts


def test_two_sources_that_disagree_on_one_place_are_disclosed() -> None:
    evidence = [
        Evidence(id="old", text=LINDAU),
        Evidence(id="new", text="The library of Lindau opens at 10 o'clock on weekdays, not earlier."),
    ]
    report = Guard().check(CLAIM, evidence)
    assert report.action is not Action.EMIT
