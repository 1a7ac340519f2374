"""The id of a request: in each line of the log about it, and in its answer, so that one leads to the other.

A proxy in front may give one (`x-request-id`); it is kept where it is of plain characters and short, because it goes
into the log and into a header. Else it is made here.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

GIVEN: Final = b"x-request-id"
"""The header of a request in which a proxy gives one."""
TOLD: Final = b"x-assay-request-id"
"""The header of an answer. `x-request-id` there is the upstream's own, which its clients look for."""
_KEY: Final = "assay.request_id"
_PLAIN: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")

current_id: ContextVar[str | None] = ContextVar("assay_request_id", default=None)
"""The id of the request that is worked on."""


def request_id_of(scope: Scope) -> str:
    """The id of a request; the same one each time that it is asked for."""
    found = scope.get(_KEY)
    if found is None:
        given = [value for name, value in scope["headers"] if name.lower() == GIVEN]
        plain = len(given) == 1 and _PLAIN.fullmatch(given[0]) is not None
        scope[_KEY] = found = given[0].decode("ascii") if plain else secrets.token_hex(16)
    return str(found)


def telling(send: Send, id_: str) -> Send:
    """Sends an answer with the id of its request."""

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != TOLD]
            message = {**message, "headers": [*headers, (TOLD, id_.encode("ascii"))]}
        await send(message)

    return send_with_id
