"""A chat model that replays the answers from when a check was recorded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from assay.errors import AssayError, ChatError, InputError
from assay.models.chat.cache import read_choice
from assay.models.chat.interface import ChatRequest, Completion, Usage
from assay.models.chat.meter import Price
from assay.models.chat.tape import ERRORS, FORM, name_of


class Replayed:
    """A chat model that replays the answers on a tape, and gives no others. Its answers cost nothing."""

    def __init__(self, tape: Mapping[str, Any]) -> None:
        """Read a tape.

        Raises:
            InputError: it is none.
        """
        self._lock = threading.Lock()
        self._answers: dict[str, deque[Completion | ChatError]] = {}
        self.missing = 0
        """Requests to which the tape has no answer: the check that was run again is not the one that was recorded."""
        try:
            if tape["form"] != FORM:
                raise InputError(f"expected a tape of the form {FORM}; a newer version of assay made this one")
            self._name, self._digest = str(tape["model"]), str(tape["digest"])
            price = tape.get("price")
            self.price = None if price is None else Price(**price)
            self.known: Mapping[str, Any] = dict(tape.get("known", {}))
            """Earlier verdicts of a judge that the check used again, by the claim."""
            for one in tape["answers"]:
                self._answers.setdefault(str(one["request"]), deque()).append(_answer(one))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, AssayError):
                raise
            raise InputError(f"expected the tape of a check, but it cannot be read: {type(error).__name__}") from error

    @property
    def name(self) -> str:
        """The model that was recorded."""
        return self._name

    @property
    def digest(self) -> str:
        """Its digest."""
        return self._digest

    def complete(self, request: ChatRequest) -> Completion:
        """The next recorded answer to this request.

        Raises:
            ChatError: the request failed when it was recorded.
            InputError: the tape has none.
        """
        with self._lock:
            waiting = self._answers.get(name_of(request))
            if not waiting:
                self.missing += 1
                raise InputError("the tape has no answer to a request of this check")
            found = waiting.popleft()
        if isinstance(found, ChatError):
            raise found
        return found

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`."""
        return self.complete(request)

    @property
    def left(self) -> int:
        """Recorded answers that were not asked for in the replay."""
        with self._lock:
            return sum(map(len, self._answers.values()))


def _answer(one: Mapping[str, Any]) -> Completion | ChatError:
    if "error" in one:
        error = one["error"]
        return ERRORS[error["kind"]](
            str(error["message"]), retryable=bool(error["retryable"]), calls=int(error["calls"])
        )
    made = dict(one["made"])
    choices = tuple(read_choice(choice) for choice in made.pop("choices"))
    if not choices:
        raise InputError("expected the tape of a check, and an answer on it is empty")
    return Completion(choices, Usage(**made.pop("usage")), **made)
