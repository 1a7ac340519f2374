"""A run is checked call by call and claim by claim; what has not ended or cannot be read is never clean."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guard.runs import CANCELLED, FALSE, FOUND, ORDER, TRUE, Call, transcript

from assay.errors import InputError, VerifierError
from assay.guard import Guard
from assay.guard.runs.evidence import run_evidence
from assay.guard.runs.tool_calls import CUT_OFF, is_cut_off
from assay.policy import PRESETS, permissiveness
from assay.schema import Action, ConsistencyProbe, HallucinationReport, Verdict
from assay.schema.run.arguments import read_arguments
from assay.schema.run.builder import RunBuilder
from assay.schema.run.model import ModelTurn, Run, TextPart, ToolCall, ToolDeclaration, ToolResult, UserInput
from assay.schema.traces import read_run
from assay.testing import FailingScorer, FakeScorer
from assay.verify.consistency.probes import ProbeRequest

guard = Guard("general", scorer=FakeScorer())


def without_timing(report: HallucinationReport) -> str:
    return json.dumps(report.model_dump(mode="json", exclude={"timing"}), sort_keys=True)


def statuses(report: HallucinationReport) -> list[str]:
    return [validation.status for validation in report.tool_call_validations]


def test_an_answer_that_the_results_bear_out_is_emitted() -> None:
    report = guard.check_run(transcript(TRUE, FOUND))
    assert report.action is Action.EMIT
    assert statuses(report) == ["accepted"]
    assert report.claims[0].evidence_spans[0].evidence_id == "step:5/get_order"


def test_an_answer_that_a_result_contradicts_is_blocked() -> None:
    report = guard.check_run(transcript(FALSE, FOUND))
    assert report.claims[0].verdict is Verdict.CONTRADICTED
    assert report.claims[0].critical
    assert report.action is Action.BLOCK


def test_every_call_is_in_the_report_with_its_place_and_where_its_arguments_come_from() -> None:
    report = guard.check_run(transcript(TRUE, FOUND))
    (validation,) = report.tool_call_validations
    assert (validation.tool, validation.args, validation.step) == ("get_order", {"order_id": "W-17"}, 4)
    assert validation.executed is True
    assert validation.provenance[0].source_id == "step:3"


def test_a_report_of_a_run_survives_its_wire_form() -> None:
    report = guard.check_run(transcript(FALSE, FOUND, CANCELLED))
    assert HallucinationReport.model_validate_json(report.model_dump_json()) == report


def test_sync_and_async_give_the_same_report() -> None:
    raw = transcript(FALSE, FOUND)
    assert without_timing(asyncio.run(guard.acheck_run(raw))) == without_timing(guard.check_run(raw))


def test_a_run_a_builder_and_a_transcript_give_the_same_report() -> None:
    raw = transcript(TRUE, FOUND)
    run = read_run(raw)
    reports = {without_timing(guard.check_run(form)) for form in (raw, run, json.dumps(raw), RunBuilder.from_run(run))}
    assert len(reports) == 1


def test_an_id_that_nobody_gave_keeps_the_answer_back() -> None:
    report = guard.check_run(transcript(TRUE, ("get_order", {"order_id": "W-99"}, FOUND[2])))
    assert statuses(report) == ["rejected"]
    assert "W-99" in report.tool_call_validations[0].errors[0]
    assert report.action is Action.REVISE
    assert any("tool call" in reason for reason in report.decision.reasons)


def test_a_rejected_call_that_came_back_as_a_failure_and_was_put_right_does_not() -> None:
    wrong = ("get_order", {"id": "W-17"}, "Error: unknown argument id")
    report = guard.check_run(transcript(TRUE, wrong, FOUND))
    assert statuses(report) == ["rejected", "accepted"]
    assert report.tool_call_validations[0].executed is False
    assert len(report.tool_call_validations[1].attempts) == 1
    assert report.action is Action.EMIT


def test_calls_before_the_last_user_input_do_not_count_against_the_answer() -> None:
    raw = transcript("It is there.", ("get_order", {"order_id": "W-99"}, "nothing"))
    raw["messages"] += transcript(TRUE, FOUND)["messages"][1:]
    report = guard.check_run(raw)
    assert statuses(report) == ["rejected", "accepted"]
    assert report.action is Action.EMIT


@pytest.mark.parametrize("policy", PRESETS)
def test_a_run_whose_last_turn_calls_a_tool_is_never_clean(policy: str) -> None:
    waiting = Guard(policy, scorer=FakeScorer()).check_run(
        transcript(None, FOUND, ("cancel_order", {"order_id": "W-17"}, None))
    )
    assert waiting.action is not Action.EMIT
    assert any('has not ended: its last turn calls "cancel_order"' in reason for reason in waiting.decision.reasons)


BROKEN = [{"type": "text", "text": 7}, {"type": "text", "text": TRUE}]
CUT = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": TRUE}}


@pytest.mark.parametrize("policy", PRESETS)
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (transcript(None), "no final answer: its last step is a user input"),
        (transcript(None, FOUND), "no final answer: its last step is a tool result"),
        (transcript(TRUE, ("get_order", '{"order_id": "W-17"', FOUND[2])), "malformed arguments"),
        (transcript(TRUE, FOUND, declared=False), "could not be checked"),
        (transcript(BROKEN, FOUND), "faulty"),
        ({"request": transcript(None, FOUND), "response": {"choices": [CUT]}}, "cut off"),
    ],
)
def test_a_run_that_cannot_be_taken_as_it_stands_is_never_clean_and_says_why(policy: str, raw: Any, why: str) -> None:
    report = Guard(policy, scorer=FakeScorer()).check_run(raw)
    assert report.action is not Action.EMIT
    assert any(why in reason for reason in report.decision.reasons), report.decision.reasons


@given(st.sampled_from(sorted(CUT_OFF)), st.sampled_from([str.upper, str.title, str.lower]), st.booleans())
def test_a_reason_to_stop_is_read_in_whatever_spelling(reason: str, cased: Any, dashes: bool) -> None:
    written = cased(reason.replace("_", "-") if dashes else reason)
    assert is_cut_off(written)
    assert is_cut_off(f"FinishReason.{written}")


@pytest.mark.parametrize("reason", ["stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "STOP", "eos", ""])
def test_a_reason_that_is_an_end_is_none(reason: str) -> None:
    assert not is_cut_off(reason)


def test_a_run_without_steps_is_never_clean() -> None:
    report = guard.check_run(Run(run_id="r"))
    assert report.action is Action.BLOCK
    assert any("it has no steps" in reason for reason in report.decision.reasons)


def test_a_network_that_fails_leaves_the_answer_unchecked() -> None:
    report = Guard("general", scorer=FailingScorer()).check_run(transcript(TRUE, FOUND))
    assert report.claims[0].verdict is Verdict.UNCHECKED
    assert report.action is not Action.EMIT


def test_declarations_may_be_given_beside_a_transcript_that_has_none() -> None:
    def get_order(order_id: str) -> str:
        "Gets an order."
        return order_id

    bare = transcript(TRUE, FOUND, declared=False)
    for tools in ([get_order], [ToolDeclaration(name="get_order", parameters=ORDER)], transcript(TRUE)["tools"]):
        assert guard.check_run(bare, tools=tools).action is Action.EMIT


@pytest.mark.parametrize("bad", ["get_order", {"name": "get_order"}, [7], [{"description": "no name"}]])
def test_tools_that_are_no_declarations_are_refused(bad: Any) -> None:
    with pytest.raises(InputError):
        guard.check_run(transcript(TRUE, FOUND), tools=bad)


# --- claimed actions -----------------------------------------------------------------------------------------------


def test_an_action_that_a_call_did_is_supported() -> None:
    report = guard.check_run(transcript("I have cancelled order W-17.", FOUND, CANCELLED))
    assert report.claims[0].verdict is Verdict.SUPPORTED
    assert report.claims[0].evidence_spans[0].evidence_id == "step:6/call"
    assert report.action is Action.EMIT


def test_an_action_that_no_call_did_is_contradicted_by_the_run() -> None:
    report = guard.check_run(transcript("I have cancelled order W-17.", FOUND))
    assert report.claims[0].verdict is Verdict.CONTRADICTED
    assert [issue.code for issue in report.claims[0].issues] == ["action.absent"]
    assert report.action is Action.BLOCK


def test_a_failure_reported_as_success_is_contradicted_by_the_result() -> None:
    failed = ("cancel_order", {"order_id": "W-17"}, '{"error": "already shipped"}')
    report = guard.check_run(transcript("I have cancelled order W-17.", FOUND, failed))
    assert "action.failed" in [issue.code for issue in report.claims[0].issues]
    assert report.claims[0].evidence_spans[0].text == '{"error": "already shipped"}'
    assert report.action is Action.BLOCK


def test_an_action_that_a_call_did_on_something_else_is_not_supported_by_it() -> None:
    report = guard.check_run(transcript("I have cancelled order W-18.", FOUND, CANCELLED))
    assert report.claims[0].verdict is not Verdict.SUPPORTED
    assert report.action is not Action.EMIT


def test_an_action_told_with_words_that_the_run_does_not_have_is_judged_by_the_network() -> None:
    report = guard.check_run(transcript("I have cancelled order W-17 because the driver was ill.", FOUND, CANCELLED))
    assert report.action is not Action.EMIT


def test_what_was_looked_at_was_looked_at_if_the_run_looked_at_anything() -> None:
    said = "I have checked order W-17."
    looked, invented = guard.check_run(transcript(said, FOUND)), guard.check_run(transcript(said))
    assert looked.action is Action.EMIT
    assert invented.claims[0].verdict is Verdict.UNSUPPORTED
    assert "action.absent" in [issue.code for issue in invented.claims[0].issues]


@pytest.mark.parametrize(
    "said",
    ["I have found that order W-17 is not in Hamburg.", "I have cancelled order W-17, which is in Hamburg no more."],
)
def test_an_action_that_says_more_than_what_was_done_is_judged_by_the_tiers(said: str) -> None:
    report = guard.check_run(transcript(said, FOUND, CANCELLED))
    assert report.action is not Action.EMIT


def test_what_the_model_wrote_into_a_call_is_no_evidence_of_it() -> None:
    note = ("cancel_order", {"order_id": "W-17", "note": "Refunds take two days."}, '{"status": "cancelled"}')
    report = guard.check_run(transcript("I have cancelled order W-17. Refunds take two days.", FOUND, note))
    assert report.claims[1].verdict is not Verdict.SUPPORTED


# --- evidence ------------------------------------------------------------------------------------------------------


def test_what_the_model_said_before_is_no_evidence() -> None:
    raw = transcript("Returns are free within 30 days.", FOUND)
    raw["messages"] += [
        {"role": "user", "content": "Sure?"},
        {"role": "assistant", "content": "Returns are free within 30 days."},
    ]
    assert guard.check_run(raw).action is not Action.EMIT


def test_what_users_say_of_themselves_is_evidence_and_what_they_ask_or_say_of_the_world_is_none() -> None:
    asked = guard.check_run(transcript("The office is in Bonn.", user="Is the office in Bonn?"))
    said = "The office is in Bonn. Where do I send mail?"
    world = guard.check_run(transcript("The office is in Bonn.", FOUND, user=said))
    given = guard.check_run(transcript("The office is in Bonn.", user=said))
    stated = guard.check_run(
        transcript("Your office on Rhine Street is in Bonn.", user="My office on Rhine Street is in Bonn. Mail?")
    )
    assert asked.action is Action.BLOCK
    assert world.action is not Action.EMIT
    assert given.action is Action.EMIT  # a prompt that is all that there is, as chat applications put passages
    assert stated.action is Action.EMIT
    assert stated.claims[0].evidence_spans[0].evidence_id == "step:3/user"


def test_no_word_of_a_user_says_that_something_was_done() -> None:
    told = "My order SO-77120 has been cancelled, has it not? Please cancel my order SO-77120. " + "It is late. " * 40
    report = guard.check_run(transcript("Your order SO-77120 has been cancelled.", user=told))
    assert report.action is not Action.EMIT
    assert "action.absent" in {issue.code for claim in report.claims for issue in claim.issues}


def test_a_system_prompt_is_evidence_only_where_the_caller_says_so() -> None:
    raw = transcript("You help customers.", FOUND)
    assert guard.check_run(raw).action is not Action.EMIT
    assert guard.check_run(raw, sources=("tools", "system")).action is Action.EMIT
    with pytest.raises(InputError):
        guard.check_run(raw, sources=("tool",))


def test_a_citation_finds_the_passage_of_a_search_result_by_its_own_name() -> None:
    found = ("get_order", {"order_id": "W-17"}, json.dumps([{"id": "hr-2", "text": "Order W-17 is in Hamburg."}]))
    report = guard.check_run(transcript("Order W-17 is in Hamburg [hr-2].", found))
    assert report.citations[0].evidence_id == "step:5/hr-2"
    assert report.citations[0].status == "verified"
    invented = guard.check_run(transcript("Order W-17 is in Hamburg [hr-3].", found))
    assert invented.citations[0].status == "fabricated"
    assert invented.action is Action.BLOCK


def test_a_passage_that_a_prompt_labels_can_be_cited() -> None:
    user = 'Use these.\n<document id="a-1">Returns are free within 30 days.</document>\nAre returns free?'
    report = guard.check_run(transcript("Returns are free within 30 days [a-1].", user=user))
    assert report.citations[0].evidence_id.endswith("/a-1")  # type: ignore[union-attr]
    assert report.action is Action.EMIT


def test_evidence_beside_the_run_counts_as_well() -> None:
    answer = "Returns are free within 30 days."
    assert guard.check_run(transcript(answer, FOUND), evidence=[answer]).action is Action.EMIT


@pytest.mark.parametrize(
    "text",
    [
        "[a] x\n" * 8_000,
        "<doc id='a'>" * 8_000,
        "<doc id='a'>x</doc>" * 4_000,
        "[" * 100_000,
        " \n" * 50_000,
        "Is it? " * 8_000,
        "<doc " + "a" * 100_000,
        "\u0130<doc>\u0130</doc>" * 2_000,
    ],
    ids=["labels", "openings", "elements", "brackets", "blanks", "questions", "long", "dotted"],
)
def test_hostile_prompts_and_results_are_read_in_linear_time_and_keep_their_spans(text: str) -> None:
    run = read_run(transcript(TRUE, ("get_order", {"order_id": "W-17"}, text), user=text))
    found = run_evidence(run, ("tools", "passages", "user", "system")).evidence
    assert len({piece.id for piece in found}) == len(found)
    own = [piece for piece in found if piece.id == "step:3/user"]
    assert all(len(piece.text) == len(text) for piece in own)


# --- probes --------------------------------------------------------------------------------------------------------


class Scripted:
    """Answers every claim with one agreement."""

    def __init__(self, agreement: float, *, claim: str | None = None, fails: bool = False) -> None:
        self.agreement, self.claim, self.fails = agreement, claim, fails
        self.asked: list[ProbeRequest] = []

    def probe(self, request: ProbeRequest) -> Sequence[ConsistencyProbe]:
        self.asked.append(request)
        if self.fails:
            raise VerifierError("the model is gone")
        return [
            ConsistencyProbe(claim=self.claim or c, original=c, probe_answers=("x",), agreement=self.agreement)
            for c in request.claims
        ]


def test_without_a_prober_the_report_says_that_nothing_was_probed() -> None:
    report = guard.check_run(transcript(TRUE, FOUND))
    assert report.consistency_probes == ()
    assert report.metrics["self_consistency"].undefined == "no claim was probed: no prober is at hand"


def test_a_critical_claim_on_which_the_model_disagrees_with_itself_is_not_emitted() -> None:
    agrees, differs = Scripted(1.0), Scripted(0.5)
    assert guard.check_run(transcript(TRUE, FOUND), prober=agrees).action is Action.EMIT
    report = guard.check_run(transcript(TRUE, FOUND), prober=differs)
    assert report.action is Action.REVISE
    assert report.consistency_probes[0].claim == TRUE
    assert report.metrics["self_consistency"].value == 0.5


def test_only_critical_claims_that_passed_are_probed() -> None:
    prober = Scripted(1.0)
    guard.check_run(transcript(f"{TRUE} {FALSE}", FOUND), prober=prober)
    assert [request.claims for request in prober.asked] == [(TRUE,)]


@pytest.mark.parametrize("prober", [Scripted(1.0, fails=True), Scripted(1.0, claim="Another claim.")])
def test_a_prober_that_cannot_answer_leaves_the_run_unclean(prober: Scripted) -> None:
    report = guard.check_run(transcript(TRUE, FOUND), prober=prober)
    assert report.action is Action.REVISE
    assert report.consistency_probes == ()
    assert any("could not be asked about again" in reason for reason in report.decision.reasons)


# --- single calls --------------------------------------------------------------------------------------------------


def call_of(arguments: str, name: str = "get_order") -> ToolCall:
    return ToolCall(id="c9", name=name, arguments=read_arguments(arguments))


def test_a_call_is_checked_before_it_is_executed() -> None:
    run = read_run(transcript(None))
    assert guard.check_tool_call(run, call_of('{"order_id": "W-17"}')).accepted
    decision = guard.check_tool_call(run, call_of('{"order_id": "W-99"}'))
    assert not decision.accepted
    assert "W-99" in decision.message
    assert "2 attempts are left" in decision.message
    assert decision.validation.status == "rejected"


def test_a_model_that_does_not_mend_its_call_is_stopped() -> None:
    run = read_run(transcript(None))
    decision = guard.check_tool_call(run, call_of('{"order_id": "W-99"}'))
    decision = guard.check_tool_call(run, call_of('{"order_id": "W-98"}'), attempts=decision.attempts)
    assert decision.may_retry
    decision = guard.check_tool_call(run, call_of('{"order_id": "W-97"}'), attempts=decision.attempts)
    assert not decision.may_retry
    assert "Do not call it again" in decision.message
    assert len(decision.validation.attempts) == 2


def test_a_call_of_which_no_tool_is_declared_is_not_accepted() -> None:
    decision = guard.check_tool_call(Run(run_id="r"), call_of("{}"))
    assert decision.validation.status == "unchecked"
    assert not decision.accepted


def test_single_calls_have_an_async_twin() -> None:
    run, call = read_run(transcript(None)), call_of('{"order_id": "W-99"}')
    assert asyncio.run(guard.acheck_tool_call(run, call)) == guard.check_tool_call(run, call)


def test_a_result_justifies_only_calls_behind_it() -> None:
    run = read_run(transcript(None, ("get_order", {"order_id": "W-17"}, "See also order W-55.")))
    assert guard.check_tool_call(run, call_of('{"order_id": "W-55"}')).accepted
    assert not guard.check_tool_call(
        run.model_copy(update={"steps": run.steps[:4]}), call_of('{"order_id": "W-55"}')
    ).accepted


# --- properties ----------------------------------------------------------------------------------------------------

RESULTS: list[Call] = [FOUND, ("get_order", {"order_id": "W-17"}, "Order W-17 costs 40 euros."), CANCELLED]


def test_the_order_of_results_changes_no_verdict_of_a_claim() -> None:
    answer = f"{TRUE} {FALSE} Order W-17 costs 50 euros."
    seen = set()
    for order in itertools.permutations(RESULTS[:2]):
        report = guard.check_run(transcript(answer, *order))
        seen.add(tuple((claim.verdict, round(claim.score or 0, 6)) for claim in report.claims))
    assert len(seen) == 1


class Capped(FakeScorer):
    """Entails nothing more than a cap allows."""

    def __init__(self, cap: float) -> None:
        super().__init__()
        self.cap = cap

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        entailed, neutral, against = super()._judge(premise, claim)
        less = min(entailed, self.cap)
        return less, neutral + entailed - less, against


@settings(max_examples=25)
@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(sorted(PRESETS)))
def test_less_support_never_makes_a_run_pass_more_easily(one: float, other: float, policy: str) -> None:
    low, high = sorted((one, other))
    raw = transcript(f"{TRUE} I have cancelled order W-17.", FOUND, CANCELLED)
    less, more = (Guard(policy, scorer=Capped(cap)).check_run(raw) for cap in (low, high))
    scores = [[claim.score or 0 for claim in report.claims] for report in (less, more)]
    if all(a <= b for a, b in zip(*scores, strict=True)):
        assert permissiveness(less.action) <= permissiveness(more.action)


texts = st.text(max_size=40)
ids = st.sampled_from(["a", "b", None])
said = texts.map(lambda text: (TextPart(text=text),))
steps = st.one_of(
    st.builds(UserInput, content=said),
    st.builds(ModelTurn, content=said),
    st.builds(ToolResult, call_id=ids, content=said),
    st.builds(
        ToolCall,
        id=ids,
        name=st.sampled_from(["get_order", "\u202e"]),
        arguments=(texts | st.just('{"order_id": "x"}')).map(read_arguments),
    ),
    st.just(ToolDeclaration(name="get_order", parameters=ORDER)),
)


@settings(max_examples=60)
@given(st.lists(steps, max_size=6))
def test_any_run_gets_a_report_and_none_without_an_answer_is_emitted(found: list[Any]) -> None:
    run = Run(run_id="r", steps=tuple(found))
    try:
        report = guard.check_run(run)
    except InputError as error:
        assert str(error).startswith("answer")  # noqa: PT017 what an answer must be is tested elsewhere
        return
    assert len(report.tool_call_validations) == sum(isinstance(step, ToolCall) for step in found)
    assert report.output == (run.final_answer or "")
    if run.final_answer is None:
        assert report.action is Action.BLOCK
    for claim in report.claims:
        assert 0 <= claim.span.start <= claim.span.end <= len(report.output)


# --- claims of deeds that the run does not support, and talk --------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Order W-18 has been cancelled.",
        "Your other order has also been cancelled.",
        'Order W-17 is listed as "late." If you wish, I can look again. Your other order has also been cancelled.',
        "The date of birth on the account has been corrected.",
        "I have refunded your hotel costs to your credit card.",
        "Order W-17 has been upgraded to express.",
        "The refund of 30 euros has been processed.",
    ],
)
def test_an_action_that_no_call_did_is_never_emitted_beside_one_that_was_done(said: str) -> None:
    report = guard.check_run(transcript(said, FOUND, CANCELLED))
    assert report.action is not Action.EMIT
    assert any(issue.code.startswith("action.") for claim in report.claims for issue in claim.issues)


@pytest.mark.parametrize(
    "said",
    [
        "You're welcome! If you have any other questions, feel free to reach out. Have a great day!",
        "Thank you! If you need anything else, just let me know.",
        "Hello! Which order do you mean?",
    ],
)
def test_talk_of_an_agent_is_emitted(said: str) -> None:
    assert guard.check_run(transcript(said, FOUND)).action is Action.EMIT


@pytest.mark.parametrize("said", ["# Cancelled", "| Order |\n|---|", "```\n# done\n```"])
def test_what_no_sentence_says_is_no_talk(said: str) -> None:
    assert guard.check_run(transcript(said, FOUND)).action is not Action.EMIT
