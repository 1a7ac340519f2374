"""Timed work over one database: each step is done when its plan says so, by one process at a time.

1. The plan says for which moment a step is due, and the store says for which moment it was last done. 2. The process
that gets the lease of the step does it and renews the lease while it works; a process that vanishes loses it after
`LEASE_S`. 3. All stores along the way are idempotent, so that a process that only seemed to be gone does no harm. 4. Of
the moments that passed while no process ran, only the last is made up for. 5. A step that took long rests nine times as
long, so that timed work takes no more than a tenth of a thread.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import AssayError
from assay.guard import Guard
from assay.monitor import MonitorSettings, TimedStep
from assay.server.cadence.calibration_alert import tell_calibration
from assay.server.cadence.golden import Runs, run_golden, tell_golden
from assay.server.cadence.judge import judge_outputs, judging_guard
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.server.panels.worker import tenants
from assay.store.db import Store, take_lease
from assay.store.monitoring import note_timed_work, read_timed_work
from assay.store.records import micros

LEASE_S: Final = 30.0
"""Seconds for which a process holds the lease of a step; it is renewed while the process works."""
RETRY_S: Final = 15.0
"""Seconds before a step is tried again that failed or that another process holds."""
REST_FACTOR: Final = 9.0
"""The least rest of a step, as a multiple of its duration. The golden set is exempt, since it has its own pace."""
ACTOR: Final = "assay monitor"
"""The actor in the log where no person acts."""
_RESTING_STEPS: Final = frozenset({TimedStep.TURN, TimedStep.BUDGET, TimedStep.JUDGE})
_log = logging.getLogger("assay.server")


def _at_once(work: Callable[[], Any]) -> Any:
    return work()


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was done or interrupted."""

    tenant: str
    step: TimedStep
    finished: bool
    seconds: float
    outcome: dict[str, Any]


@dataclass(slots=True)
class Timer:
    """Does timed work over one database."""

    store: Store
    settings: MonitorSettings
    guard_of: Callable[[], Guard]
    """The guard of the server's own policy, without any overlay."""
    holder: str
    """A name that no other process has."""
    runs: Runs = _at_once
    """Runs one check."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the process stops: what is done is kept, the rest is left to the next process."""
    clock: Callable[[], float] = time.monotonic
    """The clock of leases and rests, in seconds."""
    _done: dict[tuple[str, TimedStep], int] = field(default_factory=dict)
    """The latest moment of the plan for which each step is known to be done."""
    _not_before: dict[tuple[str, TimedStep], float] = field(default_factory=dict)
    _renewed: float = float("-inf")

    def once(self, steps: Sequence[TimedStep] = tuple(TimedStep)) -> list[Done]:
        """Does the given steps that are due, for every tenant.

        A step that fails is logged and tried again later; other steps and tenants are not affected.

        Raises:
            StoreError: the tenants cannot be read.
        """
        done_steps, schedule = list[Done](), self.settings.cadences.schedule
        planned = [step for step in steps if step in schedule]
        if not planned:
            return done_steps
        now = self.store.now()
        for tenant in self._tenants(planned):
            for step in planned:
                key, slot = (tenant, step), micros(schedule[step].last(now))
                if not self._concerns(step, tenant) or self._done.get(key, -1) >= slot:
                    continue
                if self.clock() < self._not_before.get(key, float("-inf")) or self.stopping.is_set():
                    continue
                try:
                    done = self._step(tenant, step, slot)
                except AssayError:
                    _log.exception(
                        "the step %s of the monitor failed in the tenant %s; it is tried again", step, tenant
                    )
                    done = None
                if done is None:
                    self._not_before[key] = self.clock() + RETRY_S
                    continue
                done_steps.append(done)
        return done_steps

    def _tenants(self, steps: Sequence[TimedStep]) -> list[str]:
        golden = self.settings.cadences.golden
        known = tenants(self.store)
        if golden is not None and TimedStep.GOLDEN in steps and golden.tenant not in known:
            known.append(golden.tenant)
        return known

    def _concerns(self, step: TimedStep, tenant: str) -> bool:
        golden = self.settings.cadences.golden
        return step is not TimedStep.GOLDEN or (golden is not None and golden.tenant == tenant)

    def _step(self, tenant: str, step: TimedStep, slot: int) -> Done | None:
        """Does a step, unless another process has done it or is doing it; none in that case."""
        if self._is_done(tenant, step, slot):
            return None
        name = f"cadence:{step.value}"
        if not take_lease(self.store, tenant, name, self.holder, LEASE_S):
            return None
        self._renewed = self.clock()
        # The previous holder of the lease may have finished it just before.
        if self._is_done(tenant, step, slot):
            return None
        note_timed_work(self.store, tenant, step.value, slot, finished=False)
        begun = self.clock()
        finished, outcome = self._do(tenant, step, slot, lambda: self._goes_on(tenant, name))
        seconds = self.clock() - begun
        if finished:
            outcome = {**outcome, "seconds": round(seconds, 3)}
            note_timed_work(self.store, tenant, step.value, slot, finished=True, body=outcome)
            self._done[tenant, step] = slot
        if step in _RESTING_STEPS or not finished:
            rest = seconds * REST_FACTOR if finished else RETRY_S
            self._not_before[tenant, step] = self.clock() + rest
        return Done(tenant, step, finished, seconds, outcome)

    def _is_done(self, tenant: str, step: TimedStep, slot: int) -> bool:
        with self.store.reading(tenant) as connection:
            work = read_timed_work(connection, tenant).get(step.value)
        done = work is not None and work.done and work.slot >= slot
        if done and work is not None:
            self._done[tenant, step] = work.slot
        return done

    def _goes_on(self, tenant: str, name: str) -> bool:
        """Whether to continue long work: the process is not stopping and still holds the lease."""
        if self.stopping.is_set():
            return False
        if self.clock() - self._renewed < LEASE_S / 3:
            return True
        self._renewed = self.clock()
        return take_lease(self.store, tenant, name, self.holder, LEASE_S)

    def _do(self, tenant: str, step: TimedStep, slot: int, goes_on: Callable[[], bool]) -> tuple[bool, dict[str, Any]]:
        settings, cadences = self.settings, self.settings.cadences
        if step is TimedStep.TURN:
            turn = Monitor(self.store, settings).run(tenant)
            tell_golden(self.store, tenant)
            tell_calibration(self.store, tenant)
            return True, {"observed": turn.observed, "alarms": turn.alarms, "changes": turn.changes}
        if step is TimedStep.BUDGET:
            outcome = Budgeting(self.store, settings.budget).settle(tenant, ACTOR)
            return True, {"broken": outcome["broken"]}
        if step is TimedStep.JUDGE and cadences.judge is not None:
            with self.store.reading(tenant) as connection:
                work = read_timed_work(connection, tenant).get(step.value)
            at, id_ = (work.body.get("after") if work is not None else None) or (0, "")
            judged = judge_outputs(
                self.store,
                tenant,
                cadences.judge,
                judging_guard(self.guard_of()).for_tenant(tenant),
                (at, id_),
                runs=self.runs,
                goes_on=goes_on,
            )
            return True, {
                "after": list(judged.after),
                "heard": judged.judged,
                "passed": judged.passed,
                "unanswered": judged.unanswered,
            }
        if cadences.golden is not None:
            golden = run_golden(self.store, cadences.golden, self.guard_of(), slot, runs=self.runs, goes_on=goes_on)
            return golden.complete, {"run": golden.run.id, "checked": golden.checked}
        return True, {}
