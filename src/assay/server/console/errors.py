"""Errors of pages are shown as pages, which say what was expected, what came instead and what to do."""

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import (
    AlertError,
    AssayError,
    BusyError,
    DatasetError,
    InputError,
    PolicyError,
    ProposalError,
    ReviewError,
    StoreError,
)
from assay.reporting import foreign, tag
from assay.server.checking import CheckFailedError
from assay.server.console.layout import render
from assay.server.http.problems import ProblemError

_log = logging.getLogger("assay.server")

_TITLES: Final = {
    400: "The request cannot be read",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not allowed here",
    409: "Somebody else was faster",
    412: "It has changed meanwhile",
    413: "Too much at once",
    415: "Not a form",
    422: "That is not what was expected",
    429: "Too many requests",
    500: "A defect in assay",
    503: "Not available now",
}
_ADVICE: Final = {
    403: "Ask an administrator of this tenant for the role that the page needs.",
    404: "It may belong to another tenant, or the address may be cut off.",
    409: "Look at what was decided, then go on.",
    412: "Load the page again, and see what has changed.",
    422: "Go back, correct it and send it again.",
    429: "Wait a moment, then try again.",
    500: "The log of the server says more.",
    503: "Try again in a moment.",
}

REFUSAL_STATUS: Final = {
    "missing": 404,
    "held": 409,
    "decided": 409,
    "closed": 409,
    "taken": 409,
    "stale": 412,
    "refused": 422,
}
"""The HTTP status for each code with which the store refuses an act on an item, an alert, a proposal or a dataset."""


def error_page(request: Request, status: int, detail: str, current: str = "") -> Response:
    """A page that says what went wrong.

    Args:
        request: the request that failed.
        status: the HTTP status.
        detail: what was expected and what came; foreign text.
        current: the key of the entry in the navigation that the page belongs to.
    """
    title = _TITLES.get(status, "That did not work")
    parts = (
        tag("p", foreign(detail[:2_000]), class_="detail"),
        tag("p", _ADVICE.get(status, ""), class_="soft") if status in _ADVICE else None,
        tag("p", tag("a", "Overview", href="/console", class_="button")),
    )
    headers = {"retry-after": "1"} if status == 503 else None
    return render(
        request,
        title,
        tag("div", parts, class_="failure"),
        current=current,
        about=f"Status {status}",
        status=status,
        headers=headers,
    )


class PageRoute(APIRoute):
    """A route whose errors are shown as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, with every exception turned into a page."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except HTTPException as error:
                return error_page(request, error.status_code, str(error.detail))
            except ProblemError as error:
                return error_page(request, error.status, error.detail)
            except RequestValidationError as error:
                detail = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors()[:5])
                return error_page(request, 422, detail)
            except (InputError, PolicyError) as error:
                return error_page(request, 422, str(error))
            except (BusyError, CheckFailedError) as error:
                return error_page(request, 503, str(error))
            except (AlertError, DatasetError, ProposalError, ReviewError) as error:
                return error_page(request, REFUSAL_STATUS.get(error.code, 422), str(error))
            except StoreError as error:
                _log.exception("a page could not be made")
                return error_page(request, 503, str(error))
            except AssayError as error:
                return error_page(request, 422, str(error))
            except Exception:  # noqa: BLE001 any defect in the code of a page: logged, and shown as a page with status 500
                _log.exception("a page could not be made")
                return error_page(request, 500, "This page could not be made.")

        return handle


def page_router() -> APIRouter:
    """A router of pages: their errors are shown as pages, and the OpenAPI document does not list them."""
    return APIRouter(route_class=PageRoute, include_in_schema=False, default_response_class=Response)
