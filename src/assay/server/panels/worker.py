"""The background work for panels: count the audit log into sketches, and raise and close alerts.

Of several processes over one database, one at a time does this work (`assay.store.db.leases`). No request waits for
it: a busy server counts later, and a process that dies causes nothing to be counted twice.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from assay.errors import AssayError
from assay.server.panels.calibration import DRIFT, Drift, read_drift
from assay.server.panels.charts import ALARM_KEY_PREFIX, MOST_ALARMS, alarm_alerts
from assay.server.panels.watched_metrics import read_watched_metrics
from assay.server.services import Services
from assay.store.alerts import Alert, AlertState, close_alert, list_alerts, raise_alert
from assay.store.db import Store, take_lease
from assay.store.records import DEFAULT_TENANT
from assay.store.sketches import BATCH, count_part, uncounted_entries

PAUSE_S: Final = 2.0
"""Seconds between two looks for entries that are not counted yet."""
ALERTS_EVERY_S: Final = 60.0
"""Seconds between two evaluations of the rules of alerts."""
LEASE_S: Final = 20.0
"""Seconds for which one process holds the work."""
MOST_PARTS: Final = 200
"""Parts of one tenant's log that are counted before the next tenant's."""
YIELD_S: Final = 0.002
"""The pause in seconds between two parts, in which waiting writes get the database."""
LEASE_NAME: Final = "sketches"
_log = logging.getLogger("assay.server")


@dataclass(slots=True)
class PanelWorker:
    """Counts the logs of one database and keeps its alerts up to date."""

    store: Store
    holder: str
    """The name under which it takes the lease; different for each process."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server stops: what is counted by then is stored, the next process counts the rest."""
    _alerts_updated: float = float("-inf")
    _held_until: float = float("-inf")

    def run_once(self, clock: Callable[[], float] = time.monotonic) -> int:
        """Counts new entries, and evaluates the rules of alerts when it is time; returns the number of entries counted.

        What fails for one tenant is logged and tried again the next time; the other tenants do not wait for it.

        Raises:
            StoreError: the database cannot be read.
        """
        with self.store.reading_across() as connection:
            behind = uncounted_entries(connection)
        due = clock() - self._alerts_updated >= ALERTS_EVERY_S
        if not (behind or due) or not self._holds_lease(clock):
            return 0
        counted_total = 0
        for tenant in sorted(behind):
            try:
                counted_total += self._count(tenant, clock)
            except Exception:  # noqa: BLE001 whatever is wrong with one tenant's record must not keep others waiting
                _log.exception("entries of the tenant %s could not be counted; it is tried again", tenant)
        if due and not self.stopping.is_set():
            self._alerts_updated = clock()
            self.update_all_alerts()
        return counted_total

    def _count(self, tenant: str, clock: Callable[[], float]) -> int:
        counted_total = 0
        for _ in range(MOST_PARTS):
            counted = count_part(self.store, tenant)
            counted_total += counted
            # A part that is not full ends at the log's newest entry. What came since waits for the next run: counting
            # it at once would put a transaction of its own between any two requests that are stored.
            if counted < BATCH or self.stopping.is_set() or not self._holds_lease(clock):
                break
            time.sleep(YIELD_S)
        return counted_total

    def update_all_alerts(self) -> None:
        """Raises and closes the alerts of every tenant that has a log; what fails for one tenant is logged.

        Raises:
            StoreError: the database cannot be read.
        """
        for tenant in tenants(self.store):
            try:
                update_alerts(self.store, tenant)
            except Exception:  # noqa: BLE001 as for the entries
                _log.exception("the alerts of the tenant %s could not be updated; it is tried again", tenant)

    def _holds_lease(self, clock: Callable[[], float]) -> bool:
        if clock() < self._held_until:
            return True
        if not take_lease(self.store, DEFAULT_TENANT, LEASE_NAME, self.holder, LEASE_S):
            return False
        self._held_until = clock() + LEASE_S / 2
        return True


def tenants(store: Store) -> list[str]:
    """The tenants that have an audit log, sorted."""
    from sqlalchemy import select

    from assay.store.db import audit_logs

    with store.reading_across() as connection:
        return sorted(map(str, connection.execute(select(audit_logs.c.tenant)).scalars()))


def update_alerts(store: Store, tenant: str) -> None:
    """Raises and closes the alerts of one tenant: of its metrics, its control charts and the verifier's calibration.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        metrics = read_watched_metrics(connection, tenant, store.now())
        drift = read_drift(connection, tenant, store.now())
        # Closing an alert is a write, and most of the time none of these is open.
        standing = {alert.key for alert in list_alerts(connection, tenant, store.now(), _STANDING)}
        alarms = alarm_alerts(connection, tenant)
    for metric in metrics:
        if metric.rule.holds(metric):
            raise_alert(store, tenant, metric.alert())
        elif metric.key in standing:
            close_alert(store, tenant, metric.key)
    for alarm in alarms.values():
        raise_alert(store, tenant, alarm)
    # An alarm that is missing from a full list may still be open: its alert must not be closed.
    complete = len(alarms) < MOST_ALARMS
    for key in sorted(standing):
        if complete and key.startswith(ALARM_KEY_PREFIX) and key not in alarms:
            close_alert(store, tenant, key)
    if drift is not None and drift.drifted:
        raise_alert(store, tenant, drift_alert(drift))
    elif CALIBRATION_KEY in standing:
        close_alert(store, tenant, CALIBRATION_KEY)


_STANDING: Final = (AlertState.OPEN, AlertState.ACKNOWLEDGED)
CALIBRATION_KEY: Final = "verifier:calibration"
"""The key of the alert about the calibration of the verifier's scores."""


def drift_alert(drift: Drift) -> Alert:
    """The alert that stays open while the verifier's scores have drifted from what people say."""
    return Alert(
        CALIBRATION_KEY,
        "verifier.calibration",
        f"The verifier's scores of {drift.judged:,} judged claims average {drift.mean_score:.3f}, and "
        f"{drift.right:.3f} of them were right (alert beyond {DRIFT:g}).",
        facts={
            "judged": drift.judged,
            "said": round(drift.mean_score, 4),
            "right": round(drift.right, 4),
            "error": round(drift.error, 4),
        },
    )


async def run_panel_worker(services: Services) -> None:
    """The background task of a server: counts and updates alerts until it is cancelled."""
    worker = PanelWorker(services.store, secrets.token_hex(8))
    while True:
        try:
            await asyncio.to_thread(worker.run_once)
        except AssayError:
            _log.exception("the record could not be counted into sketches; it is tried again")
        except asyncio.CancelledError:
            worker.stopping.set()
            raise
        await asyncio.sleep(PAUSE_S)
