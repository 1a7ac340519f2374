"""The values of one series of observations, from which alarms are explained."""

from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, select

from assay.store.db import tables
from assay.store.monitoring.observations import METRICS

_NAMED: Final = ("agent", "route", "model", "stakes")
_CATEGORY: Final = "category"


class SeriesValue(NamedTuple):
    """The value of one observation in a series."""

    at: int
    """The moment of the output, in microseconds since 1970."""
    id: str
    value: float
    score: float
    """One minus the score of the output; 0 if it is unknown."""
    probability: float
    """The probability with which it was sampled."""


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
    """The values of a series in a period, in order of moment and id.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose observations.
        series: its metric, dimension and name, as in `assay.monitor.observations.Series`.
        since: the first moment, in microseconds since 1970.
        until: the moment and id of the last value; with the id "" values of that moment are left out.
        after: only values after this moment and id.
        most: the most values, the earliest ones.
        latest: return the latest ones instead.

    Raises:
        KeyError: there is no such metric or dimension.
    """
    metric, dimension, name = series
    table = tables.observations.c
    if metric not in METRICS:
        raise KeyError(metric)
    column: ColumnElement[float] = table[metric]
    is_cadence = dimension not in ("all", _CATEGORY, *_NAMED)
    conditions = [
        table.tenant == tenant,
        table.at.between(since, until[0]),  # for the index
        (table.at < until[0]) | ((table.at == until[0]) & (table.id <= until[1])),
        table.cadence == dimension if is_cadence else table.cadence.is_(None),
        table.sampled.is_(True),
        column.is_not(None),
    ]
    if dimension in _NAMED:
        conditions.append(table[dimension] == name)
    if after is not None:
        conditions += [table.at >= after[0], (table.at > after[0]) | (table.id > after[1])]
    query = select(table.at, table.id, column, table.score, table.probability, table.categories).where(*conditions)
    query = query.order_by(*((table.at.desc(), table.id.desc()) if latest else (table.at, table.id)))
    rows = list(connection.execute(query if most is None else query.limit(most)))
    if latest:
        rows.reverse()
    if dimension == _CATEGORY:
        # The rate of a category among all outputs: those without it count as 0.
        return [
            SeriesValue(at, id_, float(name in categories.split()), score or 0.0, probability or 1.0)
            for at, id_, _, score, probability, categories in rows
        ]
    return [
        SeriesValue(at, id_, float(value), score or 0.0, probability or 1.0)
        for at, id_, value, score, probability, _ in rows
    ]
