"""Applies the consequences of a spent error budget to a policy, which becomes at least as strict in every respect."""

from typing import Any, Final

from assay.monitor import BudgetSettings, Consequence
from assay.policy import Policy

MOST_THRESHOLD: Final = 0.99
"""The highest value to which a threshold is raised."""
LAID_OVER: Final = frozenset({Consequence.TIGHTENING.value, Consequence.ESCALATION.value})
"""The consequences that change a policy."""


def overlay_of(policy: Policy, active: frozenset[str], settings: BudgetSettings) -> dict[str, Any]:
    """The content of a policy with the consequences applied that change policies.

    Args:
        policy: the policy.
        active: the names of the consequences in force.
        settings: the settings of the budget, which say by how much thresholds change.
    """
    content: dict[str, Any] = policy.model_dump(mode="json")
    laid = sorted(active & LAID_OVER)
    content["overlays"] = list(dict.fromkeys([*policy.overlays, *laid]))
    if Consequence.TIGHTENING.value in active:
        for name in ("emit_threshold", "revise_threshold", "block_threshold"):
            content[name] = max(content[name], min(MOST_THRESHOLD, content[name] + settings.tighten_by))
    if Consequence.ESCALATION.value in active:
        rules = dict(content["escalation"])
        content["escalation"] = {**rules, "enabled": True, "threshold": rules["threshold"] * (1 - settings.escalate_by)}
    return Policy.model_validate(content).model_dump(mode="json")
