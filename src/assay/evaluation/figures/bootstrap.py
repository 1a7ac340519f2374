"""Bootstrap over whole documents, vectorised over resamples.

A resample draws as many documents as there are, with replacement; each row then counts as often as its document was
drawn. Figures are written as sums over rows weighted by these counts, so that many resamples are one product of
matrices, and scores are sorted only once. With weights of one they equal the figures of `assay.stats` (tested).
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELLS: Final = 4_000_000
"""The most weights (resamples times rows) held at a time: 32 MB."""
BINS: Final = 10
"""Bins of the calibration error, as in `stats.calibration.ece`."""


def weights(documents: NDArray[np.str_], resamples: int, seed: int) -> Iterator[Floats]:
    """How often each row counts in each resample.

    Args:
        documents: the document of each row.
        resamples: the number of resamples.
        seed: equal seeds give equal resamples.

    Yields:
        Blocks of shape (some resamples, rows), together `resamples` of them.
    """
    # Documents are numbered by first appearance, not by name, so that renaming them does not change the draws.
    _, first, inverse = np.unique(documents, return_index=True, return_inverse=True)
    document_index = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    count = len(first)
    rng = np.random.default_rng(seed)
    block = max(1, CELLS // len(documents))
    for begin in range(0, resamples, block):
        drawn = rng.integers(0, count, size=(min(block, resamples - begin), count))
        draws = np.stack([np.bincount(documents_drawn, minlength=count) for documents_drawn in drawn])
        yield draws[:, document_index].astype(np.float64)


def rates(counts: Floats, wrong: NDArray[np.bool_], flagged: NDArray[np.bool_]) -> dict[str, Floats]:
    """Balanced accuracy, F1, false positive and false negative rate of each resample; NaN where undefined."""
    cells = np.stack([wrong & flagged, ~wrong & flagged, ~wrong & ~flagged, wrong & ~flagged], axis=1)
    hit, alarm, clear, miss = (counts @ cells.astype(np.float64)).T
    fpr, fnr = _ratio(alarm, alarm + clear), _ratio(miss, miss + hit)
    return {
        "balanced_accuracy": 1 - (fpr + fnr) / 2,
        "f1": _ratio(2 * hit, 2 * hit + alarm + miss),
        "fpr": fpr,
        "fnr": fnr,
    }


def ranks(counts: Floats, positive: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    """AUROC and average precision of each resample, ties as in `stats.classification`; NaN where undefined.

    Args:
        counts: of shape (resamples, rows).
        positive: the class of each row.
        scores: the higher, the more likely positive; finite.
    """
    if not len(scores):
        undefined = np.full(len(counts), np.nan)
        return undefined, undefined
    order = np.argsort(-scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
    ordered = counts[:, order]
    positives = np.add.reduceat(ordered * positive[order], starts, axis=1)
    negatives = np.add.reduceat(ordered * ~positive[order], starts, axis=1)
    hits, alarms = positives.cumsum(axis=1), negatives.cumsum(axis=1)
    # A positive beats the negatives of every lower score and ties with those of its own.
    beaten = positives * (alarms[:, -1:] - alarms + negatives / 2)
    auroc = _ratio(beaten.sum(axis=1), hits[:, -1] * alarms[:, -1])
    precision = np.nan_to_num(_ratio(hits, hits + alarms))
    return auroc, _ratio((positives * precision).sum(axis=1), hits[:, -1])


def ece(counts: Floats, predicted: Floats, observed: NDArray[np.bool_]) -> Floats:
    """The calibration error of each resample over bins of equal width: the sum over bins of |observed - predicted|,
    divided by the rows."""
    edges = np.linspace(0, 1, BINS + 1)
    index = np.minimum(np.searchsorted(edges, predicted, side="right") - 1, BINS - 1)
    gaps = np.zeros((len(predicted), BINS))
    gaps[np.arange(len(predicted)), index] = observed.astype(np.float64) - predicted
    return _ratio(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


def span_f1(counts: Floats, spans: NDArray[np.int64]) -> Floats:
    """F1 over characters of each resample; the columns of `spans` are characters in both, marked, and wrong."""
    common, marked, wrong = (counts @ spans.astype(np.float64)).T
    return _ratio(2 * common, marked + wrong)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    ratio = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio
