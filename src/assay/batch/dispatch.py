"""Keeps an engine busy: gives pieces out, takes answers back, and gives out again what a worker died over.

A piece that two workers died over is halved, down to single rows; a row over which three died is given up. One or two
deaths say nothing of a row: they may be kills.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from assay.batch.engines import Died, Engine
from assay.batch.values import Piece

DEATHS_WHOLE: Final = 2
"""After so many deaths over a piece it is halved."""
DEATHS_ROW: Final = 3
"""After so many deaths over one row it is given up: fewer could be kills that the row has nothing to do with."""
IN_HAND: Final = 2
"""What is held beyond the number of workers: what is finished waits for no other."""

GiveUp = Callable[[Any, str], Any]
"""The answer for a row over which workers keep dying, from the row and the reason; or it raises."""


class Dispatcher:
    """Pieces in, pieces with an answer for each of their rows out, in any order."""

    def __init__(self, start: Callable[[], Engine], give_up: GiveUp) -> None:
        """Starts nothing yet.

        Args:
            start: starts the engine; called with the first piece that is given out.
            give_up: what becomes of a row over which workers keep dying.
        """
        self._start, self._give_up = start, give_up
        self._engine: Engine | None = None
        self._pieces: list[Piece] = []
        """Pieces that are to be given out, the next one last."""
        self._out = 0

    @property
    def room(self) -> int:
        """How many pieces are worth holding at a time."""
        return 1 if self._engine is None else self._engine.capacity + IN_HAND

    def add(self, piece: Piece) -> None:
        """Takes a piece; it is given out behind those that wait already."""
        self._pieces.insert(0, piece)

    def ended(self) -> tuple[Piece, Sequence[Any]] | None:
        """Waits for one piece to come to an end; none where nothing is out or it has to be given out again.

        Raises:
            VerifierError: workers cannot be kept alive.
        """
        if self._pieces and self._engine is None:
            self._engine = self._start()
        while self._engine is not None and self._pieces and self._out < self._engine.capacity:
            self._engine.submit(self._pieces.pop())
            self._out += 1
        if self._engine is None or not self._out:
            return None
        ended = self._engine.wait()
        self._out -= 1
        if isinstance(ended, Died):
            return self._again(replace(ended.piece, deaths=ended.piece.deaths + 1), ended.reason)
        return ended.piece, ended.results

    def _again(self, piece: Piece, reason: str) -> tuple[Piece, Sequence[Any]] | None:
        if len(piece.rows) > 1 and piece.deaths >= DEATHS_WHOLE:
            half = len(piece.rows) // 2
            first = Piece(piece.partition, piece.begin, piece.rows[:half])
            self._pieces += [Piece(piece.partition, piece.begin + half, piece.rows[half:]), first]
        elif len(piece.rows) == 1 and piece.deaths >= DEATHS_ROW:
            return piece, [self._give_up(piece.rows[0], f"{reason}, {piece.deaths} times in a row")]
        else:
            self._pieces.append(piece)
        return None

    def close(self) -> None:
        """Ends the workers; what they have in hand is dropped. May be called again."""
        if self._engine is not None:
            self._engine.close()
