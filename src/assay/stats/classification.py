"""How well scores and decisions separate two classes: rates, ranks, curves, thresholds and their uncertainty.

The positive class is the caller's choice; a higher score means more positive, and a row is predicted positive if its
score is at least the threshold. Where a figure has no value, such as a rate over no rows, it is undefined with a reason
and never 0 or NaN. All functions raise `InputError` for columns of different lengths and for numbers that are not
finite.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import InputError
from assay.schema import Metric

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Objective = Literal["balanced_accuracy", "f1"]

_NO_POSITIVE = "no row is positive"
_NO_NEGATIVE = "no row is negative"


@dataclass(frozen=True, slots=True)
class Confusion:
    """The counts of rows by label and prediction."""

    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of a curve, by descending threshold."""

    x: Floats
    y: Floats
    thresholds: Floats
    """The threshold of each point; infinite where nothing is predicted positive."""


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Precision, recall and F1 over characters."""

    precision: Metric
    recall: Metric
    f1: Metric


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its bootstrap interval."""

    point: Metric
    """The figure on the rows themselves."""
    low: float | None
    """The lower bound; none where the figure was undefined on all resamples."""
    high: float | None
    """The upper bound; none in the same case."""
    level: float
    """The nominal coverage, such as 0.95."""
    resamples: int
    """The number of resamples on which the figure had a value, from which the interval is computed."""


def confusion(labels: ArrayLike, predicted: ArrayLike) -> Confusion:
    """Counts the rows by label and prediction, both true for positive.

    >>> confusion([True, True, False], [True, False, False])
    Confusion(true_positive=1, false_positive=0, true_negative=1, false_negative=1)
    """
    truth, guess = _flags("labels", labels), _flags("predicted", predicted)
    _same_length(truth, guess)
    return Confusion(
        true_positive=int(np.sum(truth & guess)),
        false_positive=int(np.sum(~truth & guess)),
        true_negative=int(np.sum(~truth & ~guess)),
        false_negative=int(np.sum(truth & ~guess)),
    )


def precision(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """TP / (TP + FP), in [0, 1]; undefined where nothing was predicted positive.

    >>> precision([True, False], [True, True]).value
    0.5
    """
    table = confusion(labels, predicted)
    return _ratio(table.true_positive, table.true_positive + table.false_positive, "no row was predicted positive")


def recall(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """TP / (TP + FN), in [0, 1]; undefined where no row is positive.

    >>> recall([True, True], [True, False]).value
    0.5
    """
    table = confusion(labels, predicted)
    return _ratio(table.true_positive, table.true_positive + table.false_negative, _NO_POSITIVE)


def f1(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """2 TP / (2 TP + FP + FN), in [0, 1]; undefined where nothing is positive or predicted so.

    >>> round(f1([True, True, False], [True, False, False]).value, 3)
    0.667
    """
    table = confusion(labels, predicted)
    errors = table.false_positive + table.false_negative
    return _ratio(2 * table.true_positive, 2 * table.true_positive + errors, "nothing is positive or predicted so")


def false_positive_rate(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """FP / (FP + TN), in [0, 1]; undefined where no row is negative.

    >>> false_positive_rate([False, False, True], [True, False, True]).value
    0.5
    """
    table = confusion(labels, predicted)
    return _ratio(table.false_positive, table.false_positive + table.true_negative, _NO_NEGATIVE)


def false_negative_rate(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """FN / (FN + TP), in [0, 1]; undefined where no row is positive.

    >>> false_negative_rate([True, True, False], [True, False, False]).value
    0.5
    """
    table = confusion(labels, predicted)
    return _ratio(table.false_negative, table.false_negative + table.true_positive, _NO_POSITIVE)


def balanced_accuracy(labels: ArrayLike, predicted: ArrayLike) -> Metric:
    """The mean of the recalls of both classes, in [0, 1]; undefined where one class has no row.

    >>> balanced_accuracy([True, True, False, False], [True, False, False, False]).value
    0.75
    """
    table = confusion(labels, predicted)
    positives = table.true_positive + table.false_negative
    negatives = table.true_negative + table.false_positive
    if not positives or not negatives:
        return Metric(undefined=_one_class(positives))
    return Metric(value=(table.true_positive / positives + table.true_negative / negatives) / 2)


def auroc(labels: ArrayLike, scores: ArrayLike) -> Metric:
    """The probability that a positive row scores above a negative one, ties counting half (Mann and Whitney).

    AUROC = (R - P (P + 1) / 2) / (P N), where R is the sum of the positives' mean ranks. In [0, 1], 0.5 for chance;
    undefined where one class has no row. O(n log n).

    >>> auroc([False, False, True, True], [0.1, 0.4, 0.35, 0.8]).value
    0.75
    >>> auroc([True, True], [0.1, 0.4]).undefined
    'no row is negative'
    """
    truth, values = _labelled(labels, scores)
    positives = int(truth.sum())
    negatives = len(truth) - positives
    if not positives or not negatives:
        return Metric(undefined=_one_class(positives))
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    # Twice the mean rank of each distinct score, so that sums stay whole numbers.
    doubled = 2 * np.cumsum(counts) - counts + 1
    above = int(doubled[inverse.reshape(-1)][truth].sum()) - positives * (positives + 1)
    return Metric(value=above / (2 * positives * negatives))


def auprc(labels: ArrayLike, scores: ArrayLike) -> Metric:
    """Average precision: the sum over thresholds of (R_k - R_{k-1}) P_k, rows of one score entering together.

    In [0, 1]; the share of positives for chance. Undefined where no row is positive. It does not interpolate, so it is
    not too optimistic on ties, as the trapezoidal rule is.

    >>> round(auprc([False, False, True, True], [0.1, 0.4, 0.35, 0.8]).value, 3)
    0.833
    """
    truth, values = _labelled(labels, scores)
    if not truth.any():
        return Metric(undefined=_NO_POSITIVE)
    hits, alarms, _ = _cumulative(truth, values)
    precisions = hits / (hits + alarms)
    gains = np.diff(hits, prepend=0) / hits[-1]
    return Metric(value=min(1.0, float(np.sum(gains * precisions))))


def roc_curve(labels: ArrayLike, scores: ArrayLike) -> Curve | None:
    """False positive rate (x) against true positive rate (y), from (0, 0) to (1, 1); none where one class has no row.

    >>> [(float(x), float(y)) for x, y in zip(*(lambda c: (c.x, c.y))(roc_curve([True, False], [0.9, 0.1])))]
    [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    """
    truth, values = _labelled(labels, scores)
    if not truth.any() or truth.all():
        return None
    hits, alarms, thresholds = _cumulative(truth, values)
    return Curve(
        x=np.concatenate(([0.0], alarms / alarms[-1])),
        y=np.concatenate(([0.0], hits / hits[-1])),
        thresholds=np.concatenate(([np.inf], thresholds)),
    )


def precision_recall_curve(labels: ArrayLike, scores: ArrayLike) -> Curve | None:
    """Recall (x) against precision (y), by descending threshold; none where no row is positive.

    >>> curve = precision_recall_curve([True, False], [0.9, 0.1])
    >>> curve.x.tolist(), curve.y.tolist()
    ([1.0, 1.0], [1.0, 0.5])
    """
    truth, values = _labelled(labels, scores)
    if not truth.any():
        return None
    hits, alarms, thresholds = _cumulative(truth, values)
    return Curve(x=hits / hits[-1], y=hits / (hits + alarms), thresholds=thresholds)


def choose_threshold(
    labels: ArrayLike, scores: ArrayLike, objective: Objective = "balanced_accuracy"
) -> tuple[float, float] | None:
    """The threshold with the best balanced accuracy or F1, and that figure.

    Every distinct score is tried as a threshold. The threshold returned is midway to the next lower score, where it is
    least sensitive to noise. Of equally good ones the highest is chosen, which predicts the fewest positives.

    Returns:
        The threshold and the figure, or none where the figure is undefined on these rows.

    >>> threshold, value = choose_threshold([False, True, True], [0.2, 0.6, 0.8])
    >>> round(threshold, 3), value
    (0.4, 1.0)
    """
    truth, values = _labelled(labels, scores)
    if not truth.any() or (objective == "balanced_accuracy" and truth.all()):
        return None
    hits, alarms, thresholds = _cumulative(truth, values)
    if objective == "f1":
        figures = 2 * hits / (hits + alarms + hits[-1])
    else:
        figures = (hits / hits[-1] + (1 - alarms / alarms[-1])) / 2
    best = int(np.argmax(figures))
    threshold = float(thresholds[best])
    if best + 1 < len(thresholds):
        lower = float(thresholds[best + 1])
        middle = lower + (threshold - lower) / 2
        # Neighbouring floats have no middle: the threshold would include the lower score.
        threshold = middle if middle > lower else threshold
    return threshold, float(figures[best])


def span_f1(predicted: Sequence[Iterable[tuple[int, int]]], expected: Sequence[Iterable[tuple[int, int]]]) -> SpanScore:
    """Precision, recall and F1 over characters, pooled over texts (as the RAGTruth benchmark scores spans).

    Args:
        predicted: for each text the half-open ranges of characters that were predicted; overlaps count once.
        expected: for each text the correct ranges.

    Returns:
        Each in [0, 1]; precision is undefined where nothing was predicted, recall where nothing was expected, F1 where
        both.

    Raises:
        InputError: the numbers of texts differ, or a range is negative or ends before it starts.

    >>> score = span_f1([[(0, 4)]], [[(2, 6)]])
    >>> score.precision.value, score.recall.value, score.f1.value
    (0.5, 0.5, 0.5)
    """
    if len(predicted) != len(expected):
        raise InputError(f"expected spans for as many texts, got {len(predicted)} and {len(expected)}")
    common = guessed = right = 0
    for guesses, truths in zip(predicted, expected, strict=True):
        ours, theirs = _merged(guesses), _merged(truths)
        guessed += sum(end - start for start, end in ours)
        right += sum(end - start for start, end in theirs)
        common += _overlap(ours, theirs)
    return SpanScore(
        precision=_ratio(common, guessed, "no character was predicted"),
        recall=_ratio(common, right, "no character was expected"),
        f1=_ratio(2 * common, guessed + right, "no character was predicted or expected"),
    )


def bootstrap_interval(
    statistic: Callable[[NDArray[np.intp]], Metric],
    rows: int,
    rng: np.random.Generator,
    n: int = 1000,
    level: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Interval:
    """The percentile bootstrap interval of a figure, over rows or over whole documents.

    Args:
        statistic: computes the figure on the rows with the given indices, which may repeat.
        rows: the number of rows.
        rng: the source of randomness; the same state gives the same interval.
        n: the number of resamples.
        level: the nominal coverage, above 0 and below 1.
        groups: the document of each row. Rows of one document are correlated, so whole documents are resampled;
            otherwise the interval would be too narrow.

    Raises:
        InputError: there are no rows, `n` or `level` is out of range, or `groups` has another length.

    >>> labels, scores = np.array([True, False] * 20), np.linspace(0, 1, 40)
    >>> interval = bootstrap_interval(lambda i: auroc(labels[i], scores[i]), 40, np.random.default_rng(0), n=200)
    >>> interval.low < interval.point.value < interval.high
    True
    """
    if rows < 1 or n < 1 or not 0 < level < 1:
        raise InputError(f"expected rows, resamples and a level within (0, 1), got {rows}, {n} and {level}")
    draw = _row_sampler(rows, rng) if groups is None else _group_sampler(rows, groups, rng)
    figures = [metric.value for metric in (statistic(draw()) for _ in range(n)) if metric.value is not None]
    point = statistic(np.arange(rows))
    if not figures:
        return Interval(point, low=None, high=None, level=level, resamples=0)
    low, high = np.quantile(figures, [(1 - level) / 2, (1 + level) / 2])
    return Interval(point, low=float(low), high=float(high), level=level, resamples=len(figures))


def _row_sampler(rows: int, rng: np.random.Generator) -> Callable[[], NDArray[np.intp]]:
    return lambda: rng.integers(0, rows, size=rows)


def _group_sampler(rows: int, groups: Sequence[Hashable], rng: np.random.Generator) -> Callable[[], NDArray[np.intp]]:
    if len(groups) != rows:
        raise InputError(f"expected a group for each of {rows} rows, got {len(groups)}")
    # In order of first appearance rather than of hashes, so that the interval is the same in every process.
    members: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    pieces = [np.array(member, dtype=np.intp) for member in members.values()]

    def draw() -> NDArray[np.intp]:
        return np.concatenate([pieces[index] for index in rng.integers(0, len(pieces), size=len(pieces))])

    return draw


def _cumulative(truth: Flags, values: Floats) -> tuple[Floats, Floats, Floats]:
    """The positives and negatives at or above each distinct score, by descending score, and the scores."""
    order = np.argsort(-values, kind="stable")
    ordered, hits = values[order], np.cumsum(truth[order])
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    counted = hits[last].astype(np.float64)
    return counted, last + 1 - counted, ordered[last]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start < 0 or end < start:
            raise InputError(f"expected a range with 0 <= start <= end, got {start} and {end}")
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _overlap(ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> int:
    common = index = 0
    for start, end in ours:
        while index < len(theirs) and theirs[index][1] <= start:
            index += 1
        other = index
        while other < len(theirs) and theirs[other][0] < end:
            common += min(end, theirs[other][1]) - max(start, theirs[other][0])
            other += 1
    return common


def _labelled(labels: ArrayLike, scores: ArrayLike) -> tuple[Flags, Floats]:
    truth, values = _flags("labels", labels), np.asarray(scores, dtype=np.float64).reshape(-1)
    _same_length(truth, values)
    if not np.isfinite(values).all():
        raise InputError("expected finite scores, got NaN or infinity")
    return truth, values


def _flags(name: str, values: ArrayLike) -> Flags:
    found = np.asarray(values).reshape(-1)
    if found.dtype != np.bool_ and not np.isin(found, (0, 1)).all():
        raise InputError(f"expected {name} of true and false or 1 and 0, got others")
    return found.astype(np.bool_)


def _same_length(first: NDArray[np.generic], second: NDArray[np.generic]) -> None:
    if len(first) != len(second):
        raise InputError(f"expected columns of one length, got {len(first)} and {len(second)}")


def _ratio(part: float, whole: float, undefined: str) -> Metric:
    return Metric(value=part / whole) if whole else Metric(undefined=undefined)


def _one_class(positives: int) -> str:
    return _NO_NEGATIVE if positives else _NO_POSITIVE
