"""The list of runs, with filters, and search over what was asked and answered."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import GRAVITY, WORDS, Child, Markup, tag
from assay.schema import Action, Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render
from assay.server.console.parts import button, field, link_button, pager, select, text_input
from assay.server.console.views.run_rows import run_rows
from assay.server.services import Services
from assay.store.insights import describe
from assay.store.records import Page, ReportFilter, read_page

PAGE: Final = 50
"""Rows of one page."""
_PERIODS: Final = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_LONGEST_QUERY: Final = 300


_SCORES: Final = {"low": (None, 0.4), "middle": (0.4, 0.85), "high": (0.85, None)}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a list of runs is narrowed to; an empty text narrows nothing."""

    q: str = ""
    action: str = ""
    verdict: str = ""
    """At least one claim has it."""
    within: str = ""
    """One of the periods, counted back from now."""
    score: str = ""
    """One of the ranges of scores."""
    policy: str = ""
    caller: str = ""
    hour: str = ""
    """The first hour of a stretch, as `2026-03-04T12`, in UTC: where a chart leads to."""
    hours: str = ""
    """How many hours it has; one by default."""

    @property
    def active(self) -> bool:
        """Whether anything is narrowed."""
        return self != Filters()

    def address(self, after: str | None = None) -> str:
        """The list with these filters, from the place `after` on."""
        return address("/console/runs", **asdict(self), after=after)

    def wanted(self, now: datetime) -> ReportFilter:
        """The same as the store takes it."""
        low, high = _SCORES.get(self.score, (None, None))
        since = now - _PERIODS[self.within] if self.within else None
        until = None
        if self.hour:
            since = _hour(self.hour)
            until = since + timedelta(hours=int(self.hours or 1))
        return ReportFilter(
            words=self.q or None,
            action=self.action or None,
            verdict=self.verdict or None,
            policy=self.policy or None,
            caller=self.caller or None,
            since=since,
            until=until,
            min_score=low,
            max_score=high,
        )


def filters_of(request: Request) -> Filters:
    """The filters of an address; what they cannot be is told of.

    Raises:
        HTTPException: a filter has no such value.
    """
    given = {name: request.query_params.get(name, "").strip() for name in Filters.__dataclass_fields__}
    if len(given["q"]) > _LONGEST_QUERY:
        raise HTTPException(422, f"a search has at most {_LONGEST_QUERY} characters")
    for name, known in (
        ("action", [one.value for one in Action]),
        ("within", list(_PERIODS)),
        ("score", list(_SCORES)),
    ):
        if given[name] and given[name] not in known:
            raise HTTPException(422, f"the filter {name} is one of {', '.join(known)}")
    if given["hour"]:
        _hour(given["hour"])
    if given["hours"] and not (given["hours"].isascii() and given["hours"].isdigit() and len(given["hours"]) < 5):
        raise HTTPException(422, "hours are a whole number")
    return Filters(**given)


def _hour(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    except ValueError as error:
        raise HTTPException(422, "an hour is written as in 2026-03-04T12") from error


def make_run_list(services: Services) -> APIRouter:
    """The list at `/console/runs`."""
    router = page_router()
    store = services.store

    @router.get("/console/runs")
    def runs(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        filters, now = filters_of(request), store.now()
        after = request.query_params.get("after") or None
        with store.reading(caller.tenant) as connection:
            found = read_page(connection, caller.tenant, filters.wanted(now), after, PAGE)
            about = describe(connection, caller.tenant, [row.id for row in found.items])
        older = filters.address(found.next) if found.next is not None else None
        return render(
            request,
            "Runs",
            _form(filters),
            run_rows("Runs, newest first", found.items, about, now, _empty(filters, found)),
            pager(older, filters.address() if after else None, _told(found)),
            current="runs",
            about="Every output that was checked, newest first",
        )

    return router


def _told(found: Page) -> str:
    words = f"{len(found.items)} run{'' if len(found.items) == 1 else 's'}"
    if found.reached is not None:
        return f"{words}; looked back to {found.reached:%Y-%m-%d %H:%M}, older ones may fit"
    return words + (", and older ones" if found.next is not None else "")


def _form(filters: Filters) -> Markup:
    actions = [("", "Any decision"), *((one.value, one.value.capitalize()) for one in Action)]
    verdicts = [("", "Any verdict"), *((one.value, WORDS[one].capitalize()) for one in GRAVITY)]
    periods = [("", "Any time"), *((name, f"Last {words}") for name, words in _PERIOD_WORDS.items())]
    scores = [("", "Any score"), ("low", "Below 0.40"), ("middle", "0.40 to 0.85"), ("high", "From 0.85")]
    clear = link_button("Clear", "/console/runs") if filters.active else None
    kept = [
        tag("input", type_="hidden", name_=name, value=value)
        for name, value in (("hour", filters.hour), ("hours", filters.hours))
        if value
    ]
    search = text_input(
        "q", filters.q, type_="search", placeholder="Words of a question or an output", maxlength=_LONGEST_QUERY
    )
    return tag(
        "form",
        field("Search", search),
        field("Decision", select("action", actions, filters.action)),
        field("A claim is", select("verdict", verdicts, filters.verdict)),
        field("Score", select("score", scores, filters.score)),
        field("Time", select("within", periods, filters.within)),
        field("Policy", text_input("policy", filters.policy, placeholder="Any", maxlength=100)),
        field("From", text_input("caller", filters.caller, placeholder="Anyone", maxlength=100)),
        kept,
        tag("div", button("Filter", "primary"), clear, class_="actions"),
        method="get",
        action="/console/runs",
        class_="filters",
        role="search",
        data_auto=True,
    )


_PERIOD_WORDS: Final = {"1h": "hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}


def _empty(filters: Filters, found: Page) -> tuple[str, Child]:
    if found.next is not None:
        return "None here", "Nothing fits as far as was looked back; go on with Older."
    if filters.active:
        return "No run fits", tag("span", "Widen the filters, or ", tag("a", "see all runs", href="/console/runs"), ".")
    return "Nothing was checked yet", "Outputs appear here as soon as they are checked."
