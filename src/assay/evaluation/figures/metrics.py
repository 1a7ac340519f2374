"""The figures of some rows, each with an interval from resampled documents.

The class that counts as positive is *wrong*: every row whose label is not `supported`. F1 and the false negative rate
are of that class; the false positive rate is the share of supported rows that were flagged. Intervals resample whole
documents, since rows with the same evidence stand or fall together. A row that could not be judged counts as flagged,
because that is what the gate does with it, and has no place in AUROC, AUPRC and calibration; their number is shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.figures import bootstrap
from assay.evaluation.figures.baselines import Scored
from assay.evaluation.rows.kept import KeptRow
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.schema import Metric
from assay.stats import calibration, wilson
from assay.stats import classification as stats

RESAMPLES: Final = 1000
"""Bootstrap resamples behind each interval."""
SLICE_RESAMPLES: Final = 300
"""The same for slices, of which there are many."""
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

_LEAST_LACKING: Final = 1e-6
"""A probability of no support that is divided by is at least so much."""
_NEITHER: Final = -1
"""In `Columns.against`: the row says nothing of contradiction against lack of support."""


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
    contradicted: int = 0
    """Rows labelled `contradicted`."""
    unsupported: int = 0
    """Rows labelled `unsupported`; rows that are only `not_supported` are in neither."""
    documents: int = 0
    """Different documents, which are what the intervals resample."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Labelled rows as columns, with what one system says of them."""

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
    """Of shape (rows, 3): characters that are rightly marked, marked, and to be marked; 0 where a row has no spans."""
    has_spans: NDArray[np.bool_]
    """Whether the row's source marks the wrong characters and the system says which they are."""

    def take(self, chosen: NDArray[np.intp]) -> "Columns":
        """Some of the rows, which may repeat."""
        return Columns(**{one.name: getattr(self, one.name)[chosen] for one in fields(self)})


def columns(rows: "Sequence[Row] | Sequence[KeptRow]", scored: Scored, results: Sequence[Result] = ()) -> Columns:
    """The columns of labelled rows.

    Args:
        rows: the rows.
        scored: what one system says of them.
        results: the guard's own results where the system is the guard: only they tell of contradiction and of spans.
    """
    count = len(rows)
    against = {"contradicted": 1, "unsupported": 0}
    contradiction = [result.contradiction for result in results] or [None] * count
    marked = [row.spans is not None and bool(results) for row in rows]
    spans = np.zeros((count, 3), dtype=np.int64)
    right = [row.spans for row in rows]
    for index, (wanted, result) in enumerate(zip(right, results, strict=False)):
        if wanted is not None:
            spans[index] = _shared(result.spans, wanted)
    return Columns(
        wrong=np.array([row.wrong for row in rows], dtype=np.bool_),
        flagged=np.array(scored.flagged, dtype=np.bool_),
        support=_numbers(scored.scores),
        documents=np.array([row.document for row in rows], dtype=np.str_),
        against=np.array([against.get(row.label or "", _NEITHER) for row in rows], dtype=np.int8),
        contradiction=_numbers(contradiction),
        spans=spans,
        has_spans=np.array(marked, dtype=np.bool_),
    )


def _numbers(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _shared(found: Iterable[tuple[int, int]], right: Iterable[tuple[int, int]]) -> tuple[int, int, int]:
    """Characters in both, in what was found, and in what is right."""
    ours, theirs = (set().union(*(range(*span) for span in spans)) for spans in (found, right))
    return len(ours & theirs), len(ours), len(theirs)


def figures(name: str, data: Columns, resamples: int = RESAMPLES) -> Figures:
    """The figures of some labelled rows that one system has judged.

    Args:
        name: for people.
        data: at least one row.
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


def difference(one: Columns, other: Columns, resamples: int = RESAMPLES) -> Figure:
    """How far one system's balanced accuracy lies above another's on the same rows, both on the same resamples.

    The interval of a difference says what two overlapping intervals do not: whether one is ahead of the other.

    Args:
        one: what the first system says.
        other: what the second says of the same rows in the same order.
        resamples: bootstrap resamples.
    """
    mine, theirs = (stats.balanced_accuracy(data.wrong, data.flagged) for data in (one, other))
    if mine.value is None or theirs.value is None:
        return Figure(None, undefined=mine.undefined or theirs.undefined)
    drawn = [
        bootstrap.rates(counts, one.wrong, one.flagged)["balanced_accuracy"]
        - bootstrap.rates(counts, other.wrong, other.flagged)["balanced_accuracy"]
        for counts in bootstrap.weights(one.documents, resamples, SEED)
    ]
    return Figure(mine.value - theirs.value, *_bounds(np.concatenate(drawn)))


def differences(one: Columns, other: Columns, resamples: int = RESAMPLES) -> dict[str, Figure]:
    """How far every figure of one system lies above another's on the same rows, both on the same resamples.

    Args:
        one: what the first system says.
        other: what the second says of the same rows in the same order.
        resamples: bootstrap resamples.
    """
    drawn = [
        {name: values - theirs[name] for name, values in _resampled(one, counts).items()}
        for counts in bootstrap.weights(one.documents, resamples, SEED)
        for theirs in [_resampled(other, counts)]
    ]
    mine, others = _all(one), _all(other)
    found: dict[str, Figure] = {}
    for name, metric in mine.items():
        value, base = metric.value, others[name].value
        if value is None or base is None:
            found[name] = Figure(None, undefined=metric.undefined or others[name].undefined)
        else:
            found[name] = Figure(value - base, *_bounds(np.concatenate([block[name] for block in drawn])))
    return found


def _with_intervals(data: Columns, resamples: int) -> dict[str, Figure]:
    """All figures over the same resamples of documents; rates that no resample moves by Wilson (ADR 0077)."""
    blocks = [_resampled(data, counts) for counts in bootstrap.weights(data.documents, resamples, SEED)]
    found = {
        name: _figure(metric, np.concatenate([block[name] for block in blocks])) for name, metric in _all(data).items()
    }
    rates = {name: _at_the_extremes(found[name], data.documents[data.wrong == wrong]) for name, wrong in _RATES.items()}
    moved = any(rates[name] != found[name] for name in rates)
    both = [rate for rate in rates.values() if rate.low is not None and rate.high is not None]
    accuracy = found["balanced_accuracy"]
    if moved and len(both) == len(rates) and accuracy.value is not None:
        low = 1 - sum(rate.high or 0.0 for rate in both) / 2
        high = 1 - sum(rate.low or 0.0 for rate in both) / 2
        rates["balanced_accuracy"] = Figure(
            accuracy.value, min(low, accuracy.low or low), max(high, accuracy.high or high)
        )
    return found | rates


_RATES: Final = {"fpr": False, "fnr": True}
"""The rates of errors, and whether they are of wrong rows."""


def _at_the_extremes(figure: Figure, documents: NDArray[np.str_]) -> Figure:
    """A rate of 0 or 1, which every resample repeats, with the interval of Wilson over its documents.

    Documents and not rows, because rows with the same evidence stand or fall together: so it is rather too wide.
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
    """The percentile interval of those resamples on which a figure had a value."""
    usable = drawn[~np.isnan(drawn)]
    if not len(usable):
        return None, None
    low, high = np.quantile(usable, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _resampled(data: Columns, counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The figures of `_all` on each resample."""
    has = ~np.isnan(data.support)
    wrong, support = data.wrong[has], data.support[has]
    auroc, auprc = bootstrap.ranks(counts[:, has], wrong, 1 - support)
    thresholded, ranked = _labels_and_scores(data)
    against, _ = bootstrap.ranks(counts[:, thresholded], data.against[thresholded] == 1, ranked)
    return {
        **bootstrap.rates(counts, data.wrong, data.flagged),
        "auroc": auroc,
        "auprc": auprc,
        "ece": bootstrap.ece(counts[:, has], support, ~wrong),
        "contradiction_auroc": against,
        "span_f1": bootstrap.span_f1(counts[:, data.has_spans], data.spans[data.has_spans]),
    }


def _all(data: Columns) -> dict[str, Metric]:
    """Every figure of these rows, in the order of `FIGURES`; undefined ones say why."""
    has = ~np.isnan(data.support)
    wrong, support = data.wrong[has], data.support[has]
    return {
        "balanced_accuracy": stats.balanced_accuracy(data.wrong, data.flagged),
        "f1": stats.f1(data.wrong, data.flagged),
        "auroc": stats.auroc(wrong, 1 - support),
        "auprc": stats.auprc(wrong, 1 - support),
        "fpr": stats.false_positive_rate(data.wrong, data.flagged),
        "fnr": stats.false_negative_rate(data.wrong, data.flagged),
        "ece": Metric(value=calibration.ece(support, ~wrong)) if has.any() else Metric(undefined="no row has a score"),
        "contradiction_auroc": _contradiction_auroc(data),
        "span_f1": _span_f1(data),
    }


def _labels_and_scores(data: Columns) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which rows are labelled contradicted or unsupported, and the score that tells these apart.

    The rows are all without support, so that they are ranked by how probable contradiction is where there is none:
    contradiction / (1 - support), of which a claim's doubtful support is no part.
    """
    chosen = (data.against != _NEITHER) & ~np.isnan(data.contradiction) & ~np.isnan(data.support)
    return chosen, data.contradiction[chosen] / np.maximum(1 - data.support[chosen], _LEAST_LACKING)


def _contradiction_auroc(data: Columns) -> Metric:
    """How well contradicted rows are told from unsupported ones."""
    chosen, ranked = _labels_and_scores(data)
    if not chosen.any():
        return Metric(undefined="no row is labelled contradicted or unsupported")
    return stats.auroc(data.against[chosen] == 1, ranked)


def _span_f1(data: Columns) -> Metric:
    """F1 over characters, pooled over the rows whose source marks them; as `stats.classification.span_f1`."""
    if not data.has_spans.any():
        return Metric(undefined="no row has spans")
    common, found, right = data.spans[data.has_spans].sum(axis=0).tolist()
    if not found + right:
        return Metric(undefined="no character was marked or is to be marked")
    return Metric(value=2 * common / (found + right))
