"""The slider of thresholds: counts that are right at every step, and a page that is whole without the script."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation.threshold_panel import STEPS, SystemScores, threshold_panel
from assay.stats import wilson

scores = st.one_of(st.none(), st.floats(0, 1), st.integers(0, 100).map(lambda step: step / 100))
scored = st.lists(st.tuples(st.booleans(), scores), max_size=30)


def numbers(html: str, name: str) -> list[int]:
    found = re.search(f'{name}="([^"]*)"', html)
    assert found is not None
    return [int(one) for one in found[1].split()]


@given(scored)
def test_each_step_counts_what_a_threshold_there_would_do(rows: Sequence[tuple[bool, float | None]]) -> None:
    emitted, stopped = SystemScores("s", rows).counts()
    for step in range(STEPS + 1):
        at = step / STEPS
        assert emitted[step] == sum(not wrong and score is not None and score >= at for wrong, score in rows)
        assert stopped[step] == sum(wrong and (score is None or score < at) for wrong, score in rows)


@given(scored)
def test_with_a_higher_threshold_no_more_is_emitted_and_no_less_is_stopped(
    rows: Sequence[tuple[bool, float | None]],
) -> None:
    emitted, stopped = SystemScores("s", rows).counts()
    assert emitted == sorted(emitted, reverse=True)
    assert stopped == sorted(stopped)


def test_a_panel_shows_both_rates_of_every_system_without_a_script() -> None:
    mine = [(False, 0.9), (False, 0.4), (True, 0.2), (True, None)]
    other = [(False, 0.1), (True, 0.8)]
    panel = threshold_panel([SystemScores("mine", mine), SystemScores("other", other)], 0.35)
    assert panel is not None
    html = panel.html
    assert numbers(html, "data-emitted")[35] == 2
    assert numbers(html, "data-stopped")[35] == 2
    low, _ = wilson(2, 2)
    assert f'<td class="num">1.000<small>2 of 2, {low:.3f} to 1.000</small></td>' in html
    assert html.count("<tr data-honest") == 2
    assert 'value="35"' in html
    assert html.count('<th scope="row">0.3</th>') == 1


def test_there_is_no_panel_without_right_and_wrong_rows() -> None:
    assert threshold_panel([SystemScores("s", [(False, 0.4)])]) is None
    assert threshold_panel([]) is None


def test_names_of_systems_are_text() -> None:
    panel = threshold_panel([SystemScores("<b>x", [(False, 0.9), (True, 0.1)])])
    assert panel is not None
    assert "<b>x" not in panel.html
