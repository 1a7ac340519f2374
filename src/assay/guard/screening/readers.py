"""What reads passages while they are screened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.models import ConflictScorer, PairScorer
from assay.schema import Evidence

if TYPE_CHECKING:
    from assay.guard.check.verdicts import Judged

    Judge = Callable[[Sequence[tuple[str, tuple[Evidence, ...]]]], Sequence[Judged]]


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads passages and pairs of their sentences."""

    scorer: PairScorer
    """The network that judges premise and claim."""
    conflicts: ConflictScorer
    """The network that tells whether two passages cannot both be right."""
    judge: Judge
    """Judges claims, each against its own evidence, as a check does."""
