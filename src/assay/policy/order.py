"""The order of policies by strictness: which policies a caller may use in place of the operator's.

It is a partial order, setting by setting: if two policies differ in different directions, neither is stricter. A
setting that this module does not know must be equal in both, so that a new setting never loosens anything unnoticed.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from assay.policy.model import Escalation, Policy
from assay.policy.screening import ScreenPolicy

_Test = Callable[[Any, Any], bool]


def _more(value: Any, baseline: Any) -> bool:
    return bool(value >= baseline)


def _less(value: Any, baseline: Any) -> bool:
    return bool(value <= baseline)


def _ranked(*values: str) -> _Test:
    return lambda value, baseline: values.index(value) >= values.index(baseline)


def _any(value: Any, baseline: Any) -> bool:
    del value, baseline
    return True


def _windows(value: int | None, baseline: int | None) -> bool:
    return value is None or (baseline is not None and value >= baseline)


def _prior(value: float | None, baseline: float | None) -> bool:
    return value == baseline or (value is not None and baseline is not None and value <= baseline)


def _abstention(value: Any, baseline: Any) -> bool:
    return baseline is None or value == baseline


def _screen(value: ScreenPolicy | None, baseline: ScreenPolicy | None) -> bool:
    """Whether a retrieval gate keeps no passage that the baseline drops."""
    if baseline is None or value == baseline:
        return True
    if value is None:
        return False
    drops = all(
        getattr(value, name) == "drop" or getattr(baseline, name) == "keep"
        for name in ("injections", "versions", "duplicates")
    )
    refuses = value.low_confidence == "refuse" or baseline.low_confidence == "answer"
    return (
        drops
        and refuses
        and value.minimum_relevance >= baseline.minimum_relevance
        and value.confident_relevance >= baseline.confident_relevance
        and (value.language == "question" or baseline.language == "any")
        and value.conflicts >= baseline.conflicts
    )


def _escalation(value: Escalation, baseline: Escalation) -> bool:
    """Whether at least as much is escalated, to reviewers of whom at least as much is required."""
    if any(getattr(baseline, name) not in {"", getattr(value, name)} for name in ("expertise", "senior")):
        return False
    if baseline.senior and _blocking_from(value) > _blocking_from(baseline):
        return False
    if not baseline.enabled:
        return True
    heavier = all(getattr(value, name) >= getattr(baseline, name) for name in ("low", "medium", "high"))
    return value.enabled and value.threshold <= baseline.threshold and heavier


def _blocking_from(rules: Escalation) -> float:
    """The risk above which an item has the tier `blocking`, whose reviewers have to be senior."""
    return max(rules.threshold, rules.blocking_threshold)


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
        "ungrounded_tasks": lambda value, baseline: set(value) <= set(baseline),
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
"""For each setting a test whether a value is at least as strict as the baseline's. Settings without a test have to be
equal: how claims become one score, the routing table, the severity weights, and the limits of the judge."""


def looser_settings(candidate: Policy, baseline: Policy) -> tuple[str, ...]:
    """The settings in which a policy is not at least as strict as a baseline; empty where it is in all of them.

    >>> from assay.policy.presets import preset
    >>> looser_settings(preset("general"), preset("general"))
    ()
    >>> "groundedness" in looser_settings(preset("creative"), preset("general"))
    True
    """
    return tuple(
        name
        for name in Policy.model_fields
        if not STRICTER.get(name, _same)(getattr(candidate, name), getattr(baseline, name))
        and name not in _idle(baseline)
    )


def at_least_as_strict(candidate: Policy, baseline: Policy) -> bool:
    """Whether a policy releases nothing that the baseline withholds, whatever is found about an output.

    >>> from assay.policy.presets import preset
    >>> at_least_as_strict(preset("high-stakes"), preset("general"))
    True
    >>> at_least_as_strict(preset("general"), preset("high-stakes"))
    False
    """
    return not looser_settings(candidate, baseline)


def _same(value: Any, baseline: Any) -> bool:
    return bool(value == baseline)


def _idle(policy: Policy) -> Sequence[str]:
    """The settings that have no effect in a policy, so that any other value is at least as strict."""
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
