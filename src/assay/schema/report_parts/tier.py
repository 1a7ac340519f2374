"""How soon a person has to look at an output that waits for one (docs/concepts.md#escalation)."""

from enum import StrEnum

from pydantic import Field

from assay.schema.base import Value


class Tier(StrEnum):
    """The tiers of review, the least pressing first."""

    ASYNC = "async"
    """A domain expert, from a queue: hours."""
    SYNC = "sync"
    """Whoever is available, while the caller waits: minutes."""
    BLOCKING = "blocking"
    """Senior authority, mandatory: at once."""


class Escalated(Value):
    """Why a person is asked, and how soon; only where the action is `escalate`."""

    tier: Tier
    level: str = Field(pattern="^(flag_for_review|require_approval|block)$")
    """The same as an escalation label (docs/concepts.md#escalation); none of them lets the output out before a person
    has decided."""
    risk: float = Field(ge=0, le=1)
    """stakes * (1 - confidence)."""
    stakes_weight: float = Field(ge=0, le=1)
    """What the stakes count in it, by the policy."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """The overall score; none where nothing was checked, which counts as 0."""
    minutes: float = Field(gt=0)
    """How long the tier gives a person to decide, by the policy."""
