"""The seam between a batch and what runs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from assay.batch.values import Piece

STARTS: Final = 3
"""How many workers in a row may end before they are ready; then something is wrong with all of them."""


@dataclass(frozen=True, slots=True)
class Done:
    """A piece was judged."""

    piece: Piece
    results: Sequence[Any]
    """One answer for each of its rows, in their order."""


@dataclass(frozen=True, slots=True)
class Died:
    """The worker that had a piece ended over it, or failed in a way that no row should make it fail."""

    piece: Piece
    reason: str


class Engine(Protocol):
    """Judges pieces, in any order. Another worker takes the place of one that dies."""

    @property
    def capacity(self) -> int:
        """How many pieces it takes before one has to be waited for."""
        ...

    def submit(self, piece: Piece) -> None:
        """Hands over a piece; no more than `capacity` are handed over and not waited for."""
        ...

    def wait(self) -> Done | Died:
        """The next piece that has come to an end.

        Raises:
            VerifierError: workers cannot be kept alive, or cannot begin their work.
        """
        ...

    def close(self) -> None:
        """Ends the workers; what they have in hand is dropped. May be called again."""
        ...
