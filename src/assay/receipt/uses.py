"""Uses of receipts in the memory of one process: for setups without a database, lost when the process ends."""

from datetime import datetime, timedelta
from heapq import heappop, heappush
from threading import Lock
from typing import Final

from assay.receipt.interface import Claim, Outcome, Use

FORGOTTEN_AFTER: Final = timedelta(hours=1)
"""How long a use is remembered beyond the time at which its receipt could last be committed: a clock set back by less
than this makes no receipt usable again."""


class UsesInMemory:
    """The receipts used in this process, shared by its threads. It takes about 350 bytes for each one remembered.

    Implements `assay.receipt.interface.Uses`. A forked process has a memory of its own from then on.
    """

    def __init__(self) -> None:
        """Starts with no uses."""
        self._lock = Lock()
        self._digests: dict[tuple[str, str], bytes] = {}
        self._ends: list[tuple[datetime, datetime, tuple[str, str]]] = []
        """A heap: for each use when it can be forgotten, when its receipt was issued, and its name."""
        self._forgotten: datetime | None = None
        """Uses of receipts issued then or before may have been forgotten."""

    def __len__(self) -> int:
        return len(self._digests)

    def claim(self, use: Use, now: datetime) -> Claim:
        """Claims the use of a receipt, by the caller's clock."""
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
        """Does nothing: the outcome could not be looked up anywhere."""

    def _forget(self, now: datetime) -> None:
        while self._ends and self._ends[0][0] < now:
            _, issued, name = heappop(self._ends)
            del self._digests[name]
            self._forgotten = issued if self._forgotten is None else max(issued, self._forgotten)
