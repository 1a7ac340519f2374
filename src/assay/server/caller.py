"""The caller of a request, which the application determines once, before any route runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from assay.schema import PERMISSIONS, Permission, Role

SCOPE_KEY: Final = "assay.caller"
"""The key of the caller in a request's ASGI scope."""
ONLY_TENANT: Final = "default"
"""The tenant of a server with a single tenant."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from, and what it may do."""

    name: str
    """A user's name, or the name of an API key: never the key."""
    permissions: frozenset[Permission]
    tenant: str = ONLY_TENANT
    kind: str = "local"
    """`user` with a session of the console, `key` with an API key, `local` on a loopback server without keys."""
    id: str = ""
    """The id of the user or of the key, by which the log names callers; empty where there is none."""
    roles: tuple[Role, ...] = ()
    """The roles of a user."""
    expertise: tuple[str, ...] = ()
    """The fields that a user reviews."""
    session: str = ""
    """The id of the session of the console, never its secret."""

    @property
    def actor(self) -> str:
        """The name of the caller in the audit log: its id, or its kind where it has none."""
        return self.id or self.kind

    def may(self, permission: Permission) -> bool:
        """Whether it has a permission."""
        return permission in self.permissions


LOCAL: Final = Caller("local", PERMISSIONS[Role.ADMIN])
"""The caller of every request to a loopback server that has neither keys nor users."""


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """The caller of a request, out of its ASGI scope.

    Raises:
        KeyError: the application has not determined it; such a request must not be answered.
    """
    found = scope[SCOPE_KEY]
    if not isinstance(found, Caller):
        raise KeyError(SCOPE_KEY)
    return found


@dataclass(slots=True)
class ActiveRequest:
    """A request that is being answered: its owner, and how much has been read for it."""

    owner: str
    """The name under which shares of the server are counted: the same for all requests of one caller."""
    read: int = 0
    """Bytes of its body and of upstreams' answers, which measure what its check may cost."""


_active: ContextVar[ActiveRequest | None] = ContextVar("assay.server.caller", default=None)


def called() -> ActiveRequest:
    """The request that this task answers; the server's own for work that belongs to no request."""
    return _active.get() or ActiveRequest("the server")


@contextmanager
def answering(active: ActiveRequest) -> Iterator[None]:
    """Inside the block, and in tasks that start in it, `called` returns this request."""
    token = _active.set(active)
    try:
        yield
    finally:
        _active.reset(token)


def owner_of(caller: Caller, address: str) -> str:
    """The name under which a caller's share of the server is counted: the caller where it is known, else the address.

    >>> owner_of(LOCAL, "127.0.0.1"), owner_of(Caller("bot", frozenset(), kind="key", id="k-1"), "10.0.0.7")
    ('local 127.0.0.1', 'key default k-1')
    """
    if caller.kind in ("key", "user"):
        return f"{caller.kind} {caller.tenant} {caller.id or caller.name}"
    return f"{caller.kind} {address}"
