"""The first page of the console: decisions over time, verdicts of claims, latency, and what waits for a reviewer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import WORDS, Child, Markup, group, tag
from assay.schema import Action, Permission, Verdict
from assay.server.console.charts import Series, bar_list, legend, sparkline, split_bar, stacked_bars
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render
from assay.server.console.parts import (
    ACTION_ORDER,
    ACTION_TONES,
    VERDICT_TONES,
    Column,
    duration_words,
    empty_state,
    link_button,
    millis,
    panel,
    share,
    stat,
    stats,
    table,
    tabs,
)
from assay.server.console.views.run_rows import run_rows
from assay.server.services import Services
from assay.store.db import Store
from assay.store.insights import ACTION, CATEGORY, VERDICT, Backlog, Counts, describe, period, read_backlog, read_counts
from assay.store.records import ReportFilter, read_page

_RANGES: Final = {"24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
_RANGE_WORDS: Final = {"24h": "24 hours", "7d": "7 days", "30d": "30 days"}
_VERDICT_ORDER: Final = (
    Verdict.SUPPORTED,
    Verdict.NOT_CHECKABLE,
    Verdict.UNSUPPORTED,
    Verdict.UNCHECKED,
    Verdict.CONTRADICTED,
)
_RECENT: Final = 6
"""Runs that the list of recently withheld outputs shows."""


def make_overview_pages(services: Services) -> APIRouter:
    """The overview at `/console`."""
    router = page_router()
    store = services.store

    @router.get("/console")
    def overview(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        chosen = request.query_params.get("range", "24h")
        chosen = chosen if chosen in _RANGES else "24h"
        now = store.now()
        with store.reading(caller.tenant) as connection:
            parts, hours = period(_RANGES[chosen])
            counts = read_counts(connection, caller.tenant, now, parts, hours)
            # The period before this one, of the same length, for the change since then.
            earlier = read_counts(connection, caller.tenant, now - timedelta(hours=parts * hours), parts, hours)
            backlog = read_backlog(connection, caller.tenant, now)
        ranges = tabs(
            "Period", ((_RANGE_WORDS[name], address("/console", range=name), name == chosen) for name in _RANGES)
        )
        return render(
            request,
            "Overview",
            *_body(store, caller.tenant, TwoPeriods(counts, earlier), backlog, chosen, now),
            current="overview",
            about=f"What was checked in the last {_RANGE_WORDS[chosen]}, in UTC",
            actions=ranges,
        )

    return router


@dataclass(frozen=True, slots=True)
class TwoPeriods:
    """What was counted in a period, and in the period of the same length before it."""

    now: Counts
    before: Counts


def _body(store: Store, tenant: str, periods: TwoPeriods, backlog: Backlog, chosen: str, now: datetime) -> list[Child]:
    counts = periods.now
    if not counts.totals(ACTION) and not store.page(tenant, limit=1):
        return [_empty()]
    return [
        _figures(periods, backlog, now),
        _decisions(counts, chosen),
        tag("div", _verdicts(counts), _categories(counts), _latency(counts), class_="columns"),
        _recent(store, tenant, now),
    ]


def _empty() -> Markup:
    return empty_state(
        "Nothing was checked yet",
        "Send an output to POST /v1/check, put the gateway before your model, or paste an answer and its evidence.",
        link_button("Open the playground", "/console/playground", "primary"),
    )


def _figures(periods: TwoPeriods, backlog: Backlog, now: datetime) -> Markup:
    counts = periods.now
    actions, earlier = counts.totals(ACTION), periods.before.totals(ACTION)
    whole, whole_before = sum(actions.values()), sum(earlier.values())

    def figure(name: Action) -> Markup:
        number, before = actions.get(name.value, 0), earlier.get(name.value, 0)
        title = {Action.EMIT: "Emitted", Action.BLOCK: "Blocked"}[name]
        detail = group(share(number, whole), _points(number, whole, before, whole_before))
        return stat(title, f"{number:,}", detail, address("/console/runs", action=name.value))

    overdue = f"{backlog.overdue:,} past the deadline" if backlog.overdue else None
    upcoming = None
    if backlog.next_deadline is not None:
        upcoming = f"next deadline in {duration_words((backlog.next_deadline - now).total_seconds())}"
    return stats(
        stat(
            "Decisions",
            f"{whole:,}",
            f"{sum(counts.totals(VERDICT).values()):,} claims"
            + (f" · {whole_before:,} decisions before" if whole_before else ""),
        ),
        figure(Action.EMIT),
        figure(Action.BLOCK),
        stat(
            "Waiting for review",
            f"{backlog.waiting:,}",
            tag("span", overdue, class_="bad") if overdue else upcoming or "nothing is due",
            "/console/review",
        ),
        stat("Time of a check, median", millis(counts.latency(0.5)), f"95% within {millis(counts.latency(0.95))}"),
    )


def _points(number: int, whole: int, before: int, whole_before: int) -> Markup | None:
    """The change of a share since the period before, in percentage points; `None` if either period is empty."""
    if not whole or not whole_before:
        return None
    points = 100 * (number / whole - before / whole_before)
    words = f"{points:+.1f} points" if abs(points) >= _LEAST_POINTS else "as before"
    return tag("span", " · ", words.replace("-", "−"), title="against the same length of time before")


_LEAST_POINTS: Final = 0.05
"""A smaller change is shown as none: it would be rounded to 0.0."""


def _decisions(counts: Counts, chosen: str) -> Markup:
    series = [Series(one.value, ACTION_TONES[one], counts.of(ACTION, one.value)) for one in ACTION_ORDER]
    labels = [f"{when:%a %d %b}" if chosen == "30d" else f"{when:%a %d %b %H:%M}" for when in counts.begins]
    chart = stacked_bars(f"Decisions in the last {_RANGE_WORDS[chosen]}", labels, series, _ticks(counts.begins, chosen))
    return panel("Decisions", chart, legend(series), _as_table(labels, series))


def _ticks(begins: Sequence[datetime], chosen: str) -> list[tuple[int, str]]:
    if chosen == "24h":
        return [(at, f"{when:%H:%M}") for at, when in enumerate(begins) if when.hour % 4 == 0]
    if chosen == "7d":
        return [(at, f"{when:%a %d}") for at, when in enumerate(begins) if when.hour == 0]
    return [(at, f"{when:%d %b}") for at, when in enumerate(begins) if at % 5 == 0]


def _as_table(labels: Sequence[str], series: Sequence[Series]) -> Markup:
    """The figures of the chart as a table, for screen readers and for copying."""
    columns = [Column("Begins"), *(Column(one.name, "num") for one in series)]
    rows = (
        [label, *(f"{one.values[at]:g}" for one in series)]
        for at, label in enumerate(labels)
        if any(one.values[at] for one in series)
    )
    shown = table("Decisions by time and action", columns, rows, empty=("No decisions", "None in this period."))
    return tag("details", tag("summary", "As a table"), shown, class_="more")


def _verdicts(counts: Counts) -> Markup:
    totals = counts.totals(VERDICT)
    whole = sum(totals.values())
    if not whole:
        return panel("Claims by verdict", empty_state("No claims", "No claim was checked in this period."))
    bar = split_bar(
        [(WORDS[one], totals.get(one.value, 0), VERDICT_TONES[one]) for one in _VERDICT_ORDER], "Claims by verdict"
    )
    rows = [
        (WORDS[one], f"{totals.get(one.value, 0):,}", share(totals.get(one.value, 0), whole)) for one in _VERDICT_ORDER
    ]
    columns = (Column("Verdict"), Column("Claims", "num"), Column("Share", "num"))
    return panel("Claims by verdict", bar, table("Claims by verdict", columns, rows, style="tight"))


def _categories(counts: Counts) -> Markup:
    totals = counts.totals(CATEGORY)
    if not totals:
        return panel("Why claims failed", empty_state("No findings", "No claim was found wanting in this period."))
    whole = sum(totals.values())
    rows: list[tuple[Child, float, Child]] = [
        (name, number, f"{number:,} · {share(number, whole)}") for name, number in totals.items()
    ]
    return panel("Why claims failed", bar_list(rows))


def _latency(counts: Counts) -> Markup:
    rows = [
        (words, millis(counts.latency(part)), sparkline(counts.latencies(part), f"{words} over time"))
        for words, part in (("Median", 0.5), ("95%", 0.95), ("99%", 0.99))
    ]
    columns = (Column("Time of a check"), Column("Whole period", "num"), Column("Over it", "num"))
    return panel("Latency", table("Time of a check", columns, rows, style="tight"))


def _recent(store: Store, tenant: str, now: datetime) -> Markup:
    """The latest runs whose output was not simply emitted."""
    with store.reading(tenant) as connection:
        withheld = [
            row
            for action in (Action.BLOCK, Action.ESCALATE, Action.REVISE)
            for row in read_page(connection, tenant, ReportFilter(action=action.value), limit=_RECENT).items
        ]
        withheld = sorted(withheld, key=lambda row: (row.created, row.id), reverse=True)[:_RECENT]
        about = describe(connection, tenant, [row.id for row in withheld])
    everything = tag("a", "All runs", href="/console/runs")
    shown = run_rows(
        "Recently withheld", withheld, about, now, ("Nothing was withheld", "Every output was let through.")
    )
    return panel("Recently withheld", shown, actions=everything)
