"""What is attacked: anything that takes a request and gives a text."""

from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Protocol

from assay.errors import AssayError
from assay.redteam.cases import Case

LONGEST_ANSWER: Final = 200_000
"""Characters of an answer that are kept; a longer one is a failure of the target."""

Request = dict[str, Any]
"""What a target is sent: `id`, `prompt`, `turns` (a list of `role` and `content`) and `context` (a list of `id`, `text`
and `source`)."""


CHARACTERS_PER_TOKEN: Final = 4
"""English text has about four characters a token: by this tokens are estimated where a target does not count them."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A text with what it took, for a target that says so."""

    text: str
    tokens_in: int | None = None
    """Tokens of the request, as the target counts them."""
    tokens_out: int | None = None
    """Tokens of the answer."""


class TargetError(AssayError, RuntimeError):
    """A target could not be asked, or what it gave is no text; the case is unjudged."""


class Target(Protocol):
    """One system under test. It may be asked by several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in records, without secrets."""
        ...

    def ask(self, request: Request) -> str | Reply:
        """The answer to one request, with the tokens that it took where the target says so.

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


def reply_of(said: str | Reply) -> Reply:
    """An answer with what it took, where that is known."""
    return said if isinstance(said, Reply) else Reply(said)


def estimated_tokens(request: Request) -> int:
    """About how many tokens a request has.

    >>> estimated_tokens({"id": "a", "prompt": "How long is it?", "turns": [], "context": []})
    4
    """
    texts = [
        request["prompt"],
        *(one["content"] for one in request["turns"]),
        *(one["text"] for one in request["context"]),
    ]
    return ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


def counted(value: object) -> int | None:
    """A number of tokens that a target told; none where it is no such number.

    >>> counted(12), counted(-1), counted("12"), counted(True)
    (12, None, None, None)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


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
