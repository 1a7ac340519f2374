"""What a server does for its panels by itself: it counts the record into sketches, and raises and closes alerts.

Of several worker processes over one database one does it at a time (`assay.store.db.leases`). Nothing of it is in the
path that answers requests: a server that is busy counts later, and a process that dies counts nothing twice.
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
from assay.server.panels.charts import PREFIX, alarm_alerts
from assay.server.panels.six import six_metrics
from assay.server.services import Services
from assay.store.alerts import Alert, AlertState, close_alert, list_alerts, raise_alert
from assay.store.db import Store, take_lease
from assay.store.records import DEFAULT_TENANT
from assay.store.sketches import count_part, uncounted_entries

PAUSE_S: Final = 2.0
"""Seconds between two looks at the logs."""
EVERY_S: Final = 60.0
"""Seconds between two looks at the rules of alerts."""
LEASE_S: Final = 20.0
PARTS: Final = 200
"""Parts of one tenant's log that are counted before others come to their turn."""
BREATH_S: Final = 0.002
"""Seconds between two parts: changes that wait to be stored go first."""
TURN: Final = "sketches"
_log = logging.getLogger("assay.server")


@dataclass(slots=True)
class Watch:
    """Counts and watches one database."""

    store: Store
    holder: str
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server stops: what is counted by then is kept, the rest is for the next one."""
    _looked: float = float("-inf")
    _held_until: float = float("-inf")

    def once(self, clock: Callable[[], float] = time.monotonic) -> int:
        """Count what is new, and look at the rules when it is time; how many entries were counted.

        Raises:
            StoreError: the database cannot be read or written.
        """
        with self.store.reading_across() as connection:
            behind = uncounted_entries(connection)
        due = clock() - self._looked >= EVERY_S
        if not (behind or due) or not self._has_turn(clock):
            return 0
        done = 0
        for tenant in sorted(behind):
            for _ in range(PARTS):
                counted = count_part(self.store, tenant)
                done += counted
                if not counted or self.stopping.is_set() or not self._has_turn(clock):
                    break
                time.sleep(BREATH_S)
        if due and not self.stopping.is_set():
            self._looked = clock()
            self.look()
        return done

    def look(self) -> None:
        """Raise what holds and close what does not, for every tenant that has a log.

        Raises:
            StoreError: the database cannot be read or written.
        """
        for tenant in tenants(self.store):
            look_at(self.store, tenant)

    def _has_turn(self, clock: Callable[[], float]) -> bool:
        if clock() < self._held_until:
            return True
        if not take_lease(self.store, DEFAULT_TENANT, TURN, self.holder, LEASE_S):
            return False
        self._held_until = clock() + LEASE_S / 2
        return True


def tenants(store: Store) -> list[str]:
    """The tenants that have a log."""
    from sqlalchemy import select

    from assay.store.db import audit_logs

    with store.reading_across() as connection:
        return sorted(map(str, connection.execute(select(audit_logs.c.tenant)).scalars()))


def look_at(store: Store, tenant: str) -> None:
    """Raise and close the alerts of one tenant by the rules of its metrics.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        six = six_metrics(connection, tenant, store.now())
        drift = read_drift(connection, tenant, store.now())
        # Closing is a write, and mostly there is nothing to close.
        held = {one.key for one in list_alerts(connection, tenant, store.now(), _HOLDING)}
        alarms = alarm_alerts(connection, tenant)
    for one in six:
        if one.rule.holds(one):
            raise_alert(store, tenant, one.alert())
        elif one.key in held:
            close_alert(store, tenant, one.key)
    for alert in alarms.values():
        raise_alert(store, tenant, alert)
    for key in sorted(held):
        if key.startswith(PREFIX) and key not in alarms:
            close_alert(store, tenant, key)
    if drift is not None and drift.drifted:
        raise_alert(store, tenant, drift_alert(drift))
    elif DRIFTED in held:
        close_alert(store, tenant, DRIFTED)


_HOLDING: Final = (AlertState.OPEN, AlertState.ACKNOWLEDGED)


DRIFTED: Final = "verifier:calibration"
"""The key of the alert of the verifier's own scores."""


def drift_alert(drift: Drift) -> Alert:
    """What is raised while the verifier's scores do not hold."""
    return Alert(
        DRIFTED,
        "verifier.calibration",
        f"The verifier's scores of {drift.judged:,} judged claims average {drift.said:.3f}, and {drift.right:.3f} of "
        f"them were right (alert beyond {DRIFT:g}).",
        facts={
            "judged": drift.judged,
            "said": round(drift.said, 4),
            "right": round(drift.right, 4),
            "error": round(drift.error, 4),
        },
    )


async def watch(services: Services) -> None:
    """The task of a server: count and watch until it stops."""
    made = Watch(services.store, secrets.token_hex(8))
    while True:
        try:
            await asyncio.to_thread(made.once)
        except AssayError:
            _log.exception("the record could not be counted into sketches; it is tried again")
        except asyncio.CancelledError:
            made.stopping.set()
            raise
        await asyncio.sleep(PAUSE_S)
