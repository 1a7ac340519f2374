"""Repair through the guard: only failed sentences change, and what comes out was checked again.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from assay.errors import InputError
from assay.guard.authors.json_repair import mend, with_mend
from assay.guard.check.chat_budget import asking, needs_model, wants_model
from assay.guard.check.pipeline import check_one
from assay.guard.options import AskedCheckOptions, RepairOptions
from assay.guard.parts import Assembled, GuardParts
from assay.guard.request import CheckRequest, EvidenceLike
from assay.policy import with_escalation
from assay.rewrite.revise import arevise, removal, revise, with_removal
from assay.schema import Action, HallucinationReport, coerce_evidence

if TYPE_CHECKING:  # loaded with the first repair
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.revise import Writer


@dataclass(frozen=True, slots=True)
class _Repair:
    """A repair that can begin."""

    parts: GuardParts
    request: CheckRequest
    """The check of the answer as it was given; that of every version has another text."""
    model: ChatModel | None
    author: Writer
    name: str
    meter: Meter | None
    attempts: int
    remove: bool

    def first(self) -> HallucinationReport:
        """The check of the answer as it was given."""
        return self._checked(self.request.answer, 0)

    def again(self, text: str, more: int) -> HallucinationReport:
        """The check of a version behind so many others."""
        return self._checked(text, more)

    def last(self, text: str) -> HallucinationReport:
        """As `again`, with everything that the policy has a model asked for."""
        return check_one(replace(self.request, answer=text), asking(self.parts, self.model))

    def mended(self, text: str) -> HallucinationReport:
        """The check of a document that was repaired; that counts as no version."""
        return self._checked(text, 0)

    def _checked(self, text: str | bytes, more: int) -> HallucinationReport:
        failed = self.request.revisions_failed + more
        return check_one(
            replace(self.request, answer=text, revisions_failed=failed, asks=False, later=True), self.parts
        )


def repair(
    self: Assembled,
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
    """Check an answer, and have the sentences that fail corrected until it passes or does not get better.

    A chat model is asked for replacements of the failed sentences alone, with the reasons and the passages; what
    passed stays to the character. Each version is checked again, and one that is no better than the one before is
    dropped. Without a model the evidence's own values take the place of wrong ones where the exact tier found them
    (`claims[].suggestions`), and nobody is asked. With a `schema`, a document that is plainly broken (a comma, a
    quotation mark, a fence) is repaired first, its values untouched.

    Args:
        answer: the output.
        evidence: as in `check`.
        question: what the output answers.
        llm: the model; that of the guard by default, and without either the evidence alone.
        attempts: versions that are asked for at most; the policy's `max_revisions` by default.
        remove: whether what still fails in the end is taken out, if the rest passes without it.
        evidence_tokens: tokens of evidence that the model is shown, as estimated.
        max_tokens: tokens of one of its answers.
        temperature: of its answers.
        budget: what asking may cost; when it is spent, the best version so far stands.
        options: the others of `check`.

    Returns:
        The report of the best version: `output` is its text, `revision` says what was changed, how often it was
        tried, and whether it converged; `spending` what it cost. What still fails is never emitted.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    made = _repair_of(
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
    first = made.first()
    mended = mend(first, made.mended)
    report = revise(first if mended is None else mended.mended, made.author, made.again, made.attempts)
    if made.remove and _may_remove(report):
        report = _removed(report, made)
    return with_mend(_repaired(report, made), mended)


async def arepair(
    self: Assembled, answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[RepairOptions]
) -> HallucinationReport:
    """As `repair`, with the model awaited and the checks off the event loop: the same options, the same report."""
    import asyncio

    made = _repair_of(self._parts, answer, evidence, **options)
    first = await asyncio.to_thread(made.first)
    mended = await asyncio.to_thread(mend, first, made.mended)
    base = first if mended is None else mended.mended
    report = await arevise(base, made.author.awrite, made.again, made.attempts)
    if made.remove and _may_remove(report):
        report = await asyncio.to_thread(_removed, report, made)
    return with_mend(await asyncio.to_thread(_repaired, report, made), mended)


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


def _repaired(report: HallucinationReport, made: _Repair) -> HallucinationReport:
    """The report with who wrote it and what it cost; what passes goes through the rest of the policy's checks."""
    revision = report.revision
    policy = made.parts.policy
    wanted = needs_model(policy) or (made.parts.llm is not None and wants_model(policy))
    if report.action is Action.EMIT and wanted:
        report = made.last(report.output)
    spent = made.meter.spending if made.meter is not None else ()
    written = revision is not None and bool(revision.attempts)
    if revision is not None and written:
        prompts = made.author.prompts
        revision = revision.model_copy(update={"author": made.name, "prompts": prompts})
    if revision is not None and report.action is not Action.EMIT and revision.converged:
        # The last look, with a model, found what the ones before could not see.
        revision = revision.model_copy(update={"stopped": "no_improvement", "escalation_required": True})
    found = report.model_copy(update={"revision": revision, "spending": (*spent, *report.spending)})
    return with_escalation(policy, found)


def _may_remove(report: HallucinationReport) -> bool:
    """Whether something fails that could be taken out."""
    return report.action is not Action.EMIT and bool(report.output.strip())


def _removed(report: HallucinationReport, made: _Repair) -> HallucinationReport:
    from assay.rewrite.answers import ABSTENTION

    text = removal(report, ABSTENTION)
    return report if text == report.output.strip() else with_removal(report, made.again(text, 0))
