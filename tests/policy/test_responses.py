"""The texts that people read in place of a withheld output."""

import pytest

from assay.policy.responses import Cause, disclosure, refusal
from assay.schema import Action


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name)
def test_every_cause_has_a_reason_and_a_next_step(cause: Cause) -> None:
    text = refusal({cause}, Action.BLOCK)
    assert text.startswith("This answer was withheld.")
    assert text.count(".") + text.count("?") >= 3


def test_an_escalated_output_says_that_a_person_looks_at_it() -> None:
    assert "a person" in refusal({Cause.RISK}, Action.ESCALATE)


def test_the_gravest_reasons_come_first_and_only_two_of_them() -> None:
    text = refusal({Cause.WEAK, Cause.CONTRADICTION, Cause.UNCITED}, Action.BLOCK)
    assert text.index("does not agree") < text.index("named no source")
    assert "only weakly" not in text


def test_a_refusal_without_a_cause_still_says_what_to_do() -> None:
    assert "try again" in refusal(set(), Action.BLOCK)


def test_a_disclosure_asks_to_check_the_sources() -> None:
    assert "sources" in disclosure()
