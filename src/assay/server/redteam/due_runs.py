"""Runs of schedules that are due: one process has the turn, any process goes on, a regression is told like any alert.

A moment of a schedule's plan and its name make the id of a run, so that the run is recorded once whoever tries. What
was answered stands in the store as it comes: a process that is killed loses the calls that were under way, and the next
one asks nothing again that was answered. A moment that was missed is made up for, the latest one only.
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
from assay.server.redteam.recording import About, card_of, record_campaign
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
"""Seconds for which a turn is held; it is renewed while the run goes on, so that nobody waits long for a process that
was killed."""
BEAT_S: Final = 15.0
"""Seconds between two renewals."""
RETRY_S: Final = 600.0
"""Seconds after which a run that could not be made is tried again."""
ACTOR: Final = "schedule"
REGRESSION: Final = "redteam.regression"
UNJUDGED: Final = "redteam.unjudged"
FAILED: Final = "redteam.failed"
"""The kinds of alerts (docs/runbooks.md)."""
_RECORD: Final = "run.jsonl"
_log = logging.getLogger("assay.server")


class StoppedError(AssayError):
    """The process ends, or another has the turn: what was answered is kept."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """What came of a schedule that was due."""

    schedule: str
    tenant: str
    run: AttackRun | None
    """None where it could not be made."""
    error: str | None = None
    comparisons: Mapping[str, Comparison] | None = None


def run_id_of(schedule: Schedule, due: int) -> str:
    """The id of the run of a schedule for a moment of its plan."""
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
    """Makes the runs that are due and not recorded yet, where it is this holder's turn.

    Args:
        now: by it is said what is due.
        store: where runs, answers and turns stand.
        schedules: what is run when.
        guard_of: gives what judges; asked only where something is due.
        holder: who takes the turn: a name that no other process has.
        environ: `OPENAI_API_KEY` goes to targets that are addresses.
        stopping: when it is set, no further call is made; what was answered is kept.

    Raises:
        StoreError: the database cannot be read or written.
        StoppedError: `stopping` was set during a run.
    """
    made = []
    for schedule in schedules:
        due = micros(schedule.when.last(now))
        id_ = run_id_of(schedule, due)
        if _is_recorded(store, schedule, id_):
            continue
        turn = f"redteam:{schedule.name}"
        if not take_lease(store, schedule.tenant, turn, holder, LEASE_S):
            continue
        # Another may have recorded it between the look and the turn.
        if _is_recorded(store, schedule, id_):
            continue
        try:
            with _Turn(store, schedule.tenant, turn, holder, stopping or threading.Event()) as held:
                made.append(_attack(store, schedule, due, id_, guard_of(), environ, held))
        except StoppedError:
            if stopping is not None and stopping.is_set():
                raise
            _log.warning("another process has the turn of the schedule %s of the red team", schedule.name)
        except AssayError as error:
            _log.exception("the schedule %s of the red team could not be run", schedule.name)
            _tell_failure(store, schedule, error)
            # Given back, and taken in the name of nobody who asks: it is tried again when that is over.
            take_lease(store, schedule.tenant, turn, holder, 0)
            take_lease(store, schedule.tenant, turn, f"{holder}: failed", RETRY_S)
            made.append(Attacked(schedule.name, schedule.tenant, None, str(error)))
    return made


def _is_recorded(store: Store, schedule: Schedule, id_: str) -> bool:
    with store.reading(schedule.tenant) as connection:
        return read_run(connection, schedule.tenant, id_) is not None


class _Turn:
    """Holds a turn while a run goes on."""

    def __init__(self, store: Store, tenant: str, name: str, holder: str, stopping: threading.Event) -> None:
        self._store, self._tenant, self._name, self._holder = store, tenant, name, holder
        self._stopping, self._done = stopping, threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._beat, name="redteam-turn", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._done.wait(BEAT_S):
            try:
                if not take_lease(self._store, self._tenant, self._name, self._holder, LEASE_S):
                    self._lost = True
                    return
            except AssayError:
                _log.exception("the turn of the red team could not be renewed; it is tried again")

    def require(self) -> None:
        """Goes on only while it is this holder's turn and the process does not end.

        Raises:
            StoppedError: it is not, or it does.
        """
        if self._lost or self._stopping.is_set():
            raise StoppedError("the run goes on in another process, or when this one is started again")


def _attack(
    store: Store, schedule: Schedule, due: int, id_: str, guard: Guard, environ: Mapping[str, str], held: _Turn
) -> Attacked:
    cases = _cases(store, schedule)
    target = load_target(schedule.target, schedule.target_model, schedule.timeout, environ)
    with tempfile.TemporaryDirectory(prefix="assay-redteam-") as scratch:
        campaign = _campaign(store, schedule, id_, cases, target, guard, Path(scratch), held)
    held.require()
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
        id_,
    )
    run = record_campaign(store, schedule.tenant, cases, campaign.judgements, card, about, comparisons)
    if schedule.propose:
        propose_failures(store, schedule.tenant, cases, campaign.judgements, card.target, ACTOR, run=run.id)
    drop_answers(store, schedule.tenant, id_)
    tell(store, schedule, run, comparisons)
    return Attacked(schedule.name, schedule.tenant, run, None, comparisons)


def _cases(store: Store, schedule: Schedule) -> tuple[Case, ...]:
    cases = approved_suite(store, schedule.tenant) if schedule.suite == APPROVED else read_suite(Path(schedule.suite))
    wanted = tuple(case for case in cases if not schedule.categories or case.category.value in schedule.categories)
    if not wanted:
        raise InputError(f"the suite of the schedule {schedule.name} has no case of the categories that are wanted")
    return wanted


def _campaign(
    store: Store,
    schedule: Schedule,
    id_: str,
    cases: Sequence[Case],
    target: Target,
    guard: Guard,
    folder: Path,
    held: _Turn,
) -> Campaign:
    with store.reading(schedule.tenant) as connection:
        answered = kept_answers(connection, schedule.tenant, id_)
    by_id = {case.id: case for case in cases}
    digest, kept = suite_digest(cases), set[tuple[str, int]]()
    with RunLog(folder / _RECORD, digest, target.name) as log:
        for one in answered:
            if one.case_id in by_id:
                request = request_of(by_id[one.case_id])
                log.begin(one.case_id, one.trial, request)
                sent, got = estimated_tokens(request), ceil(len(one.text or "") / CHARACTERS_PER_TOKEN)
                log.end(Answer(one.case_id, one.text, one.error, one.seconds, one.trial, sent, got))
                kept.add((one.case_id, one.trial))

    def keep(answer: Answer) -> None:
        if (answer.case, answer.trial) not in kept:
            kept.add((answer.case, answer.trial))
            said = KeptAnswer(answer.case, answer.trial, answer.text, answer.error, answer.seconds)
            keep_answer(store, schedule.tenant, id_, said)

    def told(answer: Answer) -> None:
        keep(answer)
        held.require()

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
        return run_campaign(cases, target, guard, folder, options, reruns=schedule.reruns, on_answer=told)
    finally:
        # Calls that were under way when the run was stopped were waited for: their answers stand in its record alone.
        with RunLog(folder / _RECORD, digest, target.name) as log:
            for answer in log.answers.values():
                keep(answer)


def compared(store: Store, schedule: Schedule, card: Scorecard) -> dict[str, Comparison]:
    """How a run stands to earlier ones of its schedule, by their ids.

    It is held against the last one that was no regression, and against the first one, so that neither a fall from what
    was mended in between nor a slow decline within delta goes unseen. Where these are two, each is tested at half of
    alpha (Bonferroni), so that the probability of a false alarm of one run stays at alpha.
    """
    with store.reading(schedule.tenant) as connection:
        last = last_run(connection, schedule.tenant, schedule.name, schedule.begins, sound=True)
        first = first_run(connection, schedule.tenant, schedule.name, schedule.begins)
    baselines = {one.id: one for one in (last, first) if one is not None}
    made: dict[str, Comparison] = {}
    for id_, run in baselines.items():
        try:
            before = card_of(store, schedule.tenant, run)
            made[id_] = compare(before, card, schedule.delta, schedule.alpha / len(baselines))
        except InputError:
            _log.info("the run %s shares no judged case with the one before it", id_)
    return made


# What people are told


def tell(store: Store, schedule: Schedule, run: AttackRun, comparisons: Mapping[str, Comparison]) -> None:
    """Raises or closes the alerts of a schedule by its latest run.

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


def regression_alert(schedule: Schedule, run: AttackRun, found: Comparison) -> Alert:
    """What is said of a regression: critical where the whole suite fell, a warning where categories did."""
    groups = [one for one in found.changes if one.regressed]
    whole = found.changes[0]
    named = ", ".join(one.group.replace("_", " ") for one in groups[:4])
    return Alert(
        f"redteam:{schedule.name}",
        REGRESSION,
        f"Red team {schedule.name}: robustness {whole.after:.3f}, {whole.before:.3f} before, on {whole.pairs:,} cases; "
        f"{len(found.broken):,} broke ({named}).",
        Urgency.CRITICAL if whole.regressed else Urgency.WARNING,
        {
            "schedule": schedule.name,
            "run": run.id,
            "target": run.target[:300],
            "before": round(whole.before, 4),
            "after": round(whole.after, 4),
            "broken": [one.id for one in found.broken[:20]],
            "categories": [one.group for one in groups[:20]],
        },
    )


def _tell_failure(store: Store, schedule: Schedule, error: AssayError) -> None:
    # The words of an error may name files and addresses: alerts leave the house, the log of the server has them.
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
