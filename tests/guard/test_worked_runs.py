"""The cases of docs/concepts.md#agent-runs on the network that ships with the package."""

import pytest
from tests.guard.runs import CANCELLED, FOUND, transcript

import assay
from assay.config import Guard
from assay.schema import Action, Verdict


@pytest.fixture(scope="module")
def guard() -> Guard:
    return assay.Guard("general", environ={})


def test_a_claim_that_contradicts_a_tool_result_is_blocked(guard: Guard) -> None:
    report = guard.check_run(transcript("Order W-17 arrives on 9 May 2026.", FOUND))
    assert report.claims[0].verdict is Verdict.CONTRADICTED
    assert report.claims[0].evidence_spans[0].evidence_id == "step:5/get_order"
    assert report.action is Action.BLOCK


def test_an_entity_that_no_tool_returned_is_not_emitted(guard: Guard) -> None:
    report = guard.check_run(transcript("Order W-17 is handled by Mrs Okafor in Hamburg.", FOUND))
    assert report.claims[0].verdict is not Verdict.SUPPORTED
    assert report.action is not Action.EMIT


def test_a_result_restated_with_a_negation_is_contradicted(guard: Guard) -> None:
    report = guard.check_run(transcript("Order W-17 is not in Hamburg.", FOUND))
    assert report.claims[0].verdict is Verdict.CONTRADICTED
    assert report.action is not Action.EMIT


def test_a_source_that_was_not_retrieved_withholds_the_answer(guard: Guard) -> None:
    report = guard.check_run(transcript("Order W-17 is in Hamburg [dispatch-9].", FOUND))
    assert report.citations[0].status == "fabricated"
    assert report.action is Action.BLOCK


def test_what_the_results_say_is_emitted(guard: Guard) -> None:
    report = guard.check_run(transcript("Order W-17 is in Hamburg. Order W-17 arrives on 3 May 2026.", FOUND))
    assert [claim.verdict for claim in report.claims] == [Verdict.SUPPORTED, Verdict.SUPPORTED]
    assert report.action is Action.EMIT


def test_an_action_that_was_never_taken_is_blocked_and_one_that_was_is_emitted(guard: Guard) -> None:
    said = "I have cancelled your order W-17."
    assert guard.check_run(transcript(said, FOUND)).action is Action.BLOCK
    assert guard.check_run(transcript(said, FOUND, CANCELLED)).action is Action.EMIT


def test_creative_tasks_are_held_to_no_evidence_and_their_calls_still_are(guard: Guard) -> None:
    poem = "The parcel hums at night in a silver harbour."
    invented = ("get_order", {"order_id": "W-99"}, "nothing")
    assert guard.check_run(transcript(poem, FOUND), task="creative").action is Action.EMIT
    assert guard.check_run(transcript(poem, invented), task="creative").action is not Action.EMIT


def test_the_feedback_leads_to_a_corrected_answer(guard: Guard) -> None:
    wrong = "Order W-17 is in Hamburg. Order W-17 arrives on 9 May 2026."
    report = guard.revise_run(
        transcript(wrong, FOUND), author=lambda feedback: feedback.output.replace("9 May", "3 May")
    )
    assert report.action is Action.EMIT
    assert report.output == "Order W-17 is in Hamburg. Order W-17 arrives on 3 May 2026."
