"""The values that the layers above exchange with the store. Imports no database."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from assay.policy import Policy
from assay.schema import Evidence, HallucinationReport

DEFAULT_TENANT: Final = "default"
"""The tenant of an installation that has only one."""


def new_id() -> str:
    """A new id: 32 hexadecimal digits, the first 12 of them the time in milliseconds, so that ids sort by time."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """A check as it is to be recorded: its input, its policy and its report."""

    report: HallucinationReport
    asked: Mapping[str, Any]
    """All arguments of the check other than the evidence, as a JSON value with the parameter names of `Guard.check` (or
    of `Guard.check_run`, if it has `run`): enough to repeat the check."""
    evidence: tuple[Evidence, ...] = ()
    """The evidence, in order."""
    policy: Policy | None = None
    """The policy itself, so that it can be found by its digest later."""
    kind: str = "check"
    """`check`, `run`, or `gateway` for an answer that came through the gateway."""
    caller: str | None = None
    """The caller: the name of an API key, never the key."""
    tenant: str = DEFAULT_TENANT
    held: bool = True
    """Whether an escalated output is held back until a person decides on it; False if it has been released already."""
    callback: str | None = None
    """The operator's target that is notified of a reviewer's decision; see `assay.server.notify`."""
    id: str = field(default_factory=new_id)
    """The record's id; see `new_id`. An id that was used before is refused."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A check is on disk: only now may a receipt be issued for it."""

    id: str
    """The id of the record, and of its first report."""
    tenant: str
    entry: int
    """The index of the decision in the tenant's audit log."""


class Recorder(Protocol):
    """Records checks. `assay.store.db.Store` is one; a server without a database has none."""

    def record(self, record: CheckRecord) -> Recorded:
        """Record a check; returns once it is on disk.

        Raises:
            BusyError: too many changes wait to be stored; nothing was stored.
            StoreError: it cannot be stored.
        """

    async def arecord(self, record: CheckRecord) -> Recorded:
        """Like `record`, without blocking the event loop."""
