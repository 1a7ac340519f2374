"""When two sources disagree, and when one of them merely speaks of something else."""

import pytest

from assay import Guard
from assay.guard.conflicts.source_matching import is_record, names_another_subject, on_one_matter, with_their_name
from assay.schema import Action, Evidence

LINDAU = "The library of Lindau opens at 9 o'clock on weekdays. A card costs 12 euros a year."
CLAIM = "The library of Lindau opens at 9 o'clock on weekdays."


def another(passage: str, claim: str = CLAIM, source: str = "") -> bool:
    return names_another_subject(claim, LINDAU, source or passage, passage)


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


@pytest.mark.parametrize(
    ("mine", "theirs", "claim"),
    [
        (
            "The fair opens on 4 June 2026 at noon.",
            "Opening day of the fair: 11 June 2026.",
            "The fair opens on 4 June 2026.",
        ),
        (
            "Anna Berg leads the northern team.",
            "The northern team is led by Jan Moe, who joined in 2021.",
            "Anna Berg leads the northern team.",
        ),
        (
            "The archive is kept in Trondheim.",
            "All archive boxes are stored at the Bergen site.",
            "The archive is kept in Trondheim.",
        ),
        (
            "Dogs are allowed on the terrace.",
            "Dogs are not allowed anywhere on the premises, terrace included.",
            "Dogs are allowed on the terrace.",
        ),
        (
            "The bridge is open to cars again.",
            "The bridge is closed to all traffic until further notice.",
            "The bridge is open to cars.",
        ),
        (
            "The bridge is open to cars again.",
            "The bridge remains closed to all traffic until further notice.",
            "The bridge is open to cars.",
        ),
        ("A day pass costs 18 euros.", "Day pass: EUR 22.00; children half price.", "A day pass costs 18 euros."),
        ("Attendance is voluntary.", "Attendance is compulsory for all trainees.", "Attendance is voluntary."),
    ],
)
def test_sources_that_disagree_in_other_words_are_heard(mine: str, theirs: str, claim: str) -> None:
    report = Guard().check(claim, [Evidence(id="mine", text=mine), Evidence(id="theirs", text=theirs)])
    assert report.action is not Action.EMIT
    assert [one.contradicting.evidence_id for one in report.retrieval.conflicts] == ["theirs"]


def test_a_name_is_exchanged_for_one_of_the_other_passage() -> None:
    assert with_their_name("Anna Berg leads the team.", "The team is led by Jan Moe.") == ["Jan Moe leads the team."]
    assert with_their_name("The team is new.", "The team is led by Jan Moe.") == []


def test_two_values_of_two_things_are_no_conflict() -> None:
    said = "Partners are entitled to 2 weeks of leave."
    assert not on_one_matter(said, said, "Partners must give notice of leave 30 days before.", 35)
    assert on_one_matter(said, said, "Partners get 4 weeks of leave.", 13)


def test_a_source_under_another_heading_speaks_of_another_group() -> None:
    evidence = [
        Evidence(
            id="a", text="# Leave for birth parents\n\nEmployees who give birth are entitled to 20 weeks of leave."
        ),
        Evidence(id="b", text="# Leave for partners\n\nPartners of an employee who gives birth get 2 weeks of leave."),
    ]
    report = Guard().check("Birth parents get 20 weeks of leave.", evidence)
    assert not report.retrieval.conflicts
    assert report.action is Action.EMIT


@pytest.mark.parametrize(
    "row",
    [
        '{"member":"88 410","tier":"Silver","points":41250,"award_nights":true,"expiring":[{"points":6000}]}',
        ',"points":41250},{"tier":"Gold","award_nights":false,"earned":"0"}]',
        "TIER      NIGHTS   POINTS\nSilver    18       41250\nGold      25       60000",
    ],
)
def test_a_row_of_data_without_another_value_denies_no_sentence(row: str) -> None:
    rules = "Points that expire first are used first. Award nights count towards the tier but earn no points."
    evidence = [Evidence(id="rules", text=rules), Evidence(id="data", text=row)]
    report = Guard().check("Award nights count towards the tier but earn no points.", evidence)
    assert report.action is Action.EMIT
    assert not report.retrieval.conflicts


@pytest.mark.parametrize(
    ("claim", "row"),
    [
        ("The membership renews automatically.", '{"membership": "gold", "auto_renewal": false}'),
        ("Breakfast is included.", '{"rate": "basic", "breakfast": "not included"}'),
        ("The order has been shipped.", '{"order": "A-1", "shipped": false, "status": "PENDING"}'),
        ("The bridge is open to cars.", '{"bridge": "Kestrel", "status": "closed", "vehicles": "cars"}'),
    ],
)
def test_a_field_that_says_no_is_heard_beside_a_sentence_that_says_yes(claim: str, row: str) -> None:
    report = Guard().check(claim, [Evidence(id="page", text=claim), Evidence(id="data", text=row)])
    assert report.action is not Action.EMIT


def test_a_row_of_data_with_another_value_disagrees_with_a_sentence() -> None:
    evidence = [
        Evidence(id="page", text="Rent for the large hall: 240 euros an evening."),
        Evidence(id="data", text='{"hall": "large", "rent_per_evening_eur": 310}'),
    ]
    report = Guard().check("The large hall costs 240 euros an evening.", evidence)
    assert report.retrieval.conflicts or report.action is not Action.EMIT


def test_rows_end_and_a_line_of_strokes_without_end_is_none_however_long_it_is() -> None:
    assert is_record("Name | Age | Town\nAnn | 3 | Linz\n")
    assert not is_record("a|" * 200_000)
    assert not is_record("It costs 3|4|5 euros.")
