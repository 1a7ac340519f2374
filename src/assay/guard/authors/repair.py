"""Repair through the guard: only failed sentences change, and every version is checked again.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from assay.errors import InputError
from assay.guard.authors.json_repair import repaired_document, with_document_repair
from assay.guard.check.chat_budget import asking, needs_model, wants_model
from assay.guard.check.pipeline import check_one
from assay.guard.options import AskedCheckOptions, RepairOptions
from assay.guard.parts import GuardParts, HasParts
from assay.guard.request import CheckRequest, EvidenceLike
from assay.policy import with_escalation
from assay.rewrite.revise import arevise, removal, revise, with_removal
from assay.schema import Action, HallucinationReport, coerce_evidence

if TYPE_CHECKING:  # loaded with the first repair
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.revise import Writer


@dataclass(frozen=True, slots=True)
class _Repair:
    """A repair that is ready to start."""

    parts: GuardParts
    request: CheckRequest
    """The check of the answer as it was given; the checks of its versions differ in the text."""
    model: ChatModel | None
    author: Writer
    name: str
    meter: Meter | None
    attempts: int
    remove: bool

    def check_original(self) -> HallucinationReport:
        """The check of the answer as it was given."""
        return self._checked(self.request.answer, 0)

    def check_version(self, text: str, more: int) -> HallucinationReport:
        """The check of a version after a number of failed ones."""
        return self._checked(text, more)

    def check_final(self, text: str) -> HallucinationReport:
        """The check of the final version, with every question to a model that the policy requires."""
        return check_one(replace(self.request, answer=text), asking(self.parts, self.model))

    def check_repaired(self, text: str) -> HallucinationReport:
        """The check of a document whose JSON was repaired, which does not count as a version."""
        return self._checked(text, 0)

    def _checked(self, text: str | bytes, more: int) -> HallucinationReport:
        failed = self.request.revisions_failed + more
        return check_one(
            replace(self.request, answer=text, revisions_failed=failed, asks=False, later=True), self.parts
        )


def repair(
    self: HasParts,
    answer: str | bytes,
    evidence: EvidenceLike = None,
    *,
    question: str | None = None,
    llm: ChatModel | None = None,
    attempts: int | None = None,
    remove: bool = False,
    evidence_tokens: int = 4_000,
    max_tokens: int = 1_024,
    temperature: float = 0.0,
    budget: Budget | None = None,
    **options: Unpack[AskedCheckOptions],
) -> HallucinationReport:
    """Check an answer, and have its failing sentences corrected until it passes or does not improve.

    A chat model is asked for replacements of the failed sentences only, with the reasons and the passages; passed
    sentences stay unchanged. Each version is checked again and dropped if it is no better than the one before. Without
    a model the evidence's own values replace wrong ones where the exact tier found them (`claims[].suggestions`). With
    a `schema`, obvious defects of a JSON document (a comma, a quotation mark, a fence) are repaired first, without
    changing its values.

    Args:
        answer: the output.
        evidence: as in `check`.
        question: the question that the output answers.
        llm: the model; that of the guard by default. Without either, corrections come from the evidence alone.
        attempts: the most versions to ask for; the policy's `max_revisions` by default.
        remove: whether sentences that still fail in the end are removed if the rest passes without them.
        evidence_tokens: the estimated tokens of evidence that the model is shown.
        max_tokens: the most tokens of one of its answers.
        temperature: the temperature of the requests.
        budget: what all requests together may cost; when it is used up, the best version so far is kept.
        options: further options of `check`.

    Returns:
        The report of the best version: `output` is its text, `revision` records the changes, the attempts and whether
        it converged, `spending` the cost. What still fails is never emitted.

    Raises:
        InputError: an argument cannot be read.
    """
    plan = _repair_of(
        self._parts,
        answer,
        evidence,
        llm=llm,
        attempts=attempts,
        remove=remove,
        evidence_tokens=evidence_tokens,
        max_tokens=max_tokens,
        temperature=temperature,
        budget=budget,
        question=question,
        **options,
    )
    original = plan.check_original()
    document = repaired_document(original, plan.check_repaired)
    report = revise(original if document is None else document.report, plan.author, plan.check_version, plan.attempts)
    if plan.remove and _may_remove(report):
        report = _removed(report, plan)
    return with_document_repair(_repaired(report, plan), document)


async def arepair(
    self: HasParts, answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[RepairOptions]
) -> HallucinationReport:
    """As `repair`, with the model awaited and the checks off the event loop: the same options, the same report."""
    import asyncio

    plan = _repair_of(self._parts, answer, evidence, **options)
    original = await asyncio.to_thread(plan.check_original)
    document = await asyncio.to_thread(repaired_document, original, plan.check_repaired)
    base = original if document is None else document.report
    report = await arevise(base, plan.author.awrite, plan.check_version, plan.attempts)
    if plan.remove and _may_remove(report):
        report = await asyncio.to_thread(_removed, report, plan)
    return with_document_repair(await asyncio.to_thread(_repaired, report, plan), document)


def _repair_of(
    parts: GuardParts,
    answer: str | bytes,
    evidence: EvidenceLike,
    *,
    question: str | None = None,
    llm: ChatModel | None = None,
    attempts: int | None = None,
    remove: bool = False,
    evidence_tokens: int = 4_000,
    max_tokens: int = 1_024,
    temperature: float = 0.0,
    budget: Budget | None = None,
    **options: Unpack[AskedCheckOptions],
) -> _Repair:
    from assay.models.chat import Meter, price_of
    from assay.rewrite.revise import EVIDENCE, EvidenceAuthor, ModelAuthor
    from assay.rewrite.revise import RepairOptions as HowToAsk

    items = coerce_evidence(tuple(evidence) if isinstance(evidence, Iterator) else evidence)
    model = llm or parts.llm
    settings = HowToAsk(evidence_tokens=evidence_tokens, max_tokens=max_tokens, temperature=temperature)
    meter = None if model is None else Meter(model, budget, price_of(model))
    most = parts.policy.max_revisions if attempts is None else attempts
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise InputError(f"attempts is a whole number from 0 up, got {attempts!r}")
    author: Writer = EvidenceAuthor() if meter is None else ModelAuthor(meter.asking("repair"), items, settings)
    return _Repair(
        parts,
        CheckRequest(answer, items, question, **options),
        model,
        author,
        EVIDENCE if model is None else model.name,
        meter,
        most,
        remove,
    )


def _repaired(report: HallucinationReport, plan: _Repair) -> HallucinationReport:
    """The final report with author and cost; a version that passes gets the remaining checks of the policy."""
    revision = report.revision
    policy = plan.parts.policy
    asks_model = needs_model(policy) or (plan.parts.llm is not None and wants_model(policy))
    if report.action is Action.EMIT and asks_model:
        report = plan.check_final(report.output)
    spent = plan.meter.spending if plan.meter is not None else ()
    if revision is not None and revision.attempts:
        revision = revision.model_copy(update={"author": plan.name, "prompts": plan.author.prompts})
    if revision is not None and report.action is not Action.EMIT and revision.converged:
        # The final check, with a model, found what the earlier ones could not find.
        revision = revision.model_copy(update={"stopped": "no_improvement", "escalation_required": True})
    final = report.model_copy(update={"revision": revision, "spending": (*spent, *report.spending)})
    return with_escalation(policy, final)


def _may_remove(report: HallucinationReport) -> bool:
    """Whether there may be failing sentences to remove."""
    return report.action is not Action.EMIT and bool(report.output.strip())


def _removed(report: HallucinationReport, plan: _Repair) -> HallucinationReport:
    from assay.rewrite.answers import ABSTENTION

    text = removal(report, ABSTENTION)
    return report if text == report.output.strip() else with_removal(report, plan.check_version(text, 0))
