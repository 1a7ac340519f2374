"""Generating through the guard: a model answers from evidence, and what comes out has passed every check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal

from assay.errors import InputError
from assay.guard.check.chat_budget import needs_model, wants_model
from assay.guard.conflicts.superseded_sources import superseded
from assay.guard.request import EvidenceLike, read_day
from assay.policy import Policy
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
    from assay.knowledge import KnowledgeBase
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.answers import ChainOptions, Check, Hands, PromptContext, Steps, Treatment


_HOW: Final = ("ungrounded", "attempts", "samples", "evidence_tokens", "max_tokens", "temperature")
"""The options that are those of the generation; the others are those of the check."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A generation that can begin."""

    steps: Steps[HallucinationReport]
    hands: Hands
    meter: Meter
    last: Callable[[HallucinationReport], HallucinationReport]
    """What passes goes through everything that the policy has a model asked for: once, and not for every attempt."""


class Generating:
    """The part of a guard that has answers generated; it needs what the guard has."""

    _llm: ChatModel | None
    _knowledge: KnowledgeBase | None
    _policy: Policy

    check: Callable[..., HallucinationReport]
    _check_before: Callable[..., HallucinationReport]
    _asking: Callable[[ChatModel | None], Any]
    _screen_by_policy: Callable[..., Screening | None]
    judge_claims: Callable[..., list[ClaimReport]]

    def generate(
        self,
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
        **options: Any,
    ) -> HallucinationReport:
        """Have a question answered from evidence, with citations, and hold the answer to it.

        See docs/concepts.md#grounded-generation.

        Args:
            question: what is to be answered.
            evidence: as in `check`. Ids that cannot stand in brackets, such as those with spaces, are changed.
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

        prepared = self._prepared(
            question, evidence, llm=llm, ungrounded=ungrounded, attempts=attempts, samples=samples, chain=chain,
            budget=budget,
            evidence_tokens=evidence_tokens, max_tokens=max_tokens, temperature=temperature, **options,
        )  # fmt: skip
        return prepared.last(_with_cost(drive(prepared.steps, prepared.hands), prepared.meter))

    async def agenerate(self, question: str, evidence: EvidenceLike = None, **options: Any) -> HallucinationReport:
        """As `generate`, with the model awaited and the checks off the event loop: the same options and result."""
        import asyncio

        from assay.rewrite.answers import adrive

        prepared = await asyncio.to_thread(self._prepared, question, evidence, **options)
        made = _with_cost(await adrive(prepared.steps, prepared.hands), prepared.meter)
        return await asyncio.to_thread(prepared.last, made)

    def _prepared(
        self,
        question: str,
        evidence: EvidenceLike,
        *,
        llm: ChatModel | None = None,
        chain: ChainOptions | bool = False,
        budget: Budget | None = None,
        **options: Any,
    ) -> _Prepared:
        from assay.models.chat import Meter, joined, price_of
        from assay.rewrite.answers import ChainOptions, GroundedOptions, Hands, choose_evidence, grounded_steps

        model = llm or self._llm
        if model is None:
            raise InputError(
                "a model is needed to generate: give the guard one, or the call, with llm=assay.Chat(NAME)"
            )
        asked = coerce_text(question, "question")
        if not asked.strip():
            raise InputError("a question must ask something; got a blank text")
        chained = ChainOptions() if chain is True else chain or None
        how = {name: options.pop(name) for name in _HOW if name in options}
        # Only a policy that decides whether to answer has a use for log-probabilities, and not every endpoint has any.
        settings = GroundedOptions(chain=chained, logprobs=self._policy.abstention is not None, **how)
        items, screening = self._screened_for(asked, evidence, options.get("as_of"))
        context = choose_evidence(
            items if screening is None else self._usable(screening), asked, settings.evidence_tokens, settings.attention
        )
        context = self._with_standing(context, asked, options.get("as_of"), screening)
        meter = Meter(model, budget, price_of(model))

        asks = options.pop("asks", True)

        sure: dict[str, float | None] = {}

        def check(step: Check) -> HallucinationReport:
            sure[step.text] = step.entropy
            return self._check_before(step.text, items, question=asked, entropy=step.entropy, looks_up=False, **options)

        def last(report: HallucinationReport) -> HallucinationReport:
            wanted = needs_model(self._policy) or (asks and self._llm is not None and wants_model(self._policy))
            wanted = wanted or (asks and self._knowledge is not None)
            if report.action is not Action.EMIT or not wanted:
                return report
            found: HallucinationReport = self._asking(model).check(
                report.output, items, question=asked, asks=asks, entropy=sure.get(report.output), **options
            )
            cost = (*report.spending, *found.spending)
            made: HallucinationReport = found.model_copy(update={"generation": report.generation, "spending": cost})
            return made.taped(joined(report.tape, found.tape))

        def judge(rows: Sequence[Any]) -> list[ClaimReport]:
            return self.judge_claims(rows)

        steps = grounded_steps(asked, context, settings, model.name)
        return _Prepared(steps, Hands(meter, check, judge), meter, last)

    def _screened_for(
        self, question: str, evidence: EvidenceLike, as_of: date | str | None
    ) -> tuple[tuple[Evidence, ...], Screening | None]:
        """The evidence with ids that can be cited, and what the retrieval gate says of it where the policy has one."""
        from assay.rewrite.answers import citable

        if self._policy.screen is None:
            return citable(coerce_evidence(evidence)), None
        from assay.retrieve import read_passages

        items = citable([one.item for one in read_passages(evidence)])
        return items, self._screen_by_policy(question, read_passages(items), as_of)

    def _usable(self, screening: Screening) -> tuple[Evidence, ...]:
        """What a model is shown of screened passages: none where the policy has the gate's reservation refuse."""
        refuses = self._policy.screen is not None and self._policy.screen.low_confidence == "refuse"
        return () if refuses and screening.signal is Signal.LOW_CONFIDENCE else screening.evidence

    def _with_standing(
        self, context: PromptContext, question: str, as_of: date | str | None, screening: Screening | None = None
    ) -> PromptContext:
        """The context in which the model is told which passages contradict each other, and which are out of use.

        What each source says of the question is checked against the others as an answer would be. Conflicts are flagged
        in the prompt, so that the model does not resolve them silently (docs/concepts.md#routing-table).
        """
        from assay.rewrite.answers import statements_on, with_standing

        items = [passage.evidence for passage in context.passages]
        if screening is not None:
            known = [
                ((one.first, one.first_text), (one.second, one.second_text)) for one in screening.conflicts
            ]  # fmt: skip
            old = {one.id: "" for one in screening.passages if one.standing is not Standing.IN_FORCE}
            return with_standing(context, known, old)
        given_way = superseded(items, read_day(as_of))
        holding = [item for item in items if item.id not in given_way]
        said = statements_on(question, holding) if len(holding) > 1 else ()
        found = self._check_before("\n\n".join(said), holding, looks_up=False).retrieval.conflicts if said else ()
        pairs = [
            ((one.supporting.evidence_id, one.supporting.text), (one.contradicting.evidence_id, one.contradicting.text))
            for one in found
        ]
        return with_standing(context, pairs, {old: one.to or "" for old, one in given_way.items()})


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
