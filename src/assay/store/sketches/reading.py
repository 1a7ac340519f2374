"""Reading sketches: a stretch of time cut into parts, however many outputs were measured in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, select

from assay.store.db import tables
from assay.store.insights.hourly_counting import HOUR
from assay.store.records.recording import micros, moment_at
from assay.store.sketches.counting import DAY
from assay.store.sketches.measuring import AGENT, ALL
from assay.store.sketches.values import Cell, Sketch

MOST_AGENTS: Final = 200
"""Callers that are told apart; of more, those with the most outputs."""
_NONE: Final = Sketch()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time in parts of equal length: whole hours since 1970."""

    first: int
    """The hour at which it begins."""
    parts: int
    hours: int
    """Hours of each part."""

    @classmethod
    def until(cls, moment: datetime, parts: int, hours: int) -> "Stretch":
        """The stretch whose last part holds a moment; parts begin at whole multiples of their length."""
        last = micros(moment) // HOUR // hours
        return cls((last - parts + 1) * hours, parts, hours)

    def before(self) -> "Stretch":
        """The stretch of the same length just before it."""
        return Stretch(self.first - self.parts * self.hours, self.parts, self.hours)

    @property
    def end(self) -> int:
        """The first hour after it."""
        return self.first + self.parts * self.hours

    @property
    def begins(self) -> tuple[datetime, ...]:
        """When each part begins."""
        return tuple(moment_at((self.first + at * self.hours) * HOUR) for at in range(self.parts))

    @property
    def step(self) -> int:
        """The span of the rows that it is read from."""
        return DAY if self.hours % DAY == 0 and self.first % DAY == 0 else 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in a stretch of time."""

    stretch: Stretch
    series: Mapping[str, Mapping[int, Sketch]] = field(default_factory=dict)
    """By metric and part."""

    def part(self, metric: str, at: int) -> Sketch:
        """One part of it."""
        return self.series.get(metric, {}).get(at, _NONE)

    def whole(self, metric: str) -> Sketch:
        """All of it."""
        return added(self.series.get(metric, {}).values())


def added(sketches: Iterable[Sketch]) -> Sketch:
    """Sketches as one."""
    cells: dict[int, Cell] = {}
    for one in sketches:
        for at, cell in one.cells.items():
            cells[at] = cells.get(at, Cell()) + cell
    return Sketch(cells)


def read_measured(
    connection: Connection, tenant: str, metrics: Sequence[str], stretch: Stretch, series: tuple[str, str] = ALL
) -> Measured:
    """What was measured.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        metrics: which (`assay.store.sketches.measuring`).
        stretch: when.
        series: of which outputs; of all by default.
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
    found: dict[str, dict[int, dict[int, Cell]]] = {}
    for row in rows:
        cell = Cell(int(row.number), int(row.total), int(row.squares))
        found.setdefault(str(row.metric), {}).setdefault(int(row.part), {})[int(row.bin)] = cell
    return Measured(
        stretch, {metric: {at: Sketch(cells) for at, cells in parts.items()} for metric, parts in found.items()}
    )


def read_agents(
    connection: Connection, tenant: str, metrics: Sequence[str], stretch: Stretch
) -> dict[str, dict[str, Sketch]]:
    """What was measured of each caller's outputs in whole days: name, metric, sketch; the busiest callers first."""
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
    found = {name: {metric: Sketch(bins) for metric, bins in of.items()} for name, of in cells.items()}
    busiest = sorted(found, key=lambda name: (-max(one.count for one in found[name].values()), name))
    return {name: found[name] for name in busiest[:MOST_AGENTS]}


@dataclass(frozen=True, slots=True)
class Worst:
    """One output with a low score."""

    report: str
    hour: int
    score: float


def read_worst(connection: Connection, tenant: str, stretch: Stretch, most: int) -> tuple[Worst, ...]:
    """The outputs with the lowest scores, the lowest first. Of each hour a few are known."""
    table = tables.worst_outputs.c
    rows = connection.execute(
        select(table.report, table.hour, table.score)
        .where(table.tenant == tenant, table.hour >= stretch.first, table.hour < stretch.end)
        .order_by(table.score, table.hour.desc(), table.report)
        .limit(most)
    )
    return tuple(Worst(str(row.report), int(row.hour), float(row.score)) for row in rows)


@dataclass(frozen=True, slots=True)
class LowClaim:
    """A claim of an output that did not hold."""

    text: str | None
    """None where it was erased."""
    verdict: str
    score: float | None


def low_claims(connection: Connection, tenant: str, reports: Sequence[str]) -> dict[str, list[LowClaim]]:
    """The claims of some outputs that are not supported, the lowest scores first."""
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
    found: dict[str, list[LowClaim]] = {}
    for row in rows:
        found.setdefault(str(row.report), []).append(LowClaim(row.text, str(row.verdict), row.score))
    return found


def counted_until(connection: Connection, tenant: str) -> tuple[int, int]:
    """How many entries of a tenant's log were counted, and how many there are."""
    cursors, logs = tables.sketch_cursors.c, tables.audit_logs.c
    done = connection.execute(select(cursors.position).where(cursors.tenant == tenant)).scalar_one_or_none()
    size = connection.execute(select(logs.size).where(logs.tenant == tenant)).scalar_one_or_none()
    return int(done or 0), int(size or 0)
