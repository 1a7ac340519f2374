"""The REST routes of the review queue.

A caller with the permission to read sees the queue, one with the permission to review acts on it, and the caller of a
check sees what was decided on their own output. A request that changes an item may name the version that it is about
(`If-Match`); a decision has to.
"""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request, Response
from starlette.responses import StreamingResponse

from assay.errors import ReviewError
from assay.schema import HallucinationReport, Permission, ReviewItem, ReviewState, coerce_evidence
from assay.schema.report_parts import Tier
from assay.server.caller import Caller, caller_of
from assay.server.http.downloads import download
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.reviews import MOST_WAIT_S
from assay.server.reviews.bodies import (
    AssignBody,
    DecisionBody,
    EditBody,
    EvidenceBody,
    ReasonBody,
    ReviewOut,
    ReviewsOut,
)
from assay.server.reviews.decision_waiter import DecisionWaiter
from assay.server.reviews.service import ReviewService, make_review_service
from assay.server.services import Services, allowed
from assay.store.reviews import OPEN_STATES, Reviewer, ReviewFilter, count_open_items, list_items, rows_by

T = TypeVar("T")
MOST_ITEMS: Final = 200
"""The largest page of the queue."""
_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})"')
REVIEW_STATUS: Final = {"missing": 404, "stale": 412, "held": 409, "decided": 409, "refused": 422}
"""The HTTP status for each code of a `ReviewError`."""

Id = Annotated[
    str, Path(alias="id", description="The id of the item, which is that of the report.", pattern="^[0-9a-f]{32}$")
]
RowSource = Annotated[
    Literal["reviews", "feedback", "all"], Query(description="Decisions of reviewers, feedback of users, or both.")
]
IfMatch = Annotated[str | None, Header(description="The ETag of the item that the request is about.")]
Wait = Annotated[float, Query(description="Seconds to wait for a decision.", ge=0, le=MOST_WAIT_S)]


def make_reviews_router(services: Services, waiter: DecisionWaiter | None = None) -> APIRouter:
    """The routes over the store of a server; `waiter` is shared with the other routes that wait for decisions."""
    service = make_review_service(services)
    routes = _Routes(services, service, waiter or DecisionWaiter(service))
    router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
    read_errors, act_errors = documented(401, 403, 404, 422, 503), documented(401, 403, 404, 409, 412, 422, 503)
    router.get("", responses=documented(401, 403, 422, 503))(routes.list)
    router.get("/events", responses={**_STREAM_RESPONSE, **documented(401, 403, 422, 503)})(routes.queue_events)
    router.get("/rows", responses={**_ROWS_RESPONSE, **documented(401, 403, 422, 503)})(routes.rows)
    router.get("/{id}", responses=read_errors, response_model=ReviewOut)(routes.get)
    router.get("/{id}/events", responses={**_STREAM_RESPONSE, **read_errors})(routes.events)
    router.post("/{id}/claim", responses=act_errors, response_model=ReviewItem)(routes.claim)
    router.post("/{id}/release", responses=act_errors, response_model=ReviewItem)(routes.release)
    router.post("/{id}/assign", responses=act_errors, response_model=ReviewItem)(routes.assign)
    router.post("/{id}/check", responses=act_errors, response_model=HallucinationReport)(routes.check)
    router.post("/{id}/decision", responses={**act_errors, **documented(428)}, response_model=ReviewItem)(routes.decide)
    router.post("/{id}/evidence", responses=act_errors, response_model=ReviewItem)(routes.supply)
    return router


_STREAM_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}
_ROWS_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "JSON Lines.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}


def reviewer_of(caller: Caller) -> Reviewer:
    """The reviewer that a caller is. The prefix keeps an API key apart from a user of the same name."""
    name = f"key:{caller.name}" if caller.kind == "key" else caller.name
    return Reviewer(name, frozenset(caller.expertise), caller.may(Permission.ADMINISTER))


class _Routes:
    def __init__(self, services: Services, service: ReviewService, waiter: DecisionWaiter) -> None:
        self._services, self._review_service, self._waiter = services, service, waiter

    # Reading

    def list(
        self,
        request: Request,
        state: Annotated[
            list[ReviewState] | None, Query(description="In these states; by default those that wait.")
        ] = None,
        tier: Tier | None = None,
        expertise: Annotated[str | None, Query(max_length=100)] = None,
        mine: Annotated[bool, Query(description="Those that the caller holds or is assigned.")] = False,
        overdue: Annotated[bool, Query(description="Those whose first deadline has passed.")] = False,
        cursor: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_ITEMS)] = 50,
    ) -> ReviewsOut:
        """The queue: waiting items by their next deadline, decided ones with the newest first."""
        caller = allowed(request.scope, Permission.READ)
        store = self._services.store
        states = OPEN_STATES if state is None else tuple(one.value for one in state)
        review_filter = ReviewFilter(
            states,
            tier,
            expertise,
            reviewer_of(caller).name if mine else None,
            overdue_at=store.now() if overdue else None,
        )
        with store.reading(caller.tenant) as connection:
            items = list_items(connection, caller.tenant, review_filter, after=cursor, limit=limit + 1)
            waiting = count_open_items(connection, caller.tenant)
        more = len(items) > limit
        return ReviewsOut(items=items[:limit], next=items[limit - 1].id if more else None, waiting=waiting)

    async def get(self, request: Request, response: Response, id_: Id, wait: Wait = 0.0) -> ReviewOut:
        """One item; with `wait`, the answer comes when the item is decided or the time is up."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._review_service.item, caller.tenant, id_)
        may_read = caller.may(Permission.READ)
        if item is None or not (may_read or item.caller == caller.name):
            raise unknown("review")
        if wait > 0 and not item.state.decided:
            item = await self._waiter.wait_for_decision(caller.tenant, id_, wait) or item
        if item.state.released:
            item = await asyncio.to_thread(self._review_service.item_with_receipt, caller.tenant, id_)
        response.headers["etag"] = f'"{item.version}"'
        return await asyncio.to_thread(self._out, item, may_read)

    def _out(self, item: ReviewItem, may_read: bool) -> ReviewOut:
        answer = self._review_service.final_report(item)
        if not may_read:
            # The caller of the check gets the decision, but neither the reviewer's name nor the reason.
            return ReviewOut(item=_without_reviewer(item), report=answer)
        package = self._review_service.package(item.tenant, item.id)
        return ReviewOut(
            item=item, package=package, events=self._review_service.events(item.tenant, item.id), report=answer
        )

    async def events(self, request: Request, id_: Id) -> Response:
        """The changes of one item, as server-sent events; the stream ends with the decision."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._review_service.item, caller.tenant, id_)
        if item is None or not (caller.may(Permission.READ) or item.caller == caller.name):
            raise unknown("review")
        return _stream(self._waiter.item_events(caller.tenant, id_))

    async def queue_events(
        self,
        request: Request,
        since: Annotated[int | None, Query(ge=0, le=2**62, description="The id of the last event seen.")] = None,
        last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,18}$")] = None,
    ) -> Response:
        """Every change of the queue, as server-sent events."""
        caller = allowed(request.scope, Permission.READ)
        begin = int(last_event_id) if last_event_id is not None else since
        return _stream(self._waiter.queue_events(caller.tenant, begin))

    def rows(self, request: Request, source: RowSource = "reviews") -> Response:
        """Decisions of reviewers or feedback of users as labelled rows in JSON Lines, which `assay calibrate` reads."""
        caller = allowed(request.scope, Permission.REVIEW)
        with self._services.store.reading(caller.tenant) as connection:
            rows = rows_by(source, connection, caller.tenant)
            return download((json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "application/x-ndjson")

    # Acting

    async def claim(self, request: Request, response: Response, id_: Id, if_match: IfMatch = None) -> ReviewItem:
        """Claim an item for a limited time; claim it again to hold it for longer."""
        caller = allowed(request.scope, Permission.REVIEW)
        version = _version(if_match)
        reviewer = reviewer_of(caller)
        return await self._run_action(
            response, lambda: self._review_service.reviews.claim(caller.tenant, id_, reviewer, version)
        )

    async def release(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: ReasonBody | None = None,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Release an item that you hold."""
        caller = allowed(request.scope, Permission.REVIEW)
        version, reason, reviewer = _version(if_match), None if body is None else body.reason, reviewer_of(caller)
        return await self._run_action(
            response, lambda: self._review_service.reviews.release(caller.tenant, id_, reviewer, reason, version)
        )

    async def assign(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: AssignBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Assign an item to a reviewer, or to the reviewers with some expertise."""
        caller = allowed(request.scope, Permission.REVIEW)
        version, name = _version(if_match), reviewer_of(caller).name

        def work() -> ReviewItem:
            return self._review_service.reviews.assign(
                caller.tenant, id_, name, to=body.to, expertise=body.expertise, reason=body.reason, version=version
            )

        return await self._run_action(response, work)

    async def check(self, request: Request, id_: Id, body: EditBody) -> HallucinationReport:
        """Check a text in place of the output, as `edit` would; nothing is decided."""
        caller = allowed(request.scope, Permission.REVIEW)
        return await self._run_check(lambda: self._review_service.check_edit(caller.tenant, id_, body.text))

    async def decide(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: DecisionBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Make the final decision, or ask the caller for evidence."""
        caller = allowed(request.scope, Permission.REVIEW)
        version = _version(if_match)
        if version is None:
            raise ProblemError(
                428,
                "expected If-Match with the ETag of the item that was decided on, got none",
                code="version.needed",
                todo="Send the ETag that GET gave.",
            )
        tenant, reviewer, service = caller.tenant, reviewer_of(caller), self._review_service
        if body.act == "edit":
            if body.text is None:
                raise ProblemError(422, "expected `text`, the text to release", code="input.invalid")
            edited = body.text
            report = await self._run_check(lambda: service.check_edit(tenant, id_, edited))
        common: dict[str, Any] = {
            "claims": {int(position): verdict for position, verdict in body.claims.items()},
            "version": version,
        }

        def work() -> ReviewItem:
            match body.act:
                case "approve":
                    return service.approve(tenant, id_, reviewer, body.reason, **common)
                case "edit":
                    return service.edit(tenant, id_, reviewer, body.reason, report, accept=body.accept, **common)
                case "reject":
                    return service.reject(tenant, id_, reviewer, body.reason, response=body.response, **common)
                case _:
                    return service.reviews.ask(tenant, id_, reviewer, body.reason, version)

        return await self._run_action(response, work)

    async def supply(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: EvidenceBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Supply the evidence that a reviewer asked for. The output is checked again and still waits for a decision."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._review_service.item, caller.tenant, id_)
        own = item is not None and item.caller == caller.name and caller.may(Permission.CHECK)
        if item is None or not (own or caller.may(Permission.REVIEW)):
            raise unknown("review")
        evidence, version = coerce_evidence(body.evidence), _version(if_match)
        report = await self._run_check(lambda: self._review_service.check_with_evidence(caller.tenant, id_, evidence))
        name = reviewer_of(caller).name
        return await self._run_action(
            response, lambda: self._review_service.reviews.supply(caller.tenant, id_, name, evidence, report, version)
        )

    async def _run_action(self, response: Response, work: Callable[[], ReviewItem]) -> ReviewItem:
        item = await asyncio.to_thread(_with_problems, work)
        self._waiter.wakeup.wake_all()
        response.headers["etag"] = f'"{item.version}"'
        return item

    async def _run_check(self, work: Callable[[], HallucinationReport]) -> HallucinationReport:
        """Runs a check on the threads for checks. A refusal of the review queue is not a failure of the check."""

        def result_or_refusal() -> HallucinationReport | ReviewError:
            try:
                return work()
            except ReviewError as error:
                return error

        result = await self._services.checker.run(result_or_refusal)
        if isinstance(result, ReviewError):
            raise _problem(result)
        return result


def _without_reviewer(item: ReviewItem) -> ReviewItem:
    """An item without the names of reviewers and the reasons that they gave."""
    hidden: dict[str, Any] = {"holder": None, "assignee": None, "expertise": None, "held_until": None}
    if item.outcome is not None:
        hidden["outcome"] = item.outcome.model_copy(update={"actor": "reviewer", "reason": "", "claims": {}})
    return item.model_copy(update=hidden)


def _with_problems(work: Callable[[], T]) -> T:
    """Raises a `ReviewError` as the problem document that it is on REST routes."""
    try:
        return work()
    except ReviewError as error:
        raise _problem(error) from error


def _problem(error: ReviewError) -> ProblemError:
    if error.code == "missing":
        return unknown("review")
    return ProblemError(
        REVIEW_STATUS.get(error.code, 422), str(error), code=f"review.{error.code}", todo=_ADVICE[error.code]
    )


_ADVICE: Final = {
    "stale": "Read the item again, and decide on it as it is now.",
    "held": "Wait until it is given back or its lease ends, or ask an administrator.",
    "decided": "Read the item: its outcome says what was decided.",
    "refused": "Mend what the detail names.",
}


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    etag = _ETAG.fullmatch(if_match.strip())
    if etag is None:
        raise ProblemError(412, "expected in If-Match the ETag that the item was given with", code="review.stale")
    return int(etag[1])


def _stream(events: Any) -> Response:
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)
