"""Fits the thresholds of a policy on labelled rows: judged once, decided again for every threshold.

Each row is an output with its evidence and a label, checked as `Guard.check` would check it, so that what is counted is
what the gate really does with it, citations, coverage and conflicts included, and not what a score alone would say.
"""

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from assay.errors import InputError
from assay.evaluation.calibrate.abstention import AbstentionFit, fit_abstaining, signals_kept
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result, ResultLog
from assay.evaluation.runner import Batch, Judged, batches, of_answer
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
"""Where nobody says what errors cost: a leak as much as ten abstentions, a false block as much as three."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be fitted."""

    alpha: float | None = None
    """The share of hallucinated outputs that may pass; none for no guarantee."""
    delta: float = 0.1
    """How often the promise may fail, over sets of rows that might have been drawn."""
    method: Method = "learn_then_test"
    horizon: int | None = None
    """How many hallucinated outputs to come the promise is about; their rate by default. Learn then test only."""
    costs: Costs | None = None
    """What errors cost. Without them, and with a guarantee, the loosest threshold that it certifies is taken."""
    one_per_document: bool = False
    """Whether of the rows of one document only one counts, drawn by the seed, so that rows are independent."""
    seed: int = 0
    abstention: bool = False
    """Whether the file also says when an answer is not given, by one confidence fitted on the rows."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What came of it."""

    policy: Policy | None
    """The fitted policy; none where the data do not allow the guarantee."""
    calibration: Calibration | None
    guarantee: Guarantee | None
    before: Choice
    """What the policy as it was does to the rows, at the same costs."""
    after: Choice | None
    curve: tuple[TradeOff, ...]
    """Leak against false abstention over all thresholds."""
    rows: int
    hallucinated: int
    documents: int
    notes: tuple[str, ...]
    """What a reader must know before relying on it."""
    abstention: AbstentionFit | None = None
    """The fitted decision whether to answer, where that was asked for."""


def judge(
    guard: "Guard",
    policy: Policy,
    rows: Sequence[Row],
    log: ResultLog,
    progress: Callable[[int], None],
    judged: Judged | None = None,
) -> list[Outcome]:
    """How far every row gets.

    Args:
        guard: one with the loosest form of the policy.
        policy: the one whose thresholds are to be fitted.
        rows: labelled rows.
        log: where results are kept, entered.
        progress: called with the number of rows that were done since the last call.
        judged: who judges in place of the guard, by an equal `Calibrating`; the outcomes are the same.

    Returns:
        One outcome for each row, in order.
    """
    digests = [key_of(row) for row in rows]
    waiting = {digest: row for digest, row in zip(digests, rows, strict=True) if digest not in log.results}
    progress(len(rows) - len(waiting))
    for results in (judged or partial(map, partial(_judge, guard, policy)))(batches(waiting.items())):
        log.add(results)
        progress(len(results))
    return [outcome_of(row.wrong, log.results[digest]) for row, digest in zip(rows, digests, strict=True)]


@dataclass(frozen=True, slots=True)
class Calibrating:
    """What a worker is given for a calibration: called once with its network, it gives what judges batches."""

    policy: Policy
    """The one whose thresholds are to be fitted."""

    def __call__(self, scorer: "PairScorer") -> Callable[[Batch], list[Result]]:
        """Makes the guard."""
        from assay.config import Guard

        return partial(_judge, Guard(loosest(self.policy), scorer=scorer), self.policy)


def _judge(guard: "Guard", policy: Policy, batch: Batch) -> list[Result]:
    requests = ({"answer": r.text, "evidence": list(r.evidence), "question": r.question} for _, r in batch)
    reports = guard.check_many(requests)
    return [_result(digest, report, policy, row) for (digest, row), report in zip(batch, reports, strict=True)]


def key_of(row: Row) -> str:
    """Names a row among kept results; other than in `assay eval`, since claims are checked here as outputs."""
    return hashlib.sha256(f"calibrate\0{row.digest}".encode()).hexdigest()[:32]


def _result(digest: str, report: HallucinationReport, policy: Policy, row: Row) -> Result:
    levels = levels_of(report, policy)
    found = of_answer(digest, report, policy.support_threshold)
    named = {"passes": levels.passes, "blocked": levels.blocked}
    finite = {name: level for name, level in named.items() if math.isfinite(level)}  # JSON has no infinity
    kept = finite | signals_kept(report, row, policy)
    return Result(digest, found.verdict, found.score, found.contradiction, found.spans, kept)


def outcome_of(wrong: bool, result: Result) -> Outcome:
    """The outcome that a kept result stands for."""
    return Outcome(wrong, result.signals.get("passes", -math.inf), result.signals.get("blocked", math.inf))


def labelled(rows: Iterable[Row], wish: Wish) -> list[Row]:
    """The rows that count: those with a label, and of each document one where that is asked for.

    Raises:
        InputError: there is none.
    """
    kept = [row for row in rows if row.label is not None]
    if wish.one_per_document:
        kept = sorted(kept, key=lambda row: row.digest)
        random.Random(wish.seed).shuffle(kept)  # noqa: S311 a draw that anyone can repeat
        kept = sorted({row.document: row for row in kept}.values(), key=lambda row: (row.set, row.id))
    if not kept:
        raise InputError("expected labelled rows to fit on, got none; `label` says supported, contradicted, ...")
    return kept


def fit(
    policy: Policy,
    rows: Sequence[Row],
    outcomes: Sequence[Outcome],
    wish: Wish,
    verifier: tuple[str, str],
    results: Sequence[Result] = (),
) -> Fit:
    """Choose the thresholds.

    Args:
        policy: the one to start from.
        rows: the rows, labelled.
        outcomes: how far each gets.
        wish: what is wanted.
        verifier: name and digest of what judged.
        results: what was kept of each row; where the wish is to decide whether to answer.

    Raises:
        InputError: there are no rows, or alpha or delta are no shares.
    """
    grid = grid_of(policy)
    guarantee = _guarantee(outcomes, grid, wish)
    costs = wish.costs or DEFAULT_COSTS
    present = policy.emit_threshold if policy.aggregation != "unsupported_rate" else 1 - policy.warn_rate
    before = counted(outcomes, costs, present, policy.block_threshold)
    after = _choice(policy, outcomes, grid, guarantee, wish)
    wrong = sum(outcome.wrong for outcome in outcomes)
    documents = len({row.document for row in rows})
    curve = trade_off(outcomes, grid)
    notes = tuple(_notes(rows, outcomes, guarantee, documents))
    if after is None:
        return Fit(None, None, guarantee, before, None, curve, len(rows), wrong, documents, notes)
    fitted = at_strictness(policy, after.threshold, after.block_threshold)
    abstention = None
    if wish.abstention:
        gate = after.threshold, after.block_threshold
        abstention = fit_abstaining(rows, results, outcomes, costs, policy, gate)
        fitted = fitted.model_copy(update={"abstention": abstention.block})
    fitted = fitted.model_copy(update={"name": f"{policy.name.removesuffix('-calibrated')}-calibrated"})
    point = next(point for point in curve if point.threshold == after.threshold)
    calibration = Calibration(
        method="least_loss" if guarantee is None else guarantee.method,
        statement=statement(guarantee, after),
        alpha=wish.alpha,
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
        seed=wish.seed,
        data_digest=data_digest(rows),
        policy_digest=fitted.digest,
        verifier=verifier[0],
        verifier_digest=verifier[1],
    )
    found = Fit(fitted, calibration, guarantee, before, after, curve, len(rows), wrong, documents, notes, abstention)
    return replace(found, notes=(*notes, *_abstention_notes(abstention, len(rows))))


def _abstention_notes(found: AbstentionFit | None, rows: int) -> Iterator[str]:
    if found is None:
        return
    absent = [name for name, count in found.measured.items() if not count]
    if absent:
        yield (
            f"The confidence is fitted without {', '.join(absent)}: no row has them, so they weigh nothing. Rows may "
            "carry `signals` and a `question`."
        )
    few = [name for name, count in found.measured.items() if 0 < count < rows]
    if few:
        yield f"Only some rows have {', '.join(few)}; for the others they are left out."
    if not found.held_out:
        yield "Too few rows or documents to hold some out: the confidence's figures are of the rows it was fitted on."


def _guarantee(outcomes: Sequence[Outcome], grid: Sequence[float], wish: Wish) -> Guarantee | None:
    if wish.alpha is None:
        return None
    levels = [outcome.passes for outcome in outcomes if outcome.wrong]
    if wish.method == "learn_then_test":
        return learn_then_test(levels, grid, wish.alpha, wish.delta, wish.horizon)
    if wish.horizon is not None:
        raise InputError("a horizon goes with learn then test: control in the mean promises nothing of one number")
    return conformal_risk_control(levels, grid, wish.alpha)


def _choice(
    policy: Policy, outcomes: Sequence[Outcome], grid: Sequence[float], guarantee: Guarantee | None, wish: Wish
) -> Choice | None:
    """The cheapest of what is certified. Choosing among it costs no confidence: all stricter ones hold too."""
    costs = wish.costs or DEFAULT_COSTS
    if guarantee is None:
        return cheapest(outcomes, costs, grid, block_grid_of(policy))
    least = guarantee.threshold
    if least is None:
        return None
    if wish.costs is None:
        return counted(outcomes, costs, least, min(policy.block_threshold, least))
    return cheapest(outcomes, costs, [t for t in grid if t >= least], block_grid_of(policy))


def _bound(guarantee: Guarantee | None, after: Choice, wrong: int) -> float | None:
    from assay.stats import upper_bound

    if guarantee is None or guarantee.delta is None:
        return None
    return round(upper_bound(after.leaks, wrong, guarantee.delta), 6)


def statement(guarantee: Guarantee | None, after: Choice) -> str:
    """What is promised, and what is not, in plain words."""
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
    """SHA-256 over what every row says and how it is labelled, in an order that does not matter."""
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
    sure = sum(outcome.wrong and outcome.passes >= 1.0 for outcome in outcomes)
    if sure:
        yield f"{sure:,} hallucinated rows pass at every threshold."
