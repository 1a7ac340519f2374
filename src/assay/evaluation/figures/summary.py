"""What an evaluation found: figures overall, by set and by slice, beside the baselines, and the curves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.evaluation.figures.baselines import Scored
from assay.evaluation.figures.gate_rates import Decided, GateFigures, gate_figures
from assay.evaluation.figures.metrics import SLICE_RESAMPLES, Columns, Figure, Figures, columns, difference, figures
from assay.evaluation.rows.labels import LABELS
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.evaluation.rows.slices import in_order, slices_of
from assay.stats import calibration
from assay.stats import classification as stats

CURVE_POINTS: Final = 300
"""Points of a curve that are kept."""
LEAST_SLICE: Final = 20
"""Rows that a slice needs to be shown with figures."""
LEAST_DIAGRAM: Final = 100
"""Rows that a slice needs for a reliability diagram: in ten bins fewer show nothing but chance."""
COMPARED: Final = ("balanced_accuracy", "auroc", "f1")
"""The figures in which the systems are compared set by set."""
DIAGRAMS: Final = ("domain", "claim length", "evidence length")
"""The ways of slicing that have reliability diagrams."""

Bins = tuple[tuple[float, float, int], ...]
"""Mean score, share of supported rows, and rows, by bins of the score."""


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
    """All that an evaluation found."""

    identity: Mapping[str, str]
    """Names and digests of verifier and policy, and the version of assay."""
    rows: int
    unlabelled: int
    threshold: float | None
    """The score below which a row counted as flagged; none where the verdict decided."""
    overall: Figures
    sets: tuple[Figures, ...]
    slices: Mapping[str, tuple[Figures, ...]]
    systems: tuple[Figures, ...] = ()
    """The guard and the baselines over all rows, where baselines were asked for."""
    systems_by_set: Mapping[str, Mapping[str, Mapping[str, Figure]]] = field(default_factory=dict)
    """From figure (those of `COMPARED`) to set to system."""
    margins: Mapping[str, tuple[str, Figure]] = field(default_factory=dict)
    """From set to the baseline with the best balanced accuracy there, and how far the guard lies above it."""
    notes: tuple[str, ...] = ()
    """What was left out and why, and the thresholds of the baselines."""
    curves: Curves = Curves()
    reliability: Mapping[str, Mapping[str, Bins]] = field(default_factory=dict)
    """From way of slicing to slice to its reliability diagram."""
    gates: tuple[GateFigures, ...] = ()
    """Of the outputs among the rows, what each policy's gate is worth; none where all rows are claims."""

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        from assay.evaluation.figures.summary_views import summary_lines

        return "\n".join(summary_lines(self))

    def _repr_html_(self) -> str:
        """The figures as notebooks show them."""
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


def scored_guard(name: str, results: Sequence[Result], threshold: float | None) -> Scored:
    """What the guard says: flagged is what scores below the threshold, or without one what is not `supported`."""
    scores = tuple(result.score for result in results)
    if threshold is None:
        return Scored(name, scores, tuple(not result.supported for result in results))
    return Scored(name, scores, tuple(score is None or score < threshold for score in scores), threshold)


def summarise(
    rows: Sequence[Row],
    results: Sequence[Result],
    identity: Mapping[str, str],
    *,
    threshold: float | None = None,
    slice_keys: Sequence[str] = (),
    baselines: Sequence[Scored] = (),
    notes: Sequence[str] = (),
) -> Summary:
    """The summary of an evaluation.

    Args:
        rows: the rows.
        results: one for each row.
        identity: who judged.
        threshold: the score below which a row counts as flagged; the verdict decides without one.
        slice_keys: names in `meta` to slice by.
        baselines: other systems over the same rows.
        notes: what readers should know of the baselines.

    Raises:
        InputError: no row has a label.
    """
    labelled = [index for index, row in enumerate(rows) if row.label is not None]
    if not labelled:
        raise InputError("no row has a label, so there is nothing to measure; labels are " + ", ".join(LABELS))
    kept = [rows[index] for index in labelled]
    judged = [results[index] for index in labelled]
    guard = scored_guard("assay", judged, threshold)
    others = [_keep(scored, labelled) for scored in baselines]
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
        systems_by_set=_by_set(tables, by_set) if systems else {},
        margins=_margins(tables, by_set) if systems else {},
        notes=tuple(notes),
        curves=_curves(data),
        reliability={way: _diagrams(data, sliced[way]) for way in DIAGRAMS},
        gates=_gates(kept, judged, slice_keys),
    )


def _gates(rows: Sequence[Row], results: Sequence[Result], keys: Sequence[str]) -> tuple[GateFigures, ...]:
    """The figures of each policy that the outputs were checked against."""
    pairs = [(row, result) for row, result in zip(rows, results, strict=True) if result.gates]
    names = list(dict.fromkeys(name for _, result in pairs for name in result.gates))
    found = []
    for name in names:
        own = [(row, result.gates[name]) for row, result in pairs if name in result.gates]
        decided = [Decided(not row.wrong, action, score) for row, (action, score) in own]
        slices = [slices_of(row, keys) for row, _ in own]
        found.append(gate_figures(name, decided, [row.set for row, _ in own], slices))
    return tuple(found)


def _keep(scored: Scored, chosen: Sequence[int]) -> Scored:
    scores = tuple(scored.scores[index] for index in chosen)
    return Scored(scored.name, scores, tuple(scored.flagged[index] for index in chosen), scored.threshold)


def _by_set(
    tables: Mapping[str, Columns], by_set: Mapping[str, NDArray[np.intp]]
) -> dict[str, dict[str, dict[str, Figure]]]:
    found = {
        name: {system: figures(name, table.take(chosen), SLICE_RESAMPLES) for system, table in tables.items()}
        for name, chosen in by_set.items()
    }
    return {
        figure: {name: {system: of.figures[figure] for system, of in row.items()} for name, row in found.items()}
        for figure in COMPARED
    }


def _margins(tables: Mapping[str, Columns], by_set: Mapping[str, NDArray[np.intp]]) -> dict[str, tuple[str, Figure]]:
    """The guard, the first of the systems, against the best of the others in each set."""
    guard, *others = tables.values()
    names = list(tables)[1:]
    found: dict[str, tuple[str, Figure]] = {}
    for name, chosen in by_set.items():
        ranked = [stats.balanced_accuracy(other.wrong[chosen], other.flagged[chosen]).value for other in others]
        best = max(range(len(others)), key=lambda index: ranked[index] or 0.0)
        found[name] = (names[best], difference(guard.take(chosen), others[best].take(chosen), SLICE_RESAMPLES))
    return found


def _groups(names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """The indices of each name, in the order of first appearance."""
    members: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        members.setdefault(name, []).append(index)
    return {name: np.array(found, dtype=np.intp) for name, found in members.items()}


def _sliced(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, dict[str, NDArray[np.intp]]]:
    """The indices of every slice that has rows enough, by the way of slicing."""
    found = [slices_of(row, keys) for row in rows]
    return {
        way: {
            name: chosen
            for name, chosen in sorted(
                _groups([slices[way] for slices in found]).items(), key=lambda item: in_order(item[0])
            )
            if len(chosen) >= LEAST_SLICE
        }
        for way in found[0]
    }


def _diagrams(data: Columns, groups: Mapping[str, NDArray[np.intp]]) -> dict[str, Bins]:
    return {name: _bins(data.take(chosen)) for name, chosen in groups.items() if len(chosen) >= LEAST_DIAGRAM}


def _bins(data: Columns) -> Bins:
    has = ~np.isnan(data.support)
    if not has.any():
        return ()
    return tuple(
        (bin_.mean_probability, bin_.frequency, bin_.count)
        for bin_ in calibration.reliability(data.support[has], ~data.wrong[has])
        if bin_.mean_probability is not None and bin_.frequency is not None
    )


def _curves(data: Columns) -> Curves:
    has = ~np.isnan(data.support)
    wrong, support = data.wrong[has], data.support[has]
    if not has.any():
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
