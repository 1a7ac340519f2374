"""Figures of classification against scikit-learn's, against brute force, and at the edges.

Literals were computed once with scikit-learn 1.9.1 on the columns that `column` makes.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema import Metric
from assay.stats import classification as c


def column(rows: int, seed: int) -> list[float]:
    """Numbers of a linear congruential generator: the same everywhere, with no library's generator to change."""
    numbers = []
    for _ in range(rows):
        seed = (1103515245 * seed + 12345) % 2**31
        numbers.append(seed / 2**31)
    return numbers


FIRST, SECOND = column(60, 7), column(60, 11)
SCORES = [round(number, 1) for number in FIRST]
LABELS = [second < 0.2 + 0.6 * first for first, second in zip(FIRST, SECOND, strict=True)]
PREDICTED = [score >= 0.5 for score in SCORES]

labelled = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 0.9])), min_size=1, max_size=25)


def test_the_columns_have_ties_and_both_classes() -> None:
    assert len(set(SCORES)) == 11
    assert sum(LABELS) == 32


def test_auroc_equals_that_of_scikit_learn_with_ties() -> None:
    assert c.auroc(LABELS, SCORES).value == pytest.approx(0.7606026785714286, abs=1e-12)


def test_auprc_equals_that_of_scikit_learn_with_ties() -> None:
    assert c.auprc(LABELS, SCORES).value == pytest.approx(0.7374403759383598, abs=1e-12)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (c.f1, 0.7301587301587301),
        (c.balanced_accuracy, 0.7165178571428572),
        (c.precision, 0.7419354838709677),
        (c.recall, 0.71875),
        (c.false_positive_rate, 8 / 28),
        (c.false_negative_rate, 9 / 32),
    ],
)
def test_rates_equal_those_of_scikit_learn(figure: Callable[..., Metric], expected: float) -> None:
    assert figure(LABELS, PREDICTED).value == pytest.approx(expected, abs=1e-12)


@given(rows=labelled)
def test_auroc_is_the_share_of_pairs_in_order(rows: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    pairs = [(a, b) for label_a, a in rows for label_b, b in rows if label_a and not label_b]
    result = c.auroc(labels, scores)
    if not pairs:
        assert result.value is None
        assert result.undefined
    else:
        wanted = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
        assert result.value == pytest.approx(wanted)


@given(rows=labelled)
def test_figures_do_not_depend_on_the_order_of_rows(rows: list[tuple[bool, float]]) -> None:
    backwards = rows[::-1]
    for figure in (c.auroc, c.auprc):
        one = figure([label for label, _ in rows], [score for _, score in rows])
        other = figure([label for label, _ in backwards], [score for _, score in backwards])
        assert one == other


@pytest.mark.parametrize(
    ("figure", "labels"),
    [
        (c.auroc, [True, True]),
        (c.auroc, [False, False]),
        (c.auprc, [False, False]),
        (c.balanced_accuracy, [1, 1]),
        (c.recall, [0, 0]),
        (c.false_negative_rate, [0, 0]),
        (c.false_positive_rate, [1, 1]),
    ],
)
def test_a_missing_class_leaves_a_figure_undefined_with_a_reason(
    figure: Callable[..., Metric], labels: list[bool]
) -> None:
    result = figure(labels, [1, 0])
    assert result.value is None
    assert result.undefined in {"no row is positive", "no row is negative"}


def test_precision_and_f1_are_undefined_where_nothing_is_there_to_count() -> None:
    assert c.precision([True, False], [False, False]).undefined
    assert c.f1([False, False], [False, False]).undefined
    assert c.f1([True, False], [False, False]).value == 0


@pytest.mark.parametrize("figure", [c.auroc, c.auprc, c.roc_curve, c.precision_recall_curve, c.choose_threshold])
def test_a_score_that_is_no_number_is_an_error(figure: Callable[..., object]) -> None:
    with pytest.raises(InputError, match="finite"):
        figure([True, False], [0.5, float("nan")])


def test_columns_of_different_lengths_are_an_error() -> None:
    with pytest.raises(InputError, match="one length"):
        c.auroc([True], [0.1, 0.2])


def test_labels_other_than_two_are_an_error() -> None:
    with pytest.raises(InputError, match="labels"):
        c.f1([0, 1, 2], [0, 1, 1])


def test_the_area_under_the_roc_curve_is_the_auroc() -> None:
    curve = c.roc_curve(LABELS, SCORES)
    assert curve is not None
    area = float(np.sum(np.diff(curve.x) * (curve.y[1:] + curve.y[:-1]) / 2))
    assert area == pytest.approx(c.auroc(LABELS, SCORES).value)
    assert curve.thresholds[0] == np.inf
    assert (curve.x[-1], curve.y[-1]) == (1, 1)


def test_curves_of_one_class_do_not_exist() -> None:
    assert c.roc_curve([True, True], [0.1, 0.2]) is None
    assert c.precision_recall_curve([False], [0.1]) is None
    assert c.precision_recall_curve([True], [0.1]) is not None


@pytest.mark.parametrize("objective", ["balanced_accuracy", "f1"])
@given(rows=labelled)
def test_the_chosen_threshold_gives_the_best_figure_there_is(
    objective: c.Objective, rows: list[tuple[bool, float]]
) -> None:
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    figure = c.balanced_accuracy if objective == "balanced_accuracy" else c.f1
    chosen = c.choose_threshold(labels, scores, objective)
    if chosen is None:
        assert len(set(labels)) < 2
        return
    threshold, value = chosen
    assert figure(labels, [score >= threshold for score in scores]).value == pytest.approx(value)
    for other in scores:
        rival = figure(labels, [score >= other for score in scores]).value
        assert rival is not None
        assert value >= rival - 1e-12


def test_neighbouring_scores_are_still_told_apart() -> None:
    low, high = 0.5, float(np.nextafter(0.5, 1))
    chosen = c.choose_threshold([False, True], [low, high])
    assert chosen == (high, 1.0)


def test_spans_are_scored_by_characters_over_all_texts() -> None:
    score = c.span_f1([[(0, 10)], []], [[(5, 10)], [(0, 5)]])
    assert (score.precision.value, score.recall.value, score.f1.value) == (0.5, 0.5, 0.5)


def test_overlapping_predictions_count_once() -> None:
    assert c.span_f1([[(0, 5), (0, 5), (3, 8)]], [[(0, 8)]]).f1.value == 1


def test_no_spans_at_all_are_undefined_and_not_perfect() -> None:
    score = c.span_f1([[]], [[]])
    assert all(metric.value is None for metric in (score.precision, score.recall, score.f1))


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1])), max_size=6)


@given(guesses=spans, truths=spans)
def test_span_scores_equal_those_of_sets_of_characters(
    guesses: list[tuple[int, int]], truths: list[tuple[int, int]]
) -> None:
    ours = {char for start, end in guesses for char in range(start, end)}
    theirs = {char for start, end in truths for char in range(start, end)}
    score = c.span_f1([guesses], [truths])
    assert score.precision.value == (len(ours & theirs) / len(ours) if ours else None)
    assert score.recall.value == (len(ours & theirs) / len(theirs) if theirs else None)


def test_a_span_that_ends_before_it_starts_is_an_error() -> None:
    with pytest.raises(InputError, match="range"):
        c.span_f1([[(5, 2)]], [[]])


def share_of_positives(labels: list[int]) -> Callable[[np.ndarray[tuple[int, ...], np.dtype[np.intp]]], Metric]:
    array = np.array(labels)
    return lambda rows: Metric(value=float(array[rows].mean()))


def test_the_same_generator_gives_the_same_interval() -> None:
    figure = share_of_positives([0, 1, 1, 0, 1] * 20)
    one = c.bootstrap_interval(figure, 100, np.random.default_rng(5), n=200)
    two = c.bootstrap_interval(figure, 100, np.random.default_rng(5), n=200)
    assert one == two
    assert one.low is not None
    assert one.high is not None
    assert one.low < 0.6 < one.high


def test_rows_of_one_document_widen_the_interval() -> None:
    labels = [document % 2 for document in range(10) for _ in range(20)]
    figure = share_of_positives(labels)
    documents = [document for document in range(10) for _ in range(20)]
    alone = c.bootstrap_interval(figure, 200, np.random.default_rng(1), n=300)
    grouped = c.bootstrap_interval(figure, 200, np.random.default_rng(1), n=300, groups=documents)
    assert alone.low is not None
    assert alone.high is not None
    assert grouped.low is not None
    assert grouped.high is not None
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_resamples_without_a_value_are_left_out_and_counted() -> None:
    labels = np.array([True] + [False] * 9)
    scores = np.linspace(0, 1, 10)
    result = c.bootstrap_interval(lambda rows: c.auroc(labels[rows], scores[rows]), 10, np.random.default_rng(0), n=100)
    assert 0 < result.resamples < 100


def test_a_figure_without_any_value_has_no_interval() -> None:
    result = c.bootstrap_interval(lambda _: Metric(undefined="never"), 3, np.random.default_rng(0), n=5)
    assert (result.low, result.high, result.resamples) == (None, None, 0)


@pytest.mark.parametrize(("rows", "n", "level"), [(0, 10, 0.9), (5, 0, 0.9), (5, 10, 1.0), (5, 10, float("nan"))])
def test_settings_out_of_range_are_errors(rows: int, n: int, level: float) -> None:
    with pytest.raises(InputError):
        c.bootstrap_interval(lambda _: Metric(value=1), rows, np.random.default_rng(0), n=n, level=level)
