"""The chart itself, and when a shift began."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import (
    AfterAlarm,
    Chart,
    Direction,
    Sum,
    onset_index,
    onset_probabilities,
    run_chart,
    sums,
    weight_of,
)

UP, DOWN = Chart(0.25, 0.125, 2.0), Chart(0.25, 0.125, 2.0, Direction.DOWN)
observed = st.lists(st.floats(0, 1), max_size=60)


@given(first=observed, second=observed, hold=st.booleans())
def test_a_chart_is_the_same_in_however_many_pieces(first: list[float], second: list[float], hold: bool) -> None:
    after = AfterAlarm.HOLD if hold else AfterAlarm.RESET
    whole, parts = Sum(), Sum()
    for one in first + second:
        whole, _ = whole.added(UP, one, after)
    for part in (first, second):
        for one in part:
            parts, _ = parts.added(UP, one, after)
    assert whole == parts


@given(first=observed, second=observed, hold=st.booleans(), down=st.booleans())
def test_a_stretch_is_what_its_observations_are_one_by_one(
    first: list[float], second: list[float], hold: bool, down: bool
) -> None:
    chart, after = DOWN if down else UP, AfterAlarm.HOLD if hold else AfterAlarm.RESET
    start, _ = Sum().added(chart, 0.5, after)
    for one in first:
        start, _ = start.added(chart, one, after)
    state, begun, alarms = start, None, []
    for index, one in enumerate(second):
        begun = index if state.total == 0 else begun
        total, run = chart.step(state.total, one), state.seen + 1
        state, new = state.added(chart, one, after)
        if new:
            alarms.append((index, begun, total, run))
        begun = begun if state.total > 0 else None
    found = run_chart(chart, start, second, after)
    assert (found.after, found.begun) == (state, begun)
    assert [(one.index, one.begun, one.total, one.run) for one in found.crossings] == alarms


def test_a_stretch_with_what_is_no_observation_is_refused() -> None:
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError):
            run_chart(UP, Sum(), [0.5, wrong])


@given(values=observed)
def test_a_sum_is_never_negative_and_falls_short_of_all_gains(values: list[float]) -> None:
    for chart in (UP, DOWN):
        for total in sums(chart, values, AfterAlarm.HOLD):
            assert 0 <= total <= len(values)


@given(values=observed)
def test_what_falls_is_what_rises_in_the_mirror(values: list[float]) -> None:
    mirror = Chart(0.75, 0.125, 2.0)
    assert list(sums(DOWN, values)) == pytest.approx(list(sums(mirror, [1 - one for one in values])))


def test_an_alarm_is_raised_once_while_it_holds_and_again_after_a_reset() -> None:
    ones = [1.0] * 12
    raised = {}
    for after in AfterAlarm:
        state, alarms = Sum(), 0
        for one in ones:
            state, new = state.added(UP, one, after)
            alarms += new
        raised[after] = alarms
    assert raised == {AfterAlarm.RESET: 3, AfterAlarm.HOLD: 1}  # 0.625 a step: the fourth is above 2


def test_a_falling_mean_alarms_downwards_only() -> None:
    zeros = [0.0] * 30
    assert max(sums(UP, zeros)) == 0
    assert max(sums(DOWN, zeros)) > 2


def test_observations_outside_their_range_are_refused() -> None:
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError):
            Sum().added(UP, bad)
    for chart in ((1.5, 0.1, 2.0), (0.5, -0.1, 2.0), (0.5, 0.1, 0.0)):
        with pytest.raises(InputError):
            Chart(*chart)


@given(quiet=st.integers(0, 40), loud=st.integers(8, 40))
def test_the_beginning_of_a_plain_shift_is_found(quiet: int, loud: int) -> None:
    assert onset_index(UP, [0.0] * quiet + [1.0] * loud) == quiet


@given(begins=st.lists(st.integers(0, 40), min_size=1, max_size=8), at=st.integers(0, 40))
def test_the_chances_of_causes_sum_to_one_and_the_nearest_is_likeliest(begins: list[int], at: int) -> None:
    values = [0.0] * at + [1.0] * (50 - at)
    chances = onset_probabilities(UP, values, begins, weight_of(UP, 0.5, True))
    assert sum(chances) == pytest.approx(1)
    exact = [number for number, begin in enumerate(begins) if begin == at]
    assert all(chances[number] >= max(chances) - 1e-12 for number in exact)


def test_a_beginning_outside_the_observations_is_refused() -> None:
    with pytest.raises(InputError):
        onset_probabilities(UP, [0.0, 1.0], [3], 1.0)
    assert onset_probabilities(UP, [0.0], [], 1.0) == []
