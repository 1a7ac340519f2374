"""JSON values as tables store them: compressed, and limited in size when they are read."""

import json
import zlib
from typing import Any, Final

from sqlalchemy import Dialect, LargeBinary, TypeDecorator

from assay.errors import StoreError

LARGEST_BODY: Final = 256 * 1024 * 1024
"""The most bytes that a packed value may unpack to: a damaged one must not exhaust the memory."""


class Packed(TypeDecorator[Any]):
    """A column with compressed JSON values; None is NULL."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002 SQLAlchemy's signature
        """The value as it is stored; bytes are stored unchanged, because `pack` may have been called already."""
        return value if value is None or isinstance(value, bytes) else pack(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 SQLAlchemy's signature
        """The value as it was before it was stored."""
        return None if value is None else unpack(value)


def pack(value: Any) -> bytes:
    """Compress a JSON value, or the bytes of a JSON text.

    >>> unpack(pack({"a": [1, None]}))
    {'a': [1, None]}
    """
    text = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return zlib.compress(text, 1)


def unpack(data: bytes) -> Any:
    """The JSON value in packed bytes.

    Raises:
        StoreError: the bytes are damaged.
    """
    try:
        return json.loads(unpack_bytes(data))
    except (ValueError, RecursionError) as error:
        raise StoreError("a stored value is damaged: it cannot be unpacked") from error


def unpack_bytes(data: bytes) -> bytes:
    """The JSON text in packed bytes, byte for byte as it was packed.

    Raises:
        StoreError: the bytes are damaged.
    """
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, LARGEST_BODY)
    except zlib.error as error:
        raise StoreError("a stored value is damaged: it cannot be unpacked") from error
    if not unpacker.eof:
        raise StoreError("a stored value is damaged: it is cut off or too large")
    return text
