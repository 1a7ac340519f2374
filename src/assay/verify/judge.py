"""The judge (seed 003): a chat model asked five binary questions about claims that the other tiers are not sure of.

A request has a few claims and all the evidence that fits. Among the claims stands one that was made wrong: the first
one of them with a date that no evidence has. A judge that finds that one in the evidence does not read, or obeys
somebody else, and nothing that it says in the same answer counts.

The judge reports and decides nothing; `judge_outcome` says what may become of a verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from assay.errors import AnswerError, ChatError, InputError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion, Message
from assay.prompts import Data, Rendered, load_prompt
from assay.verify.judge_outcome import Outcome, outcome_of
from assay.verify.judge_quotes import Source
from assay.verify.judge_reading import Reading, answers_schema, read_answers

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
    concurrency: int = 4
    """Requests at once."""
    temperature: float | None = 0.0
    """Of its answers."""

    def __post_init__(self) -> None:
        if min(self.per_request, self.evidence_tokens, self.tokens_per_claim, self.concurrency) < 1:
            raise InputError("expected per_request, evidence_tokens, tokens_per_claim and concurrency of 1 or more")


@dataclass(frozen=True, slots=True)
class Heard:
    """What the judge said of one claim."""

    outcome: Outcome
    reading: Reading


def hear(
    model: ChatModel,
    claims: Sequence[str],
    question: str | None,
    sources: Sequence[Source],
    *,
    most_calls: int,
    complete: bool = True,
    confidence: float = 1.0,
    options: JudgeOptions | None = None,
) -> list[Heard]:
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
    batches = [claims[at : at + how.per_request] for at in range(0, len(claims), how.per_request)]
    asked, left = batches[: max(0, most_calls)], batches[max(0, most_calls) :]
    requests = [_request(batch, question, sources, how) for batch in asked]
    said = _all(model, [one.request for one in requests], how.concurrency)
    titles = tuple(source.evidence.title or "" for source in sources)
    found = [
        heard
        for one, answer in zip(requests, said, strict=True)
        for heard in _heard(one, answer, question, sources, titles, complete=complete, confidence=confidence)
    ]
    beyond = _unusable(f"the check may ask the judge {most_calls} times, and has")
    return [*found, *(beyond for batch in left for _ in batch)]


@dataclass(frozen=True, slots=True)
class _Asked:
    claims: Sequence[str]
    control: int
    """The number of the statement that was made wrong."""
    seal: str
    request: ChatRequest


def _request(claims: Sequence[str], question: str | None, sources: Sequence[Source], how: JudgeOptions) -> _Asked:
    wrong, place = control_of(claims, sources)
    statements = [*claims[:place], wrong, *claims[place:]]
    rendered = load_prompt(PROMPT).render(
        evidence=Data(tuple(source.record for source in sources)),
        question=Data.of({"question": question or ""}),
        statements=Data(tuple({"statement": n, "text": text} for n, text in enumerate(statements, start=1))),
        count=len(statements),
    )
    request = ChatRequest(
        messages_of(rendered), schema=answers_schema([source.alias for source in sources]),
        temperature=how.temperature, max_tokens=200 + how.tokens_per_claim * len(statements),
    )  # fmt: skip
    return _Asked(claims, place + 1, rendered.token, request)


def messages_of(rendered: Rendered) -> tuple[Message, ...]:
    """The two messages of a prompt."""
    return Message("system", rendered.system), Message("user", rendered.user)


def control_of(claims: Sequence[str], sources: Sequence[Source]) -> tuple[str, int]:
    """A statement that no evidence bears out, and its place among the others: both derived from the content.

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


def _heard(
    one: _Asked,
    answer: Completion | ChatError,
    question: str | None,
    sources: Sequence[Source],
    titles: Sequence[str],
    *,
    complete: bool,
    confidence: float,
) -> Iterator[Heard]:
    if isinstance(answer, ChatError):
        yield from (_unusable(f"it could not be asked: {_bare(answer)}") for _ in one.claims)
        return
    try:
        readings = read_answers(answer.choices[0], len(one.claims) + 1, one.seal, sources, confidence)
    except AnswerError as error:
        yield from (_unusable(_bare(error)) for _ in one.claims)
        return
    control = readings.pop(one.control - 1)
    if control.unreadable is not None or control.verdict(1) != "FAIL":
        why = "it did not notice a statement that was made wrong to test it"
        yield from (_unusable(why) for _ in one.claims)
        return
    for claim, reading in zip(one.claims, readings, strict=True):
        yield Heard(outcome_of(claim, reading, question=question, titles=titles, complete=complete), reading)


def _unusable(why: str) -> Heard:
    return Heard(Outcome("unchecked", f"The judge gave no usable answer: {why}."), Reading(unreadable=why))


def _bare(error: ChatError) -> str:
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
