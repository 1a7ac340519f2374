"""Generating documents through the guard: a model fills a JSON Schema from evidence, and every value is checked.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from assay.errors import InputError
from assay.guard.check.chat_budget import generating_model
from assay.guard.check.pipeline import check_one
from assay.guard.check.single_claims import judge_single_claims
from assay.guard.check.tiers import tiers_of
from assay.guard.options import DocumentCheckOptions, GenerateDocumentOptions
from assay.guard.parts import GuardParts, HasParts
from assay.guard.request import CheckRequest, EvidenceLike, read_question
from assay.schema import ClaimReport, HallucinationReport, coerce_evidence, coerce_text

if TYPE_CHECKING:  # loaded with the first document that is generated
    from assay.models.chat import Budget, ChatModel
    from assay.rewrite.answers import Check, StepHandlers, Steps


def generate_document(
    self: HasParts,
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
    **options: Unpack[DocumentCheckOptions],
) -> HallucinationReport:
    """Have a JSON document written from evidence, and check it against its schema and its values against the evidence.

    Args:
        question: the question that the document answers.
        evidence: as in `check`.
        schema: the JSON Schema; it is sent in the endpoint's own structured mode.
        document: a document to start with, such as the answer of another program; it is repaired, checked and, if it
            fails, rewritten.
        llm: the model; that of the guard by default.
        attempts: the most further documents to ask for.
        evidence_tokens: the estimated tokens of evidence that the model is shown.
        max_tokens: the most tokens of one document.
        temperature: the temperature of the requests.
        budget: what all requests together may cost.
        options: further options of `check`, such as `structure`.

    Returns:
        The report of the best document: `output` is its text, `issues` and the claims' `path` say what is wrong
        where, and `generation.documents` records the attempts, repairs included.

    Raises:
        InputError: an argument cannot be read, or there is no model.
        ChatError: the model could not be asked, and there is no earlier document.
        AnswerError: none of the model's documents could be read.
    """
    from assay.rewrite.answers import drive

    steps, hands = _document_steps(
        self._parts,
        question,
        evidence,
        schema=schema,
        document=document,
        llm=llm,
        attempts=attempts,
        budget=budget,
        evidence_tokens=evidence_tokens,
        max_tokens=max_tokens,
        temperature=temperature,
        **options,
    )
    return _with_cost(drive(steps, hands), hands)


async def agenerate_document(
    self: HasParts, question: str, evidence: EvidenceLike = None, **options: Unpack[GenerateDocumentOptions]
) -> HallucinationReport:
    """As `generate_document`, with the model awaited and the checks off the event loop."""
    from assay.rewrite.answers import adrive

    steps, hands = _document_steps(self._parts, question, evidence, **options)
    return _with_cost(await adrive(steps, hands), hands)


def _document_steps(
    parts: GuardParts,
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
    **options: Unpack[DocumentCheckOptions],
) -> tuple[Steps[HallucinationReport], StepHandlers]:
    from assay.models.chat import Meter, price_of
    from assay.rewrite.answers import StepHandlers, choose_evidence
    from assay.rewrite.documents import DocumentOptions, document_steps

    model = generating_model(parts, llm)
    if not isinstance(schema, Mapping):
        raise InputError(f"a document needs a JSON Schema, got {type(schema).__name__}")
    asked = read_question(question)
    settings = DocumentOptions(attempts, evidence_tokens, max_tokens, temperature)
    items = coerce_evidence(evidence)
    context = choose_evidence(items, asked, settings.evidence_tokens, settings.attention)
    meter = Meter(model, budget, price_of(model))

    request = CheckRequest("", items, asked, schema=schema, **options)

    def check(step: Check) -> HallucinationReport:
        return check_one(replace(request, answer=step.text), parts)

    def judge(rows: Sequence[Any]) -> list[ClaimReport]:
        return judge_single_claims(rows, tiers_of(parts), parts.policy)

    first = None if document is None else coerce_text(document, "document")
    return document_steps(asked, context, schema, settings, model.name, first), StepHandlers(meter, check, judge)


def _with_cost(report: HallucinationReport, hands: StepHandlers) -> HallucinationReport:
    return report.model_copy(update={"spending": (*report.spending, *hands.meter.spending)})
