"""What another policy would have decided on an output that was already checked, without checking it again.

A report contains the input of the gate: the probabilities of each claim and the counts of everything else. From these
the gate's input is rebuilt under other thresholds, verdicts and severities included, and the gate itself decides.
What cannot be determined this way is not guessed: `redecide` reports that the output would have to be checked again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.policy.abstention import CLAIM_ROUTES
from assay.policy.findings.severity_formula import severity
from assay.policy.gate import decide
from assay.policy.model import Policy
from assay.policy.routes import Route
from assay.policy.signals import ClaimSignal, GateInput, claim_signal, is_logic_code
from assay.schema import Action, ClaimKind, Decision, Stakes, Verdict
from assay.stats import metrics

FROZEN: Final = (
    "citations",
    "windows_per_claim",
    "consistency_probes",
    "logic",
    "abstention",
    "judge",
    "judge_calls",
    "judge_confidence",
    "prior",
    "external",
    "require_relevant_evidence",
    "screen",
)
"""Settings that affect what is read and measured, not only what is decided."""
OFF: Final = "off"
"""The setting of `omissions`, `judge` and `external` under which nothing is looked for or asked."""
MAJORITY: Final = 0.5
"""A probe diverged unless more than this share of the answers agrees (`assay.verify.consistency.probes`)."""

_UNCITED: Final = re.compile(r"(\d+) claims? ha(?:s|ve) no citation, and the policy requires one for each\.")
_REJECTED: Final = re.compile(r"(\d+) tool calls? of the final turn failed validation\.")
_TRACE: Final = "action."
_DENIED: Final = "denied"
"""A judge's word on a reported omission that is none; it does not count."""


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """What was found for one claim, as far as the gate needs it."""

    score: float | None
    contradiction: float | None
    verdict: Verdict
    critical: bool
    reasons: tuple[str, ...]
    kind: ClaimKind
    hedge: float
    codes: tuple[str, ...]
    """The codes of its issues."""
    part_of: int | None = None


@dataclass(frozen=True, slots=True)
class GateFacts:
    """The input of a past decision of the gate, and the decision."""

    claims: tuple[ClaimFacts, ...]
    gate: GateInput
    """The gate's input at that time, claims included."""
    action: Action
    route: str
    overall: float | None
    measured: bool
    """Whether the metrics over claims had values."""
    cited: bool
    """Whether citations were judged, which depends on the policy's `support_threshold`."""
    traced: bool
    """Whether the trace of a run, a judge or a source settled a claim, which depends on several thresholds at once."""
    probed: bool
    """Whether the model was asked again, which depends on the verdicts."""
    judge_asked: bool
    """Whether a chat model was available as a judge: which claims it gets depends on the verdicts."""


def facts_of(report: Mapping[str, Any], options: Mapping[str, Any], policy: Policy) -> GateFacts | None:
    """The facts in a report.

    Args:
        report: the report in its wire form.
        options: the options of the check, by their names in `Guard.check`.
        policy: the policy that decided; an earlier version of assay may have given it another digest.

    Returns:
        The facts; None if the gate, given these facts, decides otherwise than the report says. Then a revision, an
        abstention or another version of the gate took part in the decision, and nothing can be inferred.
    """
    claims = tuple(_claim(one) for one in report["claims"])
    statuses = [one["status"] for one in report.get("citations", ())]
    gate = _gate_of(report, options, policy, claims)
    decision = report["decision"]
    facts = GateFacts(
        claims=claims,
        gate=gate,
        action=Action(decision["action"]),
        route=decision["route"],
        overall=report.get("overall_score"),
        measured=gate.factscore is not None,
        cited=bool(statuses),
        traced=any(_is_traced(one) for one in report["claims"]),
        probed=bool(report.get("consistency_probes", ())),
        judge_asked=(report.get("judge") or {}).get("model") is not None,
    )
    return _reproduced(facts, decision, policy)


_RELEASING: Final = frozenset(
    {(Action.EMIT, route) for route in Route} | {(Action.REVISE, Route.SERVE_WITH_DISCLOSURE)}
)
"""The decisions that release an output, by itself or with a disclosure."""


def objection_to_release(report: Mapping[str, Any], policy: Policy) -> str | None:
    """Why the content of a report does not lead its policy to release the output; None if it does.

    The report's route tells whether the caller declared the output free of claims, and what its task was.

    Args:
        report: the report in its wire form; its decision releases the output.
        policy: the policy that the report names.
    """
    route = report["decision"]["route"]
    task = next(iter(policy.ungrounded_tasks), "qa") if route == Route.SERVE_UNGROUNDED else "qa"
    options = {"claim_free": route == Route.SERVE_CLAIM_FREE, "task": task}
    gate = _gate_of(report, options, policy, tuple(_claim(one) for one in report["claims"]))
    decision, overall = decide(policy, gate)
    if (decision.action, decision.route) not in _RELEASING:
        return f"the policy {policy.name} decides {decision.action.value} on what it holds: {decision.reasons[0]}"
    if overall != report.get("overall_score"):
        return "its overall score is another one than that of its claims"
    return None


def _gate_of(
    report: Mapping[str, Any], options: Mapping[str, Any], policy: Policy, claims: tuple[ClaimFacts, ...]
) -> GateInput:
    """The input of the gate, rebuilt from a report."""
    decision, coverage, retrieval = report["decision"], report["coverage"], report["retrieval"]
    statuses = [one["status"] for one in report.get("citations", ())]
    values = report.get("metrics", {})
    statements = [one for one in claims if one.kind is not ClaimKind.META]
    probes = report.get("consistency_probes", ())
    codes = [one["code"] for one in report.get("issues", ())]
    stakes = Stakes(report.get("stakes", Stakes.MEDIUM.value))
    return GateInput(
        claims=tuple(_signal(one, one.verdict, policy, stakes) for one in claims),
        citations_fabricated=statuses.count("fabricated"),
        citations_failed=sum(statuses.count(name) for name in ("misquoted", "misattributed", "non_entailing")),
        claims_uncited=_count_in(_UNCITED, decision["reasons"]),
        citations_unchecked=statuses.count("unchecked"),
        conflicts=len(retrieval.get("conflicts", ())),
        unchecked_characters=coverage["unchecked"],
        evidence_unread_characters=coverage.get("evidence_characters", 0) - coverage.get("evidence_read", 0),
        structural_issues=sum(one.startswith("structure.") for one in codes),
        rejected_tool_calls=_count_in(_REJECTED, decision["reasons"]),
        diverged_probes=sum(not one["agreement"] > MAJORITY for one in probes),
        declared_claim_free=bool(options.get("claim_free", False)),
        task=str(options.get("task", "qa")),
        stakes=stakes,
        revisions_failed=int(options.get("revisions_failed", 0)),
        faithfulness=_value(values, "faithfulness"),
        factscore=_value(values, "factscore"),
        has_evidence=retrieval["windows"] > 0,
        # The route of the report tells that an agent's small talk claims nothing.
        abstention_only=(bool(statements) and all(one.kind is ClaimKind.ABSTENTION for one in statements))
        or decision["route"] == Route.SERVE_ABSTENTION,
        empty=not report["output"].strip(),
        irrelevant_evidence="evidence.irrelevant" in codes,
        hidden=codes.count("text.hidden"),
        logic_faults=sum(map(is_logic_code, codes)),
        omissions=sum(one.get("judged") != _DENIED for one in report.get("omissions", ())),
        unjudged=sum(map(_is_unjudged, report["claims"])),
    )


def redecide(facts: GateFacts, before: Policy, after: Policy) -> Decision | None:
    """What another policy would have decided.

    Args:
        facts: the facts of the past decision.
        before: the policy that decided.
        after: the other policy.

    Returns:
        Its decision, as the gate would have made it; None if the output would have to be checked again.
    """
    judged_otherwise = (before.support_threshold, before.contradiction_threshold) != (
        after.support_threshold,
        after.contradiction_threshold,
    )
    if any(getattr(before, name) != getattr(after, name) for name in FROZEN):
        return None
    if (before.omissions == OFF) != (after.omissions == OFF):
        return None
    if judged_otherwise and (facts.traced or facts.probed or facts.cited or facts.judge_asked):
        return None
    if facts.probed and before.probe_samples != after.probe_samples:
        return None
    if _asks_otherwise(facts, before, after):
        return None
    if judged_otherwise and any(one.part_of is not None for one in facts.claims):
        return None  # whether the pieces of a sentence are judged depends on whether the whole is supported
    if facts.traced and before.emit_threshold != after.emit_threshold:
        return None
    gate = _gate(facts, after, judged_otherwise=judged_otherwise)
    decision = decide(after, gate)[0]
    if after.consistency_probes and not _probes_known(facts, gate, decision, judged_otherwise=judged_otherwise):
        return None
    return decision


def _is_grounded(policy: Policy, task: str) -> bool:
    return policy.groundedness and task not in policy.ungrounded_tasks


def _asks_otherwise(facts: GateFacts, before: Policy, after: Policy) -> bool:
    """Whether only one of two policies holds the task to evidence, and so has a judge, probes or sources asked."""
    was_grounded, is_grounded = (_is_grounded(policy, facts.gate.task) for policy in (before, after))
    if was_grounded == is_grounded and before.groundedness == after.groundedness:
        return False
    return after.judge != OFF or after.consistency_probes or (is_grounded and after.external.mode != OFF)


def _probes_known(facts: GateFacts, gate: GateInput, decision: Decision, *, judged_otherwise: bool) -> bool:
    """Whether the probes that the other policy requires are those of the report.

    Critical claims are probed where the output would be released otherwise; an output that is held back is not probed.
    """
    if facts.probed or facts.gate.run_faults:
        return facts.route in CLAIM_ROUTES and not judged_otherwise
    if decision.route not in CLAIM_ROUTES:
        return True
    return not any(claim.critical and claim.verdict is Verdict.SUPPORTED for claim in gate.claims)


def _gate(facts: GateFacts, policy: Policy, *, judged_otherwise: bool) -> GateInput:
    stakes = facts.gate.stakes
    verdicts = [_verdict(facts, one, policy) if judged_otherwise else one.verdict for one in facts.claims]
    claims = tuple(_signal(one, verdict, policy, stakes) for one, verdict in zip(facts.claims, verdicts, strict=True))
    factscore = facts.gate.factscore
    if judged_otherwise and facts.measured:
        scored = [
            v is Verdict.SUPPORTED for one, v in zip(facts.claims, verdicts, strict=True) if one.score is not None
        ]
        factscore = metrics.factscore(scored).value
    return replace(facts.gate, claims=claims, factscore=factscore)


def _verdict(facts: GateFacts, claim: ClaimFacts, policy: Policy) -> Verdict:
    """The verdict by the policy's thresholds; contradiction is tested before support."""
    if claim.score is None or not facts.gate.has_evidence:
        return claim.verdict
    if claim.contradiction is not None and claim.contradiction >= policy.contradiction_threshold:
        return Verdict.CONTRADICTED
    return Verdict.SUPPORTED if claim.score >= policy.support_threshold else Verdict.UNSUPPORTED


def _signal(claim: ClaimFacts, verdict: Verdict, policy: Policy, stakes: Stakes) -> ClaimSignal:
    graded = None
    if verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
        graded = severity(
            policy,
            verdict=verdict,
            kind=claim.kind,
            critical_reasons=claim.reasons,
            stakes=stakes,
            hedge=claim.hedge,
            contradiction=claim.contradiction,
            has_specifics=bool(claim.reasons),
            feeds_action=claim.kind is ClaimKind.PROCEDURAL,
        ).score
    return claim_signal(
        score=claim.score,
        verdict=verdict,
        critical=claim.critical,
        severity=graded,
        contradiction=claim.contradiction,
        codes=claim.codes,
        part_of=claim.part_of,
    )


def _reproduced(facts: GateFacts, recorded: Mapping[str, Any], policy: Policy) -> GateFacts | None:
    """The facts, if they lead to the recorded decision; reasons that the gate lacks are taken to be faults of a run."""
    decision, overall = decide(policy, facts.gate)
    if list(decision.reasons) != list(recorded["reasons"]):
        faults = tuple(reason for reason in recorded["reasons"] if reason not in decision.reasons)
        facts = replace(facts, gate=replace(facts.gate, run_faults=faults))
        decision, overall = decide(policy, facts.gate)
    same = (decision.action, decision.route, list(decision.reasons), overall) == (
        facts.action,
        facts.route,
        list(recorded["reasons"]),
        facts.overall,
    )
    verdicts_match = facts.traced or all(_verdict(facts, one, policy) is one.verdict for one in facts.claims)
    return facts if same and verdicts_match else None


def _claim(one: Mapping[str, Any]) -> ClaimFacts:
    return ClaimFacts(
        score=one.get("score"),
        contradiction=one.get("contradiction"),
        verdict=Verdict(one["verdict"]),
        critical=one["critical"],
        reasons=tuple(one.get("critical_reasons", ())),
        kind=ClaimKind(one["kind"]),
        hedge=one.get("hedge", 0.0),
        codes=tuple(issue["code"] for issue in one.get("issues", ())),
        part_of=one.get("part_of"),
    )


def _is_traced(one: Mapping[str, Any]) -> bool:
    stated = any(issue["code"].startswith(_TRACE) for issue in one.get("issues", ()))
    return (
        stated
        or "action_done" in one.get("signals", {})
        or one.get("judgement") is not None
        or one.get("external") is not None
    )


def _is_unjudged(one: Mapping[str, Any]) -> bool:
    """Whether a judge was to be asked about a supported claim and gave no usable answer."""
    judgement = one.get("judgement")
    return judgement is not None and judgement["outcome"] == "unchecked" and one["verdict"] == Verdict.SUPPORTED.value


def _count_in(pattern: re.Pattern[str], reasons: Sequence[str]) -> int:
    return next((int(found[1]) for reason in reasons if (found := pattern.fullmatch(reason))), 0)


def _value(values: Mapping[str, Any], name: str) -> float | None:
    found: float | None = values.get(name, {}).get("value")
    return found
