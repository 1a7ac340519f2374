"""The REST routes: checks, health, and the OpenAPI document."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from assay._version import __version__
from assay.errors import InputError, PolicyError, StoreError
from assay.guard import CheckRequest, Guard
from assay.guard.runs import DEFAULT_SOURCES
from assay.schema import Evidence, HallucinationReport, Permission, Stakes, Structure, coerce_evidence
from assay.server.caller import Caller, called
from assay.server.checking import CheckFailedError
from assay.server.consensus import make_consensus_router
from assay.server.console.router import make_console_router
from assay.server.gateway.asgi import header
from assay.server.http.days import OptionalDay
from assay.server.http.error_answers import AGAIN, MEND, OneEncoding, answer_errors
from assay.server.http.permitted_options import require_permitted
from assay.server.http.problems import Problem, documented, problem
from assay.server.recording import Kept, Records
from assay.server.reviews.held_answers import Callback, Held, Wait
from assay.server.screening import make_screening_router
from assay.server.services import Services, allowed
from assay.server.telemetry.router import make_metrics_router
from assay.server.verdicts import VerdictCache


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"expected a whole number, got {str(value).lower()}")  # noqa: TRY004 pydantic tells of this one
    return value


class CheckBody(BaseModel):
    """One output to be checked against its evidence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    answer: str
    """The output."""
    evidence: list[str | dict[str, Any]] | str | None = None
    """Texts, or objects with `text` and where known `id`, `title`, `source`, `version`, dates and `metadata`."""
    question: str | None = None
    """What the output answers."""
    policy: str | None = None
    """A preset; the server's own policy by default."""
    stakes: Stakes = Stakes.MEDIUM
    """How much depends on the answer."""
    task: str = "qa"
    """The kind of task; a policy may hold some, such as `creative`, to no evidence."""
    schema_: Annotated[dict[str, Any] | StrictBool | None, Field(alias="schema")] = None
    """A JSON Schema that the output has to satisfy. With one, each value of the output is a claim that is checked
    against the evidence."""
    structure: Structure | None = None
    """How an output in JSON is checked beside its schema: rules over several fields, references into the evidence,
    which values are no claims. A schema may carry it itself, under `x-assay`."""
    as_of: OptionalDay = None
    """The day that the output is to hold on: evidence that has expired by then is said to have. Without one no clock is
    read, and evidence is compared with evidence only."""
    citations: list[dict[str, Any]] | None = None
    """Citation objects as model providers give them."""
    claim_free: StrictBool = False
    """Whether the output is declared to contain no claims."""
    revisions_failed: Annotated[int, BeforeValidator(_number)] = Field(default=0, ge=0)
    """How many revisions of it have failed already."""
    run_id: str | None = Field(default=None, min_length=1)
    """A name for the run; derived from the content by default."""

    def asked(self) -> dict[str, Any]:
        """What the check is given beside its evidence, as it is recorded."""
        return {
            "answer": self.answer,
            "question": self.question,
            "stakes": self.stakes.value,
            "task": self.task,
            "schema": self.schema_,
            "citations": self.citations,
            "claim_free": self.claim_free,
            "revisions_failed": self.revisions_failed,
            "run_id": self.run_id,
            "structure": None if self.structure is None else self.structure.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
        }

    def request(self, evidence: Sequence[Evidence]) -> CheckRequest:
        """The check as the guard takes it."""
        return CheckRequest(
            self.answer,
            evidence,
            self.question,
            self.stakes,
            self.task,
            self.schema_,
            self.citations,
            self.claim_free,
            self.revisions_failed,
            self.run_id,
            structure=self.structure,
            as_of=self.as_of,
        )


class RunBody(BaseModel):
    """One agent run to be checked: its tool calls, and its final answer against what the run saw."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    run: dict[str, Any] | list[Any]
    """A transcript in any format that assay reads, or a run in its normal form."""
    format: str | None = None
    """The transcript's format, where it is known."""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """Declarations that the transcript does not carry."""
    sources: list[str] = Field(default_factory=lambda: list(DEFAULT_SOURCES))
    """What of the run may be evidence: `tools`, `passages`, `user`, `system`."""
    evidence: list[str | dict[str, Any]] | str | None = None
    """Evidence beside the run."""
    question: str | None = None
    policy: str | None = None
    """A preset; the server's own policy by default."""
    stakes: Stakes = Stakes.MEDIUM
    task: str = "qa"
    claim_free: StrictBool = False
    revisions_failed: Annotated[int, BeforeValidator(_number)] = Field(default=0, ge=0)
    run_id: str | None = Field(default=None, min_length=1)

    def options(self, now: datetime) -> dict[str, Any]:
        """What the guard takes beside the run and its evidence."""
        return {
            "format": self.format,
            "tools": self.tools,
            "now": now,
            "sources": self.sources,
            "question": self.question,
            "stakes": self.stakes.value,
            "task": self.task,
            "claim_free": self.claim_free,
            "revisions_failed": self.revisions_failed,
            "run_id": self.run_id,
        }

    def asked(self, now: datetime) -> dict[str, Any]:
        """What the check is given beside its evidence, as it is recorded."""
        return {**self.options(now), "run": self.run, "now": now.isoformat()}


class BatchBody(BaseModel):
    """Several outputs, each with its own evidence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    requests: list[CheckBody] = Field(min_length=1)
    """The checks, at most as many as the server's limit."""


class BatchItem(BaseModel):
    """What became of one check of a batch: its report, or why there is none."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: str | None = None
    """The id under which it is recorded; none where the server records nothing."""
    report: HallucinationReport | None = None
    receipt: str | None = None
    """Where the gate emits and the server has keys."""
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """One item for each request, in order."""

    results: list[BatchItem]


class Health(BaseModel):
    """Whether the server works."""

    status: str
    version: str = __version__


_log = logging.getLogger(__name__)
READY_S: Final = 1.0
"""Seconds for which what is known of the database is told again."""
_PROBLEMS: Final = documented(401, 403, 413, 422, 429, 503)


class Api:
    """The routes over one pool of checks."""

    def __init__(self, services: Services, ready: Callable[[], bool], held: Held, verdicts: VerdictCache) -> None:
        """Routes over what the server has; `held` is what waits for people, `verdicts` makes checks."""
        self._settings, self._guard_of, self._checker = services.settings, services.guard_of, services.checker
        self._records, self._verdicts = Records(services), verdicts
        self._held = held
        self._ready = ready
        self._kept = services.kept
        self._overlays = services.overlays
        self._asked_until = 0.0
        self._trouble: str | None = None

    def _guard_for(self, body: "CheckBody | RunBody", request: Request) -> Any:
        """The guard of the policy that a request names, in its body or in the header that the gateway reads."""
        said = header(request.scope, b"x-assay-policy")
        if said is not None and body.policy is not None and said != body.policy:
            raise InputError(f"the body names the policy {body.policy!r}, the header x-assay-policy {said!r}; give one")
        for other in (b"x-assay-stakes", b"x-assay-upstream"):
            if header(request.scope, other) is not None:
                raise InputError(f"the header {other.decode()} is for the gateway's routes; put it in the body")
        own = self._guard_of(None)
        name = body.policy or said
        guard = own if name is None else self._guard_of(name)
        if name is not None:
            require_permitted(guard.policy, own.policy, self._settings.policies)
        return guard

    def _in_force(self, guard: Guard, caller: Caller) -> Any:
        """The guard for a caller's tenant, with what is laid over its policy now."""
        return self._overlays.over(guard, caller.tenant).for_tenant(caller.tenant)

    async def check(self, body: CheckBody, request: Request, wait: Wait = 0.0, callback: Callback = None) -> Response:
        """Check one output against its evidence, claim by claim; with `wait`, have what a person decides on it."""
        caller = allowed(request.scope, Permission.CHECK)
        self._held.require(callback, caller)
        guard = self._in_force(self._guard_for(body, request), caller)
        body = _dated(guard, body)
        report, evidence = await self._verdicts.check(guard, body, caller.tenant)
        kept = await self._records.check(guard, report, body.asked(), evidence, caller, callback=callback)
        return await self._held.answer(_told_report(report, kept), report, kept.id, caller, wait)

    async def check_run(self, body: RunBody, request: Request, wait: Wait = 0.0, callback: Callback = None) -> Response:
        """Check one agent run: every tool call, and the final answer against what the run saw."""
        caller = allowed(request.scope, Permission.CHECK)
        self._held.require(callback, caller)
        guard = self._in_force(self._guard_for(body, request), caller)
        now = datetime.now(UTC)

        def work() -> tuple[HallucinationReport, tuple[Evidence, ...]]:
            evidence = coerce_evidence(body.evidence)
            return guard.check_run(body.run, evidence=evidence, **body.options(now)), evidence

        report, evidence = await self._checker.run(work)
        asked = body.asked(now)
        kept = await self._records.check(guard, report, asked, evidence, caller, "run", callback)
        return await self._held.answer(_told_report(report, kept), report, kept.id, caller, wait)

    async def batch(self, body: BatchBody, request: Request) -> Response:
        """Check several outputs; one that cannot be checked does not keep the others from it."""
        caller = allowed(request.scope, Permission.CHECK)
        most = self._settings.limits.batch
        if len(body.requests) > most:
            raise InputError(f"a batch has at most {most} requests, got {len(body.requests)}; send them in parts")
        size = called().read // len(body.requests)
        results = await asyncio.gather(
            *(self._one(one, number, size, caller, request) for number, one in enumerate(body.requests))
        )
        return _json(BatchAnswer(results=results).model_dump_json(exclude_none=False))

    async def _one(self, body: CheckBody, number: int, size: int, caller: Caller, request: Request) -> BatchItem:
        where = f"#/requests/{number}"
        try:
            guard = self._in_force(self._guard_for(body, request), caller)
            body = _dated(guard, body)
            report, evidence = await self._verdicts.check(guard, body, caller.tenant, size=size)
            kept = await self._records.check(guard, report, body.asked(), evidence, caller)
        except (InputError, PolicyError) as error:
            said = problem(422, str(error), code="input.invalid", instance=where, todo=MEND)
        except CheckFailedError as error:
            self._records.telemetry.unchecked("check")
            said = problem(503, str(error), code="check.failed", instance=where, todo=AGAIN)
        except StoreError as error:
            said = problem(503, str(error), code="store.failed", instance=where, todo=AGAIN)
        else:
            receipt = kept.receipt.to_text() if kept.receipt is not None else None
            return BatchItem(report=report, id=kept.id, receipt=receipt)
        return BatchItem(problem=Problem.model_validate(said))

    async def health(self) -> Health:
        """Whether the process lives."""
        return Health(status="ok")

    async def ready(self, response: Response) -> Health:
        """Whether the server takes requests: its network is loaded, its queue has room and its database stores."""
        trouble = None if self._ready() else "the network is not loaded yet, or too many checks wait"
        if trouble is None and self._kept is not None:
            now = time.monotonic()
            if now >= self._asked_until:
                # Anybody may ask: the database is looked at once in a while, however often that is.
                self._asked_until = now + READY_S
                self._trouble = await asyncio.to_thread(self._kept.trouble)
            trouble = self._trouble
        if trouble is None:
            return Health(status="ready")
        _log.warning("not ready: %s", trouble)
        response.status_code = 503
        return Health(status="not ready")


_VERSION_NEEDED: Final = "428"
"""What an operation answers that has to be told which version it is about."""


class _Described(FastAPI):
    """The application whose document says how any operation with a body may be refused for its time or encoding, and
    where a version has to be named.

    The application and `OneEncoding` refuse it before any route, so that no route could forget to say so.
    """

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        told = {str(status): response for status, response in documented(408, 415).items()}
        for path in document["paths"].values():
            for operation in path.values():
                if "requestBody" in operation:
                    operation["responses"] |= told
                if _VERSION_NEEDED in operation.get("responses", {}):
                    for parameter in operation.get("parameters", ()):
                        # Optional to the framework, so that a request without it is told which version it needs.
                        parameter["required"] |= parameter["name"].lower() == "if-match"
        return document


def make_api(
    services: Services,
    ready: Callable[[], bool],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    held: Held,
    verdicts: VerdictCache,
) -> FastAPI:
    """The REST routes as a FastAPI application; `held` is what waits for people, `verdicts` makes checks."""
    app = _Described(
        title="assay",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        description="Checks every claim in a model's output against your evidence.",
    )
    api = Api(services, ready, held, verdicts)
    app.post("/v1/check", response_model=HallucinationReport, responses=_PROBLEMS, tags=["check"])(api.check)
    app.post("/v1/batch", response_model=BatchAnswer, responses=_PROBLEMS, tags=["check"])(api.batch)
    app.post("/v1/runs/check", response_model=HallucinationReport, responses=_PROBLEMS, tags=["check"])(api.check_run)
    app.include_router(make_consensus_router(services))
    app.include_router(make_screening_router(services))
    app.get("/healthz", tags=["operation"])(api.health)
    app.get("/readyz", tags=["operation"], responses={503: {"model": Health}})(api.ready)
    for router in routers_of(services, held):
        app.include_router(router)
    app.include_router(make_console_router(services))
    app.include_router(make_metrics_router(services))
    answer_errors(app, services.telemetry, keeps=services.kept is not None)
    app.add_middleware(OneEncoding)
    return app


def routers_of(services: Services, held: Held) -> list[APIRouter]:
    """The routers over the database; none where the server has none.

    What they need is loaded here, so that a server without a database does without SQLAlchemy.
    """
    if services.kept is None:
        return []
    from assay.server.access.router import make_access_router
    from assay.server.audit.router import make_audit_router
    from assay.server.monitoring.router import make_monitoring_router
    from assay.server.panels.router import make_monitor_router
    from assay.server.redteam.router import make_redteam_router
    from assay.server.reports.router import make_reports_router
    from assay.server.reports.rules import make_rules_router
    from assay.server.reviews.router import make_reviews_router

    return [
        make_reports_router(services),
        make_rules_router(services),
        make_audit_router(services),
        make_reviews_router(services, held.waiting),
        make_access_router(services),
        make_monitor_router(services),
        make_monitoring_router(services),
        make_redteam_router(services),
    ]


def _dated(guard: Guard, body: CheckBody) -> CheckBody:
    """The request with the day that the retrieval gate goes by, so that it is on record and a replay goes by it too."""
    if guard.policy.screen is None or body.as_of is not None:
        return body
    return body.model_copy(update={"as_of": datetime.now(UTC).date()})


def _told_report(report: HallucinationReport, kept: Kept) -> Response:
    """The report as the answer; under which id it is recorded, and its receipt where it has one, in headers."""
    made = _json(report.model_dump_json())
    if kept.id is not None:
        made.raw_headers.append((b"x-assay-report-id", kept.id.encode()))
    if kept.receipt is not None:
        made.raw_headers.append((b"x-assay-receipt", kept.receipt.to_text().encode()))
    return made


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
