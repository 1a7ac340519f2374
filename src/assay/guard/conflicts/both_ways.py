"""Whether two sentences of two sources can both be right: each is read with the other as its premise.

What the network says of two sentences depends on which of them is the premise. Of "The hull is aluminium" and
"Shipwrights laid the hull in larch" it may see nothing one way, and a contradiction the other way. Two sentences that
disagree do so in both directions; two that mention different things contradict each other in at most one, by chance.
So the claim, the sentence that supports it, and the closest sentences of another source are read both ways, and a
fitted model (`train/fit_both_ways.py`) tells from the readings whether they disagree. No word list takes part in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import fmean
from typing import Any, Final

from assay.errors import VerifierError
from assay.guard.conflicts.source_matching import claim_share_in_passage, is_record, passage_share_in_claim
from assay.models import PairScorer
from assay.text.sentences import split_sentences
from assay.verify.network import LogisticModel, logit

MOST_SENTENCES: Final = 2
"""How many sentences of another source are read: those that say most of what is claimed."""
LONGEST: Final = 400
"""The most characters of a sentence that are read; the rest is cut off."""
LEAST_ALIKE: Final = 0.2
"""The lowest share of the claim that the sentence says, or of the sentence that the claim says, for both to be read."""
SPECIAL_TOKENS: Final = 8
"""Tokens of a pair that are left for what stands between and around the texts."""
SIGNS: Final = {
    "contra": 1,
    "least_contra": 1,
    "most_contra": 1,
    "neutral": -1,
    "most_neutral": -1,
    "entail": -1,
    "says": 1,
    "shares": 1,
}
"""The signals that the model may read, and which way each may move the probability of a disagreement."""


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A claim with the sentence that supports it, and a sentence of another source."""

    claim: str
    behind: str
    other: str

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that the network reads, as (premise, hypothesis)."""
        return (
            (self.other, self.claim),
            (self.claim, self.other),
            (self.behind, self.other),
            (self.other, self.behind),
        )


def sentence_pairs(claim: str, own: str, other: str) -> Iterator[SentencePair]:
    """The sentence of one passage that says most of a claim, paired with the closest sentences of another passage.

    >>> told = sentence_pairs("The gate is open.", "The gate is open.", "The gate is closed. Dogs may swim.")
    >>> [one.other for one in told]
    ['The gate is closed.']

    Args:
        claim: the claim.
        own: the passage that supports it.
        other: the passage of the other source.
    """
    behind = max(_sentences(own), key=lambda one: claim_share_in_passage(claim, one, ()), default=None)
    if behind is None:
        return
    alike = {
        one: max(passage_share_in_claim(claim, one), claim_share_in_passage(claim, one, ()))
        for one in _sentences(other)
    }
    for one in sorted(alike, key=lambda one: -alike[one])[:MOST_SENTENCES]:
        if alike[one] >= LEAST_ALIKE:
            yield SentencePair(claim, behind, one)


def _sentences(text: str) -> list[str]:
    """The sentences of a text that are prose: the meaning of a row of figures depends on what stands above it."""
    found = [text[one.start : one.end].strip()[:LONGEST] for one in split_sentences(text)]
    return [one for one in found if is_prose(one)]


def is_prose(text: str) -> bool:
    """Whether a sentence is prose: no record, and more letters than other signs.

    >>> is_prose("The hall has 30 seats."), is_prose("hall,150,8,30,72")
    (True, False)
    """
    signs = "".join(text.split())
    worded = " " in text and 2 * sum(sign.isalpha() for sign in signs) > len(signs)
    return worded and not is_record(text)


def read_both_ways(pairs: Sequence[SentencePair], scorer: PairScorer) -> list[dict[str, float] | None]:
    """The signals of each pair, in one call of the network; None of a pair that is too long for it.

    Raises:
        VerifierError: the network failed.
    """
    known = score_fitting([texts for one in pairs for texts in one.pairs], scorer)
    return [
        _signals(one, [known[texts] for texts in one.pairs]) if all(texts in known for texts in one.pairs) else None
        for one in pairs
    ]


def score_fitting(asked: Sequence[tuple[str, str]], scorer: PairScorer) -> dict[tuple[str, str], list[float]]:
    """The network's scores of premises and claims, in one call; pairs that are too long for it have none.

    Raises:
        VerifierError: the network failed.
    """
    unique = list(dict.fromkeys(asked))
    sizes = scorer.count_tokens([f"{premise} {claim}" for premise, claim in unique]) if unique else []
    fitting = [one for one, size in zip(unique, sizes, strict=True) if size <= scorer.max_pair_tokens - SPECIAL_TOKENS]
    return dict(zip(fitting, scorer.score(fitting).tolist(), strict=True)) if fitting else {}


def _signals(pair: SentencePair, readings: Sequence[Sequence[float]]) -> dict[str, float]:
    entailment, neutral, contradiction = zip(*readings, strict=True)
    said, shared = passage_share_in_claim(pair.claim, pair.other), claim_share_in_passage(pair.claim, pair.other, ())
    return {
        "contra": logit(fmean(contradiction)),
        "least_contra": logit(min(contradiction)),
        "most_contra": logit(max(contradiction)),
        "neutral": fmean(neutral),
        "most_neutral": max(neutral),
        "entail": logit(fmean(entailment)),
        "says": said,
        "shares": shared,
    }


@dataclass(frozen=True, slots=True)
class BothWays:
    """The fitted model, and the probability from which two sentences disagree."""

    model: LogisticModel
    threshold: float
    """The probability from which two sentences disagree: few right claims meet such a sentence."""
    most_neutral: float
    """If the claim was read beside the other source with more neutral than this, the source is not asked."""
    digest: str = ""
    """The digest of the file."""

    @classmethod
    def from_json(cls, text: str) -> BothWays:
        """Reads the fitted file.

        Raises:
            VerifierError: the file is no JSON or lacks a part.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            model = LogisticModel(float(raw["intercept"]), {k: float(v) for k, v in raw["weights"].items()})
            digest = hashlib.sha256(text.encode()).hexdigest()
            return cls(model, float(raw["threshold"]), float(raw["most_neutral"]), digest=digest)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = (
                f"The model of sentences read both ways cannot be read ({error}): expected JSON with intercept, "
                "weights, threshold and most_neutral. Reinstall assay, or refit with `python -m train.fit_both_ways`."
            )
            raise VerifierError(message) from error

    def disagree(self, signals: Mapping[str, float]) -> bool:
        """Whether two sentences with these signals from `read_both_ways` disagree."""
        return self.model.probability(signals) >= self.threshold


@lru_cache(maxsize=1)
def load_both_ways() -> BothWays:
    """The model that ships with the package."""
    return BothWays.from_json(files("assay.guard.conflicts").joinpath("both_ways.json").read_text(encoding="utf-8"))
