"""The convergence of repairs over several outputs (docs/concepts.md#revision): how many pass, and at what cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.schema import HallucinationReport


@dataclass(frozen=True, slots=True)
class Convergence:
    """Counts over the repairs of several outputs."""

    outputs: int = 0
    """All outputs."""
    revised: int = 0
    """Outputs whose first version did not pass."""
    converged: int = 0
    """Revised outputs whose last version passes."""
    attempts: int = 0
    """Versions that were requested."""
    rolled_back: int = 0
    """Versions that were verified and dropped because they were no better."""
    failed_before: int = 0
    """Claims and citations that failed in the first versions."""
    failed_after: int = 0
    """Claims and citations that fail in the last versions."""

    @property
    def rate(self) -> float | None:
        """The share of the revised outputs that converged; None if none was revised."""
        return self.converged / self.revised if self.revised else None

    @property
    def mean_attempts(self) -> float | None:
        """The mean number of versions per revised output; None if none was revised."""
        return self.attempts / self.revised if self.revised else None

    @property
    def words(self) -> str:
        """The counts in a sentence.

        >>> Convergence(outputs=3, revised=2, converged=1, attempts=3, failed_before=4, failed_after=1).words
        '1 of 2 answers that failed passes now; 1.5 attempts each, 0 rolled back; 4 findings before, 1 after'
        """
        if not self.revised:
            return "every answer passed as it was"
        verb = "passes" if self.converged == 1 else "pass"
        return (
            f"{self.converged} of {self.revised} answers that failed {verb} now; {self.mean_attempts:.1f} attempts "
            f"each, {self.rolled_back} rolled back; {self.failed_before} findings before, {self.failed_after} after"
        )


def convergence_of(reports: Iterable[HallucinationReport]) -> Convergence:
    """The counts over reports of a revise loop; a report without a revision counts as an output that passed.

    >>> convergence_of([]).rate is None
    True
    """
    total = Convergence()
    for report in reports:
        revision = report.revision
        revised = revision is not None and (bool(revision.attempts) or not revision.converged)
        if revision is None or not revised:
            total = _plus(total, Convergence(outputs=1))
            continue
        counts = Convergence(
            1,
            1,
            int(revision.converged),
            len(revision.attempts),
            revision.rolled_back,
            revision.failed_before or 0,
            revision.failed_after or 0,
        )
        total = _plus(total, counts)
    return total


def _plus(left: Convergence, right: Convergence) -> Convergence:
    names = Convergence.__dataclass_fields__
    return Convergence(**{name: getattr(left, name) + getattr(right, name) for name in names})
