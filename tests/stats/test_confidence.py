"""Signals into one confidence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.calibration import ece
from assay.stats.confidence import SIGNALS, WEIGHTS, ConfidenceModel, fit_confidence, normalised_entropy

shares = st.one_of(st.none(), st.floats(0, 1))
models = st.sampled_from([ConfidenceModel(), ConfidenceModel(slope=1.7, intercept=-0.4)])
signals = st.fixed_dictionaries(dict.fromkeys(SIGNALS, shares))


@given(values=signals, name=st.sampled_from(SIGNALS), more=st.floats(0, 1), model=models)
def test_more_of_a_signal_never_lowers_the_confidence(
    values: dict[str, float | None], name: str, more: float, model: ConfidenceModel
) -> None:
    before = values[name]
    if before is None:
        return
    raised = values | {name: max(before, more)}
    assert (model.confidence(raised) or 0) >= (model.confidence(values) or 0) - 1e-12


@given(values=signals, model=models)
def test_confidence_lies_in_its_range_and_is_unknown_without_signals(
    values: dict[str, float | None], model: ConfidenceModel
) -> None:
    found = model.confidence(values)
    assert (found is None) == all(value is None for value in values.values())
    assert found is None or 0 <= found <= 1


def test_a_missing_signal_is_no_number() -> None:
    assert ConfidenceModel().raw({"groundedness": 0.9, "consistency": None}) == 0.9
    assert math.isclose(sum(WEIGHTS.values()), 1)


def test_a_fitted_curve_is_calibrated_where_the_mean_is_not() -> None:
    rows: list[dict[str, float | None]] = [{"groundedness": 0.5 + n / 400} for n in range(200)]
    right = [(n * 7919) % 200 < n for n in range(200)]
    model = fit_confidence(rows, right)
    fitted = [model.confidence(row) or 0 for row in rows]
    assert model.calibrated
    assert ece(fitted, right) < ece([row["groundedness"] or 0 for row in rows], right)


def test_fits_that_mean_nothing_are_refused() -> None:
    rows: list[dict[str, float | None]] = [{"groundedness": n / 100} for n in range(100)]
    with pytest.raises(InputError, match="at least 50"):
        fit_confidence(rows[:20], [True] * 20)
    with pytest.raises(InputError, match="fewer right outputs"):
        fit_confidence(rows, [n < 50 for n in range(100)])
    with pytest.raises(InputError, match="none of the signals"):
        fit_confidence([*rows, {"groundedness": None}], [n % 2 == 0 for n in range(101)])
    for wrong in ({"slope": -1.0}, {"weights": (("luck", 1.0),)}, {"weights": (("groundedness", 0.0),)}):
        with pytest.raises(InputError):
            ConfidenceModel(**wrong)


def test_entropy_is_that_of_the_likeliest_tokens_and_the_rest() -> None:
    assert normalised_entropy([]) is None
    assert normalised_entropy([[1.0]]) == 0.0
    assert normalised_entropy([[0.25, 0.25, 0.25]]) == pytest.approx(1.0)
    with pytest.raises(InputError):
        normalised_entropy([[0.9, 0.9]])
