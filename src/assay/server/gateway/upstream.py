"""The client of the upstreams: one pool of connections, bounded in time, with retries of what was not taken."""

import asyncio
import io
from collections.abc import Iterable
from typing import Final

import aiohttp

from assay.errors import AssayError, InputError
from assay.server.settings import Limits, Upstream

RETRIED: Final = frozenset({502, 503, 504})
"""Statuses by which a proxy says that the request was not served."""

NOT_MODIFIED: Final = 304

PAUSE_S: Final = 0.1
"""Seconds before the first retry; each further one waits twice as long."""

LARGE_BODY: Final = 1_000_000
"""Bytes from which a body is written in pieces, so that it does not hold up other requests."""

_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
_OURS: Final = b"x-assay-"
_NOT_FORWARDED: Final = _HOP_BY_HOP | {b"host", b"content-length", b"expect"}
_OF_KEYS: Final = frozenset({b"authorization", b"x-api-key"})
_OF_PLACES: Final = frozenset(
    {b"location", b"content-location", b"refresh", b"alt-svc", b"set-cookie", b"set-cookie2", b"clear-site-data"}
    | {b"x-sendfile", b"x-sendfile2", b"x-lighttpd-send-file", b"x-lighttpd-send-tempfile", b"x-reproxy-url"}
)
"""Headers by which an upstream would send clients elsewhere, act on what browsers keep of this server, or have a proxy
before it send another body."""
_OF_PROXIES: Final = b"x-accel-"
_BUFFERING: Final = b"x-accel-buffering"
"""Of those by which nginx is steered the one that changes nothing of what is sent."""
_OF_ONE_FORM: Final = frozenset({b"content-length", b"etag", b"content-md5", b"digest"})
"""Headers that mention the very bytes of a body."""


class UpstreamError(AssayError):
    """An upstream could not be reached, or did not answer in time."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        """The status to answer with: 502 or 504."""


class UpstreamClient:
    """Sends requests to upstreams over connections that are kept and used again."""

    def __init__(self, limits: Limits) -> None:
        """Make a client; `start` opens it."""
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
        """The response to a request, its body still to be read; the caller closes it.

        A request is sent again where no connection could be made, and where a proxy says that it was not served.

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
                # No answer has begun: the request was not taken, or the kept connection had been closed before it.
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
                    # Clients follow a redirect by themselves, and would get an answer past the gate from wherever it
                    # leads.
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
    """The body as the client takes it: a large one is written in pieces."""
    return (io.BytesIO(body) if len(body) > LARGE_BODY else body) if body else None


def request_headers(
    given: Iterable[tuple[bytes, bytes]], upstream: Upstream, *, plain: bool, own_key: bytes | None
) -> list[tuple[bytes, bytes]]:
    """The headers to forward: all but those of the connection and our own, with the upstream's key where one is held.

    `plain` asks for an answer that is not compressed, because it will be read; `own_key` is the API key of this server
    that the client sent, which no upstream ever sees.
    """
    kept: list[tuple[bytes, bytes]] = []
    dropped = _NOT_FORWARDED
    for name, value in given:
        if name == b"connection":
            dropped = dropped | {part.strip().lower() for part in value.split(b",")}
    for name, value in given:
        low = name.lower()
        if low in dropped or low.startswith(_OURS) or (plain and low == b"accept-encoding"):
            continue
        if low in _OF_KEYS and (upstream.key is not None or (own_key is not None and own_key in value)):
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
    """How a body is encoded; none where no header says that it is. Clients undo what any of several headers names."""
    said = ", ".join(response.headers.getall("content-encoding", ()))
    return None if all(one.strip().lower() in ("", "identity") for one in said.split(",")) else said


def response_headers(response: aiohttp.ClientResponse, *, changed: bool) -> list[tuple[bytes, bytes]]:
    """The upstream's headers as they came, but for those of the connection and of places; `changed` says that the body
    is another."""
    dropped = _HOP_BY_HOP | _OF_PLACES | (_OF_ONE_FORM if changed else frozenset())
    lowered = [(name.lower(), value) for name, value in response.raw_headers]
    return [pair for pair in lowered if pair[0] not in dropped and not _is_ours(pair[0])]


def _is_ours(name: bytes) -> bool:
    """Whether a header is one that only this server, or the proxy before it, may set."""
    return name.startswith(_OURS) or (name.startswith(_OF_PROXIES) and name != _BUFFERING)
