"""Alerts as values: a condition that somebody has to know of, kept until it is over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from re import compile as pattern
from typing import Any, Final

from assay.errors import InputError

LONGEST_TEXT: Final = 500
"""The most characters of a summary, and of a string among the facts."""
MOST_FACTS: Final = 40
"""The most facts of an alert, and the most items of a list among them."""
_KEY: Final = pattern(r"[a-z0-9][a-z0-9._:/-]{0,199}")
_KIND: Final = pattern(r"[a-z][a-z0-9_]{0,49}(\.[a-z][a-z0-9_]{0,49}){0,3}")


class Urgency(StrEnum):
    """How soon somebody has to look."""

    INFO = "info"
    """Can wait for the next report."""
    WARNING = "warning"
    """Today."""
    CRITICAL = "critical"
    """Now: wrong answers are likely to reach people."""


class AlertState(StrEnum):
    """The state of an alert."""

    OPEN = "open"
    """The condition holds, and nobody has acknowledged it."""
    ACKNOWLEDGED = "acknowledged"
    """The condition holds, and somebody is looking at it: nobody is notified again."""
    CLOSED = "closed"
    """The condition is over, or somebody closed the alert."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A condition as a watcher reports it: the interface for everything that raises alerts.

    An alert is raised again as long as its condition holds; people are notified when it begins, when it becomes more
    urgent, and when it is over (`assay.store.alerts.raise_alert`).

    Raises:
        InputError: a field is malformed.
    """

    key: str
    """Its subject, such as `metric:faithfulness` or `cusum:all:rate`: at most one alert for a key is open. Lower-case
    letters, digits and `._:/-`, at most 200 characters."""
    kind: str
    """The problem, such as `metric.drop`; it selects the runbook (docs/runbooks.md)."""
    summary: str
    """A sentence for people, with the figures. Never a checked text: alerts are sent outside."""
    urgency: Urgency = Urgency.WARNING
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The figures and names behind it: JSON scalars, and lists of them such as ids of runs."""

    def __post_init__(self) -> None:
        checked_key(self.key)
        if not _KIND.fullmatch(self.kind):
            raise InputError(f"expected the kind of an alert, such as metric.drop, got {ascii(self.kind)[:80]}")
        if not self.summary.strip() or len(self.summary) > LONGEST_TEXT:
            raise InputError(f"expected a summary of 1 to {LONGEST_TEXT} characters, got {len(self.summary)}")
        if len(self.facts) > MOST_FACTS or not all(map(_is_fact, self.facts.values())):
            raise InputError(
                f"the facts of an alert are at most {MOST_FACTS} numbers, texts of at most {LONGEST_TEXT} characters, "
                "or short lists of them"
            )


def checked_key(key: str) -> str:
    """The key of an alert.

    Raises:
        InputError: it is malformed.
    """
    if not _KEY.fullmatch(key):
        raise InputError(f"expected the key of an alert: lower-case letters, digits and ._:/-, got {ascii(key)[:80]}")
    return key


def _is_fact(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= MOST_FACTS and all(_is_fact(item) and not isinstance(item, list | tuple) for item in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return value is None or isinstance(value, bool | int) or (isinstance(value, float) and value - value == 0)


@dataclass(frozen=True, slots=True)
class AlertItem:
    """An alert as it is stored."""

    id: str
    key: str
    kind: str
    urgency: Urgency
    state: AlertState
    summary: str
    facts: Mapping[str, Any]
    opened: datetime
    seen: datetime
    """When its condition last held."""
    count: int
    """How often it was raised."""
    told: datetime | None
    """When people were last notified."""
    closed: datetime | None
    owner: str | None
    """Who acknowledged it."""
    version: int
    silenced_until: datetime | None = None
    """The moment until which nobody is notified about its key."""
