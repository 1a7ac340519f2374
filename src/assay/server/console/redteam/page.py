"""`/console/redteam`: the robustness of a system over time and by category, and the cases that it failed last."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.redteam.cases import Category
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.charts import sparkline
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render, whole_number
from assay.server.console.monitor.panel_charts import ChartMark, interval_bar, interval_words, panel_chart
from assay.server.console.parts import (
    DASH,
    Column,
    badge,
    button,
    details,
    empty_state,
    field,
    line,
    moment,
    number,
    panel,
    select,
    shorten,
    stat,
    stats,
    table,
    title_words,
)
from assay.server.console.redteam.conversations import outcome_badge
from assay.server.panels.charts import Marker, read_markers
from assay.server.panels.values import Drawing, Line
from assay.server.services import Services
from assay.store.records import micros, moment_at
from assay.store.redteam import AttackCase, AttackRun, broken_cases, count_proposals, known_series, list_runs

PATH: Final = "/console/redteam"
TREND_RUNS: Final = 40
"""Runs in the trend."""
LISTED_RUNS: Final = 12
"""Runs in the list."""
LISTED_CASES: Final = 25
"""Cases that did not pass that the page lists."""
ALL: Final = "all"
"""The choice of no single category."""
_SOURCES: Final = {"command": "command", "api": "REST", "schedule": "schedule"}


def make_redteam_page(services: Services) -> APIRouter:
    """The page at `/console/redteam`."""
    router = page_router()
    store = services.store

    @router.get(PATH)
    def redteam(request: Request) -> Response:
        caller, now = allowed(request, Permission.READ), store.now()
        with store.reading(caller.tenant) as connection:
            series = known_series(connection, caller.tenant)
            chosen = _chosen(request, series)
            runs = (
                []
                if chosen is None
                else list_runs(connection, caller.tenant, suite_name=chosen[0], target=chosen[1], limit=TREND_RUNS)
            )
            broken = broken_cases(connection, caller.tenant, runs[0].id, LISTED_CASES + 1) if runs else []
            markers = read_markers(connection, caller.tenant, moment_at(runs[-1].at), now) if runs else ()
            proposals = count_proposals(connection, caller.tenant)
        waiting = proposals.get("open", 0)
        actions = tag(
            "a", f"Proposals ({waiting:,} open)" if waiting else "Proposals", href=f"{PATH}/proposals", class_="button"
        )
        if chosen is None:
            return render(request, "Red team", empty_state(*_EMPTY), current="redteam", actions=actions)
        category = request.query_params.get("category", ALL)
        category = category if category in set(Category) else ALL
        latest = runs[0]
        return render(
            request,
            "Red team",
            _filters(series, chosen, category),
            _figures(latest, waiting),
            _trend(runs, category, markers, now),
            _by_category(runs),
            _broken(latest, broken),
            _runs(runs[:LISTED_RUNS], now),
            current="redteam",
            actions=actions,
            about=tag("span", "Robustness to suites of attacks: ", foreign(shorten(latest.target, 120))),
        )

    return router


_EMPTY: Final = (
    "No run is recorded",
    tag(
        "span",
        "Attack a system, and name this database: ",
        tag("code", "assay redteam run suite.jsonl --target URL --database runs.db"),
    ),
)


def _chosen(request: Request, series: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The suite and the target in the query; the first ones by default, `None` if there are no runs."""
    if not series:
        return None
    index = whole_number(request.query_params.get("of"))
    return series[index] if index is not None and index < len(series) else series[0]


def _filters(series: Sequence[tuple[str, str]], chosen: tuple[str, str], category: str) -> Markup:
    names = [
        (str(at), f"{shorten(suite, 40)} against {shorten(target, 60)}") for at, (suite, target) in enumerate(series)
    ]
    kinds = [(ALL, "All categories"), *((one.value, title_words(one.value)) for one in Category)]
    return tag(
        "form",
        field("Suite and target", select("of", names, str(series.index(chosen)))),
        field("Trend of", select("category", kinds, category)),
        button("Show"),
        method="get",
        action=PATH,
        class_="bar pick",
        data_auto=True,
    )


def _figures(run: AttackRun, waiting: int) -> Markup:
    compared = {None: "not compared", True: "regressed", False: "no regression"}[run.regressed]
    interval = "nothing judged" if run.low is None else f"{number(run.low, 3)} to {number(run.high, 3)}, {compared}"
    return stats(
        stat("Robustness (ARS)", number(run.ars, 3), interval, href=f"{PATH}/runs/{run.id}"),
        stat("Failed", f"{run.failed:,}", f"of {run.cases:,} cases", href=f"{PATH}/runs/{run.id}#conversations"),
        stat("Unjudged", f"{run.unjudged:,}", "in no mean"),
        stat("Flaky", f"{run.flaky:,}", "passed when asked again"),
        stat("To decide", f"{waiting:,}", "proposals for the suite", href=f"{PATH}/proposals"),
    )


def figures_of(run: AttackRun, category: str) -> tuple[float | None, float | None, float | None]:
    """The ARS of a run with its 95% interval, over all cases or those of one category."""
    if category == ALL:
        return run.ars, run.low, run.high
    figures: dict[str, Any] = (run.body.get("categories") or {}).get(category) or {}
    return figures.get("ars"), figures.get("low"), figures.get("high")


def _trend(runs: Sequence[AttackRun], category: str, markers: Sequence[Marker], now: datetime) -> Markup:
    ordered = list(reversed(runs))
    figures = [figures_of(run, category) for run in ordered]
    values, low, high = ([one[at] for one in figures] for at in range(3))
    name = "ARS" if category == ALL else f"ARS of {title_words(category).lower()}"
    title = f"{name}, {len(runs)} {'run' if len(runs) == 1 else 'runs'}"
    drawing = Drawing("line", [_time_label(run) for run in ordered], [Line(name, values, low, high)])
    marks = [mark for one in markers if (mark := chart_mark(one, [run.at for run in ordered])) is not None]
    chart = panel_chart(title, drawing, marks, [f"{PATH}/runs/{run.id}" for run in ordered])
    columns = (Column("Run"), Column(name, "num"), Column("Failed", "num less"), Column("Version", "less"))
    rows: list[list[Child]] = [
        [
            tag("a", moment(moment_at(run.at), now), href=f"{PATH}/runs/{run.id}"),
            interval_words(*figures_of(run, category)),
            f"{run.failed:,} of {run.cases:,}",
            line(run.target_version, 60),
        ]
        for run in runs
    ]
    changes = None
    if markers:
        listed = (
            tag("li", moment(one.at, now), " ", one.kind, " ", foreign(shorten(one.ref, 80))) for one in markers[-200:]
        )
        words = f"{len(markers):,} {'change' if len(markers) == 1 else 'changes'} of the system since then"
        changes = details(words, tag("ul", listed))
    empty = tag("p", "Nothing of it was judged.", class_="soft")
    about = "With 95% intervals; dashed lines are changes of the system that were recorded or detected."
    return panel(
        "Trend",
        tag("p", about, class_="soft"),
        chart or empty,
        changes,
        details("As a table", table(title, columns, rows, style="tight")),
        id_="trend",
    )


def _time_label(run: AttackRun) -> str:
    return f"{moment_at(run.at).astimezone(UTC):%m-%d %H:%M}"


def chart_mark(change: Marker, moments: Sequence[int]) -> ChartMark | None:
    """The mark of a change in a chart of runs, placed by time between the runs before and after it.

    Args:
        change: the change.
        moments: when the runs ended, in order, in microseconds since 1970.

    Returns:
        The mark; `None` for a change before the first run.
    """
    at = micros(change.at)
    before = sum(one <= at for one in moments)
    if not before:
        return None
    words = f"{change.at.astimezone(UTC):%Y-%m-%d %H:%M} {change.kind}: {change.ref}"
    if before == len(moments):
        return ChartMark(before - 0.25, words)
    first, second = moments[before - 1], moments[before]
    return ChartMark(before - 0.5 + (at - first) / max(1, second - first), words)


def _by_category(runs: Sequence[AttackRun]) -> Markup:
    latest, ordered = runs[0], list(reversed(runs))
    categories: dict[str, dict[str, Any]] = latest.body.get("categories") or {}
    columns = (
        Column("Category"),
        Column("Trend", "less"),
        Column("ARS", "num"),
        Column("95% interval", "less spread"),
        Column("from – to", "num"),
        Column("Passed", "num less"),
        Column("Unjudged", "num less"),
    )
    rows: list[list[Child]] = []
    for name, figures in categories.items():
        past = [figures_of(run, name)[0] for run in ordered]
        value, low, high = figures_of(latest, name)
        interval = "–" if low is None or high is None else f"{low:.3f} – {high:.3f}"
        words = foreign(title_words(shorten(name, 60)))
        link = address(PATH, category=name) + "#trend" if name in set(Category) else None
        rows.append(
            [
                tag("a", words, href=link) if link else words,
                sparkline(past, f"{title_words(shorten(name, 60))}: ARS over {len(past)} runs"),
                number(value, 3),
                interval_bar(value, low, high),
                interval,
                f"{figures.get('passed', 0):,} of {figures.get('cases', 0):,}",
                f"{figures.get('unjudged', 0):,}",
            ]
        )
    return panel(
        "Latest run by category",
        table(
            "Latest run by category",
            columns,
            rows,
            style="tight bycategory",
            empty=("No category", "The run has none."),
        ),
        id_="categories",
    )


def failed_cases_table(run: AttackRun, cases: Sequence[AttackCase]) -> Markup:
    """A table of cases that did not pass, each with a link to its conversation."""
    columns = (
        Column("What was asked", "main"),
        Column("Outcome"),
        Column("Category", "less"),
        Column("Match", "num"),
        Column("Why", "less"),
    )
    rows: list[list[Child]] = [
        [
            tag(
                "a",
                foreign(shorten(str((case.told or {}).get("prompt") or case.case_id), 160)),
                href=f"{PATH}/runs/{run.id}?case={case.case_id}#{case.case_id}",
            ),
            group(outcome_badge(case.outcome), badge("flaky", "doubt") if case.flaky else None),
            title_words(shorten(case.category, 60)),
            number(case.match),
            line(case.rule, 90),
        ]
        for case in cases
    ]
    return table(
        "Cases that did not pass",
        columns,
        rows,
        empty=("Nothing broke", "Every case of the run passed."),
        style="broken",
    )


def _broken(run: AttackRun, cases: Sequence[AttackCase]) -> Markup:
    more = None
    if len(cases) > LISTED_CASES:
        more = tag("p", tag("a", "All of them", href=f"{PATH}/runs/{run.id}#conversations"), class_="under")
    return panel("What broke in the latest run", failed_cases_table(run, cases[:LISTED_CASES]), more, id_="broken")


def _runs(runs: Sequence[AttackRun], now: datetime) -> Markup:
    columns = (
        Column("When"),
        Column("ARS", "num"),
        Column("Failed", "num"),
        Column("Against before"),
        Column("Version", "less"),
        Column("By", "less"),
    )
    rows: list[list[Child]] = [
        [
            tag("a", moment(moment_at(run.at), now), href=f"{PATH}/runs/{run.id}"),
            interval_words(run.ars, run.low, run.high),
            f"{run.failed:,} of {run.cases:,}",
            regression_badge(run),
            line(run.target_version, 40),
            line(run.schedule, 40) if run.schedule else _SOURCES.get(run.source, "another"),
        ]
        for run in runs
    ]
    return panel("Runs", table("Runs, newest first", columns, rows, style="tight"), id_="runs")


def regression_badge(run: AttackRun) -> Markup:
    """The badge that says whether a run regressed from earlier ones; a dash if they were not compared."""
    if run.regressed is None:
        return DASH
    return badge("regressed", "bad", "✗") if run.regressed else badge("held", "good", "✓")
