"""Which paths the gateway serves, and in which wire format each speaks."""

import re
from dataclasses import dataclass
from typing import Final

from assay.wire import ChatCompletions, Messages, Responses, Wire

_ANSWERS: Final[dict[str, tuple[str, Wire]]] = {
    "/v1/chat/completions": ("chat_completions", ChatCompletions()),
    "/v1/responses": ("responses", Responses()),
    "/v1/messages": ("messages", Messages()),
}
"""The paths whose answers are checked."""

_PLAIN: Final = {
    ("GET", "/v1/models"): "chat_completions",
    ("POST", "/v1/messages/count_tokens"): "messages",
    ("POST", "/v1/responses/input_tokens"): "responses",
    ("POST", "/v1/embeddings"): "chat_completions",
}
"""Paths that are forwarded as they are: what comes back is no text of a model."""

_KNOWN: Final = frozenset({*_ANSWERS, *(path for _, path in _PLAIN)})
"""The paths of the gateway under which others may stand."""

_MODEL: Final = re.compile(r"/v1/models/[^?#\\\s]+")
_UPWARD: Final = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")
"""Parts of a path that lead to another one: behind the name of a model they would reach what is not checked."""

_PREFIX: Final = "/upstreams/"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes."""

    route: str
    """The route whose settings hold."""
    wire: Wire
    """The format in which it speaks, errors included."""
    path: str
    """The path at the upstream."""
    checked: bool
    """Whether its answer is one that is checked."""
    upstream: str | None = None
    """The upstream that the path names."""


def target_of(method: str, path: str) -> Target | None:
    """Where a request goes; none where the gateway does not serve the path with this method.

    >>> target_of("POST", "/upstreams/lab/v1/messages").upstream
    'lab'
    >>> target_of("POST", "/v1/completions") is None
    True
    """
    named, inner = _split(path)
    answers = _ANSWERS.get(inner)
    if answers is not None:
        return Target(answers[0], answers[1], inner, True, named) if method == "POST" else None
    route = _PLAIN.get((method, inner))
    if route is None and method == "GET" and _MODEL.fullmatch(inner) and not _UPWARD.search(inner):
        route = "chat_completions"
    if route is None:
        return None
    wire = next(wire for name, wire in _ANSWERS.values() if name == route)
    return Target(route, wire, inner, False, named)


def is_gateway(path: str) -> bool:
    """Whether a path belongs to the gateway, whatever the method."""
    if path in _KNOWN:
        return True
    named, inner = _split(path)
    return named is not None or any(inner == one or inner.startswith(f"{one}/") for one in _KNOWN)


def wire_of(path: str) -> Wire:
    """The format in which errors about a path are told."""
    _, inner = _split(path)
    if (found := _ANSWERS.get(inner)) is not None:
        return found[1]
    return next((wire for one, (_, wire) in _ANSWERS.items() if inner.startswith(one)), ChatCompletions())


def _split(path: str) -> tuple[str | None, str]:
    if not path.startswith(_PREFIX):
        return None, path
    name, slash, rest = path[len(_PREFIX) :].partition("/")
    return name, slash + rest
