"""Who is let in: decided once for each request, before any route sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol
from urllib.parse import urlsplit

from assay.schema import Permission
from assay.server.access.key_file import PREFIX, KeyFile
from assay.server.caller import LOCAL, Caller
from assay.server.gateway.asgi import Scope, header
from assay.server.gateway.targets import is_gateway
from assay.server.settings import is_loopback

OPEN: Final = frozenset({"/healthz", "/readyz", "/openapi.json", "/", "/docs"})
"""Paths that need no caller."""
NOBODY: Final = Caller("nobody", frozenset(), kind="none")
"""The caller of a path that needs none."""

OF_SCOPE: Final = {
    "check": frozenset({Permission.CHECK, Permission.READ, Permission.FEEDBACK}),
    "gateway": frozenset({Permission.GATEWAY}),
    "metrics": frozenset({Permission.METRICS}),
}
"""What the scopes of a key in the file allow."""
_PROXIED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
_LONGEST_HOST: Final = 300
"""Characters of an address of a page with the longest name that a host may have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str
    headers: Sequence[tuple[bytes, bytes]] = ()
    code: str | None = None
    """The stable name of the problem; one that fits the status by default."""
    caller: Caller | None = None
    """Whom it refuses, where that is known."""


class Access(Protocol):
    """Decides who a request comes from."""

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The caller of a request, or why it is not let in. Paths in `OPEN` are let in without being asked about.

        Raises:
            AssayError: it cannot be decided now; the request is answered with 503.
        """
        ...


class KeyFileAccess:
    """Access by a file of API keys; without one, whoever reaches a server that listens on loopback is let in."""

    def __init__(self, keys: KeyFile | None) -> None:
        """Access by these keys."""
        self._keys = keys

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The name of the key with what its scopes allow; `LOCAL` where no keys are needed."""
        if self._keys is None:
            return foreign(scope) or LOCAL
        key = key_of(scope)
        if key is None:
            return Refusal(401, "expected an API key of this server in x-assay-key or as a bearer token; got none")
        path = scope["path"]
        wanted = "gateway" if is_gateway(path) else "metrics" if path == "/metrics" else "check"
        found = self._keys.find(key)
        if found is None or wanted not in found.scopes:
            return Refusal(401, f"the API key is unknown, has ended, or is not good for the scope {wanted!r}")
        permissions = frozenset().union(*(OF_SCOPE[name] for name in found.scopes if name in OF_SCOPE))
        return Caller(found.name, permissions, kind="key")


def key_of(scope: Scope) -> str | None:
    """The API key of this server in a request; keys of upstreams begin otherwise."""
    own = header(scope, b"x-assay-key")
    if own is not None:
        return own.strip()
    for name in (b"authorization", b"x-api-key"):
        value = (header(scope, name) or "").strip()
        value = value[7:].strip() if value[:7].lower() == "bearer " else value
        if value.startswith(PREFIX):
            return value
    return None


def foreign(scope: Scope) -> Refusal | None:
    """Why a request without a key is refused: a page of a browser may reach a loopback address too, and so does a proxy
    that hands on what comes from elsewhere.
    """
    for name, raw in scope["headers"]:
        if name in _PROXIED:
            said = name.decode()
            return Refusal(403, f"without API keys or users only this machine is served; {said} tells of a proxy")
        if name == b"host" or (name == b"origin" and raw != b"null"):
            value = raw.decode("latin-1")
            if len(value) > _LONGEST_HOST or not _is_here(value):
                said = name.decode()
                return Refusal(
                    403, f"without API keys only this machine is served; the header {said} names {value[:80]!r}"
                )
    return None


@lru_cache(maxsize=64)
def _is_here(value: str) -> bool:
    """Whether a header names this machine; asked for every request, and nearly always of the same few values."""
    try:
        parts = urlsplit(value if "//" in value else f"//{value}")
        host, _ = parts.hostname, parts.port  # a port that is no number is told of only when it is asked for
    except ValueError:
        return False
    return host is not None and is_loopback(host)
