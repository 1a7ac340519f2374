"""Fits when an answer is not given: one calibrated confidence, and the thresholds at which each outcome costs least.

With a probability p of being right, giving an answer costs (1 - p) times a leak, giving it with a caveat or asking a
person costs an abstention, and holding it back costs p times a false block. So it is given from
p = 1 - abstention / leak on and held back below p = abstention / false block (seed 000, 20.3.4: the loss). What the
block of a policy file does is only ever stricter than the gate, so a guarantee of the gate stays true with it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from assay.batch.results import Result
from assay.errors import InputError
from assay.generate.abstain_signals import situation_of
from assay.policy import Abstaining, SignalWeights
from assay.schema import Evidence, HallucinationReport
from assay.stats.confidence import SIGNALS, fit_confidence
from assay.stats.costs import Costs

PREFIX: Final = "confidence."
"""Before the names of signals of confidence among those of a kept result."""


def signals_kept(report: HallucinationReport, evidence: Sequence[Evidence]) -> dict[str, float]:
    """The signals of confidence of a report, as a kept result has them; missing ones are left out."""
    signals = situation_of(report, evidence).signals()
    return {f"{PREFIX}{name}": value for name, value in signals.items() if value is not None}


def fit_abstaining(results: Sequence[Result], right: Sequence[bool], costs: Costs) -> Abstaining:
    """The block of a policy file.

    Args:
        results: what was kept of each row.
        right: for each whether it is free of hallucinations.
        costs: what errors cost.

    Raises:
        InputError: there are too few rows, or they were judged before signals of confidence were kept.
    """
    rows = [_signals(result) for result in results]
    # An output that nobody could check has no groundedness; the decision holds it back whatever the curve says.
    known = [(row, sound) for row, sound in zip(rows, right, strict=True) if row.get("groundedness") is not None]
    if not known and rows:
        raise InputError(
            "the kept results have no signals of confidence: they were judged by an earlier version; judge again"
        )
    model = fit_confidence([row for row, _ in known], [sound for _, sound in known])
    high, low = thresholds(costs)
    return Abstaining(
        high=high, low=low, weights=SignalWeights(**dict(model.weights)),
        slope=None if model.slope is None else round(model.slope, 6), intercept=round(model.intercept, 6),
        rows=model.rows,
    )  # fmt: skip


def thresholds(costs: Costs) -> tuple[float, float]:
    """From which probability of being right on an answer is given, and below which it is held back.

    >>> from assay.stats.costs import Costs
    >>> thresholds(Costs(leak=10, false_block=4, abstention=1))
    (0.9, 0.25)
    """
    high = 1 - min(1.0, costs.abstention / costs.leak) if costs.leak else 0.0
    low = min(1.0, costs.abstention / costs.false_block) if costs.false_block else 1.0
    return round(high, 6), round(min(low, high), 6)


def _signals(result: Result) -> Mapping[str, float | None]:
    return {name: result.signals.get(f"{PREFIX}{name}") for name in SIGNALS}
