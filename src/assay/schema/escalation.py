"""What a reviewer is given, and what becomes of it: the escalation package and its states.

See docs/concepts.md#escalation.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from assay.schema.base import Value
from assay.schema.claim import Span
from assay.schema.evidence import Evidence, EvidenceSpan
from assay.schema.report import HallucinationReport, Issue, Metric
from assay.schema.report_parts.tier import Tier
from assay.schema.verdict import Category, SeverityLevel, Stakes, Verdict


class ReviewState(StrEnum):
    """Where an output that was held stands."""

    OPEN = "open"
    """Waits for a decision."""
    EVIDENCE = "evidence"
    """A reviewer asked for evidence; waits for the caller, then for a decision."""
    APPROVED = "approved"
    """May go out as it is."""
    EDITED = "edited"
    """May go out as the reviewer has written it."""
    REJECTED = "rejected"
    """Stays withheld."""
    ERASED = "erased"
    """Its content was erased before anybody decided; stays withheld."""

    @property
    def decided(self) -> bool:
        """Whether nothing changes it any more."""
        return self not in (ReviewState.OPEN, ReviewState.EVIDENCE)

    @property
    def released(self) -> bool:
        """Whether a text may go out."""
        return self in (ReviewState.APPROVED, ReviewState.EDITED)


class ReviewAct(StrEnum):
    """What is done to an item. Each act is an entry in the audit log and a row among the decisions of its run."""

    OPEN = "open"
    """The gate asked for a person."""
    CLAIM = "claim"
    """A reviewer took it, for a while."""
    RELEASE = "release"
    """A reviewer gave it back."""
    ASSIGN = "assign"
    """It was given to somebody, or to another field of expertise."""
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    ASK = "ask_evidence"
    """A reviewer asked for evidence."""
    SUPPLY = "supply_evidence"
    """The caller gave some; the output was checked again."""
    NEXT_TIER = "next_tier"
    """The deadline passed; it went up a tier."""
    REMIND = "remind"
    """The deadline passed; people were told again."""
    EXPIRE = "expire"
    """The deadline passed; it was rejected."""


class FlaggedClaim(Value):
    """One claim that does not stand as it is, and why."""

    claim: int = Field(ge=0)
    """Its place among the claims of the report."""
    text: str
    span: Span
    verdict: Verdict
    critical: bool
    category: Category | None = None
    severity: SeverityLevel | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    issues: tuple[Issue, ...] = ()
    evidence: tuple[EvidenceSpan, ...] = ()
    """The passages that decide about it."""


class ConfidenceBreakdown(Value):
    """What the confidence is made of."""

    overall: float | None = Field(default=None, ge=0, le=1)
    """The gating score; none where nothing was checked."""
    stakes: Stakes
    stakes_weight: float = Field(ge=0, le=1)
    risk: float = Field(ge=0, le=1)
    """stakes_weight * (1 - overall)."""
    verdicts: dict[str, int] = Field(default_factory=dict)
    """How many claims have each verdict."""
    metrics: dict[str, Metric] = Field(default_factory=dict)
    unchecked_characters: int = Field(ge=0)
    """Characters of the output that nobody looked at."""


class Suggestion(Value):
    """A correction that a reviewer may take over; nothing is corrected unasked."""

    span: Span
    """The words of the output that it would take the place of."""
    before: str
    after: str | None = None
    """The words to put there; none where only the passage is known, or the best is to leave the statement out."""
    source: str = Field(pattern="^(evidence|model)$")
    """A passage says so, or the model offered it."""
    reason: str
    """A sentence for people."""
    evidence: EvidenceSpan | None = None


class Alternative(Value):
    """Another text that may go out in place of the output."""

    kind: str = Field(pattern="^(original|abstention|refusal)$")
    """The output before it was revised; what abstaining would say; what is said in place of a withheld output."""
    text: str


class TaskContext(Value):
    """Why the output was made, and what brought it here."""

    task: str
    kind: str = Field(pattern="^(check|run)$")
    question: str | None = None
    run_id: str
    caller: str | None = None
    stakes: Stakes
    policy: str
    reasons: tuple[str, ...]
    """Why the gate asks for a person, as sentences."""
    created: datetime


class EscalationPackage(Value):
    """All that a reviewer needs to decide (docs/concepts.md#escalation)."""

    output: str
    flagged_claims: tuple[FlaggedClaim, ...]
    verification_report: HallucinationReport
    evidence_used: tuple[Evidence, ...]
    confidence_breakdown: ConfidenceBreakdown
    suggested_corrections: tuple[Suggestion, ...]
    alternatives: tuple[Alternative, ...] = ()
    reasoning: tuple[str, ...] = ()
    """What the model was thinking, where the run tells it; no evidence of anything."""
    task_context: TaskContext
    tier: Tier
    level: str
    """The tier as an escalation label (docs/concepts.md#escalation)."""
    risk: float = Field(ge=0, le=1)
    deadline: datetime | None
    """When the review is needed; none once it was decided."""
    suggested_action: str = Field(pattern="^(approve|edit|reject|ask_evidence)$")
    """What the findings support. A person decides."""
    suggested_because: str

    @model_validator(mode="after")
    def _is_of_one_output(self) -> Self:
        if self.output != self.verification_report.output:
            raise ValueError("a package is of one output: that of its report")
        return self


class ReviewEvent(Value):
    """One act on an item."""

    position: int = Field(ge=0)
    """Its place among the decisions of the run."""
    act: str
    """A `ReviewAct`."""
    actor: str
    """Who: a user, a key, `gate` or `deadline`."""
    at: datetime
    state: str
    """The state after it."""
    reason: str | None = None
    """In their words; none where they gave none, or it was erased."""


class ReviewOutcome(Value):
    """What a person decided."""

    act: ReviewAct
    actor: str
    at: datetime
    reason: str
    output: str | None = None
    """The text that may go out; none where nothing may."""
    response: str | None = None
    """What to say in its place."""
    report: str | None = None
    """The id of the report of the text that may go out."""
    receipt: str | None = None
    """Its receipt, where the server signs."""
    claims: dict[int, Verdict] = Field(default_factory=dict)
    """What the reviewer said of single claims of the first output, by their places."""


class ReviewItem(Value):
    """One output that waits for a person, or waited."""

    id: str
    tenant: str
    run: str
    """The record that it is about, as `GET /v1/reports/{id}` takes it."""
    report: str
    """The newest report of it."""
    state: ReviewState
    tier: Tier
    level: str
    risk: float | None = Field(default=None, ge=0, le=1)
    created: datetime
    updated: datetime
    deadline: datetime | None = None
    """When something happens if nobody decides; none once it was decided."""
    due: datetime
    """The first deadline."""
    expertise: str | None = None
    """What a reviewer has to know to take it, where there is anyone who does."""
    assignee: str | None = None
    """Whom it was given to; others may not take it before that person gives it back or the tier rises."""
    holder: str | None = None
    """Who has it now."""
    held_until: datetime | None = None
    """When the holder loses it unless they claim it again."""
    caller: str | None = None
    version: int = Field(ge=1)
    """Grows with every change; the entity tag of REST."""
    decided: datetime | None = None
    outcome: ReviewOutcome | None = None

    def wire(self) -> dict[str, Any]:
        """The item as JSON."""
        return self.model_dump(mode="json")
