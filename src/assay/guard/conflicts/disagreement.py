"""Whether another source says something else of what a source states: asked of a network in the affirmative.

A network is seldom sure that a source contradicts a claim which it tells in other words ("Translator: Tom Archer"), but
it is sure of what a source supports. So for a claim that one source supports each other source that mentions it is
asked whether it supports the claim's denial, and the claim with a value of its own in the place of the claim's; the
first source is asked whether it contradicts the latter, since two values of one thing that may have both are no
disagreement. What it comes to is fitted (`train/fit_disagreement.py`): no threshold here was set by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from assay.errors import VerifierError
from assay.models import PairScorer
from assay.schema import ClaimCandidates, Premise
from assay.text.rewording import denial_of, value_substitutions
from assay.verify.network import EntailmentResult, LogisticModel, PremiseScores, judge, logit, sigmoid

MOST_SOURCES: Final = 2
"""Sources that are asked for a claim, those that seem to say most against it."""
MOST_EXCHANGES: Final = 3
"""Values of a source that are put into a claim."""
SUPPORTS: Final = 0.5
"""From here on a source by itself supports a claim. What only several sources support together each of them may seem
to contradict."""
PAIRS_PER_CLAIM: Final = MOST_SOURCES * (1 + 2 * MOST_EXCHANGES)
"""Pairs at most that the network reads for a claim on which other sources are asked."""


@dataclass(frozen=True, slots=True)
class Other:
    """Another source beside the one that supports a claim, as it was read for the claim."""

    claim: str
    own: PremiseScores
    """The reading of the source that supports the claim."""
    reading: PremiseScores
    """That of the other source."""
    differs: float = 0.0
    """How sure a comparison of values is that the other source has another one: then it does not support the claim,
    whatever the network makes of the digits."""

    @property
    def source(self) -> str:
        """The id of the other source."""
        return min(self.reading.premise.evidence_ids)

    @property
    def exchanged(self) -> tuple[str, ...]:
        """The claim with values of the other source."""
        text = "\n".join(window.text for window in self.reading.premise.windows)
        return value_substitutions(self.claim, text)[:MOST_EXCHANGES]


@dataclass(frozen=True, slots=True)
class OtherSourceResult:
    """What was found of another source."""

    other: Other
    signals: Mapping[str, float]
    """`entail`, `contra` and `neutral` of its reading; `denied`, that it supports the denial and not the claim;
    `instead`, that it supports the claim with another value, which the first source contradicts, and not the claim.
    Logits but for `neutral`."""
    exchanged: str | None = None
    """The claim as the other source would have it, where it supports that."""
    failed: str | None = None
    """Why the network could not be asked; whether the sources disagree is not known then."""


def others_of(claim: str, read: EntailmentResult, stating: frozenset[str]) -> Iterator[Other]:
    """The sources that were read by themselves beside the one that supports a claim most, each by what it says.

    Args:
        claim: the claim as it was read.
        read: what the network found of it.
        stating: the sources that are known to state it, by whatever was compared word by word.
    """
    alone: dict[str, list[PremiseScores]] = {}
    for one in read.judgements:
        if len(one.premise.evidence_ids) == 1:
            alone.setdefault(min(one.premise.evidence_ids), []).append(one)
    ranked = {name: max(rows, key=lambda row: row.entailment - row.contradiction) for name, rows in alone.items()}
    own = max(
        ranked,
        key=lambda name: (name in stating, ranked[name].entailment - ranked[name].contradiction, name),
        default="",
    )
    if not own or not (own in stating or ranked[own].entailment >= SUPPORTS):
        return
    worst = {name: max(rows, key=_against) for name, rows in alone.items() if name != own}
    for name in sorted(worst, key=lambda name: (-_against(worst[name])[0], name)):
        yield Other(claim, ranked[own], worst[name])


def _against(one: PremiseScores) -> tuple[float, int]:
    return one.contradiction - one.neutral, -len(one.premise.text)


def ask_other_sources(others: Sequence[Other], scorer: PairScorer) -> list[OtherSourceResult]:
    """What the network makes of the other sources, in two calls for all of them.

    The first asks each other source for the denial and for what it might say instead, the second the sources that bear
    the claims out for what the others do say instead.
    """
    there = _asked([(one.reading.premise, text) for one in others for text in _texts(one)], scorer)
    borne = [(one, text) for one in others for text in one.exchanged if _supports(there, one, text)]
    here = _asked([(one.own.premise, text) for one, text in borne], scorer)
    return [_reading_of(one, there, here) for one in others]


_Asked = Mapping[tuple[str, str], EntailmentResult]


def _texts(one: Other) -> tuple[str, ...]:
    return denial_of(one.claim), *one.exchanged


def _supports(there: _Asked, one: Other, text: str) -> bool:
    return there[one.reading.premise.text, text].entailment >= SUPPORTS


def _asked(pairs: Sequence[tuple[Premise, str]], scorer: PairScorer) -> _Asked:
    """What the network says of each pair by its texts."""
    unique = {(premise.text, text): premise for premise, text in pairs}
    candidates = [ClaimCandidates(text, (premise,)) for (_, text), premise in unique.items()]
    found = judge(candidates, scorer) if candidates else []
    return dict(zip(unique, found, strict=True))


def _reading_of(one: Other, there: _Asked, here: _Asked) -> OtherSourceResult:
    theirs, ours = one.reading.premise.text, one.own.premise.text
    said = [there[theirs, text] for text in _texts(one)] + [result for (own, _), result in here.items() if own == ours]
    failed = next((result.failed for result in said if result.failed is not None), None)
    if failed is not None:
        return OtherSourceResult(one, {}, failed=failed)
    silent = max(1 - one.reading.entailment, one.differs)
    instead = {
        text: min(there[theirs, text].entailment, here[ours, text].contradiction, silent)
        for text in one.exchanged
        if _supports(there, one, text)
    }
    best = max(instead, key=lambda text: instead[text], default=None)
    signals = {
        "entail": logit(one.reading.entailment),
        "contra": logit(one.reading.contradiction),
        "neutral": one.reading.neutral,
        "denied": logit(min(there[theirs, denial_of(one.claim)].entailment, silent)),
        "instead": logit(instead[best] if best is not None else 0.0),
    }
    return OtherSourceResult(one, signals, best)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The fitted model of a disagreement, and from where on it is one."""

    model: LogisticModel
    threshold: float
    """The probability from which two sources disagree: the one at which few right claims meet such a source."""
    instead: float
    """The signal of that name from which they disagree whatever the model says, chosen likewise: most labelled
    contradictions exchange no value, so that a model of them learns nothing of it."""
    most_neutral: float
    """Above this share of neutral another source is not asked: nearly none that disagrees is read so."""
    most_entailed: float
    """Above this probability of entailment it is not asked either, unless it has another value."""
    digest: str = ""
    """Of the file."""

    @classmethod
    def from_json(cls, text: str) -> Disagreement:
        """Read the fitted file.

        Raises:
            VerifierError: the file is no JSON or lacks a part.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            model = LogisticModel(float(raw["intercept"]), {k: float(v) for k, v in raw["weights"].items()})
            threshold, instead = float(raw["threshold"]), float(raw["instead"])
            neutral, entailed = float(raw["most_neutral"]), float(raw["most_entailed"])
            digest = hashlib.sha256(text.encode()).hexdigest()
            return cls(model, threshold, instead, neutral, entailed, digest=digest)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = (
                f"The model of disagreements cannot be read ({error}): expected JSON with intercept, weights, "
                "threshold, instead, most_neutral and most_entailed. Reinstall assay, or refit with "
                "`python -m train.fit_disagreement`."
            )
            raise VerifierError(message) from error

    def asks(self, one: Other) -> bool:
        """Whether another source mentions what is claimed, as far as its reading tells, and so is asked."""
        if one.reading.neutral > self.most_neutral:
            return False
        return one.reading.entailment <= self.most_entailed or bool(one.exchanged)

    def disagrees(self, reading: OtherSourceResult) -> bool:
        """Whether the other source says something else."""
        if reading.failed is not None:
            return False
        if reading.signals["instead"] >= self.instead:
            return True
        return speaks_against(reading.signals) and self.model.probability(reading.signals) >= self.threshold


def speaks_against(signals: Mapping[str, float]) -> bool:
    """Whether the reading of a source is a contradiction rather than nothing: the model is fitted on such alone."""
    return sigmoid(signals["contra"]) >= signals["neutral"]


@lru_cache(maxsize=1)
def load_disagreement() -> Disagreement:
    """The model that ships with the package."""
    return Disagreement.from_json(
        files("assay.guard.conflicts").joinpath("disagreement.json").read_text(encoding="utf-8")
    )
