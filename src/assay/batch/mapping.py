"""Runs a task over chunks of rows by many workers; each worker sets the task up once.

Evaluation, calibration, rescoring and red teaming run on the engines of `assay batch` through `MappedWork` and
`Mapped`. Without workers they apply the same task with the built-in `map`, so both ways give the same answers.
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
"""Called once in each worker with its network: gives the function that answers one chunk. It has to be picklable, as
chunks and answers have to be."""
_READ_AHEAD: Final = 4
"""Bounds the memory: answers that wait for an earlier chunk are at most so many times the dispatcher's window."""


@dataclass(frozen=True, slots=True)
class MappedWork:
    """A task in the form that an engine takes; see `Work`."""

    task: Task
    model: str | None = None
    threads: int = 1
    environ: Mapping[str, str] = field(default_factory=dict)

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Sets the task up; an error of assay that a chunk raises becomes its answer, which the driver raises again."""
        answer = self.task(scorer)
        return lambda chunks: [_answer_or_error(answer, chunk) for chunk in chunks]


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error of assay on its way to the driver, since not all of them can be pickled."""

    kind: str
    message: str

    def error(self) -> AssayError:
        error_class = getattr(errors, self.kind, VerifierError)
        try:
            return error_class(self.message)
        except TypeError:  # its constructor takes more than a message
            return VerifierError(self.message)


def _answer_or_error(answer: Callable[[Any], Any], chunk: Any) -> Any:
    try:
        return answer(chunk)
    except AssayError as error:
        return _Raised(type(error).__name__, str(error))


class Mapped:
    """A task applied to chunks by the workers of an engine, in the manner of the built-in `map`.

    >>> with Mapped(lambda: None) as mapped:  # no chunk, no engine
    ...     list(mapped([]))
    []
    """

    def __init__(self, start: Callable[[], Engine]) -> None:
        """Starts nothing yet: `start` is called once, with the first chunk, however often the map is applied."""
        self._dispatcher = Dispatcher(start, _give_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dispatcher.close()

    def __call__(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The answers in the order of the chunks; enough chunks are read ahead to keep the workers busy.

        An iterator that is not read to its end leaves chunks with the engine; leave the context then, too.

        Raises:
            AssayError: the error that the task raised over a chunk, in its place in the order; a `VerifierError` where
                workers keep dying.
        """
        numbered_chunks = enumerate(chunks)
        answers: dict[int, Any] = {}
        next_answer = in_flight = 0
        unread = True
        while unread or in_flight:
            while (
                unread and in_flight < self._dispatcher.window and len(answers) < _READ_AHEAD * self._dispatcher.window
            ):
                numbered = next(numbered_chunks, None)
                if numbered is None:
                    unread = False
                else:
                    self._dispatcher.add(Piece(numbered[0], 0, (numbered[1],)))
                    in_flight += 1
            if not in_flight:
                continue
            if (answered := self._dispatcher.next_answered()) is not None:
                in_flight -= 1
                answers[answered[0].partition] = answered[1][0]
            while next_answer in answers:
                answer = answers.pop(next_answer)
                next_answer += 1
                if isinstance(answer, _Raised):
                    raise answer.error()
                yield answer


def _give_up(_: Any, reason: str) -> Any:
    raise VerifierError(f"rows cannot be judged: {reason}")
