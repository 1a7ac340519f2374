"""`/console/review`: the queue of outputs that wait for a person, by deadline."""

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
from assay.server.console.layout import address, allowed, render
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
from assay.server.console.reviewing.assigning import bulk_view, read_only
from assay.server.console.views.run_rows import verdict_counts
from assay.server.services import Services
from assay.store.db import tables
from assay.store.insights import ClaimsSummary, describe
from assay.store.redteam import count_proposals
from assay.store.reviews import ReviewFilter, count_open_items, list_items

SHOWN: Final = 50
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
"""From so many seconds before its deadline on, an item is pressing."""
_DECIDED: Final = tuple(state.value for state in ReviewState if state.decided)
_PATH: Final = "/console/review"


def make_review_list(services: Services) -> APIRouter:
    """The page of the queue."""
    router = page_router()

    @router.get(_PATH)
    def queue(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        return _queue(request, services, caller)

    return router


def _queue(request: Request, services: Services, caller: Caller) -> Response:
    given, now = request.query_params, services.store.now()
    show = given.get("show", "waiting")
    wanted = _wanted(show, given.get("tier", ""), given.get("expertise", "").strip()[:60], caller, now)
    after = given.get("after", "")[:64] or None
    with services.store.reading(caller.tenant) as connection:
        items = list_items(connection, caller.tenant, wanted, after=after, limit=SHOWN + 1)
        waiting = count_open_items(connection, caller.tenant)
        proposed = count_proposals(connection, caller.tenant).get("open", 0)
        runs = [item.run for item in items]
        questions, about = _questions(connection, caller.tenant, runs), describe(connection, caller.tenant, runs)
    shown = items[:SHOWN]
    may = caller.may(Permission.REVIEW)
    chooses = may and show != "decided" and bool(shown)
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
        _row(item, questions.get(item.run), about.get(item.run, ClaimsSummary()), now, chooses=chooses)
        for item in shown
    )
    empty = _EMPTY.get(show, _EMPTY["waiting"])
    style = "rows chosen" if chooses else "rows"
    listed = tag(
        "div", table("Outputs that wait for a person", columns, rows, empty=empty, style=style), data_live=True
    )
    following = address(_PATH, **_kept(request), after=shown[-1].id) if len(items) > SHOWN else None
    return render(
        request,
        "Review",
        tag("div", _figures(waiting), data_live=True),
        _filters(request, show),
        None if may else read_only(),
        bulk_view(request, services.store, caller, listed) if chooses else listed,
        pager(following, address(_PATH, **_kept(request)) if after else None),
        current="review",
        scripts=("choose.js", "live.js"),
        actions=_proposals(proposed),
        about="The next deadline first. Nothing here goes out before somebody has decided.",
    )


def _proposals(count: int) -> Markup | None:
    """The way to what the red team proposes, where anything waits."""
    words = f"{count:,} {'proposal' if count == 1 else 'proposals'} of the red team"
    return tag("a", words, href="/console/redteam/proposals", class_="button") if count else None


_EMPTY: Final[dict[str, tuple[str, Child]]] = {
    "waiting": ("Nothing waits", "Outputs that the gate escalates wait here until a person has decided."),
    "mine": ("You have none", "Open one from the queue and take it: while you have it, nobody else can decide."),
    "overdue": ("Nothing is late", "No deadline has passed."),
    "decided": ("Nothing was decided yet", "Every decision stays here, with its reason."),
}


def _wanted(show: str, tier: str, expertise: str, caller: Caller, now: datetime) -> ReviewFilter:
    chosen = Tier(tier) if tier in set(Tier) else None
    known = expertise or None
    match show:
        case "mine":
            return ReviewFilter(tier=chosen, expertise=known, holder=caller.name)
        case "overdue":
            return ReviewFilter(tier=chosen, expertise=known, overdue_at=now)
        case "decided":
            return ReviewFilter(states=_DECIDED, tier=chosen, expertise=known)
        case _:
            return ReviewFilter(tier=chosen, expertise=known)


def _kept(request: Request) -> dict[str, str]:
    return {name: request.query_params.get(name, "")[:60] for name in ("show", "tier", "expertise")}


def _figures(waiting: dict[str, int]) -> Markup:
    return stats(
        stat("Waiting", f"{sum(waiting.values()):,}"),
        *(
            stat(
                tier.value.capitalize(),
                f"{waiting.get(tier.value, 0):,}",
                f"to decide in {TIER_WORDS[tier]}" if tier is not Tier.BLOCKING else "to decide at once",
                address(_PATH, tier=tier.value),
            )
            for tier in (Tier.BLOCKING, Tier.SYNC, Tier.ASYNC)
        ),
    )


def _filters(request: Request, show: str) -> Markup:
    kept = _kept(request)
    sorts = (("waiting", "Waiting"), ("mine", "Mine"), ("overdue", "Overdue"), ("decided", "Decided"))
    here = show if show in dict(sorts) else "waiting"
    choose = tabs("Which", ((words, address(_PATH, **{**kept, "show": key}), key == here) for key, words in sorts))
    tiers = [("", "Every tier"), *((tier.value, tier.value) for tier in Tier)]
    narrow = tag(
        "form",
        tag("input", type_="hidden", name_="show", value=here),
        field("Tier", select_field("tier", tiers, kept["tier"])),
        field("Expertise", text_input("expertise", kept["expertise"], placeholder="any", maxlength=60)),
        button("Filter"),
        class_="inline",
        method="get",
        action=_PATH,
        data_auto=True,
    )
    return tag("div", choose, narrow, class_="bar")


def _row(
    item: ReviewItem, question: str | None, about: ClaimsSummary, now: datetime, *, chooses: bool = False
) -> list[Child]:
    words = question or about.first_claim or "No question was given"
    deadline: Child = deadline_view(item, now)
    if chooses:
        label = f"Choose the item: {shorten(words, 80)}"
        box = tag("input", type_="checkbox", name_="item", value=item.id, aria_label=label, class_="choose")
        deadline = [box, deadline]
    link = tag("a", line(words, 160), href=f"{_PATH}/{item.id}", class_="row")
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
    """When an item has to be decided, or what was decided."""
    if item.state.decided:
        return badge(item.state.value, STATE_TONES[item.state])
    if item.deadline is None:
        return tag("span", "–")
    left = (item.deadline - now).total_seconds()
    words = f"{ago(item.deadline, now).removesuffix(' ago')} late" if left < 0 else ago(item.deadline, now)
    tone = "bad" if left < 0 else "doubt" if left < _SOON_S else "quiet"
    late = item.due <= now <= item.deadline
    return group(
        tag(
            "time",
            badge(words, tone),
            datetime=item.deadline.isoformat(timespec="seconds"),
            title=f"{item.deadline:%Y-%m-%d %H:%M:%S} UTC",
            data_due=now.isoformat(timespec="seconds"),
        ),
        tag("small", " late once", class_="bad") if late else None,
    )


def tier_badge(tier: Tier) -> Markup:
    """A tier of review."""
    return badge(tier.value, TIER_TONES[tier])


def holder_view(item: ReviewItem, now: datetime) -> Child:
    """Who has an item, or whom it was given to."""
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
    table_ = tables.runs.c
    rows = connection.execute(
        select(table_.id, table_.question).where(
            table_.tenant == tenant, table_.id.in_(ids), table_.question.is_not(None)
        )
    )
    return {row.id: row.question for row in rows}
