"""What the routes of a server share: one frozen value that every router is created with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError
from assay.guard import Guard
from assay.receipt import Keys
from assay.schema import Permission
from assay.server.access.refusals import RefusalCounter
from assay.server.cadence.overlays import Overlays
from assay.server.cadence.passing import Passing
from assay.server.caller import Caller, caller_of
from assay.server.checking import Checker
from assay.server.http.admission import Access
from assay.server.http.problems import ProblemError
from assay.server.settings import ServerSettings
from assay.server.telemetry.telemetry import Telemetry

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.store.db import Store

GuardOf = Callable[[str | None], Guard]
"""The guard of a policy by its name; the server's own by default."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services that routers work with. Each process has its own."""

    settings: ServerSettings
    guard_of: GuardOf
    checker: Checker
    """Runs checks on threads of their own."""
    access: Access
    """Authenticates callers."""
    kept: "Store | None" = None
    """The store; none where the server has no database."""
    keys: Keys | None = None
    """The keys that sign receipts and checkpoints; none where the server has none."""
    refusals: RefusalCounter | None = None
    """Counts refusals for the audit log; none where the server has no database."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    """Metrics and traces."""
    overlays: Overlays = field(default_factory=Overlays)
    """The overlays on policies while an error budget is spent."""
    passing: Passing = field(default_factory=Passing)
    """Counts of requests through the gateway that are not stored yet."""

    @property
    def store(self) -> "Store":
        """The store of a server with a database; only there routers that need it are included.

        Raises:
            StoreError: the server has no database.
        """
        if self.kept is None:
            raise StoreError("this server keeps no record; start it with --database")
        return self.kept


def allowed(scope: Mapping[str, Any], permission: Permission) -> Caller:
    """The caller of a request, if it has a permission.

    Args:
        scope: the ASGI scope of the request (`request.scope`).
        permission: what the route needs.

    Raises:
        ProblemError: it does not have it: 403.
    """
    caller = caller_of(scope)
    if not caller.may(permission):
        raise ProblemError(
            403,
            f"expected a caller with the permission {permission.value!r}, and {caller.name!r} has it not",
            code="permission.missing",
            todo="Ask an administrator of your tenant for a role or key that has it.",
        )
    return caller
