"""An answer that is shown otherwise than it stands there is not taken as checked, whole or streamed."""

import pytest
from tests.guard.test_receipts import Clock, guard_with
from tests.text.test_hidden import SHOWN_OTHERWISE

from assay.errors import ReceiptError
from assay.guard import Guard
from assay.schema import Action
from assay.testing import FakeScorer

EVIDENCE = ["Partners are entitled to 24 weeks of leave."]
TURNED = "Partners are entitled to \u202e24\u202c weeks of leave."


@pytest.mark.parametrize("text", SHOWN_OTHERWISE)
def test_it_does_not_go_out_though_its_words_are_borne_out(text: str) -> None:
    report = Guard("general", scorer=FakeScorer()).check(text, [text])
    assert report.action is not Action.EMIT
    assert "text.hidden" in [issue.code for issue in report.issues]
    assert any("is shown another text" in reason for reason in report.decision.reasons)


def test_nothing_of_it_leaves_a_stream_not_even_in_a_greeting() -> None:
    for said in (TURNED, "Good morning! \u202e!gninrom dooG\u202c How are you? "):
        stream = Guard("general", scorer=FakeScorer()).stream(iter([said]), EVIDENCE)
        assert "\u202e" not in "".join(stream)
        assert not stream.outcome.passed


def test_a_report_from_which_it_was_taken_out_gets_no_receipt() -> None:
    guard = guard_with(Clock())
    report = guard.check(TURNED, EVIDENCE)
    right = guard.check(EVIDENCE[0], EVIDENCE)
    forged = report.model_copy(update={"issues": (), "action": Action.EMIT, "decision": right.decision})
    with pytest.raises(ReceiptError, match="nothing was signed"):
        guard.issue(forged)


@pytest.mark.parametrize(("number", "action"), [("Ⅱ", Action.EMIT), ("Ⅸ", Action.BLOCK), ("ⅸ", Action.BLOCK)])
def test_roman_numerals_of_one_character_are_read_as_numbers(number: str, action: Action) -> None:
    evidence = ["Partners are entitled to 2 weeks of leave."]
    report = Guard("general", scorer=FakeScorer()).check(evidence[0].replace("2", number), evidence)
    assert report.action is action
