"""Asking a model again (docs/concepts.md#self-consistency): probes of claims, and the consensus of several answers.

Each probe is a separate request with the same evidence and the same question, in another wording and at a temperature
above zero, without any part of the tested answer. Where there is no question, or the new answers do not mention a
claim, the claim itself is turned into a question by blanking its critical words.

Whether an answer agrees with a claim, denies it or is silent about it is judged by the embedded network and by the
values in both, never by cosine similarity. An answer that was cut off, declined, or states that it does not know has no
vote; a claim without any vote counts as diverged.
"""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from assay.errors import ChatError, InputError, VerifierError
from assay.models import PairScorer
from assay.models.chat import ChatModel, ChatRequest, Completion, Message
from assay.prompts import Data, load_prompt
from assay.rewrite.probes.blanked_questions import blanked
from assay.schema import ConsistencyProbe, Evidence
from assay.stats import samples_wanted
from assay.text.claims import RuleClaimExtractor, is_abstention, is_fragment
from assay.verify.consistency import Agreement, Consistency, ProbeRequest, cluster_claims, values_differ

_SPECIAL_TOKENS: Final = 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How many answers are sampled, and how they are compared with claims.

    Raises:
        InputError: a setting is out of range.
    """

    samples: int = 3
    """The number of answers to the question at first."""
    adaptive: bool = False
    """Whether the risk of the claims, where known, determines the number of answers: 1, 3 or 5 instead of `samples`,
    and up to `most` where they do not agree (see `assay.stats.agreement.samples_wanted`)."""
    most: int = 5
    """The number of answers to the question where the first ones do not agree on a claim."""
    blanks: int = 2
    """The number of answers to a claim with its critical words blanked, where the other answers are silent about it."""
    temperature: float = 0.7
    """The temperature of the samples; at 0 the model would only repeat itself."""
    concurrency: int = 4
    """How many requests run at once."""
    agrees: float = 0.5
    """The probability of entailment from which an answer agrees with a claim."""
    denies: float = 0.5
    """The probability of contradiction from which an answer denies a claim."""
    max_tokens: int = 256
    """The most tokens of one answer; the network reads it whole together with a claim."""
    seed: int | None = 11
    """The seed of the first sample; each further one gets the next number. None leaves seeds to the endpoint."""

    def __post_init__(self) -> None:
        counts = (self.samples, self.blanks, self.concurrency, self.max_tokens)
        if min(counts) < 1 or self.most < self.samples:
            raise InputError("expected samples, blanks, concurrency and max_tokens of 1 or more, and most >= samples")
        if not 0 < self.temperature <= 2 or not 0 < self.agrees <= 1 or not 0 < self.denies <= 1:
            raise InputError("expected a temperature in (0, 2] and thresholds in (0, 1]")


_Rounds = Generator[list[ChatRequest], list[Completion], T]
"""Yields the requests of one round, receives their completions, and returns the result."""


class SamplingProber:
    """A `Prober` that asks a chat model.

    Args:
        chat: the model.
        scorer: the network that compares answers with claims.
        options: how many answers are sampled, and how they are compared.
    """

    def __init__(self, chat: ChatModel, scorer: PairScorer, options: ProbeOptions | None = None) -> None:
        self._chat = chat
        self._scorer = scorer
        self._options = options or ProbeOptions()

    def probe(self, request: ProbeRequest) -> list[ConsistencyProbe]:
        """One probe for each claim, in order; the requests of a round run at the same time.

        Raises:
            VerifierError: the model could not be asked, gave nothing that can be compared, or the network failed.
        """
        try:
            return driven(self._rounds(request), self._chat, self._options.concurrency)
        except ChatError as error:
            raise VerifierError(f"the model could not be asked again: {error}") from error

    async def aprobe(self, request: ProbeRequest) -> list[ConsistencyProbe]:
        """As `probe`, without blocking the event loop."""
        try:
            return await adriven(self._rounds(request), self._chat, self._options.concurrency)
        except ChatError as error:
            raise VerifierError(f"the model could not be asked again: {error}") from error

    def _open(self, votes: Sequence[tuple[str, bool]]) -> bool:
        """Whether further answers may settle a claim: the first ones differ, or the only one denies it."""
        return _split(votes) or (self._options.adaptive and any(not agrees for _, agrees in votes))

    def _samples(self, request: ProbeRequest) -> int:
        """How often the question is asked at first."""
        if self._options.adaptive and request.risk is not None:
            return samples_wanted(min(max(request.risk, 0.0), 1.0))
        return self._options.samples

    def _rounds(self, request: ProbeRequest) -> _Rounds[list[ConsistencyProbe]]:
        """The rounds of a probe: the question, again where the answers differ, then claims with blanks."""
        claims = tuple(dict.fromkeys(request.claims))
        votes: dict[str, list[tuple[str, bool]]] = {claim: [] for claim in claims}
        usable = 0
        if claims and request.question and request.question.strip():
            samples = self._samples(request)
            answers = yield [self._question(request, n) for n in range(samples)]
            usable += self._count(votes, request, answers)
            if self._options.most > samples and any(self._open(votes[claim]) for claim in claims):
                extra = range(samples, self._options.most)
                usable += self._count(votes, request, (yield [self._question(request, n) for n in extra]))
        unmentioned = [claim for claim in claims if not votes[claim]]
        blanks = {claim: blank for claim in unmentioned if (blank := blanked(claim)) is not None}
        if blanks:
            asked = [(claim, n) for claim in blanks for n in range(self._options.blanks)]
            completions = yield [self._blank(request, blanks[claim], n) for claim, n in asked]
            for (claim, _), completion in zip(asked, completions, strict=True):
                texts = _usable([completion])
                usable += len(texts)
                self._vote(votes, [claim], texts, None)
        if claims and not usable:
            raise VerifierError("the model gave no answer that can be compared: all were cut off or declined")
        return [_probe(claim, votes[claim]) for claim in request.claims]

    def _question(self, request: ProbeRequest, number: int) -> ChatRequest:
        values = {"question": Data.of({"question": request.question or ""})}
        return self._request("probe_answer", request.evidence, number, values)

    def _blank(self, request: ProbeRequest, sentence: str, number: int) -> ChatRequest:
        return self._request("probe_blank", request.evidence, number, {"sentence": Data.of({"sentence": sentence})})

    def _request(
        self, prompt: str, evidence: Sequence[Evidence], number: int, values: Mapping[str, Data]
    ) -> ChatRequest:
        # The passages are rotated each time: an answer that depends on their order is not knowledge.
        start = number % max(1, len(evidence))
        rotated = [*evidence[start:], *evidence[:start]]
        passages = Data(tuple({"id": piece.id, "title": piece.title or "", "text": piece.text} for piece in rotated))
        rendered = load_prompt(prompt).render(evidence=passages, attempt=number + 1, **values)
        seed = self._options.seed
        return ChatRequest(
            (Message("system", rendered.system), Message("user", rendered.user)),
            temperature=self._options.temperature,
            max_tokens=self._options.max_tokens,
            seed=None if seed is None else seed + number,
        )

    def _count(
        self, votes: dict[str, list[tuple[str, bool]]], request: ProbeRequest, completions: Sequence[Completion]
    ) -> int:
        texts = _usable(completions)
        self._vote(votes, list(votes), texts, request.question)
        return len(texts)

    def _vote(
        self,
        votes: dict[str, list[tuple[str, bool]]],
        claims: Sequence[str],
        answers: Sequence[str],
        question: str | None,
    ) -> None:
        """Adds the vote of each answer on each claim, in one call of the network."""
        voting = [answer for answer in answers if not is_abstention(answer)]
        pairs = [(premise_of(answer, question), claim) for answer in voting for claim in claims]
        agreements = iter(_agreements(pairs, self._scorer, self._options))
        for answer in voting:
            for claim in claims:
                agrees = next(agreements)
                if agrees is not None:
                    votes[claim].append((answer, agrees))


def premise_of(answer: str, question: str | None) -> str:
    """An answer as the network reads it: a mere phrase is read together with its question."""
    return f"{question.strip()} {answer}" if question and is_fragment(answer) else answer


def _usable(completions: Sequence[Completion]) -> list[str]:
    """The answers that are complete and not declined."""
    return [c.text for one in completions for c in one.choices if c.complete and c.text.strip()]


def _split(votes: Sequence[tuple[str, bool]]) -> bool:
    return len({agrees for _, agrees in votes}) > 1


def _probe(claim: str, votes: Sequence[tuple[str, bool]]) -> ConsistencyProbe:
    """The probe of a claim; without any vote the agreement is 0."""
    agreement = sum(agrees for _, agrees in votes) / len(votes) if votes else 0.0
    answers = tuple(answer for answer, _ in votes)
    return ConsistencyProbe(claim=claim, original=claim, probe_answers=answers, agreement=agreement)


def _agreements(pairs: Sequence[tuple[str, str]], scorer: PairScorer, options: ProbeOptions) -> list[bool | None]:
    """For each pair of an answer and a claim whether the answer agrees (true), denies (false) or is silent (none).

    Raises:
        VerifierError: the network failed, or an answer and a claim together exceed what it reads.
    """
    unique = list(dict.fromkeys(pairs))
    if not unique:
        return []
    counts = scorer.count_tokens([text for pair in unique for text in pair])
    longest = max(counts[2 * at] + counts[2 * at + 1] for at in range(len(unique)))
    if longest + _SPECIAL_TOKENS > scorer.max_pair_tokens:
        raise VerifierError(
            f"an answer and a claim have {longest} tokens together and the network reads {scorer.max_pair_tokens}; "
            "ask a narrower question, or lower max_tokens"
        )
    rows = scorer.score(unique).tolist()
    known = {pair: _agrees(pair, float(row[0]), float(row[2]), options) for pair, row in zip(unique, rows, strict=True)}
    return [known[pair] for pair in pairs]


def _agrees(pair: tuple[str, str], entailment: float, contradiction: float, options: ProbeOptions) -> bool | None:
    if contradiction >= options.denies:
        return False
    if entailment < options.agrees:
        # Close to the claim in everything but a value: a denial that the network misses.
        return False if entailment + contradiction >= options.agrees and values_differ(*pair) else None
    return not values_differ(*pair)


def _all_at_once(chat: ChatModel, requests: Sequence[ChatRequest], concurrency: int) -> list[Completion]:
    if len(requests) < 2 or concurrency < 2:
        return [chat.complete(request) for request in requests]
    with ThreadPoolExecutor(max_workers=min(concurrency, len(requests))) as pool:
        return list(pool.map(chat.complete, requests))


async def _gathered(chat: ChatModel, requests: Sequence[ChatRequest], concurrency: int) -> list[Completion]:
    limit = asyncio.Semaphore(concurrency)

    async def one(request: ChatRequest) -> Completion:
        async with limit:
            return await chat.acomplete(request)

    return list(await asyncio.gather(*(one(request) for request in requests)))


@dataclass(frozen=True, slots=True)
class Consensus:
    """The consensus of several answers to one request."""

    text: str
    """The claims that more than half of the answers make, as sentences; empty where there are none."""
    uncertain: tuple[str, ...]
    """Claims that some answers make; they should be flagged."""
    dropped: tuple[str, ...]
    """Claims that few answers make."""
    agreement: Agreement
    answers: tuple[str, ...]
    """The answers that were usable."""
    asked: int
    """The number of answers requested."""


def sample_consensus(
    chat: ChatModel,
    request: ChatRequest,
    scorer: PairScorer,
    samples: int,
    *,
    most: int | None = None,
    concurrency: int = 4,
) -> Consensus:
    """Asks `samples` times and keeps the claims that most answers make (docs/concepts.md#self-consistency).

    `assay.stats.samples_wanted` says how often to ask.

    Args:
        chat: the model.
        request: the request; its temperature should be above 0, and each sample gets its own seed.
        scorer: the network that clusters claims.
        samples: the number of answers; all claims of a single answer are kept, since nothing contradicts them.
        most: the number in all where the first answers do not agree on every claim; `samples` by default.
        concurrency: how many requests run at once.

    Raises:
        InputError: fewer than one sample is asked for, or `most` is below `samples`.
        VerifierError: no answer can be compared, or the network failed.
        ChatError: the model could not be asked.
    """
    return driven(_text_rounds(request, scorer, samples, most), chat, concurrency)


async def asample_consensus(
    chat: ChatModel,
    request: ChatRequest,
    scorer: PairScorer,
    samples: int,
    *,
    most: int | None = None,
    concurrency: int = 4,
) -> Consensus:
    """As `sample_consensus`, without blocking the event loop."""
    return await adriven(_text_rounds(request, scorer, samples, most), chat, concurrency)


def _text_rounds(request: ChatRequest, scorer: PairScorer, samples: int, most: int | None) -> _Rounds[Consensus]:
    completions = yield sampled(request, 0, bounded(samples, most)[0])
    found = _consensus(completions, scorer, samples)
    if most is None or most == samples or all(cluster.frequency == 1 for cluster in found.agreement.clusters):
        return found
    completions += yield sampled(request, samples, most)
    return _consensus(completions, scorer, most)


def bounded(samples: int, most: int | None) -> tuple[int, int]:
    """The number of answers to request at first and in all.

    Raises:
        InputError: fewer than one answer at first, or fewer in all than at first.
    """
    if samples < 1:
        raise InputError(f"expected one sample or more, got {samples}")
    if most is not None and most < samples:
        raise InputError(f"expected most to be at least samples, got {most} and {samples}")
    return samples, samples if most is None else most


def sampled(request: ChatRequest, first: int, end: int) -> list[ChatRequest]:
    """Copies of the request for the numbers from `first` up to but excluding `end`, each with its own seed."""
    return [_seeded(request, None if request.seed is None else request.seed + n) for n in range(first, end)]


def driven(rounds: _Rounds[T], chat: ChatModel, concurrency: int) -> T:
    """Carries out the rounds, with the requests of each round on a thread pool."""
    over, result = _advanced(rounds, None)
    while not over:
        over, result = _advanced(rounds, _all_at_once(chat, result, concurrency))
    value: T = result
    return value


async def adriven(rounds: _Rounds[T], chat: ChatModel, concurrency: int) -> T:
    """As `driven`, with the model awaited and the comparisons off the event loop."""
    over, result = _advanced(rounds, None)
    while not over:
        completions = await _gathered(chat, result, concurrency)
        over, result = await asyncio.to_thread(_advanced, rounds, completions)
    value: T = result
    return value


def _advanced(rounds: _Rounds[Any], completions: list[Completion] | None) -> tuple[bool, Any]:
    """Whether the rounds are over, and their result or the next requests; a StopIteration cannot leave a thread.

    Without completions the rounds are started.
    """
    try:
        return False, next(rounds) if completions is None else rounds.send(completions)
    except StopIteration as end:
        return True, end.value


def _seeded(request: ChatRequest, seed: int | None) -> ChatRequest:
    fields: dict[str, Any] = {name: getattr(request, name) for name in ChatRequest.__dataclass_fields__}
    return ChatRequest(**{**fields, "seed": seed, "n": 1})


def _consensus(completions: Sequence[Completion], scorer: PairScorer, asked: int) -> Consensus:
    answers = _usable(completions)
    if not answers:
        raise VerifierError("the model gave no answer that can be compared: all were cut off or declined")
    return consensus_of(answers, scorer, asked)


def consensus_of(answers: Sequence[str], scorer: PairScorer, asked: int | None = None) -> Consensus:
    """The consensus of given answers to one request (docs/concepts.md#self-consistency).

    Args:
        answers: the answers; all claims of a single one are kept, since nothing contradicts them.
        scorer: the network that clusters claims.
        asked: the number of answers requested; the number of answers by default.

    Raises:
        InputError: there is no answer, or they have too many claims to compare.
        VerifierError: the network failed.
    """
    if not answers:
        raise InputError("expected one answer or more, got none")
    extractor = RuleClaimExtractor()
    claims = [[claim.text for claim in extractor.extract(answer) if claim.checkable] for answer in answers]
    agreement = cluster_claims(claims, scorer)
    by_kind = {kind: [c.representative for c in agreement.clusters if c.consistency is kind] for kind in Consistency}
    order = [claim for claims_of_answer in claims for claim in claims_of_answer]
    kept = sorted(by_kind[Consistency.CONSISTENT], key=order.index)
    return Consensus(
        " ".join(kept),
        tuple(by_kind[Consistency.UNCERTAIN]),
        tuple(by_kind[Consistency.INCONSISTENT]),
        agreement,
        tuple(answers),
        len(answers) if asked is None else asked,
    )
