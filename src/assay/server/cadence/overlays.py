"""What follows from a spent error budget for the policies of a running server: no restart, and back again.

The consequences in force are in the store, put there by whoever settles the budget. Each process reads them every
`POLL_S` seconds into one value that is exchanged as a whole: a check is made under one state or the other, never under
half of each. While the store cannot be read, the last known state stays in force.
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
"""Seconds between two looks: how long a consequence takes to reach a process at most, beside the time of the look."""
MOST_KEPT: Final = 64
"""Guards with an overlay that are kept."""
_log = logging.getLogger("assay.server")


class Overlays:
    """The policies in force, by tenant."""

    def __init__(self, settings: BudgetSettings | None = None) -> None:
        """None where the server's configuration has no budget act: then nothing is ever laid over a policy."""
        self._settings = settings
        self._active: Mapping[str, frozenset[str]] = {}
        self._made: dict[tuple[int, frozenset[str]], tuple[Guard, Guard]] = {}
        self._lock = Lock()

    @property
    def on(self) -> bool:
        """Whether anything may be laid over a policy."""
        enabled = {} if self._settings is None else self._settings.consequences
        return any(enabled.get(name, False) for name in LAID_OVER)

    def active(self, tenant: str) -> frozenset[str]:
        """The consequences in force that change the policies of a tenant."""
        return self._active.get(tenant, frozenset())

    def read(self, store: "Store") -> None:
        """Read which consequences are in force.

        Raises:
            StoreError: the database cannot be read; the last known state stays.
        """
        from assay.store.monitoring import active_consequences

        enabled = {name for name in LAID_OVER if self._settings and self._settings.consequences.get(name, False)}
        with store.reading_across() as connection:
            found = active_consequences(connection)
        made = {tenant: names & enabled for tenant, names in found.items() if names & enabled}
        if made != self._active:
            for tenant in sorted(set(made) | set(self._active)):
                _log.warning(
                    "policies of the tenant %s: laid over them %s",
                    tenant,
                    ", ".join(sorted(made.get(tenant, ()))) or "nothing",
                )
        self._active = made

    def over(self, guard: Guard, tenant: str) -> Guard:
        """The guard as it is in force for a tenant now; the guard itself where nothing is laid over its policy."""
        active = self._active.get(tenant)
        if not active or self._settings is None:
            return guard
        # By the guard itself: to work out the digest of a policy takes longer than to look it up.
        key = (id(guard), active)
        with self._lock:
            known = self._made.get(key)
            if known is None or known[0] is not guard:
                policy = Policy.model_validate(overlay_of(guard.policy, active, self._settings))
                if len(self._made) >= MOST_KEPT:
                    self._made.pop(next(iter(self._made)))
                known = self._made[key] = (guard, guard.under(policy))
        return known[1]


async def follow(store: "Store", overlays: Overlays) -> None:
    """The task of a server: read the state again and again."""
    if not overlays.on:
        await asyncio.Event().wait()
        return
    while True:
        try:
            await asyncio.to_thread(overlays.read, store)
        except AssayError:
            _log.exception("the consequences of the error budget cannot be read; the last known ones stay in force")
        await asyncio.sleep(POLL_S)
