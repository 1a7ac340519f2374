"""Days in the bodies of requests."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator


def read_day(value: object) -> date | None:
    """The day that a text names; none for none.

    Raises:
        ValueError: it is no date in ISO 8601, such as a number, which pydantic would read as seconds.

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
