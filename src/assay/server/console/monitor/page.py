"""The page of the monitor: the six metrics and eight panels, each as a drawing, a table, JSON and CSV."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render
from assay.server.console.monitor.alerts import alert_list
from assay.server.console.monitor.drawing import Mark, drawn, interval_words
from assay.server.console.parts import (
    Column,
    badge,
    details,
    empty_state,
    line,
    moment,
    note,
    number,
    panel,
    shorten,
    table,
    tabs,
)
from assay.server.panels.panels import PANELS, RANGES, make_panel
from assay.server.panels.values import Cell, Panel
from assay.server.services import Services
from assay.store.alerts import AlertState, list_alerts
from assay.store.sketches import TimeRange, counted_until

_WORDS: Final = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_WIDE: Final = ("trend", "worst", "metrics", "cusum")
"""Panels that take the whole width."""
_TONES: Final = {"ok": "good", "alert": "bad", "too few": "quiet"}
_BEHIND: Final = 1_000
"""Entries of the log beyond which the page says that it is behind."""
_LONGEST_CLAIM: Final = 160
_KINDS: Final = {"claims": "main", "hour": "num less", "claims that failed": "num less"}
"""Columns that are more or less than a number: what is read, and what a narrow screen has no room for."""
_RUN: Final = 12
"""Characters of the id of a run, as lists of runs show it."""


def make_monitor_page(services: Services) -> APIRouter:
    """The page at `/console/monitor`."""
    router = page_router()
    store = services.store

    @router.get("/console/monitor")
    def monitor(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        chosen = request.query_params.get("range", "7d")
        chosen = chosen if chosen in RANGES else "7d"
        now = store.now()
        with store.reading(caller.tenant) as connection:
            made = {name: make_panel(connection, caller.tenant, name, chosen, now) for name in PANELS}
            alerts = list_alerts(
                connection, caller.tenant, now, (AlertState.OPEN, AlertState.ACKNOWLEDGED), _MOST_ALERTS
            )
            counted, entries = counted_until(connection, caller.tenant)
        ranges = tabs(
            "Period", ((_WORDS[name], address("/console/monitor", range=name), name == chosen) for name in RANGES)
        )
        everything = tag("a", "All alerts", href="/console/monitor/alerts")
        behind = None
        if entries - counted > _BEHIND:
            said = f"{entries - counted:,} entries of the record are not counted yet; these figures are behind it."
            behind = note("doubt", said)
        stretch = TimeRange.until(now, *RANGES[chosen])
        narrow = [_panel(made[name], chosen, stretch, now) for name in PANELS if name not in _WIDE]
        return render(
            request,
            "Monitor",
            behind,
            tag("div", alert_list("Alerts that hold", alerts, now, everything), data_live=True),
            tag(
                "div",
                _panel(made["metrics"], chosen, stretch, now),
                _panel(made["trend"], chosen, stretch, now),
                data_live=True,
            ),
            tag("div", narrow, class_="columns", data_live=True),
            tag(
                "div",
                _panel(made["cusum"], chosen, stretch, now),
                _panel(made["worst"], chosen, stretch, now),
                data_live=True,
            ),
            current="monitor",
            about=f"What was measured in the last {_WORDS[chosen]}, in UTC",
            actions=ranges,
            scripts=("live.js",),
        )

    return router


_MOST_ALERTS: Final = 20


def _panel(made: Panel, chosen: str, stretch: TimeRange, now: datetime) -> Markup:
    exports = group(
        *(
            tag(
                "a",
                words,
                href=address(f"/v1/monitor/panels/{made.name}", range=chosen, format=kind),
                class_="soft",
                aria_label=f"{made.title} as {words}",
            )
            for words, kind in (("CSV", "csv"), ("JSON", "json"))
        )
    )
    links = _links(made, stretch)
    chart = None
    if made.drawing is not None:
        marks = [_mark(one.at, f"{one.kind}: {one.ref}", stretch) for one in made.markers]
        chart = drawn(made.title, made.drawing, marks, links)
    shown = _table(made, links, now)
    if made.name in ("metrics", "worst") or (made.name == "cusum" and chart is None):
        body: Child = group(chart, shown)
    elif chart is None and not any(_says_something(row) for row in made.rows):
        body = empty_state("Nothing measured", made.note or "Nothing was measured of this in the period.")
    else:
        body = group(chart, details("As a table", shown)) if chart is not None else shown
    changes = None
    if made.markers:
        named = [
            tag("li", moment(one.at, now), " ", one.kind, " ", foreign(shorten(one.ref, 80))) for one in made.markers
        ]
        count = len(made.markers)
        changes = details(f"{count:,} {'change' if count == 1 else 'changes'} in this period", tag("ul", named))
    note = tag("p", made.note, class_="soft") if made.note is not None and chart is not None else None
    return panel(
        made.title, tag("p", made.about, class_="soft"), body, note, changes, actions=exports, id_=f"panel-{made.name}"
    )


def _says_something(row: Sequence[Cell]) -> bool:
    """Whether a row counts anything: its first whole number is not nought."""
    return bool(next((cell for cell in row if isinstance(cell, int)), 0))


def _mark(at: datetime, words: str, stretch: TimeRange) -> Mark:
    hours = (at - stretch.begins[0]).total_seconds() / 3600
    return Mark(hours / stretch.hours, f"{at.astimezone(UTC):%Y-%m-%d %H:%M} {words}")


def _links(made: Panel, stretch: TimeRange) -> list[str]:
    """Where the rows of a panel lead to: the runs behind them."""
    if made.name == "trend":
        return [address("/console/runs", hour=f"{begin:%Y-%m-%dT%H}", hours=stretch.hours) for begin in stretch.begins]
    if made.name == "agents":
        return [address("/console/runs", caller=str(row[0])) for row in made.rows]
    return [f"/console/runs/{made.runs[at]}" for at in range(len(made.rows)) if at in made.runs]


def _table(made: Panel, links: Sequence[str], now: datetime) -> Markup:
    if made.name == "metrics":
        return _metrics(made)
    columns = [Column(_shown(name), _KINDS.get(name, "num") if at else "") for at, name in enumerate(made.columns)]
    rows = []
    for at, row in enumerate(made.rows):
        if made.name == "trend" and not row[1]:
            continue
        cells: list[Child] = [_cell(cell, now) for cell in row]
        if at < len(links):
            first = row[0]
            words = f"{first:%Y-%m-%d %H:%M}" if isinstance(first, datetime) else shorten(str(first), 40)
            words = words[:_RUN] if at in made.runs else words
            cells[0] = tag("a", foreign(words), href=links[at])
        rows.append(cells)
    empty = made.note or "Nothing was measured of this in the period."
    return table(made.title, columns, rows, empty=("Nothing measured", empty), style="tight")


def _metrics(made: Panel) -> Markup:
    columns = (
        Column("Metric"),
        Column("State"),
        Column("7 days", "num"),
        Column("Before", "num less"),
        Column("Change", "num"),
        Column("Outputs", "num less"),
        Column("Rule", "less"),
    )
    rows: list[list[Child]] = []
    for name, outputs, value, low, high, before, change, least, most, state, rule in made.rows:
        rows.append(
            [
                str(name),
                badge(str(state), _TONES[str(state)]),
                interval_words(_number(value), _number(low), _number(high)),
                number(_number(before), 3),
                _change(_number(change), _number(least), _number(most)),
                f"{outputs:,}",
                str(rule),
            ]
        )
    return table(made.title, columns, rows, style="tight")


def _change(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return "–"
    return f"{value:+.3f} ({low:+.3f} to {high:+.3f})".replace("-", "−")


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None


def _cell(cell: Cell, now: datetime) -> Child:
    if isinstance(cell, datetime):
        return moment(cell, now)
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else line(cell, _LONGEST_CLAIM)


def _shown(name: str) -> str:
    return name[:1].upper() + name[1:]
