"""Fits the thresholds of a policy on labelled rows: each is judged once, and decided again for every threshold.

Each row is an output with its evidence and a label, checked as `Guard.check` would check it, so that the counts are of
what the gate really decides, with citations, coverage and conflicts, and not of what a score alone would suggest.
"""

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from assay.errors import InputError
from assay.evaluation.calibrate.abstention import AbstentionFit, confidence_signals, fit_abstention
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result, ResultLog
from assay.evaluation.runner import Batch, Judged, batches, result_of_answer
from assay.policy import Policy
from assay.policy.calibration import Calibration, at_strictness, block_grid_of, grid_of, levels_of, loosest
from assay.schema import HallucinationReport
from assay.stats import (
    Choice,
    Costs,
    Guarantee,
    Method,
    Outcome,
    TradeOff,
    cheapest,
    conformal_risk_control,
    counted,
    learn_then_test,
    trade_off,
)

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.models import PairScorer

DEFAULT_COSTS: Final = Costs()
"""The default costs: a leak as much as ten abstentions, a false block as much as three."""


@dataclass(frozen=True, slots=True)
class FitGoal:
    """The goal of a fit."""

    alpha: float | None = None
    """The largest share of hallucinated outputs that may pass, from 0 to 1; none for no guarantee."""
    delta: float = 0.1
    """The probability that the guarantee fails, over the draw of the rows."""
    method: Method = "learn_then_test"
    horizon: int | None = None
    """The number of future hallucinated outputs that the guarantee covers; by default their rate. Learn then test."""
    costs: Costs | None = None
    """The costs of errors. Without them, and with a guarantee, the loosest certified threshold is taken."""
    one_per_document: bool = False
    """Whether only one row of each document counts, drawn by the seed, so that rows are independent."""
    seed: int = 0
    abstention: bool = False
    """Whether abstention is fitted too: one confidence below which no answer is given."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of a fit."""

    policy: Policy | None
    """The fitted policy; none if the data do not allow the guarantee."""
    calibration: Calibration | None
    guarantee: Guarantee | None
    before: Choice
    """The outcome under the policy before the fit, at the same costs."""
    after: Choice | None
    curve: tuple[TradeOff, ...]
    """Leak against false abstention over all thresholds."""
    rows: int
    hallucinated: int
    documents: int
    notes: tuple[str, ...]
    """Caveats that a reader must know before relying on the fit."""
    abstention: AbstentionFit | None = None
    """The fitted abstention, where that was asked for."""


def judge_rows(
    guard: "Guard",
    policy: Policy,
    rows: Sequence[Row],
    log: ResultLog,
    progress: Callable[[int], None],
    judged: Judged | None = None,
) -> list[Outcome]:
    """Judges the rows that the log has no result of, and gives the outcome of each row.

    Args:
        guard: a guard with the loosest form of the policy.
        policy: the policy whose thresholds are to be fitted.
        rows: labelled rows.
        log: the log of results, already entered.
        progress: called with the number of rows that were done since the last call.
        judged: a map by workers with an equal `CalibrationTask`, in place of the guard; the outcomes are the same.

    Returns:
        One outcome for each row, in order.
    """
    digests = [calibration_key(row) for row in rows]
    waiting = {digest: row for digest, row in zip(digests, rows, strict=True) if digest not in log.results}
    progress(len(rows) - len(waiting))
    for results in (judged or partial(map, partial(_judge_batch, guard, policy)))(batches(waiting.items())):
        log.add(results)
        progress(len(results))
    return [outcome_of(row.wrong, log.results[digest]) for row, digest in zip(rows, digests, strict=True)]


@dataclass(frozen=True, slots=True)
class CalibrationTask:
    """The task of workers that calibrate: called once with the network, it gives the function that judges a batch."""

    policy: Policy
    """The policy whose thresholds are to be fitted."""

    def __call__(self, scorer: "PairScorer") -> Callable[[Batch], list[Result]]:
        """Makes the guard."""
        from assay.config import Guard

        return partial(_judge_batch, Guard(loosest(self.policy), scorer=scorer), self.policy)


def _judge_batch(guard: "Guard", policy: Policy, batch: Batch) -> list[Result]:
    requests = ({"answer": r.text, "evidence": list(r.evidence), "question": r.question} for _, r in batch)
    reports = guard.check_many(requests)
    return [_result(digest, report, policy, row) for (digest, row), report in zip(batch, reports, strict=True)]


def calibration_key(row: Row) -> str:
    """The key of a row among kept results; unlike that of `assay eval`, since a claim is checked as an output here."""
    return hashlib.sha256(f"calibrate\0{row.digest}".encode()).hexdigest()[:32]


def _result(digest: str, report: HallucinationReport, policy: Policy, row: Row) -> Result:
    levels = levels_of(report, policy)
    answer = result_of_answer(digest, report, policy.support_threshold)
    level_by_name = {"passes": levels.passes, "blocked": levels.blocked}
    finite = {name: level for name, level in level_by_name.items() if math.isfinite(level)}  # JSON has no infinity
    signals = finite | confidence_signals(report, row, policy)
    return Result(digest, answer.verdict, answer.score, answer.contradiction, answer.spans, signals)


def outcome_of(wrong: bool, result: Result) -> Outcome:
    """The outcome of a row by its kept result."""
    return Outcome(wrong, result.signals.get("passes", -math.inf), result.signals.get("blocked", math.inf))


def labelled_rows(rows: Iterable[Row], goal: FitGoal) -> list[Row]:
    """The rows that count: those with a label, and only one of each document if so wished.

    Raises:
        InputError: there are none.
    """
    with_label = [row for row in rows if row.label is not None]
    if goal.one_per_document:
        with_label = sorted(with_label, key=lambda row: row.digest)
        random.Random(goal.seed).shuffle(with_label)  # noqa: S311 reproducible, not secret
        with_label = sorted({row.document: row for row in with_label}.values(), key=lambda row: (row.set, row.id))
    if not with_label:
        raise InputError("expected labelled rows to fit on, got none; `label` says supported, contradicted, ...")
    return with_label


def fit(
    policy: Policy,
    rows: Sequence[Row],
    outcomes: Sequence[Outcome],
    goal: FitGoal,
    verifier: tuple[str, str],
    results: Sequence[Result] = (),
) -> Fit:
    """Choose the thresholds.

    Args:
        policy: the policy to start from.
        rows: the labelled rows.
        outcomes: the outcome of each row.
        goal: the goal of the fit.
        verifier: name and digest of the verifier that judged.
        results: the kept result of each row; needed if abstention is fitted.

    Raises:
        InputError: there are no rows, or alpha or delta are not between 0 and 1.
    """
    grid = grid_of(policy)
    guarantee = _guarantee(outcomes, grid, goal)
    costs = goal.costs or DEFAULT_COSTS
    present = policy.emit_threshold if policy.aggregation != "unsupported_rate" else 1 - policy.warn_rate
    before = counted(outcomes, costs, present, policy.block_threshold)
    after = _choice(policy, outcomes, grid, guarantee, goal)
    wrong = sum(outcome.wrong for outcome in outcomes)
    documents = len({row.document for row in rows})
    curve = trade_off(outcomes, grid)
    notes = tuple(_notes(rows, outcomes, guarantee, documents))
    if after is None:
        return Fit(None, None, guarantee, before, None, curve, len(rows), wrong, documents, notes)
    fitted = at_strictness(policy, after.threshold, after.block_threshold)
    abstention = None
    if goal.abstention:
        gate = after.threshold, after.block_threshold
        abstention = fit_abstention(rows, results, outcomes, costs, policy, gate)
        fitted = fitted.model_copy(update={"abstention": abstention.block})
    fitted = fitted.model_copy(update={"name": f"{policy.name.removesuffix('-calibrated')}-calibrated"})
    point = next(point for point in curve if point.threshold == after.threshold)
    calibration = Calibration(
        method="least_loss" if guarantee is None else guarantee.method,
        statement=statement(guarantee, after),
        alpha=goal.alpha,
        delta=None if guarantee is None else guarantee.delta,
        horizon=None if guarantee is None else guarantee.horizon,
        rows=len(rows),
        hallucinated=wrong,
        leaked=after.leaks,
        upper_bound=_bound(guarantee, after, wrong),
        false_abstention=point.false_abstention,
        documents=documents,
        cost_leak=costs.leak,
        cost_false_block=costs.false_block,
        cost_abstention=costs.abstention,
        loss_of_rates=costs.rates,
        loss=round(after.loss, 9),
        confidence_ece=round(abstention.ece_after, 6) if abstention is not None and abstention.held_out else None,
        seed=goal.seed,
        data_digest=data_digest(rows),
        policy_digest=fitted.digest,
        verifier=verifier[0],
        verifier_digest=verifier[1],
    )
    fitted_result = Fit(
        fitted, calibration, guarantee, before, after, curve, len(rows), wrong, documents, notes, abstention
    )
    return replace(fitted_result, notes=(*notes, *_abstention_notes(abstention, len(rows))))


def _abstention_notes(abstention: AbstentionFit | None, rows: int) -> Iterator[str]:
    if abstention is None:
        return
    absent = [name for name, count in abstention.measured.items() if not count]
    if absent:
        yield (
            f"The confidence is fitted without {', '.join(absent)}: no row has them, so they weigh nothing. Rows may "
            "carry `signals` and a `question`."
        )
    incomplete = [name for name, count in abstention.measured.items() if 0 < count < rows]
    if incomplete:
        yield f"Only some rows have {', '.join(incomplete)}; for the others they are left out."
    if not abstention.held_out:
        yield "Too few rows or documents to hold some out: the confidence's figures are of the rows it was fitted on."


def _guarantee(outcomes: Sequence[Outcome], grid: Sequence[float], goal: FitGoal) -> Guarantee | None:
    if goal.alpha is None:
        return None
    levels = [outcome.passes for outcome in outcomes if outcome.wrong]
    if goal.method == "learn_then_test":
        return learn_then_test(levels, grid, goal.alpha, goal.delta, goal.horizon)
    if goal.horizon is not None:
        raise InputError("a horizon goes with learn then test: control in the mean promises nothing of one number")
    return conformal_risk_control(levels, grid, goal.alpha)


def _choice(
    policy: Policy, outcomes: Sequence[Outcome], grid: Sequence[float], guarantee: Guarantee | None, goal: FitGoal
) -> Choice | None:
    """The cheapest certified choice. Choosing costs no confidence, since every stricter threshold is certified too."""
    costs = goal.costs or DEFAULT_COSTS
    if guarantee is None:
        return cheapest(outcomes, costs, grid, block_grid_of(policy))
    least = guarantee.threshold
    if least is None:
        return None
    if goal.costs is None:
        return counted(outcomes, costs, least, min(policy.block_threshold, least))
    return cheapest(outcomes, costs, [t for t in grid if t >= least], block_grid_of(policy))


def _bound(guarantee: Guarantee | None, after: Choice, wrong: int) -> float | None:
    from assay.stats import upper_bound

    if guarantee is None or guarantee.delta is None:
        return None
    return round(upper_bound(after.leaks, wrong, guarantee.delta), 6)


def statement(guarantee: Guarantee | None, after: Choice) -> str:
    """The guarantee and its limits in plain words."""
    if guarantee is None:
        return f"The thresholds with the least loss on these {after.rows:,} rows; nothing is promised for others."
    share = f"Of hallucinated outputs like these rows, at most {guarantee.alpha:.4g} pass"
    if guarantee.horizon is not None:
        most = math.floor(guarantee.alpha * guarantee.horizon + 1e-9)
        share = f"Of the next {guarantee.horizon:,} hallucinated outputs like these rows, at most {most:,} pass"
    if guarantee.delta is not None:
        return f"{share}, with confidence {1 - guarantee.delta:.4g} over the rows drawn (learn then test, exact tails)."
    return f"{share} in the mean over the rows drawn; nothing is promised for this one draw (conformal risk control)."


def data_digest(rows: Iterable[Row]) -> str:
    """SHA-256 over the contents and labels of all rows, whatever their order."""
    lines = sorted(f"{row.digest} {row.label}" for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _notes(
    rows: Sequence[Row], outcomes: Sequence[Outcome], guarantee: Guarantee | None, documents: int
) -> Iterator[str]:
    if guarantee is None:
        yield "No guarantee was asked for (--alpha): the thresholds suit these rows and promise nothing of others."
    elif guarantee.refused is not None:
        yield f"The data do not allow the guarantee: {guarantee.refused}. No policy was fitted."
    elif guarantee.delta is None:
        yield "Conformal risk control holds in the mean only; learn then test promises something of the rows at hand."
    if guarantee is not None:
        yield "A guarantee is for outputs drawn as these rows were: other tasks, models or documents void it."
    if documents < len(rows):
        yield (
            f"{len(rows):,} rows share {documents:,} documents and are not independent of each other: "
            "--one-per-document keeps one of each."
        )
    always_passing = sum(outcome.wrong and outcome.passes >= 1.0 for outcome in outcomes)
    if always_passing:
        yield f"{always_passing:,} hallucinated rows pass at every threshold."
