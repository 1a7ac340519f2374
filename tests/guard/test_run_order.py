"""Results of a run that say different things: two sources that disagree, or a change in between."""

from dataclasses import replace

import pytest
from tests.guard.runs import CANCELLED, Call, transcript

from assay import Guard
from assay.guard.check.verdicts import Judged, unjudged
from assay.guard.runs.changed_results import without_overtaken
from assay.schema import Action, EvidenceSpan, HallucinationReport
from assay.schema.traces import read_run
from assay.testing import FakeScorer

TWO, FOUR = "A return takes 2 weeks.", "A return takes 4 weeks."
PENDING = ("get_order", {"order_id": "W-17"}, '{"order_id": "W-17", "status": "pending"}')
DONE = ("get_order", {"order_id": "W-17"}, '{"order_id": "W-17", "status": "cancelled"}')
FAILED = ("cancel_order", {"order_id": "W-17"}, '{"error": "not allowed"}')
OTHER = ("search_orders", {"text": "W-17"}, '{"order_id": "W-17", "status": "cancelled"}')


def kept(supporting: int, contradicting: int, *calls: Call) -> bool:
    """Whether a conflict between the results of two calls, by their numbers, stays one."""
    run = read_run(transcript("It is cancelled.", *calls))
    results = [i for i, step in enumerate(run.steps) if step.kind == "tool_result"]

    def span(number: int, relation: str) -> EvidenceSpan:
        name = f"step:{results[number]}/tool"
        return EvidenceSpan(evidence_id=name, start=0, end=1, text="x", relation=relation, score=1.0)

    conflict = span(supporting, "supports"), span(contradicting, "contradicts")
    found: Judged = replace(unjudged("of no matter here"), conflict=conflict)
    return without_overtaken(found, run).conflict is not None


def test_a_result_after_an_action_overtakes_one_before_it() -> None:
    assert not kept(2, 0, PENDING, CANCELLED, DONE)
    assert not kept(1, 0, PENDING, CANCELLED)


def test_a_claim_that_follows_the_overtaken_result_keeps_its_conflict() -> None:
    assert kept(0, 2, PENDING, CANCELLED, DONE)


def test_the_same_call_made_again_overtakes_itself() -> None:
    assert not kept(1, 0, PENDING, DONE)
    assert kept(0, 1, PENDING, DONE)


def test_two_lookups_that_contradict_each_other_disagree_in_either_order() -> None:
    assert kept(1, 0, PENDING, OTHER)
    assert kept(0, 1, PENDING, OTHER)


def test_an_action_that_failed_changed_nothing() -> None:
    assert kept(2, 0, PENDING, FAILED, OTHER)


def test_what_is_no_result_of_the_run_is_left_alone() -> None:
    run = read_run(transcript("It is cancelled.", PENDING))
    spans = [
        EvidenceSpan(evidence_id=name, start=0, end=1, text="x", relation=relation, score=1.0)
        for name, relation in (("step:99/tool", "supports"), ("hr-2", "contradicts"))
    ]
    found = replace(unjudged("of no matter here"), conflict=(spans[0], spans[1]))
    assert without_overtaken(found, run) is found


def checked(answer: str, *calls: Call) -> HallucinationReport:
    return Guard("general", scorer=FakeScorer()).check_run(transcript(answer, *calls, user="How long is a return?"))


@pytest.mark.parametrize("answer", [TWO, FOUR])
def test_an_answer_after_one_of_two_results_that_disagree_does_not_go_out(answer: str) -> None:
    calls = (("get_order", {"order_id": "W-17"}, TWO), ("search_help", {"text": "returns"}, FOUR))
    report = checked(answer, *calls)
    assert report.action is not Action.EMIT
    assert [one.claim for one in report.retrieval.conflicts] == [answer]
