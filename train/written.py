"""Rows on disk as training reads them, and the digest that says which rows a run was of."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path

from train.rows import Row


def _line(row: Row) -> str:
    return json.dumps(dataclasses.asdict(row), ensure_ascii=False, sort_keys=True)


def write_made(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as gzipped JSON Lines that `read_made` gives back as they were.

    The file holds no time and no name of its own: equal rows give equal bytes.
    """
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as out,
    ):
        for row in rows:
            out.write(_line(row) + "\n")


def read_made(path: Path) -> list[Row]:
    """Rows that `write_made` wrote."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [
            Row(
                source=raw["source"],
                evidence=tuple(raw["evidence"]),
                claim=raw["claim"],
                label=raw["label"],
                question=raw["question"],
                spans=tuple((start, end) for start, end in raw["spans"]),
                group=raw.get("group"),
            )
            for raw in map(json.loads, lines)
        ]


def digest_of(rows: Iterable[Row]) -> str:
    """SHA-256 of the rows in their order, in hexadecimal: of what `write_made` writes before it is packed.

    >>> digest_of([]) == hashlib.sha256(b"").hexdigest()
    True
    """
    found = hashlib.sha256()
    for row in rows:
        found.update((_line(row) + "\n").encode())
    return found.hexdigest()
