"""Plans of timed work: an interval, or a cron expression of five fields in UTC.

`every: 15m` is due at whole multiples of the interval since 1970, so that all replicas agree on the moments. A cron
expression has minute, hour, day of the month, month and day of the week (0 or 7 is Sunday); each field is `*`, a
number, a range `a-b`, either with a step `/n`, or a comma-separated list of these. Names, `@daily` and extensions of
particular programs are refused. As in crontab(5), where both days are restricted, one of them is enough.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from assay.errors import InputError

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FIELDS: Final = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
)
_PART: Final = re.compile(r"(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?", re.ASCII)
LONGEST_S: Final = 31 * 86_400
"""The longest interval, in seconds."""
_FURTHEST: Final = 366 * 28 + 7
"""Days within which a day of any month falls on any day of the week."""


@dataclass(frozen=True, slots=True)
class Every:
    """Due at each whole multiple of an interval.

    Raises:
        InputError: the interval is not from 1 second to 31 days.
    """

    seconds: int

    def __post_init__(self) -> None:
        if not 1 <= self.seconds <= LONGEST_S:
            raise InputError(f"expected an interval from 1s to 31d, got {self.seconds} seconds")

    def last(self, now: datetime) -> datetime:
        """The latest due moment up to `now`."""
        stamp = int(now.timestamp())
        return datetime.fromtimestamp(stamp - stamp % self.seconds, UTC)


@dataclass(frozen=True, slots=True)
class Cron:
    """Due at the minutes that a cron expression names, in UTC."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    either: bool
    """Whether a day that matches one of the two fields of days is enough."""

    def on(self, day: datetime) -> bool:
        """Whether the day is one on which work is due."""
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (of_month or of_week) if self.either else (of_month and of_week)

    def last(self, now: datetime) -> datetime:
        """The latest due moment up to `now`.

        Raises:
            InputError: the expression is never due.
        """
        now = now.astimezone(UTC)
        times = sorted(((hour, minute) for hour in self.hours for minute in self.minutes), reverse=True)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(_FURTHEST):
            if self.on(day):
                for hour, minute in times:
                    found = day.replace(hour=hour, minute=minute)
                    if found <= now:
                        return found
            day -= timedelta(days=1)
        raise InputError(f"expected a cron expression that is ever due, got {self.text!r}")


When = Every | Cron
"""A plan of when work is due."""


def read_when(given: object, what: str) -> When:
    """Parses a plan of the settings: a cron expression, or a mapping with `every`.

    Args:
        given: the value of the setting.
        what: the name of the setting, for messages.

    >>> read_when({"every": "15m"}, "turn")
    Every(seconds=900)
    >>> read_when("30 2 * * 1-5", "golden").last(datetime(2026, 3, 1, 12, 0, tzinfo=UTC)).isoformat()
    '2026-02-27T02:30:00+00:00'

    Raises:
        InputError: it is neither, or is never due.
    """
    if isinstance(given, Mapping) and set(given) == {"every"}:
        return Every(read_seconds(given["every"], what))
    if not isinstance(given, str):
        raise InputError(
            f"expected {what} as a cron expression such as '0 2 * * *' or as a mapping {{every: 15m}}, "
            f"got {ascii(given)[:60]}"
        )
    fields = given.split()
    if len(fields) != len(_FIELDS):
        raise InputError(
            f"expected {what} as a cron expression of five fields (minute hour day month weekday), "
            f"got {ascii(given)[:60]}"
        )
    field_values = [_field(text, what, *about) for text, about in zip(fields, _FIELDS, strict=True)]
    cron = Cron(
        " ".join(fields),
        field_values[0],
        field_values[1],
        field_values[2],
        field_values[3],
        frozenset(one % 7 for one in field_values[4]),
        fields[2][0] != "*" and fields[4][0] != "*",
    )
    cron.last(datetime(2400, 1, 1, tzinfo=UTC))
    return cron


def read_seconds(given: object, what: str) -> int:
    """Parses a duration of up to 31 days, in seconds: a whole number, or a text with a unit `s`, `m`, `h` or `d`.

    Args:
        given: the value of the setting.
        what: the name of the setting, for messages.

    >>> read_seconds("2h", "x"), read_seconds(30, "x")
    (7200, 30)

    Raises:
        InputError: it is not such a duration.
    """
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given <= LONGEST_S:
        return given
    match = re.fullmatch(r"(\d{1,7})([smhd])", given.strip(), re.ASCII) if isinstance(given, str) else None
    if match is None or not 0 < (seconds := int(match[1]) * _UNITS[match[2]]) <= LONGEST_S:
        raise InputError(f"expected {what} as a time up to 31d such as 30s, 15m or 24h, got {ascii(given)[:40]}")
    return seconds


def _field(text: str, what: str, name: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise InputError(f"{what}: expected the {name} as numbers, ranges, steps or *, got {ascii(part)[:40]}")
        star, first, last, step = match.groups()
        begin = low if star else int(first)
        end = high if star or (step and not last) else int(last or first)
        if not low <= begin <= end <= high or step == "0" or (step is not None and int(step) == 0):
            raise InputError(f"{what}: expected the {name} from {low} to {high}, rising, got {ascii(part)[:40]}")
        values.update(range(begin, end + 1, int(step or 1)))
    return frozenset(values)
