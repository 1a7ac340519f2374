"""Probes: asking a model again on critical claims. What is asked and what an answer means; no asker here.

See docs/concepts.md#self-consistency.

A prober is whatever asks: one that calls a chat model is an adapter of its own. Without one nothing is probed, and the
report says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from assay.schema import ConsistencyProbe, Evidence

MAJORITY: Final = 0.5
"""The share of probe answers that must be exceeded for a claim to hold: a majority."""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What is to be asked again."""

    claims: tuple[str, ...]
    """The critical claims, as sentences of their own."""
    answer: str
    """The answer that they are in."""
    question: str | None
    """What it answers."""
    evidence: tuple[Evidence, ...]
    """The same evidence as the first time. Its text is data, never an instruction."""
    risk: float | None = None
    """The largest probability that one of the claims is wrong, as the other tiers see it; none where unknown."""


class Prober(Protocol):
    """Asks a model the same question in other words, with the same evidence, and compares."""

    def probe(self, request: ProbeRequest) -> Sequence[ConsistencyProbe]:
        """One probe for each claim, in order.

        Raises:
            VerifierError: the model could not be asked or what it said cannot be compared; the claims then count as
                not probed, and the report says so.
        """
        ...


def diverged(probe: ConsistencyProbe) -> bool:
    """Whether no majority of the answers agrees with the claim.

    >>> diverged(ConsistencyProbe(claim="It is 4.", original="4", probe_answers=("4", "5"), agreement=0.5))
    True
    """
    return not probe.agreement > MAJORITY
