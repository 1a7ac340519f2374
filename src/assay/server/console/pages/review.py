"""`/console/review`: the queue of outputs that wait for a reviewer, by deadline."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission, ReviewItem, ReviewState
from assay.schema.report_parts import Tier
from assay.server.caller import Caller
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, hidden_input, render
from assay.server.console.parts import (
    Column,
    ago,
    badge,
    button,
    field,
    line,
    moment,
    number,
    pager,
    row_box,
    shorten,
    stat,
    stats,
    table,
    tabs,
    text_input,
)
from assay.server.console.parts import (
    select as select_field,
)
from assay.server.console.review_actions.assign import bulk_view, read_only
from assay.server.console.review_actions.confirm import PATH
from assay.server.console.views.run_rows import verdict_counts
from assay.server.services import Services
from assay.store.db import tables
from assay.store.insights import ClaimsSummary, describe
from assay.store.redteam import count_proposals
from assay.store.reviews import ReviewFilter, count_open_items, list_items

PAGE_SIZE: Final = 50
"""Items of one page."""
TIER_TONES: Final = {Tier.ASYNC: "quiet", Tier.SYNC: "doubt", Tier.BLOCKING: "bad"}
TIER_WORDS: Final = {Tier.ASYNC: "hours", Tier.SYNC: "minutes", Tier.BLOCKING: "at once"}
STATE_TONES: Final = {
    ReviewState.OPEN: "accent",
    ReviewState.EVIDENCE: "doubt",
    ReviewState.APPROVED: "good",
    ReviewState.EDITED: "good",
    ReviewState.REJECTED: "bad",
    ReviewState.ERASED: "quiet",
}
_SOON_S: Final = 900
"""An item is highlighted from this many seconds before its deadline on."""
_DECIDED: Final = tuple(state.value for state in ReviewState if state.decided)


def make_review_list(services: Services) -> APIRouter:
    """The page of the queue."""
    router = page_router()

    @router.get(PATH)
    def queue(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        return _queue(request, services, caller)

    return router


def _queue(request: Request, services: Services, caller: Caller) -> Response:
    query, now = request.query_params, services.store.now()
    show = query.get("show", "waiting")
    filters = _filter(show, query.get("tier", ""), query.get("expertise", "").strip()[:60], caller, now)
    after = query.get("after", "")[:64] or None
    with services.store.reading(caller.tenant) as connection:
        items = list_items(connection, caller.tenant, filters, after=after, limit=PAGE_SIZE + 1)
        waiting = count_open_items(connection, caller.tenant)
        proposed = count_proposals(connection, caller.tenant).get("open", 0)
        runs = [item.run for item in items]
        questions, about = _questions(connection, caller.tenant, runs), describe(connection, caller.tenant, runs)
    shown = items[:PAGE_SIZE]
    may_review = caller.may(Permission.REVIEW)
    selectable = may_review and show != "decided" and bool(shown)
    columns = (
        Column("Deadline"),
        Column("What was asked", "main"),
        Column("Claims", "less"),
        Column("Tier"),
        Column("Risk", "num less"),
        Column("Who has it"),
        Column("Since", "num less"),
    )
    rows = (
        _row(item, questions.get(item.run), about.get(item.run, ClaimsSummary()), now, selectable=selectable)
        for item in shown
    )
    empty = _EMPTY.get(show, _EMPTY["waiting"])
    style = "rows chosen" if selectable else "rows"
    listed = tag(
        "div", table("Outputs that wait for a person", columns, rows, empty=empty, style=style), data_live=True
    )
    following = address(PATH, **_query_of(request), after=shown[-1].id) if len(items) > PAGE_SIZE else None
    return render(
        request,
        "Review",
        tag("div", _figures(waiting), data_live=True),
        _filter_form(request, show),
        None if may_review else read_only(),
        bulk_view(request, services.store, caller, listed) if selectable else listed,
        pager(following, address(PATH, **_query_of(request)) if after else None),
        current="review",
        scripts=("choose.js", "live.js"),
        actions=_proposals(proposed),
        about="The next deadline first. Nothing here goes out before somebody has decided.",
    )


def _proposals(count: int) -> Markup | None:
    """The link to the open proposals of the red team; `None` if there are none."""
    words = f"{count:,} {'proposal' if count == 1 else 'proposals'} of the red team"
    return tag("a", words, href="/console/redteam/proposals", class_="button") if count else None


_EMPTY: Final[dict[str, tuple[str, Child]]] = {
    "waiting": ("Nothing waits", "Outputs that the gate escalates wait here until a person has decided."),
    "mine": ("You have none", "Open one from the queue and take it: while you have it, nobody else can decide."),
    "overdue": ("Nothing is late", "No deadline has passed."),
    "decided": ("Nothing was decided yet", "Every decision stays here, with its reason."),
}


def _filter(show: str, tier: str, expertise: str, caller: Caller, now: datetime) -> ReviewFilter:
    chosen_tier = Tier(tier) if tier in set(Tier) else None
    needed_expertise = expertise or None
    match show:
        case "mine":
            return ReviewFilter(tier=chosen_tier, expertise=needed_expertise, holder=caller.name)
        case "overdue":
            return ReviewFilter(tier=chosen_tier, expertise=needed_expertise, overdue_at=now)
        case "decided":
            return ReviewFilter(states=_DECIDED, tier=chosen_tier, expertise=needed_expertise)
        case _:
            return ReviewFilter(tier=chosen_tier, expertise=needed_expertise)


def _query_of(request: Request) -> dict[str, str]:
    """The filters of a request as parameters of an address."""
    return {name: request.query_params.get(name, "")[:60] for name in ("show", "tier", "expertise")}


def _figures(waiting: dict[str, int]) -> Markup:
    return stats(
        stat("Waiting", f"{sum(waiting.values()):,}"),
        *(
            stat(
                tier.value.capitalize(),
                f"{waiting.get(tier.value, 0):,}",
                f"to decide in {TIER_WORDS[tier]}" if tier is not Tier.BLOCKING else "to decide at once",
                address(PATH, tier=tier.value),
            )
            for tier in (Tier.BLOCKING, Tier.SYNC, Tier.ASYNC)
        ),
    )


def _filter_form(request: Request, show: str) -> Markup:
    filters = _query_of(request)
    views = (("waiting", "Waiting"), ("mine", "Mine"), ("overdue", "Overdue"), ("decided", "Decided"))
    current = show if show in dict(views) else "waiting"
    entries = ((words, address(PATH, **{**filters, "show": key}), key == current) for key, words in views)
    view_tabs = tabs("Which", entries)
    tiers = [("", "Every tier"), *((tier.value, tier.value) for tier in Tier)]
    filter_form = tag(
        "form",
        hidden_input("show", current),
        field("Tier", select_field("tier", tiers, filters["tier"])),
        field("Expertise", text_input("expertise", filters["expertise"], placeholder="any", maxlength=60)),
        button("Filter"),
        class_="inline",
        method="get",
        action=PATH,
        data_auto=True,
    )
    return tag("div", view_tabs, filter_form, class_="bar")


def _row(
    item: ReviewItem, question: str | None, about: ClaimsSummary, now: datetime, *, selectable: bool = False
) -> list[Child]:
    words = question or about.first_claim or "No question was given"
    deadline: Child = deadline_view(item, now)
    if selectable:
        label = f"Choose the item: {shorten(words, 80)}"
        deadline = [row_box("item", item.id, label), deadline]
    link = tag("a", line(words, 160), href=f"{PATH}/{item.id}", class_="row")
    return [
        deadline,
        link,
        verdict_counts(about.verdicts),
        tier_badge(item.tier),
        number(item.risk),
        holder_view(item, now),
        moment(item.created, now),
    ]


def deadline_view(item: ReviewItem, now: datetime) -> Markup:
    """The deadline of an item, or its state if it is decided."""
    if item.state.decided:
        return badge(item.state.value, STATE_TONES[item.state])
    if item.deadline is None:
        return tag("span", "–")
    left = (item.deadline - now).total_seconds()
    words = f"{ago(item.deadline, now).removesuffix(' ago')} late" if left < 0 else ago(item.deadline, now)
    tone = "bad" if left < 0 else "doubt" if left < _SOON_S else "quiet"
    extended = item.due <= now <= item.deadline
    return group(
        tag(
            "time",
            badge(words, tone),
            datetime=item.deadline.isoformat(timespec="seconds"),
            title=f"{item.deadline:%Y-%m-%d %H:%M:%S} UTC",
            data_due=now.isoformat(timespec="seconds"),
        ),
        tag("small", " late once", class_="bad") if extended else None,
    )


def tier_badge(tier: Tier) -> Markup:
    """The badge of a tier."""
    return badge(tier.value, TIER_TONES[tier])


def holder_view(item: ReviewItem, now: datetime) -> Child:
    """Who decided an item, holds it, or is assigned to it."""
    if item.state.decided:
        return foreign((item.outcome.actor if item.outcome else "–")[:60])
    if item.state is ReviewState.EVIDENCE:
        return badge("waits for evidence", "doubt")
    if item.holder is not None and item.held_until is not None and item.held_until > now:
        return group(foreign(item.holder[:60], "b"), tag("small", f" until {item.held_until:%H:%M} UTC", class_="soft"))
    if item.assignee is not None:
        return group("for ", foreign(item.assignee[:60]))
    return tag("span", f"anyone who knows {item.expertise}"[:80] if item.expertise else "nobody", class_="soft")


def _questions(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, str]:
    columns = tables.runs.c
    rows = connection.execute(
        select(columns.id, columns.question).where(
            columns.tenant == tenant, columns.id.in_(ids), columns.question.is_not(None)
        )
    )
    return {row.id: row.question for row in rows}
