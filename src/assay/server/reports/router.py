"""`/v1/reports` and `/v1/feedback`: what was checked, what belongs to it, and what people say of it."""

import json
import re
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from assay.schema import Permission
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.patterns import SAYS_SOMETHING
from assay.server.reports.values import (
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

_ID: Final = re.compile(r"[0-9a-f]{32}")
_SEEN: Final = documented(401, 403, 404, 422, 429, 503)


def make_reports_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(tags=["reports"]), _Reports(services)
    listed = documented(401, 403, 422, 429, 503)
    router.get("/v1/reports", responses=listed)(routes.reports)
    router.get("/v1/reports/{id}", responses=_SEEN)(routes.report)
    router.delete("/v1/reports/{id}", responses=_SEEN)(routes.erase)
    router.get("/v1/reports/{id}/claims", responses=_SEEN)(routes.claims)
    router.get("/v1/reports/{id}/evidence", responses=_SEEN)(routes.evidence)
    router.get("/v1/reports/{id}/tool-calls", responses=_SEEN)(routes.tool_calls)
    router.get("/v1/reports/{id}/receipts", responses=_SEEN)(routes.receipts)
    router.get("/v1/reports/{id}/entries", responses=_SEEN)(routes.entries)
    errors = documented(401, 403, 404, 413, 422, 429, 503)
    router.post("/v1/reports/{id}/feedback", status_code=201, responses=errors)(routes.say)
    router.get("/v1/feedback", responses=listed)(routes.feedback)
    return router


class _Reports:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def reports(self, request: Request, filters: Annotated[Filters, Query()]) -> ReportsOut:
        """Reports, newest first: filtered, and searched by the words of their questions and outputs."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            page = read_page(connection, caller.tenant, filters.wanted(), filters.after, filters.limit)
        return ReportsOut(items=[ReportLine.of(line) for line in page.items], next=page.next, reached=page.reached)

    def report(self, request: Request, id: str) -> CheckOut:  # noqa: A002 the name in the path
        """A check: what it was given, its report, and what was decided."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            found = _found(read_check(connection, caller.tenant, known_id(id)))
            decisions = read_decisions(connection, caller.tenant, found.run)
        return CheckOut.of(
            found,
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
                description="Why; kept in the log, so it must name nobody.",
            ),
        ] = "request",
        of: Annotated[
            Literal["content", "evidence"], Query(description="All content, or the stored evidence alone.")
        ] = "content",
    ) -> ErasedOut:
        """Erase what a check was given and what was found; the log stays provable and says that it was erased."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        self._known(caller.tenant, id)
        erase = erase_runs if of == "content" else erase_evidence
        erased = erase(self._store, [id], reason, caller.tenant)
        return ErasedOut(reports=list(erased.runs), entries=list(erased.entries))

    def claims(self, request: Request, id: str) -> ClaimsOut:  # noqa: A002 the name in the path
        """The claims of a report, with the passages that decide."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            found = _found(read_check(connection, caller.tenant, known_id(id)))
            rows = read_claims(connection, caller.tenant, found.id)
        reported = found.report.claims if found.report is not None else ()
        items = []
        for number, row in enumerate(rows):
            claim = reported[number] if number < len(reported) else None
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
            found = _found(read_check(connection, caller.tenant, known_id(id)))
        return EvidenceOut(
            items=[EvidenceItem(id=name, digest=digest, evidence=one) for name, digest, one in found.evidence]
        )

    def tool_calls(self, request: Request, id: str) -> ToolCallsOut:  # noqa: A002 the name in the path
        """The tool calls of a report, with where each argument comes from."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            found = _found(read_check(connection, caller.tenant, known_id(id)))
            rows = read_tool_calls(connection, caller.tenant, found.id)
        reported = found.report.tool_call_validations if found.report is not None else ()
        return ToolCallsOut(
            items=[
                ToolCallItem(
                    position=row.position,
                    tool=row.tool,
                    status=row.status,
                    errors=row.errors,
                    step=row.step,
                    executed=row.executed,
                    validation=reported[number] if number < len(reported) else None,
                )
                for number, row in enumerate(rows)
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
        """Everything that the audit log tells of a report."""
        caller = allowed(request.scope, Permission.READ)
        entries = self._entries(caller.tenant, id)
        return EntriesOut(items=[EntryOut(index=index, kind=kind, entry=data) for index, kind, data in entries])

    def _entries(self, tenant: str, id_: str) -> list[tuple[int, str, str]]:
        with self._store.reading(tenant) as connection:
            run = run_of(connection, tenant, known_id(id_))
            if not has_run(connection, tenant, run):
                raise unknown("report")
            entries = entries_of(connection, tenant, run)
        return [(index, str(read_entry_data(data)["kind"]), data.decode()) for index, data in entries]

    def say(self, request: Request, response: Response, id: str, body: FeedbackBody) -> FeedbackItem:  # noqa: A002
        """Say that an output, or one claim of it, is wrong or right."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        self._known(caller.tenant, id)
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
        made = give_feedback(
            self._store, id, body.verdict, tenant=caller.tenant, claim=body.claim, comment=body.comment, author=author
        )
        with self._store.reading(caller.tenant) as connection:
            said = next(one for one in read_feedback(connection, caller.tenant, run=id)[0] if one.id == made)
        response.headers["location"] = f"/v1/feedback?report={id}"
        return _item(said)

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
        """What people said of outputs, newest first."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            found, following = read_feedback(
                connection,
                caller.tenant,
                run=report,
                verdict=verdict,
                since=since,
                until=until,
                after=after,
                limit=limit,
            )
        return FeedbackOut(items=[_item(one) for one in found], next=following)

    def _known(self, tenant: str, id_: str) -> None:
        with self._store.reading(tenant) as connection:
            if not has_run(connection, tenant, known_id(id_)):
                raise unknown("report")


def known_id(id_: str) -> str:
    """The id of a report, if it can be one.

    Raises:
        ProblemError: it cannot: 404.
    """
    if not _ID.fullmatch(id_):
        raise unknown("report")
    return id_


def _found(check: StoredCheck | None) -> StoredCheck:
    if check is None:
        raise unknown("report")
    return check


def _item(said: StoredFeedback) -> FeedbackItem:
    return FeedbackItem(
        id=said.id,
        report=said.run,
        created=said.created,
        verdict=said.verdict,
        claim=said.claim,
        comment=said.comment,
        author=said.author,
    )
