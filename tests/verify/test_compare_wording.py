"""Claims that repeat a sentence of the evidence but for a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import ExactResult, check_exact, index_evidence


def check(claim: str, *evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id=f"e{i}", text=text) for i, text in enumerate(evidence)]))


def changed(claim: str, *evidence: str) -> list[str]:
    return [claim[start:end] for start, end in check(claim, *evidence).changed]


def codes(claim: str, *evidence: str) -> set[str]:
    return {f.code for f in check(claim, *evidence).findings if f.effect == "contradicts" and f.confidence >= 0.8}


@pytest.mark.parametrize(
    ("claim", "evidence", "names"),
    [
        ("Orla Finch was hired by Tom Reed.", "Tom Reed was hired by Orla Finch in 2019.", ["Orla Finch", "Tom Reed"]),
        ("His agent Harbour told Ana Sol.", "He left, his agent Ana Sol told Harbour.", ["Harbour", "Ana Sol"]),
        ("They keep a cat Juno named Siamese.", "They keep a cat Siamese named Juno.", ["Juno", "Siamese"]),
        (
            "The film is directed by Ida Moss from a screenplay by Jon Lund.",
            "The film is directed by Jon Lund from a screenplay by Ida Moss, who also acts.",
            ["Ida Moss", "Jon Lund"],
        ),
    ],
)
def test_two_names_in_each_others_place_are_both_wrong(claim: str, evidence: str, names: list[str]) -> None:
    result = check(claim, evidence)
    found = [f for f in result.findings if f.code == "name.swapped"]
    assert [claim[f.claim_start : f.claim_end] for f in found] == names
    assert result.signals["contradicts_name"] >= 0.9
    assert all(f.evidence is not None and f.evidence.text in evidence for f in found)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Orla Finch met Tom Reed in 2019.", "Tom Reed met Orla Finch in 2019."),
        ("The talks between Norway and Chile failed.", "The talks between Chile and Norway failed."),
        ("It stars Ida Moss, Jon Lund and Ana Sol.", "It stars Ana Sol, Jon Lund and Ida Moss."),
        ("Jon Lund, said Ana Sol, is well.", "Ana Sol said Jon Lund is well."),
        ("Chile beat Norway in May.", "Norway beat Chile in April. Chile beat Norway in May, at home."),
        ("Tom Reed was hired by Orla Finch.", "Orla Finch hired Tom Reed."),
    ],
)
def test_an_order_that_says_the_same_or_that_the_evidence_has_too_is_no_exchange(claim: str, evidence: str) -> None:
    assert "name.swapped" not in codes(claim, evidence)


def test_another_name_in_the_same_sentence_contradicts() -> None:
    trained = "Juno was trained for two years in Oslo by her aunt. New Ross is a port."
    assert "name.mismatch" in codes("Juno was trained for two years in New Ross by her aunt.", trained)
    oldest = "Ashby is one of the oldest towns in the United States. It is the largest town of New England."
    assert "name.mismatch" in codes("Ashby is one of the oldest towns in New England.", oldest)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The plan was signed by the WHO in June.", "The plan was signed by the World Health Organization in June."),
        ("The plan was signed by Anna Berg in June.", "The plan was signed by Anna in June."),
        (
            "The fort fell to the Burmese in the spring of 1824.",
            "The fort fell to the Myanmar in the spring of 1824. Myanmar, or the Burmese, held it.",
        ),
        ("She does not live in the north of Oslo today.", "She does not live in the north of Norway today."),
    ],
)
def test_names_that_may_be_one_and_negated_places_do_not_contradict(claim: str, evidence: str) -> None:
    assert "name.mismatch" not in codes(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence", "word"),
    [
        ("The road runs for 54 miles (87 m) to the coast.", "The road runs for 54 miles (87 km) to the coast.", "m"),
        ("She was between 32 and 34 months pregnant then.", "She was between 32 and 34 weeks pregnant then.", "months"),
    ],
)
def test_another_unit_after_the_same_number_contradicts(claim: str, evidence: str, word: str) -> None:
    finding = next(f for f in check(claim, evidence).findings if f.code == "number.mismatch")
    assert claim[finding.claim_start : finding.claim_end] == word
    assert finding.confidence >= 0.8


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Because the scene was small, support ended.", "Although the scene was small, support ended."),
        ("It works in spite of the cold of the winter.", "It works because of the cold of the winter."),
        ("It was hit, resulting from the loss of all hands.", "It was hit, resulting in the loss of all hands."),
    ],
)
def test_a_reason_in_the_place_of_an_obstacle_contradicts(claim: str, evidence: str) -> None:
    assert "polarity.reason" in codes(claim, evidence)


def test_the_changes_of_a_claim_are_told_word_by_word() -> None:
    evidence = "All members of the club may vote in the spring meeting."
    assert changed("Most members of the club may vote in the autumn meeting.", evidence) == ["Most", "autumn"]
    assert changed("The text says that no members of the club may vote in the spring meeting.", evidence)[-1].endswith(
        "no"
    )


def test_a_number_that_changed_in_part_is_changed_in_full() -> None:
    assert changed("The town has 1,257,061 people today.", "The town has 1,257,060 people today.") == ["1,257,061"]


def test_a_paraphrase_and_a_copy_have_no_changes() -> None:
    evidence = "Staff who have been here for two years get five more days of leave."
    assert changed("After two years, an employee's leave grows by five days.", evidence) == []
    assert changed(evidence, evidence) == []


def test_each_sentence_of_a_claim_is_held_against_its_own() -> None:
    evidence = "The mill was built in 1820 by two brothers. The barn burnt down in the winter of 1901."
    claim = "The mill was built in 1830 by two brothers. The barn burnt down in the summer of 1901."
    assert changed(claim, evidence) == ["1830", "summer"]


VOCABULARY = (
    "the",
    "mill",
    "was",
    "built",
    "by",
    "Ann",
    "Bo Lee",
    "of",
    "Oslo",
    "in",
    "1820",
    "not",
    "because",
    "9",
    "km",
)
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=30).map(" ".join)


@given(WORDS, WORDS)
def test_changes_lie_in_the_claim_in_order_and_findings_within_them(claim: str, evidence: str) -> None:
    result = check(claim, evidence)
    assert list(result.changed) == sorted(result.changed)
    assert all(0 <= start < end <= len(claim) for start, end in result.changed)
    assert all(0 <= f.claim_start < f.claim_end <= len(claim) for f in result.findings)
