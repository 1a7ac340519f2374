"""What an agent run adds to the check of its answer: its calls, its claimed actions, its probes, its faults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Final

from assay.errors import VerifierError
from assay.guard.judging import Judged
from assay.guard.prepared import PreparedEvidence
from assay.guard.run_actions import KnownWords, RunActions, action_issue, calls_of, place_actions, readings
from assay.guard.run_tools import RunFindings
from assay.schema import ConsistencyProbe, Coverage, ExtractedClaim, Issue, Metric, Verdict
from assay.schema.run import Passage, Run
from assay.verify.consistency import Prober, ProbeRequest, diverged

NO_PROBER: Final = "no claim was probed: no prober is at hand"
"""Why a report has no probes unless something else is said."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """An agent run beside the check of its answer."""

    run: Run
    findings: RunFindings
    notes: tuple[str, ...] = ()
    """What a reader should know of what was read, beside the findings' own notes."""
    actions: RunActions = field(default_factory=RunActions)
    probes: tuple[ConsistencyProbe, ...] = ()
    unprobed: str = NO_PROBER
    """Why there are no probes, where there are none."""
    probe_faults: tuple[str, ...] = ()
    """What kept claims from being probed that should have been."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the run cannot be taken as it stands."""
        return (*self.findings.faults, *self.probe_faults)

    @property
    def diverged(self) -> int:
        """Probes of which no majority agrees with the claim."""
        return sum(map(diverged, self.probes))

    @property
    def any_done(self) -> bool:
        """Whether the answer claims anything that a call did."""
        return any(map(self.states_done, self.actions.at_claim))

    def states_done(self, claim: ExtractedClaim) -> bool:
        """Whether a claim states an action that a call did."""
        return self.actions.done(claim)

    def placed(
        self, claims: Sequence[ExtractedClaim], text: str
    ) -> tuple["RunContext", tuple[ExtractedClaim, ...]]:  # fmt: skip
        """The context with the claimed actions at their claims, and the claims with those that actions add."""
        within = [action for action in self.findings.actions if action.end <= len(text)]
        all_claims, at = place_actions(claims, within, text)
        worked, failed = calls_of(self.run, self.findings.outcomes)
        saw = bool(worked) or any(isinstance(step, Passage) for step in self.run.steps)
        return replace(self, actions=RunActions({**readings(all_claims, saw), **at}, worked, failed)), all_claims

    def settled(
        self, judged: Sequence[tuple[ExtractedClaim, Judged]], evidence: PreparedEvidence, emit: float
    ) -> list[Judged]:
        """What was found of each claim, with what the trace says of the actions; see `RunActions.settle`."""
        if not self.actions.at_claim:
            return [found for _, found in judged]
        known = KnownWords(piece.text for piece in (*evidence.evidence, *self.actions.calls))
        return [self.actions.settle(claim, found, known, emit) for claim, found in judged]

    def issues_at(self, claim: ExtractedClaim) -> tuple[Issue, ...]:
        """What the trace says against an action that a claim states."""
        action = self.actions.at_claim.get(claim)
        issue = action_issue(action) if action is not None else None
        return (issue,) if issue is not None else ()

    def told(self, coverage: Coverage, metrics: Mapping[str, Any]) -> tuple[Coverage, dict[str, Any]]:
        """Coverage and metrics with what the run adds to them."""
        reasons = tuple(dict.fromkeys((*coverage.reasons, *self.findings.notes, *self.notes)))
        agreement = (
            Metric(value=fmean(probe.agreement for probe in self.probes))
            if self.probes
            else Metric(undefined=self.unprobed)
        )
        return coverage.model_copy(update={"reasons": reasons}), {**metrics, "self_consistency": agreement}

    def probed(
        self,
        claims: Sequence[tuple[ExtractedClaim, Judged]],
        prober: Prober | None,
        request: ProbeRequest,
    ) -> "RunContext":
        """The context once critical claims were asked about again: those that passed, since the others fail already.

        Args:
            claims: every checkable claim with what was found of it.
            prober: what asks; without one nothing is probed, and the metric says so.
            request: what to ask with; its claims are filled in here.
        """
        if prober is None:
            return self
        asked = tuple(c.text for c, found in claims if c.critical and found.verdict is Verdict.SUPPORTED)
        if not asked:
            return replace(self, unprobed="no claim was probed: no critical claim is supported by the evidence")
        try:
            probes = tuple(prober.probe(replace(request, claims=asked)))
        except VerifierError as error:
            return self._unprobed(len(asked), str(error))
        if [probe.claim for probe in probes] != list(asked):
            return self._unprobed(len(asked), f"asked about {len(asked)} claims, the prober answered other ones.")
        return replace(self, probes=probes)

    def _unprobed(self, number: int, why: str) -> "RunContext":
        fault = f"{number} critical claims could not be asked about again: {why}"
        return replace(self, unprobed=f"no claim was probed: {why}", probe_faults=(fault,))
