"""Which words of a claim a record finds wrong, and statements that a row's plain values do not answer."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.config import Guard
from assay.schema import Evidence, Verdict
from assay.testing import FakeScorer
from assay.verify.exact import ExactResult, check_exact, index_evidence
from assay.verify.exact.compare_records.vocabulary import negating_words

FLIGHTS = json.dumps(
    {
        "title": "Departures of 12 May 2026",
        "results": [
            {"flight": "SK 417", "gate": "B 12", "status": "on time", "carrier": "Nordwind", "seats": 180},
            {"flight": "SK 419", "gate": "C 3", "status": "boarding now", "carrier": "Nordwind Regional", "seats": 74},
            {"flight": "SK 512", "gate": "A 7 (bus)", "status": "on time", "carrier": "Lyn Air", "seats": 96},
        ],
    }
)
STAGES = """2019 tour of the fjords
stage | winner | time | no in season
1 | Ada Lund | 4 - 12 - 31 | 8
2 | Mia Berg | 3 - 58 - 02 | 9
3 | Ada Lund (2) | 4 - 40 - 15 | 10"""
FILM = """The Salt Road
Directed by: Ola Brekke
Produced by: Siri Moe, Tone Vik
Budget: $30 million
Running: 1999; 2010 - present
Weight: 238 lb (108 kg)
Label: Lyng
2019: 4,200 viewers
2020: 5,100 viewers"""
HORSE = """Salt Racer
Record: 44: 39-15-9
Foaled: 9 March 1975"""


def found(claim: str, evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id="e", text=evidence)]))


def against(result: ExactResult) -> list[str]:
    return [f.code for f in result.findings if f.code.startswith("record.") and f.effect == "contradicts"]


def wrong_words(claim: str, result: ExactResult) -> list[str]:
    return [claim[a:b] for f in result.findings if f.code.startswith("record.") for a, b in f.words]


@pytest.mark.parametrize(
    ("evidence", "claim", "words"),
    [
        (STAGES, "The time of stage 1 is 4 - 12 - 39.", ["39"]),
        (STAGES, "The winner of stage 2 is Ada Lund.", ["Ada Lund"]),
        (STAGES, "The winner of stage 2 is Ada Lund (2).", ["Ada Lund (2"]),
        (FLIGHTS, "The gate of SK 417 is B 14.", ["14"]),
        (FLIGHTS, "The status of SK 512 is boarding now.", ["boarding now"]),
        (FILM, "The budget of The Salt Road is $40 million.", ["40"]),
        (FILM, "The weight of The Salt Road is 238 lb (180 kg).", ["180"]),
        (FILM, "The weight of The Salt Road is 238 lb (108 g).", ["g"]),
        (FILM, "The label of The Salt Road is not Lyng.", ["not"]),
        (FILM, "The Salt Road does not have a budget of $30 million.", ["does not have"]),
        (HORSE, "The record of Salt Racer is 45: 39-15-9.", ["45"]),
    ],
)
def test_of_a_wrong_value_the_words_that_differ_are_wrong(evidence: str, claim: str, words: list[str]) -> None:
    result = found(claim, evidence)
    assert wrong_words(claim, result) == words
    assert result.signals["supports_record"] == 0


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        (FILM, "The running of The Salt Road is 1999; 2010 - present."),
        (FILM, "Sure! The label of The Salt Road is Lyng."),
        (FILM, "1. The label of The Salt Road is Lyng."),
        (FILM, "The Salt Road's 2019 is 4,200 viewers."),
        (FILM, "The weight of The Salt Road is 238 lb (108 kg)."),
        (HORSE, "The record gives 9 March 1975 under foaled for Salt Racer."),
        (STAGES, "No in season 9 has Mia Berg as its winner."),
        (STAGES, "The winner of stage 1 is Ada Lund. The winner of stage 2 is Mia Berg."),
        (STAGES, "As mentioned in passage 1, the winner of stage 2 is Mia Berg."),
        (STAGES, "In the table on 2019 tour of the fjords, the winner of stage 2 is Mia Berg."),
        (FLIGHTS, "The carrier of SK 419 is Nordwind Regional."),
    ],
)
def test_marks_and_words_of_a_value_or_a_title_end_no_sentence_and_hide_no_value(evidence: str, claim: str) -> None:
    result = found(claim, evidence)
    assert result.signals["supports_record"] >= 0.8
    assert not against(result)


@pytest.mark.parametrize(
    "claim",
    [
        "The label of The Salt Road is Lyng. The total is 900.",
        "The label of The Salt Road is Lyng. No.",
        "The label of The Salt Road is Lyng. It is 5.",
        "It is 5. The label of The Salt Road is Lyng.",
    ],
)
def test_a_short_sentence_that_says_something_is_not_passed_over(claim: str) -> None:
    assert found(claim, FILM).signals["supports_record"] == 0


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="ab1µ漢字کé'’-. ;!£$°", max_size=40))
def test_words_of_any_script_with_nothing_between_them_are_read(claim: str) -> None:
    result = found(claim, FILM)
    assert 0 <= result.signals["supports_record"] <= 1


def test_the_same_amount_in_another_currency_is_another_amount() -> None:
    claim = "The budget of The Salt Road is £30 million."
    result = found(claim, FILM)
    assert against(result) == ["record.mismatch"]
    assert result.signals["supports_record"] == 0


def test_who_did_and_what_was_done_exchanged_are_both_wrong() -> None:
    claim = "Ola Brekke was directed by The Salt Road."
    result = found(claim, FILM)
    assert against(result) == ["record.mismatch"]
    assert wrong_words(claim, result) == ["Ola Brekke", "The Salt Road"]
    assert found("The Salt Road was directed by Ola Brekke.", FILM).signals["supports_record"] >= 0.8


def test_one_of_several_doers_as_the_subject_is_exchanged_too() -> None:
    claim = "Siri Moe was produced by The Salt Road, Tone Vik."
    assert wrong_words(claim, found(claim, FILM)) == ["Siri Moe", "The Salt Road"]


def test_a_claim_about_another_year_of_the_title_is_missing_and_not_contradicted() -> None:
    claim = "In the table on 2018 tour of the fjords, the winner of stage 2 is Mia Berg."
    result = found(claim, STAGES)
    (finding,) = [f for f in result.findings if f.code == "record.title"]
    assert finding.effect == "missing"
    assert wrong_words(claim, result) == ["2018"]
    assert result.signals["supports_record"] == 0
    assert not against(result)


def test_a_row_found_by_its_name_is_meant_before_one_that_has_the_value() -> None:
    claim = "For stage 2, the table lists Ada Lund under winner."
    result = found(claim, STAGES)
    assert wrong_words(claim, result) == ["Ada Lund"]


def test_a_shorter_form_of_a_name_is_no_other_row() -> None:
    assert not against(found("The carrier of SK 419 is Nordwind.", FLIGHTS))


@pytest.mark.parametrize(
    ("claim", "states"),
    [
        ("SK 417 and SK 512 together have 276 seats.", True),
        ("SK 417, SK 419 and SK 512 have a total of 350 seats.", True),
        ("SK 417 and SK 512 together have 275 seats.", False),
        ("SK 417 and SK 512 together do not have 276 seats.", False),
    ],
)
def test_what_rows_have_together_is_added_up(claim: str, states: bool) -> None:
    result = found(claim, FLIGHTS)
    assert (result.signals["supports_record"] >= 0.8) is states
    assert against(result) == ([] if states else ["record.total"])


@pytest.mark.parametrize(
    "claim",
    [
        "SK 417 and SK 512 together have 276 seats and a bar.",
        "SK 417 and SK 999 together have 276 seats.",
        "SK 417 and perhaps SK 512 together have more than 100 seats if it rains.",
    ],
)
def test_a_total_with_something_unexplained_is_left_alone(claim: str) -> None:
    result = found(claim, FLIGHTS)
    assert not against(result)
    assert result.signals["supports_record"] == 0


def test_numbers_that_name_rows_are_not_added_up() -> None:
    result = found("Stage 1 and stage 2 together have a total of 17 for no in season.", STAGES)
    assert result.signals["supports_record"] >= 0.8
    assert not [f for f in result.findings if f.code == "arithmetic.wrong"]


def test_only_the_words_that_differ_are_shown_in_a_sentence_that_a_record_answers() -> None:
    guard = Guard("general", scorer=FakeScorer())
    claim = "The winner of stage 1 is Ada Lund. The winner of stage 2 is Ada Lund."
    (report,) = guard.judge_claims([(claim, [Evidence(id="e", text=STAGES)], None)])
    assert report.verdict is Verdict.CONTRADICTED
    assert [(s.start, s.end) for s in report.wrong_spans] == [(claim.rindex("Ada"), len(claim) - 1)]


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(st.text("abcdefgh", min_size=4, max_size=8), st.integers(4, 9_999), min_size=2, max_size=6),
    st.data(),
)
def test_any_rows_add_up_to_their_sum_and_to_nothing_else(rows: dict[str, int], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(rows)), min_size=2, unique=True))
    off = data.draw(st.integers(1, 500))
    text = "\n".join(["pump | flow", *(f"{name} | {flow}" for name, flow in rows.items())])
    total = sum(rows[name] for name in names)
    joined = " and ".join(names)
    assert found(f"{joined} together have a flow of {total}.", text).signals["supports_record"] >= 0.8
    assert against(found(f"{joined} together have a flow of {total + off}.", text)) == ["record.total"]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(10, 99), min_size=2, max_size=5), st.integers(0, 4), st.integers(10, 99))
def test_of_a_code_of_figures_the_figure_that_differs_is_wrong(figures: list[int], place: int, other: int) -> None:
    at = place % len(figures)
    changed = [other if i == at else figure for i, figure in enumerate(figures)]
    claim = f"The score of the game is {' - '.join(map(str, changed))}."
    evidence = f"Game\nScore: {' - '.join(map(str, figures))}\nPlace: Voss"
    result = found(claim, evidence)
    if changed == figures:
        assert result.signals["supports_record"] >= 0.8
    else:
        assert wrong_words(claim, result) == [str(other)]


@given(st.lists(st.sampled_from(["it", "is", "does", "not", "cost", "four"]), min_size=1, max_size=8), st.data())
def test_the_words_that_negate_are_the_negation_and_its_neighbours(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    first, last = negating_words(words, at)
    assert 0 <= first <= at < last <= len(words)
    assert last - first <= 3
