"""Asking again on critical claims: which claims are asked about, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from assay.errors import VerifierError
from assay.guard.check.verdicts import Judged
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
    missed: tuple[int, ...] = ()
    """The places of those claims among the checkable ones: what a required stage did not look at is unchecked."""

    @property
    def diverged(self) -> int:
        """Probes of which no majority agrees with the claim."""
        return sum(map(diverged, self.probes))

    def settled(self, judged: Sequence[Judged]) -> Sequence[Judged]:
        """What is known of the checkable claims, those unchecked that were to be asked about and were not."""
        if not self.missed:
            return judged
        found = list(judged)
        for at in self.missed:
            found[at] = replace(found[at], verdict=Verdict.UNCHECKED, judgement=None, failed=self.faults[0])
        return found

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
    "the policy requires it and no chat model is configured (llm= of the guard, --llm of the command, `judge` of the "
    "server's gateway file)."
)
UNWISHED: Final = "the policy requires it and the caller had nothing asked (asks=False)."


def unprobed(claims: Sequence[tuple[ExtractedClaim, Judged]], why: str) -> Probing:
    """That critical claims which passed were to be asked about and were not, for want of a model or of leave."""
    missed = _places(claims)
    return _failed(missed, why) if missed else Probing(unprobed=f"{NO_CLAIM}: no critical claim is supported")


def _places(claims: Sequence[tuple[ExtractedClaim, Judged]]) -> tuple[int, ...]:
    return tuple(at for at, (c, found) in enumerate(claims) if c.critical and found.verdict is Verdict.SUPPORTED)


def probing_of(claims: Sequence[tuple[ExtractedClaim, Judged]], prober: Prober, request: ProbeRequest) -> Probing:
    """Ask about the critical claims that passed; the others fail already.

    Args:
        claims: every checkable claim with what was found of it.
        prober: what asks.
        request: what to ask with; its claims are filled in here.
    """
    places = _places(claims)
    asked = tuple(claims[at][0].text for at in places)
    risk = max((1 - judgement.support for at in places if (judgement := claims[at][1].judgement)), default=None)
    if not asked:
        return Probing(unprobed=f"{NO_CLAIM}: no critical claim is supported by the evidence")
    try:
        probes = tuple(prober.probe(replace(request, claims=asked, risk=risk)))
    except VerifierError as error:
        return _failed(places, str(error))
    if [probe.claim for probe in probes] != list(asked):
        return _failed(places, f"asked about {len(asked)} claims, the prober answered other ones.")
    return Probing(probes)


def _failed(places: tuple[int, ...], why: str) -> Probing:
    what = "1 critical claim" if len(places) == 1 else f"{len(places)} critical claims"
    fault = f"{what} could not be asked about again: {why}"
    return Probing(
        unprobed=f"{NO_CLAIM}: {why}", faults=(fault if fault.endswith(".") else f"{fault}.",), missed=places
    )
