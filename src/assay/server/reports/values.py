"""What the routes of reports take and give."""

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

MOST: Final = 200
"""Items of one page."""

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")
_NOT_STORED: Final = re.compile("[\x00\ud800-\udfff]")


def _storable(text: str) -> str:
    if _NOT_STORED.search(text):
        raise ValueError("a text holds neither NUL nor half of a surrogate pair")
    return text


def _date_and_time(value: object) -> object:
    """Numbers are no moments, although pydantic would count them as seconds since 1970."""
    if isinstance(value, str) and not _DATE.match(value):
        raise ValueError("expected a date and time by RFC 3339, as 2026-01-31T09:00:00Z")
    return value


Text = Annotated[str, AfterValidator(_storable)]
Moment = Annotated[AwareDatetime, BeforeValidator(_date_and_time)]
Cursor = Annotated[Text | None, Query(description="`next` of the page before.", max_length=80)]
Limit = Annotated[int, Query(description="At most this many items.", ge=1, le=MOST)]
Since = Annotated[Moment | None, Query(description="From this moment on.")]
Until = Annotated[Moment | None, Query(description="Before this moment.")]


class Body(BaseModel):
    """What is sent: nothing but the named members."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Out(BaseModel):
    """What is answered."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Filters(Body):
    """Which reports a list is to hold."""

    q: Annotated[Text | None, Field(max_length=LONGEST_QUERY, min_length=1)] = None
    """Words and "phrases" of the question or the output, all of which must be there; `word*` is how one begins."""
    action: Action | None = None
    route: Annotated[Text | None, Field(max_length=100)] = None
    verdict: Verdict | None = None
    """At least one claim has it."""
    policy: Annotated[Text | None, Field(max_length=200)] = None
    """The digest or the name of a policy."""
    caller: Annotated[Text | None, Field(max_length=200)] = None
    """Who asked: a user or the name of an API key."""
    run_id: Annotated[Text | None, Field(max_length=1_000)] = None
    """The name that the caller gave the run."""
    since: Moment | None = None
    """From this moment on."""
    until: Moment | None = None
    """Before this moment."""
    min_score: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    max_score: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    after: Annotated[Text | None, Field(max_length=80)] = None
    """`next` of the page before."""
    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    """At most this many items."""

    def wanted(self) -> ReportFilter:
        """The same as the store takes it."""
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
    """Under which it is read: `/v1/reports/{id}`."""
    run: str
    """The run that it is about; its first report has the same id."""
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
    """Those that its claims have."""
    kind: str
    """`check`, `run` or `gateway`."""
    run_id: str | None
    """The name that the caller gave the run."""
    caller: str | None
    question: str | None
    """Its beginning."""
    erased: bool

    @classmethod
    def of(cls, line: ReportRow) -> Self:
        """The same as it is answered."""
        names = [name for name in cls.model_fields if name != "verdicts"]
        return cls(verdicts=list(line.verdicts), **{name: getattr(line, name) for name in names})


class ReportsOut(Out):
    """A page of reports, newest first."""

    items: list[ReportLine]
    next: str | None
    """Where the next page begins, for `after`; none at the end."""
    reached: datetime | None
    """Where not all of the list was looked at for this page, how far back; the page may have fewer items then."""


class DecisionOut(Out):
    """What was decided: first by the gate, then by people."""

    created: datetime
    actor: str
    action: str
    route: str
    reasons: list[str]


class CheckOut(Out):
    """A check as it is remembered."""

    id: str
    run: str
    """The run that the report is of; the same for its first report."""
    created: datetime
    kind: str
    caller: str | None
    erased: datetime | None
    """When its content was erased; then report and arguments are none."""
    report: HallucinationReport | None
    asked: dict[str, Any] | None
    """What the check was given beside its evidence."""
    decisions: list[DecisionOut]

    @classmethod
    def of(cls, found: StoredCheck, decisions: list[DecisionOut]) -> Self:
        """The same as it is answered."""
        return cls(
            id=found.id,
            run=found.run,
            created=found.created,
            kind=found.kind,
            caller=found.caller,
            erased=found.erased,
            report=found.report,
            asked=found.asked,
            decisions=decisions,
        )


class ClaimOut(Out):
    """One claim of a report; what it said is none where it was erased."""

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
    """Where it is in the output, in code points."""
    evidence_spans: list[EvidenceSpan]
    issues: list[Issue]


class ClaimsOut(Out):
    """The claims of a report, in order."""

    items: list[ClaimOut]


class EvidenceItem(Out):
    """One piece of evidence; its content is none where it was erased."""

    id: str
    digest: str
    evidence: Evidence | None


class EvidenceOut(Out):
    """The evidence that a check was given, in order. What a run saw by itself is in its steps."""

    items: list[EvidenceItem]


class ToolCallItem(Out):
    """One tool call; what was found of it is none where it was erased."""

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
    """Its text, which is what is hashed."""


class EntriesOut(Out):
    """Entries of the audit log, in order."""

    items: list[EntryOut]
    next: int | None = None
    """Where the next page begins, for `begin`; none at the end."""


class ReceiptItem(Out):
    """A receipt that was issued; the receipt itself went to whoever asked."""

    receipt: str
    """Its id."""
    key: str
    """The id of the key that signed it."""
    at: str
    index: int
    """The entry of the audit log that tells of it."""


class ReceiptsOut(Out):
    """The receipts that were issued for a report."""

    items: list[ReceiptItem]


class FeedbackBody(Body):
    """What somebody says of an output."""

    verdict: Literal["wrong", "right"]
    claim: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    """The position of the claim that it is about; the whole output by default."""
    comment: Annotated[Text | None, Field(max_length=LONGEST_COMMENT)] = None
    author: Annotated[Text | None, Field(min_length=1, max_length=200)] = None
    """Who says it, as the caller names them; the caller by default."""


class FeedbackItem(Out):
    """What somebody said of an output."""

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
    """The ids; none where it was erased before."""
    entries: list[int]
    """The entries of the audit log that say so."""


class PolicyLine(Out):
    """A policy that decided."""

    digest: str
    name: str
    created: datetime
    """When it first decided."""


class PoliciesOut(Out):
    """Policies, newest first."""

    items: list[PolicyLine]
    next: str | None


class PolicyOut(PolicyLine):
    """A policy with all that it says."""

    policy: dict[str, Any] | None
    """None where it was recorded by name alone."""


class RuleBody(Body):
    """What is erased, and when."""

    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS)]
    """After so many days."""
    what: Literal["content", "evidence"] = "content"
    """`content` is everything but the decision and its scores; `evidence` is the stored evidence alone."""
    action: Action | None = None
    """Only of checks on which the gate decided so."""

    def rule(self) -> Rule:
        """The same as the store takes it."""
        return Rule(self.days, self.what, None if self.action is None else self.action.value)


class RulesBody(Body):
    """All rules of retention that are to hold."""

    rules: Annotated[list[RuleBody], Field(max_length=MOST_RULES)]


class RuleOut(Out):
    """What is erased, and when."""

    days: int
    what: str
    action: str | None


class RulesOut(Out):
    """The rules of retention; `version` is the ETag."""

    version: int
    changed: datetime | None
    rules: list[RuleOut]

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """The same as they are answered."""
        made = [RuleOut(days=rule.days, what=rule.what, action=rule.action) for rule in rules.rules]
        return cls(version=rules.version, changed=rules.changed, rules=made)
