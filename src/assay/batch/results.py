"""The files of a batch: one Parquet file a partition, written whole or not at all, and what they sum up to.

A partition is done when its file stands under its name; nothing else says so. The file carries the digest of its rows
and its own totals in its metadata, so that a resumed run reads the ends of files only.
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
"""The folder of the results, below that of the run: what a reader of Parquet is pointed at."""
_KEY: Final = b"assay.partition"


@dataclass(frozen=True, slots=True)
class Totals:
    """What some rows sum up to."""

    rows: int = 0
    rejected: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    """Answers by the decision on them."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """Checked rows by verdict."""
    labelled: Mapping[str, int] = field(default_factory=dict)
    """Labelled answers: `honest`, `honest_emitted`, `wrong`, `wrong_stopped`."""

    def __add__(self, other: "Totals") -> "Totals":
        """Both together.

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


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(one) + Counter(other)).items()))


def totals_of(results: Iterable[RowResult]) -> Totals:
    """What results sum up to."""
    rows, rejected = 0, 0
    actions: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for one in results:
        rows += 1
        if one.status != CHECKED:
            rejected += 1
            continue
        verdicts[str(one.verdict)] += 1
        if one.action is not None:
            actions[one.action] += 1
            if one.label is not None:
                labelled += _by_label(one.label, one.action)
    return Totals(rows, rejected, _sum(actions, {}), _sum(verdicts, {}), _sum(labelled, {}))


def _by_label(label: str, action: str) -> Counter[str]:
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


def name_of(number: int) -> str:
    """The file of a partition.

    >>> name_of(7)
    'part-000007.parquet'
    """
    return f"part-{number:06d}.parquet"


def write_part(folder: Path, partition: Partition, results: Sequence[RowResult]) -> Part:
    """Commits a partition: its file appears whole, and is on the disk when this returns.

    The same rows give the same bytes.

    Raises:
        InputError: the file cannot be written.
        MissingPackageError: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    part = Part(partition.number, partition.digest, totals_of(results))
    schema = _schema(arrow).with_metadata({_KEY: json.dumps(asdict(part), sort_keys=True).encode()})
    table = arrow.Table.from_pylist([asdict(one) for one in results], schema=schema)
    path = folder / name_of(partition.number)
    temporary = folder / f".{path.name}.{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("wb") as stream:
            parquet.write_table(table, stream, compression="zstd")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _settle(folder)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return part


def _settle(folder: Path) -> None:
    """Brings the folder's entries to the disk, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_parts(folder: Path) -> dict[int, Part]:
    """The partitions that are done, by number; what a killed writer left behind is removed.

    Raises:
        InputError: a file of results was damaged or is of something else.
        MissingPackageError: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    for left in folder.glob(".part-*.tmp"):
        left.unlink(missing_ok=True)
    found: dict[int, Part] = {}
    for path in sorted(folder.glob("part-*.parquet")):
        try:
            header = json.loads((parquet.read_schema(path).metadata or {})[_KEY])
            part = Part(header["number"], header["digest"], Totals(**header["totals"]))
        except (OSError, arrow.ArrowException, ValueError, KeyError, TypeError) as error:
            message = f"{path}: not the results of a partition ({error}); remove it, and its rows are judged again"
            raise InputError(message) from error
        if path.name != name_of(part.number):
            raise InputError(f"{path}: holds partition {part.number}; somebody renamed it: name it as it was")
        found[part.number] = part
    return found


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
