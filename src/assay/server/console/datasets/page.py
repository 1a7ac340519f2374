"""The pages of datasets: named collections of runs that people label, export, and check again in experiments."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.policy import PRESETS
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.caller import Caller
from assay.server.console.datasets.label_page import NO_ROW, label_page, labels_of
from assay.server.console.errors import page_router
from assay.server.console.layout import (
    address,
    allowed,
    form,
    read_form,
    read_form_fields,
    redirect,
    render,
    whole_number,
)
from assay.server.console.parts import (
    DASH,
    Column,
    action_badge,
    badge,
    bulk_actions,
    button,
    details,
    empty_state,
    field,
    line,
    link_button,
    moment,
    note,
    panel,
    row_box,
    score,
    select,
    shorten,
    table,
    text_input,
)
from assay.server.datasets.experiments import policy_by_name
from assay.server.datasets.rows import export_rows
from assay.server.services import Services
from assay.store.datasets import (
    LONGEST_NAME,
    Dataset,
    DatasetRow,
    Experiment,
    ExperimentState,
    Label,
    drop_dataset,
    drop_rows,
    label_rows,
    list_datasets,
    list_experiments,
    make_dataset,
    read_dataset,
    read_rows,
    start_experiment,
)
from assay.store.db import read_check
from assay.store.insights import PolicyVersion, policy_history

PATH: Final = "/console/datasets"
PAGE_SIZE: Final = 100
"""Rows of one page."""
_ID: Final = re.compile("[0-9a-f]{32}")
LABEL_BADGES: Final = {Label.RIGHT: ("right", "good", "✓"), Label.WRONG: ("wrong", "bad", "✗")}
"""The badge of each label."""
STATE_TONES: Final = {
    ExperimentState.RUNNING: "accent",
    ExperimentState.DONE: "good",
    ExperimentState.STOPPED: "doubt",
    ExperimentState.FAILED: "bad",
}
"""The tone of each state of an experiment."""


def make_dataset_pages(services: Services) -> APIRouter:
    """The pages of datasets, and the routes of their forms."""
    router, pages = page_router(), _Pages(services)
    router.add_api_route(PATH, pages.datasets, methods=["GET"])
    router.add_api_route(PATH, pages.make, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}", pages.dataset, methods=["GET"])
    router.add_api_route(f"{PATH}/{{id_}}/rows", pages.rows, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}/rows/{{run}}", pages.row, methods=["GET"])
    router.add_api_route(f"{PATH}/{{id_}}/rows/{{run}}", pages.label, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}/export.jsonl", pages.export, methods=["GET"])
    router.add_api_route(f"{PATH}/{{id_}}/experiments", pages.start_experiment, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}/drop", pages.drop, methods=["POST"])
    return router


class _Pages:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def datasets(self, request: Request) -> Response:
        """All datasets."""
        caller, now = allowed(request, Permission.READ), self._store.now()
        with self._store.reading(caller.tenant) as connection:
            datasets = list_datasets(connection, caller.tenant)
        columns = (
            Column("Dataset", "main"),
            Column("Runs", "num"),
            Column("Labelled", "num"),
            Column("Made by", "less"),
            Column("Made", "num less"),
        )
        rows: list[list[Child]] = [
            [
                tag("a", foreign(one.name), href=f"{PATH}/{one.id}", class_="row"),
                f"{one.rows:,}",
                f"{one.labelled:,}",
                line(one.maker, 40),
                moment(one.created, now),
            ]
            for one in datasets
        ]
        words = "Choose runs in the list of runs and save them into one, or make an empty one here."
        return render(
            request,
            "Datasets",
            table("Datasets", columns, rows, empty=("No dataset yet", words), style="rows"),
            self._new_form(request) if caller.may(Permission.FEEDBACK) else read_only(),
            current="datasets",
            about="Runs to label, to measure and calibrate with, and to check again under another policy.",
        )

    def _new_form(self, request: Request) -> Markup:
        name = text_input("name", maxlength=LONGEST_NAME, required=True, placeholder="Such as: leave, March")
        return panel(
            "Make one", form(request, PATH, field("Name", name), button("Make it", "primary"), class_="inline")
        )

    async def make(self, request: Request) -> Response:
        """Makes an empty dataset."""
        caller = allowed(request, Permission.FEEDBACK)
        fields = await read_form(request)
        id_ = await run_in_threadpool(
            make_dataset,
            self._store,
            caller.tenant,
            fields.get("name", ""),
            maker=caller.name,
            actor=caller.actor,
        )
        return redirect(f"{PATH}/{id_}", "dataset.made")

    def dataset(self, request: Request, id_: str) -> Response:
        """One dataset: its rows and experiments."""
        caller, now = allowed(request, Permission.READ), self._store.now()
        dataset = self._dataset_or_404(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            rows = read_rows(connection, caller.tenant, id_)
            experiments = list_experiments(connection, caller.tenant, id_)
        first = _first(request, len(rows))
        shown, may_label = rows[first : first + PAGE_SIZE], caller.may(Permission.FEEDBACK)
        versions = policy_history(self._store, caller.tenant, 0) if caller.may(Permission.CHECK) and rows else []
        return render(
            request,
            dataset.name,
            _about_rows(dataset, rows),
            _left_out(rows),
            _rows(request, id_, shown, now, may_label=may_label) if rows else _empty(),
            _pages(id_, first, len(rows)),
            _experiments(experiments, now),
            _start_form(request, id_, versions) if caller.may(Permission.CHECK) and rows else None,
            _remove_form(request, dataset) if may_label else read_only(),
            current="datasets",
            heading=foreign(dataset.name),
            parent=("Datasets", PATH),
            actions=_actions(id_, rows, may_label=may_label),
            scripts=("choose.js", "live.js"),
        )

    async def rows(self, request: Request, id_: str) -> Response:
        """Labels several rows, or removes them from the dataset."""
        caller = allowed(request, Permission.FEEDBACK)
        pairs = await read_form_fields(request)
        runs = list(dict.fromkeys(value for name, value in pairs if name == "run"))
        act = dict(pairs).get("act", "")
        if not runs:
            return redirect(f"{PATH}/{id_}", "runs.none")
        if act == "out":
            await run_in_threadpool(drop_rows, self._store, caller.tenant, id_, runs, actor=caller.actor)
            return redirect(f"{PATH}/{id_}", "dataset.taken")
        if act not in ("right", "wrong", "none"):
            raise HTTPException(422, "expected one of the acts right, wrong, none, out")
        label = None if act == "none" else Label(act)
        labels: dict[str, tuple[Label | None, Sequence[int]]] = dict.fromkeys(runs, (label, ()))
        await run_in_threadpool(
            label_rows, self._store, caller.tenant, id_, labels, labeller=caller.name, actor=caller.actor
        )
        return redirect(f"{PATH}/{id_}", "dataset.labelled")

    def row(self, request: Request, id_: str, run: str) -> Response:
        """The page of one row."""
        caller = allowed(request, Permission.READ)
        dataset = self._dataset_or_404(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            rows = read_rows(connection, caller.tenant, id_)
            check = read_check(connection, caller.tenant, run) if _ID.fullmatch(run) else None
        at = next((index for index, one in enumerate(rows) if one.run == run), None)
        if at is None:
            raise HTTPException(404, "this dataset has no such run")
        return label_page(request, dataset, rows, at, check, may_label=caller.may(Permission.FEEDBACK))

    async def label(self, request: Request, id_: str, run: str) -> Response:
        """Labels one row, and redirects to the next one without a label."""
        caller = allowed(request, Permission.FEEDBACK)
        label, claims = labels_of(await read_form_fields(request))
        await run_in_threadpool(
            label_rows,
            self._store,
            caller.tenant,
            id_,
            {run: (label, claims)},
            labeller=caller.name,
            actor=caller.actor,
        )
        unlabelled = await run_in_threadpool(self._next_unlabelled, caller, id_, run)
        return redirect(f"{PATH}/{id_}" + (f"/rows/{unlabelled}" if unlabelled else ""), "dataset.labelled")

    def _next_unlabelled(self, caller: Caller, id_: str, run: str) -> str | None:
        """The run of the next row without a label, after this one and then from the first row on."""
        with self._store.reading(caller.tenant) as connection:
            rows = read_rows(connection, caller.tenant, id_)
        at = next((index for index, one in enumerate(rows) if one.run == run), 0)
        return next((one.run for one in (*rows[at + 1 :], *rows[:at]) if one.label is None and not one.gone), None)

    def export(self, request: Request, id_: str) -> Response:
        """The rows as `assay eval` and `assay calibrate` read them."""
        caller = allowed(request, Permission.READ)
        dataset = self._dataset_or_404(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            rows = read_rows(connection, caller.tenant, id_)
            labelled = request.query_params.get("labelled") == "true"
            file = export_rows(connection, caller.tenant, dataset.name, rows, labelled=labelled)
        headers = {"content-disposition": f'attachment; filename="assay-dataset-{id_[:12]}.jsonl"'}
        headers |= file.headers | {"cache-control": "no-store"}
        return Response(file.text, media_type="application/x-ndjson", headers=headers)

    async def start_experiment(self, request: Request, id_: str) -> Response:
        """Starts an experiment: the runs of the dataset are checked again under a policy."""
        caller = allowed(request, Permission.CHECK)
        fields = await read_form(request)
        chosen, judge = fields.get("policy", ""), fields.get("judge", "policy")
        policy = await run_in_threadpool(policy_by_name, self._store, caller.tenant, chosen)
        if policy is None or judge not in ("policy", "all"):
            raise HTTPException(422, "expected a policy that is known here")
        default = f"{policy.name}, judge of all claims" if judge == "all" else policy.name
        name = fields.get("name", "").strip() or default
        experiment = await run_in_threadpool(
            start_experiment,
            self._store,
            caller.tenant,
            id_,
            name[:LONGEST_NAME],
            policy=chosen,
            policy_name=policy.name,
            judge=judge,
            maker=caller.name,
            actor=caller.actor,
        )
        return redirect(f"/console/experiments/{experiment}", "experiment.begun")

    async def drop(self, request: Request, id_: str) -> Response:
        """Deletes a dataset; its runs stay stored."""
        caller = allowed(request, Permission.FEEDBACK)
        await read_form(request)
        await run_in_threadpool(drop_dataset, self._store, caller.tenant, id_, actor=caller.actor)
        return redirect(PATH, "dataset.dropped")

    def _dataset_or_404(self, caller: Caller, id_: str) -> Dataset:
        found = None
        if _ID.fullmatch(id_):
            with self._store.reading(caller.tenant) as connection:
                found = read_dataset(connection, caller.tenant, id_)
        if found is None:
            raise HTTPException(404, "this tenant has no such dataset")
        return found


def read_only() -> Markup:
    """The note in place of the forms for a caller who may only read."""
    return note("quiet", "You may read this and change nothing. Ask an administrator for another role to do more.")


# Rows


def _first(request: Request, count: int) -> int:
    first = whole_number(request.query_params.get("from"), 6) or 0
    return first if first < count else 0


def _about_rows(dataset: Dataset, rows: Sequence[DatasetRow]) -> Markup:
    right = sum(row.label is Label.RIGHT for row in rows)
    wrong = sum(row.label is Label.WRONG for row in rows)
    open_ = len(rows) - right - wrong
    return tag(
        "p",
        f"{len(rows):,} runs: {right:,} right, {wrong:,} wrong, {open_:,} without a label. ",
        "Made by ",
        foreign(dataset.maker or "somebody"),
        ".",
        class_="soft",
    )


def _left_out(rows: Sequence[DatasetRow]) -> Markup | None:
    """How many runs an export leaves out, and why, as far as the rows of the dataset tell."""
    reasons = Counter(row.no_row for row in rows if row.no_row is not None)
    if not reasons:
        return None
    counted = ", ".join(f"{count:,} {NO_ROW[reason]}" for reason, count in sorted(reasons.items()))
    words = "Rows for assay eval leave out {}. A row has all of the evidence of its check, or is left out."
    return note("doubt", words.format(counted))


def _empty() -> Markup:
    return empty_state(
        "No run in it yet",
        "Choose runs in the list of runs, and save them into this dataset.",
        link_button("All runs", "/console/runs"),
    )


def _actions(id_: str, rows: Sequence[DatasetRow], *, may_label: bool) -> list[Markup]:
    actions = []
    first = next((row.run for row in rows if row.label is None and not row.gone), None)
    if may_label and first is not None:
        actions.append(link_button("Label the next", f"{PATH}/{id_}/rows/{first}", "primary"))
    if rows:
        actions.append(link_button("Rows for assay eval", f"{PATH}/{id_}/export.jsonl"))
    if any(row.label is not None for row in rows):
        actions.append(link_button("Labelled rows for calibrate", f"{PATH}/{id_}/export.jsonl?labelled=true"))
    return actions


def label_badge(row: DatasetRow) -> Child:
    """The label of a row, with the numbers of the claims that it calls wrong."""
    if row.label is None:
        return DASH
    claims = ", ".join(str(at + 1) for at in row.wrong_claims[:5])
    return group(badge(*LABEL_BADGES[row.label]), tag("small", f" claim {claims}") if claims else None)


def _rows(request: Request, id_: str, rows: Sequence[DatasetRow], now: datetime, *, may_label: bool) -> Markup:
    columns = (
        Column("Label"),
        Column("Question", "main"),
        Column("Decided"),
        Column("Score", "num less"),
        Column("Labelled by", "less"),
        Column("Added", "num less"),
    )
    listed = (_row(id_, row, now, may_label=may_label) for row in rows)
    shown = table("Runs of the dataset", columns, listed, style="rows chosen" if may_label else "rows")
    if not may_label:
        return shown
    acts = (
        button("Right", name_="act", value="right"),
        button("Wrong", "danger", name_="act", value="wrong"),
        button("No label", name_="act", value="none"),
        button("Take out", name_="act", value="out"),
    )
    actions = bulk_actions("With the chosen runs", acts)
    return form(request, f"{PATH}/{id_}/rows", shown, actions, data_choose=True)


def _row(id_: str, row: DatasetRow, now: datetime, *, may_label: bool) -> list[Child]:
    words = shorten(row.question, 160) if row.question else ("erased" if row.erased else f"Run {row.run[:12]}")
    label: Child = label_badge(row)
    if may_label:
        hint = f"Choose the run: {words[:80]}"
        label = [
            row_box("run", row.run, hint),
            label,
        ]
    return [
        label,
        [
            tag("a", foreign(words), href=f"{PATH}/{id_}/rows/{row.run}", class_="row"),
            None if row.no_row is None else group(" ", badge(NO_ROW[row.no_row], "doubt")),
        ],
        action_badge(row.action) if row.action else "–",
        score(row.score),
        line(row.labeller, 40),
        moment(row.added, now),
    ]


def _pages(id_: str, first: int, count: int) -> Markup | None:
    if count <= PAGE_SIZE:
        return None
    links = [
        tag(
            "a",
            f"{begin + 1:,} to {min(begin + PAGE_SIZE, count):,}",
            href=address(f"{PATH}/{id_}", from_=begin or None),
            aria_current="true" if begin == first else None,
        )
        for begin in range(0, count, PAGE_SIZE)
    ]
    return tag("nav", links, class_="tabs", aria_label="Pages of the list")


# Experiments


def _experiments(experiments: Sequence[Experiment], now: datetime) -> Markup | None:
    if not experiments:
        return None
    columns = (
        Column("Experiment", "main"),
        Column("State"),
        Column("Policy", "less"),
        Column("Verifier", "less"),
        Column("By", "less"),
        Column("Begun", "num"),
    )
    rows = (
        [
            tag("a", foreign(one.name), href=f"/console/experiments/{one.id}", class_="row"),
            state_badge(one),
            foreign(shorten(one.policy_name, 40)),
            line(one.verifier, 40),
            line(one.maker, 40),
            moment(one.created, now),
        ]
        for one in experiments
    )
    return panel("Experiments", tag("div", table("Experiments", columns, rows, style="rows"), data_live=True))


def state_badge(experiment: Experiment) -> Markup:
    """The state of an experiment, or its progress while it runs."""
    words = (
        f"{experiment.done:,} of {experiment.count:,}"
        if experiment.state is ExperimentState.RUNNING
        else experiment.state.value
    )
    return badge(words, STATE_TONES[experiment.state])


def _start_form(request: Request, id_: str, versions: Sequence[PolicyVersion]) -> Markup:
    known = {version.digest for version in versions}
    choices = [
        (version.digest, f"{shorten(version.name, 50)} · {version.digest[:8]}")
        for version in versions
        if version.policy is not None
    ]
    choices += [(name, f"{name} · preset") for name, one in PRESETS.items() if one.digest not in known]
    judges = [("policy", "As the policy says"), ("all", "Of every claim")]
    start = form(
        request,
        f"{PATH}/{id_}/experiments",
        field("Policy", select("policy", choices)),
        field("The judge is asked", select("judge", judges)),
        field("Name", text_input("name", maxlength=LONGEST_NAME, placeholder="That of the policy")),
        button("Check them again", "primary"),
        class_="inline",
    )
    about = "Each output is checked again under that policy, by the verifier that this server has now."
    return panel("Run it again", tag("p", about, class_="soft"), start)


def _remove_form(request: Request, dataset: Dataset) -> Markup:
    words = tag("p", "Its labels and experiments go with it. The runs stay on record.")
    remove = form(request, f"{PATH}/{dataset.id}/drop", words, button("Remove the dataset", "danger"), class_="stack")
    return details("Remove this dataset", remove)
