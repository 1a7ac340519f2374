"""Keeps an engine busy: submits pieces, collects their answers, and submits a piece again when its worker died.

A piece over which two workers died is halved, down to single rows; a row over which three died is given up. One or two
deaths prove nothing about a row: the workers may have been killed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from assay.batch.engines import Died, Engine
from assay.batch.values import Piece

DEATHS_BEFORE_SPLIT: Final = 2
"""Deaths of workers over a piece after which it is halved."""
DEATHS_BEFORE_GIVING_UP: Final = 3
"""Deaths of workers over a single row after which it is given up: fewer could be kills unrelated to the row."""
SPARE_PIECES: Final = 2
"""Pieces held beyond the capacity of the engine, so that a worker that finishes gets its next piece at once."""

GiveUp = Callable[[Any, str], Any]
"""The answer for a row over which workers keep dying, from the row and the reason; or it raises."""


class Dispatcher:
    """Takes pieces in, and gives them back with an answer for each of their rows, in any order."""

    def __init__(self, start: Callable[[], Engine], give_up: GiveUp) -> None:
        """Starts nothing yet.

        Args:
            start: starts the engine; called once, before the first piece is submitted.
            give_up: gives the answer for a row over which workers keep dying.
        """
        self._start, self._give_up = start, give_up
        self._engine: Engine | None = None
        self._waiting: list[Piece] = []
        """Pieces that wait to be submitted, the next one last."""
        self._in_flight = 0

    @property
    def window(self) -> int:
        """How many pieces are worth holding at a time: those that the engine takes, and a few to spare."""
        return 1 if self._engine is None else self._engine.capacity + SPARE_PIECES

    def add(self, piece: Piece) -> None:
        """Takes a piece; it is submitted after those that wait already."""
        self._waiting.insert(0, piece)

    def next_answered(self) -> tuple[Piece, Sequence[Any]] | None:
        """Waits for one piece to end: it with its answers, or none where nothing is in flight or it has to be retried.

        Raises:
            VerifierError: workers cannot be kept alive.
        """
        if self._waiting and self._engine is None:
            self._engine = self._start()
        while self._engine is not None and self._waiting and self._in_flight < self._engine.capacity:
            self._engine.submit(self._waiting.pop())
            self._in_flight += 1
        if self._engine is None or not self._in_flight:
            return None
        outcome = self._engine.wait()
        self._in_flight -= 1
        if isinstance(outcome, Died):
            return self._retry(replace(outcome.piece, deaths=outcome.piece.deaths + 1), outcome.reason)
        return outcome.piece, outcome.results

    def _retry(self, piece: Piece, reason: str) -> tuple[Piece, Sequence[Any]] | None:
        if len(piece.rows) > 1 and piece.deaths >= DEATHS_BEFORE_SPLIT:
            half = len(piece.rows) // 2
            first = Piece(piece.partition, piece.begin, piece.rows[:half])
            self._waiting += [Piece(piece.partition, piece.begin + half, piece.rows[half:]), first]
        elif len(piece.rows) == 1 and piece.deaths >= DEATHS_BEFORE_GIVING_UP:
            return piece, [self._give_up(piece.rows[0], f"{reason}, {piece.deaths} times in a row")]
        else:
            self._waiting.append(piece)
        return None

    def close(self) -> None:
        """Ends the workers; the pieces that they hold are dropped. May be called again."""
        if self._engine is not None:
            self._engine.close()
