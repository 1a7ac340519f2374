"""Bootstrap over whole documents, all resamples of a figure at once.

A resample draws as many documents as there are, with replacement; each row then counts as often as its document was
drawn. Figures are written as sums over rows with these counts as weights, so that many resamples are one product of
matrices, and nothing is sorted twice. With weights of one they are the figures of `assay.stats` (a test says so).
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELLS: Final = 4_000_000
"""Weights (resamples times rows) that are held at once: 32 MB."""
BINS: Final = 10
"""Bins of the calibration error, as in `stats.calibration.ece`."""


def weights(documents: NDArray[np.str_], resamples: int, seed: int) -> Iterator[Floats]:
    """How often each row counts in each resample.

    Args:
        documents: for each row its document.
        resamples: how many to draw.
        seed: the same seed draws the same.

    Yields:
        Blocks of shape (some resamples, rows), as many as give `resamples` in all.
    """
    # By first appearance and not by name, so that equal columns of different names are drawn alike.
    _, first, inverse = np.unique(documents, return_index=True, return_inverse=True)
    member = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    count = len(first)
    rng = np.random.default_rng(seed)
    block = max(1, CELLS // len(documents))
    for begin in range(0, resamples, block):
        drawn = rng.integers(0, count, size=(min(block, resamples - begin), count))
        times = np.stack([np.bincount(one, minlength=count) for one in drawn])
        yield times[:, member].astype(np.float64)


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


def ece(counts: Floats, said: Floats, came: NDArray[np.bool_]) -> Floats:
    """The calibration error of each resample over bins of equal width: sum of |came - said| by bin, over the rows."""
    edges = np.linspace(0, 1, BINS + 1)
    index = np.minimum(np.searchsorted(edges, said, side="right") - 1, BINS - 1)
    gaps = np.zeros((len(said), BINS))
    gaps[np.arange(len(said)), index] = came.astype(np.float64) - said
    return _ratio(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


def span_f1(counts: Floats, spans: NDArray[np.int64]) -> Floats:
    """F1 over characters of each resample; `spans` holds characters in both, marked, and to be marked."""
    common, found, right = (counts @ spans.astype(np.float64)).T
    return _ratio(2 * common, found + right)


def _ratio(part: Floats, whole: Floats) -> Floats:
    found = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
