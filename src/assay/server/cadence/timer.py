"""Timed work over one database: each step when its plan says so, by one process at a time.

1. The plan says for which moment a step is due; the store says for which it was done last. 2. Whoever gets the lease of
the step does it and keeps the lease while it works; who vanishes loses it after `LEASE_S`. 3. What is stored on the way
is stored once whoever stores it, so that a process which only seemed to be gone does no harm. 4. A moment that passed
while nobody ran is caught up with once. 5. A step that took long rests nine times as long, so that timed work takes no
more than a tenth of a thread.
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
from assay.server.cadence.calibrating import tell_calibration
from assay.server.cadence.golden import Runs, run_golden, tell_golden
from assay.server.cadence.judging import judge_outputs, judging_guard
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.server.panels.worker import tenants
from assay.store.db import Store, take_lease
from assay.store.monitoring import note_timed_work, read_timed_work
from assay.store.records import micros

LEASE_S: Final = 30.0
"""Seconds for which a process has a step to itself; it renews them while it works."""
AGAIN_S: Final = 15.0
"""Seconds before a step is tried again that failed, or that another process has."""
RESTS: Final = 9.0
"""How many times as long as it took a step rests at least. The golden set is exempt: its pace is its own."""
ACTOR: Final = "assay monitor"
"""Who acts in the log when no person does."""
_RESTING: Final = frozenset({TimedStep.TURN, TimedStep.BUDGET, TimedStep.JUDGE})
_log = logging.getLogger("assay.server")


def _at_once(work: Callable[[], Any]) -> Any:
    return work()


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was done, or broken off."""

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
    """Set when the process stops: what is done by then is kept, the rest is for the next one."""
    clock: Callable[[], float] = time.monotonic
    _done: dict[tuple[str, TimedStep], int] = field(default_factory=dict)
    """The latest moment of the plan that is known to be done."""
    _not_before: dict[tuple[str, TimedStep], float] = field(default_factory=dict)
    _renewed: float = float("-inf")

    def once(self, steps: Sequence[TimedStep] = tuple(TimedStep)) -> list[Done]:
        """Do what is due of some steps, for every tenant.

        What fails is told to the operator and tried again; it keeps no other step and no other tenant from its turn.

        Raises:
            StoreError: the tenants cannot be read.
        """
        found, plans = list[Done](), self.settings.cadences.schedule
        wanted = [step for step in steps if step in plans]
        if not wanted:
            return found
        now = self.store.now()
        for tenant in self._tenants(wanted):
            for step in wanted:
                key, slot = (tenant, step), micros(plans[step].last(now))
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
                    self._not_before[key] = self.clock() + AGAIN_S
                    continue
                found.append(done)
        return found

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
        """Do a step, if nobody else has done it or is doing it; none where it is not this process's turn."""
        if self._is_done(tenant, step, slot):
            return None
        name = f"cadence:{step.value}"
        if not take_lease(self.store, tenant, name, self.holder, LEASE_S):
            return None
        self._renewed = self.clock()
        # Whoever had the lease before may have finished it just then.
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
        if step in _RESTING or not finished:
            rest = seconds * RESTS if finished else AGAIN_S
            self._not_before[tenant, step] = self.clock() + rest
        return Done(tenant, step, finished, seconds, outcome)

    def _is_done(self, tenant: str, step: TimedStep, slot: int) -> bool:
        with self.store.reading(tenant) as connection:
            known = read_timed_work(connection, tenant).get(step.value)
        done = known is not None and known.done and known.slot >= slot
        if done and known is not None:
            self._done[tenant, step] = known.slot
        return done

    def _goes_on(self, tenant: str, name: str) -> bool:
        """Whether to go on with long work: the process does not stop, and the lease is still its own."""
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
                known = read_timed_work(connection, tenant).get(step.value)
            at, id_ = (known.body.get("after") if known is not None else None) or (0, "")
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
            found = run_golden(self.store, cadences.golden, self.guard_of(), slot, runs=self.runs, goes_on=goes_on)
            return found.complete, {"run": found.run.id, "checked": found.checked}
        return True, {}
