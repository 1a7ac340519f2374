"""The figures of an evaluation: overall, by set and by slice, each with a bootstrap interval, and the curves.

The class that counts as positive is *wrong*: every row whose label is not `supported`. F1 and the false negative rate
are of that class; the false positive rate is the share of supported rows that were flagged. Intervals resample whole
documents, since rows with the same evidence stand or fall together. A row that could not be judged counts as flagged,
because that is what the gate does with it, and has no place in AUROC, AUPRC and calibration; their number is shown.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.batch.baselines import Scored
from assay.batch.results import Result
from assay.batch.rows import LABELS, Row
from assay.batch.slices import slices_of
from assay.errors import InputError
from assay.schema import Metric
from assay.stats import calibration
from assay.stats import classification as stats

RESAMPLES: Final = 300
"""Bootstrap resamples behind each interval."""
SLICE_RESAMPLES: Final = 100
"""The same for slices, of which there are many."""
SEED: Final = 2020
"""Seed of the resampling: the same results give the same report."""
CURVE_POINTS: Final = 300
"""Points of a curve that are kept."""
LEAST_SLICE: Final = 20
"""Rows that a slice needs to be shown with figures."""

FIGURES: Final[Mapping[str, str]] = {
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1 of wrong",
    "auroc": "AUROC",
    "auprc": "AUPRC of wrong",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "ece": "calibration error (ECE)",
    "contradiction_auroc": "AUROC contradicted against unsupported",
    "span_f1": "span F1",
}
"""The figures in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its interval of 95%, or why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some rows."""

    name: str
    rows: int
    """Labelled rows."""
    wrong: int
    """Those whose label is not `supported`."""
    not_judged: int
    """Those that have no score."""
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Curves:
    """The points of the curves; x and y in [0, 1]."""

    roc: tuple[tuple[float, float], ...] = ()
    """False positive rate, true positive rate."""
    pr: tuple[tuple[float, float], ...] = ()
    """Recall, precision."""
    reliability: tuple[tuple[float, float, int], ...] = ()
    """Mean score, share of supported rows, and rows, by bins of the score."""


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
    systems_by_set: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    """From set to system to balanced accuracy."""
    notes: tuple[str, ...] = ()
    """What was left out and why, and the thresholds of the baselines."""
    curves: Curves = Curves()

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Columns:
    """Labelled rows as columns, with what one system says of them."""

    wrong: NDArray[np.bool_]
    flagged: NDArray[np.bool_]
    support: NDArray[np.float64]
    """The score of support; NaN where there is none."""
    documents: NDArray[np.str_]

    def take(self, chosen: NDArray[np.intp]) -> "Columns":
        """Some of the rows, which may repeat."""
        return Columns(self.wrong[chosen], self.flagged[chosen], self.support[chosen], self.documents[chosen])


def columns(rows: Sequence[Row], scored: Scored) -> Columns:
    """The columns of labelled rows."""
    return Columns(
        wrong=np.array([row.wrong for row in rows], dtype=np.bool_),
        flagged=np.array(scored.flagged, dtype=np.bool_),
        support=np.array([np.nan if score is None else score for score in scored.scores], dtype=np.float64),
        documents=np.array([row.document for row in rows], dtype=np.str_),
    )


def _basic(data: Columns) -> dict[str, Metric]:
    """The figures that are resampled."""
    has = ~np.isnan(data.support)
    wrong, doubt = data.wrong[has], 1 - data.support[has]
    return {
        "balanced_accuracy": stats.balanced_accuracy(data.wrong, data.flagged),
        "f1": stats.f1(data.wrong, data.flagged),
        "auroc": stats.auroc(wrong, doubt),
        "auprc": stats.auprc(wrong, doubt),
        "fpr": stats.false_positive_rate(data.wrong, data.flagged),
        "fnr": stats.false_negative_rate(data.wrong, data.flagged),
    }


def _with_intervals(data: Columns, resamples: int) -> dict[str, Figure]:
    """All figures over the same resamples of documents; one pass serves them all."""
    drawn: dict[str, list[float]] = defaultdict(list)

    def record(chosen: NDArray[np.intp]) -> Metric:
        found = _basic(data.take(chosen))
        for name, metric in found.items():
            if metric.value is not None:
                drawn[name].append(metric.value)
        return found["balanced_accuracy"]

    stats.bootstrap_interval(
        record, len(data.wrong), np.random.default_rng(SEED), n=resamples, groups=data.documents.tolist()
    )
    return {name: _figure(metric, drawn[name]) for name, metric in _basic(data).items()}


def _figure(metric: Metric, drawn: Sequence[float] = ()) -> Figure:
    if metric.value is None:
        return Figure(None, undefined=metric.undefined)
    if not drawn:
        return Figure(metric.value)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(metric.value, float(low), float(high))


def figures(name: str, data: Columns, resamples: int = RESAMPLES) -> Figures:
    """The figures of some labelled rows that one system has judged.

    Args:
        name: for people.
        data: at least one row.
        resamples: bootstrap resamples.
    """
    found = _with_intervals(data, resamples)
    has = ~np.isnan(data.support)
    if has.any():
        found["ece"] = Figure(calibration.ece(data.support[has], ~data.wrong[has]))
    return Figures(
        name=name,
        rows=len(data.wrong),
        wrong=int(data.wrong.sum()),
        not_judged=int((~has).sum()),
        figures=found,
    )


def _of_guard(name: str, rows: Sequence[Row], results: Sequence[Result], data: Columns) -> Figures:
    """The figures of the guard, with those that need more than a score: contradiction and spans."""
    base = figures(name, data)
    more = {
        "contradiction_auroc": _contradiction_auroc(rows, results),
        "span_f1": _span_f1(rows, results),
    }
    return Figures(base.name, base.rows, base.wrong, base.not_judged, {**base.figures, **more})


def _contradiction_auroc(rows: Sequence[Row], results: Sequence[Result]) -> Figure:
    """How well the score of contradiction tells contradicted rows from unsupported ones."""
    three_way = {"contradicted", "unsupported"}
    chosen = [
        (row.label == "contradicted", result.contradiction)
        for row, result in zip(rows, results, strict=True)
        if row.label in three_way and result.contradiction is not None
    ]
    if not chosen:
        return Figure(None, undefined="no row is labelled contradicted or unsupported")
    return _figure(stats.auroc([label for label, _ in chosen], [score for _, score in chosen]))


def _span_f1(rows: Sequence[Row], results: Sequence[Result]) -> Figure:
    marked = [(row.spans, r.spans) for row, r in zip(rows, results, strict=True) if row.spans is not None]
    if not marked:
        return Figure(None, undefined="no row has spans")
    return _figure(stats.span_f1([found for _, found in marked], [right for right, _ in marked]).f1)


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
    data = columns(kept, guard)
    overall = _of_guard("all rows", kept, judged, data)
    by_set = _groups([row.set for row in kept])
    sets = tuple(
        _of_guard(name, [kept[i] for i in chosen], [judged[i] for i in chosen], data.take(chosen))
        for name, chosen in by_set.items()
    )
    systems = [guard, *others] if others else []
    tables = {scored.name: columns(kept, scored) for scored in systems}
    return Summary(
        identity=dict(identity),
        rows=len(rows),
        unlabelled=len(rows) - len(kept),
        threshold=threshold,
        overall=overall,
        sets=sets,
        slices=_slices(kept, data, slice_keys),
        systems=tuple(figures(name, table) for name, table in tables.items()),
        systems_by_set={
            name: {system: _accuracy(table.take(chosen)) for system, table in tables.items()}
            for name, chosen in by_set.items()
        }
        if systems
        else {},
        notes=tuple(notes),
        curves=_curves(data),
    )


def _keep(scored: Scored, chosen: Sequence[int]) -> Scored:
    scores = tuple(scored.scores[index] for index in chosen)
    return Scored(scored.name, scores, tuple(scored.flagged[index] for index in chosen), scored.threshold)


def _accuracy(data: Columns) -> Figure:
    return _figure(stats.balanced_accuracy(data.wrong, data.flagged))


def _groups(names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """The indices of each name, in the order of first appearance."""
    members: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        members.setdefault(name, []).append(index)
    return {name: np.array(found, dtype=np.intp) for name, found in members.items()}


def _slices(rows: Sequence[Row], data: Columns, keys: Sequence[str]) -> dict[str, tuple[Figures, ...]]:
    """Figures of every slice that has rows enough, by the way of slicing, the slices by name."""
    found = [slices_of(row, keys) for row in rows]
    sliced: dict[str, tuple[Figures, ...]] = {}
    for way in found[0]:
        groups = _groups([slices[way] for slices in found])
        large = [(name, chosen) for name, chosen in sorted(groups.items()) if len(chosen) >= LEAST_SLICE]
        sliced[way] = tuple(figures(name, data.take(chosen), SLICE_RESAMPLES) for name, chosen in large)
    return sliced


def _curves(data: Columns) -> Curves:
    has = ~np.isnan(data.support)
    wrong, support = data.wrong[has], data.support[has]
    if not has.any():
        return Curves()
    bins = calibration.reliability(support, ~wrong)
    return Curves(
        roc=_points(stats.roc_curve(wrong, 1 - support)),
        pr=_points(stats.precision_recall_curve(wrong, 1 - support)),
        reliability=tuple(
            (b.mean_probability, b.frequency, b.count)
            for b in bins
            if b.mean_probability is not None and b.frequency is not None
        ),
    )


def _points(curve: stats.Curve | None) -> tuple[tuple[float, float], ...]:
    if curve is None:
        return ()
    count = len(curve.x)
    chosen = np.unique(np.linspace(0, count - 1, min(count, CURVE_POINTS)).round().astype(int))
    return tuple((round(float(curve.x[i]), 5), round(float(curve.y[i]), 5)) for i in chosen)
