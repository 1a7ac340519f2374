"""Makes the runs of schedules that are due: by one process at a time, resumable by any, with alerts for regressions.

The id of a run is derived from the schedule and the moment of its plan, so that each run is recorded once, whichever
processes try. Answers are stored as they arrive: if a process is killed, only its open calls are lost, and the next
process repeats no call that was answered. Of moments that were missed only the latest is made up for.
"""

import hashlib
import logging
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Final, Self

from assay.errors import AssayError, InputError
from assay.guard import Guard
from assay.redteam import Campaign, run_campaign
from assay.redteam.cases import Case, read_suite, suite_digest
from assay.redteam.runs import Answer, RunLog, RunOptions
from assay.redteam.scores import Comparison, Scorecard, compare
from assay.redteam.targets import Target, estimated_tokens, load_target, request_of
from assay.redteam.targets.interface import CHARACTERS_PER_TOKEN
from assay.server.redteam.proposals import approved_suite, propose_failures
from assay.server.redteam.rows import About, card_of, record_campaign
from assay.server.redteam.schedules import APPROVED, Schedule
from assay.store.alerts import Alert, Urgency, close_alert, raise_alert
from assay.store.db import Store, take_lease
from assay.store.records import micros
from assay.store.redteam import (
    AttackRun,
    KeptAnswer,
    drop_answers,
    first_run,
    keep_answer,
    kept_answers,
    last_run,
    read_run,
)

LEASE_S: Final = 60.0
"""Seconds for which a lease is held. It is renewed during the run, so that others need not wait long for a process that
was killed."""
BEAT_S: Final = 15.0
"""Seconds between two renewals."""
RETRY_S: Final = 600.0
"""Seconds after which a failed run is tried again."""
ACTOR: Final = "schedule"
REGRESSION: Final = "redteam.regression"
UNJUDGED: Final = "redteam.unjudged"
FAILED: Final = "redteam.failed"
"""The kinds of alerts (docs/runbooks.md)."""
_RECORD: Final = "run.jsonl"
_log = logging.getLogger("assay.server")


class StoppedError(AssayError):
    """The process is stopping, or another process has the lease; answers so far are kept."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """The result of a schedule that was due."""

    schedule: str
    tenant: str
    run: AttackRun | None
    """None where the run failed."""
    error: str | None = None
    """Why it failed."""
    comparisons: Mapping[str, Comparison] | None = None
    """The comparisons with earlier runs, by their ids."""


def run_id_of(schedule: Schedule, due: int) -> str:
    """The id of the run of a schedule for a moment of its plan, in microseconds since 1970."""
    return hashlib.sha256(f"{schedule.tenant}\n{schedule.name}\n{due}".encode()).hexdigest()[:32]


def run_due(
    now: datetime,
    store: Store,
    schedules: Sequence[Schedule],
    guard_of: Callable[[], Guard],
    holder: str,
    environ: Mapping[str, str],
    stopping: threading.Event | None = None,
) -> list[Attacked]:
    """Makes the runs that are due and not yet recorded, as far as this holder gets their leases.

    Args:
        now: the moment that decides what is due.
        store: the store of runs, answers and leases.
        schedules: the schedules.
        guard_of: returns the guard that judges; called only if a run is due.
        holder: the holder of leases, a name that no other process has.
        environ: the environment; its `OPENAI_API_KEY` is sent to targets that are addresses.
        stopping: when it is set, no further call begins; answers so far are kept.

    Raises:
        StoreError: the database cannot be read or written.
        StoppedError: `stopping` was set during a run.
    """
    attacked = []
    for schedule in schedules:
        due = micros(schedule.when.last(now))
        run_id = run_id_of(schedule, due)
        if _is_recorded(store, schedule, run_id):
            continue
        lease = f"redteam:{schedule.name}"
        if not take_lease(store, schedule.tenant, lease, holder, LEASE_S):
            continue
        # Another process may have recorded it before this one got the lease.
        if _is_recorded(store, schedule, run_id):
            continue
        try:
            with _HeldLease(store, schedule.tenant, lease, holder, stopping or threading.Event()) as held:
                attacked.append(_make_run(store, schedule, due, run_id, guard_of(), environ, held))
        except StoppedError:
            if stopping is not None and stopping.is_set():
                raise
            _log.warning("another process has the turn of the schedule %s of the red team", schedule.name)
        except AssayError as error:
            _log.exception("the schedule %s of the red team could not be run", schedule.name)
            _alert_failure(store, schedule, error)
            # The lease is released and taken again under a name that no process has: nobody retries until it expires.
            take_lease(store, schedule.tenant, lease, holder, 0)
            take_lease(store, schedule.tenant, lease, f"{holder}: failed", RETRY_S)
            attacked.append(Attacked(schedule.name, schedule.tenant, None, str(error)))
    return attacked


def _is_recorded(store: Store, schedule: Schedule, run_id: str) -> bool:
    with store.reading(schedule.tenant) as connection:
        return read_run(connection, schedule.tenant, run_id) is not None


class _HeldLease:
    """Renews a lease in the background during a run."""

    def __init__(self, store: Store, tenant: str, name: str, holder: str, stopping: threading.Event) -> None:
        self._store, self._tenant, self._name, self._holder = store, tenant, name, holder
        self._stopping, self._done = stopping, threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._renew, name="redteam-turn", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._done.wait(BEAT_S):
            try:
                if not take_lease(self._store, self._tenant, self._name, self._holder, LEASE_S):
                    self._lost = True
                    return
            except AssayError:
                _log.exception("the turn of the red team could not be renewed; it is tried again")

    def require(self) -> None:
        """Checks that the run may continue.

        Raises:
            StoppedError: the lease was lost, or the process is stopping.
        """
        if self._lost or self._stopping.is_set():
            raise StoppedError("the run goes on in another process, or when this one is started again")


def _make_run(
    store: Store, schedule: Schedule, due: int, run_id: str, guard: Guard, environ: Mapping[str, str], lease: _HeldLease
) -> Attacked:
    cases = _cases_of(store, schedule)
    target = load_target(schedule.target, schedule.target_model, schedule.timeout, environ)
    with tempfile.TemporaryDirectory(prefix="assay-redteam-") as scratch:
        campaign = _run_with_kept_answers(store, schedule, run_id, cases, target, guard, Path(scratch), lease)
    lease.require()
    card = campaign.card
    comparisons = compared(store, schedule, card)
    about = About(
        ACTOR,
        micros(store.now()),
        Path(schedule.suite).stem,
        schedule.target_version,
        ACTOR,
        schedule.name,
        due,
        schedule.budget or None,
        run_id,
    )
    run = record_campaign(store, schedule.tenant, cases, campaign.judgements, card, about, comparisons)
    if schedule.propose:
        propose_failures(store, schedule.tenant, cases, campaign.judgements, card.target, ACTOR, run=run.id)
    drop_answers(store, schedule.tenant, run_id)
    tell(store, schedule, run, comparisons)
    return Attacked(schedule.name, schedule.tenant, run, None, comparisons)


def _cases_of(store: Store, schedule: Schedule) -> tuple[Case, ...]:
    cases = approved_suite(store, schedule.tenant) if schedule.suite == APPROVED else read_suite(Path(schedule.suite))
    chosen = tuple(case for case in cases if not schedule.categories or case.category.value in schedule.categories)
    if not chosen:
        raise InputError(f"the suite of the schedule {schedule.name} has no case of the categories that are wanted")
    return chosen


def _run_with_kept_answers(
    store: Store,
    schedule: Schedule,
    run_id: str,
    cases: Sequence[Case],
    target: Target,
    guard: Guard,
    folder: Path,
    lease: _HeldLease,
) -> Campaign:
    with store.reading(schedule.tenant) as connection:
        kept_earlier = kept_answers(connection, schedule.tenant, run_id)
    by_id = {case.id: case for case in cases}
    digest, stored = suite_digest(cases), set[tuple[str, int]]()
    with RunLog(folder / _RECORD, digest, target.name) as log:
        for earlier in kept_earlier:
            if earlier.case_id in by_id:
                request = request_of(by_id[earlier.case_id])
                log.begin(earlier.case_id, earlier.trial, request)
                tokens_in, tokens_out = estimated_tokens(request), ceil(len(earlier.text or "") / CHARACTERS_PER_TOKEN)
                log.end(
                    Answer(
                        earlier.case_id,
                        earlier.text,
                        earlier.error,
                        earlier.seconds,
                        earlier.trial,
                        tokens_in,
                        tokens_out,
                    )
                )
                stored.add((earlier.case_id, earlier.trial))

    def keep(answer: Answer) -> None:
        if (answer.case, answer.trial) not in stored:
            stored.add((answer.case, answer.trial))
            kept_answer = KeptAnswer(answer.case, answer.trial, answer.text, answer.error, answer.seconds)
            keep_answer(store, schedule.tenant, run_id, kept_answer)

    def keep_and_go_on(answer: Answer) -> None:
        keep(answer)
        lease.require()

    options = RunOptions(
        concurrency=schedule.concurrency,
        per_second=schedule.rate,
        most_calls=schedule.most_calls,
        most_seconds=schedule.most_seconds,
        most_tokens=schedule.most_tokens,
        most_cost=schedule.most_cost,
        price_in=schedule.price_in,
        price_out=schedule.price_out,
    )
    try:
        return run_campaign(cases, target, guard, folder, options, reruns=schedule.reruns, on_answer=keep_and_go_on)
    finally:
        # Open calls were waited for when the run was stopped: their answers are only in the record so far.
        with RunLog(folder / _RECORD, digest, target.name) as log:
            for answer in log.answers.values():
                keep(answer)


def compared(store: Store, schedule: Schedule, card: Scorecard) -> dict[str, Comparison]:
    """Compares a run with earlier runs of its schedule; the comparisons by the ids of these runs.

    It is compared with the last run that was not a regression and with the first run, so that neither a drop after an
    improvement nor a slow decline within delta goes unnoticed. If these are two runs, each is tested at half of alpha
    (Bonferroni), so that the probability of a false alarm of one run stays at alpha.
    """
    with store.reading(schedule.tenant) as connection:
        last = last_run(connection, schedule.tenant, schedule.name, schedule.begins, sound=True)
        first = first_run(connection, schedule.tenant, schedule.name, schedule.begins)
    baselines = {one.id: one for one in (last, first) if one is not None}
    comparisons: dict[str, Comparison] = {}
    for id_, run in baselines.items():
        try:
            before = card_of(store, schedule.tenant, run)
            comparisons[id_] = compare(before, card, schedule.delta, schedule.alpha / len(baselines))
        except InputError:
            _log.info("the run %s shares no judged case with this run of %s; they are not compared", id_, schedule.name)
    return comparisons


def tell(store: Store, schedule: Schedule, run: AttackRun, comparisons: Mapping[str, Comparison]) -> None:
    """Raises or closes the alerts of a schedule according to its latest run.

    Raises:
        StoreError: it cannot be stored.
    """
    key = f"redteam:{schedule.name}"
    close_alert(store, schedule.tenant, f"{key}/failed")
    worst = next((one for one in comparisons.values() if one.regressed), None)
    if worst is not None:
        raise_alert(store, schedule.tenant, regression_alert(schedule, run, worst))
    elif comparisons:
        close_alert(store, schedule.tenant, key)
    if 2 * run.unjudged > run.cases:
        raise_alert(
            store,
            schedule.tenant,
            Alert(
                f"{key}/unjudged",
                UNJUDGED,
                f"Red team {schedule.name}: {run.unjudged:,} of {run.cases:,} cases could not be judged.",
                facts={"schedule": schedule.name, "run": run.id, "unjudged": run.unjudged, "cases": run.cases},
            ),
        )
    else:
        close_alert(store, schedule.tenant, f"{key}/unjudged")


def regression_alert(schedule: Schedule, run: AttackRun, comparison: Comparison) -> Alert:
    """The alert of a regression: critical if the whole suite regressed, a warning if only categories did."""
    groups = [change for change in comparison.changes if change.regressed]
    whole = comparison.changes[0]
    group_names = ", ".join(change.group.replace("_", " ") for change in groups[:4])
    return Alert(
        f"redteam:{schedule.name}",
        REGRESSION,
        f"Red team {schedule.name}: robustness {whole.after:.3f}, {whole.before:.3f} before, on {whole.pairs:,} cases; "
        f"{len(comparison.broken):,} broke ({group_names}).",
        Urgency.CRITICAL if whole.regressed else Urgency.WARNING,
        {
            "schedule": schedule.name,
            "run": run.id,
            "target": run.target[:300],
            "before": round(whole.before, 4),
            "after": round(whole.after, 4),
            "broken": [change.id for change in comparison.broken[:20]],
            "categories": [change.group for change in groups[:20]],
        },
    )


def _alert_failure(store: Store, schedule: Schedule, error: AssayError) -> None:
    # The message of an error may name files and addresses. Alerts leave the house, so it is only in the server's log.
    raise_alert(
        store,
        schedule.tenant,
        Alert(
            f"redteam:{schedule.name}/failed",
            FAILED,
            f"Red team {schedule.name}: the run that was due could not be made ({type(error).__name__}).",
            facts={"schedule": schedule.name, "error": type(error).__name__},
        ),
    )
