"""Thresholds from labelled rows: the rates, the choice, the tables and the drawing."""

from typing import Any, cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.draw_thresholds import Line, Mark, panels
from train.fit_combination import cache_key
from train.fit_thresholds import (
    GRID,
    Scores,
    chosen,
    contradiction_rates,
    curve_table,
    derived,
    drawing,
    intervals,
    losses,
    presets_table,
    support_rates,
    verdict_rates,
    weights_table,
)
from train.rows import Row

from assay.policy import PRESETS
from assay.policy.presets import CRITERIA, Criterion


def scores(count: int = 400, seed: int = 1) -> Scores:
    rng = np.random.default_rng(seed)
    label = np.array(["supported", "contradicted", "unsupported", "not_supported"])[np.arange(count) % 4]
    right = label == "supported"
    support = np.clip(np.where(right, 0.65, 0.3) + rng.normal(0, 0.2, count), 0, 1)
    against = np.clip(np.where(label == "contradicted", 0.6, 0.2) + rng.normal(0, 0.2, count), 0, 1)
    return Scores(label, support, against, np.ones(count), np.array([f"d{n // 3}" for n in range(count)]))


def test_a_leak_is_a_wrong_claim_that_passes_and_a_false_block_a_right_one_that_does_not() -> None:
    data = Scores(
        label=np.array(["supported", "supported", "contradicted", "not_supported"]),
        support=np.array([0.9, 0.3, 0.5, 0.1]),
        contradiction=np.array([0.1, 0.6, 0.4, 0.9]),
        weight=np.ones(4),
        document=np.array(list("abcd")),
    )
    assert support_rates(data, 0.4) == (0.5, 0.5)
    assert support_rates(data, 0.5) == (0.5, 0.5)
    assert support_rates(data, 0.55) == (0.0, 0.5)
    assert contradiction_rates(data, 0.5) == (1.0, 0.5)
    assert verdict_rates(data, 0.4, 0.4) == (0.0, 0.5)


def test_rows_whose_source_does_not_tell_contradiction_do_not_count_against_it() -> None:
    data = scores()
    unlabelled = data.label == "not_supported"
    changed = Scores(
        data.label, data.support, np.where(unlabelled, 1.0, data.contradiction), data.weight, data.document
    )
    assert contradiction_rates(changed, 0.5) == contradiction_rates(data, 0.5)


@given(st.integers(0, 50))
def test_a_stricter_threshold_never_leaks_more_nor_blocks_less(seed: int) -> None:
    data = scores(80, seed)
    rates = [support_rates(data, threshold) for threshold in GRID]
    leaks, blocks = zip(*rates, strict=True)
    assert list(leaks) == sorted(leaks, reverse=True)
    assert list(blocks) == sorted(blocks)


@given(st.integers(0, 50))
def test_whoever_minds_leaks_more_is_never_given_a_looser_threshold(seed: int) -> None:
    data = scores(80, seed)
    found = [chosen(losses(data, support_rates, weight, 1.0))[0] for weight in (0.5, 1.0, 3.0, 10.0)]
    assert found == sorted(found)


def test_of_equally_good_thresholds_the_middle_one_is_taken() -> None:
    assert chosen({0.1: 0.4, 0.2: 0.1, 0.3: 0.1, 0.4: 0.1, 0.5: 0.105}) == (0.3, (0.2, 0.5))


def test_every_preset_has_a_criterion_and_stricter_ones_choose_stricter_thresholds() -> None:
    assert set(CRITERIA) == set(PRESETS)
    data = scores()
    plain, strict = (derived(data, CRITERIA[name]) for name in ("general", "high-stakes"))
    assert strict[0] >= plain[0]
    assert strict[1] <= plain[1]
    assert derived(data, Criterion(1.0, 1.0, "")) == derived(data, Criterion(1.0, 1.0, "other words"))


def test_the_tables_have_as_many_cells_in_every_row_and_intervals_hold_the_rate() -> None:
    data = scores()
    for lines in (presets_table(data, data), weights_table(data, data), curve_table(data)):
        tables = "\n".join(lines).split("\n\n")
        for table in tables:
            assert len({line.count("|") for line in table.split("\n")}) == 1
    leak, _ = intervals(data, support_rates, 0.4)
    value, low, high = (float(part) for part in leak.replace("(", "").replace(")", "").replace("to", "").split())
    assert low <= value <= high


def test_the_drawing_is_one_well_formed_document_with_every_preset_in_it() -> None:
    root = ET.fromstring(drawing(scores()))  # noqa: S314 - our own drawing
    text = " ".join(root.itertext())
    assert all(name in text for name in PRESETS)
    assert root.attrib["viewBox"].startswith("0 0 ")


def test_a_name_in_a_drawing_is_text() -> None:
    line = Line("<b>", (0.0, 1.0), (0.0, 1.0), "bad")
    assert "<b>" not in panels(("t", [line], [Mark(0.5, "<i>")]))


def test_signals_of_other_rows_or_windows_are_not_taken_from_the_cache() -> None:
    class Fake:
        tiers_digest = "x"

        class policy:  # noqa: N801 - stands in for a property
            windows_per_claim = 2

    guard = cast("Any", Fake())
    rows = [Row("s", ("e",), "c", "supported")]
    same = cache_key(guard, rows)
    assert cache_key(guard, [Row("t", ("e",), "c", "contradicted")]) == same
    assert cache_key(guard, [Row("s", ("other",), "c", "supported")]) != same
    Fake.policy.windows_per_claim = 1
    assert cache_key(guard, rows) != same


def test_rates_without_rows_of_a_class_are_undefined() -> None:
    data = scores(8)
    right = data.label == "supported"
    only = Scores(data.label[right], data.support[right], data.contradiction[right], data.weight[right], data.document)
    assert np.isnan(support_rates(only, 0.5)[0])
    assert support_rates(only, 0.5)[1] == pytest.approx(0.5, abs=0.5)
