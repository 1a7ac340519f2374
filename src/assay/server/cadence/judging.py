"""The sampled cadence: a judge hears recorded outputs again, near real time and off the path.

Which outputs are heard follows from their ids and from what the path found, so that replicas agree and the inverse
probabilities are known. What cannot be checked again, because it was erased or could not be checked then, is passed
over and counted. Where the judge does not answer, nothing is concluded: the turn ends there and the next one goes on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError, VerifierError
from assay.guard import Guard
from assay.monitor import JudgeSampling, place
from assay.policy import Policy
from assay.schema import HallucinationReport, Verdict
from assay.server.audit.replay import check_again
from assay.store.audit import run_content
from assay.store.db import Store
from assay.store.monitoring import JudgeCandidate, has_judgement, keep_judgement, read_judge_candidates
from assay.store.records import micros

SETTLES_S: Final = 60
"""Seconds after which an output is taken to be on record."""
PART: Final = 1_000
"""Outputs that are looked at in one query."""
SALT: Final = "judge"
"""Draws other outputs than the sampling of the path does."""
_WRONG: Final = frozenset({Verdict.CONTRADICTED, Verdict.UNSUPPORTED})


@dataclass(frozen=True, slots=True)
class JudgedOutputs:
    """What a turn of the judge did."""

    after: tuple[int, str]
    """The output up to which all were looked at."""
    judged: int = 0
    passed: int = 0
    """Outputs that were drawn and could not be checked again."""
    unanswered: bool = False
    """Whether the judge did not answer, so that the turn ended."""


def judging_guard(guard: Guard) -> Guard:
    """The guard with every claim put to its judge."""
    if guard.policy.judge == "all":
        return guard
    return guard.under(Policy.model_validate({**guard.policy.model_dump(), "judge": "all"}))


def judge_outputs(
    store: Store,
    tenant: str,
    how: JudgeSampling,
    guard: Guard,
    after: tuple[int, str],
    *,
    runs: Callable[[Callable[[], Any]], Any] = lambda work: work(),
    goes_on: Callable[[], bool] = lambda: True,
) -> JudgedOutputs:
    """Have a judge read the outputs that are drawn, after one of them.

    Args:
        store: the record.
        tenant: whose.
        how: which outputs.
        guard: one with a judge (`judging_guard`).
        after: the moment and id of the last output that was looked at.
        runs: runs one check.
        goes_on: asked before each: whether to go on.

    Raises:
        StoreError: the database cannot be read or written.
    """
    now, judged, passed = micros(store.now()), 0, 0
    until = now - SETTLES_S * 1_000_000
    after = max(after, (now - how.within_s * 1_000_000, ""))
    while True:
        with store.reading(tenant) as connection:
            part = read_judge_candidates(connection, tenant, after, until, PART)
        for one in part:
            chance = 1.0 if how.flagged and one.flagged else how.fraction
            if place(one.id, SALT) < chance:
                if judged >= how.most or not goes_on():
                    return JudgedOutputs(after, judged, passed)
                try:
                    judged += _judge_once(store, tenant, one, chance, guard, runs)
                except InputError:
                    passed += 1
                except VerifierError:
                    return JudgedOutputs(after, judged, passed, unanswered=True)
            after = (one.created, one.id)
        if len(part) < PART:
            return JudgedOutputs(after, judged, passed)


def _judge_once(
    store: Store,
    tenant: str,
    one: JudgeCandidate,
    chance: float,
    guard: Guard,
    runs: Callable[[Callable[[], Any]], Any],
) -> bool:
    """Whether it was heard now: not where it was before.

    Raises:
        InputError: it cannot be checked again.
        VerifierError: the judge did not answer.
    """
    with store.reading(tenant) as connection:
        if has_judgement(connection, tenant, one.id):
            return False
        content = run_content(connection, tenant, one.id)
    if content is None:
        raise InputError("its content was erased")
    report: HallucinationReport = runs(lambda: check_again(content, guard))
    judge = report.judge
    if judge is not None and judge.chosen and not judge.answered:
        raise VerifierError("the judge did not answer")
    keep_judgement(store, tenant, one, chance, values_of(report))
    return True


def values_of(report: HallucinationReport) -> Mapping[str, float | None]:
    """What a report says of an output, as numbers, the larger the worse."""
    return {
        "bad": float(any(claim.verdict in _WRONG for claim in report.claims)),
        "score": None if report.overall_score is None else 1 - report.overall_score,
        "unfaithful": _rest(report, "faithfulness"),
        "unfactual": _rest(report, "factscore"),
    }


def _rest(report: HallucinationReport, name: str) -> float | None:
    found = report.metrics.get(name)
    return None if found is None or found.value is None else 1 - found.value
