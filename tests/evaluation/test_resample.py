"""Weighted figures: with whole numbers as weights they are the plain figures of the repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.evaluation.figures import bootstrap
from assay.schema import Metric
from assay.stats import calibration
from assay.stats import classification as stats

ROWS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.9, 1.0]), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


def same(drawn: np.ndarray, metric: Metric) -> None:
    if metric.value is None:
        assert np.isnan(drawn[0])
    else:
        assert drawn[0] == pytest.approx(metric.value)


@settings(deadline=None)
@given(ROWS)
def test_weights_count_as_repetitions(rows: list[tuple[bool, bool, float, int]]) -> None:
    wrong, flagged = (np.array([row[i] for row in rows], dtype=np.bool_) for i in (0, 1))
    scores = np.array([row[2] for row in rows])
    times = np.array([row[3] for row in rows])
    counts = times[None, :].astype(np.float64)
    many = np.repeat(np.arange(len(rows)), times)
    rates = bootstrap.rates(counts, wrong, flagged)
    same(rates["balanced_accuracy"], stats.balanced_accuracy(wrong[many], flagged[many]))
    same(rates["f1"], stats.f1(wrong[many], flagged[many]))
    same(rates["fpr"], stats.false_positive_rate(wrong[many], flagged[many]))
    same(rates["fnr"], stats.false_negative_rate(wrong[many], flagged[many]))
    auroc, precision = bootstrap.ranks(counts, wrong, scores)
    same(auroc, stats.auroc(wrong[many], scores[many]))
    same(precision, stats.auprc(wrong[many], scores[many]))
    if len(many):
        assert bootstrap.ece(counts, scores, wrong)[0] == pytest.approx(calibration.ece(scores[many], wrong[many]))


def test_rows_of_one_document_are_drawn_together() -> None:
    documents = np.array(["b", "a", "b", "c", "a"])
    (counts,) = bootstrap.weights(documents, 50, seed=1)
    assert counts.shape == (50, 5)
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, 1] == counts[:, 4]).all()
    assert (counts[:, 0] + counts[:, 1] + counts[:, 3] == 3).all()


def test_large_columns_are_drawn_in_blocks_that_give_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(bootstrap.weights(np.array(list("abcd")), 9, seed=3)))
    monkeypatch.setattr(bootstrap, "CELLS", 8)
    blocks = list(bootstrap.weights(np.array(list("wxyz")), 9, seed=3))
    assert [len(block) for block in blocks] == [2, 2, 2, 2, 1]
    assert (np.concatenate(blocks) == whole).all()


def test_a_figure_without_rows_is_undefined() -> None:
    none = np.zeros((4, 0))
    auroc, precision = bootstrap.ranks(none, np.zeros(0, dtype=np.bool_), np.zeros(0))
    assert np.isnan(auroc).all()
    assert np.isnan(precision).all()
    assert np.isnan(bootstrap.span_f1(none, np.zeros((0, 3), dtype=np.int64))).all()
