"""`/v1/changes` and `/v1/monitor`: the change log, the state of the charts, and the error budget."""

import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from assay.monitor import MonitorSettings, SystemChange
from assay.schema import Permission
from assay.server.http.problems import documented
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.server.patterns import SAYS_SOMETHING
from assay.server.services import Services, allowed
from assay.store.monitoring import ChangeRow, add_changes, read_changes
from assay.store.records import micros, moment_at

MOST: Final = 1_000
"""The most changes of one page."""
ChangeKind = Literal["prompt", "model", "index", "tools", "policy", "verifier", "code"]
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
Moment = Annotated[AwareDatetime, Field(ge=EARLIEST, le=LATEST)]
"""A moment that every time zone and the store can hold."""
Words = Annotated[str, Field(max_length=500)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ChangeBody(_Body):
    """A change of the system whose outputs are checked."""

    kind: ChangeKind
    ref: Annotated[str, Field(min_length=1, max_length=500, pattern=SAYS_SOMETHING)]
    """What it is now: a version, a digest, a commit."""
    at: Moment | None = None
    """When it was changed; now where it is left out."""
    note: Words = ""
    id: Annotated[str, Field(pattern="^[A-Za-z0-9._:-]{1,80}$")] | None = None
    """An id of your own, such as a deployment's; recorded twice, it counts once."""


class ChangeOut(_Body):
    """A change as it is remembered."""

    id: str
    kind: ChangeKind
    ref: str
    at: datetime
    note: str
    source: Literal["told", "seen"]
    """`seen` where it showed in what passed through."""


class AddedChange(ChangeOut):
    """A change that was told of."""

    new: bool
    """Whether it was not known before under this id."""


class ChangesOut(_Body):
    """Changes, the newest first."""

    changes: list[ChangeOut]


class ChangesQuery(_Body):
    """Which changes."""

    since: Moment | None = None
    until: Moment | None = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = 100


class MonitorOut(BaseModel):
    """Where every chart stands, the rates with their intervals, and the alarms that are open."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    tenant: str
    until: datetime
    """All observations before this moment are in the charts."""
    observations: int
    unsampled: int
    too_late: int
    window_hours: float
    series: list[dict[str, Any]]
    rates: dict[str, dict[str, Any]]
    alarms: list[dict[str, Any]]


class BudgetOut(BaseModel):
    """What is left of the error budget, how fast it burns, and which consequences are in force."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    tenant: str
    metric: str
    most: float
    allowed: float
    spent: float
    left: float
    broken: bool
    consequences: dict[str, dict[str, Any]]


def make_monitoring_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(tags=["monitor"]), _Routes(services)
    errors = documented(401, 403, 413, 422, 429, 503)
    router.post("/v1/changes", status_code=201, responses=errors)(routes.add)
    router.get("/v1/changes", responses=documented(401, 403, 422, 429, 503))(routes.changes)
    router.get("/v1/monitor", responses=documented(401, 403, 429, 503))(routes.status)
    router.get("/v1/monitor/budget", responses=documented(401, 403, 429, 503))(routes.budget)
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._settings = services.settings.monitor or MonitorSettings()

    def add(self, request: Request, body: ChangeBody) -> AddedChange:
        """Tell of a change, so that a regression can be put down to it."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        at = micros(body.at.astimezone(UTC) if body.at is not None else self._store.now())
        change = SystemChange(body.kind, body.ref, at, body.id or secrets.token_hex(16), body.note)
        row = ChangeRow(change.id, change.at, change.kind, change.ref, change.note, actor=caller.name)
        new = add_changes(self._store, caller.tenant, [row])
        return AddedChange(**_out(row).model_dump(), new=bool(new))

    def changes(self, request: Request, wanted: Annotated[ChangesQuery, Query()]) -> ChangesOut:
        """Changes, the newest first."""
        caller = allowed(request.scope, Permission.READ)
        since, until = (None if one is None else micros(one.astimezone(UTC)) for one in (wanted.since, wanted.until))
        with self._store.reading(caller.tenant) as connection:
            rows = read_changes(connection, caller.tenant, since, until, wanted.limit)
        return ChangesOut(changes=[_out(row) for row in rows])

    def status(self, request: Request) -> MonitorOut:
        """Where every chart stands, the rates with their intervals, and the open alarms."""
        caller = allowed(request.scope, Permission.READ)
        state = Monitor(self._store, self._settings).status(caller.tenant)
        return MonitorOut(**{**state, "until": moment_at(state["until"])})

    def budget(self, request: Request) -> BudgetOut:
        """What is left of the error budget."""
        caller = allowed(request.scope, Permission.READ)
        return BudgetOut(**Budgeting(self._store, self._settings.budget).read(caller.tenant))


def _out(row: ChangeRow) -> ChangeOut:
    return ChangeOut.model_validate(
        {
            "id": row.id,
            "kind": row.kind,
            "ref": row.ref,
            "at": moment_at(row.at),
            "note": row.note,
            "source": row.source,
        }
    )
