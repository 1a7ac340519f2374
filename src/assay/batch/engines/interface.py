"""The interface between a batch and the engine that runs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from assay.batch.values import Piece

MOST_FAILED_STARTS: Final = 3
"""How often in a row, for each worker, workers may end before one is ready; after that the work itself is at fault."""


@dataclass(frozen=True, slots=True)
class Done:
    """A piece was judged."""

    piece: Piece
    results: Sequence[Any]
    """One answer for each of its rows, in their order."""


@dataclass(frozen=True, slots=True)
class Died:
    """The worker that held a piece ended, or failed with an error that no row should cause."""

    piece: Piece
    reason: str


class Engine(Protocol):
    """Judges pieces, in any order. Another worker takes the place of one that dies."""

    @property
    def capacity(self) -> int:
        """How many pieces it takes before `wait` has to be called."""
        ...

    def submit(self, piece: Piece) -> None:
        """Hands over a piece; no more than `capacity` may be in flight."""
        ...

    def wait(self) -> Done | Died:
        """The next piece that has ended; blocks until there is one.

        Raises:
            VerifierError: workers cannot be kept alive, or cannot begin their work.
        """
        ...

    def close(self) -> None:
        """Ends the workers; the pieces that they hold are dropped. May be called again."""
        ...
