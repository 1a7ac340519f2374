"""JSON values as compressed bytes, as columns hold them."""

import json
import zlib
from typing import Any, Final

from sqlalchemy import Dialect, LargeBinary, TypeDecorator

from assay.errors import StoreError

LARGEST_BODY: Final = 256 * 1024 * 1024
"""The most bytes that a packed value unpacks to: damage must not fill the memory."""


class Packed(TypeDecorator[Any]):
    """A JSON value, compressed. None is null."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002 SQLAlchemy's signature
        """The value as it is stored; bytes are stored as they are: `pack` may have been called already."""
        return value if value is None or isinstance(value, bytes) else pack(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 SQLAlchemy's signature
        """The value as it was given."""
        return None if value is None else unpack(value)


def pack(value: Any) -> bytes:
    """A JSON value, or the bytes of a JSON text, compressed.

    >>> unpack(pack({"a": [1, None]}))
    {'a': [1, None]}
    """
    text = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return zlib.compress(text, 1)


def unpack(data: bytes) -> Any:
    """The value in packed bytes.

    Raises:
        StoreError: they were damaged.
    """
    try:
        return json.loads(unpack_bytes(data))
    except (ValueError, RecursionError) as error:
        raise StoreError("a stored value is damaged: it cannot be unpacked") from error


def unpack_bytes(data: bytes) -> bytes:
    """The JSON text in packed bytes, as it was packed.

    Raises:
        StoreError: they were damaged.
    """
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, LARGEST_BODY)
    except zlib.error as error:
        raise StoreError("a stored value is damaged: it cannot be unpacked") from error
    if not unpacker.eof:
        raise StoreError("a stored value is damaged: it is cut off or too large")
    return text
