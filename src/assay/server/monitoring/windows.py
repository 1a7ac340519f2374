"""The latest values of series that raise alarms, read once per turn and extended from alarm to alarm."""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from assay.monitor import RaisedAlarm, Series
from assay.store.db import Store
from assay.store.monitoring import SeriesValue, read_series

MOST_SERIES: Final = 16
"""The most series whose values are held at a time; each takes up to six megabytes."""


@dataclass(frozen=True, slots=True)
class Window:
    """The values of one series in their order, as columns."""

    at: "array[int]" = field(default_factory=lambda: array("q"))
    """Moments, in microseconds since 1970."""
    ids: list[str] = field(default_factory=list)
    values: "array[float]" = field(default_factory=lambda: array("d"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    probabilities: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, rows: Iterable[SeriesValue]) -> None:
        """Appends values."""
        for one in rows:
            self.at.append(one.at)
            self.ids.append(one.id)
            self.values.append(one.value)
            self.scores.append(one.score)
            self.probabilities.append(one.probability)

    def since(self, moment: int) -> "Window":
        """The values from a moment on."""
        return self._from(bisect_left(self.at, moment))

    def latest(self, most: int) -> "Window":
        """The latest values, at most `most`."""
        return self if len(self.at) <= most else self._from(len(self.at) - most)

    def _from(self, first: int) -> "Window":
        return Window(
            self.at[first:], self.ids[first:], self.values[first:], self.scores[first:], self.probabilities[first:]
        )


class Windows:
    """The values of series up to an alarm, for one turn of one tenant.

    They stay valid during the turn: if an observation before an alarm is added meanwhile, the step of the turn fails.
    """

    def __init__(self, store: Store, tenant: str, most: int) -> None:
        """Reads from the record of a tenant, at most the latest `most` values of each series."""
        self._store, self._tenant, self._most = store, tenant, most
        self._held: OrderedDict[str, tuple[int, Window]] = OrderedDict()

    def until(self, raised: RaisedAlarm, begin: int) -> Window:
        """The values of the series of an alarm, from the moment `begin` up to the observation that raised it."""
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
        """Discards all values, because the record has changed."""
        self._held.clear()

    def _read(
        self, series: Series, begin: int, last: tuple[int, str], after: tuple[int, str] | None
    ) -> list[SeriesValue]:
        series_key = (series.metric, series.dimension, series.name)
        with self._store.reading(self._tenant) as connection:
            return read_series(
                connection, self._tenant, series_key, begin, last, after=after, most=self._most, latest=True
            )
