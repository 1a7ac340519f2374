"""The pages of alerts: the list of all alerts, one alert with its actions, and the list for other pages."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, form, read_form, redirect, render
from assay.server.console.parts import (
    Column,
    badge,
    button,
    facts,
    field,
    line,
    moment,
    panel,
    select,
    shorten,
    table,
    title_words,
)
from assay.server.services import Services
from assay.store.alerts import (
    AlertItem,
    AlertState,
    Urgency,
    acknowledge,
    close_alert,
    list_alerts,
    read_alert,
    runbook_of,
    silence,
)
from assay.store.db import Store

_TONES: Final = {Urgency.INFO: "quiet", Urgency.WARNING: "doubt", Urgency.CRITICAL: "bad"}
_STATES: Final = {AlertState.OPEN: "bad", AlertState.ACKNOWLEDGED: "accent", AlertState.CLOSED: "quiet"}
_COLUMNS: Final = (
    Column("What", "main"),
    Column("Urgency"),
    Column("State"),
    Column("Since", "num less"),
    Column("Last seen", "num less"),
)
_HOURS: Final = {"1": "1 hour", "8": "8 hours", "24": "a day", "168": "a week", "0": "no longer"}
"""How long notifications can be silenced, by hours."""


def alert_list(title: str, alerts: Sequence[AlertItem], now: datetime, more: Child = None) -> Markup:
    """Alerts as a table, the newest first.

    Args:
        title: what the alerts have in common.
        alerts: the alerts.
        now: the moment that times are relative to.
        more: a link next to the title.
    """
    rows: list[list[Child]] = [
        [
            tag("a", foreign(shorten(alert.summary, 160)), href=f"/console/monitor/alerts/{alert.id}"),
            badge(alert.urgency.value, _TONES[alert.urgency]),
            _state(alert),
            moment(alert.opened, now),
            moment(alert.seen, now),
        ]
        for alert in alerts
    ]
    return panel(title, table(title, _COLUMNS, rows, empty=("No alert", "No alert condition holds.")), actions=more)


def _state(alert: AlertItem) -> Markup:
    words = alert.state.value if alert.silenced_until is None else f"{alert.state.value}, silenced"
    return badge(words, _STATES[alert.state])


def make_alert_pages(services: Services) -> APIRouter:
    """The pages under `/console/monitor/alerts`."""
    router = page_router()
    store = services.store

    def alert_or_404(tenant: str, id_: str) -> AlertItem:
        with store.reading(tenant) as connection:
            item = read_alert(connection, tenant, id_, store.now())
        if item is None:
            raise HTTPException(404, "there is no such alert")
        return item

    @router.get("/console/monitor/alerts")
    def alerts(request: Request) -> Response:
        caller, now = allowed(request, Permission.READ), store.now()
        with store.reading(caller.tenant) as connection:
            items = list_alerts(connection, caller.tenant, now)
        return render(
            request,
            "Alerts",
            alert_list("Alerts, newest first", items, now),
            current="monitor",
            parent=("Monitor", "/console/monitor"),
        )

    @router.get("/console/monitor/alerts/{id_}")
    def alert(request: Request, id_: str) -> Response:
        caller, now = allowed(request, Permission.READ), store.now()
        item = alert_or_404(caller.tenant, id_)
        acts = _acts(request, item) if caller.may(Permission.REVIEW) else None
        return render(
            request,
            "Alert",
            panel("Problem", tag("p", foreign(item.summary)), _facts(item, now)),
            acts,
            current="monitor",
            parent=("Alerts", "/console/monitor/alerts"),
            about=tag("span", badge(item.urgency.value, _TONES[item.urgency]), " ", _state(item)),
        )

    def route_of(act: Act) -> Callable[..., Awaitable[Response]]:
        async def handle(request: Request, id_: str) -> Response:
            caller = allowed(request, Permission.REVIEW)
            hours = (await read_form(request)).get("hours", "0")
            if hours not in _HOURS:
                raise HTTPException(422, f"hours are one of {', '.join(_HOURS)}")
            item = await run_in_threadpool(alert_or_404, caller.tenant, id_)
            message = await run_in_threadpool(act, store, item, caller.tenant, caller.name, caller.actor, int(hours))
            return redirect(f"/console/monitor/alerts/{item.id}", message)

        return handle

    for name, act in (("acknowledge", _acknowledge), ("close", _close), ("silence", _silence)):
        router.add_api_route(f"/console/monitor/alerts/{{id_}}/{name}", route_of(act), methods=["POST"])
    return router


Act = Callable[[Store, AlertItem, str, str, str, int], str]
"""Changes an alert and returns the code of the message to show. The arguments are the store, the alert, the tenant, the
name and the actor of the caller, and the hours of a silence."""


def _acknowledge(store: Store, item: AlertItem, tenant: str, name: str, actor: str, _: int) -> str:
    acknowledge(store, tenant, item.id, name, actor)
    return "alert.acknowledged"


def _close(store: Store, item: AlertItem, tenant: str, _: str, actor: str, __: int) -> str:
    if item.state is not AlertState.CLOSED:
        close_alert(store, tenant, item.key, actor)
    return "alert.closed"


def _silence(store: Store, item: AlertItem, tenant: str, name: str, actor: str, hours: int) -> str:
    until = None if hours == 0 else store.now() + timedelta(hours=hours)
    silence(store, tenant, item.key, until, name, actor)
    return "alert.silenced" if hours else "alert.unsilenced"


def _facts(item: AlertItem, now: datetime) -> Markup:
    pairs: list[tuple[str, Child]] = [
        ("About", line(item.key)),
        ("Kind", line(item.kind)),
        ("Since", moment(item.opened, now)),
        ("Last seen", moment(item.seen, now)),
        ("Seen", f"{item.count:,} times"),
        ("Last notified", "never" if item.told is None else moment(item.told, now)),
        ("Acknowledged by", line(item.owner)),
        ("Over since", "–" if item.closed is None else moment(item.closed, now)),
        ("Silenced until", "–" if item.silenced_until is None else moment(item.silenced_until, now)),
        ("What to do", tag("code", runbook_of(item.kind))),
        *((title_words(str(name)), line(_words(value))) for name, value in item.facts.items()),
    ]
    return facts(pairs, "list")


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _acts(request: Request, item: AlertItem) -> Markup:
    base = f"/console/monitor/alerts/{item.id}"
    forms: list[Child] = []
    if item.state is AlertState.OPEN:
        forms.append(form(request, f"{base}/acknowledge", button("Acknowledge", "primary")))
    if item.state is not AlertState.CLOSED:
        forms.append(form(request, f"{base}/close", button("Close it")))
    choice = select("hours", _HOURS.items(), "8")
    forms.append(form(request, f"{base}/silence", field("Silence for", choice), button("Silence"), class_="actions"))
    return panel("What to do about it", tag("div", forms, class_="actions"))
