"""The playground: checks an answer against its evidence while both are written. Nothing is recorded."""

import re
from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.errors import AssayError
from assay.guard import CheckRequest
from assay.policy import PRESETS
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Evidence, HallucinationReport, Permission, Stakes
from assay.server.console.errors import page_router
from assay.server.console.layout import HEADERS, allowed, form, read_form, render
from assay.server.console.parts import (
    button,
    empty_state,
    field,
    link_button,
    note,
    select,
    text_area,
    text_input,
)
from assay.server.console.views.report import answer_view, decision_view
from assay.server.console.views.report_parts import abstention_view, omissions_view
from assay.server.console.views.report_sections import citations_view, coverage_view, findings_view
from assay.server.services import Services

PART_HEADER: Final = "x-assay-part"
"""With this header a request is answered with the report alone, for the script that inserts it into the page."""
MOST_PASSAGES: Final = 200
_SEPARATOR: Final = re.compile(r"(?m)^[ \t]*-{3,}[ \t]*$")
_ID: Final = re.compile(r"\[([^\[\]\n]{1,120})\][ \t]*")

EXAMPLES: Final[Mapping[str, Mapping[str, str]]] = {
    "leave": {
        "title": "Another number",
        "question": "How long is partner leave, and who may take it?",
        "answer": "Partners get 4 weeks of paid leave [hr-2]. The leave is to be taken within six months of the birth "
        "of the child [hr-2]. Adoptive parents may take it as well.",
        "evidence": "[hr-2] Partners are entitled to 2 weeks of paid leave. The leave is to be taken within six months "
        "of the birth of the child.\n---\n[hr-7] Requests for leave are made to the team lead at least eight weeks "
        "ahead.",
    },
    "returns": {
        "title": "All of it right",
        "question": "When do I get my money back?",
        "answer": "Goods may be returned within 30 days of delivery [shop-3]. The refund is paid within 5 working days "
        "to the card that was used [shop-3].",
        "evidence": "[shop-3] Goods may be returned within 30 days of delivery. The refund is paid within 5 working "
        "days to the card that was used. Opened software is not taken back.",
    },
    "dose": {
        "title": "A dose",
        "question": "How do I take Amoxa?",
        "answer": "Adults take one tablet of 500 mg every 6 hours for 7 days. It may be taken with food. It is safe "
        "for children.",
        "evidence": "[leaflet] Adults take one tablet of 500 mg every 8 hours for 7 days. Amoxa must not be taken with "
        "an allergy to penicillin. It may be taken with food.",
    },
    "contract": {
        "title": "An invented source",
        "question": "What does the contract say about ending it?",
        "answer": "Either party may end the contract with three months' notice [c-9]. The provider may end it at once "
        "without a reason [c-12].",
        "evidence": "[c-9] Either party may terminate this agreement with three months' written notice to the end of "
        "a quarter.",
    },
    "unknown": {
        "title": 'An honest "I do not know"',
        "question": "What does a parking space cost?",
        "answer": "I do not know what a parking space costs.",
        "evidence": "[site] The office is in Graz, next to the station.",
    },
}
"""Answers to start with; a test checks that each gets the decision that it illustrates."""


def make_playground(services: Services) -> APIRouter:
    """The playground at `/console/playground`."""
    router = page_router()

    @router.get("/console/playground")
    def empty(request: Request) -> Response:
        allowed(request, Permission.CHECK)
        chosen = request.query_params.get("example")
        fields = {} if chosen is None else EXAMPLES.get(chosen, EXAMPLES["leave"])
        return _page(request, fields, _instructions())

    @router.post("/console/playground")
    async def check(request: Request) -> Response:
        allowed(request, Permission.CHECK)
        fields = await read_form(request)
        report = await _checked(services, fields)
        if request.headers.get(PART_HEADER) == "report":
            return HTMLResponse(group(report).html, headers=HEADERS)
        return _page(request, fields, report)

    return router


async def _checked(services: Services, fields: dict[str, str]) -> Child:
    """The report on the answer in the form, or why there is none."""
    answer = fields.get("answer", "")
    if not answer.strip():
        return _instructions()
    try:
        evidence = passages(fields.get("evidence", ""))
        guard = services.guard_of(fields.get("policy") or None)
        stakes = Stakes(fields.get("stakes") or "medium")
        check = CheckRequest(answer, evidence, fields.get("question") or None, stakes, asks=False)
        report = await services.checker.run(lambda: next(iter(guard.check_many([check]))))
    except (AssayError, ValueError) as error:
        return note("bad", tag("b", "It was not checked. "), foreign(str(error)[:1_000]))
    return _report(report, {one.id: one for one in evidence})


def passages(text: str) -> tuple[Evidence, ...]:
    """The passages in a text: a line of dashes separates them, and each may begin with its id in brackets.

    >>> [(one.id, one.text) for one in passages("[hr-2] Two weeks.\\n---\\nEight weeks.")]
    [('hr-2', 'Two weeks.'), ('2', 'Eight weeks.')]
    """
    by_id: dict[str, Evidence] = {}
    for number, part in enumerate(_SEPARATOR.split(text)[:MOST_PASSAGES], 1):
        body = part.strip()
        prefix = _ID.match(body)
        id_ = prefix[1] if prefix is not None else str(number)
        if body:
            while id_ in by_id:
                id_ += "′"
            by_id[id_] = Evidence(id=id_, text=body[prefix.end() :] if prefix is not None else body)
    return tuple(by_id.values())


def _report(report: HallucinationReport, evidence: dict[str, Evidence]) -> Child:
    return [
        decision_view(report),
        answer_view(report, evidence, {}),
        findings_view(report),
        omissions_view(report),
        abstention_view(report),
        citations_view(report.citations),
        coverage_view(report),
    ]


def _instructions() -> Markup:
    return empty_state(
        "Write or paste an answer",
        "Each claim is checked against the evidence as you write. Nothing is recorded, and no chat model is asked.",
        tag("div", _examples(), class_="actions"),
    )


def _examples() -> list[Markup]:
    return [link_button(one["title"], f"/console/playground?example={name}") for name, one in EXAMPLES.items()]


def _page(request: Request, fields: Mapping[str, str], report: Child) -> Response:
    policies = [("", "Policy of the server"), *((name, name) for name in PRESETS)]
    stakes = [(one.value, f"{one.value.capitalize()} stakes") for one in Stakes]
    hint = "A line of --- separates passages. A passage may begin with its id: [hr-2]"
    inputs = form(
        request,
        "/console/playground",
        field("Question", text_input("question", fields.get("question", ""), placeholder="Optional")),
        field("Answer", text_area("answer", fields.get("answer", ""), rows=9, required=True)),
        field("Evidence", text_area("evidence", fields.get("evidence", ""), rows=12), hint),
        tag(
            "div",
            field("Policy", select("policy", policies, fields.get("policy"))),
            field("Stakes", select("stakes", stakes, fields.get("stakes", "medium"))),
            class_="pair",
        ),
        tag(
            "div",
            button("Check", "primary"),
            tag("span", role="status", class_="soft", data_state=True),
            class_="actions",
        ),
        class_="stack",
        data_playground=True,
    )
    live = tag("div", report, class_="report", data_report=True)
    return render(
        request,
        "Playground",
        tag("div", inputs, live, class_="bench"),
        current="playground",
        about="Check an answer against its evidence. Nothing is recorded.",
        scripts=("run.js", "playground.js"),
    )
