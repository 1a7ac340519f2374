"""Protection against cross-site request forgery, for every request that comes without an API key.

A browser sends its cookie whichever site's page made the request. So a request that may change something has to come
from a page of this server (`sec-fetch-site`, or `origin` where the browser does not send the former), and one with a
session has to carry the session's token, in a header or as a field of a form. No other place checks this.
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
    header,
    read_body,
    replay_body,
)
from assay.server.http.admission import Refusal

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
MOST_FORM_BYTES: Final = 8 * 1024 * 1024
"""The largest form in which the token is looked for; a larger one counts as one without a token."""
_MOST_FIELDS: Final = 500

App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[Scope, Send, Refusal], Awaitable[None]]


class AccessMiddleware:
    """Refuses forged requests after the caller is known and before any route runs."""

    def __init__(self, app: App, settings: AccessSettings, refuse: Refuse) -> None:
        """In front of `app`; `refuse` answers what does not pass."""
        self._app, self._settings, self._refuse = app, settings, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or refuse it."""
        if scope["method"] in SAFE_METHODS or caller_of(scope).kind == "key":
            await self._app(scope, receive, send)
            return
        if not from_own_page(scope, self._settings):
            await self._refuse(scope, send, _FOREIGN)
            return
        token = scope.get(CSRF_KEY)
        if token is not None:
            try:
                sent_token, receive = await _find_token(scope, receive)
            except ClientGoneError:
                return
            if sent_token is None or not hmac.compare_digest(sent_token.encode(), str(token).encode()):
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


async def _find_token(scope: Scope, receive: Receive) -> tuple[str | None, Receive]:
    """The token that a request carries, and a `receive` that gives its body again."""
    in_header = header(scope, CSRF_HEADER)
    if in_header is not None:
        return in_header, receive
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
        return None, replay_body(body, receive)
    # With two of them it is unknown which one a route would read.
    tokens = [value for name, value in pairs if name == CSRF_FIELD]
    return tokens[0] if len(tokens) == 1 else None, replay_body(body, receive)


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

_SECURITY_HEADERS: Final = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    (b"cache-control", b"no-store"),
)
_HTTPS_HEADER: Final = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def with_headers(send: Send, *, encrypted: bool) -> Send:
    """A `send` that adds the security headers; those that a route sets itself take precedence."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            names = {name.lower() for name, _ in own}
            defaults = (*_SECURITY_HEADERS, _HTTPS_HEADER) if encrypted else _SECURITY_HEADERS
            message = {**message, "headers": [*own, *(pair for pair in defaults if pair[0] not in names)]}
        await send(message)

    return send_with_headers
