"""The gate: from the findings about an output to the decision on it.

`decide` collects findings. Each names the action that it requires by itself, and the strictest of them wins, so that
another finding can never loosen a decision. The order is in `assay.policy.routes.permissiveness`; the choices between
the source documents are in ADR 0005.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum

from assay.policy.model import Policy
from assay.policy.responses import Cause, disclosure, refusal
from assay.policy.routes import Route, permissiveness, strictest
from assay.policy.signals import ClaimSignal, GateInput
from assay.schema import Action, ClaimStatus, Decision, Stakes, Verdict
from assay.stats import joint_support, shown_score


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason not to emit an output."""

    action: Action
    """The most permissive action that it still allows."""
    cause: Cause
    reason: str
    """A sentence for people."""


def decide(policy: Policy, gate: GateInput) -> tuple[Decision, float | None]:
    """The decision on an output, and its overall score.

    Total over all inputs, and monotone: a lower score, a worse verdict or one more finding of any kind never makes the
    action more permissive.

    Args:
        policy: the thresholds and switches to decide by.
        gate: what was found about the output.

    Returns:
        The decision, with reasons in prose and, where the output is withheld or served with a disclosure, the text
        to use; and the overall score, in [0, 1], or none where nothing was checked.
    """
    overall = overall_score(policy, gate.claims)
    grounded = policy.groundedness and gate.task not in policy.ungrounded_tasks
    findings = [*_form(policy, gate), *_citations(policy, gate)]
    if grounded:
        findings += [*_coverage(policy, gate), *_claims(policy, gate), *_score(policy, gate, overall)]
        findings += _human_review(policy, gate, overall)
    findings += _exhausted(policy, gate, findings)
    return _decision(policy, gate, findings, grounded=grounded, overall=overall), overall


def overall_score(policy: Policy, claims: tuple[ClaimSignal, ...]) -> float | None:
    """The gating score over the claims that were checked, in [0, 1]; None if there are none.

    A claim counts with its probability of support; an unsupported one with at most `support_threshold`, a contradicted
    one with at most one minus the probability of contradiction. `joint` is the probability that all of them hold
    (`assay.stats.joint`), `minimum` the lowest value, `weighted_mean` the mean in which critical claims count
    `critical_weight` times, and `unsupported_rate` one minus the share of claims without support.
    """
    checked = [claim for claim in claims if claim.checkable and not claim.unchecked]
    if not checked:
        return None
    values = [_value(policy, claim) for claim in checked]
    match policy.aggregation:
        case "joint":
            return joint_support(_by_statement(checked, values), policy.independence)
        case "minimum":
            return min(values)
        case "weighted_mean":
            weights = [policy.critical_weight if claim.critical else 1.0 for claim in checked]
            total = fsum(weight * value for weight, value in zip(weights, values, strict=True))
            return min(1.0, total / fsum(weights))
        case "unsupported_rate":
            return 1 - _unsupported_rate(policy, checked)


def _by_statement(claims: list[ClaimSignal], values: list[float]) -> list[float]:
    """One value per statement: the claims that were cut from one statement count once, with the weakest of them."""
    weakest: dict[object, float] = {}
    for place, (claim, value) in enumerate(zip(claims, values, strict=True)):
        key: object = ("whole", place) if claim.part_of is None else claim.part_of
        weakest[key] = min(value, weakest.get(key, 1.0))
    return list(weakest.values())


def escalated(decision: Decision, reason: str) -> Decision:
    """The decision when no further revision is possible: an output that would go back to its author goes to a person.

    A stricter decision, and one that allows serving with a disclosure, stay unchanged.

    >>> before = Decision(action=Action.REVISE, route="revise", reasons=("Weak.",))
    >>> escalated(before, "No attempt made it better.").action
    <Action.ESCALATE: 'escalate'>
    """
    if decision.action is not Action.REVISE or decision.route == Route.SERVE_WITH_DISCLOSURE:
        return decision
    return Decision(
        action=Action.ESCALATE,
        route=Route.REVIEW,
        reasons=(*decision.reasons, reason),
        response=refusal({Cause.EXHAUSTED}, Action.ESCALATE),
    )


def claim_status(policy: Policy, claim: ClaimSignal) -> ClaimStatus:
    """The status of one claim: how the gate would decide if the output consisted of this claim only.

    >>> from assay.policy.presets import preset
    >>> claim_status(preset("general"), ClaimSignal(0.7, Verdict.SUPPORTED, critical=True, severity=None))
    <ClaimStatus.REVISE: 'revise'>
    """
    if not claim.checkable:
        return ClaimStatus.NOT_CHECKABLE
    if claim.unchecked:
        return ClaimStatus.UNCHECKED
    if claim.fabricated_citation and policy.citations != "off":
        return ClaimStatus.BLOCK
    if not policy.groundedness:
        return ClaimStatus.PASS
    required = [finding.action for finding in _claim_findings(policy, claim)]
    if policy.aggregation != "unsupported_rate":
        required += [finding.action for finding in _bands(policy, _value(policy, claim))]
    match strictest(*required):
        case Action.EMIT if policy.aggregation != "unsupported_rate" or not _unsupported(policy, claim):
            return ClaimStatus.PASS
        case Action.BLOCK:
            return ClaimStatus.BLOCK
        case Action.EMIT | Action.REVISE | Action.ESCALATE:
            return ClaimStatus.REVISE


def _value(policy: Policy, claim: ClaimSignal) -> float:
    """The value with which a claim counts; it falls with the claim's score and with its verdict."""
    score = claim.score if claim.score is not None else 0.0
    if claim.verdict is Verdict.SUPPORTED:
        return score
    score = min(score, policy.support_threshold)
    if claim.verdict is Verdict.CONTRADICTED:
        return min(score, 1 - claim.contradiction) if claim.contradiction is not None else 0.0
    return score


def _unsupported(policy: Policy, claim: ClaimSignal) -> bool:
    return claim.verdict is not Verdict.SUPPORTED or _value(policy, claim) < policy.support_threshold


def _unsupported_rate(policy: Policy, checked: list[ClaimSignal]) -> float:
    return sum(_unsupported(policy, claim) for claim in checked) / len(checked)


def _form(policy: Policy, gate: GateInput) -> Iterator[Finding]:
    """Findings about emptiness, structure, tool calls and the run itself, which are gated for every task."""
    if gate.empty:
        yield Finding(Action.BLOCK, Cause.EMPTY, "The output is empty.")
    if gate.structural_issues:
        count = _count(gate.structural_issues, "violation", "violations")
        yield Finding(Action.REVISE, Cause.STRUCTURE, f"The structured output has {count} of its schema.")
    if gate.rejected_tool_calls:
        count = _count(gate.rejected_tool_calls, "tool call", "tool calls")
        yield Finding(Action.REVISE, Cause.TOOLS, f"{count} of the final turn failed validation.")
    for reason in gate.run_faults:
        yield Finding(Action(policy.unchecked_action), Cause.RUN, reason)


def _citations(policy: Policy, gate: GateInput) -> Iterator[Finding]:
    """Findings about citations: the levels of docs/concepts.md#citations and the citation rows of the routing table."""
    if policy.citations == "off":
        return
    fabricated = max(gate.citations_fabricated, sum(claim.fabricated_citation for claim in gate.claims))
    if fabricated:
        count = _count(fabricated, "citation names a source", "citations name sources")
        yield Finding(Action.BLOCK, Cause.FABRICATED, f"{count} not among the evidence.")
    if gate.citations_failed:
        action = Action.BLOCK if policy.citations == "strict" else Action(policy.failed_citation)
        count = _count(gate.citations_failed, "citation does", "citations do")
        which = "it is" if gate.citations_failed == 1 else "they are"
        yield Finding(action, Cause.CITATION, f"{count} not support the text that {which} attached to.")
    if gate.citations_unchecked:
        count = _count(gate.citations_unchecked, "citation", "citations")
        yield Finding(Action(policy.unchecked_action), Cause.UNCHECKED, f"{count} could not be checked.")
    if gate.claims_uncited and policy.citations in {"require", "strict"}:
        count = _count(gate.claims_uncited, "claim has", "claims have")
        yield Finding(Action.REVISE, Cause.UNCITED, f"{count} no citation, and the policy requires one for each.")


def _coverage(policy: Policy, gate: GateInput) -> Iterator[Finding]:
    """Findings about coverage: what was not checked is never clean, and finding no claim does not mean no fault."""
    action = Action(policy.unchecked_action)
    checkable = sum(claim.checkable for claim in gate.claims)
    if gate.unchecked_characters:
        count = _count(gate.unchecked_characters, "character of the output was", "characters of the output were")
        yield Finding(action, Cause.UNCHECKED, f"{count} not checked.")
    if gate.evidence_unread_characters:
        count = _count(
            gate.evidence_unread_characters, "character of the evidence was", "characters of the evidence were"
        )
        yield Finding(action, Cause.UNCHECKED, f"{count} not read.")
    if gate.hidden:
        places = _count(gate.hidden, "place", "places")
        yield Finding(action, Cause.UNCHECKED, f"In {places} a reader is shown another text than the one checked.")
    if unchecked := sum(claim.unchecked for claim in gate.claims):
        yield Finding(action, Cause.UNCHECKED, f"{_count(unchecked, 'claim', 'claims')} could not be checked.")
    if gate.unjudged:
        count = _count(gate.unjudged, "claim", "claims")
        yield Finding(action, Cause.UNCHECKED, f"{count} could not be judged, and the policy asks for it.")
    if gate.abstention_only and checkable and not policy.abstention_may_emit:
        yield Finding(action, Cause.NO_CLAIMS, "The output only abstains, and the policy does not let that out.")
    if checkable and not gate.has_evidence and not gate.abstention_only:
        count = _count(checkable, "claim", "claims")
        yield Finding(Action.BLOCK, Cause.NO_EVIDENCE, f"There is no evidence to test {count} against.")
    if gate.irrelevant_evidence and not gate.abstention_only:
        yield Finding(Action.BLOCK, Cause.GAP, "No evidence covers the question.")
    if not checkable and not _may_be_claim_free(policy, gate):
        yield Finding(
            action, Cause.NO_CLAIMS, "No checkable claim was found, and the output was not declared to be claim-free."
        )


def _may_be_claim_free(policy: Policy, gate: GateInput) -> bool:
    declared = gate.declared_claim_free and policy.claim_free_may_emit
    return declared or (gate.abstention_only and policy.abstention_may_emit)


def _claims(policy: Policy, gate: GateInput) -> Iterator[Finding]:
    """Findings about single claims, equal ones merged into one sentence, and about claims in relation to each other."""
    alike = Counter(
        (finding.cause, not claim.critical, finding.reason, finding.action)
        for claim in gate.claims
        for finding in _claim_findings(policy, claim)
    )
    for (cause, plain, reason, action), number in sorted(alike.items()):
        sort = "" if plain else "critical "
        yield Finding(action, cause, f"{_count(number, f'{sort}claim is', f'{sort}claims are')} {reason}.")
    if gate.conflicts:
        action = Action.BLOCK if policy.route_by_table else Action.REVISE
        count = _count(gate.conflicts, "claim", "claims")
        yield Finding(action, Cause.CONFLICT, f"The sources contradict each other on {count}.")
    if gate.logic_faults:
        count = _count(gate.logic_faults, "fault", "faults")
        yield Finding(Action.REVISE, Cause.LOGIC, f"{count} of the output's own reasoning in no claim.")
    if gate.omissions and policy.omissions == "revise":
        count = _count(gate.omissions, "qualification", "qualifications")
        yield Finding(Action.REVISE, Cause.OMISSION, f"The output leaves out {count} of the evidence.")
    if gate.diverged_probes:
        count = _count(gate.diverged_probes, "critical claim", "critical claims")
        yield Finding(Action.REVISE, Cause.DIVERGED, f"The model gave another answer when asked again on {count}.")


def _claim_findings(policy: Policy, claim: ClaimSignal) -> Iterator[Finding]:
    """Findings against one claim, whatever the others are; each reason completes the phrase "1 claim is"."""
    if not claim.checkable or claim.verdict is Verdict.UNCHECKED:
        return
    by_rate = policy.aggregation == "unsupported_rate"
    if claim.logic_fault:
        yield Finding(Action.REVISE, Cause.LOGIC, "at odds with the output's own reasoning")
    if claim.verdict is Verdict.CONTRADICTED and claim.critical:
        yield Finding(Action(policy.critical_action), Cause.CONTRADICTION, "contradicted by the evidence")
    elif claim.verdict is Verdict.CONTRADICTED and not by_rate:
        yield Finding(Action.REVISE, Cause.CONTRADICTION, "contradicted by the evidence")
    if claim.unchecked or by_rate:
        return
    value = _value(policy, claim)
    must_hold = claim.critical or policy.aggregation in {"joint", "minimum"}
    if claim.critical and value < policy.block_threshold:
        # At least as strict as for a claim between the thresholds, whatever the policy sets for that one.
        action = strictest(Action(policy.critical_action), Action(policy.weak_action))
        yield Finding(action, Cause.UNSUPPORTED, f"supported below block_threshold {policy.block_threshold:g}")
    elif value < policy.revise_threshold and (claim.critical or not policy.route_by_table):
        reason = f"supported below revise_threshold {policy.revise_threshold:g}"
        yield Finding(Action(policy.weak_action), Cause.WEAK, reason)
    elif claim.verdict is Verdict.UNSUPPORTED and must_hold:
        yield Finding(Action.REVISE, Cause.WEAK, "not supported by the evidence")


def _score(policy: Policy, gate: GateInput, overall: float | None) -> Iterator[Finding]:
    """Findings by the bands of the overall score: docs/concepts.md#thresholds, the routing table or the unsupported
    rate."""
    if overall is None:
        return
    if policy.aggregation == "unsupported_rate":
        yield from _rate_bands(policy, gate)
    elif policy.route_by_table:
        mean = overall if gate.faithfulness is None else gate.faithfulness
        # Whether it may be served depends on all claims holding; how much of the rest is supported, on their mean.
        below = mean if policy.aggregation == "joint" else min(overall, mean)
        name = "overall score" if below == overall else "mean score of the claims"
        yield from _table_bands(policy, min(overall, mean), (name, below), gate.factscore)
    else:
        yield from _bands(policy, overall)


def _bands(policy: Policy, overall: float) -> Iterator[Finding]:
    if overall < policy.block_threshold and policy.block_on_overall:
        yield Finding(Action.BLOCK, Cause.UNSUPPORTED, _below(overall, "block_threshold", policy.block_threshold))
    elif overall < policy.revise_threshold:
        reason = _below(overall, "revise_threshold", policy.revise_threshold)
        yield Finding(Action(policy.weak_action), Cause.WEAK, reason)
    elif overall < policy.emit_threshold:
        yield Finding(Action.REVISE, Cause.WEAK, _below(overall, "emit_threshold", policy.emit_threshold))


def _table_bands(policy: Policy, worst: float, below: tuple[str, float], factscore: float | None) -> Iterator[Finding]:
    """Rows 1 to 4 of docs/concepts.md#routing-table; conflicts and citations, rows 4 to 6, are handled elsewhere.

    Args:
        policy: the thresholds.
        worst: the score that has to reach `emit_threshold`.
        below: name and value of the score that decides whether an output below that threshold is withheld or served
            in part.
        factscore: the share of supported facts, if defined.
    """
    name, value = below
    if value < policy.block_threshold:
        yield Finding(Action.BLOCK, Cause.GAP, _below(value, "block_threshold", policy.block_threshold, name))
    elif value < policy.revise_threshold:
        yield Finding(Action.BLOCK, Cause.CLOSEST, _below(value, "revise_threshold", policy.revise_threshold, name))
    elif worst < policy.emit_threshold:
        yield Finding(Action.REVISE, Cause.PARTIAL, _below(worst, "emit_threshold", policy.emit_threshold))
    if factscore is not None and factscore < policy.factscore_threshold:
        reason = f"FACTScore {shown_score(factscore)} is below factscore_threshold {policy.factscore_threshold:g}."
        yield Finding(Action.REVISE, Cause.PARTIAL, reason)


def _rate_bands(policy: Policy, gate: GateInput) -> Iterator[Finding]:
    """PASS below `warn_rate`, WARN below `fail_rate`, FAIL from there (docs/concepts.md#unsupported-rate).

    The rate is computed again: one minus the overall score may have lost its last bit, and the bands meet at equality.
    """
    checked = [claim for claim in gate.claims if claim.checkable and not claim.unchecked]
    rate = _unsupported_rate(policy, checked)
    bad = sum(_unsupported(policy, claim) for claim in checked)
    share = f"{bad} of {_count(len(checked), 'checked claim', 'checked claims')} without support: the share reaches"
    if rate >= policy.fail_rate:
        yield Finding(Action.BLOCK, Cause.UNSUPPORTED, f"{share} fail_rate {policy.fail_rate:g}.")
    elif rate >= policy.warn_rate:
        yield Finding(Action.REVISE, Cause.WEAK, f"{share} warn_rate {policy.warn_rate:g}.")


def _human_review(policy: Policy, gate: GateInput, overall: float | None) -> Iterator[Finding]:
    """Findings that call for a person: critical severity and risk (docs/concepts.md#severity, #escalation)."""
    critical = sum(claim.severity is not None and claim.severity > policy.severity.critical for claim in gate.claims)
    if critical and policy.escalate_critical_severity:
        count = _count(critical, "claim is", "claims are")
        yield Finding(Action.ESCALATE, Cause.SEVERITY, f"{count} of critical severity.")
    if overall is not None and policy.escalation.enabled:
        risk = policy.escalation.risk(gate.stakes, overall)
        if risk > policy.escalation.threshold:
            reason = f"The stakes are {Stakes(gate.stakes).value}, and the support is too weak for that."
            yield Finding(Action.ESCALATE, Cause.RISK, reason)


def _exhausted(policy: Policy, gate: GateInput, findings: list[Finding]) -> list[Finding]:
    """The finding that revisions have failed too often (docs/concepts.md#thresholds). Partial support alone is
    disclosed and not revised, so it does not count."""
    failing = any(finding.cause is not Cause.PARTIAL for finding in findings)
    if not failing or gate.revisions_failed < policy.max_revisions:
        return []
    count = _count(gate.revisions_failed, "revision", "revisions")
    reason = f"{count} failed already, and the policy allows no more than {policy.max_revisions}."
    return [Finding(Action.BLOCK, Cause.EXHAUSTED, reason)]


def _decision(
    policy: Policy, gate: GateInput, findings: list[Finding], *, grounded: bool, overall: float | None
) -> Decision:
    action = strictest(*(finding.action for finding in findings))
    if action is Action.EMIT:
        return _emitted(policy, gate, grounded=grounded, overall=overall)
    # A stable sort, so that findings of equal strictness keep the order of the stages.
    ordered = sorted(findings, key=lambda finding: permissiveness(finding.action))
    deciding = {finding.cause for finding in ordered if finding.action is action}
    causes = {finding.cause for finding in ordered}
    route = _route(action, deciding, causes)
    return Decision(
        action=action,
        route=route,
        reasons=tuple(finding.reason for finding in ordered),
        response=_response(action, route, deciding),
    )


def _emitted(policy: Policy, gate: GateInput, *, grounded: bool, overall: float | None) -> Decision:
    checkable = sum(claim.checkable for claim in gate.claims)
    if not grounded:
        route, reason = Route.SERVE_UNGROUNDED, "For this kind of task, claims need no evidence."
    elif checkable and not gate.abstention_only:
        count = _count(checkable, "checkable claim", "checkable claims")
        score = f", with an overall score of {shown_score(overall)}" if overall is not None else ""
        route, reason = Route.SERVE, f"Nothing found against {count}{score}, under the policy {policy.name}."
    elif gate.declared_claim_free and policy.claim_free_may_emit:
        route, reason = Route.SERVE_CLAIM_FREE, "No checkable claim, as the caller declared."
    else:
        route, reason = Route.SERVE_ABSTENTION, "The output claims nothing: it abstains or greets."
    return Decision(action=Action.EMIT, route=route, reasons=(reason,))


_BLOCK_ROUTES = (
    (Cause.FABRICATED, Route.WITHHOLD_CITATION),
    (Cause.CONFLICT, Route.CONFLICT_DISCLOSURE),
    (Cause.CITATION, Route.WITHHOLD_CITATION),
    (Cause.NO_EVIDENCE, Route.WITHHOLD_KNOWLEDGE_GAP),
    (Cause.GAP, Route.WITHHOLD_KNOWLEDGE_GAP),
    (Cause.CLOSEST, Route.WITHHOLD_CLOSEST_SOURCES),
)
"""The finer route of a withheld output by cause; the first cause that applies decides."""


def _route(action: Action, deciding: set[Cause], causes: set[Cause]) -> Route:
    match action:
        case Action.BLOCK if Cause.SEVERITY in causes:
            return Route.WITHHOLD_FOR_REVIEW
        case Action.BLOCK if Cause.CONFLICT in causes and Cause.FABRICATED not in causes:
            # Whatever the reason for blocking, the reader should learn that the sources disagree.
            return Route.CONFLICT_DISCLOSURE
        case Action.BLOCK:
            return next((route for cause, route in _BLOCK_ROUTES if cause in deciding), Route.WITHHOLD)
        case Action.ESCALATE:
            return Route.REVIEW
        case Action.REVISE if Cause.CONFLICT in causes:
            return Route.CONFLICT_DISCLOSURE
        case Action.REVISE if deciding == {Cause.PARTIAL}:
            return Route.SERVE_WITH_DISCLOSURE
        case Action.REVISE:
            return Route.REVISE
        case Action.EMIT:
            return Route.SERVE


def _response(action: Action, route: Route, causes: set[Cause]) -> str | None:
    if route is Route.SERVE_WITH_DISCLOSURE:
        return disclosure()
    if action is Action.REVISE:
        return None
    return refusal(causes | {Cause.CONFLICT} if route is Route.CONFLICT_DISCLOSURE else causes, action)


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _below(score: float, field: str, threshold: float, name: str = "overall score") -> str:
    return f"The {name} {shown_score(score)} is below {field} {threshold:g}."
