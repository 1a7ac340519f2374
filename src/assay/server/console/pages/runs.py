"""The list of runs, with filters, a choice of columns, saved views, and search in questions and outputs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import GRAVITY, WORDS, Child, Markup, foreign, tag
from assay.schema import Action, Permission, Verdict
from assay.server.caller import Caller
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, form, hidden_input, render, whole_number
from assay.server.console.parts import (
    bulk_actions,
    button,
    details,
    field,
    hidden,
    link_button,
    pager,
    select,
    shorten,
    text_input,
)
from assay.server.console.views.run_rows import COLUMNS, DEFAULT_COLUMNS, FIXED_COLUMNS, run_rows
from assay.server.services import Services
from assay.store.datasets import LONGEST_NAME, Dataset, SavedView, list_datasets, list_views
from assay.store.insights import describe, read_figures
from assay.store.records import Page, ReportFilter, read_page

LIST: Final = "/console/runs"
PAGE_SIZE: Final = 50
"""Rows of one page."""
_PERIODS: Final = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_LONGEST_QUERY: Final = 300
_SCORE_RANGES: Final = {"low": (None, 0.4), "middle": (0.4, 0.85), "high": (0.85, None)}


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters and columns of the list of runs, as in its query; an empty value is no filter."""

    q: str = ""
    action: str = ""
    verdict: str = ""
    """At least one claim has this verdict."""
    within: str = ""
    """A period before now: a key of `_PERIODS`."""
    score: str = ""
    """A range of scores: a key of `_SCORE_RANGES`."""
    policy: str = ""
    caller: str = ""
    hour: str = ""
    """The first hour of a period in UTC, as in `2026-03-04T12`; charts link to it."""
    hours: str = ""
    """The number of hours of that period; 1 by default."""
    columns: str = ""
    """The names of the columns, separated by commas; the default columns if empty."""

    @property
    def active(self) -> bool:
        """Whether any filter is set."""
        return replace(self, columns="") != Filters()

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The names of the columns to show."""
        return tuple(self.columns.split(",")) if self.columns else DEFAULT_COLUMNS

    @property
    def query(self) -> str:
        """The query of its address, without the question mark."""
        return self.address().partition("?")[2]

    def address(self, after: str | None = None, path: str = LIST) -> str:
        """The address of the list with these filters, from the cursor `after` on."""
        return address(path, **asdict(self), after=after)

    def to_store_filter(self, now: datetime) -> ReportFilter:
        """These filters in the form that the store takes."""
        low, high = _SCORE_RANGES.get(self.score, (None, None))
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
    """The filters in the query of a request.

    Raises:
        HTTPException: a filter has a value that it cannot have.
    """
    values = {one.name: request.query_params.get(one.name, "").strip() for one in fields(Filters)}
    values["columns"] = _columns(request)
    if len(values["q"]) > _LONGEST_QUERY:
        raise HTTPException(422, f"a search has at most {_LONGEST_QUERY} characters")
    for name, allowed_values in (
        ("action", [one.value for one in Action]),
        ("verdict", [one.value for one in Verdict]),
        ("within", list(_PERIODS)),
        ("score", list(_SCORE_RANGES)),
    ):
        if values[name] and values[name] not in allowed_values:
            raise HTTPException(422, f"the filter {name} is one of {', '.join(allowed_values)}")
    if values["hour"]:
        _hour(values["hour"])
    if values["hours"] and whole_number(values["hours"], 4) is None:
        raise HTTPException(422, "hours are a whole number")
    filters = Filters(**values)
    try:
        filters.to_store_filter(datetime.now(UTC))
    except OverflowError:
        raise HTTPException(422, "an hour and the period after it must lie within the years 1 to 9999") from None
    return filters


def _columns(request: Request) -> str:
    """The columns in a query, in the order of `COLUMNS`: as one parameter for each, or as names separated by commas."""
    chosen = {name for value in request.query_params.getlist("columns") for name in value.split(",") if name}
    if not chosen:
        return ""
    if chosen - set(COLUMNS):
        raise HTTPException(422, f"a column is one of {', '.join(COLUMNS)}")
    shown = tuple(name for name in COLUMNS if name in chosen or name in FIXED_COLUMNS)
    return "" if shown == DEFAULT_COLUMNS else ",".join(shown)


def _hour(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    except ValueError as error:
        raise HTTPException(422, "an hour is written as in 2026-03-04T12") from error


def make_run_list(services: Services) -> APIRouter:
    """The list at `/console/runs`."""
    router = page_router()
    store = services.store

    @router.get(LIST)
    def runs(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        filters, now = filters_of(request), store.now()
        after = request.query_params.get("after") or None
        with store.reading(caller.tenant) as connection:
            page = read_page(connection, caller.tenant, filters.to_store_filter(now), after, PAGE_SIZE)
            ids = [row.id for row in page.items]
            about = describe(connection, caller.tenant, ids)
            figures = read_figures(connection, caller.tenant, ids)
            views = list_views(connection, caller.tenant, owner_of_views(caller), "runs")
            datasets = list_datasets(connection, caller.tenant)
        older = filters.address(page.next) if page.next is not None else None
        selectable = caller.may(Permission.FEEDBACK) and bool(page.items)
        rows = run_rows(
            "Runs, newest first",
            page.items,
            about,
            now,
            _empty(filters, page),
            figures=figures,
            columns=filters.shown_columns,
            selectable=selectable,
        )
        return render(
            request,
            "Runs",
            _views(request, views, filters),
            _filter_form(filters),
            _bulk_form(request, rows, datasets, filters) if selectable else rows,
            pager(older, filters.address() if after else None, _page_words(page)),
            current="runs",
            about="Every output that was checked, newest first",
            actions=link_button("CSV", filters.address(path=f"{LIST}.csv")),
            scripts=("choose.js",),
        )

    return router


def owner_of_views(caller: Caller) -> str:
    """The owner of a caller's saved views: the id of the user, or the kind of a caller without one."""
    return caller.actor


# Views


def _views(request: Request, views: Sequence[SavedView], filters: Filters) -> Markup | None:
    """Links to the caller's saved views, and the form to save or remove the present one."""
    query = filters.query
    current = next((one for one in views if one.query == query), None)
    links = [tag("a", "All runs", href=LIST, aria_current="true" if not query else None)]
    links += [
        tag("a", foreign(one.name), href=f"{LIST}?{one.query}", aria_current="true" if one is current else None)
        for one in views
    ]
    tabs = tag("nav", links, class_="tabs", aria_label="Views of the list") if views else None
    action: Child = None
    if current is not None:
        action = form(
            request,
            f"{LIST}/views/{current.id}/drop",
            button(["Remove this view", hidden(f" {current.name}")], "small"),
        )
    elif query:
        name = text_input("name", placeholder="Such as: blocked this week", maxlength=LONGEST_NAME, required=True)
        query_field = hidden_input("query", query)
        save_form = form(request, f"{LIST}/views", query_field, field("Name", name), button("Keep it"), class_="inline")
        action = details("Keep this view", save_form)
    return tag("div", tabs, action, class_="views") if tabs or action else None


# Actions on several runs


def _bulk_form(request: Request, rows: Markup, datasets: Sequence[Dataset], filters: Filters) -> Markup:
    """The rows with checkboxes, and the actions for the chosen runs."""
    choices = [("", "A new one"), *((one.id, shorten(one.name, 60)) for one in datasets)]
    save = [
        field("Dataset", select("dataset", choices)),
        field("Name of a new one", text_input("name", maxlength=LONGEST_NAME, placeholder="Such as: leave, March")),
        button("Save into it", name_="act", value="dataset"),
    ]
    judge = [
        button("They are right", name_="act", value="right"),
        button("They are wrong", "danger", name_="act", value="wrong"),
        button("CSV of them", name_="act", value="csv"),
    ]
    back = hidden_input("back", filters.address())
    actions = bulk_actions("With the chosen runs", save, judge)
    return form(request, f"{LIST}/bulk", back, rows, actions, data_choose=True)


def _page_words(page: Page) -> str:
    words = f"{len(page.items)} run{'' if len(page.items) == 1 else 's'}"
    if page.reached is not None:
        return f"{words}; searched back to {page.reached:%Y-%m-%d %H:%M}, older ones may match"
    return words + (", and older ones" if page.next is not None else "")


def _filter_form(filters: Filters) -> Markup:
    actions = [("", "Any decision"), *((one.value, one.value.capitalize()) for one in Action)]
    verdicts = [("", "Any verdict"), *((one.value, WORDS[one].capitalize()) for one in GRAVITY)]
    periods = [("", "Any time"), *((name, f"Last {words}") for name, words in _PERIOD_WORDS.items())]
    scores = [("", "Any score"), ("low", "Below 0.40"), ("middle", "0.40 to 0.85"), ("high", "From 0.85")]
    clear = link_button("Clear", "/console/runs") if filters.active else None
    period = (("hour", filters.hour), ("hours", filters.hours))
    hidden_filters = [hidden_input(name, value) for name, value in period if value]
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
        hidden_filters,
        tag("div", button("Filter", "primary"), clear, class_="actions"),
        _column_boxes(filters),
        method="get",
        action="/console/runs",
        class_="filters",
        role="search",
        data_auto=True,
    )


def _column_boxes(filters: Filters) -> Markup:
    """The checkboxes that choose the columns."""
    shown = filters.shown_columns
    boxes = [
        tag(
            "label",
            tag("input", type_="checkbox", name_="columns", value=name, checked=name in shown),
            one.column.title,
        )
        for name, one in COLUMNS.items()
        if name not in FIXED_COLUMNS
    ]
    # A query without columns means the default ones: this field says that all the others were deselected.
    always = hidden_input("columns", FIXED_COLUMNS[0])
    within = tag(
        "fieldset", tag("legend", "Columns in addition to the decision and the question"), boxes, class_="boxes"
    )
    return details("Columns", always, within, button("Show these", "small"))


_PERIOD_WORDS: Final = {"1h": "hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}


def _empty(filters: Filters, page: Page) -> tuple[str, Child]:
    if page.next is not None:
        return "None here", "Nothing matches so far. Older looks further back."
    if filters.active:
        return "No run matches", tag(
            "span", "Widen the filters, or ", tag("a", "see all runs", href="/console/runs"), "."
        )
    return "Nothing was checked yet", "Outputs appear here as soon as they are checked."
