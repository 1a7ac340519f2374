"""An alert: something that a person has to know of, told once and kept until it is over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from re import compile as pattern
from typing import Any, Final

from assay.errors import InputError

LONGEST_TEXT: Final = 500
"""Characters of a summary and of a value of `facts`."""
MOST_FACTS: Final = 40
_KEY: Final = pattern(r"[a-z0-9][a-z0-9._:/-]{0,199}")
_KIND: Final = pattern(r"[a-z][a-z0-9_]{0,49}(\.[a-z][a-z0-9_]{0,49}){0,3}")


class Urgency(StrEnum):
    """How soon somebody has to look."""

    INFO = "info"
    """To be read with the next report."""
    WARNING = "warning"
    """Today."""
    CRITICAL = "critical"
    """Now: wrong answers are likely to reach people."""


class AlertState(StrEnum):
    """What became of an alert."""

    OPEN = "open"
    """It holds, and nobody has said that they look at it."""
    ACKNOWLEDGED = "acknowledged"
    """It holds, and somebody looks at it: nobody is told again."""
    CLOSED = "closed"
    """It is over, or somebody has closed it."""


@dataclass(frozen=True, slots=True)
class Alert:
    """What whoever watches something says of it: the interface of all that raises alerts.

    It is raised again for as long as it holds; people are told when it begins, when it grows more urgent, and when it
    is over (`assay.store.alerts.raise_alert`).
    """

    key: str
    """What it is about, such as `metric:faithfulness` or `cusum:all:rate`: of one key one alert is open at most.
    Lower-case letters, digits and `._:/-`, at most 200."""
    kind: str
    """Problem, such as `metric.drop`: names its runbook (docs/runbooks.md)."""
    summary: str
    """A sentence for people, with the figures. Never a text that was checked: alerts leave the house."""
    urgency: Urgency = Urgency.WARNING
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Figures and names behind it: JSON scalars, and lists of them such as ids of runs."""

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise InputError(
                f"expected the key of an alert: lower-case letters, digits and ._:/-, got {ascii(self.key)[:80]}"
            )
        if not _KIND.fullmatch(self.kind):
            raise InputError(f"expected the kind of an alert, such as metric.drop, got {ascii(self.kind)[:80]}")
        if not self.summary.strip() or len(self.summary) > LONGEST_TEXT:
            raise InputError(f"expected a summary of 1 to {LONGEST_TEXT} characters, got {len(self.summary)}")
        if len(self.facts) > MOST_FACTS or not all(map(_is_fact, self.facts.values())):
            raise InputError(
                f"the facts of an alert are at most {MOST_FACTS} numbers, texts of at most {LONGEST_TEXT} characters, "
                "or short lists of them"
            )


def _is_fact(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= MOST_FACTS and all(_is_fact(one) and not isinstance(one, list | tuple) for one in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return value is None or isinstance(value, bool | int) or (isinstance(value, float) and value - value == 0)


@dataclass(frozen=True, slots=True)
class AlertItem:
    """An alert as it is kept."""

    id: str
    key: str
    kind: str
    urgency: Urgency
    state: AlertState
    summary: str
    facts: Mapping[str, Any]
    opened: datetime
    seen: datetime
    """When it held last."""
    count: int
    """How often it was raised."""
    told: datetime | None
    """When people were last told."""
    closed: datetime | None
    owner: str | None
    """Who acknowledged it."""
    version: int
    silenced_until: datetime | None = None
    """Until when nobody is told of alerts of its key."""
