"""Whether scores still mean what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import calibration_drift


def test_calibrated_scores_hardly_ever_alarm_and_those_that_are_off_do() -> None:
    rng, alarms, found = np.random.default_rng(3), 0, []
    for _ in range(300):
        scores = rng.random(400)
        alarms += (
            calibration_drift(scores.tolist(), (rng.random(400) < scores).astype(float).tolist(), 0.05).alarm
            is not None
        )
        off = (rng.random(400) < np.clip(scores - 0.2, 0, 1)).astype(float)
        found.append(calibration_drift(scores.tolist(), off.tolist(), 0.05).alarm)
    assert alarms <= 0.05 * 300
    assert sum(one is not None for one in found) >= 290


def test_scores_that_are_right_in_the_mean_and_wrong_at_both_ends_are_found() -> None:
    rng = np.random.default_rng(4)
    scores = np.where(rng.random(2_000) < 0.5, 0.9, 0.1)
    drawn = (rng.random(2_000) < np.where(scores > 0.5, 0.7, 0.3)).astype(float)
    assert calibration_drift(scores.tolist(), drawn.tolist()).alarm is not None


@given(pairs=st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), max_size=60))
def test_more_outcomes_take_back_no_alarm(pairs: list[tuple[float, float]]) -> None:
    scores, outcomes = [s for s, _ in pairs], [y for _, y in pairs]
    whole = calibration_drift(scores, outcomes, 0.2).alarm
    part = calibration_drift(scores[:30], outcomes[:30], 0.2).alarm
    assert part is None or part == whole


def test_outcomes_without_scores_are_refused() -> None:
    with pytest.raises(InputError):
        calibration_drift([0.5], [])
    with pytest.raises(InputError):
        calibration_drift([1.5], [1.0])
    assert calibration_drift([], []).mean_score is None
