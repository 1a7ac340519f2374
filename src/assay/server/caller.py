"""Who a request comes from. The application decides it once, before any route sees the request."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from assay.schema import PERMISSIONS, Permission, Role

SCOPE_KEY: Final = "assay.caller"
"""Where the application puts the caller in a request's ASGI scope."""
ONLY_TENANT: Final = "default"
"""The tenant of a server that has one."""


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
    """The id of the user or of the key; the log names callers by it. Empty for who has none."""
    roles: tuple[Role, ...] = ()
    """The roles of a user."""
    expertise: tuple[str, ...] = ()
    """The fields that a user reviews."""
    session: str = ""
    """The id of the session of the console, never its secret."""

    @property
    def actor(self) -> str:
        """What the log names it by."""
        return self.id or self.kind

    def may(self, permission: Permission) -> bool:
        """Whether it has a permission."""
        return permission in self.permissions


LOCAL: Final = Caller("local", PERMISSIONS[Role.ADMIN])
"""Whoever reaches a server that listens on loopback only and has neither keys nor users."""


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """The caller of a request, out of its ASGI scope.

    Raises:
        KeyError: the application did not decide on it; such a request must not be answered.
    """
    found = scope[SCOPE_KEY]
    if not isinstance(found, Caller):
        raise KeyError(SCOPE_KEY)
    return found


@dataclass(slots=True)
class ActiveRequest:
    """A request that is being answered: whose it is, and how much has been read for it."""

    owner: str
    """What shares of the server are counted by: one name for all requests of one caller."""
    read: int = 0
    """Bytes of its body and of what upstreams answered: a measure of what its check may cost."""


_asking: ContextVar[ActiveRequest | None] = ContextVar("assay.server.caller", default=None)


def called() -> ActiveRequest:
    """The request that this task answers; work that belongs to no request is the server's own."""
    return _asking.get() or ActiveRequest("the server")


@contextmanager
def answering(asking: ActiveRequest) -> Iterator[None]:
    """Inside of the block, and in tasks that begin in it, `called` tells of this request."""
    token = _asking.set(asking)
    try:
        yield
    finally:
        _asking.reset(token)


def owner_of(caller: Caller, address: str) -> str:
    """What shares are counted by: the caller where it is known, else the address.

    >>> owner_of(LOCAL, "127.0.0.1"), owner_of(Caller("bot", frozenset(), kind="key", id="k-1"), "10.0.0.7")
    ('local 127.0.0.1', 'key default k-1')
    """
    if caller.kind in ("key", "user"):
        return f"{caller.kind} {caller.tenant} {caller.id or caller.name}"
    return f"{caller.kind} {address}"
