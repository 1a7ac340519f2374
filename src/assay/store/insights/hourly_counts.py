"""Reading hourly counts for overviews."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at
from assay.store.insights.hourly_increments import GROWTH, HOUR, LATENCY


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a period."""

    begins: tuple[datetime, ...]
    """The beginning of each part of the period."""
    series: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """The count of each part, by kind and name."""

    def of(self, kind: str, name: str) -> tuple[int, ...]:
        """The counts of one name; all zero if there are none."""
        return self.series.get(kind, {}).get(name, (0,) * len(self.begins))

    def totals(self, kind: str) -> dict[str, int]:
        """The sum of each name of a kind, largest first."""
        sums = {name: sum(values) for name, values in self.series.get(kind, {}).items()}
        return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))

    def latency(self, share: float) -> float | None:
        """A quantile of the latencies of all checks, in milliseconds; None without checks."""
        return quantile({int(name): count for name, count in self.totals(LATENCY).items()}, share)

    def latencies(self, share: float) -> tuple[float | None, ...]:
        """The quantile of the latencies of each part."""
        classes = {int(name): values for name, values in self.series.get(LATENCY, {}).items()}
        return tuple(
            quantile({name: values[part] for name, values in classes.items()}, share)
            for part in range(len(self.begins))
        )


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """A quantile in milliseconds from counts by `latency_class`: the middle of its class.

    >>> quantile({0: 1, 21: 1}, 0.5), round(quantile({21: 3}, 0.95) or 0), quantile({}, 0.5)
    (0.5, 98, None)
    """
    total = sum(counts.values())
    if not total:
        return None
    seen = 0
    for name in sorted(counts):
        seen += counts[name]
        if counts[name] and seen >= share * total:
            return 0.5 if name == 0 else (GROWTH**name + GROWTH ** (name - 1)) / 2
    return None


def read_counts(connection: Connection, tenant: str, until: datetime, parts: int, hours: int) -> Counts:
    """The counts of the latest period.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose counts.
        until: the end of the period; its hour is the last one that is counted.
        parts: the number of parts of the period.
        hours: the length of each part in hours.
    """
    last = micros(until) // HOUR
    first = (last // hours - parts + 1) * hours
    table = tables.hourly.c
    part = (table.hour - first) // hours
    query = (
        select(table.kind, table.name, part.label("part"), func.sum(table.count).label("total"))
        .where(table.tenant == tenant, table.hour >= first, table.hour <= last)
        .group_by(table.kind, table.name, part)
    )
    begins = tuple(moment_at((first + number * hours) * HOUR) for number in range(parts))
    rows = ((row.kind, row.name, int(row.part), int(row.total)) for row in connection.execute(query))
    return Counts(begins, _series(rows, parts))


def _series(rows: Iterable[tuple[str, str, int, int]], parts: int) -> dict[str, dict[str, tuple[int, ...]]]:
    series: dict[str, dict[str, list[int]]] = {}
    for kind, name, part, count in rows:
        series.setdefault(kind, {}).setdefault(name, [0] * parts)[part] += count
    return {kind: {name: tuple(values) for name, values in names.items()} for kind, names in series.items()}


def moment_of_hour(hour: int) -> datetime:
    """The beginning of an hour, numbered since 1970."""
    return moment_at(hour * HOUR)


def period(length: timedelta) -> tuple[int, int]:
    """How a length of time is divided: the number of parts, and the hours of each.

    >>> period(timedelta(days=1)), period(timedelta(days=30))
    ((24, 1), (30, 24))
    """
    hours = max(1, int(length.total_seconds() // 3600))
    each = 1 if hours <= 48 else 6 if hours <= 24 * 7 else 24
    return -(-hours // each), each
