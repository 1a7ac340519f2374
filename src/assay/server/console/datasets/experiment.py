"""An experiment beside what was recorded, or beside another one: both rates, and the runs that flipped."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Action, Permission
from assay.server.console.charts import split_bar
from assay.server.console.datasets.page import LABEL_BADGES, PATH, refused_as_error, state_badge
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, form, form_of, redirect, render
from assay.server.console.parts import (
    ACTION_TONES,
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
    Dataset,
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
"""Runs that flipped, listed by name."""
ORDER: Final = (Action.EMIT, Action.REVISE, Action.ESCALATE, Action.BLOCK)
_ID: Final = re.compile("[0-9a-f]{32}")
_MEANING: Final = {
    True: ("worse", "bad", "✗"),
    False: ("better", "good", "✓"),
    None: ("another", "quiet", "·"),
}
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
            other = next((one for one in others if one.id == against), None)
            before = None if other is None else read_outcomes(connection, caller.tenant, other.id)
        made = compare(rows, after, before)
        names = ("recorded" if other is None else other.name, found.name)
        live = found.state is ExperimentState.RUNNING
        return render(
            request,
            found.name,
            _about(found),
            _against(id_, others, other),
            tag(
                "div",
                _sides(rows, after, before, names, made),
                _flipped(made, rows, names),
                _left_out(after),
                data_live=live or None,
            ),
            _stop(request, found) if live and caller.may(Permission.CHECK) else None,
            current="datasets",
            heading=foreign(found.name),
            parent=(_parent(dataset), f"{PATH}/{dataset.id}"),
            scripts=("live.js",) if live else (),
        )

    @router.post(f"{_EXPERIMENTS}/{{id_}}/stop")
    async def stop(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.CHECK)
        await form_of(request)
        with refused_as_error():
            await run_in_threadpool(
                end_experiment, store, caller.tenant, id_, ExperimentState.STOPPED, actor=caller.actor
            )
        return redirect(f"{_EXPERIMENTS}/{id_}", "experiment.stopped")

    return router


def _parent(dataset: Dataset) -> str:
    return shorten(dataset.name, 40)


def _about(found: Experiment) -> Markup:
    judge = "as the policy says" if found.judge == "policy" else "every claim"
    pairs: list[tuple[str, Child]] = [
        ("State", state_badge(found)),
        ("Policy", _policy(found)),
        ("Judge", judge),
        ("Verifier", line(found.verifier, 60)),
        ("Runs", f"{found.done:,} of {found.count:,}"),
        ("Begun", group(moment(found.created), " by ", foreign(found.maker or "somebody"))),
    ]
    return tag("section", facts(pairs), class_="panel box state", data_live=True)


def _policy(found: Experiment) -> Markup:
    digest = None if found.policy == found.policy_name else tag("code", found.policy[:12])
    return group(foreign(shorten(found.policy_name, 60)), " ", digest)


def _against(id_: str, others: Sequence[Experiment], other: Experiment | None) -> Markup | None:
    if not others:
        return None
    choices = [("", "What was recorded"), *((one.id, shorten(one.name, 60)) for one in others)]
    return tag(
        "form",
        field("Beside", select("against", choices, "" if other is None else other.id)),
        button("Compare"),
        method="get",
        action=f"{_EXPERIMENTS}/{id_}",
        class_="inline",
        data_auto=True,
    )


def _sides(
    rows: Sequence[DatasetRow],
    after: Mapping[str, Outcome],
    before: Mapping[str, Outcome] | None,
    names: tuple[str, str],
    made: Comparison,
) -> Markup:
    """Both rates, and what was decided, in two rows."""
    pairs = list(pairs_of(rows, after, before).values())
    columns = (
        Column("Side"),
        Column("Honest emitted", "num"),
        Column("Wrong stopped", "num"),
        Column("Decisions", "main"),
    )
    drawn = (
        _side(name, side.honest_emitted, side.wrong_stopped, [pair[place] for pair in pairs])
        for place, (name, side) in enumerate(zip(names, (made.before, made.after), strict=True))
    )
    labelled = made.after.honest_emitted.of + made.after.wrong_stopped.of
    words = (
        f"Over {labelled:,} labelled runs; in brackets the 95 % interval (Wilson)."
        if labelled
        else "No run is labelled: label some to see how many honest outputs are emitted and wrong ones stopped."
    )
    return panel(
        "Side by side",
        table("Both rates of each side", columns, drawn, style="bars-table sides"),
        tag("p", words, class_="soft"),
    )


def _side(name: str, honest: Rate, wrong: Rate, actions: Sequence[str]) -> list[Child]:
    counts = [(one, sum(action == one.value for action in actions)) for one in ORDER]
    counted = ", ".join(f"{count} {one.value}" for one, count in counts)
    bar = split_bar([(one.value, float(count), ACTION_TONES[one]) for one, count in counts], f"{name}: {counted}")
    return [foreign(shorten(name, 60)), _rate(honest), _rate(wrong), [bar, tag("small", counted)]]


def _rate(rate: Rate) -> Child:
    if rate.rate is None or rate.low is None or rate.high is None:
        return tag("span", "–", class_="soft")
    interval = tag("small", f" {rate.count:,} of {rate.of:,} [{number(rate.low)}, {number(rate.high)}]")
    return group(share(rate.count, rate.of), " ", meter(rate.rate), interval)


def _flipped(made: Comparison, rows: Sequence[DatasetRow], names: tuple[str, str]) -> Markup:
    if not made.flipped:
        return note("quiet", f"No decision differs over {made.compared:,} runs.")
    questions = {row.run: row.question for row in rows}
    columns = (
        Column("What it means"),
        Column("Run", "main"),
        Column("Label", "less"),
        Column(f"{shorten(names[0], 30)}"),
        Column(f"{shorten(names[1], 30)}"),
    )
    listed = (_flip(one, questions.get(one.run)) for one in made.flipped[:MOST_FLIPPED])
    worse = sum(one.regression is True for one in made.flipped)
    better = sum(one.regression is False for one in made.flipped)
    words = f"{len(made.flipped):,} of {made.compared:,} decisions flipped"
    words += f": {worse:,} for the worse, {better:,} for the better"
    return panel(
        "Runs that flipped", tag("p", words), table("Runs that flipped", columns, listed, style="rows"), id_="flipped"
    )


def _flip(one: Flipped, question: str | None) -> list[Child]:
    label: Child = tag("span", "–", class_="soft") if one.label is None else badge(*LABEL_BADGES[one.label])
    words = shorten(question, 160) if question else f"Run {one.run[:12]}"
    return [
        badge(*_MEANING[one.regression]),
        tag("a", foreign(words), href=f"/console/runs/{one.run}", class_="row"),
        label,
        action_badge(one.before),
        action_badge(one.after),
    ]


def _left_out(after: Mapping[str, Outcome]) -> Markup | None:
    counts = {fault: sum(one.fault is fault for one in after.values()) for fault in Fault}
    counted = "; ".join(f"{count:,} {_FAULTS[fault]}" for fault, count in counts.items() if count)
    return tag("p", f"Left out: {counted}.", class_="soft") if counted else None


def _stop(request: Request, found: Experiment) -> Markup:
    return form(request, f"{_EXPERIMENTS}/{found.id}/stop", button("Stop it", "danger"), class_="inline under")
