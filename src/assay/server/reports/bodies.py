"""The request and response bodies of the routes for reports, feedback, policies and retention."""

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from assay.schema import Action, Evidence, EvidenceSpan, HallucinationReport, Issue, ToolCallValidation, Verdict
from assay.store.db import StoredCheck
from assay.store.records import (
    LONGEST_COMMENT,
    LONGEST_DAYS,
    LONGEST_QUERY,
    MOST_RULES,
    ReportFilter,
    ReportRow,
    Rule,
    Rules,
)

MOST_ITEMS: Final = 200
"""The largest page of a list."""

_DATE_AND_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")
_NOT_STORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def _require_storable(text: str) -> str:
    if _NOT_STORABLE.search(text):
        raise ValueError("a text holds neither NUL nor half of a surrogate pair")
    return text


def _require_date_and_time(value: object) -> object:
    """Refuses numbers, which pydantic would read as seconds since 1970."""
    if isinstance(value, str) and not _DATE_AND_TIME.match(value):
        raise ValueError("expected a date and time by RFC 3339, as 2026-01-31T09:00:00Z")
    return value


Text = Annotated[str, AfterValidator(_require_storable)]
Moment = Annotated[AwareDatetime, BeforeValidator(_require_date_and_time)]
Cursor = Annotated[Text | None, Query(description="`next` of the previous page.", max_length=80)]
Limit = Annotated[int, Query(description="At most this many items.", ge=1, le=MOST_ITEMS)]
Since = Annotated[Moment | None, Query(description="From this moment on.")]
Until = Annotated[Moment | None, Query(description="Before this moment.")]


class Body(BaseModel):
    """A request body, in which unknown members are an error."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Out(BaseModel):
    """A response body."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Filters(Body):
    """Which reports to list."""

    q: Annotated[Text | None, Field(max_length=LONGEST_QUERY, min_length=1)] = None
    """Words and "phrases" that must all occur in the question or the output; `word*` matches a prefix."""
    action: Action | None = None
    route: Annotated[Text | None, Field(max_length=100)] = None
    verdict: Verdict | None = None
    """At least one claim has this verdict."""
    policy: Annotated[Text | None, Field(max_length=200)] = None
    """The digest or the name of a policy."""
    caller: Annotated[Text | None, Field(max_length=200)] = None
    """Who asked for the check: the name of a user or an API key."""
    run_id: Annotated[Text | None, Field(max_length=1_000)] = None
    """The name that the caller gave the run."""
    since: Moment | None = None
    """From this moment on."""
    until: Moment | None = None
    """Before this moment."""
    min_score: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    max_score: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    after: Annotated[Text | None, Field(max_length=80)] = None
    """`next` of the previous page."""
    limit: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 50
    """At most this many items."""

    def to_store_filter(self) -> ReportFilter:
        """These filters in the form that the store takes."""
        return ReportFilter(
            self.q,
            None if self.action is None else self.action.value,
            self.route,
            None if self.verdict is None else self.verdict.value,
            self.policy,
            self.caller,
            self.run_id,
            self.since,
            self.until,
            self.min_score,
            self.max_score,
        )


class ReportLine(Out):
    """One report in a list."""

    id: str
    """The id in `/v1/reports/{id}`."""
    run: str
    """The run that the report is about; the first report of a run has the same id."""
    created: datetime
    action: str
    route: str
    score: float | None
    policy: str
    """The policy's digest."""
    policy_name: str | None
    verifier: str
    """The verifier's digest."""
    claims: int
    verdicts: list[str]
    """The verdicts that its claims have."""
    kind: str
    """`check`, `run` or `gateway`."""
    run_id: str | None
    """The name that the caller gave the run."""
    caller: str | None
    question: str | None
    """The beginning of the question."""
    erased: bool

    @classmethod
    def from_row(cls, row: ReportRow) -> Self:
        """The line for a row of the store."""
        names = [name for name in cls.model_fields if name != "verdicts"]
        return cls(verdicts=list(row.verdicts), **{name: getattr(row, name) for name in names})


class ReportsOut(Out):
    """A page of reports, newest first."""

    items: list[ReportLine]
    next: str | None
    """The cursor of the next page, for `after`; null at the end."""
    reached: datetime | None
    """Set where the search stopped early: how far back it looked. The page may then have fewer items than asked for."""


class DecisionOut(Out):
    """One decision. The first is the gate's, further ones are people's."""

    created: datetime
    actor: str
    action: str
    route: str
    reasons: list[str]


class CheckOut(Out):
    """A stored check."""

    id: str
    run: str
    """The run that the report is about; the first report of a run has the same id."""
    created: datetime
    kind: str
    caller: str | None
    erased: datetime | None
    """When its content was erased; `report` and `asked` are null then."""
    report: HallucinationReport | None
    asked: dict[str, Any] | None
    """The arguments of the check other than its evidence."""
    decisions: list[DecisionOut]

    @classmethod
    def from_check(cls, check: StoredCheck, decisions: list[DecisionOut]) -> Self:
        """The response for a stored check."""
        return cls(
            id=check.id,
            run=check.run,
            created=check.created,
            kind=check.kind,
            caller=check.caller,
            erased=check.erased,
            report=check.report,
            asked=check.asked,
            decisions=decisions,
        )


class ClaimOut(Out):
    """One claim of a report; its text is null where the content was erased."""

    position: int
    text: str | None
    kind: str
    critical: bool
    verdict: str
    status: str
    category: str | None
    severity: str | None
    score: float | None
    contradiction: float | None
    start: int
    end: int
    """`start` and `end` are its place in the output, in code points."""
    evidence_spans: list[EvidenceSpan]
    issues: list[Issue]


class ClaimsOut(Out):
    """The claims of a report, in order."""

    items: list[ClaimOut]


class EvidenceItem(Out):
    """One piece of evidence; its content is null where it was erased."""

    id: str
    digest: str
    evidence: Evidence | None


class EvidenceOut(Out):
    """The evidence that a check was given, in order. What an agent run retrieved by itself is in its steps."""

    items: list[EvidenceItem]


class ToolCallItem(Out):
    """One tool call; its validation is null where the content was erased."""

    position: int
    tool: str
    status: str
    errors: int
    step: int | None
    executed: bool | None
    validation: ToolCallValidation | None


class ToolCallsOut(Out):
    """The tool calls of a report, in order."""

    items: list[ToolCallItem]


class EntryOut(Out):
    """One entry of the audit log."""

    index: int
    kind: str
    entry: str
    """The text of the entry, exactly as it is hashed."""


class EntriesOut(Out):
    """Entries of the audit log, in order."""

    items: list[EntryOut]
    next: int | None = None
    """The index of the next page's first entry, for `begin`; null at the end."""


class ReceiptItem(Out):
    """A receipt that was issued. The receipt itself is not stored: it went to the caller of the check."""

    receipt: str
    """Its id."""
    key: str
    """The id of the key that signed it."""
    at: str
    index: int
    """The index of its entry in the audit log."""


class ReceiptsOut(Out):
    """The receipts that were issued for a report."""

    items: list[ReceiptItem]


class FeedbackBody(Body):
    """Feedback on an output."""

    verdict: Literal["wrong", "right"]
    claim: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    """The position of the claim that the feedback is about; the whole output by default."""
    comment: Annotated[Text | None, Field(max_length=LONGEST_COMMENT)] = None
    author: Annotated[Text | None, Field(min_length=1, max_length=200)] = None
    """Who gives the feedback, in the caller's words; the caller by default."""


class FeedbackItem(Out):
    """Stored feedback on an output."""

    id: str
    report: str
    created: datetime
    verdict: str
    claim: int | None
    comment: str | None
    author: str | None


class FeedbackOut(Out):
    """Feedback, newest first."""

    items: list[FeedbackItem]
    next: str | None


class ErasedOut(Out):
    """What was erased."""

    reports: list[str]
    """The ids of the erased reports; empty where the content had been erased before."""
    entries: list[int]
    """The indices of the entries of the audit log that record the erasure."""


class PolicyLine(Out):
    """A policy that made decisions."""

    digest: str
    name: str
    created: datetime
    """When it first made a decision."""


class PoliciesOut(Out):
    """Policies, newest first."""

    items: list[PolicyLine]
    next: str | None


class PolicyOut(PolicyLine):
    """A policy with all of its settings."""

    policy: dict[str, Any] | None
    """The settings; null where only the name of the policy was recorded."""


class RuleBody(Body):
    """A rule of retention: what is erased, and after how long."""

    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS)]
    """The age in days from which content is erased."""
    what: Literal["content", "evidence"] = "content"
    """`content` is everything but the decision and its scores; `evidence` is the stored evidence alone."""
    action: Action | None = None
    """Apply the rule only to checks with this action; to all by default."""

    def rule(self) -> Rule:
        """This rule in the form that the store takes."""
        return Rule(self.days, self.what, None if self.action is None else self.action.value)


class RulesBody(Body):
    """All rules of retention; they replace the present ones."""

    rules: Annotated[list[RuleBody], Field(max_length=MOST_RULES)]


class RuleOut(Out):
    """A rule of retention: what is erased, and after how long."""

    days: int
    what: str
    action: str | None


class RulesOut(Out):
    """The rules of retention; `version` is the ETag."""

    version: int
    changed: datetime | None
    rules: list[RuleOut]

    @classmethod
    def from_rules(cls, rules: Rules) -> Self:
        """The response for stored rules."""
        items = [RuleOut(days=rule.days, what=rule.what, action=rule.action) for rule in rules.rules]
        return cls(version=rules.version, changed=rules.changed, rules=items)
