"""The summary of an evaluation: figures overall, by set and by slice, baselines, and curves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.evaluation.figures.baselines import SystemScores
from assay.evaluation.figures.gate_rates import Decided, GateFigures, gate_figures
from assay.evaluation.figures.metrics import SLICE_RESAMPLES, Columns, Figure, Figures, columns, difference, figures
from assay.evaluation.figures.slice_rates import is_flagged
from assay.evaluation.rows.labels import LABELS
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.evaluation.rows.slices import slice_order, slices_of
from assay.stats import calibration
from assay.stats import classification as stats

CURVE_POINTS: Final = 300
"""The most points of a curve."""
LEAST_SLICE: Final = 20
"""The fewest rows of a slice for which figures are shown."""
LEAST_DIAGRAM: Final = 100
"""The fewest rows of a slice for a reliability diagram: in ten bins fewer would show only chance."""
COMPARED: Final = ("balanced_accuracy", "auroc", "f1")
"""The figures by which systems are compared set by set."""
DIAGRAMS: Final = ("domain", "claim length", "evidence length")
"""The ways of slicing that have reliability diagrams."""

Bins = tuple[tuple[float, float, int], ...]
"""For each bin of the score: the mean score, the share of supported rows, and the number of rows."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The points of the curves; x and y in [0, 1]."""

    roc: tuple[tuple[float, float], ...] = ()
    """False positive rate, true positive rate."""
    pr: tuple[tuple[float, float], ...] = ()
    """Recall, precision."""
    reliability: Bins = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of an evaluation."""

    identity: Mapping[str, str]
    """Names and digests of verifier and policy, and the version of assay."""
    rows: int
    unlabelled: int
    threshold: float | None
    """The score below which a row counts as flagged; none if the verdict decides."""
    overall: Figures
    sets: tuple[Figures, ...]
    slices: Mapping[str, tuple[Figures, ...]]
    systems: tuple[Figures, ...] = ()
    """The guard and the baselines over all rows; empty without baselines."""
    systems_by_set: Mapping[str, Mapping[str, Mapping[str, Figure]]] = field(default_factory=dict)
    """Figures by name (those of `COMPARED`), set and system."""
    margins: Mapping[str, tuple[str, Figure]] = field(default_factory=dict)
    """By set the baseline with the best balanced accuracy, and that of the guard less that of the baseline."""
    notes: tuple[str, ...] = ()
    """Baselines that were left out and why, and the thresholds of the others."""
    curves: Curves = Curves()
    reliability: Mapping[str, Mapping[str, Bins]] = field(default_factory=dict)
    """Reliability diagrams by way of slicing and slice."""
    gates: tuple[GateFigures, ...] = ()
    """The rates of each policy's gate on the rows that are outputs; empty if all rows are claims."""

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        from assay.evaluation.figures.summary_views import summary_lines

        return "\n".join(summary_lines(self))

    def _repr_html_(self) -> str:
        """The figures as HTML, for notebooks."""
        from assay.evaluation.figures.summary_views import summary_html

        return summary_html(self)

    def to_dataframe(self, library: str | None = None) -> Any:
        """The figures as a data frame of polars or pandas: one row for all rows, each set and each slice.

        Args:
            library: `polars` or `pandas`; by default the one that is loaded already, else the one that is installed.

        Raises:
            MissingPackageError: neither is installed.
        """
        from assay.evaluation.figures.summary_views import summary_frame

        return summary_frame(self, library)


def guard_scores(name: str, results: Sequence[Result], threshold: float | None) -> SystemScores:
    """The guard's own scores: a row is flagged below the threshold, or without one if it is not `supported`."""
    flagged = tuple(is_flagged(result, threshold) for result in results)
    return SystemScores(name, tuple(result.score for result in results), flagged, threshold)


def summarise(
    rows: Sequence[Row],
    results: Sequence[Result],
    identity: Mapping[str, str],
    *,
    threshold: float | None = None,
    slice_keys: Sequence[str] = (),
    baselines: Sequence[SystemScores] = (),
    notes: Sequence[str] = (),
) -> Summary:
    """The summary of an evaluation.

    Args:
        rows: the rows.
        results: one for each row.
        identity: names and digests of verifier and policy.
        threshold: the score below which a row counts as flagged; without one the verdict decides.
        slice_keys: names in `meta` to slice by.
        baselines: other systems on the same rows.
        notes: remarks on the baselines.

    Raises:
        InputError: no row has a label.
    """
    labelled = [index for index, row in enumerate(rows) if row.label is not None]
    if not labelled:
        raise InputError("no row has a label, so there is nothing to measure; labels are " + ", ".join(LABELS))
    kept = [rows[index] for index in labelled]
    judged = [results[index] for index in labelled]
    guard = guard_scores("assay", judged, threshold)
    others = [_select(scored, labelled) for scored in baselines]
    data = columns(kept, guard, judged)
    by_set = _groups([row.set for row in kept])
    sliced = _sliced(kept, slice_keys)
    systems = [guard, *others] if others else []
    tables = {scored.name: columns(kept, scored) for scored in systems}
    return Summary(
        identity=dict(identity),
        rows=len(rows),
        unlabelled=len(rows) - len(kept),
        threshold=threshold,
        overall=figures("all rows", data),
        sets=tuple(figures(name, data.take(chosen)) for name, chosen in by_set.items()),
        slices={
            way: tuple(figures(name, data.take(chosen), SLICE_RESAMPLES) for name, chosen in groups.items())
            for way, groups in sliced.items()
        },
        systems=tuple(figures(name, table) for name, table in tables.items()),
        systems_by_set=_compared_by_set(tables, by_set) if systems else {},
        margins=_margins(tables, by_set) if systems else {},
        notes=tuple(notes),
        curves=_curves(data),
        reliability={way: _diagrams(data, sliced[way]) for way in DIAGRAMS},
        gates=_gates(kept, judged, slice_keys),
    )


def _gates(rows: Sequence[Row], results: Sequence[Result], keys: Sequence[str]) -> tuple[GateFigures, ...]:
    """The figures of each policy under which the outputs were checked."""
    pairs = [(row, result) for row, result in zip(rows, results, strict=True) if result.gates]
    names = list(dict.fromkeys(name for _, result in pairs for name in result.gates))
    gates = []
    for name in names:
        of_policy = [(row, result.gates[name]) for row, result in pairs if name in result.gates]
        decided = [Decided(not row.wrong, action, score) for row, (action, score) in of_policy]
        slices = [slices_of(row, keys) for row, _ in of_policy]
        gates.append(gate_figures(name, decided, [row.set for row, _ in of_policy], slices))
    return tuple(gates)


def _select(scored: SystemScores, chosen: Sequence[int]) -> SystemScores:
    scores = tuple(scored.scores[index] for index in chosen)
    return SystemScores(scored.name, scores, tuple(scored.flagged[index] for index in chosen), scored.threshold)


def _compared_by_set(
    tables: Mapping[str, Columns], by_set: Mapping[str, NDArray[np.intp]]
) -> dict[str, dict[str, dict[str, Figure]]]:
    figures_by_set = {
        name: {system: figures(name, table.take(chosen), SLICE_RESAMPLES) for system, table in tables.items()}
        for name, chosen in by_set.items()
    }
    return {
        figure: {
            name: {system: system_figures.figures[figure] for system, system_figures in row.items()}
            for name, row in figures_by_set.items()
        }
        for figure in COMPARED
    }


def _margins(tables: Mapping[str, Columns], by_set: Mapping[str, NDArray[np.intp]]) -> dict[str, tuple[str, Figure]]:
    """For each set the best baseline, and the guard (the first of the systems) less it in balanced accuracy."""
    guard, *others = tables.values()
    names = list(tables)[1:]
    margins: dict[str, tuple[str, Figure]] = {}
    for name, chosen in by_set.items():
        ranked = [stats.balanced_accuracy(other.wrong[chosen], other.flagged[chosen]).value for other in others]
        best = max(range(len(others)), key=lambda index: ranked[index] or 0.0)
        margins[name] = (names[best], difference(guard.take(chosen), others[best].take(chosen), SLICE_RESAMPLES))
    return margins


def _groups(names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """The indices of each name, in the order of first appearance."""
    members: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        members.setdefault(name, []).append(index)
    return {name: np.array(found, dtype=np.intp) for name, found in members.items()}


def _sliced(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, dict[str, NDArray[np.intp]]]:
    """The row indices of every slice with enough rows, by way of slicing."""
    slices_by_row = [slices_of(row, keys) for row in rows]
    return {
        way: {
            name: chosen
            for name, chosen in sorted(
                _groups([slices[way] for slices in slices_by_row]).items(), key=lambda item: slice_order(item[0])
            )
            if len(chosen) >= LEAST_SLICE
        }
        for way in slices_by_row[0]
    }


def _diagrams(data: Columns, groups: Mapping[str, NDArray[np.intp]]) -> dict[str, Bins]:
    return {name: _bins(data.take(chosen)) for name, chosen in groups.items() if len(chosen) >= LEAST_DIAGRAM}


def _bins(data: Columns) -> Bins:
    scored = ~np.isnan(data.support)
    if not scored.any():
        return ()
    return tuple(
        (bin_.mean_probability, bin_.frequency, bin_.count)
        for bin_ in calibration.reliability(data.support[scored], ~data.wrong[scored])
        if bin_.mean_probability is not None and bin_.frequency is not None
    )


def _curves(data: Columns) -> Curves:
    scored = ~np.isnan(data.support)
    wrong, support = data.wrong[scored], data.support[scored]
    if not scored.any():
        return Curves()
    return Curves(
        roc=_points(stats.roc_curve(wrong, 1 - support)),
        pr=_points(stats.precision_recall_curve(wrong, 1 - support)),
        reliability=_bins(data),
    )


def _points(curve: stats.Curve | None) -> tuple[tuple[float, float], ...]:
    if curve is None:
        return ()
    count = len(curve.x)
    chosen = np.unique(np.linspace(0, count - 1, min(count, CURVE_POINTS)).round().astype(int))
    return tuple((round(float(curve.x[i]), 5), round(float(curve.y[i]), 5)) for i in chosen)
