"""Sums over observations that the database computes: for figures that are requested every few seconds."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, case, func, select

from assay.store.db import tables

_CERTAIN: Final = 1.0
"""The probability of an output that was observed without sampling."""


def window_sums(
    connection: Connection, tenant: str, metric: str, begins: Sequence[int], until: int
) -> list[tuple[float, float]]:
    """For each of several windows with the same end, the number of production outputs and the sum of a metric over
    them, both estimated with inverse-probability weights from the sampled outputs.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose observations.
        metric: the name of a metric column of `observations`.
        begins: the first moments of the windows, in microseconds since 1970.
        until: the moment after the last one.
    """
    table = tables.observations.c
    value, weight = table[metric], 1.0 / func.coalesce(table.probability, _CERTAIN)
    columns = [
        func.coalesce(func.sum(case((table.at >= begin, term), else_=0.0)), 0.0)
        for begin in begins
        for term in (weight, weight * value)
    ]
    row = connection.execute(
        select(*columns).where(
            table.tenant == tenant,
            table.cadence.is_(None),
            table.at >= min(begins),
            table.at < until,
            table.sampled.is_(True),
            value.is_not(None),
        )
    ).one()
    return [(float(row[at]), float(row[at + 1])) for at in range(0, 2 * len(begins), 2)]


def drawn_outputs(connection: Connection, tenant: str, since: int, until: int) -> tuple[int, int]:
    """The number of sampled production outputs in a period, and of all of them."""
    table = tables.observations.c
    row = connection.execute(
        select(func.count().filter(table.sampled.is_(True)), func.count())
        .select_from(tables.observations)
        .where(table.tenant == tenant, table.cadence.is_(None), table.at >= since, table.at < until)
    ).one()
    return int(row[0]), int(row[1])
