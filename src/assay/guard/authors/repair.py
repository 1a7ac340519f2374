"""Repair through the guard: only failed sentences change, and what comes out was checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.guard.authors.json_repair import mend, with_mend
from assay.guard.check.chat_budget import needs_model, wants_model
from assay.guard.request import EvidenceLike
from assay.policy import Policy, with_escalation
from assay.rewrite.revise import arevise, removal, revise, with_removal
from assay.schema import Action, HallucinationReport, coerce_evidence

if TYPE_CHECKING:  # loaded with the first repair
    from assay.models.chat import Budget, ChatModel, Meter
    from assay.rewrite.revise import Writer


@dataclass(frozen=True, slots=True)
class _Repair:
    """A repair that can begin."""

    author: Writer
    name: str
    meter: Meter | None
    attempts: int
    remove: bool
    first: Callable[[], HallucinationReport]
    again: Callable[[str, int], HallucinationReport]
    last: Callable[[str], HallucinationReport]
    """As `again`, with everything that the policy has a model asked for."""


class Repairing:
    """The part of a guard that has answers repaired; it needs what the guard has."""

    _policy: Policy
    _llm: ChatModel | None

    check: Callable[..., HallucinationReport]
    _check_before: Callable[..., HallucinationReport]
    _asking: Callable[[ChatModel | None], Any]

    def repair(
        self,
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
        **options: Any,
    ) -> HallucinationReport:
        """Check an answer, and have the sentences that fail corrected until it passes or does not get better.

        A chat model is asked for replacements of the failed sentences alone, with the reasons and the passages; what
        passed stays to the character. Each version is checked again, and one that is no better than the one before is
        dropped. Without a model the evidence's own values take the place of wrong ones where the exact tier found them
        (`claims[].suggestions`), and nobody is asked. With a `schema`, a document that is plainly broken (a comma, a
        quotation mark, a fence) is mended first, its values untouched.

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
        made = self._repair(
            answer, evidence, llm=llm, attempts=attempts, remove=remove, evidence_tokens=evidence_tokens,
            max_tokens=max_tokens, temperature=temperature, budget=budget, question=question, **options,
        )  # fmt: skip
        first = made.first()
        mended = mend(first, lambda text: made.again(text, 0))
        report = revise(first if mended is None else mended.mended, made.author, made.again, made.attempts)
        if made.remove and _may_remove(report):
            report = _removed(report, made)
        return with_mend(self._repaired(report, made), mended)

    async def arepair(
        self, answer: str | bytes, evidence: EvidenceLike = None, **options: Any
    ) -> HallucinationReport:  # fmt: skip
        """As `repair`, with the model awaited and the checks off the event loop: the same options, the same report."""
        import asyncio

        made = self._repair(answer, evidence, **options)
        first = await asyncio.to_thread(made.first)
        mended = await asyncio.to_thread(mend, first, lambda text: made.again(text, 0))
        base = first if mended is None else mended.mended
        report = await arevise(base, made.author.awrite, made.again, made.attempts)
        if made.remove and _may_remove(report):
            report = await asyncio.to_thread(_removed, report, made)
        return with_mend(await asyncio.to_thread(self._repaired, report, made), mended)

    def _repair(
        self,
        answer: str | bytes,
        evidence: EvidenceLike,
        *,
        llm: ChatModel | None = None,
        attempts: int | None = None,
        remove: bool = False,
        budget: Budget | None = None,
        **options: Any,
    ) -> _Repair:
        from assay.models.chat import Meter, price_of
        from assay.rewrite.revise import EVIDENCE, EvidenceAuthor, ModelAuthor, RepairOptions

        how = {name: options.pop(name) for name in RepairOptions.__dataclass_fields__ if name in options}
        items = coerce_evidence(tuple(evidence) if isinstance(evidence, Iterator) else evidence)
        asks = options.pop("asks", True)
        failed = options.pop("revisions_failed", 0)
        model = llm or self._llm
        settings = RepairOptions(**how)
        meter = None if model is None else Meter(model, budget, price_of(model))

        def checked(text: str | bytes, more: int) -> HallucinationReport:
            return self._check_before(text, items, revisions_failed=failed + more, **options)

        def last(text: str) -> HallucinationReport:
            found: HallucinationReport = self._asking(model).check(
                text, items, revisions_failed=failed, asks=asks, **options
            )
            return found

        most = self._policy.max_revisions if attempts is None else attempts
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise InputError(f"attempts is a whole number from 0 up, got {attempts!r}")
        author: Writer = EvidenceAuthor() if meter is None else ModelAuthor(meter.asking("repair"), items, settings)
        return _Repair(
            author, EVIDENCE if model is None else model.name, meter, most, remove,
            first=lambda: checked(answer, 0),
            again=checked,
            last=last,
        )  # fmt: skip

    def _repaired(self, report: HallucinationReport, made: _Repair) -> HallucinationReport:
        """The report with who wrote it and what it cost; what passes goes through the rest of the policy's checks."""
        revision = report.revision
        wanted = needs_model(self._policy) or (self._llm is not None and wants_model(self._policy))
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
        return with_escalation(self._policy, found)


def _may_remove(report: HallucinationReport) -> bool:
    """Whether something fails that could be taken out."""
    return report.action is not Action.EMIT and bool(report.output.strip())


def _removed(report: HallucinationReport, made: _Repair) -> HallucinationReport:
    from assay.rewrite.answers import ABSTENTION

    text = removal(report, ABSTENTION)
    return report if text == report.output.strip() else with_removal(report, made.again(text, 0))
