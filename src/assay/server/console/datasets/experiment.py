"""The page of an experiment, compared with the recorded decisions or another experiment: both rates, flipped runs."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.charts import split_bar
from assay.server.console.datasets.page import LABEL_BADGES, PATH, state_badge
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, form, read_form, redirect, render
from assay.server.console.parts import (
    ACTION_ORDER,
    ACTION_TONES,
    DASH,
    Column,
    action_badge,
    badge,
    button,
    facts,
    field,
    line,
    meter,
    moment,
    note,
    number,
    panel,
    select,
    share,
    shorten,
    table,
)
from assay.server.datasets.comparison import Comparison, Flipped, Rate, compare, pairs_of
from assay.server.services import Services
from assay.store.datasets import (
    DatasetRow,
    Experiment,
    ExperimentState,
    Fault,
    Outcome,
    end_experiment,
    list_experiments,
    read_dataset,
    read_experiment,
    read_outcomes,
    read_rows,
)

MOST_FLIPPED: Final = 200
"""The most flipped runs that are listed."""
_ID: Final = re.compile("[0-9a-f]{32}")
_REGRESSION_BADGES: Final = {
    True: ("worse", "bad", "✗"),
    False: ("better", "good", "✓"),
    None: ("another", "quiet", "·"),
}
"""The badge of a flipped run: whether the new decision is a regression; `None` if the run has no label."""
_EXPERIMENTS: Final = "/console/experiments"
_FAULTS: Final = {
    Fault.ERASED: "erased since",
    Fault.UNREPEATABLE: "not a text that can be checked again",
    Fault.FAILED: "the check failed",
}


def make_experiment_pages(services: Services) -> APIRouter:
    """The page of one experiment, and the form that stops it."""
    router = page_router()
    store = services.store

    @router.get(f"{_EXPERIMENTS}/{{id_}}")
    def experiment(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.READ)
        against = request.query_params.get("against", "")
        with store.reading(caller.tenant) as connection:
            found = read_experiment(connection, caller.tenant, id_) if _ID.fullmatch(id_) else None
            dataset = None if found is None else read_dataset(connection, caller.tenant, found.dataset)
            if found is None or dataset is None:
                raise HTTPException(404, "this tenant has no such experiment")
            rows = read_rows(connection, caller.tenant, found.dataset)
            others = [one for one in list_experiments(connection, caller.tenant, found.dataset) if one.id != id_]
            after = read_outcomes(connection, caller.tenant, id_)
            baseline = next((one for one in others if one.id == against), None)
            before = None if baseline is None else read_outcomes(connection, caller.tenant, baseline.id)
        comparison = compare(rows, after, before)
        names = ("recorded" if baseline is None else baseline.name, found.name)
        live = found.state is ExperimentState.RUNNING
        return render(
            request,
            found.name,
            _facts(found),
            _baseline_form(id_, others, baseline),
            tag(
                "div",
                _rates(rows, after, before, names, comparison),
                _flipped_runs(comparison, rows, names),
                _left_out(after),
                data_live=live or None,
            ),
            _stop_form(request, found) if live and caller.may(Permission.CHECK) else None,
            current="datasets",
            heading=foreign(found.name),
            parent=(shorten(dataset.name, 40), f"{PATH}/{dataset.id}"),
            scripts=("live.js",) if live else (),
        )

    @router.post(f"{_EXPERIMENTS}/{{id_}}/stop")
    async def stop(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.CHECK)
        await read_form(request)
        await run_in_threadpool(end_experiment, store, caller.tenant, id_, ExperimentState.STOPPED, actor=caller.actor)
        return redirect(f"{_EXPERIMENTS}/{id_}", "experiment.stopped")

    return router


def _facts(experiment: Experiment) -> Markup:
    judge = "as the policy says" if experiment.judge == "policy" else "every claim"
    pairs: list[tuple[str, Child]] = [
        ("State", state_badge(experiment)),
        ("Policy", _policy(experiment)),
        ("Judge", judge),
        ("Verifier", line(experiment.verifier, 60)),
        ("Runs", f"{experiment.done:,} of {experiment.count:,}"),
        ("Begun", group(moment(experiment.created), " by ", foreign(experiment.maker or "somebody"))),
    ]
    return tag("section", facts(pairs), class_="panel box state", data_live=True)


def _policy(experiment: Experiment) -> Markup:
    digest = None if experiment.policy == experiment.policy_name else tag("code", experiment.policy[:12])
    return group(foreign(shorten(experiment.policy_name, 60)), " ", digest)


def _baseline_form(id_: str, others: Sequence[Experiment], baseline: Experiment | None) -> Markup | None:
    """A form that chooses what to compare the experiment with; `None` where there is nothing to choose."""
    if not others:
        return None
    choices = [("", "What was recorded"), *((one.id, shorten(one.name, 60)) for one in others)]
    return tag(
        "form",
        field("Beside", select("against", choices, "" if baseline is None else baseline.id)),
        button("Compare"),
        method="get",
        action=f"{_EXPERIMENTS}/{id_}",
        class_="inline",
        data_auto=True,
    )


def _rates(
    rows: Sequence[DatasetRow],
    after: Mapping[str, Outcome],
    before: Mapping[str, Outcome] | None,
    names: tuple[str, str],
    comparison: Comparison,
) -> Markup:
    """A row for the baseline and one for the experiment, each with both rates and its decisions."""
    pairs = list(pairs_of(rows, after, before).values())
    columns = (
        Column("Side"),
        Column("Honest emitted", "num"),
        Column("Wrong stopped", "num"),
        Column("Decisions", "main"),
    )
    sides = (
        _side(name, side.honest_emitted, side.wrong_stopped, [pair[at] for pair in pairs])
        for at, (name, side) in enumerate(zip(names, (comparison.before, comparison.after), strict=True))
    )
    labelled = comparison.after.honest_emitted.of + comparison.after.wrong_stopped.of
    words = (
        f"Over {labelled:,} labelled runs; in brackets the 95 % interval (Wilson)."
        if labelled
        else "Label some runs to see the share of honest outputs that are emitted and of wrong ones that are stopped."
    )
    return panel(
        "Side by side",
        table("Both rates of each side", columns, sides, style="bars-table sides"),
        tag("p", words, class_="soft"),
    )


def _side(name: str, honest: Rate, wrong: Rate, actions: Sequence[str]) -> list[Child]:
    counts = [(one, sum(action == one.value for action in actions)) for one in ACTION_ORDER]
    counted = ", ".join(f"{count} {one.value}" for one, count in counts)
    bar = split_bar([(one.value, float(count), ACTION_TONES[one]) for one, count in counts], f"{name}: {counted}")
    return [foreign(shorten(name, 60)), _rate(honest), _rate(wrong), [bar, tag("small", counted)]]


def _rate(rate: Rate) -> Child:
    if rate.rate is None or rate.low is None or rate.high is None:
        return DASH
    interval = tag("small", f" {rate.count:,} of {rate.of:,} [{number(rate.low)}, {number(rate.high)}]")
    return group(share(rate.count, rate.of), " ", meter(rate.rate), interval)


def _flipped_runs(comparison: Comparison, rows: Sequence[DatasetRow], names: tuple[str, str]) -> Markup:
    if not comparison.flipped:
        return note("quiet", f"No decision differs over {comparison.compared:,} runs.")
    questions = {row.run: row.question for row in rows}
    columns = (
        Column("What it means"),
        Column("Run", "main"),
        Column("Label", "less"),
        Column(f"{shorten(names[0], 30)}"),
        Column(f"{shorten(names[1], 30)}"),
    )
    listed = (_flipped_run(one, questions.get(one.run)) for one in comparison.flipped[:MOST_FLIPPED])
    worse = sum(one.regression is True for one in comparison.flipped)
    better = sum(one.regression is False for one in comparison.flipped)
    words = f"{len(comparison.flipped):,} of {comparison.compared:,} decisions flipped"
    words += f": {worse:,} for the worse, {better:,} for the better"
    return panel(
        "Runs that flipped", tag("p", words), table("Runs that flipped", columns, listed, style="rows"), id_="flipped"
    )


def _flipped_run(flip: Flipped, question: str | None) -> list[Child]:
    label: Child = DASH if flip.label is None else badge(*LABEL_BADGES[flip.label])
    words = shorten(question, 160) if question else f"Run {flip.run[:12]}"
    return [
        badge(*_REGRESSION_BADGES[flip.regression]),
        tag("a", foreign(words), href=f"/console/runs/{flip.run}", class_="row"),
        label,
        action_badge(flip.before),
        action_badge(flip.after),
    ]


def _left_out(after: Mapping[str, Outcome]) -> Markup | None:
    counts = {fault: sum(one.fault is fault for one in after.values()) for fault in Fault}
    counted = "; ".join(f"{count:,} {_FAULTS[fault]}" for fault, count in counts.items() if count)
    return tag("p", f"Left out: {counted}.", class_="soft") if counted else None


def _stop_form(request: Request, experiment: Experiment) -> Markup:
    return form(request, f"{_EXPERIMENTS}/{experiment.id}/stop", button("Stop it", "danger"), class_="inline under")
