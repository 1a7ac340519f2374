"""Problem documents (RFC 9457): what was expected, what the server got, and what to do about it."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

MEDIA_TYPE: Final = "application/problem+json"

TITLES: Final = {
    400: "The request cannot be read",
    401: "An API key is needed",
    403: "The request is not allowed",
    404: "There is no such resource",
    405: "The method is not allowed",
    408: "The request came too slowly",
    409: "It is not in the state that the request expects",
    412: "It has changed meanwhile",
    413: "The request is too large",
    415: "The content type is not supported",
    422: "The request is not what it should be",
    428: "The request must say which version it is about",
    429: "Too many requests",
    500: "A defect in assay",
    501: "This server was not installed with it",
    503: "The check could not be made now",
}


def problem(
    status: int, detail: str, *, code: str, instance: str | None = None, todo: str | None = None, **members: Any
) -> dict[str, Any]:
    """A problem document.

    Args:
        status: the HTTP status.
        detail: what was expected and what the server got.
        code: a stable name such as `input.invalid`; it becomes the problem's type.
        instance: the path of the request.
        todo: what to do.
        members: further members, such as `errors` with JSON Pointers.

    >>> problem(404, "There is no route /v2.", code="route.unknown")["type"]
    'urn:assay:problem:route.unknown'
    """
    made = {
        "type": f"urn:assay:problem:{code}",
        "title": TITLES.get(status, "The request failed"),
        "status": status,
        "detail": detail,
        "instance": instance,
        "todo": todo,
    }
    return {name: value for name, value in {**made, **members}.items() if value is not None}


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: str
    """A stable name of the kind of problem."""
    title: str
    status: int
    detail: str
    """What was expected and what came."""
    instance: str | None = None
    """The path of the request."""
    todo: str | None = None
    """What to do."""


class ProblemError(Exception):
    """Raised by routes to end a request with a problem document."""

    def __init__(
        self, status: int, detail: str, *, code: str, todo: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.todo = status, detail, code, todo
        self.headers = dict(headers or {})


def unknown(what: str) -> ProblemError:
    """The error for a resource that does not exist or belongs to another tenant: both read the same."""
    return ProblemError(404, f"there is no such {what}", code="resource.unknown")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of a route for the OpenAPI document: its `responses` in FastAPI."""
    schema = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": schema} for status in statuses}
