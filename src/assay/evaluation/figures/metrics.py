"""The figures of some rows, each with an interval from resampled documents.

The positive class is *wrong*: every row whose label is not `supported`. F1 and the false negative rate are of that
class; the false positive rate is the share of supported rows that were flagged. Intervals resample whole documents,
because rows with the same evidence are not independent. A row that could not be judged counts as flagged, because the
gate holds it back, and is left out of AUROC, AUPRC and calibration; the number of such rows is reported.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.figures import bootstrap
from assay.evaluation.figures.baselines import SystemScores
from assay.evaluation.rows.kept_rows import KeptRow
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.schema import Metric
from assay.stats import calibration, wilson
from assay.stats import classification as stats

RESAMPLES: Final = 1000
"""Bootstrap resamples behind each interval."""
SLICE_RESAMPLES: Final = 300
"""Resamples for slices, of which there are many."""
SEED: Final = 2020
"""Seed of the resampling: the same results give the same report."""
LEVEL: Final = 0.95
"""The nominal coverage of the intervals."""

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

_LEAST_NO_SUPPORT: Final = 1e-6
"""The least probability of no support that is divided by."""
_NEITHER: Final = -1
"""In `Columns.against`: the label is neither contradicted nor unsupported."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its 95% interval, or the reason why it is undefined."""

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
    contradicted: int = 0
    """Rows labelled `contradicted`."""
    unsupported: int = 0
    """Rows labelled `unsupported`; rows that are only `not_supported` are in neither."""
    documents: int = 0
    """The number of different documents, which the intervals resample."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Labelled rows as columns, with the output of one system."""

    wrong: NDArray[np.bool_]
    flagged: NDArray[np.bool_]
    support: NDArray[np.float64]
    """The score of support; NaN where there is none."""
    documents: NDArray[np.str_]
    against: NDArray[np.int8]
    """1 where the label is `contradicted`, 0 where it is `unsupported`, -1 elsewhere."""
    contradiction: NDArray[np.float64]
    """The score of contradiction; NaN where there is none."""
    spans: NDArray[np.int64]
    """Of shape (rows, 3): characters that are rightly marked, marked, and wrong; 0 if a row has no spans."""
    has_spans: NDArray[np.bool_]
    """Whether the wrong characters are labelled and the system marks characters."""

    def take(self, chosen: NDArray[np.intp]) -> "Columns":
        """Some of the rows, which may repeat."""
        return Columns(**{one.name: getattr(self, one.name)[chosen] for one in fields(self)})


def columns(rows: "Sequence[Row] | Sequence[KeptRow]", scored: SystemScores, results: Sequence[Result] = ()) -> Columns:
    """The columns of labelled rows.

    Args:
        rows: the rows.
        scored: the scores of one system.
        results: the guard's results if the system is the guard; only these have contradiction and spans.
    """
    count = len(rows)
    against = {"contradicted": 1, "unsupported": 0}
    contradiction = [result.contradiction for result in results] or [None] * count
    has_spans = [row.spans is not None and bool(results) for row in rows]
    spans = np.zeros((count, 3), dtype=np.int64)
    spans_by_row = [row.spans for row in rows]
    for index, (wrong_spans, result) in enumerate(zip(spans_by_row, results, strict=False)):
        if wrong_spans is not None:
            spans[index] = _span_counts(result.spans, wrong_spans)
    return Columns(
        wrong=np.array([row.wrong for row in rows], dtype=np.bool_),
        flagged=np.array(scored.flagged, dtype=np.bool_),
        support=_numbers(scored.scores),
        documents=np.array([row.document for row in rows], dtype=np.str_),
        against=np.array([against.get(row.label or "", _NEITHER) for row in rows], dtype=np.int8),
        contradiction=_numbers(contradiction),
        spans=spans,
        has_spans=np.array(has_spans, dtype=np.bool_),
    )


def _numbers(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _span_counts(marked: Iterable[tuple[int, int]], wrong: Iterable[tuple[int, int]]) -> tuple[int, int, int]:
    """The number of characters that are in both, that are marked, and that are wrong by the label."""
    marked_characters, wrong_characters = (set().union(*(range(*span) for span in spans)) for spans in (marked, wrong))
    return len(marked_characters & wrong_characters), len(marked_characters), len(wrong_characters)


def figures(name: str, data: Columns, resamples: int = RESAMPLES) -> Figures:
    """The figures of some labelled rows that one system has judged.

    Args:
        name: the name of the rows, for people.
        data: the rows, at least one.
        resamples: bootstrap resamples.
    """
    return Figures(
        name=name,
        rows=len(data.wrong),
        wrong=int(data.wrong.sum()),
        not_judged=int(np.isnan(data.support).sum()),
        figures=_with_intervals(data, resamples),
        contradicted=int((data.against == 1).sum()),
        unsupported=int((data.against == 0).sum()),
        documents=len(set(data.documents.tolist())),
    )


def difference(system: Columns, reference: Columns, resamples: int = RESAMPLES) -> Figure:
    """The balanced accuracy of a system less that of a reference on the same rows, both on the same resamples.

    Unlike two overlapping intervals, the interval of the difference shows whether one is ahead of the other.

    Args:
        system: the output of the system.
        reference: the output of the reference on the same rows in the same order.
        resamples: bootstrap resamples.
    """
    system_metric, reference_metric = (
        stats.balanced_accuracy(data.wrong, data.flagged) for data in (system, reference)
    )
    if system_metric.value is None or reference_metric.value is None:
        return Figure(None, undefined=system_metric.undefined or reference_metric.undefined)
    drawn = [
        bootstrap.rates(counts, system.wrong, system.flagged)["balanced_accuracy"]
        - bootstrap.rates(counts, reference.wrong, reference.flagged)["balanced_accuracy"]
        for counts in bootstrap.weights(system.documents, resamples, SEED)
    ]
    return Figure(system_metric.value - reference_metric.value, *_bounds(np.concatenate(drawn)))


def differences(system: Columns, reference: Columns, resamples: int = RESAMPLES) -> dict[str, Figure]:
    """Every figure of a system less that of a reference on the same rows, both on the same resamples.

    Args:
        system: the output of the system.
        reference: the output of the reference on the same rows in the same order.
        resamples: bootstrap resamples.
    """
    drawn = [
        {name: values - reference_values[name] for name, values in _resampled(system, counts).items()}
        for counts in bootstrap.weights(system.documents, resamples, SEED)
        for reference_values in [_resampled(reference, counts)]
    ]
    system_metrics, reference_metrics = _point_figures(system), _point_figures(reference)
    figures_by_name: dict[str, Figure] = {}
    for name, metric in system_metrics.items():
        value, reference_value = metric.value, reference_metrics[name].value
        if value is None or reference_value is None:
            figures_by_name[name] = Figure(None, undefined=metric.undefined or reference_metrics[name].undefined)
        else:
            figures_by_name[name] = Figure(
                value - reference_value, *_bounds(np.concatenate([block[name] for block in drawn]))
            )
    return figures_by_name


def _with_intervals(data: Columns, resamples: int) -> dict[str, Figure]:
    """All figures over the same resamples of documents; the intervals of rates of 0 and 1 are Wilson's (ADR 0077)."""
    blocks = [_resampled(data, counts) for counts in bootstrap.weights(data.documents, resamples, SEED)]
    figures_by_name = {
        name: _figure(metric, np.concatenate([block[name] for block in blocks]))
        for name, metric in _point_figures(data).items()
    }
    rate_figures = {
        name: _extreme_rate(figures_by_name[name], data.documents[data.wrong == wrong])
        for name, wrong in _RATE_CLASSES.items()
    }
    any_extreme = any(rate_figures[name] != figures_by_name[name] for name in rate_figures)
    defined = [rate for rate in rate_figures.values() if rate.low is not None and rate.high is not None]
    accuracy = figures_by_name["balanced_accuracy"]
    if any_extreme and len(defined) == len(rate_figures) and accuracy.value is not None:
        low = 1 - sum(rate.high or 0.0 for rate in defined) / 2
        high = 1 - sum(rate.low or 0.0 for rate in defined) / 2
        rate_figures["balanced_accuracy"] = Figure(
            accuracy.value, min(low, accuracy.low or low), max(high, accuracy.high or high)
        )
    return figures_by_name | rate_figures


_RATE_CLASSES: Final = {"fpr": False, "fnr": True}
"""The error rates, and whether each is of wrong rows."""


def _extreme_rate(figure: Figure, documents: NDArray[np.str_]) -> Figure:
    """A rate of 0 or 1, which is the same in every resample, with Wilson's interval over its documents.

    It counts documents and not rows, because rows with the same evidence are not independent: rather too wide than too
    narrow.
    """
    if figure.value not in (0.0, 1.0) or not len(documents):
        return figure
    count = len(set(documents.tolist()))
    return Figure(figure.value, *wilson(round(figure.value * count), count))


def _figure(metric: Metric, drawn: NDArray[np.float64]) -> Figure:
    """A metric with its interval."""
    if metric.value is None:
        return Figure(None, undefined=metric.undefined)
    return Figure(metric.value, *_bounds(drawn))


def _bounds(drawn: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The percentile interval over those resamples on which a figure is defined."""
    usable = drawn[~np.isnan(drawn)]
    if not len(usable):
        return None, None
    low, high = np.quantile(usable, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _resampled(data: Columns, counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The figures of `_point_figures` on each resample."""
    scored = ~np.isnan(data.support)
    wrong, support = data.wrong[scored], data.support[scored]
    auroc, auprc = bootstrap.ranks(counts[:, scored], wrong, 1 - support)
    thresholded, ranked = _labels_and_scores(data)
    against, _ = bootstrap.ranks(counts[:, thresholded], data.against[thresholded] == 1, ranked)
    return {
        **bootstrap.rates(counts, data.wrong, data.flagged),
        "auroc": auroc,
        "auprc": auprc,
        "ece": bootstrap.ece(counts[:, scored], support, ~wrong),
        "contradiction_auroc": against,
        "span_f1": bootstrap.span_f1(counts[:, data.has_spans], data.spans[data.has_spans]),
    }


def _point_figures(data: Columns) -> dict[str, Metric]:
    """The figures of these rows without intervals, in the order of `FIGURES`; undefined ones say why."""
    scored = ~np.isnan(data.support)
    wrong, support = data.wrong[scored], data.support[scored]
    return {
        "balanced_accuracy": stats.balanced_accuracy(data.wrong, data.flagged),
        "f1": stats.f1(data.wrong, data.flagged),
        "auroc": stats.auroc(wrong, 1 - support),
        "auprc": stats.auprc(wrong, 1 - support),
        "fpr": stats.false_positive_rate(data.wrong, data.flagged),
        "fnr": stats.false_negative_rate(data.wrong, data.flagged),
        "ece": Metric(value=calibration.ece(support, ~wrong))
        if scored.any()
        else Metric(undefined="no row has a score"),
        "contradiction_auroc": _contradiction_auroc(data),
        "span_f1": _span_f1(data),
    }


def _labels_and_scores(data: Columns) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which rows are labelled contradicted or unsupported, and the score that distinguishes these.

    All of these rows lack support, so they are ranked by the probability of contradiction given no support:
    contradiction / (1 - support).
    """
    chosen = (data.against != _NEITHER) & ~np.isnan(data.contradiction) & ~np.isnan(data.support)
    return chosen, data.contradiction[chosen] / np.maximum(1 - data.support[chosen], _LEAST_NO_SUPPORT)


def _contradiction_auroc(data: Columns) -> Metric:
    """How well contradicted rows are distinguished from unsupported ones."""
    chosen, ranked = _labels_and_scores(data)
    if not chosen.any():
        return Metric(undefined="no row is labelled contradicted or unsupported")
    return stats.auroc(data.against[chosen] == 1, ranked)


def _span_f1(data: Columns) -> Metric:
    """F1 over characters, pooled over the rows with labelled spans; as `stats.classification.span_f1`."""
    if not data.has_spans.any():
        return Metric(undefined="no row has spans")
    common, marked, wrong = data.spans[data.has_spans].sum(axis=0).tolist()
    if not marked + wrong:
        return Metric(undefined="no character was marked or is to be marked")
    return Metric(value=2 * common / (marked + wrong))
