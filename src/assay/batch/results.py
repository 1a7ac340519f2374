"""The files of a batch: one Parquet file for each partition, written whole or not at all, with its totals.

A partition is done when its file exists under its final name; there is no other record of it. The file carries the
digest of its rows and its totals in its metadata, so that a resumed run reads only the footers of the files.
"""

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.batch.values import CHECKED, Partition, RowResult
from assay.errors import InputError, MissingPackageError

PARTS: Final = "parts"
"""The folder of the Parquet files, below the folder of the run."""
_METADATA_KEY: Final = b"assay.partition"


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over some rows."""

    rows: int = 0
    rejected: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    """The number of answers by decision."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """The number of checked rows by verdict."""
    labelled: Mapping[str, int] = field(default_factory=dict)
    """The number of labelled answers that are `honest`, `honest_emitted`, `wrong` and `wrong_stopped`."""

    def __add__(self, other: "Totals") -> "Totals":
        """The totals of both together.

        >>> (Totals(2, 1, {"emit": 1}) + Totals(1, 0, {"emit": 1})).actions
        {'emit': 2}
        """
        return Totals(
            self.rows + other.rows,
            self.rejected + other.rejected,
            _sum(self.actions, other.actions),
            _sum(self.verdicts, other.verdicts),
            _sum(self.labelled, other.labelled),
        )


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(first) + Counter(second)).items()))


def totals_of(results: Iterable[RowResult]) -> Totals:
    """The totals of results."""
    rows, rejected = 0, 0
    actions: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for result in results:
        rows += 1
        if result.status != CHECKED:
            rejected += 1
            continue
        verdicts[str(result.verdict)] += 1
        if result.action is not None:
            actions[result.action] += 1
            if result.label is not None:
                labelled += _label_counts(result.label, result.action)
    return Totals(rows, rejected, _sum(actions, {}), _sum(verdicts, {}), _sum(labelled, {}))


def _label_counts(label: str, action: str) -> Counter[str]:
    emitted = action == "emit"
    if label == "supported":
        return Counter({"honest": 1, "honest_emitted": int(emitted)})
    return Counter({"wrong": 1, "wrong_stopped": int(not emitted)})


@dataclass(frozen=True, slots=True)
class Part:
    """A partition that is done."""

    number: int
    digest: str
    """`Partition.digest` of its rows."""
    totals: Totals


def part_name(number: int) -> str:
    """The name of the file of a partition.

    >>> part_name(7)
    'part-000007.parquet'
    """
    return f"part-{number:06d}.parquet"


def write_part(folder: Path, partition: Partition, results: Sequence[RowResult]) -> Part:
    """Commits a partition: its file appears whole, and is on disk when this returns.

    The same rows give the same bytes. Half of a surrogate pair, which an id may hold as an escape of JSON and a name of
    a file that is not UTF-8 holds, cannot be written as UTF-8; it is written as an escape.

    Raises:
        InputError: the file cannot be written.
        MissingPackageError: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    part = Part(partition.number, partition.digest, totals_of(results))
    schema = _schema(arrow).with_metadata({_METADATA_KEY: json.dumps(asdict(part), sort_keys=True).encode()})
    table = arrow.Table.from_pylist([_writable(asdict(one)) for one in results], schema=schema)
    path = folder / part_name(partition.number)
    temporary = folder / f".{path.name}.{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("wb") as stream:
            parquet.write_table(table, stream, compression="zstd")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(folder)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return part


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {name: _writable(part) for name, part in value.items()}
    return [_writable(part) for part in value] if isinstance(value, list | tuple) else value


def _sync_folder(folder: Path) -> None:
    """Flushes the entries of a folder to disk, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_parts(folder: Path) -> dict[int, Part]:
    """The partitions that are done, by number; temporary files of a killed writer are removed.

    Raises:
        InputError: a file is damaged, or is not the file of a partition.
        MissingPackageError: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    for leftover in folder.glob(".part-*.tmp"):
        leftover.unlink(missing_ok=True)
    parts: dict[int, Part] = {}
    for path in sorted(folder.glob("part-*.parquet")):
        try:
            header = json.loads((parquet.read_schema(path).metadata or {})[_METADATA_KEY])
            part = Part(header["number"], header["digest"], Totals(**header["totals"]))
        except (OSError, arrow.ArrowException, ValueError, KeyError, TypeError) as error:
            message = f"{path}: not the results of a partition ({error}); remove it, and its rows are judged again"
            raise InputError(message) from error
        if path.name != part_name(part.number):
            raise InputError(f"{path}: holds partition {part.number}; somebody renamed it: name it as it was")
        parts[part.number] = part
    return parts


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def rejected_rows(folder: Path) -> Iterable[Mapping[str, Any]]:
    """Source, position, id and reason of each rejected row, in the order of the rows."""
    _, parquet = _pyarrow()
    columns = ["source", "position", "set", "id", "reason"]
    for path in sorted(folder.glob("part-*.parquet")):
        yield from parquet.read_table(path, columns=columns, filters=[("status", "!=", CHECKED)]).to_pylist()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingPackageError(
            "a batch writes Parquet; install pyarrow with: pip install 'assay-ai[batch]'"
        ) from error
    return pa, parquet


def _schema(arrow: Any) -> Any:
    text, number, real = arrow.string(), arrow.int64(), arrow.float64()
    claim = arrow.struct(
        [
            ("text", text),
            ("start", number),
            ("end", number),
            ("verdict", text),
            ("score", real),
            ("critical", arrow.bool_()),
            ("issues", arrow.list_(text)),
        ]
    )
    return arrow.schema(
        [
            ("source", text),
            ("position", number),
            ("set", text),
            ("id", text),
            ("status", text),
            ("reason", text),
            ("digest", text),
            ("action", text),
            ("verdict", text),
            ("score", real),
            ("contradiction", real),
            ("reasons", arrow.list_(text)),
            ("claims", arrow.list_(claim)),
            ("label", text),
            ("report", text),
        ]
    )
