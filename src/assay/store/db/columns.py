"""Columns declared as a text, such as ``"id text, question text?, created long"``, for tables and migrations alike."""

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, LargeBinary, Text
from sqlalchemy.types import TypeEngine

from assay.store.db.packing import Packed

_TYPES: Final[dict[str, type[TypeEngine[Any]]]] = {
    "text": Text,
    "int": Integer,
    "long": BigInteger,
    "number": Double,
    "flag": Boolean,
    "bytes": LargeBinary,
    "json": Packed,
}
"""`int` has 32 bits, `long` 64, `number` is a double; `json` is any JSON value, stored compressed."""


def columns(listed: str) -> list[Column[Any]]:
    """The columns of a list: a name, its type, and a question mark where it may be null; commas between them.

    >>> [str(one.type) for one in columns("id text, score number?")]
    ['TEXT', 'DOUBLE']

    Raises:
        ValueError: what is between two commas is no name and type.
    """
    return [_column(*one.split()) for one in listed.split(",")]


def _column(name: str = "", kind: str = "", *rest: str) -> Column[Any]:
    known = _TYPES.get(kind.removesuffix("?"))
    if known is None or rest:
        raise ValueError(f"not a column: {' '.join((name, kind, *rest)).strip()!r}")
    return Column(name, known(), nullable=kind.endswith("?"))
