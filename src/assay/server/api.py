"""The REST routes: checks, health, and the OpenAPI document."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel

from assay._version import __version__
from assay.errors import InputError, PolicyError, StoreError
from assay.guard import Guard
from assay.schema import Evidence, HallucinationReport, Permission, coerce_evidence
from assay.server.caller import Caller, called
from assay.server.checking import CheckFailedError
from assay.server.checks.bodies import BatchAnswer, BatchBody, BatchItem, CheckBody, RunBody
from assay.server.checks.repeats import ContentOf, IdempotencyKey, KeyedCheck, KeyedRequests
from assay.server.consensus import make_consensus_router
from assay.server.console.router import make_console_router
from assay.server.gateway.asgi import header
from assay.server.http.error_answers import CORRECT_REQUEST, TRY_AGAIN, Utf8Only, answer_errors
from assay.server.http.permitted_options import named_policy, require_claims, require_permitted
from assay.server.http.problems import Problem, documented, problem
from assay.server.recording import RecordedCheck, Recorder
from assay.server.reviews.held_answers import Callback, HeldAnswers, Wait
from assay.server.screening import make_screening_router
from assay.server.services import Services, allowed
from assay.server.telemetry.router import make_metrics_router
from assay.server.verdicts import VerdictCache
from assay.wire import require_held, require_stakes


class Health(BaseModel):
    """Whether the server works."""

    status: str
    version: str = __version__


_Body = TypeVar("_Body", CheckBody, RunBody)
_log = logging.getLogger(__name__)
LEAST_WAIT_S: Final = 0.001
"""The least seconds that a repeated request waits for a person, so that it gets what was decided in the meantime."""
READINESS_REUSED_S: Final = 1.0
"""Seconds for which the state of the database is reported without asking it again."""
_PROBLEMS: Final = documented(401, 403, 409, 413, 422, 429, 503)


class Api:
    """The routes over one pool of checks."""

    def __init__(
        self, services: Services, ready: Callable[[], bool], held: HeldAnswers, verdicts: VerdictCache
    ) -> None:
        """Routes over a server's services; `held` waits for reviewers, `verdicts` runs checks or finds equal ones."""
        self._settings, self._guard_of, self._checker = services.settings, services.guard_of, services.checker
        self._records, self._verdicts, self._repeats = Recorder(services), verdicts, KeyedRequests(services)
        self._held = held
        self._ready = ready
        self._kept = services.kept
        self._overlays = services.overlays
        self._readiness_until = 0.0
        self._store_trouble: str | None = None

    def _permitted(self, body: _Body, request: Request, caller: Caller) -> tuple[Any, _Body]:
        """The guard under which a request is checked for a caller, and its body with the stakes that are in force.

        Raises:
            InputError, PolicyError: it asks for something looser than the operator set.
        """
        guard = self._guard_in_force(self._guard_for(body, request), caller)
        stakes = require_stakes(body.stakes, self._settings.stakes)
        return guard, body.model_copy(update={"stakes": stakes})

    def _guard_for(self, body: "CheckBody | RunBody", request: Request) -> Any:
        """The guard of the policy that a request names, in its body or in the header that the gateway reads."""
        own = self._guard_of(None)
        name = named_policy(header(request.scope, b"x-assay-policy"), body.policy)
        guard = own if name is None else self._guard_of(name)
        if name is not None:
            require_permitted(guard.policy, own.policy, self._settings.policies)
        require_held(body.task, guard.policy, self._settings.tasks)
        if isinstance(body, CheckBody) and guard.policy.groundedness:
            require_claims(body.held_to(), self._settings.skip)
        return guard

    def _guard_in_force(self, guard: Guard, caller: Caller) -> Any:
        """The guard for a caller's tenant, with the overlays that are active on its policy."""
        return self._overlays.over(guard, caller.tenant).for_tenant(caller.tenant)

    async def check(
        self, body: CheckBody, request: Request, key: IdempotencyKey = None, wait: Wait = 0.0, callback: Callback = None
    ) -> Response:
        """Check one output against its evidence, claim by claim; with `wait`, have what a person decides on it."""
        caller = allowed(request.scope, Permission.CHECK)
        self._held.require_callback(callback, caller)
        content = _content_of("check", body, request, callback)
        guard, body = self._permitted(body, request, caller)
        async with self._repeats.claimed(key, request.scope, caller, content) as (step,):
            report, kept = await self._checked(guard, body, caller, step, callback=callback)
        out = _report_response(report, kept, step)
        return await self._held.respond(
            out, report, kept.id, caller, wait if step.run is None else max(wait, LEAST_WAIT_S)
        )

    async def check_run(
        self, body: RunBody, request: Request, key: IdempotencyKey = None, wait: Wait = 0.0, callback: Callback = None
    ) -> Response:
        """Check one agent run: every tool call, and the final answer against what the run saw."""
        caller = allowed(request.scope, Permission.CHECK)
        self._held.require_callback(callback, caller)
        content = _content_of("run", body, request, callback)
        guard, body = self._permitted(body, request, caller)
        now = datetime.now(UTC)
        asked = body.asked(now)

        def work() -> tuple[HallucinationReport, tuple[Evidence, ...]]:
            evidence = coerce_evidence(body.evidence)
            return guard.check_run(body.run, evidence=evidence, **body.options(now)), evidence

        async with self._repeats.claimed(key, request.scope, caller, content) as (step,):
            if step.run is not None:
                report = await step.report(asked, body.evidence, ("now", "stakes"))
                kept = await self._records.again(guard, report, step, caller)
            else:
                report, evidence = await self._checker.run(work)
                kept = await self._records.check(guard, report, asked, evidence, caller, "run", callback, step)
        out = _report_response(report, kept, step)
        return await self._held.respond(
            out, report, kept.id, caller, wait if step.run is None else max(wait, LEAST_WAIT_S)
        )

    async def batch(self, body: BatchBody, request: Request, key: IdempotencyKey = None) -> Response:
        """Check several outputs; one that cannot be checked does not keep the others from it."""
        caller = allowed(request.scope, Permission.CHECK)
        most, many = self._settings.limits.batch, len(body.requests)
        if many > most:
            raise InputError(f"a batch has at most {most} requests, got {many}; send them in parts")
        size = called().read // many
        content = _content_of("batch", body, request)
        async with self._repeats.claimed(key, request.scope, caller, content, many) as steps:
            results = await asyncio.gather(
                *(
                    self._batch_item(one, number, size, caller, request, step)
                    for number, (one, step) in enumerate(zip(body.requests, steps, strict=True))
                )
            )
        return _json(BatchAnswer(results=results).model_dump_json(exclude_none=False))

    async def _batch_item(
        self, body: CheckBody, number: int, size: int, caller: Caller, request: Request, step: KeyedCheck
    ) -> BatchItem:
        pointer = f"#/requests/{number}"
        try:
            guard, body = self._permitted(body, request, caller)
            report, kept = await self._checked(guard, body, caller, step, size=size)
        except (InputError, PolicyError) as error:
            document = problem(422, str(error), code="input.invalid", instance=pointer, todo=CORRECT_REQUEST)
        except CheckFailedError as error:
            self._records.telemetry.unchecked("check")
            document = problem(503, str(error), code="check.failed", instance=pointer, todo=TRY_AGAIN)
        except StoreError as error:
            document = problem(503, str(error), code="store.failed", instance=pointer, todo=TRY_AGAIN)
        else:
            receipt = kept.receipt.to_text() if kept.receipt is not None else None
            return BatchItem(report=report, id=kept.id, receipt=receipt)
        return BatchItem(problem=Problem.model_validate(document))

    async def _checked(
        self,
        guard: Guard,
        body: CheckBody,
        caller: Caller,
        step: KeyedCheck,
        *,
        size: int | None = None,
        callback: str | None = None,
    ) -> tuple[HallucinationReport, RecordedCheck]:
        """The report of a check and its record: made now, or found under the key of an earlier request."""
        if step.run is not None:
            set_by_server = ("stakes",) if body.as_of is not None else ("stakes", "as_of")
            report = await step.report(body.asked(), body.evidence, set_by_server)
            return report, await self._records.again(guard, report, step, caller)
        body = _dated(guard, body)
        report, evidence = await self._verdicts.check(guard, body, caller.tenant, size=size)
        asked = body.asked()
        return report, await self._records.check(guard, report, asked, evidence, caller, callback=callback, step=step)

    async def health(self) -> Health:
        """Whether the process lives."""
        return Health(status="ok")

    async def ready(self, response: Response) -> Health:
        """Whether the server takes requests: its network is loaded, its queue has room and its database stores."""
        trouble = None if self._ready() else "the network is not loaded yet, or too many checks wait"
        if trouble is None and self._kept is not None:
            now = time.monotonic()
            if now >= self._readiness_until:
                # Anybody may ask as often as they like: the database is asked once in a while.
                self._readiness_until = now + READINESS_REUSED_S
                self._store_trouble = await asyncio.to_thread(self._kept.trouble)
            trouble = self._store_trouble
        if trouble is None:
            return Health(status="ready")
        _log.warning("not ready: %s", trouble)
        response.status_code = 503
        return Health(status="not ready")


_VERSION_NEEDED: Final = "428"
"""The status of an operation that needs the version it is about in `if-match`."""


class _DocumentedApi(FastAPI):
    """An application whose OpenAPI document adds to every operation with a body that it may be too slow (408) or in
    another encoding (415), and marks `if-match` as required where a version is needed.

    The application and `Utf8Only` refuse such bodies before any route runs, so no route has to document it.
    """

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        errors = {str(status): response for status, response in documented(408, 415).items()}
        for path in document["paths"].values():
            for operation in path.values():
                if "requestBody" in operation:
                    operation["responses"] |= errors
                if _VERSION_NEEDED in operation.get("responses", {}):
                    for parameter in operation.get("parameters", ()):
                        # Optional to the framework, so that a request without it gets the 428 of its route.
                        parameter["required"] |= parameter["name"].lower() == "if-match"
        return document


def make_api(
    services: Services,
    ready: Callable[[], bool],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    held: HeldAnswers,
    verdicts: VerdictCache,
) -> FastAPI:
    """The REST routes as a FastAPI application; `held` waits for reviewers, `verdicts` runs checks."""
    app = _DocumentedApi(
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
    answer_errors(app, services.telemetry, has_store=services.kept is not None)
    app.add_middleware(Utf8Only)
    return app


def routers_of(services: Services, held: HeldAnswers) -> list[APIRouter]:
    """The routers over the database; none where the server has none.

    They are imported here, so that a server without a database does not load SQLAlchemy.
    """
    if services.kept is None:
        return []
    from assay.server.access.router import make_access_router
    from assay.server.audit.router import make_audit_router
    from assay.server.datasets.router import make_datasets_router
    from assay.server.monitoring.router import make_monitoring_router
    from assay.server.panels.router import make_monitor_router
    from assay.server.redteam.router import make_redteam_router
    from assay.server.reports.policies_and_retention import make_rules_router
    from assay.server.reports.router import make_reports_router
    from assay.server.reviews.router import make_reviews_router

    return [
        make_reports_router(services),
        make_rules_router(services),
        make_audit_router(services),
        make_reviews_router(services, held.waiter),
        make_access_router(services),
        make_monitor_router(services),
        make_monitoring_router(services),
        make_redteam_router(services),
        make_datasets_router(services),
    ]


def _dated(guard: Guard, body: CheckBody) -> CheckBody:
    """The request with the day that the retrieval gate uses, so that the record has it and a replay uses it too."""
    if guard.policy.screen is None or body.as_of is not None:
        return body
    return body.model_copy(update={"as_of": datetime.now(UTC).date()})


def _content_of(route: str, body: BaseModel, request: Request, callback: str | None = None) -> ContentOf:
    """Everything that the answer to a request depends on; the body is dumped only where there is a key."""
    policy = header(request.scope, b"x-assay-policy")
    return lambda: {"route": route, "policy": policy, "callback": callback, "body": body.model_dump()}


def _report_response(report: HallucinationReport, kept: RecordedCheck, step: KeyedCheck) -> Response:
    """The report as an answer, with the id of its record and its receipt, where there is one, in headers."""
    answer = _json(report.model_dump_json())
    if step.run is not None:
        answer.raw_headers.append((b"idempotent-replayed", b"true"))
    if kept.id is not None:
        answer.raw_headers.append((b"x-assay-report-id", kept.id.encode()))
    if kept.receipt is not None:
        answer.raw_headers.append((b"x-assay-receipt", kept.receipt.to_text().encode()))
    return answer


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
