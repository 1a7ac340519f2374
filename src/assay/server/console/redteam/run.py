"""`/console/redteam/runs/{id}`: one run of the red team, compared with earlier ones, and its failed conversations."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render, whole_number
from assay.server.console.monitor.panel_charts import panel_chart
from assay.server.console.parts import (
    Column,
    badge,
    digest,
    empty_state,
    facts,
    line,
    moment,
    number,
    pager,
    panel,
    shorten,
    stat,
    stats,
    table,
    tabs,
    title_words,
)
from assay.server.console.redteam.conversations import conversation_card
from assay.server.console.redteam.page import PATH, figures_of, regression_badge
from assay.server.panels.values import Drawing
from assay.server.services import Services
from assay.store.records import moment_at
from assay.store.redteam import AttackRun, read_cases, read_run

PAGE_SIZE: Final = 20
"""Conversations of one page."""
_VIEWS: Final = {
    "failed": ("Failed", ("failed",)),
    "unjudged": ("Unjudged", ("unjudged",)),
    "all": ("All that did not pass", ("failed", "unjudged")),
}
"""The choices of conversations: the label and the outcomes of each."""
_COMPARED: Final = {"baseline": "the baseline that was named"}


def make_redteam_run_page(services: Services) -> APIRouter:
    """The page of one run."""
    router = page_router()
    store = services.store

    @router.get(f"{PATH}/runs/{{id_}}")
    def run_page(request: Request, id_: str) -> Response:
        caller, now, query = allowed(request, Permission.READ), store.now(), request.query_params
        show = query.get("show", "all")
        show = show if show in _VIEWS else "all"
        after, case = whole_number(query.get("after")), query.get("case", "")
        begin = -1 if after is None else after
        with store.reading(caller.tenant) as connection:
            run = read_run(connection, caller.tenant, id_)
            if run is None:
                raise HTTPException(404, "there is no such run of the red team")
            outcomes = _VIEWS[show][1]
            cases = read_cases(connection, caller.tenant, run.id, outcomes=outcomes, after=begin, limit=PAGE_SIZE + 1)
            if case and not any(one.case_id == case for one in cases[:PAGE_SIZE]):
                # A link to a case that is on a later page: this page begins with it.
                positions = read_cases(connection, caller.tenant, run.id, told=True)
                begin = next((one.position - 1 for one in positions if one.case_id == case), begin)
                show, outcomes = "all", _VIEWS["all"][1]
                cases = read_cases(
                    connection, caller.tenant, run.id, outcomes=outcomes, after=begin, limit=PAGE_SIZE + 1
                )
        path = f"{PATH}/runs/{run.id}"
        older = (
            address(path, show=show, after=cases[PAGE_SIZE - 1].position) + "#conversations"
            if len(cases) > PAGE_SIZE
            else None
        )
        shown = tabs(
            "Conversations",
            ((words, address(path, show=name) + "#conversations", name == show) for name, (words, _) in _VIEWS.items()),
        )
        return render(
            request,
            "Run of the red team",
            _figures(run),
            _facts(run, now),
            _categories(run),
            _comparisons(run),
            panel(
                "Conversations",
                [conversation_card(one) for one in cases[:PAGE_SIZE]] or empty_state(*_EMPTY),
                pager(older, address(path, show=show) + "#conversations" if begin >= 0 else None),
                actions=shown,
                id_="conversations",
            ),
            current="redteam",
            parent=("Red team", PATH),
            heading=group("Run of ", foreign(shorten(run.suite_name, 80))),
            about=group("against ", foreign(shorten(run.target, 160)), ", ", moment(moment_at(run.at), now)),
        )

    return router


_EMPTY: Final = ("Nothing here", "The run has no such case.")


def _figures(run: AttackRun) -> Markup:
    interval = "nothing judged" if run.low is None else f"{number(run.low, 3)} to {number(run.high, 3)}"
    return stats(
        stat("Robustness (ARS)", number(run.ars, 3), interval),
        stat("Passed", f"{run.passed:,}", f"of {run.cases:,}"),
        stat("Failed", f"{run.failed:,}"),
        stat("Unjudged", f"{run.unjudged:,}"),
        stat("Flaky", f"{run.flaky:,}"),
    )


def _facts(run: AttackRun, now: datetime) -> Markup:
    pairs: list[tuple[str, Child]] = [
        ("Suite", group(foreign(shorten(run.suite_name, 60)), " ", digest(run.suite))),
        ("Version of the system", line(run.target_version, 80)),
        ("Verifier", digest(run.verifier) if run.verifier else "–"),
        ("Against before", regression_badge(run)),
        ("Recorded", moment(moment_at(run.recorded), now)),
        ("By", line(run.schedule, 60) if run.schedule else line(run.actor or run.source, 60)),
    ]
    if run.weight:
        pairs.append(("Error budget", f"{run.weight * run.failed:.1f} wrong outputs"))
    return panel(None, facts(pairs))


def _categories(run: AttackRun) -> Markup:
    categories: Mapping[str, Mapping[str, Any]] = run.body.get("categories") or {}
    rows = [(title_words(shorten(name, 60)), *figures_of(run, name)) for name in categories]
    chart = panel_chart("ARS by category", Drawing("ranges", ranges=rows))
    return panel("By category", chart or tag("p", "Nothing was judged.", class_="soft"))


def _comparisons(run: AttackRun) -> Child:
    comparisons: Mapping[str, Mapping[str, Any]] = run.body.get("comparisons") or {}
    return [_comparison(name, comparison) for name, comparison in comparisons.items()]


def _comparison(name: str, comparison: Mapping[str, Any]) -> Markup:
    columns = (
        Column("Group"),
        Column("Before", "num"),
        Column("Now", "num"),
        Column("p, corrected", "num less"),
        Column("Cases", "num less"),
        Column("State"),
    )
    changes: Sequence[Mapping[str, Any]] = comparison.get("changes") or ()
    rows: list[list[Child]] = [
        [
            title_words(shorten(str(change["group"]), 60)),
            number(change["before"], 3),
            number(change["after"], 3),
            f"{change['p']:.4f}" if change.get("tested", True) else "too few to test",
            f"{change['pairs']:,}",
            badge("regressed", "bad", "✗") if change["regressed"] else badge("held", "good", "✓"),
        ]
        for change in changes
    ]
    against: Child = _COMPARED.get(name) or tag("a", "an earlier run", href=f"{PATH}/runs/{name}")
    compared = tag(
        "p",
        "Against ",
        against,
        f": {comparison.get('broke', 0):,} cases broke that had passed, "
        f"{comparison.get('mended', 0):,} pass that had not. A drop within {comparison.get('delta', 0):g} is let pass.",
    )
    return panel("Against before", compared, table("Against before", columns, rows, style="tight"))
