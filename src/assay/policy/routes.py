"""Routes: the detailed decision behind each action, the order of permissiveness, and names in other vocabularies."""

from enum import StrEnum

from assay.errors import PolicyError
from assay.schema import Action, Decision, Labels


class Route(StrEnum):
    """What is done with the output; see docs/concepts.md#routing-table."""

    SERVE = "serve"
    """Serve the answer with its citations."""
    SERVE_UNGROUNDED = "serve_ungrounded"
    """Serve it; its claims were not held to evidence because the task does not require it."""
    SERVE_CLAIM_FREE = "serve_claim_free"
    """Serve it; the caller declared it free of claims and none was found."""
    SERVE_ABSTENTION = "serve_abstention"
    """Serve it; it states that there is no answer, which is a valid output."""
    SERVE_APPROVED = "serve_approved"
    """Serve it; a reviewer approved what the gate had escalated. The gate itself never gives this route."""
    SERVE_WITH_DISCLOSURE = "serve_with_disclosure"
    """It may be served, but only together with the text in `response`."""
    REVISE = "revise"
    """Return it to its author with the findings."""
    CONFLICT_DISCLOSURE = "conflict_disclosure"
    """Tell the reader which sources disagree instead of choosing one."""
    REVIEW = "review"
    """Hold it until a person decides."""
    WITHHOLD = "withhold"
    """Answer with `response` in its place."""
    WITHHOLD_FOR_REVIEW = "withhold_for_review"
    """Answer with `response` in its place, and have a person review what happened."""
    WITHHOLD_CLOSEST_SOURCES = "withhold_closest_sources"
    """Answer with `response` and the closest passages."""
    WITHHOLD_KNOWLEDGE_GAP = "withhold_knowledge_gap"
    """Answer with `response`; the question goes to the maintainers of the documents."""
    WITHHOLD_CITATION = "withhold_citation"
    """Answer with `response`; a citation does not hold, which may be systematic."""


_PERMISSIVENESS = {Action.EMIT: 3, Action.REVISE: 2, Action.ESCALATE: 1, Action.BLOCK: 0}


def permissiveness(action: Action) -> int:
    """The rank of an action by what it allows without further intervention: emit 3, revise 2, escalate 1, block 0.

    `emit` releases the output. `revise` releases nothing, but the run continues by itself. `escalate` stops it until a
    person decides, who may still release it. `block` never releases it.

    >>> permissiveness(Action.EMIT) > permissiveness(Action.REVISE) > permissiveness(Action.ESCALATE)
    True
    """
    return _PERMISSIVENESS[action]


def strictest(*actions: Action) -> Action:
    """The least permissive of some actions; `emit` if there are none."""
    return min(actions, key=permissiveness, default=Action.EMIT)


_PASS = Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve")
_ABSTAINED = Labels(verdict="PASS", abstention="ABSTAIN", routing="SERVE", escalation="auto_approve")
_FLAG = Labels(verdict="WARN", abstention="PARTIAL_WITH_CAVEATS", routing="FLAG", escalation="flag_for_review")
_HOLD = Labels(verdict="FAIL", abstention="ABSTAIN", routing="WITHHOLD", escalation="require_approval")
_FAIL = Labels(verdict="FAIL", abstention="ABSTAIN", routing="WITHHOLD", escalation="block")

LABELS: dict[tuple[Action, Route], Labels] = {
    (Action.EMIT, Route.SERVE): _PASS,
    (Action.EMIT, Route.SERVE_UNGROUNDED): _PASS,
    (Action.EMIT, Route.SERVE_CLAIM_FREE): _PASS,
    (Action.EMIT, Route.SERVE_ABSTENTION): _ABSTAINED,
    (Action.EMIT, Route.SERVE_APPROVED): _PASS,
    (Action.REVISE, Route.SERVE_WITH_DISCLOSURE): _FLAG,
    (Action.REVISE, Route.REVISE): _FLAG,
    (Action.REVISE, Route.CONFLICT_DISCLOSURE): _FLAG,
    (Action.ESCALATE, Route.REVIEW): _HOLD,
    (Action.BLOCK, Route.CONFLICT_DISCLOSURE): _FAIL,
    (Action.BLOCK, Route.WITHHOLD): _FAIL,
    (Action.BLOCK, Route.WITHHOLD_FOR_REVIEW): _FAIL,
    (Action.BLOCK, Route.WITHHOLD_CLOSEST_SOURCES): _FAIL,
    (Action.BLOCK, Route.WITHHOLD_KNOWLEDGE_GAP): _FAIL,
    (Action.BLOCK, Route.WITHHOLD_CITATION): _FAIL,
}
"""All pairs of action and route that the gate or a reviewer gives, with their names in the four vocabularies of
docs/concepts.md#decision-labels. A label is never more permissive than the action: what is not emitted is never PASS,
RESPOND, SERVE or auto_approve."""


def labels_for(decision: Decision) -> Labels:
    """The same decision in the vocabularies of docs/concepts.md#decision-labels.

    Raises:
        PolicyError: the gate never gives this action with this route.

    >>> labels_for(Decision(action=Action.EMIT, route="serve", reasons=("All claims hold.",))).routing
    'SERVE'
    """
    for (action, route), labels in LABELS.items():
        if action == decision.action and route == decision.route:
            return labels
    raise PolicyError(
        f"no decision has the action {decision.action.value!r} with the route {decision.route!a}; "
        "expected a pair of the table assay.policy.routes.LABELS"
    )
