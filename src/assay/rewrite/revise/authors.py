"""Authors of repairs: a chat model that rewrites only the failed sentences, or the evidence itself.

The model gets the passages, the answer and the failed sentences with the reasons, each as data behind a fence, and
returns replacements by number, so it cannot change a sentence that passed. The evidence as an author substitutes the
values that the exact tier found for wrong ones, without asking a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, BudgetError, ChatError, InputError
from assay.models.chat import ChatModel, ChatRequest, Completion, read_structured
from assay.prompts import Data, Rendered, load_prompt
from assay.rewrite.answers.cited_answers import LONGEST_STATEMENT, Statement, closed_object, one_line, rendered
from assay.rewrite.answers.evidence_selection import PromptContext, choose_evidence
from assay.rewrite.answers.grounded import ABSTENTION
from assay.rewrite.answers.steps import messages
from assay.rewrite.revise.feedback import LONGEST, Correction, Feedback
from assay.rewrite.revise.loop import GaveUp, Unreadable, Version
from assay.schema import Evidence

PROMPT: Final = "repair"
EVIDENCE: Final = "evidence"
"""The name of the author that substitutes the evidence's own values."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """How a model is asked."""

    evidence_tokens: int = 4_000
    """The estimated tokens of evidence that the model is shown; what is most relevant to the failed sentences first."""
    max_tokens: int = 1_024
    """The most tokens of one answer."""
    temperature: float = 0.0
    """Low, since a correction should not invent anything (docs/concepts.md#revision)."""

    def __post_init__(self) -> None:
        """Validates the settings.

        Raises:
            InputError: a setting is out of range.
        """
        if self.evidence_tokens < 1 or self.max_tokens < 1 or not 0 <= self.temperature <= 2:
            raise InputError(
                "evidence_tokens and max_tokens are 1 or more and a temperature is from 0 to 2; got "
                f"{self.evidence_tokens}, {self.max_tokens}, {self.temperature}"
            )


class ModelAuthor:
    """A chat model as the author of replacements; call it, or await `awrite`."""

    def __init__(self, model: ChatModel, evidence: Sequence[Evidence], options: RepairOptions | None = None) -> None:
        """Sets up the author.

        Args:
            model: the chat model.
            evidence: the evidence that the answer is checked against.
            options: how the model is asked.
        """
        self._model = model
        self._evidence = tuple(evidence)
        self._options = options or RepairOptions()
        self._asked = 0

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompt with its version."""
        return (load_prompt(PROMPT).identity,)

    def __call__(self, feedback: Feedback) -> Version | GaveUp | Unreadable:
        """The replacements for the failed sentences, by number."""
        request, context = self._request(feedback)
        try:
            completion = self._model.complete(request)
        except ChatError as error:
            return gave_up(error)
        return self._read(completion, feedback, context)

    async def awrite(self, feedback: Feedback) -> Version | GaveUp | Unreadable:
        """As a call, with the model awaited."""
        request, context = self._request(feedback)
        try:
            completion = await self._model.acomplete(request)
        except ChatError as error:
            return gave_up(error)
        return self._read(completion, feedback, context)

    def _request(self, feedback: Feedback) -> tuple[ChatRequest, PromptContext]:
        query = " ".join((feedback.question or "", *(one.sentence for one in feedback.corrections)))
        context = choose_evidence(self._evidence, query, self._options.evidence_tokens)
        schema = asked_schema([passage.alias for passage in context.passages], len(feedback.corrections))
        # A seed from the second request on: a cache or an endpoint would answer an equal request the same way.
        seed = self._asked or None
        self._asked += 1
        return ChatRequest(
            messages(repair_prompt(feedback, context)),
            schema=schema,
            temperature=self._options.temperature,
            max_tokens=self._options.max_tokens,
            seed=seed,
        ), context

    def _read(self, completion: Completion, feedback: Feedback, context: PromptContext) -> Version | Unreadable:
        try:
            replacements = read_corrections(completion, feedback, context, self._evidence)
        except AnswerError as error:
            return Unreadable(str(error))
        return or_abstention(feedback, replacements)


def gave_up(error: ChatError) -> GaveUp:
    """Why a model could not be asked."""
    return GaveUp("budget" if isinstance(error, BudgetError) else "failed", f"The model could not be asked: {error}")


def repair_prompt(feedback: Feedback, context: PromptContext) -> Rendered:
    """The prompt of a repair: passages, question, answer and corrections, all of them as data."""
    return load_prompt(PROMPT).render(
        evidence=Data(tuple(passage.record for passage in context.passages)),
        question=Data.of({"question": feedback.question or ""}),
        answer=Data.of({"answer": feedback.output}),
        corrections=Data(tuple(_record(one, context) for one in feedback.corrections)),
        count=len(feedback.corrections),
    )


def _record(correction: Correction, context: PromptContext) -> dict[str, Any]:
    aliases = {passage.evidence.id: passage.alias for passage in context.passages}
    spans = [
        {"id": aliases[span.evidence_id], "relation": span.relation, "text": span.text[:LONGEST]}
        for span in correction.evidence
        if span.evidence_id in aliases
    ]
    reasons = [reason[:LONGEST] for reason in correction.reasons]
    return {"number": correction.number, "sentence": correction.sentence, "reasons": reasons, "evidence": spans}


def asked_schema(aliases: Sequence[str], count: int) -> dict[str, Any]:
    """The JSON Schema of the answer that the model is asked for: only failed sentences have numbers."""
    sources: dict[str, Any] = {"type": "array", "items": {"type": "string", "enum": list(aliases)}}
    entry = closed_object(
        {
            "number": {"type": "integer", "enum": list(range(1, count + 1))},
            "text": {"type": "string"},
            "sources": sources if aliases else {"type": "array", "items": {"type": "string"}},
        }
    )
    return closed_object({"corrections": {"type": "array", "items": entry}})


_READ: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "corrections": {
            "type": "array",
            "maxItems": 100,
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "text": {"type": ["string", "null"], "maxLength": LONGEST_STATEMENT},
                    "sources": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 40},
                },
                "required": ["number", "text"],
            },
        }
    },
    "required": ["corrections"],
}


def read_corrections(
    completion: Completion, feedback: Feedback, context: PromptContext, evidence: Sequence[Evidence]
) -> dict[int, str]:
    """The replacements in an answer, by the numbers of the sentences; sentences without a replacement stay unchanged.

    The replacement of a sentence with citations gets the ids of the passages that the model names.

    Raises:
        AnswerError: the answer is declined, cut off, of another form, or names an unknown sentence.
    """
    value = read_structured(completion.choices[0], _READ)
    known = {one.number: one for one in feedback.corrections}
    replacements: dict[int, str] = {}
    for entry in value["corrections"]:
        number = entry["number"]
        if number not in known or number in replacements:
            raise AnswerError(f"The answer corrects sentence {number}, which is not among those to correct, or twice.")
        replacements[number] = _sentence(entry, known[number], context, evidence)
    return replacements


def _sentence(entry: Mapping[str, Any], old: Correction, context: PromptContext, evidence: Sequence[Evidence]) -> str:
    marks = [mark for item in evidence if (mark := f"[{item.id}]") in old.sentence]
    text = entry["text"] or ""
    for mark in (*marks, *(f"[{passage.alias}]" for passage in context.passages)):
        text = text.replace(mark, "")
    line = one_line(text).replace(" .", ".")
    if not any(character.isalnum() for character in line):
        return ""
    if not marks:
        return line
    passages = [context.by_alias(alias) for alias in entry.get("sources") or ()]
    ids = tuple(dict.fromkeys(passage.evidence.id for passage in passages if passage is not None))
    closed = line if line[-1] in ".!?" else f"{line}."
    return rendered([Statement(closed, ids)]).text


def or_abstention(feedback: Feedback, replacements: Mapping[int, str]) -> Version:
    """The replacements; if they leave nothing of the answer, the sentence of an abstention."""
    removed = [one for one in feedback.corrections if replacements.get(one.number, one.sentence) == ""]
    rest = feedback.output
    for one in sorted(removed, key=lambda one: -one.span.start):
        rest = rest[: one.span.start] + rest[one.span.end :]
    empty = len(removed) == len(feedback.corrections) and not any(character.isalnum() for character in rest)
    return ABSTENTION if empty else dict(replacements)


class EvidenceAuthor:
    """The evidence as an author: it replaces each wrong value that the exact tier names with its own."""

    prompts: tuple[str, ...] = ()

    def __call__(self, feedback: Feedback) -> Version:
        """The failed sentences with all suggested values substituted."""
        return {one.number: corrected(one) for one in feedback.corrections}

    async def awrite(self, feedback: Feedback) -> Version:
        """As a call."""
        return self(feedback)


def corrected(correction: Correction) -> str:
    """A sentence with its suggestions applied, from last to first.

    >>> from assay.schema import Span
    >>> corrected(Correction(1, "It is red.", Span(start=0, end=10), (), ()))
    'It is red.'
    """
    text, begin = correction.sentence, correction.span.start
    for one in sorted(correction.suggestions, key=lambda one: -one.span.start):
        start, end = one.span.start - begin, one.span.end - begin
        if start >= 0 and text[start:end] == one.before:
            text = text[:start] + one.after + text[end:]
    return text


Writer = ModelAuthor | EvidenceAuthor
"""The authors of repairs."""
