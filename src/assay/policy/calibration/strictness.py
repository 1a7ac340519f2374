"""One number that makes a policy stricter, and the strictest value at which an output still passes.

The number is the `emit_threshold`, or one minus the `warn_rate` under `unsupported_rate`. All other settings stay the
same, except for thresholds that must not exceed it and are lowered with it. `support_threshold` never changes: what
counts as support does not depend on how strict a gate is. A report made under `loosest(policy)` therefore contains
everything that the gate decides on under any stricter policy, and `levels_of` decides it again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.errors import InputError
from assay.policy.gate import decide
from assay.policy.model import Policy
from assay.policy.signals import GateInput, signal_of
from assay.schema import Action, HallucinationReport, Verdict

STEPS: tuple[float, ...] = (*(n / 200 for n in range(1, 198)), *(n / 1000 for n in range(990, 1001)))
"""The thresholds to choose from: in steps of 0.005 up to 0.99, and of 0.001 above, where most correct outputs lie. They
are fixed here, before any row is seen, as a guarantee requires."""
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Levels:
    """The thresholds at which the decision on one output changes."""

    passes: float
    """The strictest threshold of `grid_of` at which it is emitted; minus infinity if it is never emitted."""
    blocked: float
    """The lowest `block_threshold` of `block_grid_of` at which it is withheld; infinity if it never is."""


def at_strictness(policy: Policy, threshold: float, block_threshold: float | None = None) -> Policy:
    """The policy with another threshold for emitting and, where one is given, for withholding.

    Raises:
        InputError: the threshold is below `support_threshold`, which is possible only where every claim has to be
            supported in addition (`joint`).

    >>> from assay.policy.presets import preset
    >>> strict = at_strictness(preset("general"), 0.5)
    >>> strict.emit_threshold, strict.revise_threshold, strict.block_threshold
    (0.5, 0.5, 0.4)
    """
    if policy.aggregation == "unsupported_rate":
        rate = round(1 - threshold, 9)
        changed = {"warn_rate": rate, "fail_rate": max(policy.fail_rate, rate)}
    elif threshold < policy.support_threshold and policy.aggregation != "joint":
        raise InputError(
            f"expected a threshold of at least the policy's support_threshold, {policy.support_threshold:g}, "
            f"got {threshold:g}: set that lower in the policy first"
        )
    else:
        revise = min(policy.revise_threshold, threshold)
        changed = {"emit_threshold": threshold, "revise_threshold": revise}
        changed["block_threshold"] = min(policy.block_threshold if block_threshold is None else block_threshold, revise)
    return Policy.model_validate({**policy.model_dump(), **changed})


def loosest(policy: Policy) -> Policy:
    """The policy at its loosest: an output that it does not emit is emitted at no threshold, and one that it withholds
    is withheld at every threshold."""
    return at_strictness(policy, grid_of(policy)[0], 0.0)


def grid_of(policy: Policy) -> tuple[float, ...]:
    """The thresholds for emitting that a policy can have, in ascending order."""
    if policy.aggregation in {"unsupported_rate", "joint"}:
        return STEPS
    least = policy.support_threshold
    return tuple(sorted({least or STEPS[0], *(step for step in STEPS if step >= least)}))


def block_grid_of(policy: Policy) -> tuple[float, ...]:
    """The thresholds for withholding that a policy can have, in ascending order: none exceeds `revise_threshold`."""
    if policy.aggregation == "unsupported_rate":
        return (policy.block_threshold,)
    most = policy.revise_threshold
    return tuple(sorted({0.0, policy.block_threshold, *(n / 100 for n in range(1, 101) if n / 100 <= most)}))


def levels_of(report: HallucinationReport, policy: Policy, *, task: str = "qa") -> Levels:
    """The thresholds at which the decision on an output changes under stricter policies.

    Args:
        report: a report made under `loosest(policy)`.
        policy: the policy whose thresholds are to be chosen.
        task: the task that the output was checked for.

    Raises:
        InputError: the report was made under another policy.
    """
    if report.policy.digest != loosest(policy).digest:
        raise InputError(
            f"expected a report made under the loosest form of the policy {policy.name!r}, got one made under "
            f"{report.policy.name!r}"
        )
    gate = _open_gate(report, task)
    passes = blocked = None
    if report.action is Action.EMIT:
        grid = grid_of(policy)
        emitted = _last(grid, lambda t: decide(_at(policy, t), gate)[0].action is Action.EMIT)
        passes = None if emitted is None else grid[emitted]
    if report.action is Action.BLOCK:
        blocked = 0.0
    else:
        grid = block_grid_of(policy)
        kept = _last(grid, lambda b: decide(_at(policy, 1.0, b), gate)[0].action is not Action.BLOCK)
        above = 0 if kept is None else kept + 1
        blocked = grid[above] if above < len(grid) else None
    return Levels(-NEVER if passes is None else passes, NEVER if blocked is None else blocked)


@lru_cache(maxsize=2048)
def _at(policy: Policy, threshold: float, block_threshold: float | None = None) -> Policy:
    return at_strictness(policy, threshold, block_threshold)


def _last(grid: Sequence[float], holds: Callable[[float], bool]) -> int | None:
    """The last index of an ascending grid at which a condition holds that, once it fails, fails from there on."""
    low, high = 0, len(grid)
    while low < high:
        middle = (low + high) // 2
        if holds(grid[middle]):
            low = middle + 1
        else:
            high = middle
    return low - 1 if low else None


def _open_gate(report: HallucinationReport, task: str) -> GateInput:
    """The part of the gate's input that thresholds act on.

    Everything else is reflected in the report's own action. If it kept the output from being emitted at the loosest
    threshold, no threshold is searched for; if it did not, it does not at any other threshold either.
    """
    return GateInput(
        claims=tuple(map(signal_of, report.claims)),
        citations_fabricated=0,
        citations_failed=0,
        claims_uncited=0,
        citations_unchecked=0,
        conflicts=0,
        unchecked_characters=0,
        evidence_unread_characters=0,
        structural_issues=0,
        rejected_tool_calls=0,
        diverged_probes=0,
        declared_claim_free=True,
        task=task,
        stakes=report.stakes,
        revisions_failed=0,
        faithfulness=_value(report, "faithfulness"),
        factscore=_value(report, "factscore"),
        has_evidence=True,
        abstention_only=all(claim.verdict is Verdict.NOT_CHECKABLE for claim in report.claims),
    )


def _value(report: HallucinationReport, name: str) -> float | None:
    metric = report.metrics.get(name)
    return None if metric is None else metric.value
