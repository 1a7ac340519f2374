"""The judge: a chat model answers five closed questions (docs/concepts.md#the-judge) about claims that the other tiers
are not sure of.

A request has a few claims and all the evidence that fits. Among the claims is a control: a claim with an added date
that no evidence has. A judge that finds the control in the evidence does not read it, or obeys an attacker, and the
whole answer does not count.

A truncated or malformed answer is requested once more. One that fails a safeguard against manipulation by the data, the
seal or the control, is not.

The judge reports and does not decide; `outcomes` defines its effect on a verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from assay.errors import AnswerError, ChatError, InputError
from assay.models.chat import ChatModel, ChatRequest, Completion, Message
from assay.prompts import Data, Rendered, load_prompt
from assay.verify.judge.answers import JudgeAnswers, answers_schema, may_ask_again, read_answers
from assay.verify.judge.outcomes import Outcome, outcome_of
from assay.verify.judge.quotes import Source

PROMPT: Final = "judge_claims"
_MONTHS: Final = ("January", "March", "May", "June", "August", "October", "December")
_YEARS: Final = range(1801, 1899)
_LONGEST_CONTROL: Final = 400


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Settings and limits of the judge.

    Raises:
        InputError: a setting is out of its range.
    """

    per_request: int = 4
    """Claims in one request; with 1 each has a context of its own, and the evidence is sent again for each."""
    evidence_tokens: int = 8_000
    """Estimated tokens of evidence in a request; the most relevant comes first."""
    tokens_per_claim: int = 500
    """Tokens of the five answers on one claim."""
    most_tokens: int | None = 200_000
    """Input and output tokens that one check may spend on the judge."""
    seconds: float | None = 120.0
    """Seconds that one check may spend on the judge."""
    attempts: int = 2
    """The most requests about one claim: unreadable answers are requested again, within the calls of the check."""
    concurrency: int = 4
    """Requests at the same time."""
    temperature: float | None = 0.0
    """The sampling temperature."""

    def __post_init__(self) -> None:
        least = min(self.per_request, self.evidence_tokens, self.tokens_per_claim, self.attempts, self.concurrency)
        if least < 1:
            raise InputError(
                "expected per_request, evidence_tokens, tokens_per_claim, attempts and concurrency of 1 or more"
            )


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """The judge's answers on one claim and their outcome."""

    outcome: Outcome
    reading: JudgeAnswers


@dataclass(frozen=True, slots=True)
class JudgeResults:
    """The judge's answers on all claims of a check."""

    statements: tuple[JudgedStatement, ...]
    """One for each claim, in order."""
    requests: int
    """The number of requests that were made."""
    asked_again: int = 0
    """The number of claims with more than one request."""


def ask_judge(
    model: ChatModel,
    claims: Sequence[str],
    question: str | None,
    sources: Sequence[Source],
    *,
    most_calls: int,
    complete: bool = True,
    confidence: float = 1.0,
    options: JudgeOptions | None = None,
) -> JudgeResults:
    """Put claims to the judge.

    Args:
        model: the chat model, with its budget.
        claims: the claims, the most important first: where the calls run out, the last ones stay unchecked.
        question: the question that they answer.
        sources: the evidence as the judge sees it.
        most_calls: the most requests.
        complete: whether the sources are all of the evidence.
        confidence: the score of the judge's quotes, in [0, 1].
        options: the settings of the requests.

    Returns:
        The answers on each claim, in order. Nothing is raised: claims of a failed request are unchecked.
    """
    settings = options or JudgeOptions()
    context = _SharedContext(question, sources, complete, confidence)
    unasked = _unusable(f"the check may ask the judge {most_calls} times, and has")
    statements = [unasked] * len(claims)
    waiting = list(range(len(claims)))
    made_requests = 0
    asked_again: set[int] = set()
    for attempt in range(1, settings.attempts + 1):
        batches = [
            waiting[index : index + settings.per_request] for index in range(0, len(waiting), settings.per_request)
        ]
        batches = batches[: max(0, most_calls - made_requests)]
        if not batches:
            break
        made_requests += len(batches)
        asked_again.update(index for batch in batches for index in batch if attempt > 1)
        requests = [_request([claims[index] for index in batch], context, settings, attempt) for batch in batches]
        completions = _complete_all(model, [request.request for request in requests], settings.concurrency)
        waiting = []
        for batch, request, answer in zip(batches, requests, completions, strict=True):
            for index, (statement, unread) in zip(batch, _statements_of(request, answer, context), strict=True):
                statements[index] = statement
                waiting += [index] if unread else []
    return JudgeResults(tuple(statements), made_requests, len(asked_again))


@dataclass(frozen=True, slots=True)
class _SharedContext:
    """The context that all requests of a check share."""

    question: str | None
    sources: Sequence[Source]
    complete: bool
    confidence: float

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(source.evidence.title or "" for source in self.sources)


@dataclass(frozen=True, slots=True)
class _JudgeRequest:
    claims: Sequence[str]
    control: int
    """The number of the control statement."""
    seal: str
    request: ChatRequest


def _request(claims: Sequence[str], context: _SharedContext, settings: JudgeOptions, attempt: int) -> _JudgeRequest:
    sources = context.sources
    control, place = make_control(claims, sources)
    statements = [*claims[:place], control, *claims[place:]]
    rendered = load_prompt(PROMPT).render(
        evidence=Data(tuple(source.record for source in sources)),
        question=Data.of({"question": context.question or ""}),
        statements=Data(tuple({"statement": n, "text": text} for n, text in enumerate(statements, start=1))),
        count=len(statements),
        attempt=attempt,
    )
    request = ChatRequest(
        messages_of(rendered),
        schema=answers_schema([source.alias for source in sources]),
        temperature=settings.temperature,
        max_tokens=attempt * (200 + settings.tokens_per_claim * len(statements)),
    )
    return _JudgeRequest(claims, place + 1, rendered.token, request)


def messages_of(rendered: Rendered) -> tuple[Message, ...]:
    """The system and the user message of a prompt."""
    return Message("system", rendered.system), Message("user", rendered.user)


def make_control(claims: Sequence[str], sources: Sequence[Source]) -> tuple[str, int]:
    """A statement that no evidence supports, and its index among the claims; both are derived from a hash of the
    content.

    >>> make_control(["Leave lasts 2 weeks."], [])[0].startswith("Leave lasts 2 weeks, as of ")
    True
    """
    digest = hashlib.sha256("\0".join([*claims, *(source.text for source in sources)]).encode("utf-8", "surrogatepass"))
    number = int.from_bytes(digest.digest()[:8], "big")
    base = next((claim for claim in claims if len(claim) <= _LONGEST_CONTROL), "The documents were signed")
    present = " ".join((*claims, *(source.text for source in sources)))
    years = (year for step in range(len(_YEARS)) if str(year := _YEARS[(number + step) % len(_YEARS)]) not in present)
    month, day = _MONTHS[number % len(_MONTHS)], number % 27 + 1
    control = f"{base.rstrip(' .!?;:,')}, as of {day} {month} {next(years, 1234)}."
    return control, (number >> 8) % (len(claims) + 1)


def _statements_of(
    request: _JudgeRequest, answer: Completion | ChatError, context: _SharedContext
) -> Iterator[tuple[JudgedStatement, bool]]:
    """The result for each claim of a request, and whether it justifies another request."""
    if isinstance(answer, ChatError):
        yield from ((_unusable(f"it could not be asked: {_error_detail(answer)}"), False) for _ in request.claims)
        return
    choice = answer.choices[0]
    try:
        readings = read_answers(choice, len(request.claims) + 1, request.seal, context.sources, context.confidence)
    except AnswerError as error:
        unread = may_ask_again(choice, error)
        yield from ((_unusable(_error_detail(error)), unread) for _ in request.claims)
        return
    control = readings.pop(request.control - 1)
    if control.unreadable is not None or control.verdict(1) != "FAIL":
        reason = "it did not notice a statement that was made wrong to test it"
        yield from ((_unusable(reason), control.unreadable is not None) for _ in request.claims)
        return
    titles = context.titles
    for claim, reading in zip(request.claims, readings, strict=True):
        outcome = outcome_of(claim, reading, question=context.question, titles=titles, complete=context.complete)
        yield JudgedStatement(outcome, reading), reading.unreadable is not None


def _unusable(reason: str) -> JudgedStatement:
    return JudgedStatement(
        Outcome("unchecked", f"The judge gave no usable answer: {reason}."), JudgeAnswers(unreadable=reason)
    )


def _error_detail(error: ChatError) -> str:
    text = str(error).strip().rstrip(".")
    return f"{text[:1].lower()}{text[1:300]}"


def _complete_all(model: ChatModel, requests: Sequence[ChatRequest], concurrency: int) -> list[Completion | ChatError]:
    def complete(request: ChatRequest) -> Completion | ChatError:
        try:
            return model.complete(request)
        except ChatError as error:
            return error

    if len(requests) < 2 or concurrency < 2:
        return [complete(request) for request in requests]
    with ThreadPoolExecutor(max_workers=min(concurrency, len(requests))) as pool:
        return list(pool.map(complete, requests))
