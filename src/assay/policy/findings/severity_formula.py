"""The severity of an error in a claim: the formula of docs/concepts.md#severity, and estimates of its three factors.

    sev(c) = alpha * propagation_risk(c) + beta * detectability^-1(c) + gamma * consequence(c)

docs/concepts.md#severity defines the factors but not how to obtain them. The estimates here are rules over what is
known about a claim, with their numbers as named constants; they rank claims and are not measured probabilities.

**Propagation risk**, the probability that the claim feeds into decisions, memory or tool calls: 1 where the caller
knows that it feeds an action; `COMMITS` for procedures and commitments, which are meant to be followed; `COPIED` for
other critical claims, whose numbers, dates and names get copied into fields; `CONCLUDED` for conclusions, on which
further ones rest; `MENTIONED` otherwise.

**Undetectability**, how hard the error is to notice: `SPECIFIC` for a claim with a specific detail, `VAGUE` without
one (invented details are the hardest to notice). A contradiction makes it easier, by up to `SHOWN` for a certain one,
because the evidence at hand shows it; a hedge by up to `WARNED`, because it warns the reader.

**Consequence**: what depends on the output according to the caller's stakes; all of it for critical claims, the share
`ASIDE` for others, and only the share `PERHAPS` for claims that are merely unsupported, since these may be true.
"""

from collections.abc import Collection

from assay.errors import InputError
from assay.policy.model import Policy, SeverityWeights
from assay.schema import ClaimKind, Severity, SeverityLevel, Stakes, Verdict

COMMITS = 0.8
"""Propagation risk of a procedure or a commitment."""
COPIED = 0.6
"""Propagation risk of another critical claim."""
CONCLUDED = 0.5
"""Propagation risk of a conclusion."""
MENTIONED = 0.3
"""Propagation risk of anything else."""
SPECIFIC = 0.9
"""Undetectability of an error in a specific detail."""
VAGUE = 0.5
"""Undetectability of an error in a general statement."""
SHOWN = 0.4
"""The share of undetectability that a certain contradiction removes."""
WARNED = 0.5
"""The share of undetectability that the strongest hedge removes."""
ASIDE = 0.6
"""The share of the stakes that depends on a claim that is not critical."""
PERHAPS = 0.8
"""The share of the consequence that counts where the claim may be true after all."""

CONSEQUENCE = {Stakes.LOW: 0.3, Stakes.MEDIUM: 0.6, Stakes.HIGH: 1.0}
"""The cost of an error by the stakes of the output."""

RESPONSES = {
    SeverityLevel.CRITICAL: "Immediate halt; a person must review it.",
    SeverityLevel.HIGH: "Quarantine the output and verify it again automatically.",
    SeverityLevel.MEDIUM: "Flag it and regenerate with corrective context.",
    SeverityLevel.LOW: "Log it and include it in the regression test set.",
}
"""The response protocols of docs/concepts.md#severity."""

_NO_FINDING = "Nothing was found against it."


def severity(
    policy: Policy,
    *,
    verdict: Verdict,
    kind: ClaimKind,
    critical_reasons: Collection[str],
    stakes: Stakes,
    hedge: float,
    contradiction: float | None,
    has_specifics: bool,
    feeds_action: bool = False,
) -> Severity:
    """The severity of a finding, with its level and response protocol.

    Args:
        policy: gives alpha, beta, gamma and the levels' thresholds.
        verdict: `supported` and `not_checkable` claims are not findings and get 0; `unchecked` counts as unsupported.
        kind: the kind of statement.
        critical_reasons: why it is critical, as in `ExtractedClaim.critical`; empty if it is not.
        stakes: how much depends on the output.
        hedge: the degree of hedging, in [0, 1].
        contradiction: the probability that the evidence contradicts it, in [0, 1]; none counts as 1 where the verdict
            is `contradicted`.
        has_specifics: whether it contains a specific detail: a number, a name, a date, an identifier.
        feeds_action: whether an action or a tool call uses it.

    Raises:
        InputError: `hedge` or `contradiction` is not in [0, 1].

    >>> from assay.policy.presets import preset
    >>> severity(preset("general"), verdict=Verdict.UNSUPPORTED, kind=ClaimKind.FACTUAL, critical_reasons=("number",),
    ...          stakes=Stakes.MEDIUM, hedge=0, contradiction=None, has_specifics=True).level
    <SeverityLevel.HIGH: 'high'>
    """
    for name, value in (("hedge", hedge), ("contradiction", contradiction)):
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"expected {name} to be a number from 0 to 1, got {value}")
    if verdict in {Verdict.SUPPORTED, Verdict.NOT_CHECKABLE}:
        return Severity(
            score=0, level=SeverityLevel.LOW, propagation_risk=0, undetectability=0, consequence=0, response=_NO_FINDING
        )
    certainty = 0.0
    if verdict is Verdict.CONTRADICTED:
        certainty = 1.0 if contradiction is None else contradiction
    propagation = _propagation(kind, critical_reasons, feeds_action=feeds_action)
    undetectability = (SPECIFIC if has_specifics else VAGUE) * (1 - SHOWN * certainty) * (1 - WARNED * hedge)
    consequence = CONSEQUENCE[stakes] * (1 if critical_reasons else ASIDE)
    consequence *= 1 if verdict is Verdict.CONTRADICTED else PERHAPS
    weights = policy.severity
    score = weights.alpha * propagation + weights.beta * undetectability + weights.gamma * consequence
    score = min(1.0, score)
    level = severity_level(weights, score)
    return Severity(
        score=score,
        level=level,
        propagation_risk=propagation,
        undetectability=undetectability,
        consequence=consequence,
        response=RESPONSES[level],
    )


def claim_weight(
    policy: Policy,
    *,
    kind: ClaimKind,
    critical_reasons: Collection[str],
    stakes: Stakes,
    hedge: float,
    has_specifics: bool,
    feeds_action: bool = False,
) -> float:
    """The weight w_j = sev(c_j) of a claim in weighted faithfulness (docs/concepts.md#metrics), in [0, 1].

    It is the severity that the claim would have if it were unsupported, whatever its verdict: if the weight depended on
    the verdict, one wrong claim would change how much the others count.
    """
    return severity(
        policy,
        verdict=Verdict.UNSUPPORTED,
        kind=kind,
        critical_reasons=critical_reasons,
        stakes=stakes,
        hedge=hedge,
        contradiction=None,
        has_specifics=has_specifics,
        feeds_action=feeds_action,
    ).score


def severity_level(weights: SeverityWeights, score: float) -> SeverityLevel:
    """The level of a score: each begins above its threshold.

    >>> severity_level(SeverityWeights(), 0.8), severity_level(SeverityWeights(), 0.81)
    (<SeverityLevel.HIGH: 'high'>, <SeverityLevel.CRITICAL: 'critical'>)
    """
    if score > weights.critical:
        return SeverityLevel.CRITICAL
    if score > weights.high:
        return SeverityLevel.HIGH
    if score > weights.medium:
        return SeverityLevel.MEDIUM
    return SeverityLevel.LOW


def _propagation(kind: ClaimKind, critical_reasons: Collection[str], *, feeds_action: bool) -> float:
    if feeds_action:
        return 1.0
    if kind is ClaimKind.PROCEDURAL or "commitment" in critical_reasons:
        return COMMITS
    if critical_reasons:
        return COPIED
    return CONCLUDED if kind is ClaimKind.INFERENTIAL else MENTIONED
