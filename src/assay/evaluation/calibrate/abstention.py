"""Fits when to abstain: one calibrated confidence, and the thresholds at which each outcome costs least.

With a probability p of being right, giving an answer costs (1 - p) times a leak, giving it with a caveat the cost of an
abstention in either case, and holding it back p times a false block; `answer_thresholds` gives the two probabilities at
which the cheapest outcome changes (docs/concepts.md#abstention). The fitted block of a policy file can only make the
gate stricter, so a guarantee of the gate stays valid with it.

Each row is decided as the check would decide it: triggers, contradicted claims, caveats and groundedness set the most
permissive outcome that is possible (`ceiling`), the gate of the fitted policy sets another bound, and the confidence
decides within both. The figures of a fit use confidences from models fitted on other documents (cross-fitting).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.guard.check import limits_from
from assay.policy import Abstaining, Policy, SignalWeights
from assay.rewrite.answers import Limits, ceiling, limits_of, situation_of
from assay.schema import HallucinationReport
from assay.schema.report_parts import Answering
from assay.stats import (
    SIGNALS,
    WEIGHTS,
    Bin,
    ConfidenceModel,
    Costs,
    Outcome,
    TradeOff,
    adaptive_reliability,
    answer_thresholds,
    ece,
    fit_confidence,
    fit_weights,
    log_loss,
    trade_off,
    weights_of,
)

PREFIX: Final = "confidence."
"""The prefix of the names of confidence signals among the signals of a kept result."""
CEILING: Final = "answering.ceiling"
"""The signal of a kept result with its most permissive outcome under any thresholds, as an index into `OUTCOMES`."""
OUTCOMES: Final = (Answering.RESPOND, Answering.PARTIAL_WITH_CAVEATS, Answering.ABSTAIN)
"""From the most permissive to the strictest."""
FOLDS: Final = 5
"""Parts of the documents; the confidence of each is fitted on the other four."""
GRID: Final = tuple(n / 200 for n in range(201))
"""The confidence thresholds of the trade-off curve."""


def confidence_signals(report: HallucinationReport, row: Row, policy: Policy) -> dict[str, float]:
    """The confidence signals of a report, named as in a kept result; missing ones are left out.

    Args:
        report: the report of the row.
        row: the row, with the signals that were measured when its output was generated.
        policy: the policy whose thresholds are to be fitted.
    """
    scope = policy.abstention.scope if policy.abstention is not None else ()
    situation = situation_of(
        report,
        row.evidence,
        entropy=row.signals.get("entropy"),
        consistency=row.signals.get("consistency"),
        domain=scope or None,
    )
    signals = {f"{PREFIX}{name}": value for name, value in situation.signals().items() if value is not None}
    return signals | {CEILING: float(OUTCOMES.index(ceiling(report, situation, _limits(policy))))}


def _limits(policy: Policy) -> Limits:
    """The limits, which are not fitted: those of the policy's own block where it has one."""
    return limits_of(policy) if policy.abstention is None else limits_from(policy.abstention)


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many rows have which outcome, and what that costs."""

    right: tuple[int, int, int]
    """Right outputs that are given, are given with a caveat, and are held back."""
    wrong: tuple[int, int, int]
    """The same counts of hallucinated outputs."""
    loss: float
    """The mean loss for each row."""


@dataclass(frozen=True, slots=True)
class AbstentionFit:
    """The fitted decision whether to answer. Its figures are of held-out rows where there are enough of them."""

    block: Abstaining
    measured: Mapping[str, int]
    """For each signal the number of rows that have it; a signal that too few rows have gets no weight."""
    held_out: bool
    """Whether the figures use confidences from models fitted on other documents."""
    gate: AnswerCounts
    """The outcomes with the gate alone."""
    answers: AnswerCounts
    """The outcomes with the gate and the fitted decision together."""
    ece_before: float
    """Expected calibration error of the mean of the signals with the default weights, which are not fitted."""
    ece_after: float
    log_loss_before: float
    log_loss_after: float
    before: tuple[Bin, ...]
    """Reliability of that mean."""
    after: tuple[Bin, ...]
    """Reliability of the fitted confidence."""
    curve: tuple[TradeOff, ...]
    """Leak against false abstention by the confidence from which an answer is given, without the gate."""


@dataclass(frozen=True, slots=True)
class _DecidedRow:
    """One row, reduced to what the decision needs."""

    signals: Mapping[str, float | None]
    right: bool
    document: str
    ceiling: int
    """The most permissive outcome under any thresholds, as an index into `OUTCOMES`."""
    gate: int
    """The outcome by the gate alone, as an index into `OUTCOMES`."""


def fit_abstention(
    rows: Sequence[Row],
    results: Sequence[Result],
    outcomes: Sequence[Outcome],
    costs: Costs,
    policy: Policy,
    gate: tuple[float, float],
) -> AbstentionFit:
    """Fit the block of a policy file.

    Args:
        rows: labelled rows.
        results: the kept result of each row.
        outcomes: how strict a gate each row passes.
        costs: the costs of errors.
        policy: the policy that is fitted.
        gate: the gate's fitted thresholds, for passing and for withholding.

    Raises:
        InputError: there are too few rows, or they were judged before confidence signals were kept.
    """
    if results and any(CEILING not in result.signals for result in results):
        raise InputError(
            "the kept results have no signals of confidence: they were judged by an earlier version; judge again"
        )
    decided_rows = [
        _DecidedRow(
            _signals(result), not outcome.wrong, row.document, int(result.signals[CEILING]), _gate_level(outcome, gate)
        )
        for row, result, outcome in zip(rows, results, outcomes, strict=True)
    ]
    # An output that could not be checked has no groundedness; it is held back at any confidence.
    rated = [row for row in decided_rows if row.signals.get("groundedness") is not None]
    model = _fit_model(rated)
    right = [row.right for row in rated]
    high, low = answer_thresholds(costs, sum(right) / len(right))
    held_out = _held_out_confidences(rated)
    after = [_confidence(model, row) for row in rated] if held_out is None else held_out
    unfitted = ConfidenceModel()
    before = [unfitted.raw(row.signals) or 0.0 for row in rated]
    return AbstentionFit(
        block=_block(model, high, low, policy),
        measured={name: sum(row.signals.get(name) is not None for row in rated) for name in SIGNALS},
        held_out=held_out is not None,
        gate=_count_answers([row.gate for row in rated], right, costs),
        answers=_count_answers([_decide(p, row, high, low) for p, row in zip(after, rated, strict=True)], right, costs),
        ece_before=ece(before, right),
        ece_after=ece(after, right),
        log_loss_before=log_loss(before, right),
        log_loss_after=log_loss(after, right),
        before=adaptive_reliability(before, right),
        after=adaptive_reliability(after, right),
        curve=trade_off([_outcome_of(p, row) for p, row in zip(after, rated, strict=True)], GRID),
    )


def _fit_model(decided_rows: Sequence[_DecidedRow]) -> ConfidenceModel:
    """A model with fitted weights and a fitted curve over them."""
    signals, right = [row.signals for row in decided_rows], [row.right for row in decided_rows]
    return fit_confidence(signals, right, fit_weights(signals, right))


def _confidence(model: ConfidenceModel, row: _DecidedRow) -> float:
    confidence = model.confidence(row.signals)
    return 0.0 if confidence is None else confidence


def _held_out_confidences(decided_rows: Sequence[_DecidedRow]) -> list[float] | None:
    """For each row its confidence by a model fitted on other documents; none where these are too few."""
    documents = sorted({row.document for row in decided_rows})
    random.Random(0).shuffle(documents)  # noqa: S311 reproducible, not secret
    fold = {name: number % FOLDS for number, name in enumerate(documents)}
    models = []
    for number in range(FOLDS):
        try:
            models.append(_fit_model([row for row in decided_rows if fold[row.document] != number]))
        except InputError:
            return None
    return [_confidence(models[fold[row.document]], row) for row in decided_rows]


def _gate_level(outcome: Outcome, thresholds: tuple[float, float]) -> int:
    if outcome.passes >= thresholds[0]:
        return 0
    return 2 if outcome.blocked <= thresholds[1] else 1


def _outcome_of(confidence: float, row: _DecidedRow) -> Outcome:
    """The outcome of a row by its confidence alone, without the gate."""
    return Outcome(not row.right, confidence if row.ceiling == 0 else -1.0, 0.0)


def _decide(confidence: float, row: _DecidedRow, high: float, low: float) -> int:
    confidence_level = 0 if confidence >= high else 1 if confidence >= low else 2
    return max(confidence_level, row.ceiling, row.gate)


def _count_answers(levels: Sequence[int], right: Sequence[bool], costs: Costs) -> AnswerCounts:
    counts = {
        is_right: tuple(
            sum(level == n and is_row_right is is_right for level, is_row_right in zip(levels, right, strict=True))
            for n in range(3)
        )
        for is_right in (True, False)
    }
    given, caveated, held = counts[True]
    leaked, doubted, caught = counts[False]
    right_weight, wrong_weight = weights_of(costs, sum(counts[True]) / len(right))
    loss = wrong_weight * (costs.leak * leaked + costs.abstention * doubted)
    loss += right_weight * (costs.false_block * held + costs.abstention * caveated)
    return AnswerCounts((given, caveated, held), (leaked, doubted, caught), loss / len(right))


def _block(model: ConfidenceModel, high: float, low: float, policy: Policy) -> Abstaining:
    limits, scope = _limits(policy), policy.abstention.scope if policy.abstention is not None else ()
    return Abstaining(
        high=high,
        low=low,
        claim=limits.claim,
        groundedness=limits.groundedness,
        coverage=limits.coverage,
        entropy=limits.entropy,
        agreement=limits.agreement,
        domain=limits.domain,
        staleness_days=limits.staleness_days,
        scope=scope,
        weights=SignalWeights(**dict.fromkeys(WEIGHTS, 0.0) | dict(model.weights)),
        slope=None if model.slope is None else round(model.slope, 6),
        intercept=round(model.intercept, 6),
        rows=model.rows,
    )


def _signals(result: Result) -> Mapping[str, float | None]:
    return {name: result.signals.get(f"{PREFIX}{name}") for name in SIGNALS}
