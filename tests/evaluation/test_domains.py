"""Domains and languages are told by plain signs, and whatever cannot be told is said to be so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation.rows.domains import domain_of, language_of
from assay.evaluation.rows.reading import Row
from assay.schema import Evidence
from assay.text.sentences.languages import UNSTATED, language


def row(text: str = "It is so.", evidence: str = "x", **fields: Any) -> Row:
    given_set = fields.pop("set", "mine")
    return Row(
        set=given_set, id="1", evidence=(Evidence(id="e", text=evidence),), text=text, whole=True, label=None, **fields
    )


def test_a_known_set_has_its_domain_whatever_its_rows_call_theirs() -> None:
    assert domain_of(row(set="healthver")) == "health and science"
    assert domain_of(row(set="summedits_samsum", meta={"domain": "samsum"})) == "dialogue and meetings"


def test_an_unknown_set_has_the_domain_of_its_rows() -> None:
    assert domain_of(row(meta={"domain": "insurance"})) == "insurance"
    assert domain_of(row(meta={"domain": ""})) == UNSTATED
    assert domain_of(row()) == UNSTATED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The contract is valid for two years.", "English"),
        ("Der Vertrag gilt für zwei Jahre und ist nicht kündbar.", "German"),
        ("Le contrat est valable pour une durée de deux ans.", "French"),
        ("El contrato es válido por un periodo de dos años.", "Spanish"),
        ("Il contratto è valido per due anni e non si rinnova.", "Italian"),
        ("O contrato é válido por dois anos e não se renova.", "Portuguese"),
        ("Het contract is geldig voor twee jaar en wordt niet verlengd.", "Dutch"),
        ("Договор действует два года.", "Cyrillic script"),
        ("契約は二年間有効です。", "Japanese"),
        ("合同有效期为两年。", "Chinese"),
        ("계약은 2년간 유효합니다.", "Korean"),
        ("العقد ساري المفعول لمدة عامين.", "Arabic script"),
        ("Berlin Tokyo", UNSTATED),
        ("1234 — %", UNSTATED),
        ("", UNSTATED),
    ],
)
def test_a_language_is_told_by_its_script_and_its_commonest_words(text: str, expected: str) -> None:
    assert language(text) == expected


def test_a_claim_too_short_to_tell_takes_the_language_of_its_evidence() -> None:
    assert language_of(row("Berlin", "Die Stadt ist der Sitz des Amtes.")) == "German"


@given(st.text())
def test_any_text_has_a_language_or_none_that_can_be_told(text: str) -> None:
    assert language(text)
