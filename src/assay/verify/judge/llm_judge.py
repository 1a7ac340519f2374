"""The judge: a chat model asked five closed questions (docs/concepts.md#the-judge) about claims that the other tiers
are not sure of.

A request has a few claims and all the evidence that fits. Among the claims stands one that was made wrong: the first
one of them with a date that no evidence has. A judge that finds that one in the evidence does not read, or obeys
somebody else, and nothing that it says in the same answer counts.

An answer that was cut off or is of another form is asked for once more. One that fails a lock against whoever writes
the data, the seal or the statement made wrong, is not.

The judge reports and decides nothing; `outcomes` says what may become of a verdict.
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
_LONGEST_BASE: Final = 400


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How a judge is asked.

    Raises:
        InputError: a setting is out of its range.
    """

    per_request: int = 4
    """Claims in one request; 1 gives each a context of its own at the price of the evidence."""
    evidence_tokens: int = 8_000
    """Tokens of evidence that it is shown, as estimated; the most relevant first."""
    tokens_per_claim: int = 500
    """Tokens that the five answers about one claim may have."""
    most_tokens: int | None = 200_000
    """Tokens in and out that one check may spend on the judge."""
    seconds: float | None = 120.0
    """Seconds that one check may spend on it."""
    attempts: int = 2
    """Requests about one claim at most: what cannot be read is asked for again until then, within the check's calls."""
    concurrency: int = 4
    """Requests at once."""
    temperature: float | None = 0.0
    """Of its answers."""

    def __post_init__(self) -> None:
        least = min(self.per_request, self.evidence_tokens, self.tokens_per_claim, self.attempts, self.concurrency)
        if least < 1:
            raise InputError(
                "expected per_request, evidence_tokens, tokens_per_claim, attempts and concurrency of 1 or more"
            )


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """What the judge said of one claim."""

    outcome: Outcome
    reading: JudgeAnswers


@dataclass(frozen=True, slots=True)
class JudgeResults:
    """What the judge said of all claims that it was asked about."""

    statements: tuple[JudgedStatement, ...]
    """One for each claim, in order."""
    requests: int
    """Requests that were made."""
    asked_again: int = 0
    """Claims that were asked about more than once."""


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
        model: the chat model, with its account.
        claims: the claims, those that matter most first: where calls run out, the last ones are unchecked.
        question: what they answer.
        sources: the evidence as it is shown.
        most_calls: requests that may be made.
        complete: whether that is all of the evidence.
        confidence: what the judge's word counts; the score of its quotes.
        options: how it is asked.

    Returns:
        What was said of each claim, in order. Nothing is raised: a model that fails leaves its claims unchecked.
    """
    how = options or JudgeOptions()
    showing = _Showing(question, sources, complete, confidence)
    beyond = _unusable(f"the check may ask the judge {most_calls} times, and has")
    statements = [beyond] * len(claims)
    waiting = list(range(len(claims)))
    made = 0
    again: set[int] = set()
    for attempt in range(1, how.attempts + 1):
        batches = [waiting[at : at + how.per_request] for at in range(0, len(waiting), how.per_request)]
        batches = batches[: max(0, most_calls - made)]
        if not batches:
            break
        made += len(batches)
        again.update(at for batch in batches for at in batch if attempt > 1)
        requests = [_request([claims[at] for at in batch], showing, how, attempt) for batch in batches]
        said = _all(model, [one.request for one in requests], how.concurrency)
        waiting = []
        for batch, one, answer in zip(batches, requests, said, strict=True):
            for at, (found, unread) in zip(batch, _statements_of(one, answer, showing), strict=True):
                statements[at] = found
                waiting += [at] if unread else []
    return JudgeResults(tuple(statements), made, len(again))


@dataclass(frozen=True, slots=True)
class _Showing:
    """What the judge is shown beside the claims, and what its word counts."""

    question: str | None
    sources: Sequence[Source]
    complete: bool
    confidence: float

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(source.evidence.title or "" for source in self.sources)


@dataclass(frozen=True, slots=True)
class _Asked:
    claims: Sequence[str]
    control: int
    """The number of the statement that was made wrong."""
    seal: str
    request: ChatRequest


def _request(claims: Sequence[str], showing: _Showing, how: JudgeOptions, attempt: int) -> _Asked:
    sources = showing.sources
    wrong, place = control_of(claims, sources)
    statements = [*claims[:place], wrong, *claims[place:]]
    rendered = load_prompt(PROMPT).render(
        evidence=Data(tuple(source.record for source in sources)),
        question=Data.of({"question": showing.question or ""}),
        statements=Data(tuple({"statement": n, "text": text} for n, text in enumerate(statements, start=1))),
        count=len(statements),
        attempt=attempt,
    )
    request = ChatRequest(
        messages_of(rendered),
        schema=answers_schema([source.alias for source in sources]),
        temperature=how.temperature,
        max_tokens=attempt * (200 + how.tokens_per_claim * len(statements)),
    )
    return _Asked(claims, place + 1, rendered.token, request)


def messages_of(rendered: Rendered) -> tuple[Message, ...]:
    """The two messages of a prompt."""
    return Message("system", rendered.system), Message("user", rendered.user)


def control_of(claims: Sequence[str], sources: Sequence[Source]) -> tuple[str, int]:
    """A statement that no evidence supports, and its place among the others: both derived from the content.

    >>> control_of(["Leave lasts 2 weeks."], [])[0].startswith("Leave lasts 2 weeks, as of ")
    True
    """
    digest = hashlib.sha256("\0".join([*claims, *(source.text for source in sources)]).encode("utf-8", "surrogatepass"))
    number = int.from_bytes(digest.digest()[:8], "big")
    base = next((claim for claim in claims if len(claim) <= _LONGEST_BASE), "The documents were signed")
    there = " ".join((*claims, *(source.text for source in sources)))
    years = (year for step in range(len(_YEARS)) if str(year := _YEARS[(number + step) % len(_YEARS)]) not in there)
    month, day = _MONTHS[number % len(_MONTHS)], number % 27 + 1
    made = f"{base.rstrip(' .!?;:,')}, as of {day} {month} {next(years, 1234)}."
    return made, (number >> 8) % (len(claims) + 1)


def _statements_of(
    one: _Asked, answer: Completion | ChatError, showing: _Showing
) -> Iterator[tuple[JudgedStatement, bool]]:
    """What was said of each claim of a request, and whether it could not be read and is worth another one."""
    if isinstance(answer, ChatError):
        yield from ((_unusable(f"it could not be asked: {_error_detail(answer)}"), False) for _ in one.claims)
        return
    choice = answer.choices[0]
    try:
        readings = read_answers(choice, len(one.claims) + 1, one.seal, showing.sources, showing.confidence)
    except AnswerError as error:
        unread = may_ask_again(choice, error)
        yield from ((_unusable(_error_detail(error)), unread) for _ in one.claims)
        return
    control = readings.pop(one.control - 1)
    if control.unreadable is not None or control.verdict(1) != "FAIL":
        why = "it did not notice a statement that was made wrong to test it"
        yield from ((_unusable(why), control.unreadable is not None) for _ in one.claims)
        return
    titles = showing.titles
    for claim, reading in zip(one.claims, readings, strict=True):
        outcome = outcome_of(claim, reading, question=showing.question, titles=titles, complete=showing.complete)
        yield JudgedStatement(outcome, reading), reading.unreadable is not None


def _unusable(why: str) -> JudgedStatement:
    return JudgedStatement(
        Outcome("unchecked", f"The judge gave no usable answer: {why}."), JudgeAnswers(unreadable=why)
    )


def _error_detail(error: ChatError) -> str:
    text = str(error).strip().rstrip(".")
    return f"{text[:1].lower()}{text[1:300]}"


def _all(model: ChatModel, requests: Sequence[ChatRequest], concurrency: int) -> list[Completion | ChatError]:
    def one(request: ChatRequest) -> Completion | ChatError:
        try:
            return model.complete(request)
        except ChatError as error:
            return error

    if len(requests) < 2 or concurrency < 2:
        return [one(request) for request in requests]
    with ThreadPoolExecutor(max_workers=min(concurrency, len(requests))) as pool:
        return list(pool.map(one, requests))
