"""What the layers above hand in and get back; numbers and texts, no values of theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

WITHDRAWN: Final = "withdrawn"
"""The state of an alarm that observations which came late show to be none."""

Drawing = Callable[[str, str, str | None, str | None], tuple[float, bool]]
"""Of an output's id, stakes, worst severity and caller: with which probability it is looked at, and whether it is."""

ObservedRow = dict[str, Any]
"""A row of `observations`."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change of the system that is watched."""

    id: str
    at: int
    kind: str
    ref: str
    note: str = ""
    source: str = "told"
    actor: str | None = None
    created: int = 0


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm."""

    id: str
    series: str
    direction: str
    at: int
    body: Mapping[str, Any]
    state: str = "open"
    raised: int = 0
    changed: int | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """A consequence of the error budget."""

    name: str
    active: bool
    since: int
    actor: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
