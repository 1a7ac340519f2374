"""Applies the consequences of a spent error budget to the policies of a running server, without a restart.

The consequences in force are in the store, where the process that settles the budget puts them. Each process reads them
every `POLL_S` seconds into one value that is replaced as a whole: a check sees either the old or the new state, never a
mixture. While the store cannot be read, the last known state stays in force.
"""

import asyncio
import logging
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Final

from assay.errors import AssayError
from assay.guard import Guard
from assay.monitor import BudgetSettings
from assay.policy import Policy
from assay.server.monitoring.overlay import LAID_OVER, overlay_of

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.store.db import Store

POLL_S: Final = 2.0
"""Seconds between two reads: the longest delay of a consequence, apart from the time of the read."""
MOST_KEPT: Final = 64
"""The most guards with an overlay that are cached."""
_log = logging.getLogger("assay.server")


class Overlays:
    """The consequences in force by tenant, and the guards that they result in."""

    def __init__(self, settings: BudgetSettings | None = None) -> None:
        """Takes the settings of the budget; without them no policy is ever changed."""
        self._settings = settings
        self._active: Mapping[str, frozenset[str]] = {}
        self._overlaid: dict[tuple[int, frozenset[str]], tuple[Guard, Guard]] = {}
        self._lock = Lock()

    @property
    def on(self) -> bool:
        """Whether a consequence that changes policies is enabled."""
        enabled = {} if self._settings is None else self._settings.consequences
        return any(enabled.get(name, False) for name in LAID_OVER)

    def active(self, tenant: str) -> frozenset[str]:
        """The consequences in force that change the policies of a tenant."""
        return self._active.get(tenant, frozenset())

    def read(self, store: "Store") -> None:
        """Reads which consequences are in force.

        Raises:
            StoreError: the database cannot be read; the last known state stays.
        """
        from assay.store.monitoring import active_consequences

        enabled = {name for name in LAID_OVER if self._settings and self._settings.consequences.get(name, False)}
        with store.reading_across() as connection:
            in_force = active_consequences(connection)
        active = {tenant: names & enabled for tenant, names in in_force.items() if names & enabled}
        if active != self._active:
            for tenant in sorted(set(active) | set(self._active)):
                _log.warning(
                    "policies of the tenant %s: laid over them %s",
                    tenant,
                    ", ".join(sorted(active.get(tenant, ()))) or "nothing",
                )
        self._active = active

    def over(self, guard: Guard, tenant: str) -> Guard:
        """The guard with the consequences in force for a tenant applied; the guard itself where there are none."""
        active = self._active.get(tenant)
        if not active or self._settings is None:
            return guard
        # By the identity of the guard: computing the digest of its policy would take longer than this lookup.
        key = (id(guard), active)
        with self._lock:
            overlaid = self._overlaid.get(key)
            if overlaid is None or overlaid[0] is not guard:
                policy = Policy.model_validate(overlay_of(guard.policy, active, self._settings))
                if len(self._overlaid) >= MOST_KEPT:
                    self._overlaid.pop(next(iter(self._overlaid)))
                overlaid = self._overlaid[key] = (guard, guard.under(policy))
        return overlaid[1]


async def follow(store: "Store", overlays: Overlays) -> None:
    """The task of a server: reads the consequences in force every `POLL_S` seconds."""
    if not overlays.on:
        await asyncio.Event().wait()
        return
    while True:
        try:
            await asyncio.to_thread(overlays.read, store)
        except AssayError:
            _log.exception("the consequences of the error budget cannot be read; the last known ones stay in force")
        await asyncio.sleep(POLL_S)
