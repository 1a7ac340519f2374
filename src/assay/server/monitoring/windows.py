"""The latest values of series that raise alarms, read once in a turn and continued from alarm to alarm."""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from assay.monitor import Raised, Series
from assay.store.db import Store
from assay.store.monitoring import SeriesValue, read_series

MOST_SERIES: Final = 16
"""Series whose values are held at a time; each has up to six megabytes."""


@dataclass(frozen=True, slots=True)
class Window:
    """Values of one series in their order, as columns."""

    at: "array[int]" = field(default_factory=lambda: array("q"))
    """Moments, in microseconds since 1970."""
    ids: list[str] = field(default_factory=list)
    values: "array[float]" = field(default_factory=lambda: array("d"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    probabilities: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, rows: Iterable[SeriesValue]) -> None:
        """Add what follows."""
        for one in rows:
            self.at.append(one.at)
            self.ids.append(one.id)
            self.values.append(one.value)
            self.scores.append(one.score)
            self.probabilities.append(one.probability)

    def since(self, moment: int) -> "Window":
        """Those from a moment on."""
        return self._from(bisect_left(self.at, moment))

    def latest(self, most: int) -> "Window":
        """The latest ones."""
        return self if len(self.at) <= most else self._from(len(self.at) - most)

    def _from(self, first: int) -> "Window":
        return Window(
            self.at[first:], self.ids[first:], self.values[first:], self.scores[first:], self.probabilities[first:]
        )


class Windows:
    """Values of series up to an alarm, for one turn of one tenant.

    While a turn explains alarms, no observation before them may come in unseen: what does makes the turn's step fail.
    """

    def __init__(self, store: Store, tenant: str, most: int) -> None:
        """Of a tenant's record; of one series at most so many values, the latest ones."""
        self._store, self._tenant, self._most = store, tenant, most
        self._held: OrderedDict[str, tuple[int, Window]] = OrderedDict()

    def until(self, raised: Raised, begin: int) -> Window:
        """The values of the series of an alarm, from a moment on and up to the observation that raised it."""
        key, last = raised.series.key, (raised.at, raised.observation)
        since, window = self._held.pop(key, (begin, Window()))
        known = (window.at[-1], window.ids[-1]) if window.at else None
        if known is None or since > begin or known > last:
            since, window, known = begin, Window(), None
        window.add(self._read(raised.series, begin, last, known))
        window = window.latest(self._most)
        self._held[key] = since, window
        while len(self._held) > MOST_SERIES:
            self._held.popitem(last=False)
        return window.since(begin)

    def forget(self) -> None:
        """Hold nothing any more: the record was found to be another one."""
        self._held.clear()

    def _read(self, of: Series, begin: int, last: tuple[int, str], after: tuple[int, str] | None) -> list[SeriesValue]:
        named = (of.metric, of.dimension, of.name)
        with self._store.reading(self._tenant) as connection:
            return read_series(connection, self._tenant, named, begin, last, after=after, most=self._most, latest=True)
