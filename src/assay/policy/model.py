"""The policy: every threshold, weight and switch of the gate as one frozen value."""

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
"""How far from 1 the sum of weights may lie: room for decimal fractions such as three times 0.3333333."""


class SeverityWeights(Value):
    """The weights and levels of sev(c) = alpha * propagation + beta * undetectability + gamma * consequence.

    Source: docs/concepts.md#severity. A level begins above its threshold, never at it.
    """

    alpha: Weight = 0.3
    """Weight of the risk that the claim is passed on. In [0, 1]; the three weights sum to 1."""
    beta: Weight = 0.3
    """Weight of how hard the error is to notice. In [0, 1]."""
    gamma: Weight = 0.4
    """Weight of what the error would cost. In [0, 1]."""
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
    number. Each is in [0, 1] and they sum to 1.
    """

    faithfulness: Weight = 0.4
    """w_F: how strongly the evidence entails the claims."""
    attribution_precision: Weight = 0.2
    """w_A: how many citations hold."""
    groundedness: Weight = 0.3
    """w_G: how many claims are grounded."""
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
        """The weights by the names that the metrics have in a report."""
        return {
            "faithfulness": self.faithfulness,
            "attribution_precision": self.attribution_precision,
            "groundedness": self.groundedness,
            "self_consistency": self.self_consistency,
        }


class Escalation(Value):
    """When a person decides: stakes * (1 - confidence) > threshold (docs/concepts.md#escalation)."""

    enabled: bool = True
    """Whether the formula is used at all. Off: only the other switches of the policy lead to a person."""
    threshold: Probability = 0.5
    """theta_esc of the formula, in [0, 1]; smaller asks people more often."""
    low: Probability = 0.25
    """What `low` stakes count in the formula, in [0, 1]."""
    medium: Probability = 0.5
    """What `medium` stakes count."""
    high: Probability = 1.0
    """What `high` stakes count."""

    sync_threshold: Probability = 0.6
    """theta_2: the risk above which somebody has to look within minutes. Below `threshold` it counts as that."""
    blocking_threshold: Probability = 0.8
    """theta_3: the risk above which senior people have to look at once. At least `sync_threshold`."""
    async_minutes: Minutes = 240.0
    """How long a review of the tier `async` may take: hours."""
    sync_minutes: Minutes = 15.0
    """How long one of the tier `sync` may take: minutes."""
    blocking_minutes: Minutes = 5.0
    """How long one of the tier `blocking` may take."""
    async_overdue: Literal["next_tier", "reject", "wait"] = "next_tier"
    """What happens when nobody has decided by then: it goes up a tier, it is rejected, or it goes on waiting and
    people are reminded. It is never released."""
    sync_overdue: Literal["next_tier", "reject", "wait"] = "next_tier"
    """The same for the tier `sync`."""
    blocking_overdue: Literal["reject", "wait"] = "wait"
    """The same for the tier `blocking`, above which there is none."""
    expertise: str = Field(default="", max_length=100)
    """What a reviewer has to know, such as `tax`; only where there are reviewers who do. Empty: anyone."""
    senior: str = Field(default="senior", max_length=100)
    """What the reviewers of the tier `blocking` have to be, where there are any. Empty: anyone."""

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
        """What the stakes count, in [0, 1]."""
        return {Stakes.LOW: self.low, Stakes.MEDIUM: self.medium, Stakes.HIGH: self.high}[stakes]

    def risk(self, stakes: Stakes, confidence: float) -> float:
        """stakes * (1 - confidence), in [0, 1].

        >>> Escalation().risk(Stakes.HIGH, 0.25)
        0.75
        """
        return self.weight(stakes) * (1 - confidence)


class ExternalChecks(Value):
    """What is asked of knowledge outside of the evidence, where sources are configured (docs/knowledge.md).

    verify_externally(c) <=> verdict(c) = unsupported and sev(c) >= severity and verifiable(c)
    """

    mode: Literal["off", "note", "decide"] = "decide"
    """Whether sources are asked at all, and whether their answers are only reported or decide: what a source of
    enough authority verifies counts as supported, and what it refutes as contradicted."""
    claims: Literal["unsupported", "all"] = "unsupported"
    """Which claims are put to them: those that the evidence does not support, or those that it does besides, so that
    errors of the evidence itself are found."""
    severity: Probability = 0.3
    """theta_sev: the severity that an error in a claim would have, from which on it is asked about. In [0, 1]."""
    confidence: float = Field(default=0.7, ge=0.5, le=1)
    """theta_external: how sure the verifier has to be of what a source says of a claim. In [0.5, 1]."""
    budget_s: float = Field(default=5.0, gt=0, le=600)
    """Seconds that asking may take for one output, whatever the sources do. In (0, 600]."""
    ask_all: bool = False
    """Whether sources below the authority that settled a claim are asked too, to show where they disagree."""


class Policy(Value):
    """Every setting of the gate. Presets are in `assay.policy.presets`; files are read by `parse_policy`."""

    name: str = Field(min_length=1)
    """What the policy is called in reports."""
    description: str = ""
    """What it is for, in a sentence."""

    prior: float | None = Field(default=0.9, gt=0, lt=1)
    """The share of claims that are supported where the policy is used. Scores are calibrated on rows of which fewer
    are; corrected to this share they say how often a claim with such a score is right in use (docs/adr/0030). In
    (0, 1); none leaves them uncorrected."""
    aggregation: Literal["joint", "minimum", "weighted_mean", "unsupported_rate"] = "minimum"
    """How claims become one score: the probability that all of them hold, the worst claim, the mean with critical
    claims weighing `critical_weight`, or one minus the share of claims without support (docs/adr/0030)."""
    independence: float = Field(default=1.0, gt=0, le=1)
    """Under `joint` only: how far the claims of an answer are right or wrong independently of each other. At 1 their
    probabilities are multiplied; below it several weak ones say less than each by itself. In (0, 1]."""
    critical_weight: float = Field(default=2.0, ge=1, le=100)
    """How often a critical claim counts in the weighted mean; other claims count once. In [1, 100]."""

    emit_threshold: Probability = 0.85
    """The overall score from which an output may be emitted (docs/concepts.md#thresholds). In [0, 1], at least
    `revise_threshold`."""
    revise_threshold: Probability = 0.6
    """The score below which a claim goes back to its author (docs/concepts.md#thresholds). In [0, 1], at least
    `block_threshold`."""
    block_threshold: Probability = 0.4
    """The score below which a critical claim withholds the output (docs/concepts.md#thresholds). In [0, 1]."""
    warn_rate: Probability = 0.1
    """Under `unsupported_rate` only: the share of unsupported claims from which an output is not passed
    (docs/concepts.md#unsupported-rate)."""
    fail_rate: Probability = 0.3
    """Under `unsupported_rate` only: the share from which it is withheld. At least `warn_rate`."""

    support_threshold: Probability = 0.85
    """The probability of support from which the verdict of a claim is `supported`. On held-out rows balanced accuracy
    is flat from 0.3 to 0.4 and falls above it (docs/adr/0005-gate.md). At most `emit_threshold`, so that
    a claim without support cannot carry an output over the line."""
    contradiction_threshold: float = Field(default=0.25, gt=0, le=1)
    """The probability of contradiction from which the verdict is `contradicted`, whatever supports it. Above 0: at 0
    everything would be contradicted."""

    windows_per_claim: int | None = Field(default=1, ge=1)
    """How many windows of evidence the network reads for one claim, beside its best sentence and a text assembled from
    the best sentences of all evidence; none reads all of them (docs/adr/0017-what-is-read-for-a-claim.md)."""

    groundedness: bool = True
    """Whether claims must be supported by evidence. Tool calls, structure and emptiness are gated all the same."""
    ungrounded_tasks: tuple[str, ...] = ()
    """Tasks for which groundedness is off although the policy has it on (such as creative or brainstorm)."""
    citations: Literal["off", "verify", "require", "strict"] = "verify"
    """How citations are held to account (docs/concepts.md#citations): `off` (soft: not judged), `verify` (those that
    are there must exist, be quoted rightly and entail what they follow), `require` (besides, every checkable
    claim has one), `strict` (besides, one that fails withholds the output)."""
    failed_citation: Literal["revise", "escalate", "block"] = "revise"
    """What a misquoted, misattributed or non-entailing citation leads to; `strict` blocks whatever stands here. A
    fabricated citation blocks at every level but `off`."""

    critical_action: Literal["revise", "block"] = "block"
    """What a critical claim that is contradicted or below `block_threshold` leads to (docs/concepts.md#thresholds)."""
    weak_action: Literal["revise", "escalate"] = "revise"
    """What a claim between `block_threshold` and `revise_threshold` leads to; `escalate` asks a person."""
    block_on_overall: bool = False
    """Whether an overall score below `block_threshold` withholds the output even if no critical claim is that low."""
    unchecked_action: Literal["revise", "escalate"] = "revise"
    """What text or evidence that nobody checked leads to, and an output without any claim. Never `emit`."""
    max_revisions: int = Field(default=2, ge=0, le=100)
    """How many failed revisions turn a further `revise` into `block` (docs/concepts.md#thresholds)."""

    claim_free_may_emit: bool = True
    """Whether an output without claims may be emitted when the caller declared it to be claim-free."""
    abstention_may_emit: bool = True
    """Whether an output that says nothing but that it has no answer, greetings aside, may be emitted."""
    require_relevant_evidence: bool = True
    """Whether an output is withheld where no passage, and not the output either, mentions what was asked."""
    judge: Literal["off", "uncertain", "all"] = "off"
    """Which claims a chat model is asked about, where one is at hand (docs/concepts.md#the-judge): none, those of which
    the other tiers are not sure, or all. A claim whose answer cannot be used does not pass."""
    judge_calls: int = Field(default=16, ge=0, le=10_000)
    """How many requests the judge may get for one output; claims beyond them are unchecked. In [0, 10000]."""
    judge_confidence: float = Field(default=0.9, ge=0.5, le=1)
    """How much the word of the judge counts, as a probability: what its verdicts are right in, on rows of yours. It can
    bring no claim over an `emit_threshold` above it. In [0.5, 1]."""
    omissions: Literal["off", "note", "revise"] = "off"
    """What follows if the output leaves out a condition, an exception, a deadline or a limit of the evidence that bears
    on it (docs/concepts.md#omissions): it is not looked for, it is reported, or the output goes back to its author."""
    consistency_probes: bool = False
    """Whether critical claims are to be probed where a chat model is at hand (docs/concepts.md#self-consistency).
    Divergence found is gated either way."""
    probe_samples: Annotated[int, Field(ge=1, le=9)] | Literal["adaptive"] = 3
    """How many answers a probe asks for at first: a number in [1, 9], or `adaptive`: 1, 3 or 5 by the risk of the
    claims (Wang et al. 2023 sample a fixed number; sure claims need fewer)."""

    logic: Literal["off", "recompute", "full"] = "recompute"
    """What is looked at in the output by itself (docs/concepts.md#categories): `recompute` its sums, units, dates and
    orders, without the network; `full` besides whether stated conclusions follow and statements contradict each other.
    A fault sends its claim back to the author, whatever the evidence says."""
    abstention: Abstaining | None = None
    """When an answer is not given, or given with a caveat, though the gate would emit it; none leaves it to the gate.
    `assay calibrate` writes it."""
    screen: ScreenPolicy | None = None
    """Which passages may be evidence (docs/screen.md): with the block what is generated or checked goes by those alone
    that the retrieval gate keeps; none leaves all that is given."""

    route_by_table: bool = False
    """Whether the routing table (docs/concepts.md#routing-table) decides on the bands below `emit_threshold`."""
    factscore_threshold: Probability = 0.8
    """Under the table only: the FACTScore below which an answer is served with disclosure at best."""

    overlays: tuple[str, ...] = ()
    """What was laid over it by the server, such as `tighter_thresholds` (docs/monitoring.md#the-error-budget). It is
    in every report; what it changes is in the other settings."""

    external: ExternalChecks = ExternalChecks()
    """What is asked of knowledge outside of the evidence, where sources are configured."""

    severity: SeverityWeights = SeverityWeights()
    """Weights and levels of severity."""
    escalate_critical_severity: bool = False
    """Whether a claim of critical severity brings in a person (docs/concepts.md#severity)."""
    metric_weights: MetricWeights = MetricWeights()
    """Weights of the composite hallucination score."""
    escalation: Escalation = Escalation()
    """When a person decides because much depends on an output of which little is certain."""

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
            # Under `joint` every claim has to be supported besides, and all of them together are less likely than one.
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
        """All fields in JSON, as they are digested and kept.

        `screen` and `overlays` are left out where there are none, so that policies without them are those that they
        were before.
        """
        absent = {name for name in ("screen", "overlays") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude=absent or None)


def validated(policy: Policy) -> Policy:
    """The policy, checked against its own rules once more.

    Raises:
        PolicyError: it was made in a way that passes pydantic by, and breaks them.
    """
    try:
        return type(policy).model_validate(policy.model_dump())
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PolicyError(f"the policy {policy.name!r} does not hold together: {found}") from error


def contradiction(message: str, fields: tuple[str, ...]) -> PydanticCustomError:
    """An error about settings that do not go together, naming them so that a reader of a file can point at one."""
    return PydanticCustomError("contradiction", "{reason}", {"reason": message, "fields": list(fields)})
