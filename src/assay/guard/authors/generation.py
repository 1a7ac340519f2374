"""Generating through the guard: a model answers from evidence, and what comes out has passed every check.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay.errors import InputError
from assay.guard.check.chat_budget import asking, needs_model, wants_model
from assay.guard.check.pipeline import check_one
from assay.guard.check.single_claims import judge_single_claims
from assay.guard.check.tiers import tiers_of
from assay.guard.conflicts.superseded_sources import superseded
from assay.guard.options import GenerateOptions, GenerationCheckOptions
from assay.guard.parts import Assembled, GuardParts
from assay.guard.request import CheckRequest, EvidenceLike, read_day
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
    coerce_text,
)

if TYPE_CHECKING:  # loaded with the first answer that is generated
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.answers import ChainOptions, Check, PromptContext, StepHandlers, Steps, Treatment


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A generation that can begin."""

    steps: Steps[HallucinationReport]
    hands: StepHandlers
    meter: Meter
    last: Callable[[HallucinationReport], HallucinationReport]
    """What passes goes through everything that the policy has a model asked for: once, and not for every attempt."""


def generate(
    self: Assembled,
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
    """Have a question answered from evidence, with citations, and hold the answer to it.

    See docs/concepts.md#grounded-generation.

    Args:
        question: what is to be answered.
        evidence: as in `check`. Ids that cannot be in brackets, such as those with spaces, are changed.
        llm: the model; that of the guard by default.
        ungrounded: what becomes of statements that the evidence does not support: `regenerate` asks the model
            again under stricter rules and removes what still fails, `remove` takes them out, `flag` marks them
            and leaves the decision to the gate.
        attempts: further answers that are asked for at most.
        samples: how many answers are asked for at a time, of which what most say is kept; `adaptive` asks for 1, 3
            or 5 by the risk of the first.
        chain: whether claims are verified by independent questions, or how; see
            docs/concepts.md#chain-of-verification.
        evidence_tokens: tokens of evidence that the model is shown, as estimated; the most relevant first. The
            check reads all of it in any case.
        max_tokens: tokens of one answer.
        temperature: of the answers.
        budget: what all of it may cost.
        options: the others of `check`.

    Returns:
        The report of the answer: `output` is its text, `action` what the gate says of it, `generation` how it
        came about, `spending` what it cost. Where nothing can be said from the evidence the output says so.

    Raises:
        InputError: something given cannot be read, or there is no model.
        ChatError: the model could not be asked; what an answer in hand would have needed is done without it.
        AnswerError: nothing that the model said could be read.
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
    return prepared.last(_with_cost(drive(prepared.steps, prepared.hands), prepared.meter))


async def agenerate(
    self: Assembled, question: str, evidence: EvidenceLike = None, **options: Unpack[GenerateOptions]
) -> HallucinationReport:
    """As `generate`, with the model awaited and the checks off the event loop: the same options and result."""
    import asyncio

    from assay.rewrite.answers import adrive

    prepared = await asyncio.to_thread(_prepared, self._parts, question, evidence, **options)
    made = _with_cost(await adrive(prepared.steps, prepared.hands), prepared.meter)
    return await asyncio.to_thread(prepared.last, made)


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

    model = llm or parts.llm
    if model is None:
        raise InputError("a model is needed to generate: give the guard one, or the call, with llm=assay.Chat(NAME)")
    asked = coerce_text(question, "question")
    if not asked.strip():
        raise InputError("a question must ask something; got a blank text")
    settings = GroundedOptions(
        ungrounded=ungrounded,
        attempts=attempts,
        samples=samples,
        evidence_tokens=evidence_tokens,
        max_tokens=max_tokens,
        temperature=temperature,
        chain=ChainOptions() if chain is True else chain or None,
        # Only a policy that decides whether to answer has a use for log-probabilities; not every endpoint has any.
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
    return _Prepared(steps, StepHandlers(meter, checks.version, checks.claims), meter, checks.last)


class _Checks:
    """How the versions of one answer are checked."""

    def __init__(self, parts: GuardParts, model: ChatModel, request: CheckRequest) -> None:
        """Check with these parts; the request has everything but the text."""
        self._parts, self._model, self._request = parts, model, request
        self._entropy: dict[str, float | None] = {}

    def version(self, step: Check) -> HallucinationReport:
        """The check of one version, with which no chat model and no source of knowledge is asked."""
        self._entropy[step.text] = step.entropy
        request = replace(self._request, answer=step.text, entropy=step.entropy, asks=False, later=True, looks_up=False)
        return check_one(request, self._parts)

    def claims(self, rows: Sequence[Any]) -> list[ClaimReport]:
        """The judgement of single claims."""
        return judge_single_claims(rows, tiers_of(self._parts), self._parts.policy)

    def last(self, report: HallucinationReport) -> HallucinationReport:
        """What passes, with everything that the policy has asked: once, and not for every version."""
        parts, asks = self._parts, self._request.asks
        wanted = needs_model(parts.policy) or (asks and parts.llm is not None and wants_model(parts.policy))
        if report.action is not Action.EMIT or not (wanted or (asks and parts.knowledge is not None)):
            return report
        from assay.models.chat import joined

        request = replace(self._request, answer=report.output, entropy=self._entropy.get(report.output))
        found = check_one(request, asking(parts, self._model))
        cost = (*report.spending, *found.spending)
        made = found.model_copy(update={"generation": report.generation, "spending": cost})
        return made.taped(joined(report.tape, found.tape))


def _screened_for(
    parts: GuardParts, question: str, evidence: EvidenceLike, as_of: date | str | None
) -> tuple[tuple[Evidence, ...], Screening | None]:
    """The evidence with ids that can be cited, and what the retrieval gate says of it where the policy has one."""
    from assay.rewrite.answers import citable

    if parts.policy.screen is None:
        return citable(coerce_evidence(evidence)), None
    from assay.retrieve import read_passages

    items = citable([one.item for one in read_passages(evidence)])
    screener = screener_of(parts, tiers_of(parts))
    return items, screener.by_policy(question, read_passages(items), as_of)


def _usable(parts: GuardParts, screening: Screening) -> tuple[Evidence, ...]:
    """What a model is shown of screened passages: none where the policy has the gate's reservation refuse."""
    refuses = parts.policy.screen is not None and parts.policy.screen.low_confidence == "refuse"
    return () if refuses and screening.signal is Signal.LOW_CONFIDENCE else screening.evidence


def _with_source_status(
    parts: GuardParts,
    context: PromptContext,
    question: str,
    as_of: date | str | None,
    screening: Screening | None = None,
) -> PromptContext:
    """The context in which the model is told which passages contradict each other, and which are out of use.

    What each source says of the question is checked against the others as an answer would be. Conflicts are flagged
    in the prompt, so that the model does not resolve them silently (docs/concepts.md#routing-table).
    """
    from assay.rewrite.answers import statements_on, with_source_status

    items = [passage.evidence for passage in context.passages]
    if screening is not None:
        known = [((one.first, one.first_text), (one.second, one.second_text)) for one in screening.conflicts]
        old = {one.id: "" for one in screening.passages if one.standing is not Standing.IN_FORCE}
        return with_source_status(context, known, old)
    given_way = superseded(items, read_day(as_of))
    holding = [item for item in items if item.id not in given_way]
    said = statements_on(question, holding) if len(holding) > 1 else ()
    compared = CheckRequest("\n\n".join(said), holding, asks=False, later=True, looks_up=False)
    found = check_one(compared, parts).retrieval.conflicts if said else ()
    pairs = [
        ((one.supporting.evidence_id, one.supporting.text), (one.contradicting.evidence_id, one.contradicting.text))
        for one in found
    ]
    return with_source_status(context, pairs, {old: one.to or "" for old, one in given_way.items()})


def _with_cost(report: HallucinationReport, meter: Meter) -> HallucinationReport:
    """The report with what was spent, and what that is to a plain answer."""
    from assay.models.chat import with_knowledge

    spending = meter.spending
    drafted = sum(one.prompt_tokens + one.completion_tokens for one in spending if one.purpose == "draft")
    total = sum(one.prompt_tokens + one.completion_tokens for one in spending)
    made = report.generation
    if made is not None and drafted and not any(one.from_cache for one in spending):
        made = made.model_copy(update={"relative_cost": total / drafted})
    knowledge = None if report.tape is None else report.tape.get("knowledge")
    made_report = report.model_copy(update={"generation": made, "spending": spending})
    return made_report.taped(with_knowledge(meter.recorded(), knowledge))
