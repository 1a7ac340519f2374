"""Reads the rows of an evaluation set: JSON Lines (also gzipped), CSV and Parquet, by file ending.

A row is `{"id", "evidence": [str | {...}], "claim" or "answer", "question"?, "label"?, "spans"?, "signals"?,
"meta"?}`, with `set` beside it where the file holds more than one set. `signals` are measurements from when the
output was generated: `entropy` of its tokens, and `consistency` over repeated answers, each from 0 to 1. Unknown names
are refused, so that a misspelt `lable` cannot turn a labelled set into an unlabelled one; `split` and `response_id` are
known and carried in `meta`.
"""

import csv
import gzip
import hashlib
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from pydantic import ValidationError

from assay.errors import InputError
from assay.evaluation.rows.labels import LABELS, read_label
from assay.schema import Evidence

if TYPE_CHECKING:
    from assay.evaluation.rows.elsewhere.translate import Translation

_FIELDS: Final = frozenset(
    {
        "id",
        "set",
        "split",
        "response_id",
        "evidence",
        "claim",
        "answer",
        "question",
        "label",
        "spans",
        "signals",
        "meta",
    }
)
_JSON_COLUMNS: Final = ("spans", "signals", "meta")
"""Columns of a CSV file that hold JSON; `evidence` does too if it starts with a bracket."""
SIGNALS: Final = ("entropy", "consistency")
"""Signals that can only be measured where an output is generated; no check can compute them afterwards."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an evaluation set."""

    set: str
    """The name of its set: the field `set`, else the name of the file."""
    id: str
    """Its name within the set."""
    evidence: tuple[Evidence, ...]
    text: str
    """The claim or the answer."""
    whole: bool
    """True for a claim, which is judged whole; false for an answer, which is split into claims first."""
    question: str | None = None
    label: str | None = None
    """One of `LABELS`; none for a row without a label."""
    spans: tuple[tuple[int, int], ...] | None = None
    """The spans of wrong characters in the text, if the set marks them; an empty tuple means that none are wrong."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The `SIGNALS` that were measured when the output was generated."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    place: tuple[str, int] | None = field(default=None, compare=False)
    """The file from which it was read, and its line or number in the file."""

    @property
    def wrong(self) -> bool:
        """Whether the label is anything but `supported`."""
        return self.label is not None and self.label != "supported"

    @property
    def document(self) -> str:
        """A digest of the evidence: rows with the same evidence are not independent."""
        return _digest([[piece.id, piece.text] for piece in self.evidence])

    @property
    def digest(self) -> str:
        """A digest of everything that a verdict depends on, by which a result is found again after a restart."""
        evidence = [piece.model_dump(mode="json") for piece in self.evidence]
        signals = [dict(self.signals)] if self.signals else []  # none leaves the digests of earlier runs as they were
        return _digest([self.set, self.id, evidence, self.text, self.whole, self.question, *signals])


def _digest(value: object) -> str:
    canonical = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:32]


def read_rows(path: Path, translation: "Translation | None" = None) -> Iterator[Row]:
    """Yields the rows of one file in order.

    Args:
        path: ends in `.jsonl`, `.jsonl.gz`, `.ndjson`, `.json` (a list), `.csv`, `.csv.gz` or `.parquet`.
        translation: how its records become rows, if another tool wrote it.

    Raises:
        InputError: the file is missing or has another ending, a line is not a row (the message names file and
            line), or Parquet support is not installed.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; an evaluation set is a .jsonl, .jsonl.gz, .csv or .parquet file")
    name = path.name.lower().removesuffix(".gz")
    empty = True
    records = _records(path, name) if translation is None else translation.records(path, _foreign_records(path, name))
    for number, record in records:
        empty = False
        where = f"{path}, {'row' if name.endswith('.parquet') else 'line'} {number}"
        yield replace(parse_row(record, where, _set_name(path)), place=(str(path), number))
    if empty:
        raise InputError(f"{path}: holds no rows; expected at least one")


def record_of_line(line: str, where: str) -> Mapping[str, Any]:
    """The record of one line of JSON Lines.

    Raises:
        InputError: it is not a JSON object; the message begins with `where`.
    """
    return _object(_json(line, where), where)


def _set_name(path: Path) -> str:
    return path.name.split(".")[0] or path.name


def _records(path: Path, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if name.endswith((".jsonl", ".ndjson")):
        return _json_lines(path)
    if name.endswith(".json"):
        return _json_list(path)
    if name.endswith(".csv"):
        return _csv_records(path)
    if name.endswith(".parquet"):
        return _parquet_records(path)
    raise InputError(f"{path}: unknown file ending; expected .jsonl, .jsonl.gz, .json, .csv, .csv.gz or .parquet")


def _foreign_records(path: Path, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of another tool, not normalised: CSV cells stay text, and a JSON file may be one object."""
    if name.endswith(".csv"):
        return _csv_cells(path)
    if name.endswith(".json"):
        return json_objects(path)
    return _records(path, name) if not name.endswith(".parquet") else _parquet_records(path, foreign=True)


def json_objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSON Lines file or a JSON list, or the single one of a JSON file, each with its line or number.

    Raises:
        InputError: the file cannot be read, or holds other values.
    """
    if path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        yield from _json_lines(path)
        return
    value = _json("".join(line for _, line in _lines(path)), str(path))
    listed = value if isinstance(value, list) else [value]
    for number, record in enumerate(listed, 1):
        yield number, _object(record, f"{path}, row {number}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with cast(
            "IO[bytes]", gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")
        ) as stream:
            for raw in stream:
                number += 1
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte {error.start} of the line is 0x{error.object[error.start]:02x}"
        raise InputError(f"{path}, line {number}: not UTF-8 text, {byte}; save the file as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read after line {number}: {error}") from error


def _json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in _lines(path):
        if line.strip():
            yield number, record_of_line(line, f"{path}, line {number}")


def _json_list(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    value = _json("".join(line for _, line in _lines(path)), str(path))
    if not isinstance(value, list):
        raise InputError(f"{path}: expected a JSON list of rows, got {_type_name(value)}; one object a line is .jsonl")
    for number, record in enumerate(value, 1):
        yield number, _object(record, f"{path}, row {number}")


def _csv_records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, cells in _csv_cells(path):
        yield number, record_of_cells(cells, f"{path}, line {number}")


def _csv_cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    last = ""

    def lines() -> Iterator[str]:
        nonlocal last
        for _, last in _lines(path):
            yield last

    reader = csv.reader(lines(), strict=True)
    try:
        records = (record for record in reader if not is_blank(record, last))
        header = next(records, [])
        require_unique(header)
        for record in records:
            where = f"{path}, line {reader.line_num}"
            if len(record) != len(header):
                raise InputError(f"{where}: has {len(record)} columns, the header names {len(header)}")
            yield reader.line_num, dict(zip(header, record, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not valid CSV: {error}") from error


def is_blank(cells: Sequence[str], line: str) -> bool:
    """Whether a record of CSV is a blank line, which is no row, as in JSON Lines.

    Args:
        cells: the record.
        line: its last line as written: an empty cell in quotation marks is a cell.

    >>> is_blank([], ""), is_blank([" "], " "), is_blank([""], '""'), is_blank(["", ""], ",")
    (True, True, False, False)
    """
    return not cells or (len(cells) == 1 and not line.strip())


def require_unique(header: Sequence[str]) -> None:
    """Refuses a CSV header that names a column twice, because all but one of such columns would be lost.

    Raises:
        csv.Error: a column is named twice.

    >>> require_unique(["id", "evidence", "evidence"])
    Traceback (most recent call last):
    _csv.Error: the header names the column 'evidence' twice; give each column a name of its own
    """
    repeated = next((name for name, count in Counter(header).items() if name and count > 1), None)
    if repeated is not None:
        raise csv.Error(f"the header names the column {repeated!r} twice; give each column a name of its own")


def record_of_cells(cells: Mapping[str, str], where: str) -> dict[str, Any]:
    """The record of one row of CSV: empty cells are dropped; evidence is one passage unless it is a JSON list.

    Raises:
        InputError: a column that should hold JSON does not; the message begins with `where`.
    """
    record: dict[str, Any] = {name: cell for name, cell in cells.items() if cell != "" or name == "evidence"}
    for name in _JSON_COLUMNS:
        if name in record:
            record[name] = _json(record[name], f"{where}, column {name}")
    evidence = record.get("evidence")
    if isinstance(evidence, str):
        is_list = evidence.lstrip().startswith("[")
        record["evidence"] = _json(evidence, f"{where}, column evidence") if is_list else [evidence]
    return record


def _parquet_records(path: Path, *, foreign: bool = False) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        import pyarrow.parquet as parquet
        from pyarrow import ArrowException
    except ImportError as error:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow; install it with: pip install 'assay-ai[parquet]'"
        ) from error
    number = 0
    try:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1024):
            for record in decoded(batch):
                number += 1
                where = f"{path}, row {number}"
                if isinstance(record, str):
                    raise InputError(f"{where}: {record}")
                yield number, record if foreign else record_of_columns(record, where)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from error


def decoded(batch: Any) -> list[dict[str, Any] | str]:
    """The records of a batch of Arrow; in place of a record that cannot be decoded, the reason.

    Arrow checks cells only when they become values of Python: text need not be UTF-8 until then, nor a moment lie in a
    year that Python knows. Then each row is decoded alone, so that one cell costs one row.
    """
    try:
        return list(batch.to_pylist())
    except (ValueError, ArithmeticError, LookupError) as error:
        if batch.num_rows == 1:
            return [f"cannot be decoded: {error}"]
        return [record for at in range(batch.num_rows) for record in decoded(batch.slice(at, 1))]


def record_of_columns(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record of one row of Parquet, Arrow or SQL.

    Nulls are dropped; `meta` may be a struct or JSON text; fields of evidence structs may be null.

    Raises:
        InputError: a column that should hold JSON does not; the message begins with `where`.
    """
    record_read = {name: value for name, value in record.items() if value is not None}
    for name in (*_JSON_COLUMNS, "evidence"):
        value = record_read.get(name)
        if isinstance(value, str) and (name != "evidence" or value.lstrip().startswith("[")):
            record_read[name] = _json(value, f"{where}, column {name}")
    evidence = record_read.get("evidence")
    if isinstance(evidence, str):
        record_read["evidence"] = [evidence]
    elif isinstance(evidence, list):
        record_read["evidence"] = [
            {k: v for k, v in piece.items() if v is not None} if isinstance(piece, dict) else piece
            for piece in evidence
        ]
    return record_read


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object, got {_type_name(value)}")
    return value


def _type_name(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def parse_row(record: Mapping[str, Any], where: str, set_name: str) -> Row:
    """Makes a row from one record.

    Args:
        record: the fields as they were read.
        where: file and line, for the message.
        set_name: the name of the set if the record has none.

    Raises:
        InputError: a field is missing, unknown or invalid.
    """
    unknown = sorted(set(record) - _FIELDS)
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    text, whole = _text(record, where)
    label = None if record.get("label") is None else read_label(record["label"])
    if label is None and record.get("label") is not None:
        raise InputError(
            f"{where}: label is {record['label']!r:.80}; expected one of {', '.join(LABELS)}, or of 0, 1, true, false, "
            "pass and fail, or no label"
        )
    question = record.get("question")
    if question is not None and not isinstance(question, str):
        raise InputError(f"{where}: question should be text, got {_type_name(question)}")
    if "id" not in record or isinstance(record["id"], (dict, list, bool, float)) or record["id"] in ("", None):
        raise InputError(f"{where}: id should be text or a whole number, got {_type_name(record.get('id'))}")
    row_set = record.get("set", set_name)
    if not isinstance(row_set, str) or not row_set:
        raise InputError(f"{where}: set should be text, got {_type_name(row_set)}")
    return Row(
        set=row_set,
        id=str(record["id"]),
        evidence=_evidence(record.get("evidence"), where),
        text=text,
        whole=whole,
        question=question,
        label=label,
        spans=_spans(record.get("spans"), len(text), where),
        signals=_signals(record.get("signals"), where),
        meta=_meta(record, where),
    )


def _text(record: Mapping[str, Any], where: str) -> tuple[str, bool]:
    names = [name for name in ("claim", "answer") if record.get(name) is not None]
    if len(names) != 1:
        raise InputError(f"{where}: expected exactly one of claim and answer, got {' and '.join(names) or 'neither'}")
    text = record[names[0]]
    if not isinstance(text, str) or not text.strip():
        got = "empty text" if isinstance(text, str) else _type_name(text)
        raise InputError(f"{where}: {names[0]} should be text, got {got}")
    return text, names[0] == "claim"


def _evidence(value: object, where: str) -> tuple[Evidence, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where}: evidence should be a list of texts or objects, got {_type_name(value)}")
    return tuple(
        make_evidence(piece, f"e{index}", f"{where}, evidence {index}") for index, piece in enumerate(value, 1)
    )


def make_evidence(piece: object, name: str, where: str) -> Evidence:
    """One piece of evidence from text or from an object with the fields of `Evidence`.

    Args:
        piece: text or a mapping.
        name: the id of a piece that has none.
        where: its place, for the message.

    Raises:
        InputError: it is neither, or a field is invalid.
    """
    if isinstance(piece, str):
        return Evidence(id=name, text=piece)
    if not isinstance(piece, dict):
        raise InputError(f"{where}: expected text or an object with id and text, got {_type_name(piece)}")
    try:
        return Evidence.model_validate({"id": name, **piece})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{where}: {place}: {first['msg']}; known fields are {', '.join(Evidence.model_fields)}"
        ) from error


def _spans(value: object, length: int, where: str) -> tuple[tuple[int, int], ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise InputError(f"{where}: spans should be a list of [start, end], got {_type_name(value)}")
    return tuple(_span(span, length, where) for span in value)


def _span(span: object, length: int, where: str) -> tuple[int, int]:
    whole = isinstance(span, Sequence) and len(span) == 2 and all(type(end) is int for end in span)
    if not whole:
        raise InputError(f"{where}: a span should be [start, end] in characters, got {span!r}")
    start, end = cast("Sequence[int]", span)
    if not 0 <= start < end <= length:
        raise InputError(f"{where}: span [{start}, {end}] does not lie in the text, which has {length} characters")
    return start, end


def _signals(value: object, where: str) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not set(value) <= set(SIGNALS):
        raise InputError(f"{where}: signals should be an object with {' and '.join(SIGNALS)}, got {value!r:.80}")
    # Parquet gives every row every field of a struct, empty where it has no value.
    signals = {name: number for name, number in sorted(value.items()) if number is not None}
    for name, number in signals.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
            raise InputError(f"{where}: the signal {name} should be a number from 0 to 1, got {number!r:.80}")
    return {name: float(number) for name, number in signals.items()}


def _meta(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    meta = record.get("meta") or {}
    if not isinstance(meta, dict):
        raise InputError(f"{where}: meta should be an object, got {_type_name(meta)}")
    return {**{key: record[key] for key in ("split", "response_id") if record.get(key) is not None}, **meta}
