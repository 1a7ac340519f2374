"""Whether another source disagrees with the one that supports a claim, asked of the network in the affirmative.

The network is seldom sure that a source contradicts a claim which it states in other words ("Translator: Tom Archer"),
but it is sure of what a source supports. So each other source that mentions the claim is asked whether it supports the
claim's denial, and whether it supports the claim with a value of its own in place of the claim's. The first source is
then asked whether it contradicts the latter, because a thing may have both values. How these readings are weighed is
fitted (`train/fit_disagreement.py`): no threshold here was set by hand.
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
"""How many other sources are asked about a claim: those that seem to say most against it."""
MOST_EXCHANGES: Final = 3
"""How many values of a source are put into a claim."""
SUPPORTS: Final = 0.5
"""The probability from which a source supports a claim by itself. If only several sources together support it, each of
them may seem to contradict it."""
PAIRS_PER_CLAIM: Final = MOST_SOURCES * (1 + 2 * MOST_EXCHANGES)
"""The most pairs that the network reads for a claim on which other sources are asked."""


@dataclass(frozen=True, slots=True)
class Other:
    """A source other than the one that supports a claim, as it was read for the claim."""

    claim: str
    own: PremiseScores
    """The reading of the source that supports the claim."""
    reading: PremiseScores
    """The reading of the other source."""
    differs: float = 0.0
    """How sure the exact tier is that the other source has another value: then it does not support the claim, whatever
    the network says of the digits."""

    @property
    def source(self) -> str:
        """The id of the other source."""
        return min(self.reading.premise.evidence_ids)

    @property
    def exchanged(self) -> tuple[str, ...]:
        """The claim with its values replaced by those of the other source."""
        text = "\n".join(window.text for window in self.reading.premise.windows)
        return value_substitutions(self.claim, text)[:MOST_EXCHANGES]


@dataclass(frozen=True, slots=True)
class OtherSourceResult:
    """The result of asking another source."""

    other: Other
    signals: Mapping[str, float]
    """`entail`, `contra` and `neutral` of its reading; `denied`: it supports the denial and not the claim; `instead`:
    it supports the claim with another value, which the first source contradicts, and not the claim. All are logits
    except `neutral`."""
    exchanged: str | None = None
    """The claim with the other source's value, if that source supports it."""
    failed: str | None = None
    """Why the network could not be asked; then it is not known whether the sources disagree."""


def others_of(claim: str, read: EntailmentResult, stating: frozenset[str]) -> Iterator[Other]:
    """The sources other than the one that supports a claim most, those most against it first.

    Args:
        claim: the claim as it was read.
        read: the network's result for the claim.
        stating: the sources that are known to state it, by a comparison word by word.
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
    """Asks the other sources, in two calls of the network for all of them.

    The first call asks each other source for the denial and for the claim with its values. The second asks the sources
    that support the claims about what the other sources support instead.
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
    """The network's result for each pair, by the texts of premise and hypothesis."""
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
    """The fitted model of disagreements, with its thresholds."""

    model: LogisticModel
    threshold: float
    """The probability from which two sources disagree, chosen so that few right claims meet such a source."""
    instead: float
    """The value of the signal `instead` from which they disagree whatever the model says, chosen in the same way: most
    labelled contradictions exchange no value, so the model learns nothing about it."""
    most_neutral: float
    """A source read with more neutral than this is not asked: nearly none that disagrees is read so."""
    most_entailed: float
    """A source read with more entailment than this is not asked either, unless it has another value."""
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
        """Whether another source is to be asked: its reading suggests that it mentions what is claimed."""
        if one.reading.neutral > self.most_neutral:
            return False
        return one.reading.entailment <= self.most_entailed or bool(one.exchanged)

    def disagrees(self, reading: OtherSourceResult) -> bool:
        """Whether the other source disagrees."""
        if reading.failed is not None:
            return False
        if reading.signals["instead"] >= self.instead:
            return True
        return speaks_against(reading.signals) and self.model.probability(reading.signals) >= self.threshold


def speaks_against(signals: Mapping[str, float]) -> bool:
    """Whether a source was read as contradicting rather than neutral: the model is fitted on such sources only."""
    return sigmoid(signals["contra"]) >= signals["neutral"]


@lru_cache(maxsize=1)
def load_disagreement() -> Disagreement:
    """The model that ships with the package."""
    return Disagreement.from_json(
        files("assay.guard.conflicts").joinpath("disagreement.json").read_text(encoding="utf-8")
    )
