"""The id of a request, which is in every line of the log about it and in its answer, so that one leads to the other.

A proxy may send one (`x-request-id`); it is used if it has 8 to 64 plain characters, because it goes into the log and
into a header. Otherwise a random one is created.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

REQUEST_HEADER: Final = b"x-request-id"
"""The header in which a proxy sends an id."""
ANSWER_HEADER: Final = b"x-assay-request-id"
"""The header of an answer. An answer's `x-request-id` is the upstream's own, which its clients look for."""
_KEY: Final = "assay.request_id"
_PLAIN: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")

current_id: ContextVar[str | None] = ContextVar("assay_request_id", default=None)
"""The id of the request that the current task answers."""


def request_id_of(scope: Scope) -> str:
    """The id of a request, the same at every call."""
    found = scope.get(_KEY)
    if found is None:
        sent = [value for name, value in scope["headers"] if name.lower() == REQUEST_HEADER]
        plain = len(sent) == 1 and _PLAIN.fullmatch(sent[0]) is not None
        scope[_KEY] = found = sent[0].decode("ascii") if plain else secrets.token_hex(16)
    return str(found)


def with_request_id(send: Send, id_: str) -> Send:
    """A `send` that adds the id of the request to the answer's headers."""

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != ANSWER_HEADER]
            message = {**message, "headers": [*headers, (ANSWER_HEADER, id_.encode("ascii"))]}
        await send(message)

    return send_with_id
