"""The panels of the monitor. Each reads a few hundred rows of sketches, however many outputs were measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Final

from sqlalchemy import Connection

from assay.errors import InputError
from assay.server.panels.calibration import calibration
from assay.server.panels.charts import Marker, read_charts, read_markers
from assay.server.panels.pass_rates import MOST_DRAWN, pass_rate_panel, score_panel
from assay.server.panels.values import Cell, Drawing, Line, Panel
from assay.server.panels.watched_metrics import read_watched_metrics
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
"""The periods that a panel may cover: the number of parts of each, and the hours of a part."""
MOST_WORST: Final = 10
"""Outputs that the panel of the worst ones lists."""
CLAIMS_SHOWN: Final = 3
"""Failed claims that it quotes of each output."""
_INTERVAL: Final = "Intervals are of 95%."


@dataclass(frozen=True, slots=True)
class PanelRequest:
    """Which data a panel is to show: whose, and of which stretch of time."""

    connection: Connection
    tenant: str
    now: datetime
    stretch: TimeRange

    @property
    def end(self) -> datetime:
        """The end of the last part of the stretch."""
        return self.stretch.begins[-1] + timedelta(hours=self.stretch.hours)

    def markers(self) -> tuple[Marker, ...]:
        """The changes of the system within the stretch, to be marked in the chart."""
        return read_markers(self.connection, self.tenant, self.stretch.begins[0], self.end)


def make_panel(connection: Connection, tenant: str, name: str, range_: str, now: datetime) -> Panel:
    """One panel.

    Args:
        connection: one that sees a single state of the database.
        tenant: the tenant.
        name: a key of `PANELS`.
        range_: a key of `RANGES`: the period that the panel covers.
        now: the end of the period.

    Raises:
        InputError: there is no such panel or period.
    """
    if name not in PANELS or range_ not in RANGES:
        raise InputError(f"the panels are {', '.join(PANELS)} and the periods {', '.join(RANGES)}")
    parts, hours = RANGES[range_]
    return PANELS[name](PanelRequest(connection, tenant, now, TimeRange.until(now, parts, hours)))


def _trend(request: PanelRequest) -> Panel:
    measured = read_measured(request.connection, request.tenant, [COMPOSITE], request.stretch)
    parts = [measured.part(COMPOSITE, at) for at in range(request.stretch.parts)]
    rows = [(begin, *_mean(part)) for begin, part in zip(request.stretch.begins, parts, strict=True)]
    return Panel(
        "trend",
        "Hallucination score",
        "The composite hallucination score of outputs over time: 0 is clean, 1 is all wrong. " + _INTERVAL,
        ("begins", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("line", _labels(request.stretch), (_line("mean", parts),)),
        markers=request.markers(),
    )


def _categories(request: PanelRequest) -> Panel:
    measured = read_measured(request.connection, request.tenant, CATEGORIES, request.stretch)
    rows: list[tuple[Cell, ...]] = [
        (metric.removeprefix("category."), *_rate(measured.whole(metric))) for metric in CATEGORIES
    ]
    return Panel(
        "categories",
        "Findings by category",
        "The share of outputs in which something of the category was found. " + _INTERVAL,
        ("category", "outputs", "found", "rate", "low", "high"),
        tuple(rows),
        Drawing("ranges", ranges=[_range(str(row[0]), row[3:6]) for row in rows]),
    )


def _faithfulness(request: PanelRequest) -> Panel:
    whole = read_measured(request.connection, request.tenant, [FAITHFULNESS], request.stretch).whole(FAITHFULNESS)
    counts = whole.histogram()
    rows = [(at / BINS, (at + 1) / BINS, count) for at, count in enumerate(counts)]
    return Panel(
        "faithfulness",
        "Distribution of faithfulness",
        f"Outputs by their faithfulness; its mean is {_score_words(whole.mean)} over {whole.count:,} outputs.",
        ("from", "to", "outputs"),
        tuple(rows),
        Drawing("bars", [f"{at / BINS:.2f}" for at in range(BINS)], counts=counts),
    )


_CITATION_STEPS: Final = {
    "attribution_existence": "the source exists",
    "attribution_accuracy": "the words stand in it",
    "attribution_entailment": "it entails the claim",
    "attribution_precision": "all three",
}


def _attribution(request: PanelRequest) -> Panel:
    measured = read_measured(request.connection, request.tenant, ATTRIBUTION, request.stretch)
    rows: list[tuple[Cell, ...]] = [(_CITATION_STEPS[name], *_mean(measured.whole(name))) for name in _CITATION_STEPS]
    return Panel(
        "attribution",
        "Attribution",
        "Of the citations of outputs that have any: how many pass each step, as a mean over outputs. " + _INTERVAL,
        ("step", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("ranges", ranges=[_range(str(row[0]), row[2:5]) for row in rows]),
    )


def _worst(request: PanelRequest) -> Panel:
    worst = read_worst(request.connection, request.tenant, request.stretch, MOST_WORST)
    claims = low_claims(request.connection, request.tenant, [output.report for output in worst])
    rows: list[tuple[Cell, ...]] = []
    for output in worst:
        failed = claims.get(output.report, [])
        quoted = "; ".join(f"{claim.verdict}: {claim.text or '(erased)'}" for claim in failed[:CLAIMS_SHOWN])
        rows.append((output.report, moment_of_hour(output.hour), output.score, len(failed), quoted))
    return Panel(
        "worst",
        "Worst outputs",
        "The lowest gating scores of the period, with the claims that did not hold.",
        ("run", "hour", "score", "claims that failed", "claims"),
        tuple(rows),
        runs={at: output.report for at, output in enumerate(worst)},
    )


def _control(request: PanelRequest) -> Panel:
    charts = read_charts(request.connection, request.tenant)
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
        Drawing("ranges", ranges=[(f"{row[0]} {row[1]} {row[2]}", min(float(row[5]), 1.0), None, None) for row in rows])
        if rows
        else None,
        note,
    )


def _agents(request: PanelRequest) -> Panel:
    agents = read_agents(request.connection, request.tenant, [COMPOSITE, WITHHELD, CORRECTED], request.stretch)
    rows: list[tuple[Cell, ...]] = []
    for name, sketches in agents.items():
        withheld, corrected = sketches.get(WITHHELD, Sketch()), sketches.get(CORRECTED, Sketch())
        rows.append((name, *_mean(sketches.get(COMPOSITE, Sketch())), withheld.mean, corrected.mean))
    return Panel(
        "agents",
        "By agent",
        "Each caller's mean hallucination score, and the shares of its outputs that were "
        "withheld and that users corrected, in whole days. " + _INTERVAL,
        ("agent", "outputs", "mean", "low", "high", "withheld", "corrected"),
        tuple(rows),
        Drawing("ranges", ranges=[_range(str(row[0]), row[2:5]) for row in rows[:MOST_DRAWN]]),
    )


def _retrieval(request: PanelRequest) -> Panel:
    measured = read_measured(request.connection, request.tenant, [BY_RELEVANCE, RELEVANCE], request.stretch)
    whole = measured.whole(BY_RELEVANCE)
    rows: list[tuple[Cell, ...]] = [
        (at / BINS, (at + 1) / BINS, *_mean(Sketch({at: whole.cells[at]}))) for at in sorted(whole.cells)
    ]
    r = correlation(whole, measured.whole(RELEVANCE))
    note = "No output had its passages screened: without a relevance there is nothing to correlate with."
    if whole.count:
        note = f"Correlation of the two over {whole.count:,} outputs: {'undefined' if r is None else f'{r:.2f}'}."
    return Panel(
        "retrieval",
        "Hallucination and retrieval",
        "The rate of claims without support, by the relevance of the best passage that was kept. " + _INTERVAL,
        ("from", "to", "outputs", "mean", "low", "high"),
        tuple(rows),
        Drawing("ranges", ranges=[_range(f"{row[0]:.2f}–{row[1]:.2f}", row[3:6]) for row in rows]),
        note,
    )


def correlation(by_bin: Sketch, binned: Sketch) -> float | None:
    """Pearson's correlation of two quantities y and x, from y sorted into bins by x; `None` where one does not vary.

    Args:
        by_bin: the values of y, in the bins of x.
        binned: the values of x in the same bins: a bin's mean stands for its x, or its middle where that is unknown.
    """
    count = by_bin.count
    if count < 2:
        return None
    sum_x = sum_xx = sum_xy = sum_y = sum_yy = 0.0
    for at, cell in by_bin.cells.items():
        x_cell = binned.cells.get(at)
        x = (at + 0.5) / BINS if x_cell is None or x_cell.count <= 0 else x_cell.total / UNIT / x_cell.count
        y = cell.total / UNIT
        sum_x += x * cell.count
        sum_xx += x * x * cell.count
        sum_xy += x * y
        sum_y += y
        sum_yy += cell.squares / UNIT**2
    spread = (sum_xx - sum_x**2 / count) * (sum_yy - sum_y**2 / count)
    return None if spread <= 1e-12 else max(-1.0, min(1.0, (sum_xy - sum_x * sum_y / count) / sqrt(spread)))


def _six(request: PanelRequest) -> Panel:
    rows = tuple(one.row() for one in read_watched_metrics(request.connection, request.tenant, request.now))
    return Panel(
        "metrics",
        "The six metrics",
        "The last 7 days against the time before. " + _INTERVAL,
        ("metric", "outputs", "value", "low", "high", "before", "change", "change low", "change high", "state", "rule"),
        rows,
    )


def _calibration(request: PanelRequest) -> Panel:
    return calibration(request.connection, request.tenant, request.stretch)


PanelMaker = Callable[[PanelRequest], Panel]


def _scores(request: PanelRequest) -> Panel:
    return score_panel(request.connection, request.tenant, request.stretch.begins[0], request.end)


def _pass_rates(request: PanelRequest) -> Panel:
    return pass_rate_panel(request.connection, request.tenant, request.stretch.begins[0], request.end)


PANELS: Final[Mapping[str, PanelMaker]] = {
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
    "passed": _pass_rates,
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


def _range(name: str, cells: Sequence[Cell]) -> tuple[str, float | None, float | None, float | None]:
    value, low, high = map(_float, cells)
    return name, value, low, high


def _float(cell: Cell) -> float | None:
    return cell if isinstance(cell, float) else float(cell) if isinstance(cell, int) else None


def _score_words(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
