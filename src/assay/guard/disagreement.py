"""Whether another source says something else of what a source states: asked of a network in the affirmative.

A network is seldom sure that a source contradicts a claim which it tells in other words ("Translator: Tom Archer"), but
it is sure of what a source bears out. So for a claim that one source bears out each other source that speaks of it is
asked whether it bears out the claim's denial, and the claim with a value of its own in the place of the claim's; the
first source is asked whether it contradicts the latter, since two values of one thing that may have both are no
disagreement. What the passages make of each other is read besides. A fitted model says what all of it comes to
(`train/fit_disagreement.py`); nothing here hangs on a threshold set by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from assay.errors import VerifierError
from assay.guard.conflicts import says_of_it, speaks_of_it
from assay.models.interface import PairScorer
from assay.schema.premise import ClaimCandidates, Premise
from assay.text.denying import denial_of
from assay.text.exchanging import exchanges
from assay.verify.combine import LogisticModel, logit
from assay.verify.entailment import EntailmentResult, Judgement, judge

MOST_SOURCES: Final = 2
"""Sources that are asked for a claim, those that seem to say most against it."""
MOST_EXCHANGES: Final = 3
"""Values of a source that are put into a claim."""
PAIRS_PER_CLAIM: Final = MOST_SOURCES * (1 + 2 + 2 * MOST_EXCHANGES)
"""Pairs at most that the network reads for a claim on which other sources are asked."""


@dataclass(frozen=True, slots=True)
class Other:
    """Another source beside the one that bears a claim out, as it was read for the claim."""

    claim: str
    own: Judgement
    """The reading of the source that bears the claim out."""
    reading: Judgement
    """That of the other source."""
    length: int = 0

    @property
    def source(self) -> str:
        """The id of the other source."""
        return min(self.reading.premise.evidence_ids)

    @property
    def exchanged(self) -> tuple[str, ...]:
        """The claim with values of the other source."""
        text = "\n".join(window.text for window in self.reading.premise.windows)
        return exchanges(self.claim, text)[:MOST_EXCHANGES]


@dataclass(frozen=True, slots=True)
class Heard:
    """What was found of another source."""

    other: Other
    signals: Mapping[str, float]
    exchanged: str | None = None
    """The claim as the other source would have it, where it bears that out."""


def others_of(claim: str, read: EntailmentResult, stating: frozenset[str]) -> Iterator[Other]:
    """The sources that were read by themselves beside the one that bears a claim out most, each by what it says.

    Args:
        claim: the claim as it was read.
        read: what the network found of it.
        stating: the sources that are known to state it, by whatever was compared word by word.
    """
    alone: dict[str, list[Judgement]] = {}
    for one in read.judgements:
        if len(one.premise.evidence_ids) == 1:
            alone.setdefault(min(one.premise.evidence_ids), []).append(one)
    if len(alone) < 2:
        return
    ranked = {name: max(rows, key=lambda row: row.entailment - row.contradiction) for name, rows in alone.items()}
    own = max(ranked, key=lambda name: (name in stating, ranked[name].entailment - ranked[name].contradiction, name))
    worst = {name: max(rows, key=_against) for name, rows in alone.items() if name != own}
    for name in sorted(worst, key=lambda name: (-_against(worst[name])[0], name)):
        yield Other(claim, ranked[own], worst[name])


def _against(one: Judgement) -> tuple[float, int]:
    return one.contradiction - one.neutral, -len(one.premise.text)


def hear(others: Sequence[Other], scorer: PairScorer) -> list[Heard]:
    """What the network makes of the other sources, in two calls for all of them.

    A source of which the network cannot be asked is heard with what is known of it.
    """
    first = _asked([(one.reading.premise, text) for one in others for text in _texts(one)], scorer)
    second = _asked(
        [(one.own.premise, text) for one in others for text in (*one.exchanged, one.reading.premise.text)], scorer
    )
    return [_heard(one, first, second) for one in others]


_Asked = Mapping[tuple[str, str], Judgement]


def _texts(one: Other) -> tuple[str, ...]:
    return denial_of(one.claim), one.own.premise.text, *one.exchanged


def _asked(pairs: Sequence[tuple[Premise, str]], scorer: PairScorer) -> _Asked:
    """What the network says of each pair by its texts; what it fails on is left out."""
    unique = {(premise.text, text): premise for premise, text in pairs}
    candidates = [ClaimCandidates(text, (premise,)) for (_, text), premise in unique.items()]
    found = judge(candidates, scorer) if candidates else []
    return {
        pair: result.judgements[0] for pair, result in zip(unique, found, strict=True) if result.judgements
    }  # fmt: skip


_UNKNOWN: Final = Judgement(Premise("", "other", ()), 0.0, 1.0, 0.0, 0.0)


def _heard(one: Other, theirs: _Asked, ours: _Asked) -> Heard:
    there, here = one.reading.premise.text, one.own.premise.text
    denied = theirs.get((there, denial_of(one.claim)), _UNKNOWN)
    back, forth = theirs.get((there, here), _UNKNOWN), ours.get((here, there), _UNKNOWN)
    borne, best = 0.0, None
    signals = {"exchange": 0.0, "borne_out": 0.0, "denied_here": 0.0, "exchange_both": 0.0}
    for text in one.exchanged:
        that, this = theirs.get((there, text), _UNKNOWN), ours.get((here, text), _UNKNOWN)
        both = min(that.entailment, this.contradiction)
        if best is None or both > borne:
            borne, best = both, text
            signals = {
                "exchange": 1.0, "borne_out": logit(that.entailment), "denied_here": logit(this.contradiction),
                "exchange_both": logit(both),
            }  # fmt: skip
    reading = one.reading
    signals |= {
        "entail": logit(reading.entailment), "contra": logit(reading.contradiction), "neutral": reading.neutral,
        "denial": logit(denied.entailment), "denial_against": logit(denied.contradiction),
        "between": logit(max(back.contradiction, forth.contradiction)),
        "between_both": logit(min(back.contradiction, forth.contradiction)),
        "agree": logit(max(back.entailment, forth.entailment)),
        "said": speaks_of_it(one.claim, there, ()), "of_it": says_of_it(one.claim, there),
        "own": logit(one.own.entailment),
    }  # fmt: skip
    return Heard(one, signals, best if borne >= 1 - borne else None)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The fitted model of a disagreement, and from where on it is one."""

    model: LogisticModel
    threshold: float
    """The probability from which two sources disagree: the one at which few right claims meet such a source."""
    most_neutral: float
    """Above this share of neutral another source is not asked: nearly none that disagrees is read so."""
    most_entailed: float
    """Above this probability of entailment it is not asked either, unless it has another value."""

    @classmethod
    def from_json(cls, text: str) -> Disagreement:
        """Read the fitted file.

        Raises:
            VerifierError: the file is no JSON or lacks a part.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            model = LogisticModel(float(raw["intercept"]), {k: float(v) for k, v in raw["weights"].items()})
            return cls(model, float(raw["threshold"]), float(raw["most_neutral"]), float(raw["most_entailed"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = (
                f"The model of disagreements cannot be read ({error}): expected JSON with intercept, weights, "
                "threshold, most_neutral and most_entailed. Reinstall assay, or refit with "
                "`python -m train.fit_disagreement`."
            )
            raise VerifierError(message) from error

    def asks(self, one: Other) -> bool:
        """Whether another source speaks of what is claimed, as far as its reading tells, and so is asked."""
        if one.reading.neutral > self.most_neutral:
            return False
        return one.reading.entailment <= self.most_entailed or bool(one.exchanged)

    def disagrees(self, heard: Heard) -> bool:
        """Whether the other source says something else."""
        return self.model.probability(heard.signals) >= self.threshold


@lru_cache(maxsize=1)
def load_disagreement() -> Disagreement:
    """The model that ships with the package."""
    return Disagreement.from_json(files("assay.guard").joinpath("disagreement.json").read_text(encoding="utf-8"))
