"""A document from evidence: asked for in the endpoint's own structured mode, repaired, checked, asked for again.

1. The model writes a document; the schema goes out with the request, in each endpoint's own way.
2. What is plainly broken is repaired without the model, and recorded. What only a guess would repair is not.
3. The document is checked: its schema, its rules, its references, and each value against the evidence.
4. With findings the model is asked again and told their JSON Pointers and reasons. Values that had passed are put back
   where it changed them; a document that is no better than the one before is rolled back.

The number of documents is bounded, and so is what they may cost. What still fails in the end is for the gate.
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
from assay.rewrite.answers.steps import Asks, Check, Steps, messages
from assay.rewrite.revise.feedback import FAILING
from assay.schema import KEYWORD, HallucinationReport
from assay.schema.report_parts import DocumentAttempt, DocumentRepair, Generation, ShownEvidence
from assay.verify.documents import JsonRepair, JsonTextError, Path, parse, repair_json

LONGEST_DOCUMENT: Final = 200_000
"""Characters of one document that are read."""
MOST_FAULTS: Final = 40
"""Faults that a model is told of at once."""
_MOST_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """How a document is generated."""

    attempts: int = 2
    """Further documents that are asked for at most."""
    evidence_tokens: int = 6_000
    max_tokens: int = 2_048
    temperature: float = 0.0
    attention: Attention = field(default_factory=Attention)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            InputError: a setting is out of its range.
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
        """What is wrong with its structure counts first, then values that fail; less is better."""
        return len(self.report.issues), sum(claim.status in FAILING for claim in self.report.claims)


@dataclass(frozen=True, slots=True)
class _Course:
    """How the documents came about."""

    best: _Version | None = None
    attempts: tuple[DocumentAttempt, ...] = ()
    prompts: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    last: str = ""
    """The last answer that could not be read, to be shown to the model."""
    unread: str = ""
    """Why it could not."""
    stopped: str = "exhausted"


def document_steps(
    question: str,
    context: PromptContext,
    schema: Mapping[str, Any],
    options: DocumentOptions,
    model: str,
    document: str | None = None,
) -> Steps[HallucinationReport]:
    """The pipeline; whoever drives it asks the model and checks.

    Args:
        question: what the document is to answer.
        context: the evidence that the model is shown; its aliases are the evidence ids.
        schema: the JSON Schema.
        options: how.
        model: the model's name, for the record.
        document: a document to begin with; the model is asked for the first one too where there is none.

    Returns:
        The report of the best document, with its record.

    Raises:
        ChatError: the model could not be asked, and there is nothing else to go by.
        AnswerError: none of its documents could be read.
    """
    course = _Course()
    for number in range(1, options.attempts + 2):
        if number == 1 and document is not None:
            said: Choice | ChatError = Choice(document)
        else:
            prompt = _prompt(question, context, schema, course)
            again = number if course.unread and course.best is None else None
            (completion,) = yield Asks(
                "draft" if number == 1 else "regeneration", (_request(prompt, schema, options, again),)
            )
            said = completion if isinstance(completion, ChatError) else completion.choices[0]
            course = replace(course, prompts=(*course.prompts, prompt.prompt))
        if isinstance(said, ChatError):
            if course.best is None:
                raise said
            course = replace(course, stopped="budget" if isinstance(said, BudgetError) else "failed")
            break
        course = yield from _taken(number, said, course)
        if course.stopped != "exhausted":
            break
    if course.best is None:
        raise AnswerError(f"none of {len(course.attempts)} documents of the model can be used: {course.unread}")
    return course.best.report.model_copy(update={"generation": _record(course, context, model)})


def _taken(number: int, said: Choice, course: _Course) -> Steps[_Course]:
    """The course with one more document."""
    paths = tuple(fault["path"] for fault in course.best.faults) if course.best else ("",) if course.unread else ()
    attempt = DocumentAttempt(number=number, outcome="unreadable", told=paths)
    try:
        mended = repair_json(_whole(said))
    except (AnswerError, JsonTextError) as error:
        why = f"The document cannot be read: {error}"
        attempt = attempt.model_copy(update={"reason": why})
        return replace(course, attempts=(*course.attempts, attempt), last=said.text[:LONGEST_DOCUMENT], unread=why)
    text, restored = put_back(course.best.text, course.best.report, mended.text) if course.best else (mended.text, ())
    attempt = attempt.model_copy(
        update={"outcome": "no_better", "repairs": tuple(map(_repair, mended.repairs)), "restored": restored}
    )
    if text in course.seen:
        attempt = attempt.model_copy(update={"findings": None})
        return replace(course, attempts=(*course.attempts, attempt), stopped="unchanged")
    report = yield Check(text)
    version = _Version(text, report, _faults(report))
    better = course.best is None or version.rank < course.best.rank
    attempt = attempt.model_copy(update={"outcome": "better" if better else "no_better", "findings": sum(version.rank)})
    return replace(
        course,
        best=version if better else course.best,
        attempts=(*course.attempts, attempt),
        seen=course.seen | {text},
        unread="",
        stopped="exhausted" if sum(version.rank) else "grounded",
    )


def _whole(said: Choice) -> str:
    """The text of an answer that is one.

    Raises:
        AnswerError: it is declined, cut off or too long.
    """
    if said.finish is Finish.REFUSAL or said.refusal is not None:
        raise AnswerError("The model declined to answer.")
    if said.finish is Finish.LENGTH:
        raise AnswerError("The answer was cut off at the limit of tokens.")
    if said.finish is not Finish.STOP:
        raise AnswerError("The answer ended for a reason that is not known.")
    if len(said.text) > LONGEST_DOCUMENT:
        raise AnswerError(f"The answer has {len(said.text):,} characters; at most {LONGEST_DOCUMENT:,} are read.")
    return said.text


def put_back(before: str, report: HallucinationReport, after: str) -> tuple[str, tuple[str, ...]]:
    """A new document with the values that had passed in the one before, and where they were put back.

    A value is put back where the same pointer names a value in both, no finding is about it or about what it stands
    in, and no list on the way to it has become longer or shorter: else it may be another thing's value.
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
    """The keys and indices of a pointer, as the value has them."""
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
    """Puts one value of the old document into the new one; whether anything changed by it."""
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
    """What a model is told of a document: where, and what is wrong there."""
    faults = [{"path": issue.path or "", "problem": issue.message[:_MOST_SHOWN]} for issue in report.issues]
    for claim in report.claims:
        if claim.status in FAILING:
            reasons = " ".join(issue.message for issue in claim.issues[:3]) or "The evidence does not say this."
            faults.append({"path": claim.path or "", "problem": f"{claim.text} {reasons}"[:_MOST_SHOWN]})
    return tuple(faults[:MOST_FAULTS])


def _prompt(question: str, context: PromptContext, schema: Mapping[str, Any], course: _Course) -> Rendered:
    evidence = Data(tuple({**passage.record, "id": passage.evidence.id} for passage in context.passages))
    asked, form = Data.of({"question": question}), Data.of({"schema": json.dumps(plain_schema(schema))})
    if course.best is None and not course.unread:
        return load_prompt("document").render(evidence=evidence, schema=form, question=asked)
    faults = ({"path": "", "problem": course.unread},) if course.unread else course.best.faults if course.best else ()
    shown = course.last if course.unread else course.best.text if course.best else ""
    return load_prompt("document_again").render(
        evidence=evidence, schema=form, question=asked, document=Data.of({"document": shown}), faults=Data(faults)
    )


def _request(prompt: Rendered, schema: Mapping[str, Any], options: DocumentOptions, seed: int | None) -> ChatRequest:
    # A seed after an answer that could not be read: the same request would get the same answer, from a cache at least.
    return ChatRequest(
        messages(prompt),
        schema=plain_schema(schema),
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        seed=seed,
    )


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without our own keyword, which endpoints would refuse."""
    return {key: value for key, value in schema.items() if key != KEYWORD}


def _repair(repair: JsonRepair) -> DocumentRepair:
    return DocumentRepair(
        code=repair.code, at=repair.at, removed=repair.removed, put=repair.put, message=repair.message
    )


def _record(course: _Course, context: PromptContext, model: str) -> Generation:
    shown = tuple(
        ShownEvidence(
            evidence_id=one.evidence.id, alias=one.evidence.id, characters=one.characters, of=len(one.evidence.text)
        )
        for one in context.passages
    )
    return Generation(
        model=model,
        prompts=tuple(dict.fromkeys(course.prompts)),
        evidence=shown,
        left_out=context.left_out,
        attempts=len(course.attempts),
        stopped=course.stopped,
        documents=course.attempts,
    )
