"""The page of one run of a dataset, on which a person labels it as right, or as wrong and in which claims."""

from collections.abc import Sequence
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import SIGNS, WORDS, Child, Markup, foreign, tag
from assay.schema import ClaimReport, HallucinationReport
from assay.server.console.layout import form, render, whole_number
from assay.server.console.parts import (
    VERDICT_TONES,
    action_badge,
    button,
    empty_state,
    link_button,
    moment,
    note,
    panel,
    shorten,
)
from assay.server.console.views.answer_text import text_view
from assay.server.console.views.report import answer_view
from assay.server.console.views.report_sections import evidence_view
from assay.store.datasets import Dataset, DatasetRow, Label
from assay.store.db import StoredCheck
from assay.store.records import NoRow, why_no_row

NO_ROW: Final = {
    NoRow.ERASED: "erased",
    NoRow.EVIDENCE_ERASED: "evidence erased",
    NoRow.AGENT_RUN: "run of an agent",
    NoRow.CALLS: "calls alone",
    NoRow.NO_EVIDENCE: "without evidence",
    NoRow.NO_TEXT: "without text",
}
"""Why an export has no row for a run, in a few words."""
MOST_CLAIMS: Final = 200
"""The most claims that the form lists."""


def labels_of(fields: Sequence[tuple[str, str]]) -> tuple[Label | None, list[int]]:
    """The label that a form gives to a run, and the positions of the claims that it calls wrong.

    Raises:
        HTTPException: the label or the position of a claim is none that can be given.
    """
    chosen = dict(fields).get("label", "")
    claims = [value for name, value in fields if name == "claim"]
    positions = [position for value in claims if (position := whole_number(value, 6)) is not None]
    if len(positions) < len(claims):
        raise HTTPException(422, "a claim is named by its number")
    if chosen not in ("", "none", *(label.value for label in Label)):
        raise HTTPException(422, "a label is right, wrong or none")
    label = Label(chosen) if chosen in (Label.RIGHT, Label.WRONG) else None
    return label, positions if label is Label.WRONG else []


def label_page(
    request: Request,
    dataset: Dataset,
    rows: Sequence[DatasetRow],
    at: int,
    check: StoredCheck | None,
    *,
    may_label: bool,
) -> Response:
    """The page of one row of a dataset.

    Args:
        request: the request that the page answers.
        found: the dataset.
        rows: all rows of the dataset, in order.
        at: the index of the row.
        check: the check of the run; `None` where it is not stored.
        may: whether the caller may label it.
    """
    row, path = rows[at], f"/console/datasets/{dataset.id}"
    report = None if check is None else check.report
    neighbours = [
        link_button(words, f"{path}/rows/{rows[index].run}")
        for words, index in (("Previous", at - 1), ("Next", at + 1))
        if 0 <= index < len(rows)
    ]
    body: list[Child] = []
    if check is None or report is None:
        body.append(empty_state("Its content was erased", "It counts in no figure and is left out of exports."))
    else:
        why = why_no_row(check)
        if why is not None:
            body.append(note("doubt", f"Exports leave it out: {NO_ROW[why]}."))
        if may_label:
            body.append(_form(request, f"{path}/rows/{row.run}", row, report))
        else:
            body.append(note("quiet", "You may read this and change nothing."))
        texts = {name: one for name, _, one in check.evidence if one is not None}
        body += [
            answer_view(report, texts, {}, report.question, view=text_view(request)),
            evidence_view(check.evidence),
        ]
    return render(
        request,
        f"Row {at + 1} of {dataset.name}"[:120],
        *body,
        current="datasets",
        heading=foreign(shorten(row.question or f"Run {row.run[:12]}", 140)),
        parent=(shorten(dataset.name, 40), path),
        about=_about(row, at, len(rows)),
        actions=[*neighbours, link_button("The run", f"/console/runs/{row.run}")],
        scripts=("run.js",),
    )


def _about(row: DatasetRow, at: int, count: int) -> Child:
    parts: list[Child] = [f"{at + 1:,} of {count:,} · the gate's decision at the time was "]
    parts.append(action_badge(row.action) if row.action else "nothing")
    if row.labelled is not None:
        parts += [" · labelled by ", foreign(row.labeller or "somebody"), " ", moment(row.labelled)]
    return parts


def _form(request: Request, path: str, row: DatasetRow, report: HallucinationReport) -> Markup:
    choices = (
        ("right", "Right: the evidence supports everything in it"),
        ("wrong", "Wrong: something in it is not"),
        ("none", "No label"),
    )
    current = row.label.value if row.label is not None else "none"
    radios = (
        tag(
            "label",
            tag("input", type_="radio", name_="label", value=value, checked=value == current, required=True),
            words,
        )
        for value, words in choices
    )
    boxes = [_claim(at, claim, row) for at, claim in enumerate(report.claims[:MOST_CLAIMS])]
    claims = None
    if boxes:
        claims = tag(
            "fieldset",
            tag("legend", "If wrong: in which claims (none if the error is elsewhere)"),
            boxes,
            class_="boxes tall",
        )
    return panel(
        "Label",
        form(
            request,
            path,
            tag("fieldset", tag("legend", "The output is"), radios, class_="boxes"),
            claims,
            tag("div", button("Keep it, and on to the next", "primary"), class_="actions"),
            class_="stack",
        ),
        style="box",
    )


def _claim(at: int, claim: ClaimReport, row: DatasetRow) -> Markup:
    sign = tag("span", SIGNS[claim.verdict], class_=f"sign {VERDICT_TONES[claim.verdict]}", aria_hidden="true")
    label = tag("span", f"Claim {at + 1}, judged {WORDS[claim.verdict]}: ", class_="hidden")
    box = tag("input", type_="checkbox", name_="claim", value=at, checked=at in row.wrong_claims)
    return tag("label", box, sign, label, foreign(shorten(claim.text, 200)))
