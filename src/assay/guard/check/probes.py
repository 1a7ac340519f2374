"""Probes of critical claims: which claims the model is asked about again, and the results."""

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
"""The default reason why the report of a run has no probes."""


@dataclass(frozen=True, slots=True)
class Probing:
    """The results of asking the model again."""

    probes: tuple[ConsistencyProbe, ...] = ()
    unprobed: str = NO_CLAIM
    """Why there are no probes, where there are none."""
    faults: tuple[str, ...] = ()
    """Why claims that should have been probed were not, as sentences; with any fault, nothing is emitted."""
    missed: tuple[int, ...] = ()
    """The places of these claims among the checkable ones; they become unchecked, since a required stage did not run.
    """

    @property
    def diverged(self) -> int:
        """The number of probes in which no majority agrees with the claim."""
        return sum(map(diverged, self.probes))

    def settled(self, judged: Sequence[Judged]) -> Sequence[Judged]:
        """The judgements of the checkable claims; those that should have been probed and were not are unchecked."""
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
"""Nothing was asked."""
HELD_BACK: Final = Probing(unprobed=f"{NO_CLAIM}: the answer is held back as it is")
"""Nothing was asked, since no answer could have released the output."""


NO_MODEL: Final = (
    "the policy requires it and no chat model is configured (llm= of the guard, --llm of the command, `judge` of the "
    "server's gateway file)."
)
NOT_ALLOWED: Final = "the policy requires it and the caller had nothing asked (asks=False)."


def unprobed(claims: Sequence[tuple[ExtractedClaim, Judged]], why: str) -> Probing:
    """The result where passed critical claims should have been probed and no model was available or allowed."""
    missed = _places(claims)
    return _failed(missed, why) if missed else Probing(unprobed=f"{NO_CLAIM}: no critical claim is supported")


def _places(claims: Sequence[tuple[ExtractedClaim, Judged]]) -> tuple[int, ...]:
    return tuple(at for at, (c, found) in enumerate(claims) if c.critical and found.verdict is Verdict.SUPPORTED)


def probing_of(claims: Sequence[tuple[ExtractedClaim, Judged]], prober: Prober, request: ProbeRequest) -> Probing:
    """Probes the critical claims that passed; the others fail already.

    Args:
        claims: every checkable claim with its judgement.
        prober: asks the model.
        request: the request of the probe; its claims are filled in here.
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
