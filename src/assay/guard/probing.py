"""Asking again on critical claims (seed 002, stage 3): which claims are asked about, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from assay.errors import VerifierError
from assay.guard.judging import Judged
from assay.schema import ConsistencyProbe, ExtractedClaim, Metric, Verdict
from assay.verify.consistency import Prober, ProbeRequest, diverged

NO_CLAIM: Final = "no claim was probed"
NO_PROBER: Final = "no claim was probed: no prober is at hand"
"""Why the report of a run has no probes unless something else is said."""


@dataclass(frozen=True, slots=True)
class Probing:
    """What the model said when it was asked again."""

    probes: tuple[ConsistencyProbe, ...] = ()
    unprobed: str = NO_CLAIM
    """Why there are no probes, where there are none."""
    faults: tuple[str, ...] = ()
    """What kept claims from being probed that should have been, as sentences; with any, nothing is emitted."""

    @property
    def diverged(self) -> int:
        """Probes of which no majority agrees with the claim."""
        return sum(map(diverged, self.probes))

    @property
    def agreement(self) -> Metric:
        """How far the model agrees with itself, the mean over the probes."""
        if not self.probes:
            return Metric(undefined=self.unprobed)
        return Metric(value=fmean(probe.agreement for probe in self.probes))


UNASKED: Final = Probing()
"""Nobody asked."""
HELD_BACK: Final = Probing(unprobed=f"{NO_CLAIM}: the answer is held back as it is")
"""Nobody asked, since the answers could not have let the output out."""


UNPROBED: Final = (
    "the policy requires it and no chat model is configured (llm= of the guard, --llm of the command, `llm` of the "
    "server's configuration)."
)


def unprobed(claims: Sequence[tuple[ExtractedClaim, Judged]]) -> Probing:
    """That critical claims which passed were to be asked about and could not be, for want of a model."""
    asked = sum(bool(c.critical) and found.verdict is Verdict.SUPPORTED for c, found in claims)
    return _failed(asked, UNPROBED) if asked else Probing(unprobed=f"{NO_CLAIM}: no critical claim is supported")


def probing_of(claims: Sequence[tuple[ExtractedClaim, Judged]], prober: Prober, request: ProbeRequest) -> Probing:
    """Ask about the critical claims that passed; the others fail already.

    Args:
        claims: every checkable claim with what was found of it.
        prober: what asks.
        request: what to ask with; its claims are filled in here.
    """
    chosen = [(c, found) for c, found in claims if c.critical and found.verdict is Verdict.SUPPORTED]
    asked = tuple(c.text for c, _ in chosen)
    risk = max((1 - found.judgement.support for _, found in chosen if found.judgement), default=None)
    if not asked:
        return Probing(unprobed=f"{NO_CLAIM}: no critical claim is supported by the evidence")
    try:
        probes = tuple(prober.probe(replace(request, claims=asked, risk=risk)))
    except VerifierError as error:
        return _failed(len(asked), str(error))
    if [probe.claim for probe in probes] != list(asked):
        return _failed(len(asked), f"asked about {len(asked)} claims, the prober answered other ones.")
    return Probing(probes)


def _failed(number: int, why: str) -> Probing:
    what = "1 critical claim" if number == 1 else f"{number} critical claims"
    fault = f"{what} could not be asked about again: {why}"
    return Probing(unprobed=f"{NO_CLAIM}: {why}", faults=(fault if fault.endswith(".") else f"{fault}.",))
