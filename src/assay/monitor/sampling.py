"""Which outputs are looked at more closely: by what hangs on them, the same on every replica and at every replay.

Whether an output is drawn follows from its run id and nothing else: SHA-256 of the id, under a salt that may be changed
to draw anew, is a number that is as good as random and the same everywhere. An output that is drawn at one rate is
drawn at every higher one, so that more sampling adds outputs and takes none away.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from assay.errors import InputError

STAKES: Final = ("low", "medium", "high")
_RANGE: Final = 2.0**64


@dataclass(frozen=True, slots=True)
class Sampling:
    """The rates at which outputs are drawn.

    Raises:
        InputError: a rate is not above 0 and up to 1, or names unknown stakes.
    """

    stakes: Mapping[str, float] = field(default_factory=lambda: {"high": 1.0, "medium": 0.1, "low": 0.01})
    """By stakes; each of them has one."""
    severity: Mapping[str, float] = field(default_factory=dict)
    """By the level of the worst finding; the larger rate counts."""
    callers: Mapping[str, float] = field(default_factory=dict)
    """By the name of the caller, in place of that by stakes."""
    salt: str = ""
    """Draws other outputs."""
    times: float = 1.0
    """By what all rates are multiplied, up to 1: more where the error budget is spent."""

    def __post_init__(self) -> None:
        if set(self.stakes) != set(STAKES):
            raise InputError(f"expected a rate for each of {', '.join(STAKES)}, got {', '.join(sorted(self.stakes))}")
        rates = [*self.stakes.values(), *self.severity.values(), *self.callers.values()]
        if not all(0 < rate <= 1 for rate in rates) or not self.times >= 1:
            raise InputError("expected rates above 0 up to 1: what is never drawn says nothing of those it stands for")

    def probability(self, stakes: str, severity: str | None = None, caller: str | None = None) -> float:
        """How probable it is that an output is drawn.

        >>> Sampling().probability("medium"), Sampling(severity={"critical": 1.0}).probability("low", "critical")
        (0.1, 1.0)

        Raises:
            InputError: the stakes are unknown.
        """
        if stakes not in self.stakes:
            raise InputError(f"expected stakes {', '.join(STAKES)}, got {ascii(stakes)[:40]}")
        rate = self.callers.get(caller or "", self.stakes[stakes])
        rate = max(rate, self.severity.get(severity or "", 0.0))
        return min(1.0, rate * self.times)

    def draws(self, run: str, probability: float) -> bool:
        """Whether a run is drawn at a probability.

        >>> Sampling().draws("0" * 32, 1.0)
        True
        """
        return place(run, self.salt) < probability


def place(run: str, salt: str = "") -> float:
    """The number in [0, 1) that a run id stands for."""
    return int.from_bytes(sha256(f"{salt}\x00{run}".encode("utf-8", "backslashreplace")).digest()[:8]) / _RANGE
