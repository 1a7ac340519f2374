"""What one check asks a chat model for, and the account of it: every check has its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.guard.check.probes import Probing, probing_of
from assay.guard.check.verdicts import Judged
from assay.guard.parts import GuardParts
from assay.models import PairScorer
from assay.policy import Policy, requirements
from assay.schema import Evidence, ExtractedClaim
from assay.verify.consistency import Prober, ProbeRequest

if TYPE_CHECKING:
    from assay.models.chat import Budget, ChatModel, Meter


def wants_model(policy: Policy) -> bool:
    """Whether a policy has a chat model asked where there is one."""
    return policy.consistency_probes or policy.judge != "off"


def needs_model(policy: Policy) -> bool:
    """Whether nothing is emitted under a policy where no chat model was asked."""
    return any(one.mandatory for one in requirements(policy))


def asking(parts: GuardParts, model: ChatModel | None) -> GuardParts:
    """The parts with a model to ask, where they have none and their policy requires one."""
    if parts.llm is not None or model is None or not needs_model(parts.policy):
        return parts
    return replace(parts, llm=model)


def meter_of(llm: ChatModel, budget: Budget | None) -> Meter:
    """An account for one check."""
    from assay.models.chat import Meter, price_of

    return Meter(llm, budget, price_of(llm))


def prober_of(meter: Meter, scorer: PairScorer, policy: Policy) -> Prober:
    """What asks the model again as often as the policy says, at the account's cost; its requests run at one time."""
    from assay.rewrite.probes import ProbeOptions, SamplingProber

    wanted = policy.probe_samples
    options = ProbeOptions(adaptive=True) if wanted == "adaptive" else ProbeOptions(samples=wanted, most=max(5, wanted))
    return SamplingProber(meter.asking("probe"), scorer, options)


def probe(
    prober: Prober,
    claims: Sequence[tuple[ExtractedClaim, Judged]],
    answer: str,
    question: str | None,
    evidence: Sequence[Evidence],
) -> Probing:
    """Ask again about the critical claims of an answer.

    Args:
        prober: what asks.
        claims: every checkable claim with what was found of it.
        answer: the text that they are in.
        question: what it answers.
        evidence: what it was checked against.
    """
    return probing_of(claims, prober, ProbeRequest((), answer, question, tuple(evidence)))
