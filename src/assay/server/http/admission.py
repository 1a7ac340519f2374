"""Admission: whether a request's caller is let in, decided once, before any route runs."""

from collections.abc import Iterable, Sequence
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

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/openapi.json", "/", "/docs"})
"""Paths that need no caller."""
NOBODY: Final = Caller("nobody", frozenset(), kind="none")
"""The caller of a request to such a path."""

SCOPE_PERMISSIONS: Final = {
    "check": frozenset({Permission.CHECK, Permission.READ, Permission.FEEDBACK}),
    "gateway": frozenset({Permission.GATEWAY}),
    "metrics": frozenset({Permission.METRICS}),
}
"""The permissions of each scope of a key in the file."""
_PROXY_HEADERS: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
_LONGEST_HOST: Final = 300
"""The longest `host` or `origin` header that is read, in characters: a page's address with the longest host name."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str
    headers: Sequence[tuple[bytes, bytes]] = ()
    code: str | None = None
    """The stable name of the problem; one that fits the status by default."""
    caller: Caller | None = None
    """The caller that it refuses, where it is known."""


class Access(Protocol):
    """Authenticates the caller of a request."""

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The caller of a request, or why it is not let in; it is not called for paths in `OPEN_PATHS`.

        Raises:
            AssayError: it cannot be decided now; the request is answered with 503.
        """
        ...


class KeyFileAccess:
    """Access by a file of API keys; without one, everybody who reaches a loopback server is let in."""

    def __init__(self, keys: KeyFile | None) -> None:
        """Access by these keys."""
        self._keys = keys

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The key's name with the permissions of its scopes; `LOCAL` where no keys are needed."""
        if self._keys is None:
            return refuse_foreign(scope) or LOCAL
        key = key_of(scope)
        if key is None:
            return Refusal(401, "expected an API key of this server in x-assay-key or as a bearer token; got none")
        path = scope["path"]
        scope_name = "gateway" if is_gateway(path) else "metrics" if path == "/metrics" else "check"
        found = self._keys.find(key)
        if found is None or scope_name not in found.scopes:
            return Refusal(401, f"the API key is unknown, has ended, or is not good for the scope {scope_name!r}")
        return Caller(found.name, permissions_of_scopes(found.scopes), kind="key")


def permissions_of_scopes(scopes: Iterable[str]) -> frozenset[Permission]:
    """The permissions that the scopes of a key in the file allow; an unknown scope allows nothing."""
    return frozenset().union(*(SCOPE_PERMISSIONS[name] for name in scopes if name in SCOPE_PERMISSIONS))


def key_of(scope: Scope) -> str | None:
    """The API key of this server in a request; keys of upstreams have another prefix."""
    own = header(scope, b"x-assay-key")
    if own is not None:
        return own.strip()
    for name in (b"authorization", b"x-api-key"):
        value = (header(scope, name) or "").strip()
        value = value[7:].strip() if value[:7].lower() == "bearer " else value
        if value.startswith(PREFIX):
            return value
    return None


def refuse_foreign(scope: Scope) -> Refusal | None:
    """Why a request without a key is refused; none where it comes from this machine.

    A page in a browser may reach a loopback address too, and so may a proxy that passes on requests from elsewhere.
    """
    for name, raw in scope["headers"]:
        if name in _PROXY_HEADERS:
            shown = name.decode()
            return Refusal(403, f"without API keys or users only this machine is served; {shown} tells of a proxy")
        if name == b"host" or (name == b"origin" and raw != b"null"):
            value = raw.decode("latin-1")
            if len(value) > _LONGEST_HOST or not _names_this_machine(value):
                shown = name.decode()
                return Refusal(
                    403, f"without API keys only this machine is served; the header {shown} names {value[:80]!r}"
                )
    return None


@lru_cache(maxsize=64)
def _names_this_machine(value: str) -> bool:
    """Whether a header names this machine; cached, as nearly all requests have the same few values."""
    try:
        parts = urlsplit(value if "//" in value else f"//{value}")
        host, _ = parts.hostname, parts.port  # a port that is no number raises only when it is read
    except ValueError:
        return False
    return host is not None and is_loopback(host)
