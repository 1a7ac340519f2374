"""`/console/redteam/proposals`: cases that broke a system, which people add to the approved suite or reject."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import ProposalError
from assay.redteam.cases import Behavior, digest_of_ids
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.caller import Caller
from assay.server.console.errors import REFUSAL_STATUS, error_page, page_router
from assay.server.console.layout import address, allowed, form, hidden_input, read_form, redirect, render, whole_number
from assay.server.console.parts import (
    Column,
    badge,
    button,
    details,
    digest,
    facts,
    field,
    line,
    moment,
    note,
    number,
    pager,
    panel,
    select,
    shorten,
    table,
    tabs,
    text_area,
    title_words,
)
from assay.server.console.redteam.conversations import case_details, conversation
from assay.server.console.redteam.page import PATH
from assay.server.redteam.proposals import LONGEST_REASON, decide_on, edited_case
from assay.server.redteam.router import person
from assay.server.services import Services
from assay.store.db import Store
from assay.store.records import moment_at
from assay.store.redteam import ProposedCase, approved_ids, count_proposals, list_proposals, read_proposal

PAGE_SIZE: Final = 50
"""Proposals of one page."""
PROPOSALS: Final = f"{PATH}/proposals"
_TONES: Final = {"open": "accent", "approved": "good", "rejected": "quiet"}
_MULTIPLE: Final = ("accepted", "planted")
"""Fields with several values, one per line."""
_LONGEST_TEXT: Final = 20_000
"""The most characters of a text in the form."""


def make_proposal_pages(services: Services) -> APIRouter:
    """The list of proposals, the page of one, and the route of its form."""
    router = page_router()
    store = services.store

    @router.get(PROPOSALS)
    def proposals(request: Request) -> Response:
        caller, now = allowed(request, Permission.READ), store.now()
        state = request.query_params.get("state", "open")
        state = state if state in _TONES else "open"
        before = request.query_params.get("before", "")[:64] or None
        with store.reading(caller.tenant) as connection:
            rows = list_proposals(connection, caller.tenant, [state], before=before, limit=PAGE_SIZE + 1)
            counts, ids = count_proposals(connection, caller.tenant), approved_ids(connection, caller.tenant)
        following = address(PROPOSALS, state=state, before=rows[PAGE_SIZE - 1].id) if len(rows) > PAGE_SIZE else None
        return render(
            request,
            "Proposals",
            _state_tabs(state, counts),
            _list(rows[:PAGE_SIZE], state, now),
            pager(following, address(PROPOSALS, state=state) if before else None),
            _suite(ids),
            current="redteam",
            parent=("Red team", PATH),
            about="Cases that broke a system. Nothing enters the approved suite before a person has decided.",
        )

    @router.get(f"{PROPOSALS}/{{id_}}")
    def proposal(request: Request, id_: str) -> Response:
        caller, now = allowed(request, Permission.READ), store.now()
        return _page(request, _proposal_or_404(store, caller.tenant, id_), caller, now)

    @router.post(f"{PROPOSALS}/{{id_}}/decide")
    async def decide(request: Request, id_: str) -> Response:
        caller = person(request)
        fields = await read_form(request)

        def work() -> ProposedCase:
            row, act = _proposal_or_404(store, caller.tenant, id_), fields.get("act", "")
            edited = edited_case(row.body["case"], _changes(fields)) if act == "edit" else None
            return decide_on(
                store,
                caller.tenant,
                id_,
                act,
                caller.name,
                caller.actor,
                _reason(fields),
                edited=edited,
                version=_version(fields),
            )

        try:
            await run_in_threadpool(work)
        except ProposalError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "redteam")
        return redirect(PROPOSALS, f"proposal.{fields['act']}")

    return router


def _proposal_or_404(store: Store, tenant: str, id_: str) -> ProposedCase:
    with store.reading(tenant) as connection:
        row = read_proposal(connection, tenant, id_)
    if row is None:
        raise HTTPException(404, "there is no such proposal")
    return row


def _reason(fields: Mapping[str, str]) -> str:
    reason = fields.get("reason", "").strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise ProposalError(f"expected why, in 1 to {LONGEST_REASON:,} characters", "refused")
    return reason


def _version(fields: Mapping[str, str]) -> int:
    version = whole_number(fields.get("version"))
    if version is None:
        raise ProposalError("expected the version that was looked at", "refused")
    return version


def _changes(fields: Mapping[str, str]) -> dict[str, Any]:
    """The changes of a case in the form."""
    lines = {name: [one.strip() for one in fields.get(name, "").split("\n") if one.strip()] for name in _MULTIPLE}
    return {
        "prompt": fields.get("prompt", "").strip(),
        "expected_behavior": fields.get("expected_behavior", ""),
        "ground_truth": fields.get("ground_truth", "").strip() or None,
        **lines,
    }


# The list


def _state_tabs(state: str, counts: Mapping[str, int]) -> Markup:
    """The states of proposals with their numbers, one of them chosen."""
    entries = (
        (f"{title_words(one)} ({counts.get(one, 0):,})", address(PROPOSALS, state=one), one == state) for one in _TONES
    )
    return tabs("State", entries)


def _list(rows: list[ProposedCase], state: str, now: datetime) -> Markup:
    columns = (
        Column("What was asked", "main"),
        Column("Category", "less"),
        Column("Match", "num"),
        Column("Target", "less"),
        Column("Proposed" if state == "open" else "Decided", "num less"),
        Column("By", "less"),
    )
    shown: list[list[Child]] = [
        [
            tag("a", foreign(shorten(_prompt(row), 160)), href=f"{PROPOSALS}/{row.id}", class_="row"),
            title_words(row.category),
            number(row.match),
            line(row.target, 40),
            moment(moment_at(row.decided if row.decided is not None else row.created), now),
            line(row.decider, 40),
        ]
        for row in rows
    ]
    return table("Proposals", columns, shown, empty=_EMPTY[state], style="rows")


_EMPTY: Final[dict[str, tuple[str, Child]]] = {
    "open": (
        "Nothing waits",
        "`assay redteam run --propose` proposes what failed; schedules may, too.",
    ),
    "approved": ("Nothing was approved yet", "Approved cases form the suite and are listed here."),
    "rejected": ("Nothing was rejected yet", "Rejected cases are listed here, with the reason."),
}


def _prompt(row: ProposedCase) -> str:
    return str((row.body.get("approved") or row.body.get("case") or {}).get("prompt", row.id))


def _suite(ids: list[str]) -> Markup:
    count = len(ids)
    return panel(
        "The approved suite",
        tag(
            "p",
            f"{count:,} {'case' if count == 1 else 'cases'}, version ",
            digest(digest_of_ids(ids)),
            ". The version is the digest of its content; each decision is an entry of the audit log that names the "
            "version before and after, and is signed with the log.",
        ),
        actions=tag("a", "JSON Lines", href="/v1/redteam/suite", class_="soft"),
    )


# One proposal


def _page(request: Request, row: ProposedCase, caller: Caller, now: datetime) -> Response:
    case = row.body.get("case") or {}
    answer = row.body.get("answer")
    pairs: list[tuple[str, Child]] = [
        ("Category", title_words(row.category)),
        ("Target", line(row.target, 120)),
        ("Match", number(row.match)),
        ("Rule", line(row.rule, 200)),
        ("Proposed", moment(moment_at(row.created), now)),
        ("Run", tag("a", digest(row.run), href=f"{PATH}/runs/{row.run}?case={row.id}#{row.id}") if row.run else "–"),
        ("Written by", line(str((case.get("lineage") or {}).get("rule", "")), 120)),
    ]
    may = caller.may(Permission.REVIEW) and caller.kind != "key"
    decision = _decision(row, now) if row.state != "open" else _forms(request, row, case) if may else _MAY_NOT
    return render(
        request,
        "Proposal",
        decision if row.state != "open" else None,
        panel(
            "The case",
            facts(pairs),
            conversation(case_details(case, answer if isinstance(answer, str) else None), row.id),
        ),
        decision if row.state == "open" else None,
        current="redteam",
        parent=("Proposals", PROPOSALS),
        about=tag(
            "span",
            badge(row.state, _TONES.get(row.state, "quiet")),
            " ",
            badge("flaky", "doubt") if row.flaky else None,
            " ",
            tag("code", row.id),
        ),
    )


_MAY_NOT: Final = note("quiet", "Anyone with the reviewer role can decide on it.")


def _decision(row: ProposedCase, now: datetime) -> Markup:
    when: list[Child] = [", ", moment(moment_at(row.decided), now)] if row.decided is not None else []
    in_suite = None
    if row.kept is not None:
        case = row.body.get("approved") or {}
        words = "It is in the suite as " if row.kept == row.id else "It was edited, and is in the suite as "
        in_suite = group(
            tag("p", words, tag("code", row.kept), "."),
            details("As approved", conversation(case_details(case, None), f"kept-{row.id}"))
            if row.kept != row.id
            else None,
        )
    return panel(
        "Decision",
        tag(
            "p", badge(row.state, _TONES.get(row.state, "quiet")), " by ", foreign((row.decider or "")[:80], "b"), *when
        ),
        foreign((row.reason or "")[:LONGEST_REASON], "p", class_="text"),
        in_suite,
        style="box",
    )


def _forms(request: Request, row: ProposedCase, case: Mapping[str, Any]) -> Markup:
    path = f"{PROPOSALS}/{row.id}/decide"
    version = hidden_input("version", row.version)
    decide = form(
        request,
        path,
        version,
        field(
            "Why",
            text_area("reason", rows=3, required=True, maxlength=LONGEST_REASON),
            "Recorded with the decision: why the system has to withstand this case, or why not.",
        ),
        tag(
            "div",
            button("Approve", "primary", name_="act", value="approve"),
            button("Reject", "danger", name_="act", value="reject"),
            class_="actions",
        ),
        class_="stack",
    )
    behaviors = [(one.value, title_words(one.value)) for one in Behavior]
    edit = form(
        request,
        path,
        version,
        hidden_input("act", "edit"),
        field(
            "What is asked",
            text_area(
                "prompt", str(case.get("prompt", "")), rows=4, required=True, maxlength=_LONGEST_TEXT, dir="auto"
            ),
        ),
        field("What a good answer does", select("expected_behavior", behaviors, str(case.get("expected_behavior")))),
        field(
            "A good answer",
            text_area("ground_truth", str(case.get("ground_truth") or ""), rows=3, maxlength=_LONGEST_TEXT, dir="auto"),
        ),
        field("Spellings of its value", _lines(case, "accepted"), "One in each line; one of them is enough."),
        field("What the attack wants said", _lines(case, "planted"), "One in each line."),
        field(
            "Why",
            text_area("reason", rows=3, required=True, maxlength=LONGEST_REASON),
            "It goes into the record: what was wrong with the case as it was.",
        ),
        button("Approve as edited", "primary"),
        class_="stack",
    )
    return panel(
        "Decide",
        tag("p", "A decision is final, and an entry of the audit log.", class_="soft"),
        decide,
        details("Edit it first", edit),
        style="box",
        id_="decide",
    )


def _lines(case: Mapping[str, Any], name: str) -> Markup:
    return text_area(name, "\n".join(map(str, case.get(name) or ())), rows=2, maxlength=_LONGEST_TEXT, dir="auto")
