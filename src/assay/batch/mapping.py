"""Any judging by many processes: a task is set up once by each worker, and answers chunks of rows.

Evaluation, calibration, rescoring and red teaming run on the engines of `assay batch` through `MappedWork` and
`Mapped`; the same task in this process is the built-in `map`, so that both give the same answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import assay.errors as errors
from assay.batch.dispatch import Dispatcher
from assay.batch.engines import Engine
from assay.batch.values import Piece
from assay.errors import AssayError, VerifierError

if TYPE_CHECKING:
    from assay.models import PairScorer

Task = Callable[["PairScorer"], Callable[[Any], Any]]
"""Called once in each worker with its network: gives what answers one chunk. It has to be picklable, as chunks and
answers have to be."""
_AHEAD: Final = 4
"""Chunks for each that is worth holding which may be finished before an earlier one is: what bounds the memory."""


@dataclass(frozen=True, slots=True)
class MappedWork:
    """A task as an engine takes it; see `Work`."""

    task: Task
    model: str | None = None
    threads: int = 1
    environ: Mapping[str, str] = field(default_factory=dict)

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Sets the task up; an error of assay that a chunk brings out is its answer."""
        answer = self.task(scorer)
        return lambda chunks: [_answered(answer, chunk) for chunk in chunks]


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error of assay on its way to the driver: not all of them can be pickled."""

    kind: str
    message: str

    def error(self) -> AssayError:
        kind = getattr(errors, self.kind, VerifierError)
        try:
            return kind(self.message)
        except TypeError:  # one that is made of more than a message
            return VerifierError(self.message)


def _answered(answer: Callable[[Any], Any], chunk: Any) -> Any:
    try:
        return answer(chunk)
    except AssayError as error:
        return _Raised(type(error).__name__, str(error))


class Mapped:
    """The built-in `map` of a task over chunks, by the workers of an engine.

    >>> with Mapped(lambda: None) as mapped:  # no chunk, no engine
    ...     list(mapped([]))
    []
    """

    def __init__(self, start: Callable[[], Engine]) -> None:
        """Starts nothing yet: `start` is called with the first chunk, once, however often this is called."""
        self._dispatcher = Dispatcher(start, _give_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dispatcher.close()

    def __call__(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The answers in the order of the chunks; so many chunks are read ahead as keep the workers busy.

        An iterator that is not read to its end leaves the engine with chunks in hand: then leave this, too.

        Raises:
            AssayError: what the task raises over a chunk, at its place; a `VerifierError` where workers keep dying.
        """
        waiting = enumerate(chunks)
        answers: dict[int, Any] = {}
        next_answer = out = 0
        more = True
        while more or out:
            while more and out < self._dispatcher.room and len(answers) < _AHEAD * self._dispatcher.room:
                found = next(waiting, None)
                if found is None:
                    more = False
                else:
                    self._dispatcher.add(Piece(found[0], 0, (found[1],)))
                    out += 1
            if not out:
                continue
            if (ended := self._dispatcher.ended()) is not None:
                out -= 1
                answers[ended[0].partition] = ended[1][0]
            while next_answer in answers:
                answer = answers.pop(next_answer)
                next_answer += 1
                if isinstance(answer, _Raised):
                    raise answer.error()
                yield answer


def _give_up(_: Any, reason: str) -> Any:
    raise VerifierError(f"rows cannot be judged: {reason}")
