"""Who may do what: roles, and the permissions that each brings."""

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a person is to a team. One person may have several."""

    VIEWER = "viewer"
    """Reads reports and their evidence."""
    REVIEWER = "reviewer"
    """Reads them, and decides on what waits for a person."""
    AUDITOR = "auditor"
    """Reads everything, the audit log included, and changes nothing."""
    ADMIN = "admin"
    """Does all of it, and keeps the users, keys and rules of retention."""


class Permission(StrEnum):
    """One kind of act."""

    CHECK = "check"
    """Have outputs checked."""
    GATEWAY = "gateway"
    """Use the gateway."""
    READ = "read"
    """Read reports, claims, evidence and what waits for review."""
    FEEDBACK = "feedback"
    """Say that an output was wrong or right."""
    REVIEW = "review"
    """Claim, release and decide what waits for a person."""
    AUDIT = "audit"
    """Read and export the audit log, and make checkpoints."""
    METRICS = "metrics"
    """Read the figures of the server as a whole, as Prometheus does."""
    ADMINISTER = "administer"
    """Keep users, keys, rules of retention, and erase."""


PERMISSIONS: Final[dict[Role, frozenset[Permission]]] = {
    Role.VIEWER: frozenset({Permission.CHECK, Permission.READ, Permission.FEEDBACK}),
    Role.REVIEWER: frozenset({Permission.CHECK, Permission.READ, Permission.FEEDBACK, Permission.REVIEW}),
    Role.AUDITOR: frozenset({Permission.READ, Permission.AUDIT}),
    Role.ADMIN: frozenset(Permission),
}
"""What each role may do."""
