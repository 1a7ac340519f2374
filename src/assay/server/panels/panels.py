"""The panels: each reads a few hundred rows of sketches, however many outputs were measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Final

from sqlalchemy import Connection

from assay.errors import InputError
from assay.server.panels.calibration import calibration
from assay.server.panels.charts import Marker, read_charts, read_markers
from assay.server.panels.passing import passed_panel, score_panel
from assay.server.panels.six import six_metrics
from assay.server.panels.values import Cell, Drawing, Line, Panel
from assay.store.insights import moment_of_hour
from assay.store.sketches import (
    ATTRIBUTION,
    BINS,
    BY_RELEVANCE,
    CATEGORIES,
    COMPOSITE,
    CORRECTED,
    FAITHFULNESS,
    RELEVANCE,
    UNIT,
    WITHHELD,
    Sketch,
    TimeRange,
    low_claims,
    read_agents,
    read_measured,
    read_worst,
)

RANGES: Final[Mapping[str, tuple[int, int]]] = {"24h": (24, 1), "7d": (28, 6), "30d": (30, 24), "90d": (90, 24)}
"""How a period is cut: parts, and hours of each."""
MOST_WORST: Final = 10
CLAIMS_SHOWN: Final = 3
_INTERVAL: Final = "Intervals are of 95%."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a panel is drawn of."""

    connection: Connection
    tenant: str
    now: datetime
    stretch: TimeRange

    @property
    def ends(self) -> datetime:
        """The end of the last part."""
        return self.stretch.begins[-1] + timedelta(hours=self.stretch.hours)

    def markers(self) -> tuple[Marker, ...]:
        """The changes within it."""
        return read_markers(self.connection, self.tenant, self.stretch.begins[0], self.ends)


def make_panel(connection: Connection, tenant: str, name: str, range_: str, now: datetime) -> Panel:
    """One panel.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        name: which (`PANELS`).
        range_: of which period (`RANGES`).
        now: its end.

    Raises:
        InputError: there is no such panel or period.
    """
    if name not in PANELS or range_ not in RANGES:
        raise InputError(f"the panels are {', '.join(PANELS)} and the periods {', '.join(RANGES)}")
    parts, hours = RANGES[range_]
    return PANELS[name](Asked(connection, tenant, now, TimeRange.until(now, parts, hours)))


def _trend(asked: Asked) -> Panel:
    measured = read_measured(asked.connection, asked.tenant, [COMPOSITE], asked.stretch)
    parts = [measured.part(COMPOSITE, at) for at in range(asked.stretch.parts)]
    rows = [(begin, *_mean(part)) for begin, part in zip(asked.stretch.begins, parts, strict=True)]
    return Panel(
        "trend",
        "Hallucination score",
        "The composite hallucination score of outputs over time: 0 is clean, 1 is all wrong. " + _INTERVAL,
        ("begins", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("line", _labels(asked.stretch), (_line("mean", parts),)),
        markers=asked.markers(),
    )


def _categories(asked: Asked) -> Panel:
    measured = read_measured(asked.connection, asked.tenant, CATEGORIES, asked.stretch)
    rows: list[tuple[Cell, ...]] = [
        (metric.removeprefix("category."), *_rate(measured.whole(metric))) for metric in CATEGORIES
    ]
    return Panel(
        "categories",
        "Findings by category",
        "The share of outputs in which something of the category was found. " + _INTERVAL,
        ("category", "outputs", "found", "rate", "low", "high"),
        tuple(rows),
        Drawing("ranges", named=[_named(str(row[0]), row[3:6]) for row in rows]),
    )


def _faithfulness(asked: Asked) -> Panel:
    whole = read_measured(asked.connection, asked.tenant, [FAITHFULNESS], asked.stretch).whole(FAITHFULNESS)
    counts = whole.histogram()
    rows = [(at / BINS, (at + 1) / BINS, count) for at, count in enumerate(counts)]
    return Panel(
        "faithfulness",
        "Distribution of faithfulness",
        f"Outputs by their faithfulness; its mean is {_said(whole.mean)} over {whole.count:,} outputs.",
        ("from", "to", "outputs"),
        tuple(rows),
        Drawing("bars", [f"{at / BINS:.2f}" for at in range(BINS)], counts=counts),
    )


_STEPS: Final = {
    "attribution_existence": "the source exists",
    "attribution_accuracy": "the words stand in it",
    "attribution_entailment": "it entails the claim",
    "attribution_precision": "all three",
}


def _attribution(asked: Asked) -> Panel:
    measured = read_measured(asked.connection, asked.tenant, ATTRIBUTION, asked.stretch)
    rows: list[tuple[Cell, ...]] = [(_STEPS[name], *_mean(measured.whole(name))) for name in _STEPS]
    return Panel(
        "attribution",
        "Attribution",
        "Of the citations of outputs that have any: how many pass each step, as a mean over outputs. " + _INTERVAL,
        ("step", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("ranges", named=[_named(str(row[0]), row[2:5]) for row in rows]),
    )


def _worst(asked: Asked) -> Panel:
    found = read_worst(asked.connection, asked.tenant, asked.stretch, MOST_WORST)
    claims = low_claims(asked.connection, asked.tenant, [one.report for one in found])
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        low = claims.get(one.report, [])
        said = "; ".join(f"{claim.verdict}: {claim.text or '(erased)'}" for claim in low[:CLAIMS_SHOWN])
        rows.append((one.report, moment_of_hour(one.hour), one.score, len(low), said))
    return Panel(
        "worst",
        "Worst outputs",
        "The lowest gating scores of the period, with the claims that did not hold.",
        ("run", "hour", "score", "claims that failed", "claims"),
        tuple(rows),
        runs={at: one.report for at, one in enumerate(found)},
    )


def _control(asked: Asked) -> Panel:
    charts = read_charts(asked.connection, asked.tenant)
    rows = tuple(
        (one.series, one.metric, one.direction, one.statistic, one.threshold, one.statistic / one.threshold, one.alarm)
        for one in charts
    )
    note = None if rows else "No control chart runs: see `assay monitor run`."
    return Panel(
        "cusum",
        "Control charts",
        "How far each CUSUM is from its alarm: at 1 it has reached its threshold.",
        ("series", "metric", "direction", "statistic", "threshold", "of threshold", "alarm since"),
        rows,
        Drawing("ranges", named=[(f"{row[0]} {row[1]} {row[2]}", min(float(row[5]), 1.0), None, None) for row in rows])
        if rows
        else None,
        note,
    )


def _agents(asked: Asked) -> Panel:
    found = read_agents(asked.connection, asked.tenant, [COMPOSITE, WITHHELD, CORRECTED], asked.stretch)
    rows: list[tuple[Cell, ...]] = []
    for name, of in found.items():
        withheld, corrected = of.get(WITHHELD, Sketch()), of.get(CORRECTED, Sketch())
        rows.append((name, *_mean(of.get(COMPOSITE, Sketch())), withheld.mean, corrected.mean))
    return Panel(
        "agents",
        "By agent",
        "Each caller's mean hallucination score, and the shares of its outputs that were "
        "withheld and that users corrected, in whole days. " + _INTERVAL,
        ("agent", "outputs", "mean", "low", "high", "withheld", "corrected"),
        tuple(rows),
        Drawing("ranges", named=[_named(str(row[0]), row[2:5]) for row in rows[:20]]),
    )


def _retrieval(asked: Asked) -> Panel:
    measured = read_measured(asked.connection, asked.tenant, [BY_RELEVANCE, RELEVANCE], asked.stretch)
    whole = measured.whole(BY_RELEVANCE)
    rows: list[tuple[Cell, ...]] = [
        (at / BINS, (at + 1) / BINS, *_mean(Sketch({at: whole.cells[at]}))) for at in sorted(whole.cells)
    ]
    found = correlation(whole, measured.whole(RELEVANCE))
    note = "No output had its passages screened: without a relevance there is nothing to correlate with."
    if whole.count:
        said = "undefined" if found is None else f"{found:.2f}"
        note = f"Correlation of the two over {whole.count:,} outputs: {said}."
    return Panel(
        "retrieval",
        "Hallucination and retrieval",
        "The rate of claims without support, by the relevance of the best passage that was kept. " + _INTERVAL,
        ("from", "to", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("ranges", named=[_named(f"{row[0]:.2f}–{row[1]:.2f}", row[3:6]) for row in rows]),
        note,
    )


def correlation(by_bin: Sketch, places: Sketch) -> float | None:
    """Pearson's correlation of the values of a sketch with the places of their bins; none where one does not vary.

    Args:
        by_bin: values of one thing in the bins of another.
        places: the other thing itself, for the mean of each bin; its middle where that is not known.
    """
    count = by_bin.count
    if count < 2:
        return None
    sum_x = sum_xx = sum_xy = sum_y = sum_yy = 0.0
    for at, cell in by_bin.cells.items():
        there = places.cells.get(at)
        x = (at + 0.5) / BINS if there is None or there.count <= 0 else there.total / UNIT / there.count
        y = cell.total / UNIT
        sum_x += x * cell.count
        sum_xx += x * x * cell.count
        sum_xy += x * y
        sum_y += y
        sum_yy += cell.squares / UNIT**2
    spread = (sum_xx - sum_x**2 / count) * (sum_yy - sum_y**2 / count)
    return None if spread <= 1e-12 else max(-1.0, min(1.0, (sum_xy - sum_x * sum_y / count) / sqrt(spread)))


def _six(asked: Asked) -> Panel:
    rows = tuple(one.row() for one in six_metrics(asked.connection, asked.tenant, asked.now))
    return Panel(
        "metrics",
        "The six metrics",
        "The last 7 days against the time before. " + _INTERVAL,
        ("metric", "outputs", "value", "low", "high", "before", "change", "change low", "change high", "state", "rule"),
        rows,
    )


def _calibration(asked: Asked) -> Panel:
    return calibration(asked.connection, asked.tenant, asked.stretch)


Maker = Callable[[Asked], Panel]


def _scores(asked: Asked) -> Panel:
    return score_panel(asked.connection, asked.tenant, asked.stretch.begins[0], asked.ends)


def _passed(asked: Asked) -> Panel:
    return passed_panel(asked.connection, asked.tenant, asked.stretch.begins[0], asked.ends)


PANELS: Final[Mapping[str, Maker]] = {
    "metrics": _six,
    "trend": _trend,
    "categories": _categories,
    "faithfulness": _faithfulness,
    "attribution": _attribution,
    "worst": _worst,
    "cusum": _control,
    "agents": _agents,
    "retrieval": _retrieval,
    "calibration": _calibration,
    "scores": _scores,
    "passed": _passed,
}
"""The panels by name, in the order in which they are shown."""


def _mean(sketch: Sketch) -> tuple[int, float | None, float | None, float | None]:
    low, high = sketch.mean_interval() or (None, None)
    return sketch.count, sketch.mean, low, high


def _rate(sketch: Sketch) -> tuple[int, int, float | None, float | None, float | None]:
    low, high = sketch.rate_interval() or (None, None)
    return sketch.count, sketch.hits, sketch.mean, low, high


def _line(name: str, parts: Sequence[Sketch]) -> Line:
    bounds = [part.mean_interval() or (None, None) for part in parts]
    return Line(name, [part.mean for part in parts], [low for low, _ in bounds], [high for _, high in bounds])


def _labels(stretch: TimeRange) -> list[str]:
    whole_days = stretch.hours >= 24
    return [f"{when:%d %b}" if whole_days else f"{when:%a %d %b %H:%M}" for when in stretch.begins]


def _named(name: str, cells: Sequence[Cell]) -> tuple[str, float | None, float | None, float | None]:
    value, low, high = map(_float, cells)
    return name, value, low, high


def _float(cell: Cell) -> float | None:
    return cell if isinstance(cell, float) else float(cell) if isinstance(cell, int) else None


def _said(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
