"""What every request passes that comes without a key: nobody may act in the name of who is signed in.

A browser sends its cookie whoever made the page that asks. So a request that may change something has to come from a
page of this server (`sec-fetch-site`, or `origin` where a browser does not say the former), and one with a session has
to carry the session's token, in a header or as a field of a form. This is the one place that looks.
"""

import hmac
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

from assay.server.access.addresses import hosts_of
from assay.server.access.cookies import CSRF_FIELD, CSRF_HEADER, CSRF_KEY
from assay.server.access.settings import AccessSettings
from assay.server.caller import caller_of
from assay.server.gateway.asgi import (
    ClientGoneError,
    Message,
    Receive,
    Scope,
    Send,
    TooLargeError,
    given_again,
    header,
    read_body,
)
from assay.server.http.admission import Refusal

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
MOST_FORM_BYTES: Final = 8 * 1024 * 1024
"""The largest form in which the token is looked for."""
_MOST_FIELDS: Final = 500

App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[Scope, Send, Refusal], Awaitable[None]]


class AccessMiddleware:
    """Stands between the decision on the caller and the routes."""

    def __init__(self, app: App, settings: AccessSettings, refuse: Refuse) -> None:
        """In front of `app`; `refuse` answers what does not pass."""
        self._app, self._settings, self._refuse = app, settings, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a request on, or refuses it."""
        if scope["method"] in SAFE_METHODS or caller_of(scope).kind == "key":
            await self._app(scope, receive, send)
            return
        if not from_own_page(scope, self._settings):
            await self._refuse(scope, send, _FOREIGN)
            return
        token = scope.get(CSRF_KEY)
        if token is not None:
            try:
                said, receive = await _token_in(scope, receive)
            except ClientGoneError:
                return
            if said is None or not hmac.compare_digest(said.encode(), str(token).encode()):
                await self._refuse(scope, send, _NO_TOKEN)
                return
        await self._app(scope, receive, send)


def from_own_page(scope: Scope, settings: AccessSettings) -> bool:
    """Whether a request comes from a page of this server, or from no page at all."""
    site = header(scope, b"sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = header(scope, b"origin")
    if origin is None:
        return True
    _, found, host = origin.strip().lower().partition("://")
    return bool(found) and host in hosts_of(scope, settings)


async def _token_in(scope: Scope, receive: Receive) -> tuple[str | None, Receive]:
    """The token that a request carries, and what gives its body again."""
    named = header(scope, CSRF_HEADER)
    if named is not None:
        return named, receive
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return None, receive
    try:
        body = await read_body(scope, receive, MOST_FORM_BYTES)
    except TooLargeError:
        return None, receive
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None, given_again(body, receive)
    # Two of them: nobody can say which the routes will read.
    tokens = [value for name, value in pairs if name == CSRF_FIELD]
    return tokens[0] if len(tokens) == 1 else None, given_again(body, receive)


_FOREIGN: Final = Refusal(
    403,
    "expected a request from a page of this server or from a program; it comes from a page of another site",
    code="request.foreign",
)
_NO_TOKEN: Final = Refusal(
    403,
    "expected the token of the session's forms, in x-assay-csrf or in the field csrf; load the page again",
    code="csrf.missing",
)


# The headers of every answer

_HEADERS: Final = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    (b"cache-control", b"no-store"),
)
_ENCRYPTED: Final = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def with_headers(send: Send, *, encrypted: bool) -> Send:
    """Answers with the headers that keep what they hold where it belongs; a route's own beat these."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            names = {name.lower() for name, _ in own}
            wanted = (*_HEADERS, _ENCRYPTED) if encrypted else _HEADERS
            message = {**message, "headers": [*own, *(pair for pair in wanted if pair[0] not in names)]}
        await send(message)

    return sending
