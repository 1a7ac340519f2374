"""What is attacked: anything that takes a request and gives a text."""

from typing import Any, Final, Protocol

from assay.errors import AssayError
from assay.redteam.cases import Case

LONGEST_ANSWER: Final = 200_000
"""Characters of an answer that are kept; a longer one is a failure of the target."""

Request = dict[str, Any]
"""What a target is sent: `id`, `prompt`, `turns` (a list of `role` and `content`) and `context` (a list of `id`, `text`
and `source`)."""


class TargetError(AssayError, RuntimeError):
    """A target could not be asked, or what it gave is no text; the case is unjudged."""


class Target(Protocol):
    """One system under test. It may be asked by several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in records, without secrets."""
        ...

    def ask(self, request: Request) -> str:
        """The answer to one request.

        Raises:
            TargetError: there is none.
        """
        ...


def request_of(case: Case) -> Request:
    """What a target is sent of a case: nothing of what is expected."""
    return {
        "id": case.id,
        "prompt": case.prompt,
        "turns": [turn.model_dump() for turn in case.turns],
        "context": [passage.model_dump() for passage in case.context],
    }


def text_of(value: object, where: str) -> str:
    """What a target gave as a text.

    Raises:
        TargetError: it is none, or too long.
    """
    if not isinstance(value, str):
        raise TargetError(f"{where}: expected text, got {type(value).__name__}")
    if len(value) > LONGEST_ANSWER:
        raise TargetError(f"{where}: expected at most {LONGEST_ANSWER:,} characters, got {len(value):,}")
    return value.encode("utf-8", "replace").decode()  # halves of surrogate pairs cannot be recorded
