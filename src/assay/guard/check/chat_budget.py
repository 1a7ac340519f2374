"""The questions of a check to a chat model, and their cost: every check has an account of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import InputError
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
    """Whether a policy has a chat model asked where one is available."""
    return policy.consistency_probes or policy.judge != "off"


def needs_model(policy: Policy) -> bool:
    """Whether a policy emits nothing without having asked a chat model."""
    return any(one.mandatory for one in requirements(policy))


def asking(parts: GuardParts, model: ChatModel | None) -> GuardParts:
    """The parts with a chat model, which is added if they have none and their policy requires one."""
    if parts.llm is not None or model is None or not needs_model(parts.policy):
        return parts
    return replace(parts, llm=model)


def generating_model(parts: GuardParts, llm: ChatModel | None) -> ChatModel:
    """The model that generates: the one of the call, or else the guard's.

    Raises:
        InputError: there is neither.
    """
    model = llm or parts.llm
    if model is None:
        raise InputError("a model is needed to generate: give the guard one, or the call, with llm=assay.Chat(NAME)")
    return model


def meter_of(llm: ChatModel, budget: Budget | None) -> Meter:
    """The account of one check."""
    from assay.models.chat import Meter, price_of

    return Meter(llm, budget, price_of(llm))


def prober_of(meter: Meter, scorer: PairScorer, policy: Policy) -> Prober:
    """A prober that asks the model as often as the policy says; its cost goes to the account."""
    from assay.rewrite.probes import ProbeOptions, SamplingProber

    samples = policy.probe_samples
    if samples == "adaptive":
        options = ProbeOptions(adaptive=True)
    else:
        options = ProbeOptions(samples=samples, most=max(5, samples))
    return SamplingProber(meter.asking("probe"), scorer, options)


def probe(
    prober: Prober,
    claims: Sequence[tuple[ExtractedClaim, Judged]],
    answer: str,
    question: str | None,
    evidence: Sequence[Evidence],
) -> Probing:
    """Probes the critical claims of an answer.

    Args:
        prober: asks the model.
        claims: every checkable claim with its judgement.
        answer: the text that contains them.
        question: the question that it answers.
        evidence: the evidence that it was checked against.
    """
    return probing_of(claims, prober, ProbeRequest((), answer, question, tuple(evidence)))
