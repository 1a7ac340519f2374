"""Bounded retries: every rejected attempt is recorded, and a model that does not repair its call is stopped.

The record is a value: a new one is returned, nothing is stored.
"""

from dataclasses import dataclass, replace
from typing import Final

from assay.errors import InputError
from assay.schema.report_parts import CallAttempt
from assay.verify.tools.call_check import CallCheck
from assay.verify.tools.rejection_feedback import feedback
from assay.verify.tools.schema_validators import digest_of

MOST_RETRIES: Final = 2
"""How often a rejected call may be sent again unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class AttemptLog:
    """The rejected attempts of one turn of a model, in order."""

    retries: int = MOST_RETRIES
    """How often a rejected call of one tool may be sent again."""
    attempts: tuple[CallAttempt, ...] = ()

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise InputError(f"a bound on retries is 0 or more, got {self.retries}")

    def record(self, check: CallCheck) -> "AttemptLog":
        """The log with one more check in it; an accepted call leaves it as it is."""
        if check.accepted:
            return self
        attempt = CallAttempt(
            number=len(self.of(check.tool)) + 1,
            tool=check.tool,
            arguments=check.arguments,
            reasons=tuple(issue.message for issue in check.issues),
        )
        return replace(self, attempts=(*self.attempts, attempt))

    def of(self, tool: str) -> tuple[CallAttempt, ...]:
        """The rejected attempts at one tool."""
        return tuple(attempt for attempt in self.attempts if attempt.tool == tool)

    def left(self, tool: str) -> int:
        """How many attempts the model still has at a tool.

        None once it has sent the same arguments again after they were rejected: it does not listen. The rejected
        attempts of other tools count as well, four times over, so that a model cannot wander through names for ever.
        """
        made = self.of(tool)
        if len(made) > 1 and _same(made[-1], made[-2]):
            return 0
        mine = self.retries + 1 - len(made)
        everything = (self.retries + 1) * _TOOLS - len(self.attempts)
        return max(0, min(mine, everything))

    def may_retry(self, tool: str) -> bool:
        """Whether the model may try a tool again."""
        return self.left(tool) > 0

    def reply(self, check: CallCheck) -> str:
        """The message for the model about a check that is in the log already; empty for an accepted call."""
        return feedback(check, self.left(check.tool))


_TOOLS: Final = 4


def _same(one: CallAttempt, other: CallAttempt) -> bool:
    return digest_of(one.arguments) == digest_of(other.arguments)
