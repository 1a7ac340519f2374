"""Notes what passes through the gateway, so that changes of prompts, tools and models show by themselves.

In the path a request is put into a bounded list, and that is all. What a prompt comes to is worked out by a task, which
stores counts of digests; the monitor's turn adds them up (`notice`). What finds no room is not noted: changes show in
what recurs.
"""

import asyncio
import logging
import secrets
from collections import Counter, deque
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from assay.errors import AssayError
from assay.wire import Json, instructions_of, tools_of

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.server.services import Services
    from assay.store.db import Store

FLUSH_S: Final = 5.0
"""Seconds between two times that counts are stored."""
MOST_WAITING: Final = 512
"""Requests that wait to be counted."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""Bytes of their bodies together."""
MOST_SEQUENCES: Final = 64
"""Different prompts of one route and caller in one batch."""
KINDS: Final = ("prompt", "tools", "model")
_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class _Noted:
    tenant: str
    scope: str
    instructions: str
    tools: list[Any]
    model: object
    size: int


def new_source() -> str:
    """A name that no other process has."""
    return secrets.token_hex(8)


@dataclass(slots=True)
class Passing:
    """What passed through one process and was not stored yet."""

    on: bool = False
    """Whether anything is noted at all."""
    source: str = field(default_factory=new_source)
    """The process, by a random name."""
    _waiting: deque[_Noted] = field(default_factory=deque)
    _bytes: int = 0

    def note(self, tenant: str, route: str, caller: str, request: Json, size: int) -> None:
        """Note a request; nothing happens where there is no room.

        Args:
            tenant: whose.
            route: by which of the gateway's routes.
            caller: who asked.
            request: its body; what is kept of it is not copied.
            size: bytes of its body.
        """
        if not self.on or len(self._waiting) >= MOST_WAITING or self._bytes + size > MOST_BYTES:
            return
        self._waiting.append(
            _Noted(
                tenant,
                f"{route}|{caller}"[:300],
                instructions_of(request),
                tools_of(request),
                request.get("model"),
                size,
            )
        )
        self._bytes += size

    def taken(self) -> dict[tuple[str, str, str], Counter[tuple[str, ...]]]:
        """What waits, counted by tenant, kind and scope; it waits no longer."""
        from assay.server.cadence.skeletons import declarations_of, skeleton_of

        found: dict[tuple[str, str, str], Counter[tuple[str, ...]]] = {}
        while self._waiting:
            one = self._waiting.popleft()
            self._bytes -= one.size
            model = (one.model[:200],) if isinstance(one.model, str) and one.model else ()
            for kind, parts in zip(
                KINDS, (skeleton_of(one.instructions), declarations_of(one.tools), model), strict=True
            ):
                if parts or kind != "model":
                    counts = found.setdefault((one.tenant, kind, one.scope), Counter())
                    if parts in counts or len(counts) < MOST_SEQUENCES:
                        counts[parts] += 1
        return found


def flush(store: "Store", passing: Passing) -> int:
    """Store what was counted; how many requests of how many scopes it was.

    Raises:
        StoreError: it cannot be stored; those counts are lost, which delays what they would have shown.
    """
    from assay.store.monitoring import add_traffic

    found, stored = passing.taken(), 0
    for tenant in sorted({tenant for tenant, _, _ in found}):
        rows = {
            (kind, scope): [(list(parts), count) for parts, count in sorted(counts.items())]
            for (of, kind, scope), counts in found.items()
            if of == tenant
        }
        add_traffic(store, tenant, passing.source, rows)
        stored += len(rows)
    return stored


def notice(store: "Store", tenant: str) -> int:
    """Add up what was counted, and tell of the changes that show in it; how many were new.

    Raises:
        StoreError: it cannot be read or stored.
    """
    from assay.monitor import PassingBatch, advanced_passing
    from assay.store.monitoring import ChangeRow, absorb_traffic, add_changes, read_traffic, read_traffic_state

    new = 0
    with store.reading(tenant) as connection:
        waiting = read_traffic(connection, tenant)
    for (kind, scope), batches in sorted(waiting.items()):
        with store.reading(tenant) as connection:
            until, state = read_traffic_state(connection, tenant, kind, scope)
        made, found = advanced_passing(
            state,
            [PassingBatch(one.at, [(tuple(parts), count) for parts, count in one.sequences]) for one in batches],
        )
        rows = []
        for one in found:
            ref = ", ".join(part for part in one.parts if part != "$") if kind == "model" else one.ref
            named = sha256(f"{scope}\0{one.at}\0{one.ref}".encode()).hexdigest()[:32]
            route, _, caller = scope.partition("|")
            rows.append(
                ChangeRow(
                    f"{kind}-{named}", one.at, kind, ref[:200] or one.ref, f"{route}, caller {caller}"[:200], "seen"
                )
            )
        # First the changes, whose ids follow from what was counted: whoever dies in between tells of none twice.
        new += add_changes(store, tenant, rows)
        absorb_traffic(store, tenant, kind, scope, until, made, batches)
    return new


async def count_passing(services: "Services") -> None:
    """The task of a server: store what was counted, and the rest when the server stops."""
    passing = services.passing
    if not passing.on:
        await asyncio.Event().wait()
        return
    try:
        while True:
            await asyncio.sleep(FLUSH_S)
            await asyncio.to_thread(_flushed, services.store, passing)
    finally:
        await asyncio.to_thread(_flushed, services.store, passing)


def _flushed(store: "Store", passing: Passing) -> None:
    try:
        flush(store, passing)
    except AssayError:
        _log.exception("what passed through could not be counted")
