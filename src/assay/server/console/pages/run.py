"""The page of one run: what was said, what decides about each claim, what was done with it, and the proof of it."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import HallucinationReport, Permission
from assay.server.caller import caller_of
from assay.server.console.errors import page_router
from assay.server.console.icons import icon
from assay.server.console.layout import allowed, form, form_of, redirect, render
from assay.server.console.parts import (
    act_badge,
    action_badge,
    badge,
    button,
    field,
    link_button,
    moment,
    note,
    panel,
    shorten,
    text_area,
)
from assay.server.console.views.answer_text import text_view
from assay.server.console.views.proof import proof_view
from assay.server.console.views.report import answer_view, decision_view
from assay.server.console.views.report_parts import (
    abstention_view,
    generation_view,
    judge_view,
    knowledge_view,
    omissions_view,
    source_answers_view,
)
from assay.server.console.views.report_sections import (
    citations_view,
    coverage_view,
    evidence_view,
    findings_view,
    metrics_view,
    probes_view,
)
from assay.server.console.views.revisions import revision_view
from assay.server.console.views.tool_calls import tools_view
from assay.server.console.views.trace_view import trace_view
from assay.server.http.problems import unknown
from assay.server.services import Services
from assay.store.audit import prove_entry
from assay.store.db import StoredCheck, read_check, run_of
from assay.store.insights import History, RecordedDecision, UserFeedback, read_history
from assay.store.records import LONGEST_COMMENT, give_feedback, read_source_answers

_ID: Final = re.compile(r"[0-9a-f]{32}")
_PARENT: Final = ("Runs", "/console/runs")
_HEADING: Final = 140
"""Characters of a heading that others wrote."""


def make_run_pages(services: Services) -> APIRouter:
    """The page at `/console/runs/{id}`, its feedback and its proofs."""
    router = page_router()
    store = services.store

    @router.get("/console/runs/{id_}")
    def run(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.READ)
        check, history = _read(services, caller.tenant, id_)
        with store.reading(caller.tenant) as connection:
            answers = read_source_answers(connection, caller.tenant, check.run)
        if check.report is None:
            return _erased(request, check, history, services)
        return _page(request, services, check, check.report, history, answers)

    @router.post("/console/runs/{id_}/feedback")
    async def feedback(request: Request, id_: str) -> Response:
        caller = allowed(request, Permission.FEEDBACK)
        fields = await form_of(request)
        claim, comment = fields.get("claim", ""), fields.get("comment", "").strip()
        if fields.get("verdict") not in ("right", "wrong"):
            raise HTTPException(422, "expected the verdict right or wrong")
        if len(comment) > LONGEST_COMMENT:
            raise HTTPException(422, f"a comment has at most {LONGEST_COMMENT:,} characters")
        if claim and not re.fullmatch(r"[0-9]{1,6}", claim):
            raise HTTPException(422, "a claim is named by its number")
        check, _ = await run_in_threadpool(_read, services, caller.tenant, id_)
        position = int(claim) if claim else None
        if position is not None and (check.report is None or position >= len(check.report.claims)):
            raise HTTPException(404, "this output has no such claim")
        await run_in_threadpool(
            give_feedback,
            store,
            id_,
            fields["verdict"],
            tenant=caller.tenant,
            claim=position,
            comment=comment or None,
            author=caller.name,
        )
        return redirect(f"/console/runs/{id_}", "feedback.given", "feedback")

    @router.get("/console/runs/{id_}/proofs/{index}")
    def proof(request: Request, id_: str, index: int) -> Response:
        caller = allowed(request, Permission.READ)
        _, history = _read(services, caller.tenant, id_)
        if not any(one.index == index for one in history.entries):
            raise unknown("entry of this run")
        with store.reading(caller.tenant) as connection:
            text = prove_entry(connection, caller.tenant, index).to_text()
        name = f'attachment; filename="assay-{id_[:12]}-{index}.tlog-proof"'
        return Response(text, media_type="text/plain; charset=utf-8", headers={"content-disposition": name})

    return router


def _read(services: Services, tenant: str, id_: str) -> tuple[StoredCheck, History]:
    if not _ID.fullmatch(id_):
        raise unknown("run")
    with services.store.reading(tenant) as connection:
        # A run has one page, whichever of its reports was asked for.
        found = read_check(connection, tenant, run_of(connection, tenant, id_))
        if found is None:
            raise unknown("run")
        return found, read_history(connection, tenant, found.run)


def _page(
    request: Request,
    services: Services,
    check: StoredCheck,
    report: HallucinationReport,
    history: History,
    answers: Sequence[dict[str, Any]],
) -> Response:
    texts = {name: one for name, _, one in check.evidence if one is not None}
    may_say = caller_of(request.scope).may(Permission.FEEDBACK)
    of_claims = {at: _claim_feedback(request, check.id, at) for at in range(len(report.claims))} if may_say else {}
    now = services.store.now()
    return render(
        request,
        f"Run {check.id[:12]}",
        decision_view(report),
        answer_view(report, texts, of_claims, _long_question(report), coverage_view(report), text_view(request)),
        findings_view(report),
        omissions_view(report),
        trace_view(check.asked),
        tools_view(report),
        revision_view(report),
        generation_view(report),
        abstention_view(report),
        citations_view(report.citations),
        probes_view(report),
        judge_view(report),
        knowledge_view(report),
        source_answers_view(answers),
        tag(
            "div",
            proof_view(services, check, history),
            tag("div", _history(history, now), _feedback(request, check.id, history, may_say)),
            class_="columns",
        ),
        metrics_view(report),
        evidence_view(check.evidence, run="run" in (check.asked or {})),
        current="runs",
        parent=_PARENT,
        heading=_heading(report, check),
        about=_about(check),
        actions=_actions(check, history),
        scripts=("run.js",),
    )


def _heading(report: HallucinationReport, check: StoredCheck) -> Child:
    words = report.question or (report.claims[0].text if report.claims else report.output)
    return foreign(shorten(words, _HEADING)) if words.strip() else f"Run {check.id[:12]}"


def _long_question(report: HallucinationReport) -> str | None:
    """The question, where the heading does not have all of it."""
    question = report.question
    return None if question is None or question == shorten(question, _HEADING) else question


def _about(check: StoredCheck) -> Child:
    kinds = {"check": "Output", "run": "Agent run", "gateway": "Answer through the gateway"}
    parts: list[Child] = [kinds.get(check.kind, "Output"), " checked ", moment(check.created)]
    if check.caller:
        parts += [" for ", foreign(shorten(check.caller, 60))]
    return [*parts, " · ", tag("code", check.id)]


def _actions(check: StoredCheck, history: History) -> list[Markup]:
    made = []
    if history.review is not None:
        item, _, state = history.review
        words = "Review" if state in ("open", "evidence") else f"Review: {state}"
        made.append(link_button(words, f"/console/review/{item}", "primary" if words == "Review" else ""))
    made.append(link_button("JSON", f"/v1/reports/{check.id}"))
    return made


# What happened since


def _history(history: History, now: datetime) -> Markup:
    rows = [tag("li", _decided(one, now)) for one in history.decisions]
    return panel("History", tag("ol", rows, class_="timeline"))


def _decided(one: RecordedDecision, now: datetime) -> Child:
    reasons = "; ".join(one.reasons)
    who = "The gate" if one.actor == "gate" else one.actor
    return [
        foreign(shorten(who, 80), "b"),
        " ",
        act_badge(one.action) or action_badge(one.action),
        " ",
        moment(one.created, now),
        tag("p", foreign(shorten(reasons, 600)), class_="soft") if reasons and one.actor != "gate" else None,
    ]


# What users say


def _feedback(request: Request, id_: str, history: History, may_say: bool) -> Markup:
    said = (
        tag("ul", (tag("li", _said(one)) for one in history.feedback), class_="timeline") if history.feedback else None
    )
    ask = None
    if may_say:
        ask = form(
            request,
            f"/console/runs/{id_}/feedback",
            field(
                "Comment",
                text_area(
                    "comment", rows=2, maxlength=LONGEST_COMMENT, placeholder="What is wrong, or what would be right"
                ),
            ),
            tag(
                "div",
                button([icon("tick"), "The decision is right"], name_="verdict", value="right"),
                button("It is wrong", "danger", name_="verdict", value="wrong"),
                class_="actions",
            ),
            class_="stack",
        )
    empty = tag("p", "Nobody has said anything about this output yet.", class_="soft") if said is None else None
    return panel("Feedback", said, empty, ask, id_="feedback")


def _said(one: UserFeedback) -> Child:
    where = f" on claim {one.claim + 1}" if one.claim is not None else ""
    tone, sign = ("good", "✓") if one.verdict == "right" else ("bad", "✗")
    return [
        badge(one.verdict, tone, sign),
        where,
        " ",
        foreign(shorten(one.author or "somebody", 80)),
        " ",
        moment(one.created),
        tag("p", foreign(one.comment[:2_000]), class_="text") if one.comment else None,
    ]


def _claim_feedback(request: Request, id_: str, at: int) -> Markup:
    """Two buttons below the card of a claim."""
    return form(
        request,
        f"/console/runs/{id_}/feedback",
        tag("input", type_="hidden", name_="claim", value=at),
        tag("span", "Is this verdict right?", class_="soft"),
        button("Yes", "small", name_="verdict", value="right", aria_label=f"Yes, claim {at + 1} is judged rightly"),
        button("No", "small", name_="verdict", value="wrong", aria_label=f"No, claim {at + 1} is judged wrongly"),
        class_="ask",
    )


# Erased


def _erased(request: Request, check: StoredCheck, history: History, services: Services) -> Response:
    when = moment(check.erased) if check.erased is not None else "earlier"
    words = group(
        "Question, output, claims and evidence were erased ", when, ". What was decided stays, and is proved."
    )
    return render(
        request,
        f"Run {check.id[:12]}",
        note("doubt", words),
        tag("div", _history(history, services.store.now()), proof_view(services, check, history), class_="columns"),
        current="runs",
        parent=_PARENT,
        about=_about(check),
    )
