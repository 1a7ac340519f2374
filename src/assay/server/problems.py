"""Problem documents (RFC 9457): what was expected, what came and what to do, for programs and for people."""

import json
from typing import Any, Final

MEDIA_TYPE: Final = "application/problem+json"

TITLES: Final = {
    400: "The request cannot be read",
    401: "An API key is needed",
    403: "The request is not allowed",
    404: "There is no such resource",
    405: "The method is not allowed",
    413: "The request is too large",
    415: "The content type is not supported",
    422: "The request is not what it should be",
    500: "A defect in assay",
    503: "The check could not be made now",
}


def problem(
    status: int, detail: str, *, code: str, instance: str | None = None, todo: str | None = None, **members: Any
) -> dict[str, Any]:
    """A problem document.

    Args:
        status: the HTTP status.
        detail: what was expected and what came.
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


def encoded(document: dict[str, Any]) -> bytes:
    """The document as JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
