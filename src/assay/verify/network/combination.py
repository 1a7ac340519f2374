"""Combines the signals of the tiers into calibrated probabilities of support and of contradiction.

Two logistic models read the same features. One gives the probability that the evidence supports a claim, the other the
probability that it contradicts a claim that it does not support. A third model derives the probability of contradiction
from these two. The coefficients are in `combination.json` next to this file, with the command and the rows that they
were fitted on (`train/fit_combination.py`).
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
"""Probabilities are kept this far from 0 and 1 before their logit is taken, so that no signal is infinite."""


def logit(probability: float) -> float:
    """ln(p / (1 - p)) of a probability clipped to [0.001, 0.999].

    >>> round(logit(0.5), 3), round(logit(1.0), 3)
    (0.0, 6.907)
    """
    clipped = min(max(probability, PROBABILITY_FLOOR), 1 - PROBABILITY_FLOOR)
    return math.log(clipped / (1 - clipped))


def sigmoid(value: float) -> float:
    """1 / (1 + e^-x), without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    power = math.exp(value)
    return power / (1 + power)


def features(signals: Mapping[str, float], logits: Sequence[str]) -> dict[str, float]:
    """The features of the logistic models: every signal, and the logits of some.

    Args:
        signals: the scores of the tiers.
        logits: names of signals that are probabilities and whose logit is a further feature.

    >>> features({"entail_max": 0.5}, ["entail_max"])
    {'entail_max': 0.5, 'logit(entail_max)': 0.0}
    """
    return dict(signals) | {f"logit({name})": logit(signals[name]) for name in logits}


def _checked_prior(value: object) -> float:
    """The share of supported claims among the rows, checked to be inside (0, 1)."""
    share = float(str(value))
    if not 0 < share < 1:
        raise ValueError(f"prior is {share:g}, not between 0 and 1")
    return share


def _missing_message(names: Sequence[str]) -> str:
    return (
        f"The combination expects the signals {list(names)}, which no tier gave: the coefficients and the tiers are of "
        "different versions. Refit with `python -m train.fit_combination`."
    )


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression: an intercept and one weight for each feature that it uses."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, values: Mapping[str, float]) -> float:
        """The predicted probability; a missing feature is an error, never a silent zero.

        Raises:
            VerifierError: the values lack a feature that has a weight.
        """
        missing_features = [name for name in self.weights if name not in values]
        if missing_features:
            raise VerifierError(_missing_message(missing_features))
        return sigmoid(self.intercept + sum(weight * values[name] for name, weight in self.weights.items()))


@dataclass(frozen=True, slots=True)
class Judgement:
    """The combined result of the tiers for one claim."""

    support: float
    """The calibrated probability that the evidence supports the claim."""
    contradiction: float
    """The calibrated probability that the evidence contradicts it; the two sum to at most 1."""


def at_prior(judgement: Judgement, fitted: float, prior: float) -> Judgement:
    """The judgement corrected to another share of supported claims than that of the rows the models were fitted on.

        P'(k) proportional to P(k) p'(k) / p(k)

    with p the shares among the rows and p' those in use; claims that are not supported keep their proportions (Saerens,
    Latinne and Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities", Neural
    Computation 14).

    Args:
        judgement: both probabilities at the share of the rows.
        fitted: the share among the rows, in (0, 1).
        prior: the share in use, in (0, 1).

    >>> at_prior(Judgement(0.5, 0.3), 0.5, 0.9)
    Judgement(support=0.9, contradiction=0.06)
    """
    right, wrong = prior / fitted, (1 - prior) / (1 - fitted)
    total = judgement.support * right + (1 - judgement.support) * wrong
    support = min(1.0, judgement.support * right / total)
    return Judgement(round(support, 12), round(min(judgement.contradiction * wrong / total, 1 - support), 12))


AGAINST = ("contra_max", "wrong_word", "strongest_contradiction")
"""The signals that count against a claim whatever its wording."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How the expected share of supported claims depends on how much of a claim is in the evidence's own words.

    Models quote their evidence and paraphrase it, and they err more often where they paraphrase. Other kinds of rows
    (sentence pairs, planted edits) lack this effect, so the models above, which are fitted on all rows, miss it. It is
    fitted on answers afterwards (`train.fit_wording`, docs/adr/0113).
    """

    weight: float
    """Log odds of support for each unit of trigram precision, at least 0."""
    centre: float
    """The precision at which the share is the policy's own, in [0, 1]."""

    def share(self, prior: float, signals: Mapping[str, float]) -> float:
        """The expected share of supported claims among claims with this wording.

        Signals against a claim reduce the effect of its wording: a sentence of the evidence with one changed number
        still has nearly all of the evidence's words.

            logit(share) = logit(prior) + weight (precision - centre) (1 - max(against))

        Args:
            prior: the share among all claims, in (0, 1).
            signals: the tiers' signals; `trigram_precision` and those of `AGAINST` are read.

        >>> one, none = Wording(weight=4.0, centre=0.16), dict.fromkeys(AGAINST, 0.0)
        >>> [round(one.share(0.9, {**none, "trigram_precision": precision}), 3) for precision in (0.16, 0.9, 0.1)]
        [0.9, 0.994, 0.876]
        >>> round(one.share(0.9, {**none, "trigram_precision": 0.9, "wrong_word": 0.95}), 3)
        0.913
        """
        weight_left = 1 - max(signals[name] for name in AGAINST)
        return sigmoid(logit(prior) + self.weight * (signals["trigram_precision"] - self.centre) * weight_left)


def _wording(raw: Mapping[str, Any] | None) -> Wording | None:
    """The fitted wording effect, checked; none where it was not fitted."""
    if raw is None:
        return None
    weight, centre = float(raw["weight"]), float(raw["centre"])
    if weight < 0 or not 0 <= centre <= 1:
        raise ValueError(f"wording has the weight {weight:g} and the centre {centre:g}")
    return Wording(weight, centre)


def of_both(support: float, against: float) -> dict[str, float]:
    """The features of the contradiction model: the logits of support and of contradiction given no support."""
    return {"logit(support)": logit(support), "logit(against)": logit(against)}


@dataclass(frozen=True, slots=True)
class Combination:
    """The fitted models."""

    support: LogisticModel
    against: LogisticModel
    """The probability that the evidence contradicts a claim that it does not support, rather than not mention it."""
    contradiction: LogisticModel
    """Reads the other two (`of_both`)."""
    logits: tuple[str, ...]
    digest: str
    prior: float = 0.5
    """The weighted share of supported claims among the rows that the models were fitted on."""
    wording: Wording | None = None
    """The effect of a claim's wording on the share in use; none where it was not fitted."""

    @classmethod
    def from_json(cls, text: str) -> "Combination":
        """Read the fitted file.

        Raises:
            VerifierError: the file is not JSON or lacks a part.
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
            prior, wording = _checked_prior(raw["prior"]), _wording(raw.get("wording"))
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
        missing_signals = [name for name in self.logits if name not in signals]
        if missing_signals:
            raise VerifierError(_missing_message(missing_signals))
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
