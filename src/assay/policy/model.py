"""The policy: all thresholds, weights and switches of the gate as one frozen value."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from assay.errors import PolicyError
from assay.policy.abstention import Abstaining
from assay.policy.screening import ScreenPolicy
from assay.schema import Stakes, Value

Probability = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1)]
Minutes = Annotated[float, Field(gt=0, le=525_600)]

SUM_TOLERANCE = 1e-6
"""How far the sum of weights may differ from 1, to allow for decimal fractions such as three times 0.3333333."""


class SeverityWeights(Value):
    """The weights and levels of sev(c) = alpha * propagation + beta * undetectability + gamma * consequence.

    Source: docs/concepts.md#severity. A level begins above its threshold, never at it.
    """

    alpha: Weight = 0.3
    """Weight of the propagation risk. In [0, 1]; the three weights sum to 1."""
    beta: Weight = 0.3
    """Weight of how hard the error is to notice. In [0, 1]."""
    gamma: Weight = 0.4
    """Weight of the cost of the error. In [0, 1]."""
    critical: Probability = 0.8
    """Above it the level is `critical`. In [0, 1] (docs/concepts.md#severity)."""
    high: Probability = 0.6
    """Above it the level is `high`. In [0, 1] (docs/concepts.md#severity)."""
    medium: Probability = 0.3
    """Above it the level is `medium`, else `low`. In [0, 1] (docs/concepts.md#severity)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        total = math.fsum((self.alpha, self.beta, self.gamma))
        if abs(total - 1) > SUM_TOLERANCE:
            raise contradiction(
                f"the severity weights alpha, beta and gamma must sum to 1, but sum to {total:g}",
                ("alpha", "beta", "gamma"),
            )
        if not self.critical >= self.high >= self.medium:
            raise contradiction(
                "the severity levels must not fall: expected critical >= high >= medium, "
                f"got {self.critical:g}, {self.high:g}, {self.medium:g}",
                ("critical", "high", "medium"),
            )
        return self


class MetricWeights(Value):
    """The weights of the composite score 1 - (w_F F + w_A AP + w_G G + w_S SC) (docs/concepts.md#metrics).

    A metric without a value is left out and the other weights are scaled up to sum to 1 again; it never counts as a
    number. Each weight is in [0, 1] and they sum to 1.
    """

    faithfulness: Weight = 0.4
    """w_F: how strongly the evidence entails the claims."""
    attribution_precision: Weight = 0.2
    """w_A: the share of citations that hold."""
    groundedness: Weight = 0.3
    """w_G: the share of claims that are grounded."""
    self_consistency: Weight = 0.1
    """w_S: how far the model agrees with itself when asked again."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        total = math.fsum(self.as_mapping().values())
        if abs(total - 1) > SUM_TOLERANCE:
            names = tuple(self.as_mapping())
            raise contradiction(f"the metric weights must sum to 1, but sum to {total:g}", names)
        return self

    def as_mapping(self) -> Mapping[str, float]:
        """The weights by the names of the metrics in a report."""
        return {
            "faithfulness": self.faithfulness,
            "attribution_precision": self.attribution_precision,
            "groundedness": self.groundedness,
            "self_consistency": self.self_consistency,
        }


class Escalation(Value):
    """When a person decides: stakes * (1 - confidence) > threshold (docs/concepts.md#escalation)."""

    enabled: bool = True
    """Whether the formula is used at all. If not, only other settings of the policy bring in a person."""
    threshold: Probability = 0.5
    """theta_esc of the formula, in [0, 1]; a smaller value brings in people more often."""
    low: Probability = 0.25
    """The weight of `low` stakes in the formula, in [0, 1]."""
    medium: Probability = 0.5
    """The weight of `medium` stakes."""
    high: Probability = 1.0
    """The weight of `high` stakes."""

    sync_threshold: Probability = 0.6
    """theta_2: the risk above which a review is due within minutes. A value below `threshold` counts as `threshold`."""
    blocking_threshold: Probability = 0.8
    """theta_3: the risk above which a senior reviewer has to look at once. At least `sync_threshold`."""
    async_minutes: Minutes = 240.0
    """How long a review in the tier `async` may take, in minutes; usually hours."""
    sync_minutes: Minutes = 15.0
    """How long a review in the tier `sync` may take, in minutes."""
    blocking_minutes: Minutes = 5.0
    """How long a review in the tier `blocking` may take, in minutes."""
    async_overdue: Literal["next_tier", "reject", "wait"] = "next_tier"
    """What happens when nobody has decided by then: the item moves up a tier, it is rejected, or it keeps waiting and
    reviewers are reminded. It is never released."""
    sync_overdue: Literal["next_tier", "reject", "wait"] = "next_tier"
    """The same for the tier `sync`."""
    blocking_overdue: Literal["reject", "wait"] = "wait"
    """The same for the tier `blocking`, above which there is none."""
    expertise: str = Field(default="", max_length=100)
    """The expertise that a reviewer needs, such as `tax`, if any reviewer has it. Empty: anyone may review."""
    senior: str = Field(default="senior", max_length=100)
    """The role that reviewers of the tier `blocking` need, if any reviewer has it. Empty: anyone may review."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.low <= self.medium <= self.high:
            raise contradiction(
                "higher stakes must not count less: expected low <= medium <= high, "
                f"got {self.low:g}, {self.medium:g}, {self.high:g}",
                ("low", "medium", "high"),
            )
        if self.sync_threshold > self.blocking_threshold:
            raise contradiction(
                "sync_threshold must be at most blocking_threshold, "
                f"got {self.sync_threshold:g} and {self.blocking_threshold:g}",
                ("sync_threshold", "blocking_threshold"),
            )
        return self

    def weight(self, stakes: Stakes) -> float:
        """The weight of the stakes, in [0, 1]."""
        return {Stakes.LOW: self.low, Stakes.MEDIUM: self.medium, Stakes.HIGH: self.high}[stakes]

    def risk(self, stakes: Stakes, confidence: float) -> float:
        """stakes * (1 - confidence), in [0, 1].

        >>> Escalation().risk(Stakes.HIGH, 0.25)
        0.75
        """
        return self.weight(stakes) * (1 - confidence)


class ExternalChecks(Value):
    """How claims are verified against knowledge outside the evidence, where sources are configured (docs/knowledge.md).

    verify_externally(c) <=> verdict(c) = unsupported and sev(c) >= severity and verifiable(c)
    """

    mode: Literal["off", "note", "decide"] = "decide"
    """Whether sources are asked at all, and whether their answers are only noted or decide. If they decide, a claim
    that a source of sufficient authority verifies counts as supported, and one that it refutes as contradicted."""
    claims: Literal["unsupported", "all"] = "unsupported"
    """Which claims are looked up: those that the evidence does not support, or all of them, so that errors in the
    evidence itself are found."""
    severity: Probability = 0.3
    """theta_sev: the severity that an error in a claim must have for the claim to be looked up. In [0, 1]."""
    confidence: float = Field(default=0.7, ge=0.5, le=1)
    """theta_external: the least confidence of the verifier in what a source says about a claim. In [0.5, 1]."""
    budget_s: float = Field(default=5.0, gt=0, le=600)
    """The time for all lookups of one output, in seconds, however the sources behave. In (0, 600]."""
    ask_all: bool = False
    """Whether sources with less authority than the one that settled a claim are asked too, to show disagreement."""


class Policy(Value):
    """All settings of the gate. Presets are in `assay.policy.presets`; files are read by `parse_policy`."""

    name: str = Field(min_length=1)
    """The name of the policy in reports."""
    description: str = ""
    """The purpose of the policy, in a sentence."""

    prior: float | None = Field(default=0.9, gt=0, lt=1)
    """The share of supported claims where the policy is used. Scores are calibrated on rows with a smaller share;
    corrected to this one, they state how often a claim with such a score is right in use (docs/adr/0030). In (0, 1);
    none leaves them uncorrected."""
    aggregation: Literal["joint", "minimum", "weighted_mean", "unsupported_rate"] = "minimum"
    """How claims become one score: the probability that all of them hold, the worst claim, the mean with critical
    claims weighing `critical_weight`, or one minus the share of claims without support (docs/adr/0030)."""
    independence: float = Field(default=1.0, gt=0, le=1)
    """Under `joint` only: how far the claims of an answer are right or wrong independently of each other. At 1 their
    probabilities are multiplied; below 1 several weak claims lower the score less than that. In (0, 1]."""
    critical_weight: float = Field(default=2.0, ge=1, le=100)
    """The weight of a critical claim in the weighted mean; other claims have the weight 1. In [1, 100]."""

    emit_threshold: Probability = 0.85
    """The overall score from which an output may be emitted (docs/concepts.md#thresholds). In [0, 1], at least
    `revise_threshold`."""
    revise_threshold: Probability = 0.6
    """The score below which a claim goes back to its author (docs/concepts.md#thresholds). In [0, 1], at least
    `block_threshold`."""
    block_threshold: Probability = 0.4
    """The score below which a critical claim withholds the output (docs/concepts.md#thresholds). In [0, 1]."""
    warn_rate: Probability = 0.1
    """Under `unsupported_rate` only: the share of unsupported claims from which an output does not pass
    (docs/concepts.md#unsupported-rate)."""
    fail_rate: Probability = 0.3
    """Under `unsupported_rate` only: the share from which it is withheld. At least `warn_rate`."""

    support_threshold: Probability = 0.85
    """The probability of support from which the verdict of a claim is `supported`. On held-out rows balanced accuracy
    is flat from 0.3 to 0.4 and falls above it (docs/adr/0005-gate.md). At most `emit_threshold`, so that
    a claim without support cannot carry an output over the line."""
    contradiction_threshold: float = Field(default=0.25, gt=0, le=1)
    """The probability of contradiction from which the verdict is `contradicted`, whatever supports the claim. Above 0,
    since at 0 everything would be contradicted."""

    windows_per_claim: int | None = Field(default=1, ge=1)
    """How many windows of evidence the network reads for one claim, in addition to its best sentence and a text
    assembled from the best sentences of all evidence; none means all of them
    (docs/adr/0017-what-is-read-for-a-claim.md)."""

    groundedness: bool = True
    """Whether claims must be supported by evidence. Tool calls, structure and emptiness are gated in any case."""
    ungrounded_tasks: tuple[str, ...] = ()
    """Tasks that are exempt from groundedness, such as creative or brainstorm."""
    citations: Literal["off", "verify", "require", "strict"] = "verify"
    """How citations are judged (docs/concepts.md#citations): `off` (not at all), `verify` (each citation must exist, be
    quoted correctly and entail the statement that it follows), `require` (in addition, every checkable claim has one),
    `strict` (in addition, one that fails withholds the output)."""
    failed_citation: Literal["revise", "escalate", "block"] = "revise"
    """The action for a misquoted, misattributed or non-entailing citation; `strict` blocks in any case. A fabricated
    citation blocks at every level but `off`."""

    critical_action: Literal["revise", "block"] = "block"
    """The action for a critical claim that is contradicted or below `block_threshold` (docs/concepts.md#thresholds)."""
    weak_action: Literal["revise", "escalate"] = "revise"
    """The action for a claim between `block_threshold` and `revise_threshold`; `escalate` asks a person."""
    block_on_overall: bool = False
    """Whether an overall score below `block_threshold` withholds the output even if no critical claim is that low."""
    unchecked_action: Literal["revise", "escalate"] = "revise"
    """The action for text or evidence that was not checked, and for an output without any claim. Never `emit`."""
    max_revisions: int = Field(default=2, ge=0, le=100)
    """The number of failed revisions after which a further `revise` becomes `block` (docs/concepts.md#thresholds)."""

    claim_free_may_emit: bool = True
    """Whether an output without claims may be emitted when the caller declared it claim-free."""
    abstention_may_emit: bool = True
    """Whether an output that only states that it has no answer, greetings aside, may be emitted."""
    require_relevant_evidence: bool = True
    """Whether an output is withheld where neither a passage nor the output itself mentions what was asked."""
    judge: Literal["off", "uncertain", "all"] = "off"
    """Which claims a chat model judges, where one is available (docs/concepts.md#the-judge): none, those of which the
    other tiers are not sure, or all. A claim for which its answer is not usable does not pass."""
    judge_calls: int = Field(default=16, ge=0, le=10_000)
    """The most requests to the judge for one output; claims beyond them are unchecked. In [0, 10000]."""
    judge_confidence: float = Field(default=0.9, ge=0.5, le=1)
    """The probability with which a verdict of the judge counts: the share of its verdicts that are right on your own
    rows. It cannot lift a claim over an `emit_threshold` above it. In [0.5, 1]."""
    omissions: Literal["off", "note", "revise"] = "off"
    """What happens if the output omits a condition, an exception, a deadline or a limit of the evidence that is
    relevant to it (docs/concepts.md#omissions): omissions are not looked for, they are reported, or the output goes
    back to its author."""
    consistency_probes: bool = False
    """Whether critical claims are probed where a chat model is available (docs/concepts.md#self-consistency).
    Divergence is gated in any case."""
    probe_samples: Annotated[int, Field(ge=1, le=9)] | Literal["adaptive"] = 3
    """How many answers a probe asks for at first: a number in [1, 9], or `adaptive`: 1, 3 or 5 by the risk of the
    claims (Wang et al. 2023 sample a fixed number; sure claims need fewer)."""

    logic: Literal["off", "recompute", "full"] = "recompute"
    """How the output's own logic is audited (docs/concepts.md#categories): `recompute` recalculates its sums, units,
    dates and orders, without the network; `full` also tests whether stated conclusions follow and whether statements
    contradict each other. A fault sends its claim back to the author, whatever the evidence says."""
    abstention: Abstaining | None = None
    """When an answer that the gate would emit is withheld or given with a caveat; none leaves the decision to the gate.
    `assay calibrate` writes it."""
    screen: ScreenPolicy | None = None
    """Which passages may be evidence (docs/screen.md). With this block, generation and checks use only the passages
    that the retrieval gate keeps; none means that all given passages are used."""

    route_by_table: bool = False
    """Whether the routing table (docs/concepts.md#routing-table) decides in the bands below `emit_threshold`."""
    factscore_threshold: Probability = 0.8
    """Under the table only: the FACTScore below which an answer is served with disclosure at best."""

    overlays: tuple[str, ...] = ()
    """The overlays that the server applied, such as `tighter_thresholds` (docs/monitoring.md#the-error-budget). Every
    report lists them; their effect is in the other settings."""

    external: ExternalChecks = ExternalChecks()
    """How claims are verified against knowledge outside the evidence, where sources are configured."""

    severity: SeverityWeights = SeverityWeights()
    """Weights and levels of severity."""
    escalate_critical_severity: bool = False
    """Whether a claim of critical severity brings in a person (docs/concepts.md#severity)."""
    metric_weights: MetricWeights = MetricWeights()
    """Weights of the composite hallucination score."""
    escalation: Escalation = Escalation()
    """When a person decides because the stakes are high for the confidence in the output."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for message, fields in self._contradictions():
            raise contradiction(message, fields)
        return self

    def _contradictions(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        emit, revise, block = self.emit_threshold, self.revise_threshold, self.block_threshold
        if emit < revise:
            yield (
                f"emit_threshold must be at least revise_threshold, got {emit:g} and {revise:g}",
                ("emit_threshold", "revise_threshold"),
            )
        if revise < block:
            yield (
                f"revise_threshold must be at least block_threshold, got {revise:g} and {block:g}",
                ("revise_threshold", "block_threshold"),
            )
        if self.support_threshold > emit and self.aggregation != "joint":
            # Under `joint` every claim has to be supported in addition, and all together are less likely than each one.
            yield (
                f"support_threshold must be at most emit_threshold, got {self.support_threshold:g} and {emit:g}",
                ("support_threshold", "emit_threshold"),
            )
        if self.warn_rate > self.fail_rate:
            yield (
                f"warn_rate must be at most fail_rate, got {self.warn_rate:g} and {self.fail_rate:g}",
                ("warn_rate", "fail_rate"),
            )
        if self.groundedness and emit == 0:
            yield (
                (
                    "emit_threshold must be above 0 while groundedness is on: at 0 every output would pass; "
                    "write `groundedness: false` if that is meant"
                ),
                ("emit_threshold", "groundedness"),
            )

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical JSON of `content`: sorted keys, no white space, UTF-8."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def content(self) -> dict[str, Any]:
        """All fields as JSON values, as they are digested and stored.

        `screen` and `overlays` are omitted where they are empty, so that policies without them keep the digests that
        they had before these fields existed.
        """
        absent = {name for name in ("screen", "overlays") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude=absent or None)


def validated(policy: Policy) -> Policy:
    """The policy, validated again.

    Raises:
        PolicyError: it was made in a way that skips validation, and is not valid.
    """
    try:
        return type(policy).model_validate(policy.model_dump())
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PolicyError(f"the policy {policy.name!r} does not hold together: {found}") from error


def contradiction(message: str, fields: tuple[str, ...]) -> PydanticCustomError:
    """An error about inconsistent settings; it names them, so that a parser of policy files can point at the place."""
    return PydanticCustomError("contradiction", "{reason}", {"reason": message, "fields": list(fields)})
