"""`/console/review/{id}`: one output that waits for a reviewer, with everything needed to decide, and its actions.

A decision takes two steps. A key or a button opens a page that says what is going to happen, shows the difference that
an edit makes, and asks for the reason. Only that page submits the decision, for the version that the reviewer has seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import ReviewError
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Action, Permission, Verdict
from assay.schema.escalation import (
    EscalationPackage,
    ReviewEvent,
    ReviewItem,
    Suggestion,
)
from assay.server.caller import Caller
from assay.server.console.errors import REFUSAL_STATUS, error_page, page_router
from assay.server.console.layout import allowed, form, hidden_input, read_form, redirect, render, whole_number
from assay.server.console.pages.review import deadline_view, holder_view, tier_badge
from assay.server.console.parts import (
    act_badge,
    badge,
    button,
    details,
    facts,
    field,
    link_button,
    moment,
    note,
    number,
    panel,
    text_area,
)
from assay.server.console.review_actions.assign import assign_view, read_only
from assay.server.console.review_actions.confirm import ACTS, PATH, confirm_page
from assay.server.console.views.answer_text import text_view
from assay.server.console.views.report import answer_view
from assay.server.console.views.report_sections import coverage_view, evidence_view
from assay.server.console.views.tool_calls import tools_view
from assay.server.reviews.router import reviewer_of
from assay.server.reviews.service import make_review_service
from assay.server.services import Services
from assay.store.reviews import read_events, read_item, read_package

LONGEST_OUTPUT: Final = 2_000_000
"""The most characters of an edited output."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item with what the page shows of it."""

    item: ReviewItem
    package: EscalationPackage | None
    events: Sequence[ReviewEvent]


def make_review_pages(services: Services) -> APIRouter:
    """The pages of one item, and the routes of their forms."""
    router = page_router()
    pages = _Pages(services)
    router.add_api_route(f"{PATH}/{{id_}}", pages.item, methods=["GET"])
    router.add_api_route(f"{PATH}/{{id_}}/confirm", pages.confirm, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}/decide", pages.decide, methods=["POST"])
    router.add_api_route(f"{PATH}/{{id_}}/{{act}}", pages.hold, methods=["POST"])
    return router


class _Pages:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._review_service = make_review_service(services)

    def _read(self, caller: Caller, id_: str) -> ShownItem:
        with self._services.store.reading(caller.tenant) as connection:
            item = read_item(connection, caller.tenant, id_)
            if item is None:
                raise HTTPException(404, "this tenant has no such item")
            package = read_package(connection, caller.tenant, id_)
            return ShownItem(item, package, read_events(connection, caller.tenant, id_))

    def item(self, request: Request, id_: str) -> Response:
        """The page of an item."""
        caller = allowed(request, Permission.READ)
        return self._item(request, caller, self._read(caller, id_))

    def _item(self, request: Request, caller: Caller, shown: ShownItem) -> Response:
        item, package, now = shown.item, shown.package, self._services.store.now()
        heading = (
            foreign(package.task_context.question[:300]) if package and package.task_context.question else "Review"
        )
        body: list[Child] = [_state(item, package, now)]
        if item.state.decided:
            body.append(_outcome(item))
        elif caller.may(Permission.REVIEW):
            body += [
                _acts(request, caller, item, package, now),
                assign_view(request, self._services.store, caller, item),
            ]
        else:
            body.append(read_only())
        if package is None:
            body.append(note("doubt", "The content of this output was erased: nothing can be shown or released."))
        else:
            body += _package(request, caller, item, package)
        body.append(_history(shown.events, now))
        return render(
            request,
            "Review",
            *body,
            current="review",
            heading=heading,
            scripts=("run.js", "review.js"),
            about=_about(package),
            parent=("Review", PATH),
            actions=link_button("The run", f"/console/runs/{item.run}"),
        )

    async def confirm(self, request: Request, id_: str) -> Response:
        """The second step: what is going to happen, and the field for the reason."""
        caller = allowed(request, Permission.REVIEW)
        fields = await read_form(request)
        return await run_in_threadpool(self._confirm, request, caller, id_, fields)

    def _confirm(self, request: Request, caller: Caller, id_: str, fields: dict[str, str]) -> Response:
        shown, act = self._read(caller, id_), fields.get("act", "")
        if act not in ACTS:
            raise HTTPException(422, f"expected one of the acts {', '.join(ACTS)}")
        if shown.item.state.decided:
            return error_page(request, 409, f"the item was decided already: it is {shown.item.state.value}", "review")
        if act != "edit":
            return confirm_page(request, shown.item, shown.package, act)
        output = fields.get("output", "")
        try:
            checked = self._review_service.check_edit(caller.tenant, id_, output)
        except ReviewError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "review")
        return confirm_page(request, shown.item, shown.package, act, checked)

    async def decide(self, request: Request, id_: str) -> Response:
        """Makes the decision, for the version that the reviewer has seen."""
        caller = allowed(request, Permission.REVIEW)
        fields = await read_form(request)
        try:
            await run_in_threadpool(self._decide, caller, id_, fields)
        except ReviewError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "review")
        return redirect(f"{PATH}/{id_}", f"review.{fields['act']}")

    def _decide(self, caller: Caller, id_: str, fields: dict[str, str]) -> ReviewItem:
        reviewer, tenant, labels = reviewer_of(caller), caller.tenant, _labels(fields)
        act, reason, version = fields.get("act", ""), fields.get("reason", ""), whole_number(fields.get("version"))
        if version is None:
            raise ReviewError("expected the version that was looked at", "refused")
        match act:
            case "approve":
                return self._review_service.approve(tenant, id_, reviewer, reason, claims=labels, version=version)
            case "reject":
                response = fields.get("response", "").strip() or None
                return self._review_service.reject(
                    tenant, id_, reviewer, reason, response=response, claims=labels, version=version
                )
            case "edit":
                checked = self._review_service.check_edit(tenant, id_, fields.get("output", ""))
                return self._review_service.edit(
                    tenant, id_, reviewer, reason, checked, accept="accept" in fields, claims=labels, version=version
                )
            case "ask":
                return self._review_service.reviews.ask(tenant, id_, reviewer, reason, version)
            case _:
                raise ReviewError(f"expected one of the acts {', '.join(ACTS)}", "refused")

    async def hold(self, request: Request, id_: str, act: str) -> Response:
        """Claims an item, or releases it."""
        caller = allowed(request, Permission.REVIEW)
        fields = await read_form(request)
        if act not in ("claim", "release"):
            raise HTTPException(404, "there is no such act on an item")
        queue, reviewer = self._review_service.reviews, reviewer_of(caller)
        try:
            if act == "claim":
                await run_in_threadpool(queue.claim, caller.tenant, id_, reviewer, whole_number(fields.get("version")))
            else:
                await run_in_threadpool(
                    queue.release, caller.tenant, id_, reviewer, version=whole_number(fields.get("version"))
                )
        except ReviewError as error:
            return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error), "review")
        return redirect(f"{PATH}/{id_}", f"review.{act}")


# The top of the page


def _about(package: EscalationPackage | None) -> Child:
    if package is None:
        return None
    context = package.task_context
    facts = [f"Stakes {context.stakes.value}", f"task {context.task}"[:60]]
    if context.caller:
        facts.append(f"asked by {context.caller}"[:80])
    return foreign(", ".join(facts) + ".")


def _state(item: ReviewItem, package: EscalationPackage | None, now: datetime) -> Markup:
    pairs: list[tuple[str, Child]] = [
        ("State" if item.state.decided else "To decide", deadline_view(item, now)),
        ("Tier", tier_badge(item.tier)),
        ("Risk", number(item.risk)),
        ("Decided by" if item.state.decided else "Who has it", holder_view(item, now)),
        ("Waits since", moment(item.created, now)),
    ]
    if package is not None:
        pairs.insert(3, ("Score", number(package.confidence_breakdown.overall)))
        reasons = tag("ul", (tag("li", foreign(one)) for one in package.task_context.reasons[:12]), class_="reasons")
        return tag("section", facts(pairs), reasons, class_="panel box state")
    return tag("section", facts(pairs), class_="panel box state")


def _outcome(item: ReviewItem) -> Markup:
    outcome = item.outcome
    if outcome is None:
        return note("quiet", "Its content was erased before anybody decided; it stays withheld.")
    tone = "good" if item.state.released else "bad"
    return panel(
        "Decision",
        tag("p", badge(item.state.value, tone), " by ", foreign(outcome.actor[:80], "b"), ", ", moment(outcome.at)),
        foreign(outcome.reason[:10_000], "p", class_="text"),
        details("The text that went out", foreign(outcome.output[:60_000], "div", class_="text"))
        if outcome.output
        else None,
        details("Its receipt", tag("pre", foreign(outcome.receipt[:20_000], "code"), tabindex=0, class_="pre"))
        if outcome.receipt
        else None,
        style="box",
    )


# The actions


def _acts(
    request: Request, caller: Caller, item: ReviewItem, package: EscalationPackage | None, now: datetime
) -> Markup:
    holder = item.holder if item.held_until is not None and item.held_until > now else None
    version = hidden_input("version", item.version)
    path = f"{PATH}/{item.id}"
    if holder not in (None, caller.name) and not caller.may(Permission.ADMINISTER):
        return tag(
            "p",
            foreign(holder or "", "b"),
            " has it until ",
            f"{item.held_until:%H:%M}",
            " UTC. Nobody else can decide before.",
            class_="note doubt",
        )
    mine = holder == caller.name
    hold = form(
        request,
        f"{path}/{'release' if mine else 'claim'}",
        version,
        button("Give it back" if mine else group("Take it ", tag("kbd", "t")), data_key="t" if not mine else None),
    )
    buttons = (
        button(group(words, " ", tag("kbd", key)), _style(act, package), name_="act", value=act, data_key=key)
        for act, (key, words, _) in ACTS.items()
        if act in _open_acts(package)
    )
    edit = None
    if package is not None:
        edit = tag(
            "a",
            "Edit ",
            tag("kbd", "e"),
            href="#edit",
            class_=f"button {_style('edit', package)}".strip(),
            data_key="e",
        )
    recommendation = None
    if package is not None:
        recommendation = tag(
            "p",
            "Recommended: ",
            tag("b", package.suggested_action.replace("_", " ")),
            ". ",
            foreign(package.suggested_because),
            class_="soft",
        )
    return tag(
        "section",
        tag("h2", "Decide", class_="hidden"),
        tag("div", form(request, f"{path}/confirm", version, buttons, class_="inline"), edit, hold, class_="actions"),
        recommendation,
        class_="acts",
        data_acts=True,
    )


def _open_acts(package: EscalationPackage | None) -> frozenset[str]:
    """The actions that have a button. A blocked output cannot be approved, an erased one can only be rejected."""
    if package is None:
        return frozenset({"reject"})
    blocked = package.verification_report.action is Action.BLOCK
    return frozenset({"reject", "ask"}) if blocked else frozenset({"approve", "reject", "ask"})


def _style(act: str, package: EscalationPackage | None) -> str:
    """The style of the button of an action. Only the recommended one is highlighted, so that nobody is led to approve
    what the findings contradict."""
    if package is not None and act == package.suggested_action.removesuffix("_evidence"):
        return "primary"
    return "danger" if act == "reject" else ""


# The package


def _package(request: Request, caller: Caller, item: ReviewItem, package: EscalationPackage) -> list[Child]:
    texts = {one.id: one for one in package.evidence_used}
    report = package.verification_report
    parts: list[Child] = [answer_view(report, texts, {}, below=coverage_view(report), view=text_view(request))]
    if not item.state.decided and caller.may(Permission.REVIEW):
        suggested = _suggestions(package.suggested_corrections)
        parts.append(tag("div", _edit_form(request, item, package), suggested, class_="editing"))
    parts.append(_alternatives(package))
    parts.append(tools_view(report))
    if package.reasoning:
        words = (foreign(one, "p", class_="text") for one in package.reasoning)
        parts.append(
            panel(
                "What the model was thinking",
                note("quiet", "The model's own account; it is not evidence."),
                details("Show it", words),
            )
        )
    parts.append(evidence_view([(one.id, "", one) for one in package.evidence_used]))
    return parts


def _edit_form(request: Request, item: ReviewItem, package: EscalationPackage) -> Markup:
    area = text_area(
        "output",
        package.output,
        rows=min(18, 4 + package.output.count("\n")),
        maxlength=LONGEST_OUTPUT,
        data_edit=True,
        aria_describedby="edit-hint",
        dir="auto",
    )
    return panel(
        "Edit",
        form(
            request,
            f"{PATH}/{item.id}/confirm",
            hidden_input("version", item.version),
            hidden_input("act", "edit"),
            field("The text to release", area, tag("span", ACTS["edit"][2], id="edit-hint")),
            tag(
                "div",
                tag("h3", "What you change"),
                tag("div", data_diff=True, class_="diff text", aria_live="polite"),
                hidden=True,
                data_diff_box=True,
            ),
            button("Continue with this text", "primary"),
            class_="stack",
        ),
        id_="edit",
        style="box",
    )


def _suggestions(suggestions: Sequence[Suggestion]) -> Markup | None:
    if not suggestions:
        return None
    items = map(_suggestion, suggestions[:50])
    return panel("Suggested corrections", tag("ul", items, class_="plain suggestions"))


def _suggestion(one: Suggestion) -> Markup:
    before, reason = tag("del", foreign(one.before[:600])), tag("p", foreign(one.reason[:600]), class_="soft")
    if one.after is None:
        return tag("li", before, " ", reason)
    use = tag(
        "button",
        "Use this text",
        type_="button",
        class_="link",
        data_start=one.span.start,
        data_before=one.before,
        data_after=one.after,
        hidden=True,
        data_suggestion=True,
    )
    return tag("li", before, " ", tag("ins", foreign(one.after[:600])), reason, use)


def _alternatives(package: EscalationPackage) -> Markup | None:
    if not package.alternatives:
        return None
    shown = (
        details(tag("span", one.kind), foreign(one.text[:20_000], "div", class_="text")) for one in package.alternatives
    )
    return panel("Other texts that could be released", shown)


def _history(events: Sequence[ReviewEvent], now: datetime) -> Markup | None:
    if not events:
        return None
    items = (
        tag(
            "li",
            foreign("The gate" if one.actor == "gate" else one.actor[:80], "b"),
            " ",
            act_badge(one.act) or one.act.replace("_", " "),
            " ",
            moment(one.at, now),
            foreign(one.reason[:2_000], "p", class_="text soft") if one.reason else None,
        )
        for one in events
    )
    return panel("History", tag("ol", items, class_="plain events"))


# The fields of the second step


def _labels(fields: dict[str, str]) -> dict[int, Verdict]:
    """The reviewer's verdicts on single claims, by their positions; fields that are no such label are ignored."""
    labels = {}
    for name, value in fields.items():
        position = whole_number(name.removeprefix("claim."), 6) if name.startswith("claim.") else None
        if position is not None and value in set(Verdict):
            labels[position] = Verdict(value)
    return labels
