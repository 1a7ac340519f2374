"""Instants as text: RFC 3339 in UTC to the second, so that sorting the texts sorts them in time."""

import re
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator

from assay.errors import ReceiptError

_FORM: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def instant(moment: datetime) -> str:
    """A moment as text; fractions of a second are dropped.

    Raises:
        ReceiptError: the moment has no time zone.

    >>> instant(datetime(2026, 3, 1, 9, 30, 15, 999, tzinfo=UTC))
    '2026-03-01T09:30:15Z'
    """
    if moment.tzinfo is None:
        raise ReceiptError(f"expected a time with its zone, such as datetime.now(UTC), got {moment.isoformat()}")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def moment_of(text: str) -> datetime:
    """The moment that a text written by `instant` denotes.

    Raises:
        ReceiptError: the text has another form, or names a day or time that does not exist.
    """
    try:
        if _FORM.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError as error:
        raise ReceiptError("expected a time that exists, such as 2026-03-01T09:30:15Z, got another") from error
    raise ReceiptError("expected a time in the form 2026-03-01T09:30:15Z, got another")


def _checked(text: str) -> str:
    try:
        moment_of(text)
    except ReceiptError as error:
        raise ValueError(str(error)) from error
    return text


Instant = Annotated[str, AfterValidator(_checked)]
"""A text as `instant` writes it."""
