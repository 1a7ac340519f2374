"""The network tier: scores every claim against its premises in one call (docs/concepts.md#entailment).

    faith(c) = max over premises e of P(entailment | e, c)
    a claim is contradicted where max over premises e of P(contradiction | e, c) exceeds the policy's threshold

The tier reports and does not decide: it gives signals for the calibrated combination, the premise that supports best,
the one that contradicts most, and on request a conflict between sources. Contradiction is reported next to support and
is never averaged with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.errors import VerifierError
from assay.models import PairScorer, WordScores, score_words, words_of
from assay.schema import GRANULARITIES, ClaimCandidates, Premise

ENTAILMENT_SIGNALS = (
    "entail_sentence",
    "entail_passage",
    "entail_document",
    "contra_sentence",
    "contra_passage",
    "contra_document",
    "entail_max",
    "contra_max",
    "entail_top",
    "contra_top",
    "entail_mean",
    "contra_mean",
    "margin",
    "contra_related",
    "related",
    "wrong_word",
    "wrong_word_document",
)
"""The names of the signals, in the order of the combination. All are in [0, 1] but `margin`, which is
entail_max - contra_max in [-1, 1]. A granularity without a premise has the value of the maximum. `top` is the first
passage, `mean` is over the passages, `related` is the largest share of the claim's words in a premise, and
`contra_related` is the largest contradiction times the share of the claim's words that its premise contains: a premise
on another subject contradicts little. `wrong_word` is the largest probability of a word of the claim to be wrong under
the premise that supports it best, `wrong_word_document` the same under the coarsest premise; for a network without
scores of words both are 1 - entailment of that premise."""

SPECIAL_TOKENS = 4
"""The most special tokens of a pair (RoBERTa has four, BERT three)."""
LEAST_PREMISE_TOKENS = 24
"""The fewest tokens that a claim must leave for its premise; a shorter part of a premise has no meaning of its own."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+", "a an and are as at be by for from has have in is it its of on or that the this to was were will"
    )
)


@dataclass(frozen=True, slots=True)
class PremiseScores:
    """The network's scores of one claim under one premise; the three probabilities add up to 1."""

    premise: Premise
    entailment: float
    neutral: float
    contradiction: float
    related: float
    """The share of the claim's words that the premise contains."""
    wrong: WordScores = ()
    """For each of the claim's words the probability that it is wrong; empty for a network without scores of words."""

    @property
    def wrong_word(self) -> float:
        """The largest probability of a word to be wrong."""
        return max(self.wrong, default=1 - self.entailment)


@dataclass(frozen=True, slots=True)
class SourceConflict:
    """One source supports a claim and another contradicts it."""

    supporting: PremiseScores
    contradicting: PremiseScores


@dataclass(frozen=True, slots=True)
class EntailmentResult:
    """The network's scores of one claim under all of its premises."""

    entailment: float = 0.0
    """The largest probability of entailment; 0 without a premise."""
    contradiction: float = 0.0
    """The largest probability of contradiction; 0 without a premise."""
    neutral: float = 1.0
    """The probability of neutral under the premise with the largest entailment or contradiction."""
    best_support: PremiseScores | None = None
    worst_contradiction: PremiseScores | None = None
    signals: dict[str, float] = field(default_factory=dict)
    """A value for each of `ENTAILMENT_SIGNALS`; empty where the claim could not be judged."""
    judgements: tuple[PremiseScores, ...] = ()
    """One for each premise, in the order of the input."""
    words: tuple[tuple[int, int], ...] = ()
    """Start and end of the claim's words, in the order of `PremiseScores.wrong`."""
    claim_length: int = 0
    """Characters of the claim as the network read it."""
    claim_at: int | None = None
    """Where the claim's own words begin in the text that the network read; none where unknown: then they end it."""
    judged: int = 0
    """The number of pairs that the network scored for this claim."""
    failed: str | None = None
    """Why the claim could not be scored; such a claim is unchecked, never clean."""

    def conflict(
        self, threshold: float, may: Callable[[str, str, str], bool] = lambda *_: True
    ) -> SourceConflict | None:
        """The strongest support and the strongest contradiction by different sources, both at least the threshold.

        Only premises from a single piece of evidence count: one assembled from several does not show which disagrees.

        Args:
            threshold: the least probability on either side.
            may: whether two sources can conflict at all, given the supporting id, the other id and its passage.
        """
        single = [j for j in self.judgements if len(j.premise.evidence_ids) == 1]
        supporting = [j for j in single if j.entailment >= threshold]
        contradicting = [j for j in single if j.contradiction >= threshold]
        pairs = [
            SourceConflict(s, c)
            for s in supporting
            for c in contradicting
            if s.premise.evidence_ids != c.premise.evidence_ids
            and may(min(s.premise.evidence_ids), min(c.premise.evidence_ids), c.premise.text)
        ]
        return max(pairs, key=lambda p: p.supporting.entailment + p.contradicting.contradiction, default=None)


@dataclass(frozen=True, slots=True)
class _Work:
    """The pairs of one claim: for each premise the texts that it is split into, or why the claim cannot be scored."""

    candidates: ClaimCandidates
    parts: tuple[tuple[str, ...], ...] = ()
    words: tuple[tuple[int, int], ...] = ()
    failed: str | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(text, self.candidates.claim) for texts in self.parts for text in texts]


def judge(candidates: Sequence[ClaimCandidates], scorer: PairScorer) -> list[EntailmentResult]:
    """Score all claims against their premises in one call of the network.

    A premise that does not fit next to its claim is split into overlapping parts, and has the largest entailment and
    the largest contradiction of its parts; nothing is truncated. A claim that leaves no room for a premise fails. If
    the call fails, each claim is scored in a call of its own, so that one bad claim does not make others fail.

    Args:
        candidates: claims with their premises.
        scorer: the network.

    Returns:
        One result for each claim, in order. A result does not depend on the other claims of the call.
    """
    try:
        work = _plan(candidates, scorer)
    except VerifierError as error:
        return [EntailmentResult(failed=str(error)) for _ in candidates]
    pairs = [pair for item in work for pair in item.pairs]
    try:
        rows = iter(_score_pairs(pairs, scorer))
    except VerifierError:
        return [_judge_alone(item, scorer) for item in work]
    return [_result(item, [next(rows) for _ in item.pairs]) for item in work]


def _judge_alone(work: _Work, scorer: PairScorer) -> EntailmentResult:
    try:
        return _result(work, _score_pairs(work.pairs, scorer))
    except VerifierError as error:
        return EntailmentResult(failed=str(error))


@dataclass(frozen=True, slots=True)
class _Row:
    """The network's scores of one pair."""

    entailment: float
    neutral: float
    contradiction: float
    wrong: WordScores


def _score_pairs(pairs: Sequence[tuple[str, str]], scorer: PairScorer) -> list[_Row]:
    """The network's scores of each pair.

    Raises:
        VerifierError: the scorer failed, or its scores are not probabilities.
    """
    if not pairs:
        return []
    scores, words = score_words(scorer, pairs)
    if scores.shape != (len(pairs), 3):
        raise VerifierError(f"{scorer.name}: expected scores of shape {(len(pairs), 3)}, got {scores.shape}")
    rows: list[tuple[float, float, float]] = [(float(e), float(n), float(c)) for e, n, c in scores.tolist()]
    sane = all(all(-1e-6 <= p <= 1 + 1e-6 for p in row) and abs(sum(row) - 1) < 1e-3 for row in rows)
    if not sane:
        raise VerifierError(f"{scorer.name}: expected rows of three probabilities that add up to 1, got something else")
    if not all(0 <= p <= 1 for row in words for p in row):
        raise VerifierError(f"{scorer.name}: expected probabilities of words in [0, 1], got something else")
    return [_Row(_clip(e), _clip(n), _clip(c), wrong) for (e, n, c), wrong in zip(rows, words, strict=True)]


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


def _plan(candidates: Sequence[ClaimCandidates], scorer: PairScorer) -> list[_Work]:
    """The texts that each claim is scored against; the tokens of equal texts are counted once."""
    claims = list(dict.fromkeys(c.claim for c in candidates))
    texts = list(dict.fromkeys(p.text for c in candidates for p in c.premises))
    counts = scorer.count_tokens([*claims, *texts])
    claim_tokens = dict(zip(claims, counts, strict=False))
    text_tokens = dict(zip(texts, counts[len(claims) :], strict=True))
    work = []
    for item in candidates:
        room = scorer.max_pair_tokens - SPECIAL_TOKENS - claim_tokens[item.claim]
        if room < LEAST_PREMISE_TOKENS:
            reason = (
                f"the claim has {claim_tokens[item.claim]} tokens and the network reads {scorer.max_pair_tokens} "
                f"together with the evidence; split it into shorter claims"
            )
            work.append(_Work(item, failed=reason))
            continue
        try:
            parts = tuple(_parts(p.text, text_tokens[p.text], room, scorer) for p in item.premises)
            work.append(_Work(item, parts, words_of(scorer, item.claim)))
        except VerifierError as error:
            work.append(_Work(item, failed=str(error)))
    return work


def _parts(text: str, tokens: int, room: int, scorer: PairScorer) -> tuple[str, ...]:
    """The text as a whole where it fits, else in overlapping parts that fit."""
    if tokens <= room:
        return (text,)
    middle = len(text) // 2
    left, right = middle + len(text) // 16, middle - len(text) // 16
    halves = text[: _split_point(text, left)], text[_split_point(text, right) :]
    if max(map(len, halves)) >= len(text):
        raise VerifierError(f"{scorer.name}: {tokens} tokens in {len(text)} characters cannot be divided to fit {room}")
    counts = scorer.count_tokens(halves)
    return tuple(part for half, n in zip(halves, counts, strict=True) for part in _parts(half, n, room, scorer))


def _split_point(text: str, near: int) -> int:
    """The first space at most 24 characters after an index, else the index itself."""
    point = next((i for i in range(near, min(near + 24, len(text))) if text[i].isspace()), near)
    return max(1, min(point, len(text) - 1))


def _content_words(text: str) -> set[str]:
    """Content words by their first six letters, and numbers."""
    return {word[:6] for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS}


def _result(work: _Work, rows: Sequence[_Row]) -> EntailmentResult:
    if work.failed is not None:
        return EntailmentResult(failed=work.failed)
    judgements = _judgements(work, rows)
    if not judgements:
        return EntailmentResult(signals=dict.fromkeys(ENTAILMENT_SIGNALS, 0.0))
    # Ties go to the finest granularity: sentences come first. Other granularities are reported but do not decide.
    read = [j for j in judgements if j.premise.granularity in GRANULARITIES] or list(judgements)
    support = max(read, key=lambda j: j.entailment)
    against = max(read, key=lambda j: j.contradiction)
    decisive = against if against.contradiction >= support.entailment else support
    return EntailmentResult(
        entailment=support.entailment,
        contradiction=against.contradiction,
        neutral=decisive.neutral,
        best_support=support,
        worst_contradiction=against,
        signals=_signals(read),
        judgements=judgements,
        words=work.words,
        claim_length=len(work.candidates.claim),
        judged=len(set(work.pairs)),
    )


def _judgements(work: _Work, rows: Sequence[_Row]) -> tuple[PremiseScores, ...]:
    claim_words = _content_words(work.candidates.claim)
    result = []
    offset = 0
    for premise, texts in zip(work.candidates.premises, work.parts, strict=True):
        part_rows = rows[offset : offset + len(texts)]
        offset += len(texts)
        entailment, contradiction = max(r.entailment for r in part_rows), max(r.contradiction for r in part_rows)
        if entailment + contradiction > 1:  # two parts that disagree: the contradiction stands
            entailment = 1 - contradiction
        related = len(claim_words & _content_words(premise.text)) / len(claim_words) if claim_words else 0.0
        neutral = part_rows[0].neutral if len(part_rows) == 1 else max(0.0, 1 - entailment - contradiction)
        wrong = tuple(map(min, zip(*(r.wrong for r in part_rows), strict=True)))  # right where any part supports it
        result.append(PremiseScores(premise, entailment, neutral, contradiction, related, wrong))
    return tuple(result)


def _signals(judgements: Sequence[PremiseScores]) -> dict[str, float]:
    """The named signals; see `ENTAILMENT_SIGNALS`."""
    entail_max = max(j.entailment for j in judgements)
    contra_max = max(j.contradiction for j in judgements)
    signals: dict[str, float] = {}
    for granularity in GRANULARITIES:
        own = [j for j in judgements if j.premise.granularity == granularity]
        signals[f"entail_{granularity}"] = max((j.entailment for j in own), default=entail_max)
        signals[f"contra_{granularity}"] = max((j.contradiction for j in own), default=contra_max)
    passages = [j for j in judgements if j.premise.granularity == "passage"] or list(judgements)
    signals |= {
        "entail_max": entail_max,
        "contra_max": contra_max,
        "entail_top": passages[0].entailment,
        "contra_top": passages[0].contradiction,
        "entail_mean": sum(j.entailment for j in passages) / len(passages),
        "contra_mean": sum(j.contradiction for j in passages) / len(passages),
        "margin": entail_max - contra_max,
        "contra_related": max(j.contradiction * j.related for j in judgements),
        "related": max(j.related for j in judgements),
        "wrong_word": max(judgements, key=lambda j: j.entailment).wrong_word,
        "wrong_word_document": judgements[-1].wrong_word,
    }
    return {name: signals[name] for name in ENTAILMENT_SIGNALS}
