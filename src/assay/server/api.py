"""The REST routes: checks, health, and the OpenAPI document."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from assay._version import __version__
from assay.errors import InputError, PolicyError
from assay.guard import CheckRequest, Guard
from assay.guard.run_evidence import DEFAULT_SOURCES
from assay.schema import HallucinationReport, Stakes
from assay.server.checking import Checker, CheckFailedError
from assay.server.problems import MEDIA_TYPE, encoded, problem
from assay.server.settings import ServerSettings

GuardOf = Callable[[str | None], Guard]
Work = Callable[[], HallucinationReport]

_AGAIN: Final = "Try again; an output that was not checked must not be used as if it had been."
_MEND: Final = "Correct the request; /openapi.json describes what is expected."


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
    """How much hangs on it."""
    task: str = "qa"
    """The kind of task; a policy may hold some, such as `creative`, to no evidence."""
    schema_: Annotated[dict[str, Any] | bool | None, Field(alias="schema")] = None
    """A JSON Schema that the output has to satisfy."""
    citations: list[dict[str, Any]] | None = None
    """Citation objects as model providers give them."""
    claim_free: bool = False
    """Whether the output is declared to contain no claims."""
    revisions_failed: int = Field(default=0, ge=0)
    """How many revisions of it have failed already."""
    run_id: str | None = Field(default=None, min_length=1)
    """A name for the run; derived from the content by default."""

    def request(self) -> CheckRequest:
        """The check as the guard takes it."""
        return CheckRequest(
            self.answer, self.evidence, self.question, self.stakes, self.task, self.schema_, self.citations,
            self.claim_free, self.revisions_failed, self.run_id,
        )  # fmt: skip


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
    claim_free: bool = False
    revisions_failed: int = Field(default=0, ge=0)
    run_id: str | None = Field(default=None, min_length=1)


class BatchBody(BaseModel):
    """Several outputs, each with its own evidence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    requests: list[CheckBody] = Field(min_length=1)
    """The checks, at most as many as the server's limit."""


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: str
    """A stable name of the kind of problem."""
    title: str
    status: int
    detail: str
    """What was expected and what came."""
    todo: str | None = None
    """What to do."""


class BatchItem(BaseModel):
    """What became of one check of a batch: its report, or why there is none."""

    report: HallucinationReport | None = None
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """One item for each request, in order."""

    results: list[BatchItem]


class Health(BaseModel):
    """Whether the server works."""

    status: str
    version: str = __version__


_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "content": {MEDIA_TYPE: {}}, "description": text}
    for status, text in {
        401: "No API key, or one that is not good.",
        422: "The request is not what it should be.",
        503: "The check could not be made; nothing was decided.",
    }.items()
}


class Api:
    """The routes over one pool of checks."""

    def __init__(
        self, settings: ServerSettings, guard_of: GuardOf, checker: Checker, ready: Callable[[], bool]
    ) -> None:
        """Routes that check with the guards of `guard_of`."""
        self._settings, self._guard_of, self._checker, self._ready = settings, guard_of, checker, ready

    async def check(self, body: CheckBody) -> Response:
        """Check one output against its evidence, claim by claim."""
        guard = self._guard_of(body.policy)
        report = await self._checker.run(_work(guard, body))
        return _json(report.model_dump_json())

    async def check_run(self, body: RunBody) -> Response:
        """Check one agent run: every tool call, and the final answer against what the run saw."""
        guard = self._guard_of(body.policy)
        report = await self._checker.run(
            lambda: guard.check_run(
                body.run, format=body.format, tools=body.tools, now=datetime.now(UTC), sources=body.sources,
                evidence=body.evidence, question=body.question, stakes=body.stakes, task=body.task,
                claim_free=body.claim_free, revisions_failed=body.revisions_failed, run_id=body.run_id,
            )
        )  # fmt: skip
        return _json(report.model_dump_json())

    async def batch(self, body: BatchBody) -> Response:
        """Check several outputs; one that cannot be checked does not keep the others from it."""
        most = self._settings.limits.batch
        if len(body.requests) > most:
            raise InputError(f"a batch has at most {most} requests, got {len(body.requests)}; send them in parts")
        results = await asyncio.gather(*(self._one(one, number) for number, one in enumerate(body.requests)))
        return _json(BatchAnswer(results=results).model_dump_json(exclude_none=False))

    async def _one(self, body: CheckBody, number: int) -> BatchItem:
        where = f"#/requests/{number}"
        try:
            report = await self._checker.run(_work(self._guard_of(body.policy), body))
        except (InputError, PolicyError) as error:
            said = problem(422, str(error), code="input.invalid", instance=where, todo=_MEND)
        except CheckFailedError as error:
            said = problem(503, str(error), code="check.failed", instance=where, todo=_AGAIN)
        else:
            return BatchItem(report=report)
        return BatchItem(problem=Problem.model_validate(said))

    async def health(self) -> Health:
        """Whether the process lives."""
        return Health(status="ok")

    async def ready(self, response: Response) -> Health:
        """Whether the server takes requests: its network is loaded and its queue has room."""
        if self._ready():
            return Health(status="ready")
        response.status_code = 503
        return Health(status="not ready")


def make_api(
    settings: ServerSettings,
    guard_of: GuardOf,
    checker: Checker,
    ready: Callable[[], bool],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
) -> FastAPI:
    """The REST routes as a FastAPI application."""
    app = FastAPI(
        title="assay", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Tests every claim of an output for the evidence that it contains.",
    )  # fmt: skip
    api = Api(settings, guard_of, checker, ready)
    app.post("/v1/check", response_model=HallucinationReport, responses=_PROBLEMS, tags=["check"])(api.check)
    app.post("/v1/batch", response_model=BatchAnswer, responses=_PROBLEMS, tags=["check"])(api.batch)
    app.post("/v1/runs/check", response_model=HallucinationReport, responses=_PROBLEMS, tags=["check"])(api.check_run)
    app.get("/healthz", tags=["operation"])(api.health)
    app.get("/readyz", tags=["operation"], responses={503: {"model": Health}})(api.ready)
    _tell_problems(app)
    app.add_middleware(BodyLimit, most=settings.limits.body_bytes)
    return app


def _work(guard: Guard, body: CheckBody) -> Work:
    def work() -> HallucinationReport:
        return next(iter(guard.check_many([body.request()])))

    return work


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")


def _tell_problems(app: FastAPI) -> None:
    """Every error of these routes is a problem document."""

    async def on_input(request: Request, error: Exception) -> Response:
        return _told(request, 422, str(error), "input.invalid", _MEND)

    async def on_check(request: Request, error: Exception) -> Response:
        return _told(request, 503, str(error), "check.failed", _AGAIN, {"retry-after": "1"})

    async def on_form(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 what the handler is registered for
        found = [
            {"pointer": "".join(f"/{part}" for part in one["loc"][1:]), "detail": one["msg"]} for one in error.errors()
        ]
        first = found[0] if found else {"pointer": "", "detail": "it cannot be read"}
        detail = f"at {first['pointer'] or 'the root'}: {first['detail']}"
        return _told(request, 422, detail, "input.invalid", _MEND, errors=found[:50])

    async def on_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        detail = f"{request.method} {request.url.path}: {getattr(error, 'detail', 'failed')}"
        headers = getattr(error, "headers", None)
        return _told(request, status, detail, {404: "route.unknown"}.get(status, f"http.{status}"), _ROUTES, headers)

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        InputError: on_input, PolicyError: on_input, CheckFailedError: on_check,
        RequestValidationError: on_form, HTTPException: on_http,
    }  # fmt: skip
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


_ROUTES: Final = "The routes are described by /openapi.json."


def _told(
    request: Request, status: int, detail: str, code: str, todo: str, headers: Any = None, **members: Any
) -> Response:
    made = problem(status, detail, code=code, instance=request.url.path, todo=todo, **members)
    return Response(encoded(made), status, headers, MEDIA_TYPE)


class BodyLimit:
    """Refuses a request's body beyond a limit before it is read as anything."""

    def __init__(self, app: Any, most: int) -> None:
        """Middleware around `app`; `most` is in bytes."""
        self._app, self._most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Reads the body within the limit and hands it on whole."""
        from assay.server.gateway.asgi import ClientGoneError, TooLargeError, read_body

        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            await self._app(scope, receive, send)
            return
        try:
            body = await read_body(scope, receive, self._most)
        except ClientGoneError:
            return
        except TooLargeError:
            detail = f"a request has at most {self._most:,} bytes; this one has more"
            made = problem(413, detail, code="request.too_large", instance=scope["path"], todo="Send it in parts.")
            await Response(encoded(made), 413, media_type=MEDIA_TYPE)(scope, receive, send)
            return
        given = False

        async def again() -> Any:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)
