"""`/v1/monitor`: the panels as JSON and CSV, and alerts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from assay.errors import AlertError
from assay.schema import Permission
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.panels.panels import PANELS, RANGES, make_panel
from assay.server.reports.bodies import Out
from assay.server.services import Services, allowed
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
from assay.store.sketches import counted_until

PanelName = StrEnum("PanelName", {name.upper(): name for name in PANELS})  # type: ignore[misc]
"""The names of the panels, as an enumeration for the OpenAPI document."""
Range = Literal["24h", "7d", "30d", "90d"]
Id = Annotated[str, Path(alias="id", description="The id of the alert.", pattern="^[0-9a-f]{32}$")]
IfMatch = Annotated[str | None, Header(description="The ETag of the alert that the request is about.")]
ALERT_STATUS: Final = {"missing": 404, "stale": 412, "closed": 409, "refused": 422}
"""The HTTP status for each code of an `AlertError`."""
_MOST_HOURS: Final = 30 * 24
"""The longest silence."""


class ChangeOut(Out):
    """A change of the system within the period."""

    at: datetime
    kind: str
    ref: str


class PanelOut(Out):
    """One panel as a table."""

    panel: str
    title: str
    about: str
    """What is measured."""
    note: str | None
    """What must be known to read it."""
    range: Range
    columns: list[str]
    rows: list[list[str | int | float | None]]
    changes: list[ChangeOut]


class PanelsOut(Out):
    """The names of the panels and periods, and how much of the audit log is counted."""

    panels: list[str]
    ranges: list[str]
    counted: int
    """Entries of the audit log that the panels already include."""
    entries: int
    """All entries of the audit log."""


class AlertOut(Out):
    """One alert."""

    id: str
    key: str
    """What it is about. At most one alert of a key is open at a time."""
    kind: str
    urgency: Urgency
    state: AlertState
    summary: str
    facts: dict[str, Any]
    opened: datetime
    seen: datetime
    """When its condition last held."""
    count: int
    """How often its condition was found to hold."""
    told: datetime | None
    """When people were last notified of it."""
    closed: datetime | None
    owner: str | None
    """Who acknowledged it."""
    version: int
    silenced_until: datetime | None
    runbook: str


class AlertsOut(Out):
    """Alerts, the newest first."""

    items: list[AlertOut]


class SilenceBody(BaseModel):
    """For how long nobody is notified."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    hours: float = Field(ge=0, le=_MOST_HOURS)
    """Hours from now; 0 ends a silence."""


def make_monitor_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    routes = _Routes(services)
    router = APIRouter(prefix="/v1/monitor", tags=["monitor"])
    read_errors, act_errors = documented(401, 403, 404, 422, 503), documented(401, 403, 404, 409, 412, 422, 503)
    csv: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}
    router.get("/panels", responses=documented(401, 403, 503))(routes.panels)
    router.get("/panels/{name}", responses={**csv, **read_errors}, response_model=PanelOut)(routes.panel)
    router.get("/alerts", responses=documented(401, 403, 422, 503))(routes.alerts)
    router.get("/alerts/{id}", responses=read_errors, response_model=AlertOut)(routes.alert)
    router.post("/alerts/{id}/acknowledge", responses=act_errors, response_model=AlertOut)(routes.acknowledge)
    router.post("/alerts/{id}/close", responses=act_errors, response_model=AlertOut)(routes.close)
    router.post("/alerts/{id}/silence", responses=act_errors, response_model=AlertOut)(routes.silence)
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def panels(self, request: Request) -> PanelsOut:
        """The names of the panels and periods, and how far the counting is behind the audit log."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            counted, entries = counted_until(connection, caller.tenant)
        return PanelsOut(panels=list(PANELS), ranges=list(RANGES), counted=counted, entries=entries)

    def panel(
        self,
        request: Request,
        name: PanelName,
        range_: Annotated[Range, Query(alias="range")] = "7d",
        format_: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
    ) -> Response:
        """One panel as a table: JSON, or CSV for a spreadsheet."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            panel = make_panel(connection, caller.tenant, name.value, range_, self._store.now())
        if format_ == "csv":
            disposition = f'attachment; filename="assay-{panel.name}-{range_}.csv"'
            return Response(panel.as_csv(), media_type="text/csv", headers={"content-disposition": disposition})
        body = PanelOut.model_validate({**panel.as_json(), "range": range_})
        return Response(body.model_dump_json(), media_type="application/json")

    def alerts(
        self,
        request: Request,
        state: Annotated[list[AlertState] | None, Query(description="In these states; all by default.")] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> AlertsOut:
        """Alerts, the newest first."""
        caller, now = allowed(request.scope, Permission.READ), self._store.now()
        states: Sequence[AlertState] = tuple(AlertState) if state is None else state
        with self._store.reading(caller.tenant) as connection:
            items = list_alerts(connection, caller.tenant, now, states, limit)
        return AlertsOut(items=[alert_out(item) for item in items])

    def alert(self, request: Request, id_: Id) -> Response:
        """One alert."""
        caller = allowed(request.scope, Permission.READ)
        return _alert_response(self._read(caller.tenant, id_))

    def acknowledge(self, request: Request, id_: Id, if_match: IfMatch = None) -> Response:
        """Take charge of an alert: nobody is notified of it again unless it gets worse."""
        caller = allowed(request.scope, Permission.REVIEW)
        try:
            acknowledge(self._store, caller.tenant, id_, caller.name, caller.actor, _version(if_match))
        except AlertError as error:
            raise _problem(error) from error
        return _alert_response(self._read(caller.tenant, id_))

    def close(self, request: Request, id_: Id) -> Response:
        """Close an alert. It is opened again if its condition still holds at the next evaluation."""
        caller = allowed(request.scope, Permission.REVIEW)
        item = self._read(caller.tenant, id_)
        if item.state is not AlertState.CLOSED:
            close_alert(self._store, caller.tenant, item.key, caller.actor)
        return _alert_response(self._read(caller.tenant, id_))

    def silence(self, body: SilenceBody, request: Request, id_: Id) -> Response:
        """Suspend notifications about the subject of this alert for some hours."""
        caller = allowed(request.scope, Permission.REVIEW)
        item = self._read(caller.tenant, id_)
        until = None if body.hours == 0 else self._store.now() + timedelta(hours=body.hours)
        try:
            silence(self._store, caller.tenant, item.key, until, caller.name, caller.actor)
        except AlertError as error:
            raise _problem(error) from error
        return _alert_response(self._read(caller.tenant, id_))

    def _read(self, tenant: str, id_: str) -> AlertItem:
        with self._store.reading(tenant) as connection:
            item = read_alert(connection, tenant, id_, self._store.now())
        if item is None:
            raise unknown("alert")
        return item


def alert_out(item: AlertItem) -> AlertOut:
    """An alert as the REST API returns it."""
    return AlertOut(
        id=item.id,
        key=item.key,
        kind=item.kind,
        urgency=item.urgency,
        state=item.state,
        summary=item.summary,
        facts=dict(item.facts),
        opened=item.opened,
        seen=item.seen,
        count=item.count,
        told=item.told,
        closed=item.closed,
        owner=item.owner,
        version=item.version,
        silenced_until=item.silenced_until,
        runbook=runbook_of(item.kind),
    )


def _alert_response(item: AlertItem) -> Response:
    response = Response(alert_out(item).model_dump_json(), media_type="application/json")
    response.headers["etag"] = f'"{item.version}"'
    return response


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) <= 9):  # `isdigit` alone accepts digits that `int` refuses
        raise ProblemError(
            422, f"expected the ETag of an alert in If-Match, got {ascii(if_match)[:60]}", code="input.invalid"
        )
    return int(text)


def _problem(error: AlertError) -> ProblemError:
    return ProblemError(ALERT_STATUS.get(error.code, 422), str(error), code=f"alert.{error.code}")
