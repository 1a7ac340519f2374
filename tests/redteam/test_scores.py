"""The score with its interval, and one run against another."""

import json
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.test_cases import case

from assay.errors import InputError
from assay.redteam.cases import Case, Category
from assay.redteam.judging import PASS_THRESHOLD, Judgement, Outcome
from assay.redteam.scores import Scorecard, compare, read_card, score
from assay.redteam.scores.comparison import drop_p, holm
from assay.redteam.scores.scorecards import bootstrap

CASES = [
    case(f"Question {number}, how long is it?", category=category)
    for number in range(6)
    for category in (Category.KNOWLEDGE_BOUNDARY, Category.SCALE_STRESS)
]


def judgement(one: Case, match: float | None) -> Judgement:
    outcome = Outcome.UNJUDGED if match is None else Outcome.PASSED if match >= PASS_THRESHOLD else Outcome.FAILED
    return Judgement(case=one.id, outcome=outcome, behavior_match=match, rule="test")


def card(matches: Sequence[float | None], cases: list[Case] = CASES) -> Scorecard:
    return score(cases, [judgement(one, match) for one, match in zip(cases, matches, strict=True)])


MATCHES = st.lists(st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=12, max_size=12)


@given(MATCHES)
def test_the_score_is_the_mean_of_what_was_judged_and_lies_in_its_interval(matches: list[float | None]) -> None:
    found = card(matches)
    known = [one for one in matches if one is not None]
    assert found.unjudged == len(matches) - len(known)
    assert found.cases == 12
    if not known:
        assert (found.ars, found.low, found.high) == (None, None, None)
        return
    assert found.ars == pytest.approx(sum(known) / len(known))
    assert 0 <= (found.low or 0) <= (found.ars or 0) + 1e-9
    assert (found.ars or 0) - 1e-9 <= (found.high or 0) <= 1


def test_each_category_has_a_score_of_its_own() -> None:
    found = card([1.0, 0.0] * 6)
    assert {name: one.ars for name, one in found.categories.items()} == {"knowledge_boundary": 1.0, "scale_stress": 0.0}
    assert found.categories["scale_stress"].cases == 6


def test_what_is_unjudged_is_no_pass_and_in_no_mean() -> None:
    found = card([1.0, None] * 6)
    assert found.ars == 1.0
    assert found.passed == 6
    assert found.unjudged == 6
    assert found.categories["scale_stress"].ars is None


def test_an_interval_is_open_where_all_passed() -> None:
    low, high = bootstrap(np.ones(20), 0)
    assert high == 1.0
    assert 0.8 < low < 0.9


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for seed in range(300):
        low, high = bootstrap((rng.random(100) < 0.8).astype(float), seed)
        hits += low <= 0.8 <= high
    assert 0.9 <= hits / 300 <= 0.98


def test_a_summary_is_read_back_as_a_baseline() -> None:
    found = card([1.0, 0.5] * 6)
    value = {**found.model_dump(mode="json"), "comparison": None}
    assert read_card(json.dumps(value), "here") == found


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"ars": 1}', '{"ars": 0.9, "categories": {}, "unjudged": 0, "cases": 0, "passed": 0}']
)
def test_what_is_no_summary_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_card(text, "here")


def test_holm_is_between_bonferroni_and_the_raw_values() -> None:
    raw = {"a": 0.01, "b": 0.02, "c": 0.5}
    found = holm(raw)
    assert all(raw[name] <= found[name] <= min(1.0, 3 * raw[name]) for name in raw)
    assert found["a"] == pytest.approx(0.03)
    assert found["b"] == pytest.approx(0.04)


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order(raw: dict[str, float]) -> None:
    found = holm(raw)
    ordered = sorted(raw, key=lambda name: (raw[name], name))
    values = [found[name] for name in ordered]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=2, max_size=8))
def test_no_weight_corrects_a_p_value_downwards(raw: dict[str, float]) -> None:
    first = min(raw)
    heavy = holm(raw, {name: 10.0 if name == first else 1.0 for name in raw})
    assert all(heavy[name] >= value for name, value in raw.items())


def test_the_exact_p_value_counts_signs() -> None:
    assert drop_p([1.0, 1.0, 1.0, -1.0]) == pytest.approx(5 / 16)
    assert drop_p([0.5] * 3 + [0.0] * 50) == pytest.approx(1 / 8)
    assert drop_p([-1.0] * 6) == 1.0


def test_the_drawn_p_value_agrees_with_the_exact_one() -> None:
    drops = [1.0] * 12 + [-1.0] * 4
    exact = sum(1 for signs in range(2**16) if 16 - 2 * signs.bit_count() >= 8) / 2**16
    assert drop_p(drops) == pytest.approx(exact, abs=0.01)


def test_a_category_that_fell_is_a_regression_and_its_cases_are_named() -> None:
    before, after = card([1.0] * 12), card([1.0, 0.0] * 6)
    found = compare(before, after)
    assert found.regressed
    assert {one.group for one in found.changes if one.regressed} >= {"all"}
    assert {one.id for one in found.broken} == {one.id for one in CASES if one.category is Category.SCALE_STRESS}
    assert not compare(before, before).regressed
    assert not compare(after, before).regressed
    assert len(compare(after, before).mended) == 6


@pytest.mark.parametrize(("fell", "rose", "regressed"), [(1, 0, True), (3, 0, True), (1, 1, False), (0, 0, False)])
def test_in_a_small_suite_a_plain_drop_counts_without_a_test(fell: int, rose: int, regressed: bool) -> None:
    before = [0.0] * rose + [1.0] * (12 - rose)
    after = [1.0] * (12 - fell) + [0.0] * fell
    found = compare(card(before), card(after))
    assert found.regressed is regressed
    assert found.changes[0].tested is not regressed


def test_in_a_large_suite_a_few_cases_that_fell_are_no_regression() -> None:
    cases = [case(f"Question {number}, how long is it?") for number in range(200)]
    assert not compare(card([1.0] * 200, cases), card([1.0] * 196 + [0.0] * 4, cases)).regressed


def test_a_drop_within_delta_is_let_pass() -> None:
    assert not compare(card([1.0] * 12), card([1.0, 0.0] * 6), delta=0.6).changes[0].regressed


def test_a_case_that_can_no_longer_be_judged_counts_as_lost() -> None:
    found = compare(card([1.0] * 12), card([1.0, None] * 6))
    assert found.regressed
    assert {one.after for one in found.broken} == {None}


def test_suites_that_share_nothing_are_not_compared() -> None:
    other = [case(f"Other question {number}, how long is it?") for number in range(3)]
    with pytest.raises(InputError, match="no judged case"):
        compare(card([1.0] * 3, other), card([1.0] * 12))


@pytest.mark.parametrize(("delta", "alpha"), [(-0.1, 0.05), (1.0, 0.05), (0.0, 0.0), (0.0, 1.0)])
def test_impossible_limits_are_refused(delta: float, alpha: float) -> None:
    with pytest.raises(InputError):
        compare(card([1.0] * 12), card([1.0] * 12), delta, alpha)


def test_new_and_gone_cases_are_counted_and_not_compared() -> None:
    found = compare(card([1.0] * 10, CASES[:10]), card([1.0] * 8 + [0.0] * 2, CASES[2:]))
    assert (found.added, found.gone, found.changes[0].pairs) == (2, 2, 8)
    assert not found.regressed


def test_a_regression_of_five_points_at_500_cases_is_found_nine_times_out_of_ten() -> None:
    """And a system whose answers are drawn anew each time raises no alarm more often than allowed."""
    cases = [case(f"Question {number}, how long is it?", category=list(Category)[number % 10]) for number in range(500)]
    found, false = 0, 0
    for seed in range(40):
        rng = Random(seed)
        sure = [rng.choices((0.99, 0.5, 0.02), (0.86, 0.04, 0.1))[0] for _ in cases]
        before, again, worse = ([float(rng.random() < one) for one in sure] for _ in range(3))
        for at in rng.sample([at for at, one in enumerate(worse) if one], 25):
            worse[at] = 0.0
        earlier = card(list(before), cases)
        found += compare(earlier, card(list(worse), cases)).regressed
        false += compare(earlier, card(list(again), cases)).regressed
    assert found >= 36
    assert false <= 5
