"""What is handed about in a batch: raw rows, partitions of them, pieces of work, and results."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from assay.models import PairScorer

Form = Literal["line", "cells", "columns", "broken"]
"""How a row was written: a line of JSON, cells of CSV, columns of Parquet, Arrow or SQL; or it could not be read."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as it was read; parsed where it is judged, so that the reader only cuts."""

    source: str
    """The file or query, as it was given."""
    position: int
    """Its line or row there, from 1."""
    set: str
    """The name of its set where the row itself names none."""
    form: Form
    payload: Any
    """Text of a line, a mapping of cells or columns, or of a broken row the reason."""

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"{self.source}, {'line' if self.form in {'line', 'cells'} else 'row'} {self.position}"


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows that are committed together."""

    number: int
    """From 0, in the order of reading."""
    rows: tuple[RawRow, ...]
    digest: str
    """Names the content of the rows, so that a resumed run notices that its input was changed."""

    @property
    def whole(self) -> "Piece":
        """All of its rows as one piece of work."""
        return Piece(self.number, 0, self.rows)


def partition_of(number: int, rows: Sequence[RawRow]) -> Partition:
    """A partition of rows in their order.

    >>> row = RawRow("a.jsonl", 1, "a", "line", "{}")
    >>> partition_of(0, [row]).digest == partition_of(1, [row]).digest
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for row in rows:
        digest.update(repr((row.source, row.position, row.set, row.form, row.payload)).encode("utf-8", "surrogatepass"))
    return Partition(number, tuple(rows), digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring rows of a partition, which one worker judges in one go."""

    partition: int
    begin: int
    """The place of the first of them in the partition."""
    rows: tuple[Any, ...]
    """Of a batch `RawRow`; of other work whatever it has to answer one by one."""
    deaths: int = 0
    """How many workers have died over it."""

    @property
    def key(self) -> tuple[int, int, int]:
        """Tells it from every other piece."""
        return self.partition, self.begin, len(self.rows)


class Work(Protocol):
    """What workers do; a picklable value."""

    @property
    def model(self) -> str | None:
        """A shipped network's name or a folder; what the environment says by default."""
        ...

    @property
    def threads(self) -> int:
        """How many pairs one worker judges at once."""
        ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables of assay that the driver has, for workers on other machines."""
        ...

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Called once in each worker with its network: gives what answers the rows of a piece, each with one answer.

        Raises:
            AssayError: what the work needs cannot be used; no worker can do it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """The work of a batch: rows as they were read are judged by a guard."""

    policy: str | None = None
    """A preset's name or the path of a policy file; what the environment says by default."""
    model: str | None = None
    """A shipped network's name or a folder; what the environment says by default."""
    threads: int = 1
    """How many pairs one worker judges at once."""
    reports: bool = False
    """Whether whole reports are kept."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The variables of assay that the driver has, for workers on other machines."""

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Makes the guard.

        Raises:
            PolicyError: there is no such policy, or what its file says is wrong.
        """
        from assay.batch.judging import judge_rows
        from assay.config import Guard

        return partial(judge_rows, Guard(self.policy, scorer=scorer), reports=self.reports)


CHECKED: Final = "checked"
REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of one row; it has one result, whatever happens."""

    source: str
    position: int
    set: str
    id: str | None
    """None where the row could not be read."""
    status: str
    """`checked`, or `rejected` where it could not be."""
    reason: str | None = None
    """Why it was rejected."""
    digest: str | None = None
    """`Row.digest` of the row."""
    action: str | None = None
    """The decision on an answer; none for a claim that is judged by itself."""
    verdict: str | None = None
    score: float | None = None
    contradiction: float | None = None
    reasons: tuple[str, ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    label: str | None = None
    """The label that the row carries."""
    report: str | None = None
    """The whole report as JSON, where it was asked for."""


def rejected(row: RawRow, reason: str, row_id: str | None = None) -> RowResult:
    """The result of a row that cannot be checked.

    >>> rejected(RawRow("a.jsonl", 3, "a", "line", "{"), "not valid JSON").status
    'rejected'
    """
    return RowResult(row.source, row.position, row.set, row_id, REJECTED, reason)
