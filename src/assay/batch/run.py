"""Runs a batch: rows are cut into partitions, judged by an engine, and each partition is committed exactly once.

The driver alone reads and writes. The piece of a worker that dies is submitted again (`dispatch`). A row over which
workers keep dying is rejected with the reason. After the driver itself dies, the same command resumes: partitions whose
files exist are not judged again.
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
    part_name,
    read_parts,
    rejected_rows,
    write_part,
)
from assay.batch.values import Partition, Piece, RawRow, RowResult, partition_of, rejected
from assay.errors import InputError
from assay.evaluation.rows import write_file

FORMAT_VERSION: Final = 1
"""The version of the format of the files."""

Progress = Callable[[Totals], None]


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """The settings of a batch that decide its results and its files."""

    out: Path
    """The folder of the run; created if missing."""
    identity: Mapping[str, str]
    """Names and digests of verifier and policy, and whatever else a resumed run must share with the first."""
    rows: int = 500
    """The most rows of a partition."""
    characters: int = 8_000_000
    """A partition is closed as soon as its rows have this many characters."""


@dataclass(slots=True)
class _OpenPartition:
    """A partition of which pieces are still in flight."""

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
        settings: folder, identity and sizes.
        rows: all rows, in the same order as in a run that is resumed.
        engine: starts the engine; called when the first row has to be judged, never if all are done.
        progress: called with the totals of each partition that is done.

    Returns:
        The totals of all rows.

    Raises:
        InputError: a source or the folder cannot be read or written, the folder belongs to another batch, another
            process is at work in it, or the input has changed.
        VerifierError: workers cannot be kept alive.
        MissingPackageError: pyarrow is not installed.
    """
    parts = settings.out / PARTS
    _make_folder(parts)
    with _exclusive(settings.out):
        _check_identity(settings)
        done = read_parts(parts)
        partitions = partitions_of(rows, settings.rows, settings.characters)
        report_progress = progress if progress is not None else _no_progress
        committed = _Driver(parts, engine, report_progress).judge_all(_pending(partitions, done, report_progress))
        if not committed:
            raise InputError("no rows: what was named holds none")
        return _finish(settings, committed)


def partitions_of(rows: Iterable[RawRow], most_rows: int, characters: int) -> Iterator[Partition]:
    """Cuts rows into partitions, the same way for the same rows.

    Args:
        rows: in order.
        most_rows: the most rows of a partition.
        characters: a partition is closed as soon as its rows have this many.
    """
    rows_held: list[RawRow] = []
    size = number = 0
    for row in rows:
        rows_held.append(row)
        size += len(row.payload) if isinstance(row.payload, str) else len(str(row.payload))
        if len(rows_held) >= most_rows or size >= characters:
            yield partition_of(number, rows_held)
            rows_held, size, number = [], 0, number + 1
    if rows_held:
        yield partition_of(number, rows_held)


def _pending(
    partitions: Iterable[Partition], done: Mapping[int, Part], report_progress: Progress
) -> Iterator[Partition | Part]:
    """Each partition that has to be judged, and the part of each that is done already.

    Raises:
        InputError: a part was made of other rows than its partition has now, or there are parts beyond the last
            partition.
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
                f"{part_name(part.number)} was made of other rows than those that begin with "
                f"{partition.rows[0].where}: the input was changed since the run began; name another folder with --out"
            )
    if done and max(done) > last:
        raise InputError(f"{part_name(max(done))}: the input has no such rows any more; name another folder with --out")


class _Driver:
    """Keeps an engine busy, and commits a partition when all of its rows have results."""

    def __init__(self, parts: Path, start: Callable[[], Engine], progress: Progress) -> None:
        self._parts, self._progress = parts, progress
        self._dispatcher = Dispatcher(start, _reject_row)
        self._open: dict[int, _OpenPartition] = {}
        self._committed: dict[int, Part] = {}

    def judge_all(self, partitions: Iterator[Partition | Part]) -> Sequence[Part]:
        """Judges the partitions; returns all parts in order."""
        try:
            self._run(partitions)
        finally:
            self._dispatcher.close()
        return [self._committed[number] for number in sorted(self._committed)]

    def _run(self, partitions: Iterator[Partition | Part]) -> None:
        unread = True
        while unread or self._open:
            while unread and len(self._open) < self._dispatcher.window:
                partition = next(partitions, None)
                if partition is None:
                    unread = False
                elif isinstance(partition, Part):
                    self._committed[partition.number] = partition
                else:
                    self._open[partition.number] = _OpenPartition(partition)
                    self._dispatcher.add(partition.as_piece)
            if (answered := self._dispatcher.next_answered()) is not None:
                self._collect(*answered)

    def _collect(self, piece: Piece, results: Sequence[RowResult]) -> None:
        opened = self._open[piece.partition]
        opened.results.update(enumerate(results, piece.begin))
        if not opened.done:
            return
        ordered = [opened.results[place] for place in range(len(opened.partition.rows))]
        part = write_part(self._parts, opened.partition, ordered)
        self._committed[part.number] = part
        del self._open[piece.partition]
        self._progress(part.totals)


def _reject_row(row: RawRow, reason: str) -> RowResult:
    return rejected(row, f"{row.where}: {reason}")


def _finish(settings: BatchSettings, committed: Sequence[Part]) -> Totals:
    folder = settings.out / PARTS
    totals = sum((part.totals for part in committed), Totals())
    files = [
        {
            "file": f"{PARTS}/{part_name(part.number)}",
            "sha256": file_digest(folder / part_name(part.number)),
            "rows_digest": part.digest,
            "rows": part.totals.rows,
            "rejected": part.totals.rejected,
        }
        for part in committed
    ]
    lines = (json.dumps(row, ensure_ascii=True, default=str) + "\n" for row in rejected_rows(folder))
    write_file(settings.out / "rejected.jsonl", "".join(lines))
    write_file(
        settings.out / "summary.json", _json({"assay_batch": FORMAT_VERSION, **settings.identity, **summary_of(totals)})
    )
    write_file(
        settings.out / "manifest.json", _json({"assay_batch": FORMAT_VERSION, **settings.identity, "parts": files})
    )
    return totals


def summary_of(totals: Totals) -> dict[str, Any]:
    """The totals in the form in which they are written and printed."""
    summary: dict[str, Any] = {
        "rows": totals.rows,
        "checked": totals.rows - totals.rejected,
        "rejected": totals.rejected,
        "actions": dict(totals.actions),
        "verdicts": dict(totals.verdicts),
    }
    if totals.labelled:
        summary["labelled"] = {
            name: totals.labelled.get(name, 0) for name in ("honest", "honest_emitted", "wrong", "wrong_stopped")
        }
    return summary


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from error


def _check_identity(settings: BatchSettings) -> None:
    """Writes `run.json`, the identity of the batch, into the folder; where there is one, compares with it.

    Raises:
        InputError: the folder belongs to another batch.
    """
    path = settings.out / "run.json"
    expected = {
        "assay_batch": FORMAT_VERSION,
        **settings.identity,
        "partition_rows": settings.rows,
        "partition_characters": settings.characters,
    }
    try:
        recorded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        write_file(path, _json(expected))
        return
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(recorded, dict) or recorded != expected:
        before = recorded if isinstance(recorded, dict) else {}
        differ = [name for name in {**expected, **before} if before.get(name) != expected.get(name)]
        raise InputError(
            f"{settings.out}: holds the results of another batch ({', '.join(differ)} differ); "
            "name another folder with --out"
        )


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Holds a lock on the folder, so that no second driver works in it; it ends with the process."""
    path = folder / ".lock"
    with path.open("a") as stream:
        try:
            import fcntl
        except ImportError:  # Windows: two drivers would do the same work twice, without harm
            yield
            return
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another batch is at work in this folder") from error
        yield


def _no_progress(_: Totals) -> None:
    """Reports nothing."""
