"""Generating documents through the guard: a model fills a JSON Schema from evidence, and every value is held to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.guard.request import EvidenceLike
from assay.schema import ClaimReport, HallucinationReport, coerce_evidence, coerce_text

if TYPE_CHECKING:  # loaded with the first document that is generated
    from assay.models.chat import Budget, ChatModel
    from assay.rewrite.answers import Check, Hands, Steps


class Documenting:
    """The part of a guard that has documents generated; it needs what the guard has."""

    _llm: ChatModel | None

    check: Callable[..., HallucinationReport]
    judge_claims: Callable[..., list[ClaimReport]]

    def generate_document(
        self,
        question: str,
        evidence: EvidenceLike = None,
        *,
        schema: Mapping[str, Any],
        document: str | None = None,
        llm: ChatModel | None = None,
        attempts: int = 2,
        evidence_tokens: int = 6_000,
        max_tokens: int = 2_048,
        temperature: float = 0.0,
        budget: Budget | None = None,
        **options: Any,
    ) -> HallucinationReport:
        """Have a JSON document written from evidence, and hold it to its schema and its values to the evidence.

        Args:
            question: what the document is to answer.
            evidence: as in `check`.
            schema: the JSON Schema; it goes out in the endpoint's own structured mode.
            document: a document to begin with, such as the answer of another program; it is mended, checked and, where
                it fails, written again.
            llm: the model; that of the guard by default.
            attempts: further documents that are asked for at most.
            evidence_tokens: tokens of evidence that the model is shown, as estimated.
            max_tokens: tokens of one document.
            temperature: of the documents.
            budget: what all of it may cost.
            options: the others of `check`, such as `structure`.

        Returns:
            The report of the best document: `output` is its text, `issues` and the claims' `path` say what is wrong
            where, `generation.documents` how it came about, repairs included.

        Raises:
            InputError: something given cannot be read, or there is no model.
            ChatError: the model could not be asked, and there is no document in hand.
            AnswerError: nothing that the model wrote could be read.
        """
        from assay.rewrite.answers import drive

        steps, hands = self._document_steps(
            question, evidence, schema=schema, document=document, llm=llm, attempts=attempts, budget=budget,
            evidence_tokens=evidence_tokens, max_tokens=max_tokens, temperature=temperature, **options,
        )  # fmt: skip
        report = drive(steps, hands)
        return report.model_copy(update={"spending": (*report.spending, *hands.meter.spending)})

    async def agenerate_document(
        self, question: str, evidence: EvidenceLike = None, **options: Any
    ) -> HallucinationReport:
        """As `generate_document`, with the model awaited and the checks off the event loop."""
        from assay.rewrite.answers import adrive

        steps, hands = self._document_steps(question, evidence, **options)
        report = await adrive(steps, hands)
        return report.model_copy(update={"spending": (*report.spending, *hands.meter.spending)})

    def _document_steps(
        self,
        question: str,
        evidence: EvidenceLike,
        *,
        schema: Mapping[str, Any],
        document: str | None = None,
        llm: ChatModel | None = None,
        budget: Budget | None = None,
        attempts: int = 2,
        evidence_tokens: int = 6_000,
        max_tokens: int = 2_048,
        temperature: float = 0.0,
        **options: Any,
    ) -> tuple[Steps[HallucinationReport], Hands]:
        from assay.models.chat import Meter, price_of
        from assay.rewrite.answers import Hands, choose_evidence
        from assay.rewrite.documents import DocumentOptions, document_steps

        model = llm or self._llm
        if model is None:
            raise InputError(
                "a model is needed to generate: give the guard one, or the call, with llm=assay.Chat(NAME)"
            )
        if not isinstance(schema, Mapping):
            raise InputError(f"a document needs a JSON Schema, got {type(schema).__name__}")
        asked = coerce_text(question, "question")
        if not asked.strip():
            raise InputError("a question must ask something; got a blank text")
        how = DocumentOptions(attempts, evidence_tokens, max_tokens, temperature)
        items = coerce_evidence(evidence)
        context = choose_evidence(items, asked, how.evidence_tokens, how.attention)
        meter = Meter(model, budget, price_of(model))

        def check(step: Check) -> HallucinationReport:
            return self.check(step.text, items, question=asked, schema=schema, **options)

        def judge(rows: Sequence[Any]) -> list[ClaimReport]:
            return self.judge_claims(rows)

        first = None if document is None else coerce_text(document, "document")
        return document_steps(asked, context, schema, how, model.name, first), Hands(meter, check, judge)
