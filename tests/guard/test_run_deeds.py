"""What belongs to a call, and which claims of an action it supports."""

import json

from hypothesis import given
from hypothesis import strategies as st

from assay.guard.runs.action_evidence import MOST_JSON, ActionRecords, KnownValues
from assay.schema import Evidence

PROFILE = {
    "name": {"first_name": "Mei", "last_name": "Garcia"},
    "membership": "gold",
    "orders": ["W-1717", "W-1818"],
    "payment_methods": {
        "credit_card_88": {"source": "credit_card", "last_four": "7334", "id": "credit_card_88"},
        "gift_card_99": {"source": "gift_card", "amount": 35, "id": "gift_card_99"},
    },
}
OTHER = {"order_id": "W-1818", "user_id": "mei_garcia_1", "total": 450, "city": "Lyon"}


def call(tool: str, told: str, result: object, place: int = 3) -> Evidence:
    return Evidence(id=f"step:{place}/call", text=f"I did {told}. {json.dumps(result)}", source=tool)


UPDATED = call(
    "update_order",
    "update order with order id: W-1717, payment id: credit_card_88",
    {"order_id": "W-1717", "user_id": "mei_garcia_1", "speed": "express", "arrives": "2026-05-03", "price": 20},
)
CANCELLED = call("cancel_order", "cancel order with order id: W-1818", {"order_id": "W-1818", "status": "cancelled"}, 5)
SEEN = [
    Evidence(id="step:1/get_user", text=json.dumps(PROFILE)),
    Evidence(id="step:2/get_order", text=json.dumps(OTHER)),
]
DEEDS = ActionRecords([UPDATED, CANCELLED], SEEN, ["Can you make it express and use the card?"])


def supported(claim: str, verb: str = "updated", *tools: str) -> bool:
    return DEEDS.supports(claim, verb, tools or ("update_order",))


def test_what_a_call_says_is_borne_out_by_it() -> None:
    assert supported("Order W-1717 has been updated to express.")
    assert supported("Order W-1717 has been updated and arrives on May 3, 2026.")


def test_what_was_done_to_another_thing_is_not() -> None:
    assert not supported("Order W-1818 has been updated to express.")
    assert not supported("Order W-1717 has been updated and arrives on May 4, 2026.")


def test_a_record_is_joined_by_its_own_identifier() -> None:
    assert supported("Order W-1717 has been updated with your credit card ending in 7334.")
    assert not supported("Order W-1717 has been updated with your gift card.")


def test_records_that_only_refer_to_the_same_thing_are_not_joined() -> None:
    assert not supported("Order W-1717 has been updated for 450 euros.")
    assert not supported("Order W-1717 has been updated for Lyon.")


def test_the_other_calls_of_a_run_tell_nothing_of_this_one() -> None:
    assert supported("Order W-1818 has been cancelled.", "cancelled", "cancel_order")
    assert not supported("Order W-1717 has been cancelled.", "cancelled", "cancel_order")


def test_several_calls_of_one_tool_bear_out_what_names_them_all() -> None:
    again = call("cancel_order", "cancel order with order id: W-1717", {"order_id": "W-1717", "status": "cancelled"}, 7)
    deeds = ActionRecords([CANCELLED, again], SEEN, ())
    assert deeds.supports("Orders W-1717 and W-1818 have been cancelled.", "cancelled", ("cancel_order",))
    assert not deeds.supports("Orders W-1717 and W-1919 have been cancelled.", "cancelled", ("cancel_order",))


def test_what_users_said_tells_words_and_no_values() -> None:
    deeds = ActionRecords([CANCELLED], (), ["Please cancel order W-1717 for the trip to Bonn and refund 99 euros."])
    assert deeds.supports("Order W-1818 for the trip has been cancelled.", "cancelled", ("cancel_order",))
    assert not deeds.supports("Order W-1818 to Bonn has been cancelled.", "cancelled", ("cancel_order",))
    assert not deeds.supports("Order W-1818 has been cancelled for 99 euros.", "cancelled", ("cancel_order",))


def test_numbers_in_words_and_signs_of_money_are_the_numbers() -> None:
    known = KnownValues(["bags: 3, amount: -2580, price: 1200.50"])
    assert known.hold("Three bags have been added and $2,580 refunded.")
    assert known.hold("$1,200.50 has been paid.")
    assert not known.hold("Four bags have been added.")


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_read(claim: str, text: str) -> None:
    assert KnownValues([text]).hold(claim) in (True, False)


@given(st.from_regex(r"[A-Z]-[0-9]{4}", fullmatch=True))
def test_an_identifier_that_nothing_has_is_never_borne_out(name: str) -> None:
    if name not in ("W-1717", "W-1818"):
        assert not supported(f"Order {name} has been updated.")


def test_hostile_results_are_read_within_bounds() -> None:
    nested = Evidence(id="a", text="[" * 100_000)
    wide = Evidence(id="b", text=json.dumps([{"id": f"W-{n}"} for n in range(5_000)]))
    long = Evidence(id="c", text='{"id": "W-1717", "x": "' + "y" * MOST_JSON + '"}')
    assert ActionRecords([UPDATED], [nested, wide, long], ()).supports(
        "Order W-1717 has been updated.", "updated", ("update_order",)
    )


def test_calls_leave_room_for_a_claim_whose_values_and_most_words_they_have() -> None:
    assert DEEDS.may_support("Order W-1717 was updated to express speed by road.", "updated", ("update_order",))
    assert not DEEDS.may_support("Order W-1799 was updated to express speed.", "updated", ("update_order",))
    assert not DEEDS.may_support("Your hotel costs were refunded to your bank.", "refunded", ("update_order",))


def test_a_record_that_has_verb_and_values_tells_of_an_action_that_no_call_did() -> None:
    seen = [*SEEN, Evidence(id="step:4/get_refund", text='{"refund": "R-9", "status": "processed", "amount": 20}')]
    asked = Evidence(id="step:6/user", text="Refund R-8 of 15 euros was processed.")
    deeds = ActionRecords([UPDATED], [*seen, asked], [])
    assert deeds.reports("Refund R-9 has been processed.", "processed")
    assert not deeds.reports("Refund R-9 over 30 euros has been processed.", "processed")
    assert not deeds.reports("Refund R-9 has been cancelled.", "cancelled")
    assert not deeds.reports("Refund R-8 has been processed.", "processed")
