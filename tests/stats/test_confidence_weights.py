"""Weights of signals from labels."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.confidence import SIGNALS, WEIGHTS, fit_confidence
from assay.stats.confidence_weights import fit_weights

Rows = list[dict[str, float | None]]


def outputs(count: int, seed: int, *, told_by: str) -> tuple[Rows, list[bool]]:
    """Outputs whose label follows one signal, with noise, and whose other signals say nothing."""
    draw = random.Random(seed)
    rows: Rows = [{name: draw.random() for name in ("groundedness", "consistency", "directness")} for _ in range(count)]
    return rows, [draw.random() < (row[told_by] or 0) ** 2 for row in rows]


@pytest.mark.parametrize("name", ["groundedness", "consistency", "directness"])
def test_the_signal_that_the_labels_follow_weighs_most(name: str) -> None:
    rows, right = outputs(1500, 3, told_by=name)
    found = fit_weights(rows, right)
    assert max(found, key=lambda one: found[one]) == name
    assert found[name] > 0.75


def test_few_rows_move_the_weights_little_and_many_rows_far() -> None:
    moved = []
    for count in (60, 3000):
        rows, right = outputs(count, 5, told_by="directness")
        moved.append(fit_weights(rows, right)["directness"])
    assert WEIGHTS["directness"] < moved[0] < moved[1]


def test_signals_that_are_rare_or_always_the_same_weigh_nothing() -> None:
    rows, right = outputs(300, 7, told_by="groundedness")
    for number, row in enumerate(rows):
        row["coverage"] = number / 300 if number < 20 else None
        row["retrieval_quality"] = 0.8
    found = fit_weights(rows, right)
    assert (found["coverage"], found["retrieval_quality"], found["certainty"]) == (0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), told_by=st.sampled_from(["groundedness", "consistency"]))
def test_weights_add_up_and_never_pull_the_other_way(seed: int, told_by: str) -> None:
    rows, right = outputs(80, seed, told_by=told_by)
    found = fit_weights(rows, right)
    assert set(found) == set(SIGNALS)
    assert all(weight >= 0 for weight in found.values())
    assert math.isclose(sum(found.values()), 1, abs_tol=1e-3)
    assert found["groundedness"] > 0


def test_fitted_weights_predict_outputs_that_they_have_not_seen_better() -> None:
    rows, right = outputs(1200, 11, told_by="consistency")
    fresh, truth = outputs(1200, 12, told_by="consistency")
    losses = []
    for weights in (WEIGHTS, fit_weights(rows, right)):
        model = fit_confidence(rows, right, weights)
        said = [model.confidence(row) or 0.0 for row in fresh]
        losses.append(-sum(math.log(p if sound else 1 - p) for p, sound in zip(said, truth, strict=True)) / 1200)
    assert losses[1] < losses[0] - 0.05


def test_nothing_to_fit_on_is_an_error() -> None:
    with pytest.raises(InputError, match="a label for each"):
        fit_weights([{"groundedness": 0.5}], [])
    with pytest.raises(InputError, match="groundedness"):
        fit_weights([{"consistency": 0.5}], [True])
    with pytest.raises(InputError, match="groundedness"):
        fit_weights([{"groundedness": 0.5}], [True], {"consistency": 1.0})
