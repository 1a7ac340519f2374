"""Words and values that differ on the page and not in what they say contradict nothing."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import ExactFinding, ExactResult, check_exact, index_evidence

SURE, LIKELY = 0.8, 0.5


def result(claim: str, *evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(evidence)]))


def against(claim: str, *evidence: str) -> list[ExactFinding]:
    return [one for one in result(claim, *evidence).findings if one.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The cellar is half full.", "The cellar is half empty."),
        ("The tank is a third full.", "The tank is two thirds empty."),
        ("The singer, seventeen years old, won.", "The young singer won."),
        ("Employees have the right to parental leave.", "Employees left the parental leave scheme."),
        ("The pass is valid by day on all trains.", "The pass is valid on all night trains."),
    ],
)
def test_a_measure_and_another_sense_have_no_opposite(claim: str, evidence: str) -> None:
    assert not [one for one in against(claim, evidence) if one.code == "antonym.clash"]


def test_opposites_that_stand_beside_other_words_are_doubtful() -> None:
    (found,) = against("The old pass is valid on all trains.", "The pass is valid on all new trains.")
    assert found.code == "antonym.clash"
    assert found.confidence < SURE


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The pass is valid by day.", "The pass is valid by night."),
        ("The cellar is full.", "The cellar is empty."),
        ("Slug damage is included in the guarantee.", "Excluded from the guarantee is slug damage."),
    ],
)
def test_opposites_in_one_place_and_participles_are_sure(claim: str, evidence: str) -> None:
    assert any(one.code == "antonym.clash" and one.confidence >= SURE for one in against(claim, evidence))


@pytest.mark.parametrize(
    "record", ['{"set": "D2", "cast": "10 Nov 2025"}', "| set | cast |\n|---|---|\n| D2 | 10 Nov 2025 |"]
)
def test_a_day_that_is_written_in_another_way_is_the_same_day(record: str) -> None:
    found = result("Set D2 was cast on 10 November 2025.", record)
    assert not [one for one in found.findings if one.effect == "contradicts"]
    assert found.signals["supports_record"] >= SURE


@pytest.mark.parametrize("day", ["11 November 2025", "10 December 2025"])
def test_another_day_of_a_record_is_still_found(day: str) -> None:
    codes = [one.code for one in against(f"Set D2 was cast on {day}.", '{"set": "D2", "cast": "10 Nov 2025"}')]
    assert "record.mismatch" in codes


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Set D2 was cast.", '{"set":"D2","cast":"10 Nov 2025"}'),
        ("Order 7152 was late.", "supplier | order_no | due\nBolt | 7152 | 3 May\nNail | 7153 | 4 May"),
    ],
)
def test_an_identifier_that_a_record_has_is_not_called_missing(claim: str, evidence: str) -> None:
    assert not [one for one in result(claim, evidence).findings if one.code == "identifier.missing"]


def test_an_article_of_which_only_the_number_stands_there_is_missing() -> None:
    codes = [one.code for one in result("Article 9 applies.", "Article 8 applies for 9 days.").findings]
    assert {"identifier.missing", "identifier.mismatch"} & set(codes)


def test_a_contraction_is_no_name() -> None:
    assert not [one for one in result("I'd fetch the parcel.", "The parcel waits.").findings if "name" in one.code]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Partners get 4 weeks of leave.", "Partners are entitled to 2 weeks of paid leave."),
        ("Keep bedrooms at 14 °C or more.", "Keep bedrooms at 16 °C or more, keep doors to cold rooms shut."),
    ],
)
def test_a_number_among_the_same_words_surely_contradicts(claim: str, evidence: str) -> None:
    assert any(one.code == "number.mismatch" and one.confidence >= SURE for one in against(claim, evidence))
