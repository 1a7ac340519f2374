"""Values as columns hold them: names of tenants, moments, and texts that every database can store."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from assay.errors import StoreError

_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_NOT_STORED: Final = re.compile("[\x00\ud800-\udfff]")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def checked_tenant(name: str) -> str:
    """The name of a tenant, if it is valid: at most 63 lower-case letters, digits, dots, dashes and underscores.

    Raises:
        StoreError: it is malformed.
    """
    if not _TENANT.fullmatch(name):
        raise StoreError(
            "expected the name of a tenant: lower-case letters, digits, dots, dashes and underscores, at most 63, "
            f"the first a letter or digit; got {ascii(name)[:80]}"
        )
    return name


def micros(moment: datetime) -> int:
    """A moment as it is stored: whole microseconds since 1970 in UTC.

    >>> micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
    1000005

    Raises:
        StoreError: it has no time zone.
    """
    if moment.tzinfo is None:
        raise StoreError(f"expected a time with its zone, such as datetime.now(UTC), got {moment.isoformat()}")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_at(stored: int) -> datetime:
    """The moment that `micros` stored."""
    return _EPOCH + timedelta(microseconds=stored)


def moment_or_none(stored: int | None) -> datetime | None:
    """The moment in a nullable column."""
    return None if stored is None else moment_at(stored)


def storable(text: str) -> str:
    """A text that every database can store: NUL and lone surrogates become U+FFFD.

    Only for columns used in lists and searches; what the log commits to is stored as bytes.
    """
    return _NOT_STORED.sub("\N{REPLACEMENT CHARACTER}", text)
