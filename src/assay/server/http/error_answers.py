"""Turns every error of the REST routes into a problem document, and refuses bodies that are not UTF-8."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from assay.errors import BusyError, InputError, PolicyError, StoreError
from assay.server.checking import CheckFailedError
from assay.server.gateway.asgi import ClientGoneError, other_encoding, read_body, replay_body
from assay.server.http.problems import MEDIA_TYPE, ProblemError, problem
from assay.server.telemetry.telemetry import Telemetry
from assay.wire import encoded

TRY_AGAIN: Final = "Try again; an output that was not checked must not be used as if it had been."
CORRECT_REQUEST: Final = "Correct the request; /openapi.json describes what is expected."


def answer_errors(app: FastAPI, telemetry: Telemetry, *, has_store: bool) -> None:
    """Register handlers that answer every error with a problem document.

    Args:
        app: the application with the routes.
        telemetry: counts checks that failed.
        has_store: whether the server has a database.
    """

    async def on_input(request: Request, error: Exception) -> Response:
        return _problem_response(request, 422, str(error), "input.invalid", CORRECT_REQUEST)

    async def on_check(request: Request, error: Exception) -> Response:
        telemetry.unchecked("check")
        return _problem_response(request, 503, str(error), "check.failed", TRY_AGAIN, {"retry-after": "1"})

    async def on_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 what the handler is registered for
        found = [
            {"pointer": "".join(f"/{part}" for part in one["loc"][1:]), "detail": one["msg"]} for one in error.errors()
        ]
        first = found[0] if found else {"pointer": "", "detail": "it cannot be read"}
        detail = f"at {first['pointer'] or 'the root'}: {first['detail']}"
        return _problem_response(request, 422, detail, "input.invalid", CORRECT_REQUEST, errors=found[:50])

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)  # noqa: S101 what the handler is registered for
        return _problem_response(request, error.status, error.detail, error.code, error.todo, error.headers)

    async def on_busy(request: Request, error: Exception) -> Response:
        return _problem_response(request, 503, str(error), "store.busy", TRY_AGAIN, {"retry-after": "1"})

    async def on_store(request: Request, error: Exception) -> Response:
        return _problem_response(request, 503, str(error), "store.failed", _TELL_OPERATOR)

    async def on_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        detail = f"{request.method} {request.url.path}: {getattr(error, 'detail', 'failed')}"
        headers = getattr(error, "headers", None)
        if status == 400:
            # A body that cannot be decoded is an invalid body like any other.
            return _problem_response(
                request, 422, f"the body is no JSON in UTF-8: {detail}", "input.invalid", CORRECT_REQUEST
            )
        if status == 404 and not has_store and _needs_store(request.url.path):
            return _problem_response(request, 404, "this server keeps no record", "store.absent", _START_WITH_DATABASE)
        return _problem_response(
            request, status, detail, {404: "route.unknown"}.get(status, f"http.{status}"), _SEE_OPENAPI, headers
        )

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        InputError: on_input,
        PolicyError: on_input,
        CheckFailedError: on_check,
        RequestValidationError: on_validation,
        HTTPException: on_http,
        ProblemError: on_problem,
        BusyError: on_busy,
        StoreError: on_store,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


_TELL_OPERATOR: Final = (
    "Tell the operator of this server; nothing was decided, and nothing is released without a record."
)
_START_WITH_DATABASE: Final = "Start the server with --database, or set ASSAY_DATABASE_URL."
STORE_PATHS: Final = (
    "/v1/reports",
    "/v1/feedback",
    "/v1/policies",
    "/v1/audit",
    "/v1/retention",
    "/v1/reviews",
    "/v1/users",
    "/v1/keys",
    "/v1/sessions",
    "/v1/me",
    "/v1/login",
    "/v1/logout",
    "/v1/setup",
    "/v1/reset",
    "/v1/monitor",
    "/v1/changes",
    "/v1/datasets",
    "/v1/experiments",
    "/v1/redteam",
    "/console",
)
"""The paths that only a server with a database has, each with all paths below it."""
_SEE_OPENAPI: Final = "The routes are described by /openapi.json."


def _needs_store(path: str) -> bool:
    return any(path == known or path.startswith(f"{known}/") for known in STORE_PATHS)


def _problem_response(
    request: Request, status: int, detail: str, code: str, todo: str | None, headers: Any = None, **members: Any
) -> Response:
    document = problem(status, detail, code=code, instance=request.url.path, todo=todo, **members)
    return Response(encoded(document), status, headers, MEDIA_TYPE)


class Utf8Only:
    """Middleware that refuses a body in an encoding other than UTF-8 before any route reads it.

    The application has already read the body within its limits (`assay.server.http.bodies`).
    """

    def __init__(self, app: Any) -> None:
        """Middleware around `app`."""
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check the body's encoding and pass the whole body on."""

        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            await self._app(scope, receive, send)
            return
        try:
            body = await read_body(scope, receive)
        except ClientGoneError:
            return
        encoding = other_encoding(scope, body)
        if encoding is not None:
            document = problem(415, encoding, code="request.encoding", instance=scope["path"], todo="Send it in UTF-8.")
            await Response(encoded(document), 415, media_type=MEDIA_TYPE)(scope, receive, send)
            return
        await self._app(scope, replay_body(body, receive), send)
