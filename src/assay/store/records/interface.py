"""What the layers above hand to the store, and what they get back. Imports no database."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from assay.policy import Policy
from assay.schema import Evidence, HallucinationReport

DEFAULT_TENANT: Final = "default"
"""The tenant of who has only one."""


def new_id() -> str:
    """A new id: 32 hexadecimal digits, the first 12 of them the time in milliseconds, so that ids sort by time."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check as it is remembered: what it was given, under which policy, and what was found."""

    report: HallucinationReport
    asked: Mapping[str, Any]
    """Everything that the check was given beside the evidence, as a JSON value with the names of `Guard.check` (or of
    `Guard.check_run` where they hold a `run`): enough to run it again."""
    evidence: tuple[Evidence, ...] = ()
    """The evidence, in its order."""
    policy: Policy | None = None
    """The policy itself, so that it can be found by its digest later."""
    kind: str = "check"
    """`check`, `run`, or `gateway` for an answer that came through the gateway."""
    caller: str | None = None
    """Who asked: the name of an API key, never the key."""
    tenant: str = DEFAULT_TENANT
    held: bool = True
    """Whether an output that the gate escalates is held back, so that a person has to decide on it: not where it has
    gone out already."""
    callback: str | None = None
    """Which of the operator's targets is told of a reviewer's decision; see `assay.server.notify`."""
    id: str = field(default_factory=new_id)
    """The record's id; see `new_id`. Used twice, it is refused."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A check is on disk: only now may a receipt be issued for it."""

    id: str
    """The id under which the report can be found."""
    tenant: str
    entry: int
    """The index of the decision in the tenant's audit log."""


class Recorder(Protocol):
    """Remembers checks. `assay.store.Store` is one; a server without a database has none."""

    def record(self, record: CheckRecord) -> Recorded:
        """Remember a check; returns when it is on disk.

        Raises:
            BusyError: too much waits to be stored; nothing was stored.
            StoreError: it cannot be stored.
        """

    async def arecord(self, record: CheckRecord) -> Recorded:
        """As `record`, without holding up the event loop."""
