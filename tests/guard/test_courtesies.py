"""A courtesy that names what is known from nowhere takes it for granted, and is checked."""

import pytest

from assay import Guard
from assay.schema import Verdict

LEAVE = ["Partners are entitled to 2 weeks of paid leave."]
FACT = "Partners are entitled to 2 weeks of paid leave."


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


@pytest.mark.parametrize(
    "courtesy",
    [
        "Sorry about the delayed refund.",
        "Congratulations on your promotion to director!",
        "I am happy to waive the fee.",
        "Let me know when you want to use your free upgrade.",
    ],
)
def test_what_it_takes_for_granted_is_checked(guard: Guard, courtesy: str) -> None:
    report = guard.check(f"{FACT} {courtesy}", LEAVE)
    assert report.claims[-1].verdict is not Verdict.NOT_CHECKABLE


@pytest.mark.parametrize(
    "courtesy",
    [
        "Thank you for your patience!",
        "I hope this helps!",
        "Have a nice day!",
        "I am happy to help you.",
        "Let me know if you have questions about the leave of partners.",
    ],
)
def test_what_is_only_polite_is_not(guard: Guard, courtesy: str) -> None:
    report = guard.check(f"{FACT} {courtesy}", LEAVE)
    assert report.claims[-1].verdict is Verdict.NOT_CHECKABLE
    assert report.action == "emit"


def test_what_was_asked_about_is_not_taken_for_granted(guard: Guard) -> None:
    report = guard.check(f"{FACT} Sorry about the delayed refund.", LEAVE, question="My refund is delayed. And leave?")
    assert report.claims[-1].verdict is Verdict.NOT_CHECKABLE
