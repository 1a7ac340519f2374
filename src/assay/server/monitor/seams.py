"""What others put into the panels: marks of changes, and the state of control charts.

Whoever keeps a log of changes or runs control charts sets a function here; panels call it for the stretch that they
show. Without one a panel says that there is none, and never shows an empty chart as if all were well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Marker:
    """A change of the system that is marked in charts over time."""

    at: datetime
    kind: str
    """`prompt`, `model`, `index`, `tools`, `policy`, `verifier`, `code`."""
    ref: str
    """What it changed to, as whoever told of it calls it: foreign text."""


@dataclass(frozen=True, slots=True)
class ChartState:
    """Where one control chart stands."""

    series: str
    """Of what: `all`, or a kind and a name: foreign text."""
    metric: str
    direction: str
    """`up` or `down`."""
    statistic: float
    threshold: float
    alarm: datetime | None = None
    """Since when it has been beyond the threshold."""


Markers = Callable[[Connection, str, datetime, datetime], Sequence[Marker]]
"""The changes of a tenant from a moment to another, in order."""
Charts = Callable[[Connection, str], Sequence[ChartState]]
"""The control charts of a tenant."""


@dataclass(slots=True)
class Seams:
    """The functions that are set; none by default."""

    markers: Markers | None = None
    charts: Charts | None = None


SEAMS: Final = Seams()
"""Of this process."""
