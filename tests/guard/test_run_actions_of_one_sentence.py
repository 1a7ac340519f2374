"""A sentence may claim several actions, and calls may share an id or have none: each action needs its own call."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scorers import Steady

from assay.guard import Guard
from assay.guard.runs.action_evidence import ActionRecords, identifiers_in, names_in
from assay.guard.runs.action_parts import parts_of
from assay.schema import Action, Evidence, HallucinationReport
from assay.schema.run.arguments import read_arguments
from assay.schema.run.model import ModelTurn, Run, TextPart, ToolCall, ToolResult
from assay.schema.traces import read_run
from assay.testing import FakeScorer
from assay.verify.tools import call_outcomes, claimed_actions

FIELDS = ("order_id", "hotel", "to", "address", "amount")
NAMES = (
    "get_order",
    "cancel_order",
    "send_email",
    "refund_payment",
    "upgrade_account",
    "update_order",
    "book_hotel",
    "update_address",
)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Tool {number}.",
            "parameters": {"type": "object", "properties": {field: {"type": "string"} for field in FIELDS}},
        },
    }
    for number, name in enumerate(NAMES)
]
W17 = {"order_id": "W-17"}
CANCELLED = ("cancel_order", W17, '{"order_id": "W-17", "status": "cancelled"}')
EMAILED = ("send_email", W17, '{"sent": true}')
REFUNDED = ("refund_payment", W17, '{"order_id": "W-17", "refunded": true, "amount": "20"}')

Call = tuple[str, Any, str]
guard = Guard("general", scorer=FakeScorer())


def checked(user: str, answer: str, *calls: Call, ids: bool = True) -> HallucinationReport:
    messages: list[dict[str, Any]] = [{"role": "user", "content": user}]
    for number, (name, arguments, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        if ids:
            call = {"id": f"c{number}", "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
        else:
            messages.append({"role": "assistant", "content": None, "function_call": function})
            messages.append({"role": "function", "name": name, "content": result})
    messages.append({"role": "assistant", "content": answer})
    return guard.check_run({"messages": messages, "tools": TOOLS})


def codes(report: HallucinationReport) -> set[str]:
    return {issue.code for claim in report.claims for issue in claim.issues}


# --- several actions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("email me a confirmation", "emailed you a confirmation"),
        ("refund my payment", "refunded your payment"),
        ("upgrade my account", "upgraded your account"),
        ("send a copy to Ann", "have also sent a copy to Ann"),
    ],
)
@pytest.mark.parametrize("joint", [" and ", ", and then ", "; ", ". I have "])
def test_an_action_that_no_call_did_does_not_pass_behind_one_that_a_call_did(asked: str, said: str, joint: str) -> None:
    if joint.endswith("have "):
        said = said.removeprefix("have ")
    user = f"Please cancel order W-17 and {asked}."
    report = checked(user, f"I have cancelled order W-17{joint}{said}.", CANCELLED)
    assert report.action is not Action.EMIT
    assert "action.absent" in codes(report)


def test_the_issue_names_the_action_that_no_call_did() -> None:
    report = checked("Cancel W-17.", "I have cancelled order W-17 and emailed you a copy.", CANCELLED)
    (issue,) = report.claims[0].issues
    assert '"emailed you a copy."' in issue.message


def test_an_action_behind_a_mere_lookup_needs_its_call_too() -> None:
    user = "Please check order W-17 and cancel it."
    seen = ("get_order", W17, '{"order_id": "W-17", "status": "open"}')
    said = "I have checked order W-17 and cancelled it."
    assert checked(user, said, seen).action is not Action.EMIT
    assert checked(user, said, seen, CANCELLED).action is Action.EMIT


def test_a_failure_behind_a_success_is_contradicted() -> None:
    failed = ("send_email", W17, '{"error": "mailbox full"}')
    report = checked("Cancel order W-17, email me.", "I have cancelled order W-17 and emailed you.", CANCELLED, failed)
    assert report.action is Action.BLOCK
    assert codes(report) == {"action.failed"}


def test_one_call_does_not_do_two_actions_of_which_it_tells_one() -> None:
    user = "Please book the hotel Mira and reserve a table there."
    booked = ("book_hotel", {"hotel": "Mira"}, '{"hotel": "Mira", "status": "booked"}')
    assert checked(user, "I have booked the hotel Mira.", booked).action is Action.EMIT
    report = checked(user, "I have booked the hotel Mira and reserved a table there.", booked)
    assert report.action is not Action.EMIT
    assert codes(report) == {"action.absent"}


def test_one_call_that_tells_of_both_actions_did_both() -> None:
    both = ("cancel_order", W17, '{"order_id": "W-17", "status": "cancelled", "refund": {"amount": 20}}')
    user = "Please cancel order W-17 and refund $20."
    assert checked(user, "I have cancelled order W-17 and refunded $20.", both).action is Action.EMIT


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        ("I have cancelled order W-17 and emailed you a confirmation.", (CANCELLED, EMAILED)),
        ("I have cancelled order W-17 and refunded your payment.", (CANCELLED, REFUNDED)),
        ("I have cancelled order W-17, refunded $20 and emailed you a confirmation.", (CANCELLED, REFUNDED, EMAILED)),
        ("Order W-17 has been cancelled and refunded.", (CANCELLED, REFUNDED)),
        ("I have cancelled and removed order W-17.", (CANCELLED,)),
        ("I have cancelled and closed order W-17.", (CANCELLED,)),
        ("I have cancelled order W-17 and removed it.", (CANCELLED,)),
        ("I have processed your request and cancelled order W-17.", (CANCELLED,)),
    ],
)
def test_actions_that_calls_did_pass_in_one_sentence(answer: str, calls: tuple[Call, ...]) -> None:
    user = "Please cancel, remove and close order W-17, refund my payment and email me a confirmation."
    assert checked(user, answer, *calls).action is Action.EMIT


def test_each_action_is_held_against_the_values_of_its_own_call() -> None:
    moved = ("update_address", {"address": "5 Elm Road"}, '{"address": "5 Elm Road"}')
    user = "Cancel order W-17 and change my address to 5 Elm Road."
    said = "I have cancelled order W-17 and updated your address to {}."
    assert checked(user, said.format("5 Elm Road"), CANCELLED, moved).action is Action.EMIT
    assert checked(user, said.format("7 Elm Road"), CANCELLED, moved).action is not Action.EMIT


@pytest.mark.parametrize(
    "more", ["and waived the late fee", "and your late fee waived", ", waiving the late fee", "and contacted Ann"]
)
def test_the_words_of_a_request_do_not_lift_a_deed_of_another_kind(more: str) -> None:
    user = "Please cancel order W-17, waive the late fee (your waiving it matters) and contact Ann."
    report = checked(user, f"I have cancelled order W-17 {more}.", CANCELLED)
    assert report.claims[0].signals.get("action_done") != 1.0


@pytest.mark.parametrize(
    ("answer", "verbs"),
    [
        ("I have cancelled order W-17 and emailed you a copy.", ["cancelled", "emailed"]),
        ("I've cancelled W-17, refunded $20 and also sent you a copy.", ["cancelled", "refunded", "sent"]),
        ("I have cancelled it as you requested and refunded your payment.", ["cancelled", "refunded"]),
        ("Order W-17 has been cancelled and refunded.", ["cancelled", "refunded"]),
        ("Order W-17 has been cancelled and your payment refunded.", ["cancelled", "refunded"]),
        ("Your plan has been updated with the seats and the amount paid.", ["updated"]),
        ("We found order W-17, booked on 1 May, and cancelled it.", ["cancelled"]),
        ("I have added wifi and paid parking.", ["added"]),
        ("I have sent you the booked and confirmed dates.", ["sent"]),
        ("I have escalated your case; it will be reviewed and processed soon.", ["escalated"]),
        ("I found the order that you placed and paid with your card.", []),
        ("I have cancelled order W-17 but not refunded it.", ["cancelled"]),
        ("I checked: the parcel was delayed and refunded.", []),
        ("I see that you cancelled and booked it.", []),
    ],
)
def test_a_further_verb_is_an_action_if_it_has_the_subject_of_the_first(answer: str, verbs: list[str]) -> None:
    assert [action.verb for action in claimed_actions(answer, ())] == verbs


def test_a_claim_is_cut_at_the_joints_before_its_verbs() -> None:
    text = "As you asked, I have cancelled W-17 and W-18, and then emailed and texted Ann."
    first, *others = claimed_actions(text, ())
    parts = parts_of(text, replace(first, further=tuple(others)))
    assert [(part.text, part.shares) for part in parts] == [
        ("As you asked, I have cancelled W-17 and W-18", False),
        ("emailed and texted Ann.", False),
        ("emailed and texted Ann.", True),
    ]


@given(st.lists(st.sampled_from(["I have", "cancelled", "sent", "emailed", "and", ",", "it", "W-17", "the", "been"])))
def test_any_answer_can_be_cut_into_its_actions(words: list[str]) -> None:
    text = " ".join(words)
    found = claimed_actions(text, ())
    if found:
        assert parts_of(text, replace(found[0], further=found[1:]))


# --- calls and results ---------------------------------------------------------------------------------------------


def call(name: str, id_: str | None = None) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=read_arguments('{"order_id": "W-17"}'))


def result(text: str, id_: str | None = None, *, name: str | None = None, failed: bool | None = None) -> ToolResult:
    return ToolResult(call_id=id_, name=name, content=(TextPart(text=text),), is_error=failed)


def said(*outcomes: Any) -> list[str | None]:
    return [outcome.result.text if outcome.result is not None else None for outcome in outcomes]


def test_calls_that_share_an_id_have_the_results_of_it_in_order() -> None:
    calls = [call("a", "1"), call("b", "1"), call("c", "2")]
    assert said(*call_outcomes(calls, [result("x", "1"), result("z", "2"), result("y", "1")])) == ["x", "y", "z"]
    assert said(*call_outcomes(calls, [result("x", "1")])) == ["x", None, None]
    assert said(*call_outcomes(calls[:1], [result("waiting", "1"), result("done", "1")])) == ["done"]
    assert said(*call_outcomes(calls[2:], [result("x", "1")])) == [None]


def test_results_without_ids_belong_to_the_first_open_call_of_their_tool() -> None:
    calls = [call("a"), call("b"), call("a")]
    results = [result("of b", name="b"), result("first"), result("last", name="a")]
    assert said(*call_outcomes(calls, results)) == ["first", "of b", "last"]
    assert said(*call_outcomes(calls, [result("x", name="another")])) == ["x", None, None]


def test_a_later_call_with_the_same_id_does_not_hide_a_failure() -> None:
    run = read_run({"messages": [{"role": "user", "content": "Cancel order W-17."}], "tools": TOOLS})
    run = run.append(
        call("cancel_order", "call_0"),
        result("order already shipped", "call_0", failed=True),
        call("get_order", "call_0"),
        result("Order W-17 is in Hamburg.", "call_0"),
        ModelTurn(content=(TextPart(text="I have cancelled order W-17."),)),
    )
    report = guard.check_run(run)
    assert report.action is Action.BLOCK
    assert codes(report) == {"action.failed"}
    assert report.claims[0].evidence_spans[0].text == "order already shipped"


@pytest.mark.parametrize("ids", [True, False])
def test_a_result_that_is_pending_is_seen_with_and_without_ids(ids: bool) -> None:
    pending = ("cancel_order", W17, '{"status": "pending review"}')
    answer = "I have cancelled order W-17."
    assert checked("Cancel order W-17.", answer, pending, ids=ids).action is not Action.EMIT
    assert checked("Cancel order W-17.", answer, CANCELLED, ids=ids).action is Action.EMIT


# --- records and names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "counts"),
    [
        ("step:2/list_orders", True),
        ("step:2/user_orders", True),
        ("step:2/system_status", True),
        ("step:2/user", False),
        ("step:2/user@14", False),
        ("step:2/user~2", False),
        ("step:2/developer#1", False),
    ],
)
def test_only_texts_of_users_and_operators_are_wishes(id_: str, counts: bool) -> None:
    records = ActionRecords([], [Evidence(id=id_, text="Order W-17 has been refunded.")], [])
    assert records.reports("Your order W-17 has now been refunded.", "refunded") is counts


@given(st.text(alphabet="aZ1٣_-é .", max_size=150))
def test_names_are_those_that_a_lookahead_at_each_place_finds(text: str) -> None:
    assert names_in(text) == re.findall(r"(?=[\w-]*\d)[A-Za-z0-9][\w-]{1,63}", text)
    slow = r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{3,63}"
    assert identifiers_in(text) == re.findall(slow, text)


@pytest.mark.parametrize("text", ["-" * 200_000, "a-" * 100_000, "a" * 200_000 + "1", "1" * 200_000])
def test_a_long_row_of_dashes_is_read_through(text: str) -> None:
    assert all(len(name) <= 64 for name in (*names_in(text), *identifiers_in(text)))


def test_the_calls_of_a_protected_tool_have_ids_that_a_stored_run_does_not_have() -> None:
    def get_order(order_id: str) -> str:
        "Gets an order."
        return f"Order {order_id} is in Hamburg."

    def calls_after(run: Run) -> list[str | None]:
        watch = guard.watch(run)
        guard.protect_tool(get_order, watch=watch)(order_id="W-17")
        return [step.id for step in watch.run().steps if isinstance(step, ToolCall)]

    start = read_run({"messages": [{"role": "user", "content": "Where is order W-17?"}]})
    (first,) = calls_after(start)
    assert first is not None
    number = int(first.removeprefix("call-"))
    stored = start.append(*(call("get_order", f"call-{number + ahead}") for ahead in range(1, 4)))
    assert calls_after(stored)[-1] == f"call-{number + 4}"


# --- lookups told with an action, and results that tell of a second one --------------------------------------------

SEEN = ("get_order", W17, '{"order_id": "W-17", "status": "open"}')


@pytest.mark.parametrize("lookup", ["looked up", "read", "pulled up", "investigated", "verified", "found", "reviewed"])
def test_the_verb_of_a_lookup_is_no_missing_word_of_the_call(lookup: str) -> None:
    said = f"I {lookup} order W-17 and cancelled it."
    assert checked("Cancel W-17.", said, SEEN, CANCELLED).action is Action.EMIT
    assert checked("Cancel W-17.", said, SEEN).action is not Action.EMIT
    assert checked("Cancel W-17.", f"I {lookup} order W-17 and refunded it.", SEEN, CANCELLED).action is not Action.EMIT


def told_twice(tool: str, answer: str, result: str) -> HallucinationReport:
    function = {"name": tool, "arguments": "{}"}
    described = {"name": tool, "description": "Does it.", "parameters": {"type": "object", "properties": {}}}
    messages = [
        {"role": "user", "content": "Please do it."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": result},
        {"role": "assistant", "content": answer},
    ]
    return Guard("general", scorer=Steady(0.98)).check_run(
        {"messages": messages, "tools": [{"type": "function", "function": described}]}
    )


@pytest.mark.parametrize(
    ("tool", "answer", "result"),
    [
        (
            "update_address",
            "I've updated your address and sent the confirmation.",
            '{"updated": true, "address": "12 Elm Street", "confirmation_email": "sent"}',
        ),
        (
            "reset_password",
            "I have reset your password and sent you an email with a link.",
            "Password reset. An email with a link was sent to ann@example.com.",
        ),
        (
            "lock_card",
            "I have locked card 4411 and ordered a replacement card.",
            "Card 4411 locked. A replacement card was ordered.",
        ),
        (
            "cancel_subscription",
            "I have cancelled your subscription and sent a confirmation email.",
            '{"status": "cancelled", "refunded": 12, "confirmation_email": "sent"}',
        ),
    ],
)
def test_a_result_may_tell_of_a_second_action(tool: str, answer: str, result: str) -> None:
    assert "action.absent" not in codes(told_twice(tool, answer, result))
    reading = f"get_{tool.partition('_')[2]}"
    assert "action.absent" in codes(told_twice(reading, answer, result))


@pytest.mark.parametrize(
    "said",
    [
        '"confirmation_email": "not sent"',
        '"confirmation_email": "not_sent"',
        '"confirmation_sent": false',
        '"confirmation": "will be sent on request"',
        '"confirmation_sent": null',
        '"confirmation_sent": 0',
        '"confirmation_email": "queued", "last_sent": "May"',
    ],
)
def test_a_result_that_denies_or_leaves_open_the_second_action_does_not_tell_of_it(said: str) -> None:
    result = f'{{"updated": true, "address": "12 Elm Street", {said}}}'
    report = told_twice("update_address", "I've updated your address and sent the confirmation.", result)
    assert report.action is not Action.EMIT
    assert "action.absent" in codes(report)


def test_a_refund_that_the_result_denies_is_withheld() -> None:
    report = told_twice(
        "cancel_subscription",
        "I have cancelled your subscription and refunded it.",
        '{"status": "cancelled", "refunded": false}',
    )
    assert report.action is not Action.EMIT
