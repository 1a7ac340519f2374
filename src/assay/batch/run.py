"""A batch from its rows to its files: cut into partitions, judged by an engine, committed each exactly once.

The driver alone reads and writes. A worker that dies loses the piece that it had in hand; the piece is given out again
(`dispatch`). A row over which workers keep dying is rejected with the reason. A driver that dies is started again with
the same command and goes on behind the partitions whose files stand.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.batch.dispatch import Dispatcher
from assay.batch.engines import Engine
from assay.batch.results import (
    PARTS,
    Part,
    Totals,
    file_digest,
    name_of,
    read_parts,
    rejected_rows,
    write_part,
)
from assay.batch.values import Partition, Piece, RawRow, RowResult, partition_of, rejected
from assay.errors import InputError
from assay.evaluation.rows import write_file

FORM: Final = 1
"""The version of the files' form."""

Progress = Callable[[Totals], None]


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """What of a batch decides about its results and its files."""

    out: Path
    """The folder of the run; made where it is missing."""
    identity: Mapping[str, str]
    """Names and digests of what judges, and whatever else a resumed run must have in common with the first."""
    rows: int = 500
    """Rows of a partition, at most."""
    characters: int = 8_000_000
    """Characters of its rows from which a partition is closed."""


@dataclass(slots=True)
class _Open:
    """A partition of which pieces are still out."""

    partition: Partition
    results: dict[int, RowResult] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return len(self.results) == len(self.partition.rows)


def run_batch(
    settings: BatchSettings, rows: Iterable[RawRow], engine: Callable[[], Engine], progress: Progress | None = None
) -> Totals:
    """Judges all rows and writes `parts/`, `manifest.json`, `summary.json` and `rejected.jsonl`.

    Args:
        settings: where, and by what.
        rows: all of them, in the same order as in the run that is resumed.
        engine: starts the engine; called when the first row has to be judged, and never where all are done.
        progress: called with the totals of each partition that is done.

    Returns:
        The totals of all rows.

    Raises:
        InputError: a source or the folder cannot be read or written, the folder is that of another batch, somebody
            else is at work in it, or its input was changed.
        VerifierError: workers cannot be kept alive.
        MissingPackageError: pyarrow is not installed.
    """
    parts = settings.out / PARTS
    _make(parts)
    with _alone(settings.out):
        _identify(settings)
        done = read_parts(parts)
        partitions = partitions_of(rows, settings.rows, settings.characters)
        report_progress = progress if progress is not None else _quiet
        committed = _Judging(parts, engine, report_progress).all_of(_waiting(partitions, done, report_progress))
        if not committed:
            raise InputError("no rows: what was named holds none")
        return _finish(settings, committed)


def partitions_of(rows: Iterable[RawRow], most: int, characters: int) -> Iterator[Partition]:
    """Cuts rows into partitions, the same way for the same rows.

    Args:
        rows: in order.
        most: rows of a partition.
        characters: from which it is closed before it is full.
    """
    held: list[RawRow] = []
    size = number = 0
    for row in rows:
        held.append(row)
        size += len(row.payload) if isinstance(row.payload, str) else len(str(row.payload))
        if len(held) >= most or size >= characters:
            yield partition_of(number, held)
            held, size, number = [], 0, number + 1
    if held:
        yield partition_of(number, held)


def _waiting(
    partitions: Iterable[Partition], done: Mapping[int, Part], report_progress: Progress
) -> Iterator[Partition | Part]:
    """Each partition, or the part where it is done already.

    Raises:
        InputError: a part is of other rows than those of the partition, or there are parts beyond the last one.
    """
    last = -1
    for partition in partitions:
        last = partition.number
        part = done.get(partition.number)
        if part is None:
            yield partition
        elif part.digest == partition.digest:
            report_progress(part.totals)
            yield part
        else:
            raise InputError(
                f"{name_of(part.number)} was made of other rows than those that begin with {partition.rows[0].where}: "
                "the input was changed since the run began; name another folder with --out"
            )
    if done and max(done) > last:
        raise InputError(f"{name_of(max(done))}: the input has no such rows any more; name another folder with --out")


class _Judging:
    """Keeps an engine busy and commits what comes back."""

    def __init__(self, parts: Path, start: Callable[[], Engine], progress: Progress) -> None:
        self._parts, self._progress = parts, progress
        self._dispatcher = Dispatcher(start, _rejected)
        self._open: dict[int, _Open] = {}
        self._committed: dict[int, Part] = {}

    def all_of(self, partitions: Iterator[Partition | Part]) -> Sequence[Part]:
        """Judges the partitions, and gives all parts in their order."""
        try:
            self._run(partitions)
        finally:
            self._dispatcher.close()
        return [self._committed[number] for number in sorted(self._committed)]

    def _run(self, partitions: Iterator[Partition | Part]) -> None:
        more = True
        while more or self._open:
            while more and len(self._open) < self._dispatcher.room:
                one = next(partitions, None)
                if one is None:
                    more = False
                elif isinstance(one, Part):
                    self._committed[one.number] = one
                else:
                    self._open[one.number] = _Open(one)
                    self._dispatcher.add(one.whole)
            if (ended := self._dispatcher.ended()) is not None:
                self._keep(*ended)

    def _keep(self, piece: Piece, results: Sequence[RowResult]) -> None:
        opened = self._open[piece.partition]
        opened.results.update(enumerate(results, piece.begin))
        if not opened.done:
            return
        ordered = [opened.results[place] for place in range(len(opened.partition.rows))]
        part = write_part(self._parts, opened.partition, ordered)
        self._committed[part.number] = part
        del self._open[piece.partition]
        self._progress(part.totals)


def _rejected(row: RawRow, reason: str) -> RowResult:
    return rejected(row, f"{row.where}: {reason}")


def _finish(settings: BatchSettings, committed: Sequence[Part]) -> Totals:
    folder = settings.out / PARTS
    totals = sum((part.totals for part in committed), Totals())
    files = [
        {
            "file": f"{PARTS}/{name_of(one.number)}",
            "sha256": file_digest(folder / name_of(one.number)),
            "rows_digest": one.digest,
            "rows": one.totals.rows,
            "rejected": one.totals.rejected,
        }
        for one in committed
    ]
    lines = (json.dumps(one, ensure_ascii=True, default=str) + "\n" for one in rejected_rows(folder))
    write_file(settings.out / "rejected.jsonl", "".join(lines))
    write_file(settings.out / "summary.json", _json({"assay_batch": FORM, **settings.identity, **summary_of(totals)}))
    write_file(settings.out / "manifest.json", _json({"assay_batch": FORM, **settings.identity, "parts": files}))
    return totals


def summary_of(totals: Totals) -> dict[str, Any]:
    """The totals as they are written and printed."""
    found: dict[str, Any] = {
        "rows": totals.rows,
        "checked": totals.rows - totals.rejected,
        "rejected": totals.rejected,
        "actions": dict(totals.actions),
        "verdicts": dict(totals.verdicts),
    }
    if totals.labelled:
        found["labelled"] = {
            name: totals.labelled.get(name, 0) for name in ("honest", "honest_emitted", "wrong", "wrong_stopped")
        }
    return found


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from error


def _identify(settings: BatchSettings) -> None:
    """Says in the folder what its results are of, or compares with what it says.

    Raises:
        InputError: it is the folder of another batch.
    """
    path = settings.out / "run.json"
    wanted = {
        "assay_batch": FORM,
        **settings.identity,
        "partition_rows": settings.rows,
        "partition_characters": settings.characters,
    }
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        write_file(path, _json(wanted))
        return
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict) or found != wanted:
        differ = [name for name in wanted if not isinstance(found, dict) or found.get(name) != wanted[name]]
        raise InputError(
            f"{settings.out}: holds the results of another batch ({', '.join(differ) or 'further settings'} differ); "
            "name another folder with --out"
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps a second driver out of the folder, for as long as this process lives."""
    path = folder / ".lock"
    with path.open("a") as stream:
        try:
            import fcntl
        except ImportError:  # not on Windows, where two drivers would do the same work twice and harm nothing
            yield
            return
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another batch is at work in this folder") from error
        yield


def _quiet(_: Totals) -> None:
    """Tells nobody."""
