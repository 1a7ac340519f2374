"""Days in the bodies of requests."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator


def read_day(value: object) -> date | None:
    """A day out of its text, or none.

    Raises:
        ValueError: it is written otherwise, or is a number: pydantic would read it as seconds, and it is no day.

    >>> read_day("2025-06-01").isoformat()
    '2025-06-01'
    """
    if value is None:
        return None
    try:
        return date.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ValueError(f"a day is written as in 2025-06-01, got {str(value)[:40]!r}") from error


OptionalDay = Annotated[date | None, BeforeValidator(read_day)]
