from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ModelError
from assay.models.labels import LabelOrder, read_labels

CONFIG = Path("config.json")


@pytest.mark.parametrize("names", list(permutations(("Entailment", "NEUTRAL", "contradiction"))))
def test_three_labels_are_found_in_any_order_and_case(names: tuple[str, ...]) -> None:
    order = read_labels({"id2label": {str(i): name for i, name in enumerate(names)}}, CONFIG, 3)
    assert names[order.entailment] == "Entailment"
    assert order.contradiction is not None
    assert names[order.contradiction] == "contradiction"


@pytest.mark.parametrize("name", ["contradiction", "Hallucinated", "not-supported", "neutral"])
def test_a_single_score_that_grows_with_error_is_not_taken_for_support(name: str) -> None:
    with pytest.raises(ModelError, match="grow with entailment"):
        read_labels({"id2label": {"0": name}}, CONFIG, 1)


@pytest.mark.parametrize("config", [{}, {"id2label": {"0": "LABEL_0"}}, {"id2label": {"0": "consistent"}}])
def test_a_single_score_without_a_telling_name_is_entailment(config: dict[str, object]) -> None:
    assert read_labels(config, CONFIG, 1) == LabelOrder(size=1)


def test_a_single_score_of_zero_is_undecided() -> None:
    rows = LabelOrder(size=1).probabilities(np.array([[0.0], [40.0], [-800.0]], np.float32))
    assert rows[:, 0].tolist() == [0.5, 1.0, 0.0]
    assert (rows[:, 2] == 0).all()


@given(st.lists(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_any_finite_logits_become_probabilities(logits: list[list[float]]) -> None:
    order = LabelOrder(size=3, entailment=2, contradiction=0)
    rows = order.probabilities(np.array(logits, np.float32))
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-5)
    for given_row, row in zip(logits, rows, strict=True):
        assert (given_row[2] >= given_row[0]) or row[0] <= row[2]
