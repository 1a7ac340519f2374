"""Metrics of one output: worked examples of the seeds, edges, and properties."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema import Metric
from assay.stats import metrics

probability = st.floats(0, 1)
scores = st.lists(probability, max_size=20)
flags = st.lists(st.booleans(), max_size=20)

OVER_SCORES: list[Callable[[list[float]], Metric]] = [
    metrics.faithfulness,
    metrics.self_consistency,
    lambda values: metrics.groundedness(values, 0.5),
    lambda values: metrics.weighted_faithfulness(values, [0.5] * len(values)),
]
OVER_FLAGS: list[Callable[[list[bool]], Metric]] = [
    metrics.factscore,
    metrics.factual_accuracy_rate,
    metrics.hallucination_rate,
]


def is_sound(metric: Metric) -> bool:
    """Exactly one of a value in [0, 1] and a reason."""
    if metric.value is None:
        return bool(metric.undefined)
    return metric.undefined is None and 0 <= metric.value <= 1


@pytest.mark.parametrize("metric", OVER_SCORES)
@given(values=scores)
def test_metrics_over_scores_are_within_bounds_or_undefined(
    metric: Callable[[list[float]], Metric], values: list[float]
) -> None:
    result = metric(values)
    assert is_sound(result)
    assert (result.value is None) == (not values)


@pytest.mark.parametrize("metric", OVER_FLAGS)
@given(values=flags)
def test_metrics_over_flags_are_within_bounds_or_undefined(
    metric: Callable[[list[bool]], Metric], values: list[bool]
) -> None:
    result = metric(values)
    assert is_sound(result)
    assert (result.value is None) == (not values)


@pytest.mark.parametrize("metric", OVER_SCORES)
@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf")])
def test_an_impossible_score_is_an_error(metric: Callable[[list[float]], Metric], bad: float) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        metric([0.5, bad])


@given(values=scores, order=st.randoms(use_true_random=False))
def test_the_order_of_claims_does_not_change_faithfulness(values: list[float], order: object) -> None:
    shuffled = list(values)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert metrics.faithfulness(shuffled) == metrics.faithfulness(values)


@given(values=st.lists(probability, min_size=1, max_size=20), data=st.data())
def test_lowering_a_score_never_raises_faithfulness(values: list[float], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(values) - 1))
    lowered = list(values)
    lowered[index] *= data.draw(probability)
    before, after = metrics.faithfulness(values).value, metrics.faithfulness(lowered).value
    assert before is not None
    assert after is not None
    assert after <= before


@given(values=st.lists(st.tuples(probability, probability), max_size=20))
def test_weighted_faithfulness_is_undefined_exactly_without_weight(values: list[tuple[float, float]]) -> None:
    result = metrics.weighted_faithfulness([score for score, _ in values], [weight for _, weight in values])
    assert is_sound(result)
    assert (result.value is None) == (not any(weight for _, weight in values))


def test_equal_weights_give_plain_faithfulness() -> None:
    assert metrics.weighted_faithfulness([0.25, 0.75], [0.5, 0.5]) == metrics.faithfulness([0.25, 0.75])


def test_weights_of_another_length_are_an_error() -> None:
    with pytest.raises(InputError, match="one length"):
        metrics.weighted_faithfulness([0.5], [0.5, 0.5])


def test_groundedness_counts_a_score_at_the_threshold() -> None:
    assert metrics.groundedness([0.7], 0.7).value == 1


@pytest.mark.parametrize(("unsupported", "of", "shown"), [(0, 3, 0.0), (3, 3, 1.0), (2, 3, 0.67)])
def test_the_three_examples_of_seed_004(unsupported: int, of: int, shown: float) -> None:
    value = metrics.hallucination_rate([number < unsupported for number in range(of)]).value
    assert value is not None
    assert round(value, 2) == shown


def test_no_citations_leave_attribution_undefined_rather_than_perfect() -> None:
    result = metrics.attribution_precision([], [], [])
    assert all(metric.value is None for metric in result.values())


def test_only_fabricated_citations_give_zero_with_later_steps_undefined() -> None:
    result = metrics.attribution_precision([False, False], [None, None], [None, None])
    assert result["attribution_precision"].value == 0
    assert result["attribution_existence"].value == 0
    assert result["attribution_accuracy"].value is None
    assert result["attribution_entailment"].value is None


def test_a_citation_that_was_not_checked_leaves_precision_undefined() -> None:
    result = metrics.attribution_precision([True, True], [True, True], [True, None])
    assert result["attribution_precision"].undefined == "1 of 2 citations could not be checked to the end"
    assert result["attribution_existence"].value == 1
    assert result["attribution_accuracy"].value == 1
    assert result["attribution_entailment"].value is None


@given(rows=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_attribution_precision_is_the_product_of_its_steps(rows: list[tuple[bool, bool, bool]]) -> None:
    result = metrics.attribution_precision(
        [exists for exists, _, _ in rows],
        [match if exists else None for exists, match, _ in rows],
        [entails if exists and match else None for exists, match, entails in rows],
    )
    product = 1.0
    for name in ("attribution_existence", "attribution_accuracy", "attribution_entailment"):
        value = result[name].value
        product *= 0 if value is None else value
    overall = result["attribution_precision"].value
    assert overall == pytest.approx(product)
    assert all(map(is_sound, result.values()))


def test_coverage_of_nothing_checkable_is_undefined() -> None:
    assert metrics.coverage_rate(0, 0).undefined
    with pytest.raises(InputError):
        metrics.coverage_rate(-1, 1)


WEIGHTS = {"faithfulness": 0.4, "attribution_precision": 0.2, "groundedness": 0.3, "self_consistency": 0.1}


def test_the_composite_score_of_a_perfect_output_is_zero() -> None:
    assert metrics.composite_hallucination_score({name: Metric(value=1) for name in WEIGHTS}, WEIGHTS).value == 0


def test_the_composite_score_follows_its_formula() -> None:
    values = {"faithfulness": 0.5, "attribution_precision": 1.0, "groundedness": 0.25, "self_consistency": 0.0}
    score = metrics.composite_hallucination_score({k: Metric(value=v) for k, v in values.items()}, WEIGHTS)
    assert score.value == pytest.approx(1 - (0.4 * 0.5 + 0.2 * 1 + 0.3 * 0.25))


@given(value=probability)
def test_an_undefined_metric_never_counts_as_a_number(value: float) -> None:
    values = {name: Metric(undefined="not measured") for name in WEIGHTS} | {"groundedness": Metric(value=value)}
    score = metrics.composite_hallucination_score(values, WEIGHTS).value
    assert score == pytest.approx(1 - value)


def test_the_composite_of_nothing_is_undefined() -> None:
    assert metrics.composite_hallucination_score({}, WEIGHTS).undefined
    assert metrics.composite_hallucination_score({"faithfulness": Metric(value=1)}, {"faithfulness": 0}).undefined


@given(values=st.dictionaries(st.sampled_from(sorted(WEIGHTS)), st.none() | probability))
def test_the_composite_is_sound_for_any_mix_of_metrics(values: dict[str, float | None]) -> None:
    given_ = {
        name: Metric(undefined="not measured") if value is None else Metric(value=value)
        for name, value in values.items()
    }
    assert is_sound(metrics.composite_hallucination_score(given_, WEIGHTS))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.data())
def test_the_support_of_an_answer_never_falls_where_that_of_a_claim_rises(
    scores: list[float], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(scores) - 1))
    raised = [*scores[:at], data.draw(st.floats(scores[at], 1)), *scores[at + 1 :]]
    before, after = (metrics.answer_support(one).value or 0.0 for one in (scores, raised))
    assert 0 <= before <= after <= 1


@given(st.floats(0, 1), st.integers(1, 9))
def test_the_weakest_of_more_claims_may_be_weaker(least: float, count: int) -> None:
    fewer, more = (metrics.answer_support([1.0] * (n - 1) + [least]).value or 0.0 for n in (count, count + 1))
    assert least <= fewer + 1e-12
    assert fewer <= more


def test_claims_beyond_the_tenth_do_not_make_up_for_a_wrong_one() -> None:
    ten, thousand = (metrics.answer_support([0.01, *[1.0] * (n - 1)]).value for n in (10, 1000))
    assert ten == thousand


def test_the_support_of_an_answer_is_undefined_without_claims_and_that_of_its_claim_for_one() -> None:
    assert metrics.answer_support([]).undefined
    assert metrics.answer_support([0.1]).value == 0.1
