"""Negations, numbers and dates that differ, in five languages beside English, as a whole check finds them."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence


def sure(claim: str, *evidence: str) -> list[str]:
    index = index_evidence([Evidence(id=str(at), text=text) for at, text in enumerate(evidence)])
    return [one.code for one in check_exact(claim, index).findings if one.effect == "contradicts"]


PAIRS = [
    ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt."),
    ("Es gibt einen Parkplatz am Büro.", "Es gibt keinen Parkplatz am Büro."),
    ("Le congé est payé.", "Le congé n'est pas payé."),
    ("Elle travaille le lundi.", "Elle ne travaille plus le lundi."),
    ("El permiso se paga.", "El permiso no se paga."),
    ("La oficina abre los lunes.", "La oficina nunca abre los lunes."),
    ("Il congedo è pagato.", "Il congedo non è pagato."),
    ("A licença é paga.", "A licença não é paga."),
]


@pytest.mark.parametrize(("affirmed", "denied"), PAIRS)
def test_a_sentence_and_its_negation_contradict_each_other(affirmed: str, denied: str) -> None:
    assert sure(affirmed, denied) == ["polarity.negation"]
    assert sure(denied, affirmed) == ["polarity.negation"]
    assert sure(denied, denied) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht nur bezahlt."),
        ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt, wenn er zu spät beantragt wird."),
        ("Le congé est payé.", "Le congé n'est payé que."),
        ("El permiso se paga.", "El permiso no solo se paga."),
        ("Der Urlaub wird genehmigt.", "Der Urlaub wird nicht bezahlt."),
    ],
)
def test_what_depends_on_more_than_the_negation_is_left_alone(claim: str, evidence: str) -> None:
    assert sure(claim, evidence) == []


def test_a_clause_is_compared_by_itself() -> None:
    assert sure("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt und dauert zwei Wochen.") == [
        "polarity.negation"
    ]


def test_nothing_is_found_where_another_sentence_says_the_same() -> None:
    assert (
        sure(
            "Der Urlaub wird ja bezahlt.", "Der Urlaub wird ja bezahlt, sagt sie.", "Der Urlaub wird ja nicht bezahlt."
        )
        == []
    )


@pytest.mark.parametrize(
    ("right", "wrong", "evidence"),
    [
        (
            "Partner erhalten 2 Wochen Urlaub.",
            "Partner erhalten vier Wochen Urlaub.",
            "Partner erhalten zwei Wochen Urlaub.",
        ),
        ("Der Urlaub dauert 14 Tage.", "Der Urlaub dauert 30 Tage.", "Der Urlaub dauert zwei Wochen."),
        ("Le congé dure 2 semaines.", "Le congé dure quatre semaines.", "Le congé dure deux semaines."),
        ("El permiso dura 2 semanas.", "El permiso dura cuatro semanas.", "El permiso dura dos semanas."),
        ("Das Büro öffnet am 3.3.2024.", "Das Büro öffnet am 5. April 2024.", "Das Büro öffnet am 3. März 2024."),
    ],
)
def test_a_number_or_a_date_in_words_agrees_with_digits_and_with_no_other_one(
    right: str, wrong: str, evidence: str
) -> None:
    assert sure(right, evidence) == []
    assert sure(wrong, evidence)[0] in {"number.mismatch", "date.mismatch"}
