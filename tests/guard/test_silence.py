"""Statements that the evidence is silent are claims: a passage that does tell refutes them, silence supports them."""

import pytest

from assay import Guard
from assay.text.claims.kinds.abstentions import is_abstention

EVIDENCE = [
    "Partners are entitled to 2 weeks of paid leave. The fee is 4 euros. The bridge closed in May.",
    "Refunds are made within a week.",
]
SILENT = [
    "Nothing is said of mothers.",
    "Nothing is said about mothers.",
    "Mothers are not mentioned.",
    "The page says nothing about mothers.",
    "No mention is made of mothers.",
    "Nothing in the policy says what mothers get.",
    "The policy does not mention a deadline for refunds.",
]
TOLD = [
    "Nothing is said of partners.",
    "Partners are not mentioned.",
    "No fee is mentioned.",
    "Fees are not mentioned in the policy.",
    "The policy gives no details on refunds.",
    "No mention is made of the bridge.",
]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


@pytest.mark.parametrize("claim", SILENT)
def test_silence_is_confirmed(guard: Guard, claim: str) -> None:
    report = guard.check(claim, EVIDENCE)
    assert (report.action, report.claims[0].verdict) == ("emit", "supported")


@pytest.mark.parametrize("claim", TOLD)
def test_a_sentence_that_tells_refutes_it(guard: Guard, claim: str) -> None:
    report = guard.check(claim, EVIDENCE)
    assert report.action != "emit"
    found = [issue for issue in report.claims[0].issues if issue.code == "record.told"]
    assert found
    assert found[0].evidence is not None


@pytest.mark.parametrize(
    "claim",
    [
        "Nothing happens to the deposit.",
        "The price is not included.",
        "No dogs are allowed.",
        "He said nothing about it to the police.",
        "The meeting was not addressed by the mayor.",
        "She is not told of the change until May.",
        "The deadline was not stated, but it is 4 May.",
    ],
)
def test_denials_of_the_world_are_no_statements_about_the_evidence(claim: str) -> None:
    assert not is_abstention(claim)


def test_an_answer_that_says_what_is_missing_reaches_the_reader(guard: Guard) -> None:
    answer = "Partners get two weeks of paid leave. Nothing is said of mothers."
    assert guard.check(answer, EVIDENCE, question="How long is the leave of partners and of mothers?").action == "emit"


TELLING = (
    "Tickets for the tower cost 5 euros. It opens at nine. Ann Lee designed it. The bridge was closed because of rain. "
    "The archive is kept in Bergen. Dogs are not allowed in the garden."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The passages do not say what it costs.",
        "The passages do not say when it opens.",
        "The text does not tell who designed it.",
        "The passages do not explain why the bridge was closed.",
        "It is not mentioned where the archive is kept.",
        "I could not find how much tickets cost.",
        "The text does not say whether dogs are allowed in the garden.",
        "No price for tickets is given.",
    ],
)
def test_a_sentence_that_answers_a_clause_refutes_that_it_is_not_told(guard: Guard, claim: str) -> None:
    report = guard.check(claim, [TELLING])
    assert report.action != "emit"
    assert report.claims[0].issues[0].code == "record.told"


@pytest.mark.parametrize(
    "claim",
    [
        "The text does not tell who built it.",
        "The passages do not say why it opens at nine.",
        "The text does not say whether cats are allowed in the garden.",
        "The passages do not say when it closes.",
    ],
)
def test_a_clause_that_no_sentence_answers_is_not_refuted(guard: Guard, claim: str) -> None:
    report = guard.check(claim, [TELLING])
    assert all(issue.code != "record.told" for issue in report.claims[0].issues)
