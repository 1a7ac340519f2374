"""The tiers' signals become one calibrated probability of support and one of contradiction.

Two logistic models read the same features; their coefficients stand in `combination.json` beside this file, where
anyone can read them, with the command and the rows that they were fitted on (`train/fit_combination.py`).
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


def features(
    signals: Mapping[str, float], logits: Sequence[str], products: Sequence[Sequence[str]]
) -> dict[str, float]:
    """What the logistic models read: each signal, the logit of those named, and products of pairs.

    Args:
        signals: the tiers' scores, each in [0, 1].
        logits: names of signals that enter as their logit besides.
        products: pairs of feature names whose product enters besides; a pair may name logits.
    """
    values = dict(signals)
    values.update({f"logit({name})": logit(signals[name]) for name in logits})
    values.update({f"{a} * {b}": values[a] * values[b] for a, b in products})
    return values


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
    """The calibrated probability that the evidence supports the claim; at most 1 - contradiction."""
    contradiction: float
    """The calibrated probability that the evidence contradicts it."""


@dataclass(frozen=True, slots=True)
class Combination:
    """Two fitted logistic models over the tiers' signals."""

    support: LogisticModel
    contradiction: LogisticModel
    logits: tuple[str, ...]
    products: tuple[tuple[str, str], ...]
    digest: str

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
                for name in ("support", "contradiction")
            }
            logits = tuple(str(name) for name in raw["logits"])
            products = tuple((str(a), str(b)) for a, b in raw["products"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = (
                f"The combination's coefficients cannot be read ({error}): expected JSON with support, contradiction, "
                "logits and products. Reinstall assay, or refit with `python -m train.fit_combination`."
            )
            raise VerifierError(message) from error
        return cls(
            models["support"], models["contradiction"], logits, products, hashlib.sha256(text.encode()).hexdigest()
        )

    def judge(self, signals: Mapping[str, float]) -> Judgement:
        """Both probabilities from the tiers' signals."""
        missing = [name for name in self.logits if name not in signals]
        if missing:
            raise VerifierError(_missing(missing))
        values = features(signals, self.logits, self.products)
        contradiction = self.contradiction.probability(values)
        return Judgement(min(self.support.probability(values), 1 - contradiction), contradiction)


@lru_cache(maxsize=1)
def load_combination() -> Combination:
    """The combination that ships with the package."""
    return Combination.from_json(files("assay.verify").joinpath("combination.json").read_text(encoding="utf-8"))
