"""Assigning review items to a reviewer, one item or several at once."""

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import ReviewError
from assay.reporting import Markup
from assay.schema import Permission
from assay.schema.escalation import ReviewItem
from assay.server.caller import Caller
from assay.server.console.errors import REFUSAL_STATUS, error_page, page_router
from assay.server.console.layout import allowed, form, hidden_input, read_form, read_form_fields, redirect, whole_number
from assay.server.console.parts import bulk_actions, button, details, field, note, select
from assay.server.console.review_actions.confirm import PATH
from assay.server.reviews.router import reviewer_of
from assay.server.services import Services
from assay.store.db import Store
from assay.store.reviews import Reviews, reviewers

MOST_CHOSEN: Final = 100
"""The most items that can be assigned at once."""
NOBODY: Final = ""
"""The choice of no particular reviewer."""


def make_assign_routes(services: Services) -> APIRouter:
    """The routes that assign, claim and release items."""
    router, queue = page_router(), Reviews(services.store)

    @router.post(f"{PATH}/bulk")
    async def bulk(request: Request) -> Response:
        caller = allowed(request, Permission.REVIEW)
        pairs = await read_form_fields(request)
        ids = list(dict.fromkeys(value for name, value in pairs if name == "item"))
        fields = dict(pairs)
        if not ids:
            return redirect(PATH, "runs.none")
        if len(ids) > MOST_CHOSEN:
            raise HTTPException(422, f"expected at most {MOST_CHOSEN} items at once, got {len(ids)}")
        failed = await run_in_threadpool(_apply, queue, caller, ids, fields)
        return redirect(PATH, "review.some" if failed else "review.assign")

    @router.post(f"{PATH}/{{id_}}/assign")
    async def assign(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.REVIEW)
        fields = await read_form(request)
        try:
            await run_in_threadpool(
                queue.assign,
                caller.tenant,
                id_,
                caller.name,
                to=_assignee(services.store, caller, fields.get("to", "")),
                version=whole_number(fields.get("version")),
            )
        except ReviewError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "review")
        return redirect(f"{PATH}/{id_}", "review.assign")

    return router


def _apply(queue: Reviews, caller: Caller, ids: Sequence[str], fields: dict[str, str]) -> int:
    """Assigns, claims or releases items; returns the number of items for which the queue refused it."""
    act, failed = fields.get("act", ""), 0
    reviewer = reviewer_of(caller)
    to = _assignee(queue.store, caller, fields.get("to", "")) if act == "assign" else None
    for id_ in ids:
        try:
            match act:
                case "assign":
                    queue.assign(caller.tenant, id_, caller.name, to=to)
                case "claim":
                    queue.claim(caller.tenant, id_, reviewer)
                case "release":
                    queue.release(caller.tenant, id_, reviewer)
                case _:
                    raise HTTPException(422, "expected one of the acts assign, claim, release")
        except ReviewError:
            # Somebody else holds the item or it is decided: the page says so, and the other items are not affected.
            failed += 1
    return failed


def _assignee(store: Store, caller: Caller, name: str) -> str | None:
    """The name of a reviewer, after checking it; `None` for no particular one.

    Raises:
        HTTPException: no user with this name may review.
    """
    if name == NOBODY:
        return None
    if name != caller.name and name not in {one for one, _ in _reviewers(store, caller.tenant)}:
        raise HTTPException(422, "expected somebody of this tenant who may review")
    return name


def _reviewers(store: Store, tenant: str) -> list[tuple[str, frozenset[str]]]:
    with store.reading(tenant) as connection:
        return reviewers(connection, tenant)


def reviewer_choice(store: Store, caller: Caller, chosen: str | None = None) -> Markup:
    """The field that chooses the reviewer to assign items to."""
    people = _reviewers(store, caller.tenant)
    names = [(name, f"{name} ({', '.join(sorted(fields))})" if fields else name) for name, fields in people]
    if caller.name not in dict(names):
        names.append((caller.name, caller.name[:80]))
    return select("to", [(NOBODY, "Anyone"), *names], chosen or NOBODY)


def assign_view(request: Request, store: Store, caller: Caller, item: ReviewItem) -> Markup:
    """The form that assigns one item."""
    version = hidden_input("version", item.version)
    chosen = field("For", reviewer_choice(store, caller, item.assignee))
    assign = form(request, f"{PATH}/{item.id}/assign", version, chosen, button("Hand it on"), class_="inline")
    return details("Hand it on to somebody", assign)


def bulk_view(request: Request, store: Store, caller: Caller, rows: Markup) -> Markup:
    """Rows with checkboxes, and the actions for the chosen items; none of these decides anything."""
    acts = (
        field("For", reviewer_choice(store, caller)),
        button("Hand them on", name_="act", value="assign"),
        button("Take them", name_="act", value="claim"),
        button("Give them back", name_="act", value="release"),
    )
    return form(request, f"{PATH}/bulk", rows, bulk_actions("With the chosen items", acts), data_choose=True)


def read_only() -> Markup:
    """The note in place of the actions for a caller who may not review."""
    return note(
        "quiet",
        "You may read this and decide nothing: your role has not the permission to review. "
        "An administrator of your tenant can give it.",
    )
