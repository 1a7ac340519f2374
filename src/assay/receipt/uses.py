"""Uses of receipts in the memory of one process: for who has no database, and gone when the process ends."""

from datetime import datetime, timedelta
from heapq import heappop, heappush
from threading import Lock
from typing import Final

from assay.receipt.interface import Claim, Outcome, Use

FORGOTTEN_AFTER: Final = timedelta(hours=1)
"""How long a use is remembered after its receipt could last be committed: a clock that was set back by less opens
nothing again."""


class UsesInMemory:
    """Which receipts were used: once each, for all threads of a process. About 350 bytes for each that is remembered.

    Is an `assay.receipt.interface.Uses`. A process that was forked has a memory of its own from then on.
    """

    def __init__(self) -> None:
        """None yet."""
        self._lock = Lock()
        self._digests: dict[tuple[str, str], bytes] = {}
        self._ends: list[tuple[datetime, datetime, tuple[str, str]]] = []
        """A heap of when each can be forgotten, when it was issued, and its name."""
        self._forgotten: datetime | None = None
        """Uses of receipts that were issued then or before may have been forgotten."""

    def __len__(self) -> int:
        return len(self._digests)

    def claim(self, use: Use, now: datetime) -> Claim:
        """Claim the use of a receipt, by the claimer's clock."""
        name = use.key_id, use.receipt_id
        digest = bytes.fromhex(use.digest)
        with self._lock:
            self._forget(now)
            if now > use.until:
                return Claim.LATE
            if (known := self._digests.get(name)) is not None:
                return Claim.USED if known == digest else Claim.TAKEN
            if self._forgotten is not None and use.issued <= self._forgotten:
                return Claim.LATE
            self._digests[name] = digest
            heappush(self._ends, (use.until + FORGOTTEN_AFTER, use.issued, name))
            return Claim.FIRST

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Nothing: nobody could look it up."""

    def _forget(self, now: datetime) -> None:
        while self._ends and self._ends[0][0] < now:
            _, issued, name = heappop(self._ends)
            del self._digests[name]
            self._forgotten = issued if self._forgotten is None else max(issued, self._forgotten)
