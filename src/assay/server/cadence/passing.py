"""Observes the traffic of the gateway, so that changes of prompts, tools and models are detected automatically.

The request path only appends requests to a bounded list. A background task computes the digests of their prompts and
stores their counts, which the monitor's turn adds up (`notice`). Requests that find no room are ignored: changes are
detected in what recurs.
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
"""Seconds between two stores of the counts."""
MOST_WAITING: Final = 512
"""The most requests that wait to be counted."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""The most bytes of their bodies together."""
MOST_SEQUENCES: Final = 64
"""The most different prompts of one route and caller in one batch."""
KINDS: Final = ("prompt", "tools", "model")
_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class _PassingRequest:
    tenant: str
    scope: str
    instructions: str
    tools: list[Any]
    model: object
    size: int


def new_source() -> str:
    """A random name for a process, which no other process has."""
    return secrets.token_hex(8)


@dataclass(slots=True)
class Passing:
    """The traffic of one process that is not stored yet."""

    on: bool = False
    """Whether traffic is observed at all."""
    source: str = field(default_factory=new_source)
    """The random name of the process."""
    _waiting: deque[_PassingRequest] = field(default_factory=deque)
    _bytes: int = 0

    def note(self, tenant: str, route: str, caller: str, request: Json, size: int) -> None:
        """Queues a request for counting; it is ignored where there is no room.

        Args:
            tenant: the tenant of the caller.
            route: the route of the gateway.
            caller: the name of the caller.
            request: the body of the request; the parts that are kept are not copied.
            size: the bytes of the body.
        """
        if not self.on or len(self._waiting) >= MOST_WAITING or self._bytes + size > MOST_BYTES:
            return
        self._waiting.append(
            _PassingRequest(
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
        """Empties the queue and returns its counts by tenant, kind and scope."""
        from assay.server.cadence.skeletons import declarations_of, skeleton_of

        counted: dict[tuple[str, str, str], Counter[tuple[str, ...]]] = {}
        while self._waiting:
            request = self._waiting.popleft()
            self._bytes -= request.size
            model = (request.model[:200],) if isinstance(request.model, str) and request.model else ()
            for kind, parts in zip(
                KINDS, (skeleton_of(request.instructions), declarations_of(request.tools), model), strict=True
            ):
                if parts or kind != "model":
                    counts = counted.setdefault((request.tenant, kind, request.scope), Counter())
                    if parts in counts or len(counts) < MOST_SEQUENCES:
                        counts[parts] += 1
        return counted


def flush(store: "Store", passing: Passing) -> int:
    """Stores the counts; returns the number of scopes and kinds that had any.

    Raises:
        StoreError: they cannot be stored; these counts are lost, which delays the detection of changes.
    """
    from assay.store.monitoring import add_traffic

    counted, scopes = passing.taken(), 0
    for tenant in sorted({tenant for tenant, _, _ in counted}):
        rows = {
            (kind, scope): [(list(parts), count) for parts, count in sorted(counts.items())]
            for (of, kind, scope), counts in counted.items()
            if of == tenant
        }
        add_traffic(store, tenant, passing.source, rows)
        scopes += len(rows)
    return scopes


def notice(store: "Store", tenant: str) -> int:
    """Adds up stored counts and records the changes that they reveal; returns how many changes were new.

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
        new_state, take_overs = advanced_passing(
            state,
            [
                PassingBatch(take_over.at, [(tuple(parts), count) for parts, count in take_over.sequences])
                for take_over in batches
            ],
        )
        rows = []
        for take_over in take_overs:
            ref = ", ".join(part for part in take_over.parts if part != "$") if kind == "model" else take_over.ref
            id_digest = sha256(f"{scope}\0{take_over.at}\0{take_over.ref}".encode()).hexdigest()[:32]
            route, _, caller = scope.partition("|")
            rows.append(
                ChangeRow(
                    f"{kind}-{id_digest}",
                    take_over.at,
                    kind,
                    ref[:200] or take_over.ref,
                    f"{route}, caller {caller}"[:200],
                    "seen",
                )
            )
        # The changes are stored first: their ids are derived from the counts, so that a crash in between repeats none.
        new += add_changes(store, tenant, rows)
        absorb_traffic(store, tenant, kind, scope, until, new_state, batches)
    return new


async def count_passing(services: "Services") -> None:
    """The task of a server: stores the counts every `FLUSH_S` seconds, and the rest when the server stops."""
    passing = services.passing
    if not passing.on:
        await asyncio.Event().wait()
        return
    try:
        while True:
            await asyncio.sleep(FLUSH_S)
            await asyncio.to_thread(_flush_or_log, services.store, passing)
    finally:
        await asyncio.to_thread(_flush_or_log, services.store, passing)


def _flush_or_log(store: "Store", passing: Passing) -> None:
    try:
        flush(store, passing)
    except AssayError:
        _log.exception("what passed through could not be counted")
