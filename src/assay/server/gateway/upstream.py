"""The client of the upstreams: one pool of connections, with time limits and retries of requests not served."""

import asyncio
import io
from collections.abc import Iterable
from typing import Final

import aiohttp

from assay.errors import AssayError, InputError
from assay.server.settings import Limits, Upstream

RETRIED: Final = frozenset({502, 503, 504})
"""Statuses with which a proxy reports that a request was not served."""

NOT_MODIFIED: Final = 304

PAUSE_S: Final = 0.1
"""Seconds before the first retry; doubled for each further one."""

LARGE_BODY: Final = 1_000_000
"""Bytes from which a body is written in pieces, so that it does not hold up other requests."""

_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
_OWN_PREFIX: Final = b"x-assay-"
_NOT_FORWARDED: Final = _HOP_BY_HOP | {b"host", b"content-length", b"expect"}
_KEY_HEADERS: Final = frozenset({b"authorization", b"x-api-key"})
_REDIRECTING_HEADERS: Final = frozenset(
    {b"location", b"content-location", b"refresh", b"alt-svc", b"set-cookie", b"set-cookie2", b"clear-site-data"}
    | {b"x-sendfile", b"x-sendfile2", b"x-lighttpd-send-file", b"x-lighttpd-send-tempfile", b"x-reproxy-url"}
)
"""Headers with which an upstream would redirect clients, change what browsers store for this server, or have a proxy in
front of it send another body."""
_PROXY_PREFIX: Final = b"x-accel-"
_BUFFERING: Final = b"x-accel-buffering"
"""The one header that steers nginx without changing what is sent."""
_BODY_SPECIFIC_HEADERS: Final = frozenset({b"content-length", b"etag", b"content-md5", b"digest"})
"""Answer headers that depend on the exact bytes of the body."""


class UpstreamError(AssayError):
    """An upstream could not be reached, or did not answer in time."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        """The status to answer with: 502 or 504."""


class UpstreamClient:
    """Sends requests to upstreams over a pool of connections."""

    def __init__(self, limits: Limits) -> None:
        """A client, which `start` opens."""
        self._limits = limits
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Opens the pool of connections."""
        timeout = aiohttp.ClientTimeout(
            total=self._limits.total_s, sock_connect=self._limits.connect_s, sock_read=self._limits.idle_s
        )
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
            timeout=timeout,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def close(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            await self._session.close()

    async def send(
        self, upstream: Upstream, method: str, target: str, headers: Iterable[tuple[bytes, bytes]], body: bytes
    ) -> aiohttp.ClientResponse:
        """The response to a request, whose body is still to be read; the caller closes it.

        A request is retried if no connection could be made or a proxy reports that it was not served (`RETRIED`).

        Raises:
            UpstreamError: the upstream could not be reached, broke off, was silent for too long, or redirects.
        """
        if self._session is None:
            raise UpstreamError(502, "the client of the upstreams is not open")
        names = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        pause = PAUSE_S
        for attempt in range(self._limits.retries + 1):
            last = attempt == self._limits.retries
            try:
                response = await self._session.request(
                    method, upstream.root + target, headers=names, data=_payload(body), allow_redirects=False
                )
            except (aiohttp.ClientConnectorError, aiohttp.ServerDisconnectedError) as error:
                # No answer has begun: the request was not accepted, or the pooled connection had been closed before.
                if last:
                    raise UpstreamError(502, f"the upstream {upstream.name} could not be reached") from error
            except TimeoutError as error:
                raise UpstreamError(504, f"the upstream {upstream.name} did not answer in time") from error
            except (aiohttp.ClientError, OSError, ValueError) as error:
                raise UpstreamError(502, f"the upstream {upstream.name} gave no answer that can be read") from error
            else:
                if response.status < 200:
                    response.close()
                    raise UpstreamError(502, f"the upstream {upstream.name} gave no answer ({response.status})")
                if 300 <= response.status < 400 and response.status != NOT_MODIFIED:
                    response.close()
                    # A client that follows the redirect would get its answer past the gate.
                    raise UpstreamError(
                        502,
                        f"the upstream {upstream.name} redirects ({response.status}); no client may follow that "
                        "past this gateway: the operator has to name the place that answers",
                    )
                if last or response.status not in RETRIED:
                    return response
                response.close()
            await asyncio.sleep(pause)
            pause *= 2
        raise UpstreamError(502, f"the upstream {upstream.name} could not be reached")


def _payload(body: bytes) -> bytes | io.BytesIO | None:
    """The body in the form that aiohttp sends: a large one as a file, which it writes in pieces."""
    return (io.BytesIO(body) if len(body) > LARGE_BODY else body) if body else None


def request_headers(
    headers: Iterable[tuple[bytes, bytes]], upstream: Upstream, *, plain: bool, own_key: bytes | None
) -> list[tuple[bytes, bytes]]:
    """The headers to forward: all but those of the connection and this server's own.

    Args:
        headers: the headers of the request.
        upstream: the upstream, whose key, where the gateway holds one, replaces the client's.
        plain: whether to ask for an uncompressed answer, because it will be read.
        own_key: the API key of this server that the client sent, which no upstream ever sees.
    """
    kept: list[tuple[bytes, bytes]] = []
    dropped = _NOT_FORWARDED
    for name, value in headers:
        if name == b"connection":
            dropped = dropped | {part.strip().lower() for part in value.split(b",")}
    for name, value in headers:
        lowered = name.lower()
        if lowered in dropped or lowered.startswith(_OWN_PREFIX) or (plain and lowered == b"accept-encoding"):
            continue
        if lowered in _KEY_HEADERS and (upstream.key is not None or (own_key is not None and own_key in value)):
            continue
        kept.append((name, value))
    if plain:
        kept.append((b"accept-encoding", b"identity"))
    if upstream.key is not None:
        bearer = upstream.key_header == "authorization"
        kept.append((upstream.key_header.encode(), (f"Bearer {upstream.key}" if bearer else upstream.key).encode()))
    return kept


def require_plain(response: aiohttp.ClientResponse) -> None:
    """Refuses an answer that cannot be read because it is compressed.

    Raises:
        InputError: the upstream compressed it, though it was asked not to.
    """
    if (coding := coding_of(response)) is not None:
        raise InputError(f"the upstream compressed its answer ({coding[:40]}) though it was asked not to")


def coding_of(response: aiohttp.ClientResponse) -> str | None:
    """The content codings of a body, from all its headers, as clients decode them all; none where it has none."""
    codings = ", ".join(response.headers.getall("content-encoding", ()))
    return None if all(one.strip().lower() in ("", "identity") for one in codings.split(",")) else codings


def response_headers(response: aiohttp.ClientResponse, *, changed: bool) -> list[tuple[bytes, bytes]]:
    """The upstream's headers without those of the connection and those that no upstream may set.

    `changed` says that another body is sent, so that headers that depend on its bytes are dropped too.
    """
    dropped = _HOP_BY_HOP | _REDIRECTING_HEADERS | (_BODY_SPECIFIC_HEADERS if changed else frozenset())
    lowered = [(name.lower(), value) for name, value in response.raw_headers]
    return [pair for pair in lowered if pair[0] not in dropped and not _is_own(pair[0])]


def _is_own(name: bytes) -> bool:
    """Whether only this server, or the proxy in front of it, may set a header."""
    return name.startswith(_OWN_PREFIX) or (name.startswith(_PROXY_PREFIX) and name != _BUFFERING)
