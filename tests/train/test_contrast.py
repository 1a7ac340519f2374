"""Contrasts of written claims differ from their claim by the wrong words alone, and carry the label that follows."""

import random
from typing import Any

import pytest
from train.contrast import edited, exchange, of_claim, shortened
from train.rows import Row

FEE: dict[str, Any] = {"text": "The fee is 40 euros a year.", "wrong": ["40"], "say": "30", "label": "contradicted"}


def row_of(claim: dict[str, Any], evidence: str) -> Row:
    text = str(claim["text"])
    return Row("scenario:z", (evidence,), text, "contradicted", spans=((11, 13),), group="z-001/0")


def test_a_twin_says_the_right_words_and_the_turned_evidence_makes_the_wrong_claim_right() -> None:
    made = list(of_claim(row_of(FEE, "Members pay 30 euros."), FEE))
    assert [(row.evidence[0], row.claim, row.label) for row in made] == [
        ("Members pay 30 euros.", "The fee is 30 euros a year.", "supported"),
        ("Members pay 40 euros.", "The fee is 40 euros a year.", "supported"),
        ("Members pay 40 euros.", "The fee is 30 euros a year.", "contradicted"),
    ]
    assert [row.claim[a:b] for row in made for a, b in row.spans] == ["30"]
    assert {row.group for row in made} == {"z-001/0"}


def test_evidence_that_states_the_right_words_twice_or_within_a_number_is_not_turned() -> None:
    for evidence in ("30 euros, that is 30 euros.", "It costs 130 euros.", "It costs 30.50 euros."):
        assert [row.source for row in of_claim(row_of(FEE, evidence), FEE)] == ["scenario:z:twin"]


@pytest.mark.parametrize(
    "say", ["30; members pay 20", "not told", "the fee that was agreed in March", "Members", "free of charge"]
)
def test_a_note_that_cannot_stand_in_the_place_of_the_wrong_words_gives_no_twin(say: str) -> None:
    assert exchange({**FEE, "say": say}) is None


def test_what_was_added_at_the_end_is_left_out() -> None:
    claim = {"text": "Returns are free for all members because stocks are low.", "wrong": ["because stocks are low"]}
    assert shortened({**claim, "label": "unsupported"}) == "Returns are free for all members."
    assert shortened({**claim, "label": "contradicted"}) is None
    assert shortened({"text": "It is the one.", "wrong": ["one"], "label": "unsupported"}) is None


def test_right_claims_are_edited_in_one_place_and_wrong_ones_are_not() -> None:
    evidence = ("The hall has 240 seats. It opened in 1998.",)
    rows = [
        Row("scenario:z", evidence, "The hall seats 240 people.", "supported", group="z/1"),
        Row("scenario:z", evidence, "The hall seats 300 people.", "contradicted", group="z/1"),
    ]
    made = [row for seed in range(8) for row in edited(rows, 1.0, random.Random(seed))]
    assert made
    for row in made:
        assert row.label != "supported"
        assert row.claim != rows[0].claim
        assert row.spans
        assert row.group == "z/1"
