"""Sums over observations that the database works out by itself: for figures that are asked for every few seconds."""

from collections.abc import Sequence

from sqlalchemy import Connection, case, func, select

from assay.store.db import tables

_ALL = 1.0
"""The probability of an output that was drawn without any."""


def window_sums(
    connection: Connection, tenant: str, metric: str, begins: Sequence[int], until: int
) -> list[tuple[float, float]]:
    """For each of several windows with one end how many outputs it had, and the sum of their metric, both estimated
    with inverse-probability weights from those that were drawn.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        metric: the name of a metric that observations have.
        begins: the first moments of the windows, in microseconds since 1970.
        until: the moment after the last one.
    """
    table = tables.observations.c
    value, weight = table[metric], 1.0 / func.coalesce(table.probability, _ALL)
    columns = [
        func.coalesce(func.sum(case((table.at >= begin, part), else_=0.0)), 0.0)
        for begin in begins
        for part in (weight, weight * value)
    ]
    row = connection.execute(
        select(*columns).where(
            table.tenant == tenant,
            table.at >= min(begins),
            table.at < until,
            table.sampled.is_(True),
            value.is_not(None),
        )
    ).one()
    return [(float(row[at]), float(row[at + 1])) for at in range(0, 2 * len(begins), 2)]


def drawn_outputs(connection: Connection, tenant: str, since: int, until: int) -> tuple[int, int]:
    """How many outputs of a stretch of time were drawn, and how many there were."""
    table = tables.observations.c
    row = connection.execute(
        select(func.count().filter(table.sampled.is_(True)), func.count())
        .select_from(tables.observations)
        .where(table.tenant == tenant, table.at >= since, table.at < until)
    ).one()
    return int(row[0]), int(row[1])
