"""Handing items on: to one person, one item or several at once."""

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import ReviewError
from assay.reporting import Markup, tag
from assay.schema import Permission
from assay.schema.escalation import ReviewItem
from assay.server.caller import Caller
from assay.server.console.errors import REFUSAL_STATUS, error_page, page_router
from assay.server.console.layout import allowed, form, hidden_input, read_form, read_form_fields, redirect, whole_number
from assay.server.console.parts import button, details, field, note, select
from assay.server.reviews.router import reviewer_of
from assay.server.services import Services
from assay.store.db import Store
from assay.store.reviews import Reviews, reviewers

PATH: Final = "/console/review"
MOST_CHOSEN: Final = 100
"""Items that may be handed on at once."""
NOBODY: Final = ""
"""Whom an item is given to that anyone may take."""


def make_assign_routes(services: Services) -> APIRouter:
    """The routes by which items are handed on."""
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
        failed = await run_in_threadpool(_hand_on, queue, caller, ids, fields)
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
                to=_known(services.store, caller, fields.get("to", "")),
                version=whole_number(fields.get("version")),
            )
        except ReviewError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "review")
        return redirect(f"{PATH}/{id_}", "review.assign")

    return router


def _hand_on(queue: Reviews, caller: Caller, ids: Sequence[str], fields: dict[str, str]) -> int:
    """Takes items, gives them back, or gives them to somebody; how many it could not be done with."""
    act, failed = fields.get("act", ""), 0
    reviewer = reviewer_of(caller)
    to = _known(queue.store, caller, fields.get("to", "")) if act == "assign" else None
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
            # Somebody else was quicker, or it was decided: the others are handed on all the same.
            failed += 1
    return failed


def _known(store: Store, caller: Caller, name: str) -> str | None:
    """Somebody who may review; none for nobody in particular.

    Raises:
        HTTPException: nobody of this name may.
    """
    if name == NOBODY:
        return None
    if name != caller.name and name not in {one for one, _ in _people(store, caller.tenant)}:
        raise HTTPException(422, "expected somebody of this tenant who may review")
    return name


def _people(store: Store, tenant: str) -> list[tuple[str, frozenset[str]]]:
    with store.reading(tenant) as connection:
        return reviewers(connection, tenant)


def people_choice(store: Store, caller: Caller, chosen: str | None = None) -> Markup:
    """A list of those whom an item may be given to."""
    people = _people(store, caller.tenant)
    names = [(name, f"{name} ({', '.join(sorted(fields))})" if fields else name) for name, fields in people]
    if caller.name not in dict(names):
        names.append((caller.name, caller.name[:80]))
    return select("to", [(NOBODY, "Anyone"), *names], chosen or NOBODY)


def assign_view(request: Request, store: Store, caller: Caller, item: ReviewItem) -> Markup:
    """Gives one item to somebody."""
    version = hidden_input("version", item.version)
    chosen = field("For", people_choice(store, caller, item.assignee))
    given = form(request, f"{PATH}/{item.id}/assign", version, chosen, button("Hand it on"), class_="inline")
    return details("Hand it on to somebody", given)


def bulk_view(request: Request, store: Store, caller: Caller, rows: Markup) -> Markup:
    """Rows with boxes, and what may be done with those that are chosen. Nothing is decided so."""
    acts = tag(
        "div",
        tag("p", "With the chosen items", class_="label", data_chosen=True, role="status"),
        tag(
            "div",
            field("For", people_choice(store, caller)),
            button("Hand them on", name_="act", value="assign"),
            button("Take them", name_="act", value="claim"),
            button("Give them back", name_="act", value="release"),
            class_="actions",
        ),
        class_="bulk",
        role="group",
        aria_label="With the chosen items",
    )
    return form(request, f"{PATH}/bulk", rows, acts, data_choose=True)


def read_only() -> Markup:
    """What who may not review is told."""
    return note(
        "quiet",
        "You may read this and decide nothing: your role has not the permission to review. "
        "An administrator of your tenant can give it.",
    )
