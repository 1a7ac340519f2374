"""Rows of JSON Lines and CSV, cut from a stream of bytes of any length."""

import csv
import sys
from collections.abc import Iterator
from typing import IO, Final

from assay.batch.values import RawRow
from assay.evaluation.rows.reading import is_blank, require_unique

MAX_ROW_BYTES: Final = 16 * 1024 * 1024
"""The longest row that is read; a longer one is rejected without being held in memory."""
_BLOCK: Final = 1024 * 1024


def json_lines(stream: IO[bytes], source: str, name: str) -> Iterator[RawRow]:
    """The rows of JSON Lines; a line that is not UTF-8 or is too long becomes a broken row, and reading goes on.

    >>> import io
    >>> [row.position for row in json_lines(io.BytesIO(b'{"id": 1}\\n\\n{"id": 2}'), "a.jsonl", "a")]
    [1, 3]
    """
    for number, raw in _lines(stream):
        if isinstance(raw, str):
            yield RawRow(source, number, name, "broken", f"{source}, line {number}: {raw}")
        elif raw.strip():
            yield _line(raw, source, name, number)


def _line(raw: bytes, source: str, name: str, number: int) -> RawRow:
    try:
        return RawRow(source, number, name, "line", raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        byte = f"byte {error.start} of the line is 0x{raw[error.start]:02x}"
        message = f"{source}, line {number}: not UTF-8 text, {byte}; save the file as UTF-8"
        return RawRow(source, number, name, "broken", message)


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | str]]:
    number = 0
    while raw := stream.readline(MAX_ROW_BYTES + 1):
        number += 1
        if len(raw) <= MAX_ROW_BYTES:
            yield number, raw
            continue
        while not raw.endswith(b"\n") and (raw := stream.readline(_BLOCK)):
            pass
        yield number, f"the row is longer than {MAX_ROW_BYTES:,} bytes, which is the most that is read of one"


def csv_rows(stream: IO[bytes], source: str, name: str) -> Iterator[RawRow]:
    """The rows of CSV with a header; a row with too many or too few columns becomes a broken row, a blank line none.

    CSV that cannot be cut into rows any further (an open quotation, text of another encoding) ends with one broken row.
    """
    csv.field_size_limit(min(sys.maxsize, MAX_ROW_BYTES))
    size, last = 0, ""

    def texts() -> Iterator[str]:
        nonlocal size, last
        for number, raw in _lines(stream):
            size += len(raw)
            if size > MAX_ROW_BYTES:
                raise csv.Error(f"a row is longer than {MAX_ROW_BYTES:,} bytes, which is the most that is read of one")
            last = _text(raw, number)
            yield last

    reader = csv.reader(texts(), strict=True)
    try:
        header = next((cells for cells in reader if not is_blank(cells, last)), [])
        require_unique(header)
        size = 0
        for cells in reader:
            size, number = 0, reader.line_num
            if is_blank(cells, last):
                continue
            if len(cells) == len(header):
                yield RawRow(source, number, name, "cells", dict(zip(header, cells, strict=True)))
            else:
                message = f"has {len(cells)} columns, the header names {len(header)}"
                yield RawRow(source, number, name, "broken", f"{source}, line {number}: {message}")
    except (csv.Error, UnicodeDecodeError) as error:
        message = f"{source}, line {reader.line_num}: not valid CSV, and nothing behind it can be read: {error}"
        yield RawRow(source, reader.line_num, name, "broken", message)


def _text(raw: bytes | str, number: int) -> str:
    if isinstance(raw, str):
        raise csv.Error(raw)
    return raw.decode("utf-8-sig" if number == 1 else "utf-8")
