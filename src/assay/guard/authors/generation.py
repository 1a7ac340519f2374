"""Generating answers through the guard: a model answers from evidence, and the answer passes every check.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay.guard.check.chat_budget import asking, generating_model, needs_model, wants_model
from assay.guard.check.pipeline import check_one
from assay.guard.check.single_claims import judge_single_claims
from assay.guard.check.tiers import tiers_of
from assay.guard.conflicts.superseded_sources import superseded
from assay.guard.options import GenerateOptions, GenerationCheckOptions
from assay.guard.parts import GuardParts, HasParts
from assay.guard.request import CheckRequest, EvidenceLike, read_day, read_question
from assay.guard.screening import screener_of
from assay.schema import (
    Action,
    ClaimReport,
    Evidence,
    HallucinationReport,
    Screening,
    Signal,
    Standing,
    coerce_evidence,
)

if TYPE_CHECKING:  # loaded with the first answer that is generated
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.answers import ChainOptions, Check, PromptContext, StepHandlers, Steps, Treatment


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A generation that is ready to start."""

    steps: Steps[HallucinationReport]
    hands: StepHandlers
    meter: Meter
    final_check: Callable[[HallucinationReport], HallucinationReport]
    """The check of the final answer with every question to a model that the policy requires, made once and not for each
    attempt."""


def generate(
    self: HasParts,
    question: str,
    evidence: EvidenceLike = None,
    *,
    llm: ChatModel | None = None,
    ungrounded: Treatment = "regenerate",
    attempts: int = 2,
    samples: int | Literal["adaptive"] = 1,
    chain: ChainOptions | bool = False,
    evidence_tokens: int = 6_000,
    max_tokens: int = 1_024,
    temperature: float = 0.0,
    budget: Budget | None = None,
    **options: Unpack[GenerationCheckOptions],
) -> HallucinationReport:
    """Have a question answered from evidence, with citations, and check the answer against the evidence.

    See docs/concepts.md#grounded-generation.

    Args:
        question: the question to answer.
        evidence: as in `check`. Ids that cannot be written in brackets, such as those with spaces, are changed.
        llm: the model; that of the guard by default.
        ungrounded: how statements that the evidence does not support are treated: `regenerate` asks the model again
            under stricter rules and removes what still fails, `remove` removes them at once, `flag` marks them and
            leaves the decision to the gate.
        attempts: the most further answers to ask for.
        samples: how many answers are requested at a time, of which the statements that most of them make are kept;
            `adaptive` asks for 1, 3 or 5 by the risk of the first.
        chain: whether, or how, claims are verified by independent questions; see
            docs/concepts.md#chain-of-verification.
        evidence_tokens: the estimated tokens of evidence that the model is shown, the most relevant first. The check
            reads all of the evidence in any case.
        max_tokens: the most tokens of one answer.
        temperature: the temperature of the requests.
        budget: what all requests together may cost.
        options: further options of `check`.

    Returns:
        The report of the answer: `output` is its text, `action` the gate's decision, `generation` the record of its
        generation, `spending` the cost. Where the evidence gives no answer, the output says so.

    Raises:
        InputError: an argument cannot be read, or there is no model.
        ChatError: the model could not be asked for a first answer; later failures end the generation early.
        AnswerError: none of the model's answers could be read.
    """
    from assay.rewrite.answers import drive

    prepared = _prepared(
        self._parts,
        question,
        evidence,
        llm=llm,
        ungrounded=ungrounded,
        attempts=attempts,
        samples=samples,
        chain=chain,
        budget=budget,
        evidence_tokens=evidence_tokens,
        max_tokens=max_tokens,
        temperature=temperature,
        **options,
    )
    return prepared.final_check(_with_cost(drive(prepared.steps, prepared.hands), prepared.meter))


async def agenerate(
    self: HasParts, question: str, evidence: EvidenceLike = None, **options: Unpack[GenerateOptions]
) -> HallucinationReport:
    """As `generate`, with the model awaited and the checks off the event loop: the same options and result."""
    import asyncio

    from assay.rewrite.answers import adrive

    prepared = await asyncio.to_thread(_prepared, self._parts, question, evidence, **options)
    made = _with_cost(await adrive(prepared.steps, prepared.hands), prepared.meter)
    return await asyncio.to_thread(prepared.final_check, made)


def _prepared(
    parts: GuardParts,
    question: str,
    evidence: EvidenceLike,
    *,
    llm: ChatModel | None = None,
    ungrounded: Treatment = "regenerate",
    attempts: int = 2,
    samples: int | Literal["adaptive"] = 1,
    chain: ChainOptions | bool = False,
    evidence_tokens: int = 6_000,
    max_tokens: int = 1_024,
    temperature: float = 0.0,
    budget: Budget | None = None,
    **options: Unpack[GenerationCheckOptions],
) -> _Prepared:
    from assay.models.chat import Meter, price_of
    from assay.rewrite.answers import ChainOptions, GroundedOptions, StepHandlers, choose_evidence, grounded_steps

    model = generating_model(parts, llm)
    asked = read_question(question)
    settings = GroundedOptions(
        ungrounded=ungrounded,
        attempts=attempts,
        samples=samples,
        evidence_tokens=evidence_tokens,
        max_tokens=max_tokens,
        temperature=temperature,
        chain=ChainOptions() if chain is True else chain or None,
        # Only a policy that decides whether to answer needs log-probabilities, and not every endpoint offers them.
        logprobs=parts.policy.abstention is not None,
    )
    as_of = options.get("as_of")
    items, screening = _screened_for(parts, asked, evidence, as_of)
    shown = items if screening is None else _usable(parts, screening)
    context = choose_evidence(shown, asked, settings.evidence_tokens, settings.attention)
    context = _with_source_status(parts, context, asked, as_of, screening)
    meter = Meter(model, budget, price_of(model))
    checks = _Checks(parts, model, CheckRequest("", items, asked, entropy=None, **options))
    steps = grounded_steps(asked, context, settings, model.name)
    return _Prepared(steps, StepHandlers(meter, checks.check_version, checks.judge_claims), meter, checks.final_check)


class _Checks:
    """The checks of the versions of one answer."""

    def __init__(self, parts: GuardParts, model: ChatModel, request: CheckRequest) -> None:
        """Sets the parts to check with, and a request that lacks only the text."""
        self._parts, self._model, self._request = parts, model, request
        self._entropy: dict[str, float | None] = {}

    def check_version(self, step: Check) -> HallucinationReport:
        """The check of one version, without asking a chat model or a source of knowledge."""
        self._entropy[step.text] = step.entropy
        request = replace(self._request, answer=step.text, entropy=step.entropy, asks=False, later=True, looks_up=False)
        return check_one(request, self._parts)

    def judge_claims(self, rows: Sequence[Any]) -> list[ClaimReport]:
        """The reports of single claims."""
        return judge_single_claims(rows, tiers_of(self._parts), self._parts.policy)

    def final_check(self, report: HallucinationReport) -> HallucinationReport:
        """The final report: an answer that passes is checked again with every question that the policy requires."""
        parts, asks = self._parts, self._request.asks
        asks_model = needs_model(parts.policy) or (asks and parts.llm is not None and wants_model(parts.policy))
        if report.action is not Action.EMIT or not (asks_model or (asks and parts.knowledge is not None)):
            return report
        from assay.models.chat import joined

        request = replace(self._request, answer=report.output, entropy=self._entropy.get(report.output))
        checked = check_one(request, asking(parts, self._model))
        spending = (*report.spending, *checked.spending)
        final = checked.model_copy(update={"generation": report.generation, "spending": spending})
        return final.taped(joined(report.tape, checked.tape))


def _screened_for(
    parts: GuardParts, question: str, evidence: EvidenceLike, as_of: date | str | None
) -> tuple[tuple[Evidence, ...], Screening | None]:
    """The evidence with ids that can be cited, and its screening where the policy has a retrieval gate."""
    from assay.rewrite.answers import citable

    if parts.policy.screen is None:
        return citable(coerce_evidence(evidence)), None
    from assay.retrieve import read_passages

    read = read_passages(evidence)
    items = citable([one.item for one in read])
    passages = [replace(one, item=item) for one, item in zip(read, items, strict=True)]
    return items, screener_of(parts, tiers_of(parts)).by_policy(question, passages, as_of)


def _usable(parts: GuardParts, screening: Screening) -> tuple[Evidence, ...]:
    """The screened passages that a model is shown: none where the policy refuses at low confidence."""
    refuses = parts.policy.screen is not None and parts.policy.screen.low_confidence == "refuse"
    return () if refuses and screening.signal is Signal.LOW_CONFIDENCE else screening.evidence


def _with_source_status(
    parts: GuardParts,
    context: PromptContext,
    question: str,
    as_of: date | str | None,
    screening: Screening | None = None,
) -> PromptContext:
    """The context with notes on passages that contradict each other, or that are out of use.

    What each source says about the question is checked against the others as an answer would be. Conflicts are flagged
    in the prompt, so that the model does not resolve them silently (docs/concepts.md#routing-table).
    """
    from assay.rewrite.answers import statements_on, with_source_status

    items = [passage.evidence for passage in context.passages]
    if screening is not None:
        known = [((one.first, one.first_text), (one.second, one.second_text)) for one in screening.conflicts]
        old = {one.id: "" for one in screening.passages if one.standing is not Standing.IN_FORCE}
        return with_source_status(context, known, old)
    out_of_use = superseded(items, read_day(as_of))
    holding = [item for item in items if item.id not in out_of_use]
    statements = statements_on(question, holding) if len(holding) > 1 else ()
    request = CheckRequest("\n\n".join(statements), holding, asks=False, later=True, looks_up=False)
    conflicts = check_one(request, parts).retrieval.conflicts if statements else ()
    pairs = [
        ((one.supporting.evidence_id, one.supporting.text), (one.contradicting.evidence_id, one.contradicting.text))
        for one in conflicts
    ]
    return with_source_status(context, pairs, {old: one.to or "" for old, one in out_of_use.items()})


def _with_cost(report: HallucinationReport, meter: Meter) -> HallucinationReport:
    """The report with the cost, in total and relative to a single plain answer."""
    from assay.models.chat import with_knowledge

    spending = meter.spending
    drafted = sum(one.prompt_tokens + one.completion_tokens for one in spending if one.purpose == "draft")
    total = sum(one.prompt_tokens + one.completion_tokens for one in spending)
    generation = report.generation
    if generation is not None and drafted and not any(one.from_cache for one in spending):
        generation = generation.model_copy(update={"relative_cost": total / drafted})
    knowledge = None if report.tape is None else report.tape.get("knowledge")
    costed = report.model_copy(update={"generation": generation, "spending": spending})
    return costed.taped(with_knowledge(meter.recorded(), knowledge))
