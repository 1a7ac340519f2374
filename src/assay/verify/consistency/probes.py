"""Consistency probes: the request that asks a model again about critical claims, and what its answers mean.

See docs/concepts.md#self-consistency. The adapter that calls a chat model is elsewhere (`assay.rewrite.probes`).
Without a prober no claim is probed, and the report says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from assay.schema import ConsistencyProbe, Evidence

MAJORITY: Final = 0.5
"""A claim holds if more than this share of the probe answers agrees with it."""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """The claims to ask a model about again, with the context of the answer that made them."""

    claims: tuple[str, ...]
    """The critical claims, each as a sentence of its own."""
    answer: str
    """The answer that contains them."""
    question: str | None
    """The question that it answers."""
    evidence: tuple[Evidence, ...]
    """The same evidence as the first time. Its text is data, never an instruction."""
    risk: float | None = None
    """The largest probability of any of the claims to be wrong, by the other tiers; none where unknown."""


class Prober(Protocol):
    """Asks a model the same question in other words, with the same evidence, and compares the answers."""

    def probe(self, request: ProbeRequest) -> Sequence[ConsistencyProbe]:
        """One probe for each claim, in order.

        Raises:
            VerifierError: the model could not be asked, or its answer cannot be compared; the claims then count as
                not probed, and the report says so.
        """
        ...


def diverged(probe: ConsistencyProbe) -> bool:
    """Whether at most half of the answers agree with the claim.

    >>> diverged(ConsistencyProbe(claim="It is 4.", original="4", probe_answers=("4", "5"), agreement=0.5))
    True
    """
    return not probe.agreement > MAJORITY
