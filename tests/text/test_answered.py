"""A question and its short answer become one statement, in which the answer can be as wrong as the statement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.rewording.short_answers import (
    agrees,
    answer_as_statement,
    asked_statement,
    denied_statement,
    opening_word,
    presupposed,
)


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Do partners get 4 weeks of leave?", "partners do get 4 weeks of leave"),
        ("Is the office open on Monday?", "the office is open on Monday"),
        ("Are dogs allowed in the garden?", "dogs are allowed in the garden"),
        ("Is Oslo the capital of Norway?", "Oslo is the capital of Norway"),
        ("Has my order been shipped?", "my order has been shipped"),
        (
            "Is the parental leave policy available to contractors?",
            "the parental leave policy is available to contractors",
        ),
        ("Was the bridge built in 1932?", "the bridge was built in 1932"),
        ("Isn't the fee waived?", "the fee is waived"),
        ("Is it true that partners get 4 weeks?", "partners get 4 weeks"),
        ("It's free, isn't it?", "It's free"),
        ("Hi! I have a question. Are returns free?", "returns are free"),
        ("Is Acme older than Brix?", "Acme is older than Brix"),
    ],
)
def test_a_question_of_yes_or_no_becomes_what_it_asks(question: str, statement: str) -> None:
    assert asked_statement(question) == statement


@pytest.mark.parametrize("question", ["How long is the leave?", "Bekommen Partner vier Wochen?", "Tell me.", "", "?"])
def test_what_is_asked_otherwise_does_not(question: str) -> None:
    assert asked_statement(question) is None


def test_a_denial_denies_what_was_asked() -> None:
    assert denied_statement("Can the doctor raise the dose?") == "the doctor can not raise the dose"
    assert denied_statement("How long is it?") is None


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("How long is partner leave?", "16 weeks", "partner leave is 16 weeks"),
        ("Who gets two weeks?", "Partners.", "Partners gets two weeks"),
        ("How many people work at Acme?", "40", "40 work at Acme"),
        ("In which year was it founded?", "1932", "it was founded in 1932"),
        ("Who can approve leave?", "HR", "HR can approve leave"),
        ("What are the opening hours?", "9 to 5", "the opening hours are 9 to 5"),
        ("When was the bridge opened?", "1932", "the bridge was opened 1932"),
    ],
)
def test_a_short_answer_takes_the_place_of_what_was_asked(question: str, answer: str, statement: str) -> None:
    found = answer_as_statement(question, answer)
    assert found is not None
    assert found[0] == statement
    assert found[0][found[1] :].startswith(answer.rstrip("."))


@pytest.mark.parametrize("text", ["Yes", "Yes, they do.", "That's right.", "They do.", "**Yes**", "Ja.", "是的", "Да"])
def test_what_only_says_yes_agrees(text: str) -> None:
    assert agrees(text) is True


@pytest.mark.parametrize("text", ["No.", "No, it isn't.", "Certainly not!", "They don't.", "Nein", "いいえ"])
def test_what_only_says_no_denies(text: str) -> None:
    assert agrees(text) is False


@pytest.mark.parametrize("text", ["Yes, 4 weeks.", "No problem.", "Nothing.", "Yes, but only on Mondays.", ""])
def test_what_says_more_does_neither(text: str) -> None:
    assert agrees(text) is None


def test_the_word_that_opens_a_longer_answer_is_found() -> None:
    assert opening_word("No, the fee is 5 euros.") == (0, 2, False)
    assert opening_word("Nothing is due.") is None


@given(st.text(max_size=80), st.text(max_size=40))
def test_the_answer_stands_where_it_is_said_to_stand(question: str, answer: str) -> None:
    found = answer_as_statement(question, answer)
    if found is not None:
        text, at = found
        assert text[at:].startswith(answer.strip().rstrip(".!"))


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        ("Why does the policy cover water damage?", "the policy does cover water damage"),
        ("Who approved the free upgrade?", "somebody approved the free upgrade"),
        ("When was the fee waived?", "the fee was waived"),
    ],
)
def test_what_a_question_takes_for_granted_is_stated(question: str, taken: str) -> None:
    assert presupposed(question) == taken


@pytest.mark.parametrize(
    "question",
    [
        "What is your order number?",
        "Why do you ask?",
        "When would you like to travel?",
        "How can I help you today?",
        "Who is it?",
        "Why not?",
    ],
)
def test_a_question_back_takes_nothing_for_granted(question: str) -> None:
    assert presupposed(question) is None


@pytest.mark.parametrize("question", ["Who can?", "Who will?", "Who is?", "How many?", "What does?"])
def test_a_question_that_breaks_off_behind_its_verb_gives_no_statement(question: str) -> None:
    assert answer_as_statement(question, "Partners") is None
