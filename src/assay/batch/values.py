"""The values of a batch: raw rows, partitions of them, pieces of work, and results."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from assay.models import PairScorer

Form = Literal["line", "cells", "columns", "broken"]
"""The form of a raw row: a line of JSON, cells of CSV, columns of Parquet, Arrow or SQL, or `broken` if it could not be
read."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as it was read. It is parsed by the worker that judges it; the reader only cuts rows."""

    source: str
    """The file or query, as the caller named it."""
    position: int
    """Its line or row in the source, from 1."""
    set: str
    """The name of its set, used where the row itself names none."""
    form: Form
    payload: Any
    """The text of a line, a mapping of cells or columns, or the reason why the row is broken."""

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
    """A digest of the content of the rows, by which a resumed run notices that its input has changed."""

    @property
    def as_piece(self) -> "Piece":
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
    """Consecutive rows of a partition, which one worker judges together."""

    partition: int
    begin: int
    """The index of the first of them in the partition."""
    rows: tuple[Any, ...]
    """`RawRow` in a batch; in other work the chunks that it answers one by one."""
    deaths: int = 0
    """How many workers have died over it."""


class Work(Protocol):
    """The work of workers, as a picklable value."""

    @property
    def model(self) -> str | None:
        """The name of a shipped network or a folder; by default the network that the environment names."""
        ...

    @property
    def threads(self) -> int:
        """How many pairs one worker judges in parallel."""
        ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment variables of assay that the driver has, for workers on other machines."""
        ...

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Called once in each worker with its network: gives the function that answers the rows of a piece, one by one.

        Raises:
            AssayError: something that the work needs cannot be used, so no worker can do it.
        """
        ...


@dataclass(frozen=True, slots=True)
class BatchWork:
    """The work of a batch: a guard judges raw rows."""

    policy: str | None = None
    """The name of a preset or the path of a policy file; by default the policy that the environment names."""
    model: str | None = None
    """The name of a shipped network or a folder; by default the network that the environment names."""
    threads: int = 1
    """How many pairs one worker judges in parallel."""
    reports: bool = False
    """Whether whole reports are kept in the results."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The environment variables of assay that the driver has, for workers on other machines."""

    def begin(self, scorer: "PairScorer") -> Callable[[Any], list[Any]]:
        """Makes the guard.

        Raises:
            PolicyError: there is no such policy, or its file is invalid.
        """
        from assay.batch.judging import judge_rows
        from assay.config import Guard
        from assay.models import EmbeddedConflicts

        guard = Guard(self.policy, scorer=scorer, conflicts=EmbeddedConflicts(self.threads))
        return partial(judge_rows, guard, reports=self.reports)


CHECKED: Final = "checked"
REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True)
class RowResult:
    """The result of one row; each row has exactly one."""

    source: str
    position: int
    set: str
    id: str | None
    """None where the row could not be read."""
    status: str
    """`checked`, or `rejected` if it could not be checked."""
    reason: str | None = None
    """Why it was rejected."""
    digest: str | None = None
    """`Row.digest` of the row."""
    action: str | None = None
    """The decision on an answer; none for a row that is a single claim."""
    verdict: str | None = None
    score: float | None = None
    contradiction: float | None = None
    reasons: tuple[str, ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    label: str | None = None
    """The label that the row carries."""
    report: str | None = None
    """The whole report as JSON, where reports are kept."""


def rejected(row: RawRow, reason: str, row_id: str | None = None) -> RowResult:
    """The result of a row that cannot be checked.

    >>> rejected(RawRow("a.jsonl", 3, "a", "line", "{"), "not valid JSON").status
    'rejected'
    """
    return RowResult(row.source, row.position, row.set, row_id, REJECTED, reason)
