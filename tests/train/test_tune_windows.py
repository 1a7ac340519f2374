import numpy as np
from train.rows import Row
from train.tune_windows import CHOICES, FOLDS, Case, by_set, evidence_of, excerpt, fold_of


def case(source: str, label: str) -> Case:
    return Case(source, "A claim.", ("Evidence.",), label, "evidence")


def test_a_page_in_sentences_is_read_as_one_text() -> None:
    page = Row("wice_claim", ("One line .", " ", "Another line ."), "A claim.", "supported")
    assert evidence_of(page) == ["One line.\nAnother line."]
    assert evidence_of(Row("fm2", page.evidence, "A claim.", "supported")) == ["One line.", "Another line."]
    assert excerpt(page, 3) == "One line. Another"


def test_a_document_is_always_in_the_same_fold() -> None:
    folds = [fold_of(f"document {i}") for i in range(200)]
    assert folds == [fold_of(f"document {i}") for i in range(200)]
    assert set(folds) == set(range(FOLDS))


def test_sets_weigh_the_same_and_small_ones_not_at_all() -> None:
    cases = [case(s, "supported") for s in ("a", "b")] * 20 + [case("few", "supported")]
    wanted = np.array([i % 4 < 2 for i in range(40)] + [True])
    right = np.where(wanted, 0.9, 0.1)
    right[-1] = 0.0
    assert by_set(cases, wanted, right) == (1.0, 1.0)


def test_the_shipped_choice_is_among_those_compared() -> None:
    assert CHOICES["as shipped"] == type(CHOICES["as shipped"])()
