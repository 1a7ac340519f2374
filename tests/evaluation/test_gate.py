"""The two rates of a gate."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation.figures.gate_rates import Decided, curve, gate_figures, rates
from assay.schema import Action

decided = st.builds(
    Decided, st.booleans(), st.sampled_from([action.value for action in Action]), st.none() | st.floats(0, 1)
)


def test_honest_outputs_that_were_emitted_and_wrong_ones_that_were_not_are_counted_apart() -> None:
    found = rates(
        "all",
        [
            Decided(True, "emit", 0.9),
            Decided(True, "revise", 0.5),
            Decided(False, "block", 0.1),
            Decided(False, "emit", 0.9),
        ],
    )
    assert (found.honest_emitted.count, found.honest_emitted.of, found.honest_emitted.value) == (1, 2, 0.5)
    assert (found.wrong_stopped.count, found.wrong_stopped.of, found.wrong_stopped.value) == (1, 2, 0.5)
    assert found.actions == {"block": 1, "emit": 2, "revise": 1}


def test_a_rate_of_nothing_has_no_value() -> None:
    found = rates("all", [Decided(True, "emit", 0.9)])
    assert found.wrong_stopped.value is None
    assert found.wrong_stopped.low is None


@given(st.lists(decided, max_size=40))
def test_along_the_curve_fewer_are_emitted_and_more_are_stopped(some: list[Decided]) -> None:
    points = curve(some)
    for before, after in pairwise(points):
        assert before[0] < after[0]
        assert before[1] >= after[1]
        assert before[2] <= after[2]


@given(st.lists(st.tuples(decided, st.sampled_from("ab"), st.sampled_from("xy")), max_size=30))
def test_sets_and_slices_hold_every_output_once(some: list[tuple[Decided, str, str]]) -> None:
    found = gate_figures(
        "general", [one for one, _, _ in some], [s for _, s, _ in some], [{"way": w} for _, _, w in some]
    )
    for parts in (found.sets, *found.slices.values()):
        assert sum(part.honest_emitted.of + part.wrong_stopped.of for part in parts) == len(some)
