"""Which of two policies is at least as strict: what a caller may ask for in place of another.

A partial order, setting by setting: of two policies with thresholds in different directions neither is stricter.
A setting that this module does not know of has to be the same in both, so that a new one loosens nothing unnoticed.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from assay.policy.model import Escalation, Policy
from assay.policy.screening import ScreenPolicy

_Test = Callable[[Any, Any], bool]


def _more(one: Any, other: Any) -> bool:
    return bool(one >= other)


def _less(one: Any, other: Any) -> bool:
    return bool(one <= other)


def _ranked(*values: str) -> _Test:
    return lambda one, other: values.index(one) >= values.index(other)


def _any(one: Any, other: Any) -> bool:
    del one, other
    return True


def _windows(one: int | None, other: int | None) -> bool:
    return one is None or (other is not None and one >= other)


def _prior(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and one <= other)


def _abstention(one: Any, other: Any) -> bool:
    return other is None or one == other


def _screen(one: ScreenPolicy | None, other: ScreenPolicy | None) -> bool:
    """Whether one retrieval gate lets no passage in that another drops."""
    if other is None or one == other:
        return True
    if one is None:
        return False
    drops = all(
        getattr(one, name) == "drop" or getattr(other, name) == "keep"
        for name in ("injections", "versions", "duplicates")
    )
    reserved = one.low_confidence == "refuse" or other.low_confidence == "answer"
    return (
        drops
        and reserved
        and one.minimum_relevance >= other.minimum_relevance
        and one.confident_relevance >= other.confident_relevance
        and (one.language == "question" or other.language == "any")
        and one.conflicts >= other.conflicts
    )


def _escalation(one: Escalation, other: Escalation) -> bool:
    if not other.enabled:
        return True
    weighs = all(getattr(one, name) >= getattr(other, name) for name in ("low", "medium", "high"))
    return one.enabled and one.threshold <= other.threshold and weighs


STRICTER: Final[Mapping[str, _Test]] = MappingProxyType(
    {
        "name": _any,
        "description": _any,
        "prior": _prior,
        "independence": _more,
        "emit_threshold": _more,
        "revise_threshold": _more,
        "block_threshold": _more,
        "warn_rate": _less,
        "fail_rate": _less,
        "support_threshold": _more,
        "contradiction_threshold": _less,
        "windows_per_claim": _windows,
        "groundedness": _more,
        "ungrounded_tasks": lambda one, other: set(one) <= set(other),
        "citations": _ranked("off", "verify", "require", "strict"),
        "failed_citation": _ranked("revise", "escalate", "block"),
        "critical_action": _ranked("revise", "block"),
        "weak_action": _ranked("revise", "escalate"),
        "block_on_overall": _more,
        "unchecked_action": _ranked("revise", "escalate"),
        "max_revisions": _less,
        "claim_free_may_emit": _less,
        "abstention_may_emit": _less,
        "require_relevant_evidence": _more,
        "judge": _ranked("off", "uncertain", "all"),
        "omissions": _ranked("off", "note", "revise"),
        "consistency_probes": _more,
        "logic": _ranked("off", "recompute", "full"),
        "abstention": _abstention,
        "screen": _screen,
        "escalate_critical_severity": _more,
        "escalation": _escalation,
        "probe_samples": _any,
        "metric_weights": _any,
        "overlays": _any,
    }
)
"""For each setting whether its first value is at least as strict as its second. Those that are not here have to be the
same: how claims become one score, the routing table, how severity is weighed, and what bounds the judge."""


def looser_settings(one: Policy, other: Policy) -> tuple[str, ...]:
    """The settings by which one policy is not at least as strict as another; empty where it is.

    >>> from assay.policy.presets import preset
    >>> looser_settings(preset("general"), preset("general"))
    ()
    >>> "groundedness" in looser_settings(preset("creative"), preset("general"))
    True
    """
    return tuple(
        name
        for name in Policy.model_fields
        if not STRICTER.get(name, _same)(getattr(one, name), getattr(other, name)) and name not in _idle(other)
    )


def at_least_as_strict(one: Policy, other: Policy) -> bool:
    """Whether one policy lets nothing out that another holds back, whatever is found of an output.

    >>> from assay.policy.presets import preset
    >>> at_least_as_strict(preset("high-stakes"), preset("general"))
    True
    >>> at_least_as_strict(preset("general"), preset("high-stakes"))
    False
    """
    return not looser_settings(one, other)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)


def _idle(policy: Policy) -> Sequence[str]:
    """The settings of a policy that decide nothing in it, so that any value is at least as strict."""
    idle: list[str] = []
    if not policy.groundedness:
        idle += [
            "aggregation",
            "prior",
            "emit_threshold",
            "revise_threshold",
            "block_threshold",
            "support_threshold",
            "contradiction_threshold",
            "weak_action",
            "critical_action",
            "block_on_overall",
            "route_by_table",
            "windows_per_claim",
            "require_relevant_evidence",
            "abstention",
            "ungrounded_tasks",
        ]
    if policy.citations == "off":
        idle.append("failed_citation")
    if not policy.route_by_table:
        idle.append("factscore_threshold")
    if policy.aggregation != "unsupported_rate":
        idle += ["warn_rate", "fail_rate"]
    if policy.aggregation != "joint":
        idle.append("independence")
    if policy.aggregation != "weighted_mean":
        idle.append("critical_weight")
    if not policy.escalate_critical_severity:
        idle.append("severity")
    if policy.judge == "off":
        idle += ["judge_calls", "judge_confidence"]
    return idle
