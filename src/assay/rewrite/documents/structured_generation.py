"""A document generated from evidence: requested in the endpoint's structured mode, repaired, checked, requested again.

1. The model writes a document; the schema is sent with the request, in each endpoint's own way.
2. Obvious defects of its JSON are repaired without the model, and recorded. What only a guess could repair is left.
3. The document is checked: its schema, its rules, its references, and each value against the evidence.
4. If there are findings, the model is asked again with their JSON Pointers and reasons. Values that had passed are
   restored where it changed them, and a document that is no better than the one before is dropped.

The number of documents is bounded, and so is their cost. What still fails in the end is left to the gate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assay.errors import AnswerError, BudgetError, ChatError, InputError
from assay.models.chat import ChatRequest, Choice, Finish
from assay.prompts import Data, Rendered, load_prompt
from assay.rewrite.answers.evidence_selection import Attention, PromptContext
from assay.rewrite.answers.steps import Ask, Check, Steps, messages
from assay.rewrite.revise.feedback import FAILING
from assay.schema import KEYWORD, HallucinationReport
from assay.schema.report_parts import DocumentAttempt, DocumentRepair, Generation, ShownEvidence
from assay.verify.documents import JsonRepair, JsonTextError, Path, parse, repair_json

LONGEST_DOCUMENT: Final = 200_000
"""The most characters of one document."""
MOST_FAULTS: Final = 40
"""The most faults listed in one request."""
_MOST_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """How a document is generated."""

    attempts: int = 2
    """The most further documents to ask for."""
    evidence_tokens: int = 6_000
    max_tokens: int = 2_048
    temperature: float = 0.0
    attention: Attention = field(default_factory=Attention)

    def __post_init__(self) -> None:
        """Validates the settings.

        Raises:
            InputError: a setting is out of range.
        """
        if self.attempts < 0 or self.evidence_tokens < 1 or self.max_tokens < 1:
            raise InputError(
                "attempts are 0 or more, evidence_tokens and max_tokens 1 or more; got "
                f"{self.attempts}, {self.evidence_tokens}, {self.max_tokens}"
            )


@dataclass(frozen=True, slots=True)
class _Version:
    """A document that was checked."""

    text: str
    report: HallucinationReport
    faults: tuple[dict[str, str], ...]

    @property
    def rank(self) -> tuple[int, int]:
        """The number of structural issues, then the number of failing values; less is better."""
        return len(self.report.issues), sum(claim.status in FAILING for claim in self.report.claims)


@dataclass(frozen=True, slots=True)
class _History:
    """The attempts at a document so far."""

    best: _Version | None = None
    attempts: tuple[DocumentAttempt, ...] = ()
    prompts: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    """The texts that were checked."""
    last: str = ""
    """The last unreadable answer, to be shown to the model."""
    unread: str = ""
    """Why it could not be read."""
    stopped: str = "exhausted"


def document_steps(
    question: str,
    context: PromptContext,
    schema: Mapping[str, Any],
    options: DocumentOptions,
    model: str,
    document: str | None = None,
) -> Steps[HallucinationReport]:
    """The pipeline as a generator; its driver asks the model and makes the checks.

    Args:
        question: the question that the document answers.
        context: the evidence that the model is shown; its aliases are the evidence ids.
        schema: the JSON Schema.
        options: how the document is generated.
        model: the model's name, for the record.
        document: a document to start with; without one the model is also asked for the first document.

    Returns:
        The report of the best document, with the record of its generation.

    Raises:
        ChatError: the model could not be asked, and there is no earlier document.
        AnswerError: none of its documents could be read.
    """
    history = _History()
    for number in range(1, options.attempts + 2):
        if number == 1 and document is not None:
            reply: Choice | ChatError = Choice(document)
        else:
            prompt = _prompt(question, context, schema, history)
            seed = number if history.unread and history.best is None else None
            (completion,) = yield Ask(
                "draft" if number == 1 else "regeneration", (_request(prompt, schema, options, seed),)
            )
            reply = completion if isinstance(completion, ChatError) else completion.choices[0]
            history = replace(history, prompts=(*history.prompts, prompt.prompt))
        if isinstance(reply, ChatError):
            if history.best is None:
                raise reply
            history = replace(history, stopped="budget" if isinstance(reply, BudgetError) else "failed")
            break
        history = yield from _with_attempt(number, reply, history)
        if history.stopped != "exhausted":
            break
    if history.best is None:
        raise AnswerError(f"none of {len(history.attempts)} documents of the model can be used: {history.unread}")
    return history.best.report.model_copy(update={"generation": _record(history, context, model)})


def _with_attempt(number: int, reply: Choice, history: _History) -> Steps[_History]:
    """The history with one more attempt."""
    paths = tuple(fault["path"] for fault in history.best.faults) if history.best else ("",) if history.unread else ()
    attempt = DocumentAttempt(number=number, outcome="unreadable", told=paths)
    try:
        repaired = repair_json(_complete_text(reply))
    except (AnswerError, JsonTextError) as error:
        reason = f"The document cannot be read: {error}"
        attempt = attempt.model_copy(update={"reason": reason})
        return replace(
            history, attempts=(*history.attempts, attempt), last=reply.text[:LONGEST_DOCUMENT], unread=reason
        )
    text, restored = repaired.text, tuple[str, ...]()
    if history.best is not None:
        text, restored = put_back(history.best.text, history.best.report, repaired.text)
    attempt = attempt.model_copy(
        update={"outcome": "no_better", "repairs": tuple(map(_repair, repaired.repairs)), "restored": restored}
    )
    if text in history.seen:
        attempt = attempt.model_copy(update={"findings": None})
        return replace(history, attempts=(*history.attempts, attempt), stopped="unchanged")
    report = yield Check(text)
    version = _Version(text, report, _faults(report))
    better = history.best is None or version.rank < history.best.rank
    attempt = attempt.model_copy(update={"outcome": "better" if better else "no_better", "findings": sum(version.rank)})
    return replace(
        history,
        best=version if better else history.best,
        attempts=(*history.attempts, attempt),
        seen=history.seen | {text},
        unread="",
        stopped="exhausted" if sum(version.rank) else "grounded",
    )


def _complete_text(reply: Choice) -> str:
    """The text of a complete answer.

    Raises:
        AnswerError: the answer is declined, cut off or too long.
    """
    if reply.finish is Finish.REFUSAL or reply.refusal is not None:
        raise AnswerError("The model declined to answer.")
    if reply.finish is Finish.LENGTH:
        raise AnswerError("The answer was cut off at the limit of tokens.")
    if reply.finish is not Finish.STOP:
        raise AnswerError("The answer ended for a reason that is not known.")
    if len(reply.text) > LONGEST_DOCUMENT:
        raise AnswerError(f"The answer has {len(reply.text):,} characters; at most {LONGEST_DOCUMENT:,} are read.")
    return reply.text


def put_back(before: str, report: HallucinationReport, after: str) -> tuple[str, tuple[str, ...]]:
    """A new document with the values that had passed in the previous one restored, and the pointers of these values.

    A value is restored if the same pointer names a value in both documents, no finding concerns it or a value that
    contains it, and no list on the path to it has changed its length: otherwise the pointer may name another thing.
    """
    try:
        old, new = parse(before).value, parse(after).value
    except JsonTextError:
        return after, ()
    failed = {claim.path for claim in report.claims if claim.status in FAILING}
    failed |= {issue.path for issue in report.issues}
    passed = [claim.path for claim in report.claims if claim.path and claim.path not in failed]
    restored = []
    for path in dict.fromkeys(passed):
        parts = _parts(old, path)
        if parts is None or any(path.startswith(f"{other}/") or other == "" for other in failed if other is not None):
            continue
        if _put(old, new, parts):
            restored.append(path)
    return (json.dumps(new, ensure_ascii=False), tuple(restored)) if restored else (after, ())


def _parts(value: Any, path: str) -> Path | None:
    """The keys and indices of a JSON Pointer within a value; None if it points to nothing."""
    parts: list[str | int] = []
    for part in path[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            parts.append(int(key))
        elif isinstance(value, dict) and key in value:
            parts.append(key)
        else:
            return None
        value = value[parts[-1]]
    return tuple(parts)


def _put(old: Any, new: Any, parts: Path) -> bool:
    """Copies one value of the old document into the new one, and says whether that changed anything."""
    for part in parts[:-1]:
        if type(old) is not type(new) or (isinstance(old, list) and len(old) != len(new)):
            return False
        if isinstance(new, dict) and part not in new:
            return False
        old, new = old[part], new[part]
    last = parts[-1]
    if type(old) is not type(new) or (isinstance(old, list) and len(old) != len(new)):
        return False
    if (isinstance(new, dict) and last not in new) or isinstance(new[last], dict | list):
        return False
    if new[last] == old[last] and type(new[last]) is type(old[last]):
        return False
    new[last] = old[last]
    return True


def _faults(report: HallucinationReport) -> tuple[dict[str, str], ...]:
    """The faults of a document as a model is shown them: the pointer, and what is wrong there."""
    faults = [{"path": issue.path or "", "problem": issue.message[:_MOST_SHOWN]} for issue in report.issues]
    for claim in report.claims:
        if claim.status in FAILING:
            reasons = " ".join(issue.message for issue in claim.issues[:3]) or "The evidence does not say this."
            faults.append({"path": claim.path or "", "problem": f"{claim.text} {reasons}"[:_MOST_SHOWN]})
    return tuple(faults[:MOST_FAULTS])


def _prompt(question: str, context: PromptContext, schema: Mapping[str, Any], history: _History) -> Rendered:
    evidence = Data(tuple({**passage.record, "id": passage.evidence.id} for passage in context.passages))
    question_data, schema_data = Data.of({"question": question}), Data.of({"schema": json.dumps(plain_schema(schema))})
    if history.best is None and not history.unread:
        return load_prompt("document").render(evidence=evidence, schema=schema_data, question=question_data)
    faults = (
        ({"path": "", "problem": history.unread},) if history.unread else history.best.faults if history.best else ()
    )
    shown = history.last if history.unread else history.best.text if history.best else ""
    return load_prompt("document_again").render(
        evidence=evidence,
        schema=schema_data,
        question=question_data,
        document=Data.of({"document": shown}),
        faults=Data(faults),
    )


def _request(prompt: Rendered, schema: Mapping[str, Any], options: DocumentOptions, seed: int | None) -> ChatRequest:
    # A seed after an unreadable answer: the same request would get the same answer, at least from a cache.
    return ChatRequest(
        messages(prompt),
        schema=plain_schema(schema),
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        seed=seed,
    )


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without assay's own keyword, which endpoints would reject."""
    return {key: value for key, value in schema.items() if key != KEYWORD}


def _repair(repair: JsonRepair) -> DocumentRepair:
    return DocumentRepair(
        code=repair.code, at=repair.at, removed=repair.removed, put=repair.put, message=repair.message
    )


def _record(history: _History, context: PromptContext, model: str) -> Generation:
    shown = tuple(
        ShownEvidence(
            evidence_id=one.evidence.id, alias=one.evidence.id, characters=one.characters, of=len(one.evidence.text)
        )
        for one in context.passages
    )
    return Generation(
        model=model,
        prompts=tuple(dict.fromkeys(history.prompts)),
        evidence=shown,
        left_out=context.left_out,
        attempts=len(history.attempts),
        stopped=history.stopped,
        documents=history.attempts,
    )
