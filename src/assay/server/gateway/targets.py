"""The paths that the gateway serves, and the wire format of each."""

import re
from dataclasses import dataclass
from typing import Final

from assay.wire import ChatCompletions, Messages, Responses, Wire

_CHECKED: Final[dict[str, tuple[str, Wire]]] = {
    "/v1/chat/completions": ("chat_completions", ChatCompletions()),
    "/v1/responses": ("responses", Responses()),
    "/v1/messages": ("messages", Messages()),
}
"""The paths whose answers are checked."""

_FORWARDED: Final = {
    ("GET", "/v1/models"): "chat_completions",
    ("POST", "/v1/messages/count_tokens"): "messages",
    ("POST", "/v1/responses/input_tokens"): "responses",
    ("POST", "/v1/embeddings"): "chat_completions",
}
"""Paths that are forwarded without a check: their answers hold no text of a model."""

_KNOWN: Final = frozenset({*_CHECKED, *(path for _, path in _FORWARDED)})
"""The paths of the gateway, which may have further paths below them."""

_MODEL: Final = re.compile(r"/v1/models/[^?#\\\s]+")
_DOT_SEGMENT: Final = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")
"""Dot segments: after the name of a model they would lead to a path that is not checked."""

_PREFIX: Final = "/upstreams/"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes."""

    route: str
    """The name of the route whose settings apply."""
    wire: Wire
    """The wire format, of errors too."""
    path: str
    """The path at the upstream."""
    checked: bool
    """Whether its answer is checked."""
    upstream: str | None = None
    """The upstream that the path names."""


def target_of(method: str, path: str) -> Target | None:
    """Where a request goes; none where the gateway does not serve the path with this method.

    >>> target_of("POST", "/upstreams/lab/v1/messages").upstream
    'lab'
    >>> target_of("POST", "/v1/completions") is None
    True
    """
    upstream, inner_path = _split(path)
    answers = _CHECKED.get(inner_path)
    if answers is not None:
        return Target(answers[0], answers[1], inner_path, True, upstream) if method == "POST" else None
    route = _FORWARDED.get((method, inner_path))
    if route is None and method == "GET" and _MODEL.fullmatch(inner_path) and not _DOT_SEGMENT.search(inner_path):
        route = "chat_completions"
    if route is None:
        return None
    wire = next(wire for name, wire in _CHECKED.values() if name == route)
    return Target(route, wire, inner_path, False, upstream)


def is_gateway(path: str) -> bool:
    """Whether a path belongs to the gateway, whatever the method."""
    if path in _KNOWN:
        return True
    upstream, inner_path = _split(path)
    return upstream is not None or any(inner_path == one or inner_path.startswith(f"{one}/") for one in _KNOWN)


def wire_of(path: str) -> Wire:
    """The format of errors at a path."""
    _, inner_path = _split(path)
    if (found := _CHECKED.get(inner_path)) is not None:
        return found[1]
    return next((wire for one, (_, wire) in _CHECKED.items() if inner_path.startswith(one)), ChatCompletions())


def _split(path: str) -> tuple[str | None, str]:
    if not path.startswith(_PREFIX):
        return None, path
    name, slash, rest = path[len(_PREFIX) :].partition("/")
    return name, slash + rest
