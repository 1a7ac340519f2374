"""The one table of labels, row by row."""

import pytest

from assay.errors import PolicyError
from assay.policy import LABELS, Route, labels_for, permissiveness, strictest
from assay.schema import Action, Decision

ROWS = {
    (Action.EMIT, "serve"): "PASS RESPOND SERVE auto_approve",
    (Action.EMIT, "serve_ungrounded"): "PASS RESPOND SERVE auto_approve",
    (Action.EMIT, "serve_claim_free"): "PASS RESPOND SERVE auto_approve",
    (Action.EMIT, "serve_abstention"): "PASS ABSTAIN SERVE auto_approve",
    (Action.EMIT, "serve_approved"): "PASS RESPOND SERVE auto_approve",
    (Action.REVISE, "serve_with_disclosure"): "WARN PARTIAL_WITH_CAVEATS FLAG flag_for_review",
    (Action.REVISE, "revise"): "WARN PARTIAL_WITH_CAVEATS FLAG flag_for_review",
    (Action.REVISE, "conflict_disclosure"): "WARN PARTIAL_WITH_CAVEATS FLAG flag_for_review",
    (Action.ESCALATE, "review"): "FAIL ABSTAIN WITHHOLD require_approval",
    (Action.BLOCK, "conflict_disclosure"): "FAIL ABSTAIN WITHHOLD block",
    (Action.BLOCK, "withhold"): "FAIL ABSTAIN WITHHOLD block",
    (Action.BLOCK, "withhold_for_review"): "FAIL ABSTAIN WITHHOLD block",
    (Action.BLOCK, "withhold_closest_sources"): "FAIL ABSTAIN WITHHOLD block",
    (Action.BLOCK, "withhold_knowledge_gap"): "FAIL ABSTAIN WITHHOLD block",
    (Action.BLOCK, "withhold_citation"): "FAIL ABSTAIN WITHHOLD block",
}


def decision(action: Action, route: str) -> Decision:
    return Decision(action=action, route=route, reasons=("An example.",))


@pytest.mark.parametrize(("pair", "words"), ROWS.items(), ids=str)
def test_every_row_of_the_table(pair: tuple[Action, str], words: str) -> None:
    labels = labels_for(decision(*pair))
    assert f"{labels.verdict} {labels.abstention} {labels.routing} {labels.escalation}" == words


def test_the_table_has_these_rows_and_every_route_and_action_is_in_one() -> None:
    assert {(action, route.value) for action, route in LABELS} == set(ROWS)
    assert {route for _, route in LABELS} == set(Route)
    assert {action for action, _ in LABELS} == set(Action)


def test_a_label_is_never_more_permissive_than_the_action() -> None:
    for (action, _), labels in LABELS.items():
        emitted = action is Action.EMIT
        assert (labels.verdict == "PASS") == emitted
        assert (labels.routing == "SERVE") == emitted
        assert (labels.escalation == "auto_approve") == emitted
        assert emitted or labels.abstention != "RESPOND"


@pytest.mark.parametrize("pair", [(Action.EMIT, "withhold"), (Action.BLOCK, "serve"), (Action.EMIT, "\ud800")])
def test_a_pair_that_the_gate_never_gives_is_an_error(pair: tuple[Action, str]) -> None:
    unchecked = Decision.model_construct(action=pair[0], route=pair[1], reasons=("x",), response=None)
    with pytest.raises(PolicyError, match="no decision has the action"):
        labels_for(unchecked)


def test_the_order_of_actions_is_total() -> None:
    ordered = sorted(Action, key=permissiveness, reverse=True)
    assert ordered == [Action.EMIT, Action.REVISE, Action.ESCALATE, Action.BLOCK]
    assert len({permissiveness(action) for action in Action}) == len(Action)


def test_the_strictest_of_none_is_emit() -> None:
    assert strictest() is Action.EMIT
    assert strictest(Action.REVISE, Action.BLOCK, Action.EMIT) is Action.BLOCK
