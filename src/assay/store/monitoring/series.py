"""The observations of one series as numbers: what an alarm is explained by, without all that else was observed."""

from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, select

from assay.store.db import tables
from assay.store.monitoring.observing import METRICS

_NAMED: Final = ("agent", "route", "model", "stakes")
_CATEGORY: Final = "category"


class SeriesValue(NamedTuple):
    """What one observation says in a series."""

    at: int
    """When it was recorded, in microseconds since 1970."""
    id: str
    value: float
    score: float
    """One minus the support of the output; 0 where it is not known."""
    probability: float
    """With which it was drawn."""


def read_series(
    connection: Connection,
    tenant: str,
    series: tuple[str, str, str],
    since: int,
    until: tuple[int, str],
    *,
    after: tuple[int, str] | None = None,
    most: int | None = None,
    latest: bool = False,
) -> list[SeriesValue]:
    """The values of a series in a stretch of time, in the order of moment and id.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        series: its metric, dimension and name, as in `assay.monitor.observations.Series`.
        since: the first moment, in microseconds since 1970.
        until: the moment and id of the last one; with the id "" those of the moment are left out.
        after: those after this moment and id alone.
        most: how many at most; the earliest ones.
        latest: the latest ones instead.

    Raises:
        KeyError: there is no such metric or dimension.
    """
    metric, dimension, name = series
    table = tables.observations.c
    if metric not in METRICS:
        raise KeyError(metric)
    value: ColumnElement[float] = table[metric]
    beside = dimension not in ("all", _CATEGORY, *_NAMED)
    where = [
        table.tenant == tenant,
        table.at.between(since, until[0]),  # what the index is read by
        (table.at < until[0]) | ((table.at == until[0]) & (table.id <= until[1])),
        table.cadence == dimension if beside else table.cadence.is_(None),
        table.sampled.is_(True),
        value.is_not(None),
    ]
    if dimension in _NAMED:
        where.append(table[dimension] == name)
    if after is not None:
        where += [table.at >= after[0], (table.at > after[0]) | (table.id > after[1])]
    query = select(table.at, table.id, value, table.score, table.probability, table.categories).where(*where)
    query = query.order_by(*((table.at.desc(), table.id.desc()) if latest else (table.at, table.id)))
    rows = list(connection.execute(query if most is None else query.limit(most)))
    if latest:
        rows.reverse()
    if dimension == _CATEGORY:
        # A rate among all outputs: those without it count as 0.
        return [
            SeriesValue(at, id_, float(name in of.split()), score or 0.0, p or 1.0) for at, id_, _, score, p, of in rows
        ]
    return [SeriesValue(at, id_, float(own), score or 0.0, p or 1.0) for at, id_, own, score, p, _ in rows]
