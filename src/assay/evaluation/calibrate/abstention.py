"""Fits when an answer is not given: one calibrated confidence, and the thresholds at which each outcome costs least.

With a probability p of being right, giving an answer costs (1 - p) times a leak, giving it with a caveat an abstention
whichever it is, and holding it back p times a false block; `answer_thresholds` has the two probabilities at which the
cheapest outcome changes (docs/concepts.md#abstention). What the block of a policy file does is only ever stricter than
the gate, so a guarantee of the gate stays true with it.

Each row is decided as the check would decide it: triggers, contradicted claims, caveats and groundedness set the most
that it may become (`ceiling`), the gate of the fitted policy another bound, and the confidence decides below both. The
figures of a fit are of confidences that rows of other documents were fitted on.
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
"""Before the names of signals of confidence among those of a kept result."""
CEILING: Final = "answering.ceiling"
"""Among the signals of a kept result: the most that any thresholds would make of it, as an index into `OUTCOMES`."""
OUTCOMES: Final = (Answering.RESPOND, Answering.PARTIAL_WITH_CAVEATS, Answering.ABSTAIN)
"""From the most permissive to the strictest."""
FOLDS: Final = 5
"""Parts of the documents; the confidence of each is fitted on the other four."""
GRID: Final = tuple(n / 200 for n in range(201))
"""The confidences of the curve."""


def signals_kept(report: HallucinationReport, row: Row, policy: Policy) -> dict[str, float]:
    """The signals of confidence of a report, as a kept result has them; missing ones are left out.

    Args:
        report: of the row.
        row: with what was measured when its output was made.
        policy: whose thresholds are to be fitted.
    """
    scope = policy.abstention.scope if policy.abstention is not None else ()
    situation = situation_of(
        report,
        row.evidence,
        entropy=row.signals.get("entropy"),
        consistency=row.signals.get("consistency"),
        domain=scope or None,
    )
    found = {f"{PREFIX}{name}": value for name, value in situation.signals().items() if value is not None}
    return found | {CEILING: float(OUTCOMES.index(ceiling(report, situation, _limits(policy))))}


def _limits(policy: Policy) -> Limits:
    """What is not fitted: the limits of the policy's own block where it has one."""
    return limits_of(policy) if policy.abstention is None else limits_from(policy.abstention)


@dataclass(frozen=True, slots=True)
class Answers:
    """What becomes of the rows."""

    right: tuple[int, int, int]
    """Right outputs that are given, given with a caveat, and held back."""
    wrong: tuple[int, int, int]
    """The same of hallucinated ones."""
    loss: float
    """The mean loss of a row."""


@dataclass(frozen=True, slots=True)
class AbstentionFit:
    """The fitted decision whether to answer. Its figures are of held-out rows where there are enough of them."""

    block: Abstaining
    measured: Mapping[str, int]
    """For each signal how many rows have it; those that too few have weigh nothing."""
    held_out: bool
    """Whether the figures are of confidences fitted on rows of other documents."""
    gate: Answers
    """What the gate alone makes of the rows."""
    answers: Answers
    """What it makes of them together with the fitted decision."""
    ece_before: float
    """Expected calibration error of the mean of the signals with the weights by judgement."""
    ece_after: float
    log_loss_before: float
    log_loss_after: float
    before: tuple[Bin, ...]
    """Reliability of that mean."""
    after: tuple[Bin, ...]
    """Reliability of the fitted confidence."""
    curve: tuple[TradeOff, ...]
    """Leak against false abstention by the confidence from which an answer is given, the gate left open."""


@dataclass(frozen=True, slots=True)
class _Known:
    """One row, as far as the decision needs it."""

    signals: Mapping[str, float | None]
    right: bool
    document: str
    most: int
    """The most that any thresholds would make of it."""
    gate: int
    """What the gate leaves of it."""


def fit_abstaining(
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
        results: what was kept of each.
        outcomes: how far each gets with the gate.
        costs: what errors cost.
        policy: the one that is fitted.
        gate: the gate's fitted thresholds of passing and of withholding.

    Raises:
        InputError: there are too few rows, or they were judged before signals of confidence were kept.
    """
    if results and any(CEILING not in result.signals for result in results):
        raise InputError(
            "the kept results have no signals of confidence: they were judged by an earlier version; judge again"
        )
    everything = [
        _Known(_signals(result), not outcome.wrong, row.document, int(result.signals[CEILING]), _gate(outcome, gate))
        for row, result, outcome in zip(rows, results, outcomes, strict=True)
    ]
    # An output that nobody could check has no groundedness; the decision holds it back whatever the curve says.
    known = [row for row in everything if row.signals.get("groundedness") is not None]
    model = _fitted(known)
    right = [row.right for row in known]
    high, low = answer_thresholds(costs, sum(right) / len(right))
    held_out = _held_out(known)
    after = [_confidence(model, row) for row in known] if held_out is None else held_out
    plain = ConfidenceModel()
    before = [plain.raw(row.signals) or 0.0 for row in known]
    return AbstentionFit(
        block=_block(model, high, low, policy),
        measured={name: sum(row.signals.get(name) is not None for row in known) for name in SIGNALS},
        held_out=held_out is not None,
        gate=_counted([row.gate for row in known], right, costs),
        answers=_counted([_decided(p, row, high, low) for p, row in zip(after, known, strict=True)], right, costs),
        ece_before=ece(before, right),
        ece_after=ece(after, right),
        log_loss_before=log_loss(before, right),
        log_loss_after=log_loss(after, right),
        before=adaptive_reliability(before, right),
        after=adaptive_reliability(after, right),
        curve=trade_off([_outcome(p, row) for p, row in zip(after, known, strict=True)], GRID),
    )


def _fitted(known: Sequence[_Known]) -> ConfidenceModel:
    """The weights and the curve, the latter over the weights as the file has them."""
    rows, right = [row.signals for row in known], [row.right for row in known]
    return fit_confidence(rows, right, fit_weights(rows, right))


def _confidence(model: ConfidenceModel, row: _Known) -> float:
    found = model.confidence(row.signals)
    return 0.0 if found is None else found


def _held_out(known: Sequence[_Known]) -> list[float] | None:
    """For each row its confidence by a model of the other documents; none where these are too few."""
    documents = sorted({row.document for row in known})
    random.Random(0).shuffle(documents)  # noqa: S311 a draw that anyone can repeat
    fold = {name: number % FOLDS for number, name in enumerate(documents)}
    models = []
    for number in range(FOLDS):
        try:
            models.append(_fitted([row for row in known if fold[row.document] != number]))
        except InputError:
            return None
    return [_confidence(models[fold[row.document]], row) for row in known]


def _gate(outcome: Outcome, thresholds: tuple[float, float]) -> int:
    if outcome.passes >= thresholds[0]:
        return 0
    return 2 if outcome.blocked <= thresholds[1] else 1


def _outcome(confidence: float, row: _Known) -> Outcome:
    """How far a row gets by its confidence, with no gate before it."""
    return Outcome(not row.right, confidence if row.most == 0 else -1.0, 0.0)


def _decided(confidence: float, row: _Known, high: float, low: float) -> int:
    by_confidence = 0 if confidence >= high else 1 if confidence >= low else 2
    return max(by_confidence, row.most, row.gate)


def _counted(decided: Sequence[int], right: Sequence[bool], costs: Costs) -> Answers:
    counts = {
        sound: tuple(sum(d == n and r is sound for d, r in zip(decided, right, strict=True)) for n in range(3))
        for sound in (True, False)
    }
    given, caveated, held = counts[True]
    leaked, doubted, caught = counts[False]
    of_right, of_wrong = weights_of(costs, sum(counts[True]) / len(right))
    loss = of_wrong * (costs.leak * leaked + costs.abstention * doubted)
    loss += of_right * (costs.false_block * held + costs.abstention * caveated)
    return Answers((given, caveated, held), (leaked, doubted, caught), loss / len(right))


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
