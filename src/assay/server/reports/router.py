"""`/v1/reports` and `/v1/feedback`: stored reports, their claims, evidence, receipts and log entries, and feedback."""

import json
import re
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from assay.schema import Permission
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.patterns import SAYS_SOMETHING
from assay.server.reports.bodies import (
    CheckOut,
    ClaimOut,
    ClaimsOut,
    Cursor,
    DecisionOut,
    EntriesOut,
    EntryOut,
    ErasedOut,
    EvidenceItem,
    EvidenceOut,
    FeedbackBody,
    FeedbackItem,
    FeedbackOut,
    Filters,
    Limit,
    ReceiptItem,
    ReceiptsOut,
    ReportLine,
    ReportsOut,
    Since,
    Text,
    ToolCallItem,
    ToolCallsOut,
    Until,
)
from assay.server.services import Services, allowed
from assay.store.audit import RECEIPT, entries_of, read_entry_data
from assay.store.db import StoredCheck, read_check, run_of
from assay.store.records import (
    StoredFeedback,
    erase_evidence,
    erase_runs,
    give_feedback,
    has_run,
    moment_at,
    read_claims,
    read_decisions,
    read_feedback,
    read_page,
    read_tool_calls,
)

_REPORT_ID: Final = re.compile(r"[0-9a-f]{32}")
_ONE_REPORT: Final = documented(401, 403, 404, 422, 429, 503)


def make_reports_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(tags=["reports"]), _Reports(services)
    list_errors = documented(401, 403, 422, 429, 503)
    router.get("/v1/reports", responses=list_errors)(routes.reports)
    router.get("/v1/reports/{id}", responses=_ONE_REPORT)(routes.report)
    router.delete("/v1/reports/{id}", responses=_ONE_REPORT)(routes.erase)
    router.get("/v1/reports/{id}/claims", responses=_ONE_REPORT)(routes.claims)
    router.get("/v1/reports/{id}/evidence", responses=_ONE_REPORT)(routes.evidence)
    router.get("/v1/reports/{id}/tool-calls", responses=_ONE_REPORT)(routes.tool_calls)
    router.get("/v1/reports/{id}/receipts", responses=_ONE_REPORT)(routes.receipts)
    router.get("/v1/reports/{id}/entries", responses=_ONE_REPORT)(routes.entries)
    errors = documented(401, 403, 404, 413, 422, 429, 503)
    router.post("/v1/reports/{id}/feedback", status_code=201, responses=errors)(routes.say)
    router.get("/v1/feedback", responses=list_errors)(routes.feedback)
    return router


class _Reports:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def reports(self, request: Request, filters: Annotated[Filters, Query()]) -> ReportsOut:
        """Reports, newest first, filtered and searched by words of their questions and outputs."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            page = read_page(connection, caller.tenant, filters.to_store_filter(), filters.after, filters.limit)
        return ReportsOut(items=[ReportLine.from_row(row) for row in page.items], next=page.next, reached=page.reached)

    def report(self, request: Request, id: str) -> CheckOut:  # noqa: A002 the name in the path
        """One check: its arguments, its report and the decisions."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            check = _or_404(read_check(connection, caller.tenant, report_id_or_404(id)))
            decisions = read_decisions(connection, caller.tenant, check.run)
        return CheckOut.from_check(
            check,
            [
                DecisionOut(
                    created=moment_at(row.created),
                    actor=row.actor,
                    action=row.action,
                    route=row.route,
                    reasons=list(row.reasons or ()),
                )
                for row in decisions
            ],
        )

    def erase(
        self,
        request: Request,
        id: str,  # noqa: A002 the name in the path
        reason: Annotated[
            Text,
            Query(
                min_length=1,
                max_length=400,
                pattern=SAYS_SOMETHING,
                description="Why. It stays in the audit log, so it must not name a person.",
            ),
        ] = "request",
        of: Annotated[
            Literal["content", "evidence"], Query(description="All content, or the stored evidence alone.")
        ] = "content",
    ) -> ErasedOut:
        """Erase the content of a check: its arguments and findings. The audit log stays provable and records the
        erasure."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        self._require_report(caller.tenant, id)
        erase = erase_runs if of == "content" else erase_evidence
        erased = erase(self._store, [id], reason, caller.tenant)
        return ErasedOut(reports=list(erased.runs), entries=list(erased.entries))

    def claims(self, request: Request, id: str) -> ClaimsOut:  # noqa: A002 the name in the path
        """The claims of a report, with the passages that decide about them."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            check = _or_404(read_check(connection, caller.tenant, report_id_or_404(id)))
            rows = read_claims(connection, caller.tenant, check.id)
        reported = check.report.claims if check.report is not None else ()
        items = []
        for position, row in enumerate(rows):
            claim = reported[position] if position < len(reported) else None
            fields: dict[str, Any] = {name: getattr(row, name) for name in ClaimOut.model_fields if name in row._fields}
            items.append(
                ClaimOut(
                    **fields,
                    evidence_spans=list(claim.evidence_spans) if claim is not None else [],
                    issues=list(claim.issues) if claim is not None else [],
                )
            )
        return ClaimsOut(items=items)

    def evidence(self, request: Request, id: str) -> EvidenceOut:  # noqa: A002 the name in the path
        """The evidence that a check was given."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            check = _or_404(read_check(connection, caller.tenant, report_id_or_404(id)))
        return EvidenceOut(
            items=[EvidenceItem(id=name, digest=digest, evidence=evidence) for name, digest, evidence in check.evidence]
        )

    def tool_calls(self, request: Request, id: str) -> ToolCallsOut:  # noqa: A002 the name in the path
        """The tool calls of a report, with the origin of each argument."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            check = _or_404(read_check(connection, caller.tenant, report_id_or_404(id)))
            rows = read_tool_calls(connection, caller.tenant, check.id)
        reported = check.report.tool_call_validations if check.report is not None else ()
        return ToolCallsOut(
            items=[
                ToolCallItem(
                    position=row.position,
                    tool=row.tool,
                    status=row.status,
                    errors=row.errors,
                    step=row.step,
                    executed=row.executed,
                    validation=reported[position] if position < len(reported) else None,
                )
                for position, row in enumerate(rows)
            ]
        )

    def receipts(self, request: Request, id: str) -> ReceiptsOut:  # noqa: A002 the name in the path
        """The receipts that were issued for a report."""
        caller = allowed(request.scope, Permission.READ)
        entries = self._entries(caller.tenant, id)
        return ReceiptsOut(
            items=[
                ReceiptItem(receipt=fields["receipt"], key=fields["key"], at=fields["at"], index=index)
                for index, fields in ((index, json.loads(data)) for index, kind, data in entries if kind == RECEIPT)
            ]
        )

    def entries(self, request: Request, id: str) -> EntriesOut:  # noqa: A002 the name in the path
        """All entries of the audit log about a report."""
        caller = allowed(request.scope, Permission.READ)
        entries = self._entries(caller.tenant, id)
        return EntriesOut(items=[EntryOut(index=index, kind=kind, entry=data) for index, kind, data in entries])

    def _entries(self, tenant: str, id_: str) -> list[tuple[int, str, str]]:
        with self._store.reading(tenant) as connection:
            run = run_of(connection, tenant, report_id_or_404(id_))
            if not has_run(connection, tenant, run):
                raise unknown("report")
            entries = entries_of(connection, tenant, run)
        return [(index, str(read_entry_data(data)["kind"]), data.decode()) for index, data in entries]

    def say(self, request: Request, response: Response, id: str, body: FeedbackBody) -> FeedbackItem:  # noqa: A002
        """Give feedback: an output, or one of its claims, is wrong or right."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        self._require_report(caller.tenant, id)
        with self._store.reading(caller.tenant) as connection:
            claims = len(read_claims(connection, caller.tenant, id)) if body.claim is not None else 0
        if body.claim is not None and body.claim >= claims:
            raise ProblemError(
                422,
                f"expected the position of a claim below {claims}, got {body.claim}",
                code="input.invalid",
                todo="Read the claims of the report, which begin at 0.",
            )
        author = body.author or caller.name
        feedback_id = give_feedback(
            self._store, id, body.verdict, tenant=caller.tenant, claim=body.claim, comment=body.comment, author=author
        )
        with self._store.reading(caller.tenant) as connection:
            newest, _ = read_feedback(connection, caller.tenant, run=id)
            stored = next(one for one in newest if one.id == feedback_id)
        response.headers["location"] = f"/v1/feedback?report={id}"
        return _feedback_item(stored)

    def feedback(
        self,
        request: Request,
        report: Annotated[Text | None, Query(description="Of one report.", max_length=80)] = None,
        verdict: Annotated[Literal["wrong", "right"] | None, Query(description="Only this.")] = None,
        since: Since = None,
        until: Until = None,
        after: Cursor = None,
        limit: Limit = 50,
    ) -> FeedbackOut:
        """Feedback on outputs, newest first."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            page, cursor = read_feedback(
                connection,
                caller.tenant,
                run=report,
                verdict=verdict,
                since=since,
                until=until,
                after=after,
                limit=limit,
            )
        return FeedbackOut(items=[_feedback_item(one) for one in page], next=cursor)

    def _require_report(self, tenant: str, id_: str) -> None:
        with self._store.reading(tenant) as connection:
            if not has_run(connection, tenant, report_id_or_404(id_)):
                raise unknown("report")


def report_id_or_404(id_: str) -> str:
    """The same id, if it has the form of the id of a report.

    Raises:
        ProblemError: it has not; the status is 404.
    """
    if not _REPORT_ID.fullmatch(id_):
        raise unknown("report")
    return id_


def _or_404(check: StoredCheck | None) -> StoredCheck:
    if check is None:
        raise unknown("report")
    return check


def _feedback_item(stored: StoredFeedback) -> FeedbackItem:
    return FeedbackItem(
        id=stored.id,
        report=stored.run,
        created=stored.created,
        verdict=stored.verdict,
        claim=stored.claim,
        comment=stored.comment,
        author=stored.author,
    )
