"""Rows for batches, and an engine whose workers die when the test says so."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.batch.engines import Died, Done
from assay.batch.values import CHECKED, Piece, RawRow, RowResult

LEAVE = "Partners are entitled to 2 weeks of paid leave."


def record(number: int, **more: Any) -> dict[str, Any]:
    """A row whose answer is right where its number is odd."""
    weeks, label = (2, "supported") if number % 2 else (4, "contradicted")
    told = {"id": f"r{number}", "evidence": [LEAVE], "answer": f"Partners get {weeks} weeks of paid leave."}
    return {**told, "label": label, **more}


def write_lines(path: Path, records: Sequence[Any]) -> Path:
    """A file of JSON Lines; a text stands as it is."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def raw_rows(count: int) -> Iterator[RawRow]:
    """Rows whose payload is their own line."""
    for number in range(1, count + 1):
        yield RawRow("rows.jsonl", number, "rows", "line", json.dumps(record(number)))


def result_of(row: RawRow) -> RowResult:
    """What the scripted engine says of a row."""
    return RowResult(row.source, row.position, row.set, f"r{row.position}", CHECKED, action="emit", verdict="supported")


class ScriptedEngine:
    """Takes pieces as a real engine does, and lets workers die by a script.

    Args:
        capacity: how many pieces at once.
        dies: of a piece, whether its worker dies over it this time.
        order: of the pieces in hand, which one ends next.
    """

    def __init__(self, capacity: int, dies: Callable[[Piece], bool], order: Callable[[int], int] = lambda _: 0) -> None:
        self._capacity, self._dies, self._order = capacity, dies, order
        self.judged: list[Piece] = []
        self.closed = False
        self._held: list[Piece] = []

    @property
    def capacity(self) -> int:
        return self._capacity

    def submit(self, piece: Piece) -> None:
        assert len(self._held) < self._capacity
        self._held.append(piece)

    def wait(self) -> Done | Died:
        piece = self._held.pop(self._order(len(self._held)))
        if self._dies(piece):
            return Died(piece, "the worker that judged it was ended by SIGKILL")
        self.judged.append(piece)
        return Done(piece, [result_of(row) for row in piece.rows])

    def close(self) -> None:
        self.closed = True
