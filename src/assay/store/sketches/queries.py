"""Reading sketches for a period divided into parts, at a cost that does not depend on the number of outputs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, select

from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at
from assay.store.insights.hourly_increments import HOUR
from assay.store.sketches.metrics import AGENT, ALL, DEFINITION
from assay.store.sketches.updates import DAY
from assay.store.sketches.values import Cell, Sketch

MOST_AGENTS: Final = 200
"""The most callers that are returned: those with the most outputs."""
_EMPTY: Final = Sketch()


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A period in parts of equal length, measured in whole hours since 1970."""

    first: int
    """The hour at which it begins."""
    parts: int
    """The number of its parts."""
    hours: int
    """The length of each part."""

    @classmethod
    def until(cls, moment: datetime, parts: int, hours: int) -> "TimeRange":
        """The period whose last part contains a moment; parts begin at multiples of their length."""
        last = micros(moment) // HOUR // hours
        return cls((last - parts + 1) * hours, parts, hours)

    def before(self) -> "TimeRange":
        """The period of the same length immediately before it."""
        return TimeRange(self.first - self.parts * self.hours, self.parts, self.hours)

    @property
    def end(self) -> int:
        """The hour at which it ends."""
        return self.first + self.parts * self.hours

    @property
    def begins(self) -> tuple[datetime, ...]:
        """The beginning of each part."""
        return tuple(moment_at((self.first + part * self.hours) * HOUR) for part in range(self.parts))

    @property
    def step(self) -> int:
        """The span in hours of the rows from which it is read."""
        return DAY if self.hours % DAY == 0 and self.first % DAY == 0 else 1


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measurements of a period."""

    stretch: TimeRange
    series: Mapping[str, Mapping[int, Sketch]] = field(default_factory=dict)
    """The sketch of each part, by metric and number of the part; parts without values are left out."""

    def part(self, metric: str, at: int) -> Sketch:
        """The sketch of a metric in one part."""
        return self.series.get(metric, {}).get(at, _EMPTY)

    def whole(self, metric: str) -> Sketch:
        """The sketch of a metric in the whole period."""
        return sum_sketches(self.series.get(metric, {}).values())


def sum_sketches(sketches: Iterable[Sketch]) -> Sketch:
    """The sum of sketches."""
    cells: dict[int, Cell] = {}
    for sketch in sketches:
        for bin_, cell in sketch.cells.items():
            cells[bin_] = cells.get(bin_, Cell()) + cell
    return Sketch(cells)


def read_measured(
    connection: Connection, tenant: str, metrics: Sequence[str], stretch: TimeRange, series: tuple[str, str] = ALL
) -> Measurements:
    """The measurements of a period.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose outputs.
        metrics: the metrics (`assay.store.sketches.metrics`).
        stretch: the period.
        series: the kind and name of the series; all outputs by default.
    """
    table = tables.sketches.c
    part = (table.hour - stretch.first) // stretch.hours
    rows = connection.execute(
        select(
            table.metric,
            part.label("part"),
            table.bin,
            func.sum(table.count).label("number"),
            func.sum(table.total).label("total"),
            func.sum(table.squares).label("squares"),
        )
        .where(
            table.tenant == tenant,
            table.step == stretch.step,
            table.metric.in_(list(metrics)),
            table.kind == series[0],
            table.name == series[1],
            table.hour >= stretch.first,
            table.hour < stretch.end,
        )
        .group_by(table.metric, part, table.bin)
    )
    cells_of: dict[str, dict[int, dict[int, Cell]]] = {}
    for row in rows:
        cell = Cell(int(row.number), int(row.total), int(row.squares))
        cells_of.setdefault(str(row.metric), {}).setdefault(int(row.part), {})[int(row.bin)] = cell
    return Measurements(
        stretch, {metric: {at: Sketch(cells) for at, cells in parts.items()} for metric, parts in cells_of.items()}
    )


def read_agents(
    connection: Connection, tenant: str, metrics: Sequence[str], stretch: TimeRange
) -> dict[str, dict[str, Sketch]]:
    """The measurements of each caller's outputs in whole days, by name and metric; the callers with most outputs
    first."""
    table = tables.sketches.c
    first = stretch.first // DAY * DAY
    rows = connection.execute(
        select(
            table.metric,
            table.name,
            table.bin,
            func.sum(table.count).label("number"),
            func.sum(table.total).label("total"),
            func.sum(table.squares).label("squares"),
        )
        .where(
            table.tenant == tenant,
            table.step == DAY,
            table.metric.in_(list(metrics)),
            table.kind == AGENT,
            table.hour >= first,
            table.hour < stretch.end,
        )
        .group_by(table.metric, table.name, table.bin)
    )
    cells: dict[str, dict[str, dict[int, Cell]]] = {}
    for row in rows:
        cell = Cell(int(row.number), int(row.total), int(row.squares))
        cells.setdefault(str(row.name), {}).setdefault(str(row.metric), {})[int(row.bin)] = cell
    sketches = {name: {metric: Sketch(bins) for metric, bins in own.items()} for name, own in cells.items()}
    busiest = sorted(sketches, key=lambda name: (-max(sketch.count for sketch in sketches[name].values()), name))
    return {name: sketches[name] for name in busiest[:MOST_AGENTS]}


@dataclass(frozen=True, slots=True)
class WorstOutput:
    """An output with a low score."""

    report: str
    hour: int
    score: float


def read_worst(connection: Connection, tenant: str, stretch: TimeRange, most: int) -> tuple[WorstOutput, ...]:
    """The outputs with the lowest scores, lowest first, among the few that are stored for each hour."""
    table = tables.worst_outputs.c
    rows = connection.execute(
        select(table.report, table.hour, table.score)
        .where(table.tenant == tenant, table.hour >= stretch.first, table.hour < stretch.end)
        .order_by(table.score, table.hour.desc(), table.report)
        .limit(most)
    )
    return tuple(WorstOutput(str(row.report), int(row.hour), float(row.score)) for row in rows)


@dataclass(frozen=True, slots=True)
class LowClaim:
    """A claim that is not supported."""

    text: str | None
    """None if it was erased."""
    verdict: str
    score: float | None


def low_claims(connection: Connection, tenant: str, reports: Sequence[str]) -> dict[str, list[LowClaim]]:
    """The claims of some outputs that are not supported, lowest scores first, by the id of the report."""
    if not reports:
        return {}
    table = tables.claims.c
    rows = connection.execute(
        select(table.report, table.text, table.verdict, table.score)
        .where(
            table.tenant == tenant,
            table.report.in_(list(reports)),
            table.verdict.not_in(["supported", "not_checkable"]),
        )
        .order_by(table.report, table.score, table.position)
    )
    claims: dict[str, list[LowClaim]] = {}
    for row in rows:
        claims.setdefault(str(row.report), []).append(LowClaim(row.text, str(row.verdict), row.score))
    return claims


def counted_until(connection: Connection, tenant: str) -> tuple[int, int]:
    """The number of entries of a tenant's log counted under the current definition, and of all its entries."""
    cursors, logs = tables.sketch_cursors.c, tables.audit_logs.c
    current = (cursors.tenant == tenant, cursors.version == DEFINITION)
    done = connection.execute(select(cursors.position).where(*current)).scalar_one_or_none()
    size = connection.execute(select(logs.size).where(logs.tenant == tenant)).scalar_one_or_none()
    return int(done or 0), int(size or 0)
