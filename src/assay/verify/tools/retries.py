"""Bounded retries: records every rejected attempt, and stops a model that does not correct its call.

The log is an immutable value: recording returns a new one.
"""

from dataclasses import dataclass, replace
from typing import Final

from assay.errors import InputError
from assay.schema.report_parts import CallAttempt
from assay.verify.tools.call_check import CallCheck
from assay.verify.tools.rejection_feedback import feedback
from assay.verify.tools.schema_validators import digest_of

MOST_RETRIES: Final = 2
"""How often a rejected call may be sent again by default."""


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
        """The log with one more check; an accepted call leaves it unchanged."""
        if check.accepted:
            return self
        attempt = CallAttempt(
            number=len(self.attempts_at(check.tool)) + 1,
            tool=check.tool,
            arguments=check.arguments,
            reasons=tuple(issue.message for issue in check.issues),
        )
        return replace(self, attempts=(*self.attempts, attempt))

    def attempts_at(self, tool: str) -> tuple[CallAttempt, ...]:
        """The rejected attempts at one tool."""
        return tuple(attempt for attempt in self.attempts if attempt.tool == tool)

    def attempts_left(self, tool: str) -> int:
        """How many attempts the model still has at a tool.

        0 once it has sent the same arguments again after a rejection. All rejected attempts together are limited to
        four times the attempts at one tool, so that a model cannot go on with ever new names of tools.
        """
        attempts = self.attempts_at(tool)
        if len(attempts) > 1 and _same_arguments(attempts[-1], attempts[-2]):
            return 0
        left_at_tool = self.retries + 1 - len(attempts)
        left_in_all = (self.retries + 1) * _TOTAL_FACTOR - len(self.attempts)
        return max(0, min(left_at_tool, left_in_all))

    def may_retry(self, tool: str) -> bool:
        """Whether the model may try a tool again."""
        return self.attempts_left(tool) > 0

    def reply(self, check: CallCheck) -> str:
        """The message for the model about a check that is already recorded; empty for an accepted call."""
        return feedback(check, self.attempts_left(check.tool))


_TOTAL_FACTOR: Final = 4


def _same_arguments(first: CallAttempt, second: CallAttempt) -> bool:
    return digest_of(first.arguments) == digest_of(second.arguments)
