"""Evidence that does not speak of what was asked cannot support an answer to it."""

import pytest

from assay import Guard, Policy
from assay.policy import preset
from assay.verify.omissions.relevance import find_irrelevant, unmentioned_parts

LEAVE = "How long is partners' leave?"
METAL = "Tungsten is a metal. It melts at 3422 °C."


@pytest.mark.parametrize(
    ("question", "evidence", "output"),
    [
        (LEAVE, METAL, "Tungsten melts at 3422 °C."),
        ("Who may approve a refund over 500 euros?", "The cafeteria opens at 8.", "The cafeteria opens at 8 o'clock."),
        ("Which port does the database listen on?", "Our office is in Graz.", "The office is in Graz."),
    ],
)
def test_an_answer_to_another_question_from_evidence_on_something_else_is_found(
    question: str, evidence: str, output: str
) -> None:
    assert find_irrelevant(question, [evidence], output) is not None


@pytest.mark.parametrize(
    ("question", "evidence", "output"),
    [
        (LEAVE, "Partners are entitled to 2 weeks of leave.", "Two weeks."),
        (LEAVE, METAL, "Partners get four weeks of leave."),
        ("When was it decided?", "The decision fell on 4 May.", "On 4 May."),
        ("And for children?", METAL, "Tungsten melts at 3422 °C."),
        ("Summarise the minutes.", METAL, "Tungsten melts at 3422 °C."),
        ("Wie lange dauert der Urlaub der Partner?", "Partners may be away for two weeks.", "Zwei Wochen."),
        (None, METAL, "Tungsten melts at 3422 °C."),
    ],
)
def test_paraphrase_other_languages_and_requests_raise_nothing(
    question: str | None, evidence: str, output: str
) -> None:
    assert find_irrelevant(question, [evidence], output) is None


def test_the_gate_withholds_it_by_default_and_says_why() -> None:
    report = Guard().check("Tungsten melts at 3422 °C.", [METAL], question=LEAVE)
    assert report.action == "block"
    assert "No evidence covers the question." in report.decision.reasons
    assert [issue.code for issue in report.issues] == ["evidence.irrelevant"]


def test_a_policy_may_let_it_out_and_no_question_asks_for_nothing() -> None:
    loose = Policy(**{**preset("general").model_dump(), "require_relevant_evidence": False})
    assert Guard(loose).check("Tungsten melts at 3422 °C.", [METAL], question=LEAVE).action == "emit"
    assert Guard().check("Tungsten melts at 3422 °C.", [METAL]).action == "emit"


def test_an_abstention_is_no_answer_to_another_question() -> None:
    report = Guard().check("The documents do not say how long leave is.", [METAL], question=LEAVE)
    assert report.action == "emit"


BOTH = "How long is the leave of partners and of mothers?"
PARTNERS = "Partners are entitled to 2 weeks of paid leave."


def test_what_no_passage_says_of_a_part_of_the_question_is_told() -> None:
    report = Guard().check("Partners get two weeks of leave.", [PARTNERS], question=BOTH)
    assert report.action == "emit"
    assert "The question asks about “mothers”; no passage has a word of it." in report.coverage.reasons


def test_it_stands_in_the_text_that_takes_the_place_of_a_withheld_answer() -> None:
    report = Guard().check("Partners get four weeks of leave.", [PARTNERS], question=BOTH)
    assert report.decision.response is not None
    assert report.decision.response.endswith("The available documents say nothing of “mothers”.")


@pytest.mark.parametrize("output", ["Two weeks. Nothing is said of mothers.", "Mothers and partners: two weeks."])
def test_what_the_output_speaks_of_itself_needs_no_telling(output: str) -> None:
    assert unmentioned_parts(BOTH, [PARTNERS], output) == ()


def test_a_part_whose_neighbour_is_not_told_of_either_is_no_gap_beside_an_answer() -> None:
    assert unmentioned_parts("What is the fee for adults and for children?", [METAL], "It melts at 3422 °C.") == ()
    assert unmentioned_parts("What is the fee for adults and for metals?", [METAL], "It melts.") == ("adults",)
