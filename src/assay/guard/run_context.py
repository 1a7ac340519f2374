"""What an agent run adds to the check of its answer: its calls, its claimed actions, its probes, its faults."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assay.guard.judging import Judged
from assay.guard.prepared import PreparedEvidence
from assay.guard.run_actions import RunActions, action_issue, calls_of, place_actions, readings
from assay.guard.run_courtesy import without_courtesies
from assay.guard.run_deeds import Deeds
from assay.guard.run_tools import RunFindings
from assay.schema import Coverage, ExtractedClaim, Issue
from assay.schema.run import Passage, Run, ToolCall, ToolDeclaration, UserInput


@dataclass(frozen=True, slots=True)
class RunContext:
    """An agent run beside the check of its answer."""

    run: Run
    findings: RunFindings
    notes: tuple[str, ...] = ()
    """What a reader should know of what was read, beside the findings' own notes."""
    tools: tuple[str, ...] = ()
    """Names of the tools that the transcript does not declare itself."""
    actions: RunActions = field(default_factory=RunActions)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the run cannot be taken as it stands."""
        return self.findings.faults

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
        called = [step.name for step in self.run.steps if isinstance(step, ToolCall | ToolDeclaration)]
        all_claims, at = place_actions(without_courtesies(claims, (*self.tools, *called)), within, text)
        worked, failed = calls_of(self.run, self.findings.outcomes)
        saw = bool(worked) or any(isinstance(step, Passage) for step in self.run.steps)
        return replace(self, actions=RunActions({**readings(all_claims, saw), **at}, worked, failed)), all_claims

    def settled(
        self, judged: Sequence[tuple[ExtractedClaim, Judged]], evidence: PreparedEvidence, emit: float
    ) -> list[Judged]:
        """What was found of each claim, with what the trace says of the actions; see `RunActions.settle`."""
        if not self.actions.at_claim:
            return [found for _, found in judged]
        asked = [step.text for step in self.run.steps if isinstance(step, UserInput)]
        deeds = Deeds(self.actions.calls, evidence.evidence, asked)
        return [self.actions.settle(claim, found, deeds, emit) for claim, found in judged]

    def issues_at(self, claim: ExtractedClaim) -> tuple[Issue, ...]:
        """What the trace says against an action that a claim states."""
        action = self.actions.at_claim.get(claim)
        issue = action_issue(action) if action is not None else None
        return (issue,) if issue is not None else ()

    def told(self, coverage: Coverage) -> Coverage:
        """The coverage with what a reader should know of what was read of the run."""
        reasons = tuple(dict.fromkeys((*coverage.reasons, *self.findings.notes, *self.notes)))
        return coverage.model_copy(update={"reasons": reasons})
