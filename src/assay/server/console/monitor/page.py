"""The page of the monitor: alerts, the six metrics and the other panels, each as a chart, a table, JSON and CSV."""

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
from assay.server.console.monitor.panel_charts import ChartMark, interval_words, panel_chart
from assay.server.console.parts import (
    Column,
    badge,
    capitalized,
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

_RANGE_WORDS: Final = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_WIDE: Final = ("trend", "worst", "metrics", "cusum")
"""Panels that take the whole width of the page."""
_STATE_TONES: Final = {"ok": "good", "alert": "bad", "too few": "quiet"}
_MOST_LAG: Final = 1_000
"""Entries of the log that may be uncounted before the page says so."""
_LONGEST_TEXT: Final = 160
"""The most characters of a text in a table."""
_KINDS: Final = {"claims": "main", "hour": "num less", "claims that failed": "num less"}
"""The kinds of columns that do not just hold a number: text, and columns that a narrow screen leaves out."""
_RUN_ID: Final = 12
"""Characters of the id of a run that are shown."""


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
            panels = {name: make_panel(connection, caller.tenant, name, chosen, now) for name in PANELS}
            alerts = list_alerts(
                connection, caller.tenant, now, (AlertState.OPEN, AlertState.ACKNOWLEDGED), _MOST_ALERTS
            )
            counted, entries = counted_until(connection, caller.tenant)
        ranges = tabs(
            "Period", ((_RANGE_WORDS[name], address("/console/monitor", range=name), name == chosen) for name in RANGES)
        )
        all_alerts = tag("a", "All alerts", href="/console/monitor/alerts")
        lag_note = None
        if entries - counted > _MOST_LAG:
            words = f"{entries - counted:,} entries of the record are not counted yet; these figures are behind it."
            lag_note = note("doubt", words)
        stretch = TimeRange.until(now, *RANGES[chosen])
        narrow = [_panel(panels[name], chosen, stretch, now) for name in PANELS if name not in _WIDE]
        return render(
            request,
            "Monitor",
            lag_note,
            tag("div", alert_list("Alerts that hold", alerts, now, all_alerts), data_live=True),
            tag(
                "div",
                _panel(panels["metrics"], chosen, stretch, now),
                _panel(panels["trend"], chosen, stretch, now),
                data_live=True,
            ),
            tag("div", narrow, class_="columns", data_live=True),
            tag(
                "div",
                _panel(panels["cusum"], chosen, stretch, now),
                _panel(panels["worst"], chosen, stretch, now),
                data_live=True,
            ),
            current="monitor",
            about=f"What was measured in the last {_RANGE_WORDS[chosen]}, in UTC",
            actions=ranges,
            scripts=("live.js",),
        )

    return router


_MOST_ALERTS: Final = 20
"""Alerts that the page lists."""


def _panel(data: Panel, chosen: str, stretch: TimeRange, now: datetime) -> Markup:
    exports = group(
        *(
            tag(
                "a",
                words,
                href=address(f"/v1/monitor/panels/{data.name}", range=chosen, format=kind),
                class_="soft",
                aria_label=f"{data.title} as {words}",
            )
            for words, kind in (("CSV", "csv"), ("JSON", "json"))
        )
    )
    links = _links(data, stretch)
    chart = None
    if data.drawing is not None:
        marks = [_mark(one.at, f"{one.kind}: {one.ref}", stretch) for one in data.markers]
        chart = panel_chart(data.title, data.drawing, marks, links)
    figures = _table(data, links, now)
    if data.name in ("metrics", "worst") or (data.name == "cusum" and chart is None):
        body: Child = group(chart, figures)
    elif chart is None and not any(_says_something(row) for row in data.rows):
        body = empty_state("Nothing measured", data.note or "Nothing was measured in this period.")
    else:
        body = group(chart, details("As a table", figures)) if chart is not None else figures
    changes = None
    if data.markers:
        named = [
            tag("li", moment(one.at, now), " ", one.kind, " ", foreign(shorten(one.ref, 80))) for one in data.markers
        ]
        count = len(data.markers)
        changes = details(f"{count:,} {'change' if count == 1 else 'changes'} in this period", tag("ul", named))
    note = tag("p", data.note, class_="soft") if data.note is not None and chart is not None else None
    return panel(
        data.title,
        tag("p", data.about, class_="soft"),
        body,
        note,
        changes,
        actions=exports,
        id_=f"panel-{data.name}",
    )


def _says_something(row: Sequence[Cell]) -> bool:
    """Whether a row counts anything: whether its first integer is not 0."""
    return bool(next((cell for cell in row if isinstance(cell, int)), 0))


def _mark(at: datetime, words: str, stretch: TimeRange) -> ChartMark:
    hours = (at - stretch.begins[0]).total_seconds() / 3600
    return ChartMark(hours / stretch.hours, f"{at.astimezone(UTC):%Y-%m-%d %H:%M} {words}")


def _links(data: Panel, stretch: TimeRange) -> list[str]:
    """The addresses that the rows of a panel link to: the runs that they count."""
    if data.name == "trend":
        return [address("/console/runs", hour=f"{begin:%Y-%m-%dT%H}", hours=stretch.hours) for begin in stretch.begins]
    if data.name == "agents":
        return [address("/console/runs", caller=str(row[0])) for row in data.rows]
    return [f"/console/runs/{data.runs[at]}" for at in range(len(data.rows)) if at in data.runs]


def _table(data: Panel, links: Sequence[str], now: datetime) -> Markup:
    if data.name == "metrics":
        return _metrics(data)
    columns = [Column(capitalized(name), _KINDS.get(name, "num") if at else "") for at, name in enumerate(data.columns)]
    rows = []
    for at, row in enumerate(data.rows):
        if data.name == "trend" and not row[1]:
            continue
        cells: list[Child] = [_cell(cell, now) for cell in row]
        if at < len(links):
            first = row[0]
            words = f"{first:%Y-%m-%d %H:%M}" if isinstance(first, datetime) else shorten(str(first), 40)
            words = words[:_RUN_ID] if at in data.runs else words
            cells[0] = tag("a", foreign(words), href=links[at])
        rows.append(cells)
    empty = data.note or "Nothing was measured in this period."
    return table(data.title, columns, rows, empty=("Nothing measured", empty), style="tight")


def _metrics(data: Panel) -> Markup:
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
    for name, outputs, value, low, high, before, change, least, most, state, rule in data.rows:
        rows.append(
            [
                str(name),
                badge(str(state), _STATE_TONES[str(state)]),
                interval_words(_number(value), _number(low), _number(high)),
                number(_number(before), 3),
                _change(_number(change), _number(least), _number(most)),
                f"{outputs:,}",
                str(rule),
            ]
        )
    return table(data.title, columns, rows, style="tight")


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
    return f"{cell:,}" if isinstance(cell, int) else line(cell, _LONGEST_TEXT)
