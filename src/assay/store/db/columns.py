"""Columns declared in a string, such as ``"id text, question text?, created long"``, for tables and migrations
alike."""

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, LargeBinary, Text
from sqlalchemy.types import TypeEngine

from assay.store.db.packed_json import Packed

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


def columns(declaration: str) -> list[Column[Any]]:
    """The columns that a declaration lists: name and type, with a question mark for nullable, separated by commas.

    >>> [str(column.type) for column in columns("id text, score number?")]
    ['TEXT', 'DOUBLE']

    Raises:
        ValueError: something between two commas is not a name and a type.
    """
    return [_column(*part.split()) for part in declaration.split(",")]


def _column(name: str = "", type_: str = "", *rest: str) -> Column[Any]:
    column_type = _TYPES.get(type_.removesuffix("?"))
    if column_type is None or rest:
        raise ValueError(f"not a column: {' '.join((name, type_, *rest)).strip()!r}")
    return Column(name, column_type(), nullable=type_.endswith("?"))
