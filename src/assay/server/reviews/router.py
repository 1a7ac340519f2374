"""The REST routes of the review queue.

Whoever may read sees the queue; whoever may review acts on it; whoever asked for a check sees what became of theirs.
Each act that changes an item may name the version that it is about (`If-Match`), a decision must.
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
from assay.server.reviews.bodies import (
    AssignBody,
    DecisionBody,
    EditBody,
    EvidenceBody,
    ReasonBody,
    ReviewOut,
    ReviewsOut,
)
from assay.server.reviews.service import ReviewService
from assay.server.reviews.waiting import MOST_WAIT_S, Waiting
from assay.server.services import Services, allowed
from assay.store.reviews import OPEN_STATES, Reviewer, ReviewFilter, Reviews, count_open_items, list_items, rows_by

T = TypeVar("T")
MOST: Final = 200
"""Items of one page."""
_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})"')
_STATUS: Final = {"missing": 404, "stale": 412, "held": 409, "decided": 409, "refused": 422}

Id = Annotated[
    str, Path(alias="id", description="The id of the item, which is that of the report.", pattern="^[0-9a-f]{32}$")
]
RowSource = Annotated[
    Literal["reviews", "feedback", "all"], Query(description="What reviewers decided, what users said, or both.")
]
IfMatch = Annotated[str | None, Header(description="The ETag of the item that the request is about.")]
Wait = Annotated[float, Query(description="Seconds to wait for a decision.", ge=0, le=MOST_WAIT_S)]


def make_reviews_router(services: Services, waiting: Waiting | None = None) -> APIRouter:
    """The routes over the store of a server; `waiting` is what else of it waits for decisions."""
    desk = review_service_of(services)
    routes = _Routes(services, desk, waiting or Waiting(desk))
    router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
    reading, acting = documented(401, 403, 404, 422, 503), documented(401, 403, 404, 409, 412, 422, 503)
    router.get("", responses=documented(401, 403, 422, 503))(routes.list)
    router.get("/events", responses={**_STREAM, **documented(401, 403, 422, 503)})(routes.queue_events)
    router.get("/rows", responses={**_ROWS, **documented(401, 403, 422, 503)})(routes.rows)
    router.get("/{id}", responses=reading, response_model=ReviewOut)(routes.get)
    router.get("/{id}/events", responses={**_STREAM, **reading})(routes.events)
    router.post("/{id}/claim", responses=acting, response_model=ReviewItem)(routes.claim)
    router.post("/{id}/release", responses=acting, response_model=ReviewItem)(routes.release)
    router.post("/{id}/assign", responses=acting, response_model=ReviewItem)(routes.assign)
    router.post("/{id}/check", responses=acting, response_model=HallucinationReport)(routes.check)
    router.post("/{id}/decision", responses={**acting, **documented(428)}, response_model=ReviewItem)(routes.decide)
    router.post("/{id}/evidence", responses=acting, response_model=ReviewItem)(routes.supply)
    return router


_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}
_ROWS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "JSON Lines.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}


def review_service_of(services: Services) -> ReviewService:
    """The desk of a server with a database."""
    return ReviewService(Reviews(services.store), services.guard_of)


def reviewer_of(caller: Caller) -> Reviewer:
    """A caller as the queue knows it. A key is never taken for the user of the same name."""
    name = f"key:{caller.name}" if caller.kind == "key" else caller.name
    return Reviewer(name, frozenset(caller.expertise), caller.may(Permission.ADMINISTER))


class _Routes:
    def __init__(self, services: Services, desk: ReviewService, waiting: Waiting) -> None:
        self._services, self._desk, self._waiting = services, desk, waiting

    # Reading

    def list(
        self,
        request: Request,
        state: Annotated[list[ReviewState] | None, Query(description="In these states; those that wait.")] = None,
        tier: Tier | None = None,
        expertise: Annotated[str | None, Query(max_length=100)] = None,
        mine: Annotated[bool, Query(description="Those that the caller has, or was given.")] = False,
        overdue: Annotated[bool, Query(description="Those whose first deadline has passed.")] = False,
        cursor: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    ) -> ReviewsOut:
        """The queue: the next deadline first; what was decided, the newest first."""
        caller = allowed(request.scope, Permission.READ)
        store = self._services.store
        states = OPEN_STATES if state is None else tuple(one.value for one in state)
        wanted = ReviewFilter(
            states,
            tier,
            expertise,
            reviewer_of(caller).name if mine else None,
            overdue_at=store.now() if overdue else None,
        )
        with store.reading(caller.tenant) as connection:
            items = list_items(connection, caller.tenant, wanted, after=cursor, limit=limit + 1)
            waiting = count_open_items(connection, caller.tenant)
        more = len(items) > limit
        return ReviewsOut(items=items[:limit], next=items[limit - 1].id if more else None, waiting=waiting)

    async def get(self, request: Request, response: Response, id_: Id, wait: Wait = 0.0) -> ReviewOut:
        """One item; with `wait`, once it is decided or the time is up."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._desk.item, caller.tenant, id_)
        may_read = caller.may(Permission.READ)
        if item is None or not (may_read or item.caller == caller.name):
            raise unknown("review")
        if wait > 0 and not item.state.decided:
            item = await self._waiting.decided(caller.tenant, id_, wait) or item
        if item.state.released:
            item = await asyncio.to_thread(self._desk.receipt, caller.tenant, id_)
        response.headers["etag"] = f'"{item.version}"'
        return await asyncio.to_thread(self._out, item, may_read)

    def _out(self, item: ReviewItem, whole: bool) -> ReviewOut:
        answer = self._desk.answer(item)
        if not whole:
            # Whoever asked for the check gets the decision, not who made it and what else was said.
            return ReviewOut(item=_for_others(item), report=answer)
        package = self._desk.package(item.tenant, item.id)
        return ReviewOut(item=item, package=package, events=self._desk.events(item.tenant, item.id), report=answer)

    async def events(self, request: Request, id_: Id) -> Response:
        """What becomes of one item, as server-sent events; the stream ends with the decision."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._desk.item, caller.tenant, id_)
        if item is None or not (caller.may(Permission.READ) or item.caller == caller.name):
            raise unknown("review")
        return _stream(self._waiting.of_item(caller.tenant, id_))

    async def queue_events(
        self,
        request: Request,
        since: Annotated[int | None, Query(ge=0, le=2**62, description="The id of the last event seen.")] = None,
        last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,18}$")] = None,
    ) -> Response:
        """Every change of the queue, as server-sent events."""
        caller = allowed(request.scope, Permission.READ)
        begin = int(last_event_id) if last_event_id is not None else since
        return _stream(self._waiting.of_queue(caller.tenant, begin))

    def rows(self, request: Request, source: RowSource = "reviews") -> Response:
        """What reviewers decided, or users said, as labelled rows in JSON Lines: `assay calibrate` reads them."""
        caller = allowed(request.scope, Permission.REVIEW)
        with self._services.store.reading(caller.tenant) as connection:
            rows = rows_by(source, connection, caller.tenant)
            return download((json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "application/x-ndjson")

    # Acting

    async def claim(self, request: Request, response: Response, id_: Id, if_match: IfMatch = None) -> ReviewItem:
        """Take an item for a while; again, to keep it for longer."""
        caller = allowed(request.scope, Permission.REVIEW)
        version = _version(if_match)
        who = reviewer_of(caller)
        return await self._acted(response, lambda: self._desk.reviews.claim(caller.tenant, id_, who, version))

    async def release(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: ReasonBody | None = None,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Give an item back."""
        caller = allowed(request.scope, Permission.REVIEW)
        version, reason, who = _version(if_match), None if body is None else body.reason, reviewer_of(caller)
        return await self._acted(response, lambda: self._desk.reviews.release(caller.tenant, id_, who, reason, version))

    async def assign(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: AssignBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Give an item to somebody, or to those who know a field."""
        caller = allowed(request.scope, Permission.REVIEW)
        version, name = _version(if_match), reviewer_of(caller).name

        def work() -> ReviewItem:
            return self._desk.reviews.assign(
                caller.tenant, id_, name, to=body.to, expertise=body.expertise, reason=body.reason, version=version
            )

        return await self._acted(response, work)

    async def check(self, request: Request, id_: Id, body: EditBody) -> HallucinationReport:
        """Check words in the place of the output, as `edit` would; nothing is decided."""
        caller = allowed(request.scope, Permission.REVIEW)
        return await self._checked(lambda: self._desk.edited(caller.tenant, id_, body.text))

    async def decide(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: DecisionBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Decide, once and for all; or ask the caller for evidence."""
        caller = allowed(request.scope, Permission.REVIEW)
        version = _version(if_match)
        if version is None:
            raise ProblemError(
                428,
                "expected If-Match with the ETag of the item that was decided on, got none",
                code="version.needed",
                todo="Send the ETag that GET gave.",
            )
        tenant, who, desk = caller.tenant, reviewer_of(caller), self._desk
        if body.act == "edit":
            if body.text is None:
                raise ProblemError(422, "expected `text`, the text to release", code="input.invalid")
            words = body.text
            found = await self._checked(lambda: desk.edited(tenant, id_, words))
        given: dict[str, Any] = {
            "claims": {int(place): verdict for place, verdict in body.claims.items()},
            "version": version,
        }

        def work() -> ReviewItem:
            match body.act:
                case "approve":
                    return desk.approve(tenant, id_, who, body.reason, **given)
                case "edit":
                    return desk.edit(tenant, id_, who, body.reason, found, accept=body.accept, **given)
                case "reject":
                    return desk.reject(tenant, id_, who, body.reason, response=body.response, **given)
                case _:
                    return desk.reviews.ask(tenant, id_, who, body.reason, version)

        return await self._acted(response, work)

    async def supply(
        self,
        request: Request,
        response: Response,
        id_: Id,
        body: EvidenceBody,
        if_match: IfMatch = None,
    ) -> ReviewItem:
        """Give evidence that a reviewer asked for: the output is checked again, and waits for a decision."""
        caller = caller_of(request.scope)
        item = await asyncio.to_thread(self._desk.item, caller.tenant, id_)
        own = item is not None and item.caller == caller.name and caller.may(Permission.CHECK)
        if item is None or not (own or caller.may(Permission.REVIEW)):
            raise unknown("review")
        evidence, version = coerce_evidence(body.evidence), _version(if_match)
        report = await self._checked(lambda: self._desk.with_evidence(caller.tenant, id_, evidence))
        name = reviewer_of(caller).name
        return await self._acted(
            response, lambda: self._desk.reviews.supply(caller.tenant, id_, name, evidence, report, version)
        )

    async def _acted(self, response: Response, work: Callable[[], ReviewItem]) -> ReviewItem:
        item = await asyncio.to_thread(_translating_errors, work)
        self._waiting.bell.ring()
        response.headers["etag"] = f'"{item.version}"'
        return item

    async def _checked(self, work: Callable[[], HallucinationReport]) -> HallucinationReport:
        """A check on the threads for checks; what the queue refuses is told apart from a check that failed."""

        def tried() -> HallucinationReport | ReviewError:
            try:
                return work()
            except ReviewError as error:
                return error

        found = await self._services.checker.run(tried)
        if isinstance(found, ReviewError):
            raise _problem(found)
        return found


def _for_others(item: ReviewItem) -> ReviewItem:
    """An item without who works on it and what they said."""
    hidden: dict[str, Any] = {"holder": None, "assignee": None, "expertise": None, "held_until": None}
    if item.outcome is not None:
        hidden["outcome"] = item.outcome.model_copy(update={"actor": "reviewer", "reason": "", "claims": {}})
    return item.model_copy(update=hidden)


def _translating_errors(work: Callable[[], T]) -> T:
    try:
        return work()
    except ReviewError as error:
        raise _problem(error) from error


def _problem(error: ReviewError) -> ProblemError:
    if error.code == "missing":
        return unknown("review")
    return ProblemError(_STATUS.get(error.code, 422), str(error), code=f"review.{error.code}", todo=_ADVICE[error.code])


_ADVICE: Final = {
    "stale": "Read the item again, and decide on it as it is now.",
    "held": "Wait until it is given back or its lease ends, or ask an administrator.",
    "decided": "Read the item: its outcome says what was decided.",
    "refused": "Mend what the detail names.",
}


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise ProblemError(412, "expected in If-Match the ETag that the item was given with", code="review.stale")
    return int(found[1])


def _stream(events: Any) -> Response:
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)
