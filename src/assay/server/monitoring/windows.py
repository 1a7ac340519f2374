"""The latest values of series that raise alarms, read once in a turn and continued from alarm to alarm."""

from bisect import bisect_left
from collections import OrderedDict
from typing import Final

from assay.monitor import Raised, Series
from assay.store.db import Store
from assay.store.monitoring import SeriesValue, read_series

MOST_SERIES: Final = 16
"""Series whose values are held at a time; each has some megabytes at the most."""


class Windows:
    """Values of series up to an alarm, for one turn of one tenant.

    While a turn explains alarms, no observation before them may come in unseen: what does makes the turn's step fail.
    """

    def __init__(self, store: Store, tenant: str, most: int) -> None:
        """Of a tenant's record; of one series at most so many values, the latest ones."""
        self._store, self._tenant, self._most = store, tenant, most
        self._held: OrderedDict[str, tuple[int, list[SeriesValue]]] = OrderedDict()

    def until(self, raised: Raised, begin: int) -> list[SeriesValue]:
        """The values of the series of an alarm, from a moment on and up to the observation that raised it."""
        key, last = raised.series.key, (raised.at, raised.observation)
        held = self._held.pop(key, None)
        if held is None or held[0] > begin or not held[1] or (held[1][-1].at, held[1][-1].id) > last:
            held = begin, self._read(raised.series, begin, last, None)
        else:
            values = held[1]
            values += self._read(raised.series, begin, last, (values[-1].at, values[-1].id))
            del values[: max(0, len(values) - self._most)]
        self._held[key] = held
        while len(self._held) > MOST_SERIES:
            self._held.popitem(last=False)
        return held[1][bisect_left(held[1], begin, key=lambda one: one.at) :]

    def forget(self) -> None:
        """Hold nothing any more: the record was found to be another one."""
        self._held.clear()

    def _read(self, of: Series, begin: int, last: tuple[int, str], after: tuple[int, str] | None) -> list[SeriesValue]:
        named = (of.metric, of.dimension, of.name)
        with self._store.reading(self._tenant) as connection:
            return read_series(connection, self._tenant, named, begin, last, after=after, most=self._most, latest=True)
