"""The interface of targets: anything that takes a request and returns a text."""

from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Protocol

from assay.errors import AssayError
from assay.redteam.cases import Case

LONGEST_ANSWER: Final = 200_000
"""The most characters of an answer; a longer one is a failure of the target."""

Request = dict[str, Any]
"""A request to a target: `id`, `prompt`, `turns` (a list of `role` and `content`) and `context` (a list of `id`, `text`
and `source`)."""


CHARACTERS_PER_TOKEN: Final = 4
"""English text has about four characters per token; used to estimate tokens where a target does not count them."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its token counts, where the target gives them."""

    text: str
    tokens_in: int | None = None
    """Tokens of the request, as the target counts them."""
    tokens_out: int | None = None
    """Tokens of the answer."""


class TargetError(AssayError, RuntimeError):
    """A target could not be asked, or returned something other than text; the case is unjudged."""


class Target(Protocol):
    """One system under test. Several threads may call it at once."""

    @property
    def name(self) -> str:
        """Its name in records, without secrets."""
        ...

    def ask(self, request: Request) -> str | Reply:
        """The answer to one request, with its token counts where the target gives them.

        Raises:
            TargetError: there is no answer.
        """
        ...


def request_of(case: Case) -> Request:
    """The request for a case, which reveals nothing of the expected behaviour."""
    return {
        "id": case.id,
        "prompt": case.prompt,
        "turns": [turn.model_dump() for turn in case.turns],
        "context": [passage.model_dump() for passage in case.context],
    }


def reply_of(answer: str | Reply) -> Reply:
    """An answer as a `Reply`, without token counts where it is plain text."""
    return answer if isinstance(answer, Reply) else Reply(answer)


def estimated_tokens(request: Request) -> int:
    """An estimate of the tokens of a request.

    >>> estimated_tokens({"id": "a", "prompt": "How long is it?", "turns": [], "context": []})
    4
    """
    texts = [
        request["prompt"],
        *(one["content"] for one in request["turns"]),
        *(one["text"] for one in request["context"]),
    ]
    return ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


def token_count(value: object) -> int | None:
    """A token count as a target reports it; none where the value is not a plausible count.

    >>> token_count(12), token_count(-1), token_count("12"), token_count(True)
    (12, None, None, None)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def text_of(value: object, where: str) -> str:
    """Checks that the answer of a target is text of an acceptable length; lone surrogates are replaced.

    Args:
        value: the answer.
        where: the name of the target, for messages.

    Raises:
        TargetError: it is not text, or too long.
    """
    if not isinstance(value, str):
        raise TargetError(f"{where}: expected text, got {type(value).__name__}")
    if len(value) > LONGEST_ANSWER:
        raise TargetError(f"{where}: expected at most {LONGEST_ANSWER:,} characters, got {len(value):,}")
    return value.encode("utf-8", "replace").decode()  # lone surrogates cannot be recorded
