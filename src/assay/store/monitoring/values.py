"""Rows that the layers above hand in and get back, as plain numbers and strings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

WITHDRAWN: Final = "withdrawn"
"""The state of an alarm that late observations have shown to be unfounded."""

Drawing = Callable[[str, str, str | None, str | None], tuple[float, bool]]
"""The sampling of outputs: from id, stakes, worst severity and caller to the probability of being observed, and whether
the output is."""

ObservedRow = dict[str, Any]
"""A row of `observations`."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change of the monitored system."""

    id: str
    at: int
    """When it happened, in microseconds since 1970."""
    kind: str
    ref: str
    """What it was changed to, such as a digest or a name."""
    note: str = ""
    source: str = "told"
    """`told` if somebody reported it, `seen` if it was detected in the traffic."""
    actor: str | None = None
    created: int = 0


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm of a chart."""

    id: str
    series: str
    direction: str
    at: int
    """The moment of the observation that raised it, in microseconds since 1970."""
    body: Mapping[str, Any]
    state: str = "open"
    raised: int = 0
    changed: int | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """A consequence of a spent error budget."""

    name: str
    active: bool
    since: int
    actor: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
