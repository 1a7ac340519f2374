"""Sampling of outputs by their stakes, deterministic on every replica and at every replay.

Whether an output is sampled depends on its run id alone: SHA-256 of the id, with a salt that may be changed to sample
other outputs, is a pseudo-random number that is the same everywhere. An output that is sampled at one rate is sampled
at every higher rate, so that raising a rate only adds outputs.
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
    """The rates at which outputs are sampled.

    Raises:
        InputError: a rate is not above 0 and at most 1, or the rates by stakes do not cover exactly the known stakes.
    """

    stakes: Mapping[str, float] = field(default_factory=lambda: {"high": 1.0, "medium": 0.1, "low": 0.01})
    """The rate for each of the stakes."""
    severity: Mapping[str, float] = field(default_factory=dict)
    """Rates by the level of the worst finding; the larger of both rates counts."""
    callers: Mapping[str, float] = field(default_factory=dict)
    """Rates by the name of the caller, instead of the rate by stakes."""
    salt: str = ""
    """Changing it samples other outputs."""
    times: float = 1.0
    """The factor by which all rates are multiplied, up to a rate of 1; above 1 while the error budget is spent."""

    def __post_init__(self) -> None:
        if set(self.stakes) != set(STAKES):
            raise InputError(f"expected a rate for each of {', '.join(STAKES)}, got {', '.join(sorted(self.stakes))}")
        rates = [*self.stakes.values(), *self.severity.values(), *self.callers.values()]
        if not all(0 < rate <= 1 for rate in rates) or not self.times >= 1:
            raise InputError("expected rates above 0 up to 1: what is never drawn says nothing of those it stands for")

    def probability(self, stakes: str, severity: str | None = None, caller: str | None = None) -> float:
        """The probability with which an output is sampled.

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
        """Whether a run is sampled at a given probability.

        >>> Sampling().draws("0" * 32, 1.0)
        True
        """
        return place(run, self.salt) < probability


def place(run: str, salt: str = "") -> float:
    """The pseudo-random number in [0, 1) of a run id."""
    return int.from_bytes(sha256(f"{salt}\x00{run}".encode("utf-8", "backslashreplace")).digest()[:8]) / _RANGE
