"""The tiers' signals become one calibrated probability of support and one of contradiction.

Two logistic models read the same features: how probable it is that the evidence supports a claim, and of a claim that
it does not support, that it contradicts it. A third makes the probability of contradiction of these two. Their
coefficients are in `combination.json` beside this file, where anyone can read them, with the command and the rows
that they were fitted on (`train/fit_combination.py`).
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from assay.errors import VerifierError

PROBABILITY_FLOOR = 0.001
"""Probabilities are held this far from 0 and 1 before their logit is taken, so that no single signal is infinite."""


def logit(probability: float) -> float:
    """ln(p / (1 - p)) of a probability held within [0.001, 0.999].

    >>> round(logit(0.5), 3), round(logit(1.0), 3)
    (0.0, 6.907)
    """
    held = min(max(probability, PROBABILITY_FLOOR), 1 - PROBABILITY_FLOOR)
    return math.log(held / (1 - held))


def sigmoid(value: float) -> float:
    """1 / (1 + e^-x), without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1 + grown)


def features(signals: Mapping[str, float], logits: Sequence[str]) -> dict[str, float]:
    """What the logistic models read: each signal, and the logit of those named besides.

    Args:
        signals: the tiers' scores.
        logits: names of signals, probabilities all, that enter as their logit besides.

    >>> features({"entail_max": 0.5}, ["entail_max"])
    {'entail_max': 0.5, 'logit(entail_max)': 0.0}
    """
    return dict(signals) | {f"logit({name})": logit(signals[name]) for name in logits}


def _share(value: object) -> float:
    """A share of both kinds of rows."""
    share = float(str(value))
    if not 0 < share < 1:
        raise ValueError(f"prior is {share:g}, not between 0 and 1")
    return share


def _missing(names: Sequence[str]) -> str:
    return (
        f"The combination expects the signals {list(names)}, which no tier gave: the coefficients and the tiers are of "
        "different versions. Refit with `python -m train.fit_combination`."
    )


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """An intercept and one weight for each feature that counts."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, values: Mapping[str, float]) -> float:
        """The modelled probability; a feature that is missing is an error, never a silent zero.

        Raises:
            VerifierError: the values lack a feature that has a weight.
        """
        missing = [name for name in self.weights if name not in values]
        if missing:
            raise VerifierError(_missing(missing))
        return sigmoid(self.intercept + sum(weight * values[name] for name, weight in self.weights.items()))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the tiers say together of one claim."""

    support: float
    """The calibrated probability that the evidence supports the claim."""
    contradiction: float
    """The calibrated probability that the evidence contradicts it; the two sum to at most 1."""


def at_prior(judgement: Judgement, fitted: float, prior: float) -> Judgement:
    """The judgement where another share of claims is supported than among the rows that the models were fitted on.

        P'(k) proportional to P(k) p'(k) / p(k)

    with p the shares of the rows and p' those in use; what is not supported keeps its proportions (Saerens, Latinne and
    Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities", Neural Computation 14).

    Args:
        judgement: both probabilities at the share of the rows.
        fitted: that share, in (0, 1).
        prior: the share in use, in (0, 1).

    >>> at_prior(Judgement(0.5, 0.3), 0.5, 0.9)
    Judgement(support=0.9, contradiction=0.06)
    """
    right, wrong = prior / fitted, (1 - prior) / (1 - fitted)
    total = judgement.support * right + (1 - judgement.support) * wrong
    support = min(1.0, judgement.support * right / total)
    return Judgement(round(support, 12), round(min(judgement.contradiction * wrong / total, 1 - support), 12))


AGAINST = ("contra_max", "wrong_word", "strongest_contradiction")
"""The signals that speak against a claim whatever its wording."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How the share of supported claims in use depends on how far a claim has the evidence's own words.

    Models quote what they were given and paraphrase it, and where they paraphrase they err more often. Rows of other
    kinds (pairs of sentences, planted edits) do not have that, so that the models above, which are fitted on all, know
    nothing of it; it is fitted on answers afterwards (`train.fit_wording`, docs/adr/0113).
    """

    weight: float
    """Log odds of support for each unit of trigram precision, at least 0."""
    centre: float
    """The precision at which the share is the policy's own, in [0, 1]."""

    def share(self, prior: float, signals: Mapping[str, float]) -> float:
        """The expected share of supported claims among those that are worded so.

        What speaks against a claim takes from what its wording says: a sentence of the evidence in which one number
        was changed has nearly all of the evidence's words.

            logit(share) = logit(prior) + weight (precision - centre) (1 - max(against))

        Args:
            prior: the share among all claims, in (0, 1).
            signals: the tiers' signals, of which `trigram_precision` and those of `AGAINST` are read.

        >>> one, none = Wording(weight=4.0, centre=0.16), dict.fromkeys(AGAINST, 0.0)
        >>> [round(one.share(0.9, {**none, "trigram_precision": precision}), 3) for precision in (0.16, 0.9, 0.1)]
        [0.9, 0.994, 0.876]
        >>> round(one.share(0.9, {**none, "trigram_precision": 0.9, "wrong_word": 0.95}), 3)
        0.913
        """
        free = 1 - max(signals[name] for name in AGAINST)
        return sigmoid(logit(prior) + self.weight * (signals["trigram_precision"] - self.centre) * free)


def _wording(raw: Mapping[str, Any] | None) -> Wording | None:
    """How the share depends on wording, where that was fitted."""
    if raw is None:
        return None
    weight, centre = float(raw["weight"]), float(raw["centre"])
    if weight < 0 or not 0 <= centre <= 1:
        raise ValueError(f"wording has the weight {weight:g} and the centre {centre:g}")
    return Wording(weight, centre)


def of_both(support: float, against: float) -> dict[str, float]:
    """What the model of contradiction reads: the logits of support and of contradiction rather than silence."""
    return {"logit(support)": logit(support), "logit(against)": logit(against)}


@dataclass(frozen=True, slots=True)
class Combination:
    """The fitted models."""

    support: LogisticModel
    against: LogisticModel
    """Of a claim that the evidence does not support, that it contradicts it rather than says nothing of it."""
    contradiction: LogisticModel
    """Reads the other two (`of_both`)."""
    logits: tuple[str, ...]
    digest: str
    prior: float = 0.5
    """The share of supported claims among the rows that the models were fitted on, as they were weighed."""
    wording: Wording | None = None
    """What a claim's own words say of the share in use; none where it was not fitted."""

    @classmethod
    def from_json(cls, text: str) -> "Combination":
        """Read the fitted file.

        Raises:
            VerifierError: the file is no JSON or lacks a part.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            models = {
                name: LogisticModel(
                    float(raw[name]["intercept"]), {k: float(v) for k, v in raw[name]["weights"].items()}
                )
                for name in ("support", "against", "contradiction")
            }
            logits = tuple(str(name) for name in raw["logits"])
            prior, wording = _share(raw["prior"]), _wording(raw.get("wording"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = (
                f"The combination's coefficients cannot be read ({error}): expected JSON with support, against, "
                "contradiction, logits and prior. Reinstall assay, or refit with `python -m train.fit_combination`."
            )
            raise VerifierError(message) from error
        return cls(
            **models, logits=logits, prior=prior, wording=wording, digest=hashlib.sha256(text.encode()).hexdigest()
        )

    def judge(self, signals: Mapping[str, float]) -> Judgement:
        """Both probabilities from the tiers' signals."""
        missing = [name for name in self.logits if name not in signals]
        if missing:
            raise VerifierError(_missing(missing))
        values = features(signals, self.logits)
        support = self.support.probability(values)
        contradiction = self.contradiction.probability(of_both(support, self.against.probability(values)))
        return Judgement(support, min(contradiction, 1 - support))

    def in_use(self, judgement: Judgement, prior: float, signals: Mapping[str, float]) -> Judgement:
        """The judgement at the share of supported claims in use, given how the claim is worded.

        Args:
            judgement: both probabilities at the share of the rows, as `judge` gives them.
            prior: the share in use, in (0, 1).
            signals: the tiers' signals.
        """
        if self.wording is not None:
            prior = self.wording.share(prior, signals)
        return at_prior(judgement, self.prior, prior)


@lru_cache(maxsize=1)
def load_combination() -> Combination:
    """The combination that ships with the package."""
    return Combination.from_json(files("assay.verify.network").joinpath("combination.json").read_text(encoding="utf-8"))
