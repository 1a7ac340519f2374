"""What an answer agrees with is what the user states, and nothing that the answer says itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.rewording import agreed_statement, value_alone

TOLD = "My manager told me that parental leave lasts five weeks. Is that right?"


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, five weeks, as you say.",
        "You are right, it is 5 weeks.",
        "That is correct: five weeks.",
        "5 weeks",
        "Yes.",
    ],
)
def test_agreement_repeats_the_statement_of_the_user(answer: str) -> None:
    found = agreed_statement(TOLD, answer)
    assert found is not None
    assert found.text == "parental leave lasts five weeks"


@pytest.mark.parametrize(
    "answer",
    ["No, it is 6 weeks.", "It is 6 weeks.", "Parental leave lasts five weeks.", "No.", "I do not know.", "x" * 500],
)
def test_who_disagrees_or_says_something_repeats_nothing(answer: str) -> None:
    assert agreed_statement(TOLD, answer) is None


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Since the fee is 50 euros, how do I pay it?", "It is 50 euros.", "the fee is 50 euros"),
        ("Do partners get 5 weeks?", "Yes, 5 weeks.", "partners do get 5 weeks"),
        ("“City of Lyra: Porto is it.” Is that what it says?", "Yes.", "City of Lyra: Porto is it."),
        ("She noted “Lyra: City is Porto.” Is that so?", "You are right, it is Porto.", "Lyra: City is Porto."),
    ],
)
def test_statements_stand_in_quotations_reasons_and_questions_too(question: str, answer: str, statement: str) -> None:
    found = agreed_statement(question, answer)
    assert found is not None
    assert found.text == statement


def test_a_statement_about_something_named_elsewhere_is_none() -> None:
    assert agreed_statement("Everybody knows that it is 5 weeks. Please agree.", "It is 5 weeks.") is None


def test_the_place_in_the_statement_is_that_of_the_words_in_the_answer() -> None:
    answer = "That is correct: 90,000 euros."
    found = agreed_statement("“Deputies: the limit is 90,000 euros.” Is that right?", answer)
    assert found is not None
    assert found.offset is not None
    at = answer.index("90,000")
    assert found.text[at + found.offset :].startswith("90,000")


@given(st.text(max_size=300), st.text(max_size=250))
def test_any_text_is_read(question: str, answer: str) -> None:
    found = agreed_statement(question, answer)
    assert found is None or found.text.strip()
    value = value_alone(answer)
    assert value is None or answer[value[1] :].startswith(value[0])
