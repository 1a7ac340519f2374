"""The judge cadence: a judge checks recorded outputs again, in near real time and outside of the request path.

Which outputs are judged depends on their ids and on the findings of the path alone, so that replicas agree and the
sampling probabilities are known. Outputs that cannot be checked again, because they were erased or could not be checked
in the first place, or at which the judge fails while it answers about others, are skipped and counted. So are those
that it judged in part, because the tokens that one judgement may cost did not suffice or an answer could not be used:
what it was not asked about would count as right. If the judge does not answer at all, nothing is concluded: the turn
ends, and the next one resumes at the first such output.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import InputError, VerifierError
from assay.guard import Guard
from assay.monitor import JudgeSampling, place
from assay.policy import Policy
from assay.schema import HallucinationReport
from assay.server.audit.replay import check_again
from assay.server.cadence.report_values import verdict_values
from assay.store.audit import run_content
from assay.store.db import Store
from assay.store.monitoring import JudgeCandidate, has_judgement, keep_judgement, read_judge_candidates
from assay.store.records import micros

SETTLE_S: Final = 60
"""Seconds after which no earlier output is expected to be recorded any more."""
PAGE: Final = 1_000
"""Outputs that one query reads."""
SALT: Final = "judge"
"""A salt by which the judge samples other outputs than the path does."""
MOST_CALLS: Final = 10_000
"""The most questions to the judge about one output: as many as it needs, since tokens and seconds are bounded."""
MOST_FAILURES: Final = 3
"""The number of outputs in a row that the judge fails at after which it is taken to be down."""
_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class JudgedOutputs:
    """The result of a turn of the judge."""

    after: tuple[int, str]
    """Moment and id of the last output that was considered."""
    judged: int = 0
    passed: int = 0
    """Outputs that were sampled but skipped, because they could not be checked again or the judge fails at them."""
    unanswered: bool = False
    """Whether the turn ended because the judge did not answer."""


class _PartlyJudgedError(InputError):
    """An output was judged in part: what the judge said nothing of would count as right."""

    def __init__(self, message: str, *, heard: bool, failed: bool, tokens: int) -> None:
        """The judge said something (`heard`), a question failed rather than cost too much (`failed`), for so many
        tokens."""
        super().__init__(message)
        self.heard, self.failed, self.tokens = heard, failed, tokens


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of an output."""

    kept: bool = False
    """Whether a judgement of it was stored."""
    heard: bool = False
    """Whether the judge said something now: without claims, or where all are remembered, it is not asked."""


def judging_guard(guard: Guard) -> Guard:
    """The guard with a policy that sends every claim to the judge."""
    return guard.under(Policy.model_validate({**guard.policy.model_dump(), "judge": "all", "judge_calls": MOST_CALLS}))


def judge_outputs(
    store: Store,
    tenant: str,
    sampling: JudgeSampling,
    guard: Guard,
    after: tuple[int, str],
    *,
    runs: Callable[[Callable[[], Any]], Any] = lambda work: work(),
    goes_on: Callable[[], bool] = lambda: True,
) -> JudgedOutputs:
    """Has a judge check the sampled outputs after a given one.

    Args:
        store: the store.
        tenant: the tenant.
        sampling: which outputs are judged, and what one judgement may cost.
        guard: a guard with a judge (`judging_guard`).
        after: moment and id of the last output that was considered.
        runs: runs one check.
        goes_on: called before each check: whether to continue.

    Raises:
        StoreError: the database cannot be read or written.
    """
    turn = _JudgeTurn(store, tenant, guard, sampling.tokens, runs, goes_on)
    now = micros(store.now())
    until = now - SETTLE_S * 1_000_000
    after = max(after, (now - sampling.within_s * 1_000_000, ""))
    while True:
        with store.reading(tenant) as connection:
            page = read_judge_candidates(connection, tenant, after, until, PAGE)
        for candidate in page:
            probability = 1.0 if sampling.flagged and candidate.flagged else sampling.fraction
            if place(candidate.id, SALT) < probability:
                if turn.asked >= sampling.most or not goes_on():
                    return turn.result(after)
                turn.judge(candidate, probability, after)
                if len(turn.failed) == MOST_FAILURES:
                    return turn.result(after)
            after = (candidate.created, candidate.id)
        if len(page) < PAGE:
            return turn.result(after)


@dataclass(slots=True)
class _JudgeTurn:
    """The outputs of one turn.

    A judge that fails may be down, or may fail at one output whenever it is asked about it. In the first case nothing
    is concluded and the next turn resumes at that output; in the second the output must not hold up all others. So a
    few more outputs are tried: once the judge answers about one of them, those that it failed at are tried once more
    and then skipped.
    """

    store: Store
    tenant: str
    guard: Guard
    tokens: int
    """The most that the judgement of one output may cost."""
    runs: Callable[[Callable[[], Any]], Any]
    goes_on: Callable[[], bool]
    judged: int = 0
    asked: int = 0
    """Outputs that were judged, in part ones among them."""
    skipped: int = 0
    failed: list[tuple[JudgeCandidate, float, tuple[int, str]]] = field(default_factory=list)
    """Outputs that the judge failed at since it last answered, each with its probability and the output before it."""

    def judge(self, candidate: JudgeCandidate, probability: float, before: tuple[int, str]) -> None:
        """Judges one output.

        Args:
            candidate: the output.
            probability: the probability with which it was sampled.
            before: moment and id of the output before it.
        """
        heard = False
        try:
            heard = self._judge(candidate, probability)
        except _PartlyJudgedError as error:
            heard = error.heard
            self.asked += heard
            _log.warning("the output %s was judged in part and is skipped: %s", candidate.id, error)
            self.skipped += 1
        except InputError as error:
            _log.info("the output %s is not judged: %s", candidate.id, error)
            self.skipped += 1
        except VerifierError:
            self.failed.append((candidate, probability, before))
        if heard:
            self._retry_failed()

    def _judge(self, candidate: JudgeCandidate, probability: float) -> bool:
        """Judges one output, for a second time where a question failed: what was answered is remembered. Whether the
        judge said something."""

        def once(tokens: int) -> _Outcome:
            guard = self.guard.with_token_budget(tokens)
            return _judge_once(self.store, self.tenant, candidate, probability, guard, self.runs)

        try:
            outcome = once(self.tokens)
        except _PartlyJudgedError as error:
            left = self.tokens - error.tokens
            if not error.failed or left < 1:
                raise
            if not self.goes_on():
                raise VerifierError("the turn ended between two tries") from error  # the next one resumes here
            try:
                outcome = once(left)
            except VerifierError:
                raise error from None  # the judge answered the first time
        self.judged += outcome.kept
        self.asked += outcome.kept or outcome.heard
        return outcome.heard

    def _retry_failed(self) -> None:
        failed, self.failed = self.failed, []
        for candidate, probability, _ in failed:
            try:
                self._judge(candidate, probability)
            except (InputError, VerifierError) as error:
                _log.warning("the judge fails at the output %s, which is skipped: %s", candidate.id, error)
                self.skipped += 1

    def result(self, after: tuple[int, str]) -> JudgedOutputs:
        """The result of the turn, given the last output that was considered."""
        resume = self.failed[0][2] if self.failed else after
        return JudgedOutputs(resume, self.judged, self.skipped, unanswered=bool(self.failed))


def _judge_once(
    store: Store,
    tenant: str,
    candidate: JudgeCandidate,
    probability: float,
    guard: Guard,
    runs: Callable[[Callable[[], Any]], Any],
) -> _Outcome:
    """Judges one output, unless that was done before.

    Raises:
        InputError: the output cannot be checked again, or was judged in part only.
        VerifierError: the judge did not answer.
    """
    with store.reading(tenant) as connection:
        if has_judgement(connection, tenant, candidate.id):
            return _Outcome()
        content = run_content(connection, tenant, candidate.id)
    if content is None:
        raise InputError("its content was erased")
    report: HallucinationReport = runs(lambda: check_again(content, guard))
    judge = report.judge
    heard = judge is not None and judge.answered > judge.remembered
    if judge is not None and judge.answered < judge.chosen:
        spent = [one for one in report.spending if one.purpose == "judge"]
        if not heard and (judge.model is None or any(one.requests for one in spent)):
            raise VerifierError("the judge did not answer")
        why = f": {judge.notes[0]}" if judge.notes else ""
        raise _PartlyJudgedError(
            f"the judge answered about {judge.answered} of {judge.chosen} claims{why}",
            heard=heard,
            failed=any(one.failures for one in spent),
            tokens=sum(one.prompt_tokens + one.completion_tokens for one in report.spending),
        )
    keep_judgement(store, tenant, candidate, probability, values_of(report))
    return _Outcome(kept=True, heard=heard)


def values_of(report: HallucinationReport) -> Mapping[str, float | None]:
    """The metrics of a report on an output, where larger is worse."""
    return {
        **verdict_values(report),
        "unfaithful": _one_minus(report, "faithfulness"),
        "unfactual": _one_minus(report, "factscore"),
    }


def _one_minus(report: HallucinationReport, name: str) -> float | None:
    found = report.metrics.get(name)
    return None if found is None or found.value is None else 1 - found.value
