"""What the network is asked: a claim and the premises that may decide about it."""

from dataclasses import dataclass
from typing import Literal

from assay.schema.evidence import Window

Granularity = Literal["sentence", "passage", "document", "other"]
"""How much of the evidence a premise holds (docs/concepts.md#entailment); `other` is a sentence of a source of which
nothing else is read, and tells only whether that source disagrees."""
GRANULARITIES: tuple[Granularity, ...] = ("sentence", "passage", "document")
"""What scores are made of."""


@dataclass(frozen=True, slots=True)
class Premise:
    """One text that a claim is checked against."""

    text: str
    """As the network reads it: the windows' texts in order, with the title or date of their evidence in front."""
    granularity: Granularity
    windows: tuple[Window, ...]
    """The pieces of evidence that it was assembled from, in document order."""

    @property
    def evidence_ids(self) -> frozenset[str]:
        """The evidence that it supports."""
        return frozenset(window.evidence_id for window in self.windows)


@dataclass(frozen=True, slots=True)
class ClaimCandidates:
    """A claim and its premises, the most relevant of each granularity first."""

    claim: str
    """The hypothesis: a sentence that can be read alone."""
    premises: tuple[Premise, ...]
