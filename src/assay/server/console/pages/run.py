"""The page of one run: the output, its claims with their evidence, the decisions, feedback, and the audit proof."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import AuditError
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import HallucinationReport, Permission
from assay.server.caller import caller_of
from assay.server.console.errors import page_router
from assay.server.console.icons import icon
from assay.server.console.layout import allowed, form, hidden_input, read_form, redirect, render, whole_number
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

_RUN_ID: Final = re.compile(r"[0-9a-f]{32}")
_PARENT: Final = ("Runs", "/console/runs")
_LONGEST_HEADING: Final = 140
"""The most characters of foreign text in a heading."""


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
        fields = await read_form(request)
        claim, comment = fields.get("claim", ""), fields.get("comment", "").strip()
        if fields.get("verdict") not in ("right", "wrong"):
            raise HTTPException(422, "expected the verdict right or wrong")
        if len(comment) > LONGEST_COMMENT:
            raise HTTPException(422, f"a comment has at most {LONGEST_COMMENT:,} characters")
        position = whole_number(claim, 6)
        if claim and position is None:
            raise HTTPException(422, "a claim is named by its number")
        check, _ = await run_in_threadpool(_read, services, caller.tenant, id_)
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
            try:
                text = prove_entry(connection, caller.tenant, index).to_text()
            except AuditError as error:
                raise HTTPException(404, str(error)) from error
        name = f'attachment; filename="assay-{id_[:12]}-{index}.tlog-proof"'
        return Response(text, media_type="text/plain; charset=utf-8", headers={"content-disposition": name})

    return router


def _read(services: Services, tenant: str, id_: str) -> tuple[StoredCheck, History]:
    if not _RUN_ID.fullmatch(id_):
        raise unknown("run")
    with services.store.reading(tenant) as connection:
        # The page of a run shows its newest report, whichever of its reports the address names.
        check = read_check(connection, tenant, run_of(connection, tenant, id_))
        if check is None:
            raise unknown("run")
        return check, read_history(connection, tenant, check.run)


def _page(
    request: Request,
    services: Services,
    check: StoredCheck,
    report: HallucinationReport,
    history: History,
    answers: Sequence[dict[str, Any]],
) -> Response:
    texts = {name: one for name, _, one in check.evidence if one is not None}
    may_give_feedback = caller_of(request.scope).may(Permission.FEEDBACK)
    claim_feedback = (
        {at: _claim_feedback(request, check.id, at) for at in range(len(report.claims))} if may_give_feedback else {}
    )
    now = services.store.now()
    return render(
        request,
        f"Run {check.id[:12]}",
        decision_view(report),
        answer_view(report, texts, claim_feedback, _long_question(report), coverage_view(report), text_view(request)),
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
            tag("div", _history(history, now), _feedback(request, check.id, history, may_give_feedback)),
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
    return foreign(shorten(words, _LONGEST_HEADING)) if words.strip() else f"Run {check.id[:12]}"


def _long_question(report: HallucinationReport) -> str | None:
    """The question, if the heading shows only a part of it."""
    question = report.question
    return None if question is None or question == shorten(question, _LONGEST_HEADING) else question


def _about(check: StoredCheck) -> Child:
    kinds = {"check": "Output", "run": "Agent run", "gateway": "Answer through the gateway"}
    parts: list[Child] = [kinds.get(check.kind, "Output"), " checked ", moment(check.created)]
    if check.caller:
        parts += [" for ", foreign(shorten(check.caller, 60))]
    return [*parts, " · ", tag("code", check.id)]


def _actions(check: StoredCheck, history: History) -> list[Markup]:
    actions = []
    if history.review is not None:
        item, _, state = history.review
        words = "Review" if state in ("open", "evidence") else f"Review: {state}"
        actions.append(link_button(words, f"/console/review/{item}", "primary" if words == "Review" else ""))
    actions.append(link_button("JSON", f"/v1/reports/{check.id}"))
    return actions


# The decisions


def _history(history: History, now: datetime) -> Markup:
    rows = [tag("li", _decision(one, now)) for one in history.decisions]
    return panel("History", tag("ol", rows, class_="timeline"))


def _decision(decision: RecordedDecision, now: datetime) -> Child:
    reasons = "; ".join(decision.reasons)
    who = "The gate" if decision.actor == "gate" else decision.actor
    return [
        foreign(shorten(who, 80), "b"),
        " ",
        act_badge(decision.action) or action_badge(decision.action),
        " ",
        moment(decision.created, now),
        tag("p", foreign(shorten(reasons, 600)), class_="soft") if reasons and decision.actor != "gate" else None,
    ]


# Feedback


def _feedback(request: Request, id_: str, history: History, may_give_feedback: bool) -> Markup:
    entries = None
    if history.feedback:
        entries = tag("ul", (tag("li", _feedback_entry(one)) for one in history.feedback), class_="timeline")
    feedback_form = None
    if may_give_feedback:
        feedback_form = form(
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
    empty = tag("p", "Nobody has said anything about this output yet.", class_="soft") if entries is None else None
    return panel("Feedback", entries, empty, feedback_form, id_="feedback")


def _feedback_entry(feedback: UserFeedback) -> Child:
    where = f" on claim {feedback.claim + 1}" if feedback.claim is not None else ""
    tone, sign = ("good", "✓") if feedback.verdict == "right" else ("bad", "✗")
    return [
        badge(feedback.verdict, tone, sign),
        where,
        " ",
        foreign(shorten(feedback.author or "somebody", 80)),
        " ",
        moment(feedback.created),
        tag("p", foreign(feedback.comment[:2_000]), class_="text") if feedback.comment else None,
    ]


def _claim_feedback(request: Request, id_: str, at: int) -> Markup:
    """The buttons at the end of a claim's card, which ask whether its verdict is right."""
    return form(
        request,
        f"/console/runs/{id_}/feedback",
        hidden_input("claim", at),
        tag("span", "Is this verdict right?", class_="soft"),
        button("Yes", "small", name_="verdict", value="right", aria_label=f"Yes, claim {at + 1} is judged rightly"),
        button("No", "small", name_="verdict", value="wrong", aria_label=f"No, claim {at + 1} is judged wrongly"),
        class_="ask",
    )


# A run whose content was erased


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
