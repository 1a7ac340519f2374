"""What thresholds cost: against trying every pair."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.costs import Costs, Outcome, answer_thresholds, cheapest, counted, trade_off, weights_of

GRID = (0.4, 0.6, 0.8, 1.0)
BLOCKS = (0.0, 0.3, 0.5)

# A row that passes at t is withheld at no threshold up to t, as in the gate.
rows = st.lists(
    st.tuples(st.booleans(), st.sampled_from((-math.inf, *GRID)), st.sampled_from((*BLOCKS, math.inf))).map(
        lambda row: Outcome(row[0], row[1], row[2] if row[1] < row[2] else math.inf)
    ),
    min_size=1,
    max_size=25,
)
costs = st.builds(Costs, st.integers(1, 20), st.integers(0, 9), st.integers(0, 5), st.booleans())


@given(rows=rows, costs=costs)
def test_the_cheapest_pair_is_the_best_of_all_pairs(rows: list[Outcome], costs: Costs) -> None:
    choice = cheapest(rows, costs, GRID, BLOCKS)
    every = [counted(rows, costs, t, b).loss for t in GRID for b in BLOCKS if b <= t]
    assert choice.loss == pytest.approx(min(every))
    assert choice.block_threshold <= choice.threshold


@given(rows=rows)
def test_dearer_leaks_never_make_the_gate_laxer(rows: list[Outcome]) -> None:
    cheap, dear = (cheapest(rows, Costs(leak, 3, 1), GRID, BLOCKS) for leak in (2.0, 50.0))
    assert cheap.threshold <= dear.threshold


@given(rows=rows)
def test_along_the_curve_leaks_fall_and_false_abstentions_rise(rows: list[Outcome]) -> None:
    curve = trade_off(rows, GRID)
    for before, after in itertools.pairwise(curve):
        assert (before.leak or 0) >= (after.leak or 0)
        assert (before.false_abstention or 0) <= (after.false_abstention or 0)
        assert before.passed >= after.passed


def test_a_curve_without_rows_of_a_sort_has_no_figure_for_it() -> None:
    point = trade_off([Outcome(False, 0.6, math.inf)], GRID)[0]
    assert (point.leak, point.false_abstention) == (None, 0.0)


def test_costs_that_say_nothing_are_refused() -> None:
    for wrong in ((-1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (math.nan, 1.0, 1.0)):
        with pytest.raises(InputError):
            Costs(*wrong)
    with pytest.raises(InputError, match="rows"):
        cheapest([], Costs(), GRID, BLOCKS)
    with pytest.raises(InputError, match="thresholds"):
        cheapest([Outcome(True, 0.4, 0.3)], Costs(), [0.2], [0.5])


@given(
    leak=st.floats(0.1, 50),
    blocked=st.floats(0.1, 50),
    caveat=st.floats(0.1, 50),
    right=st.floats(0.05, 0.95),
    rates=st.booleans(),
    p=st.floats(0, 1),
)
def test_the_answer_that_thresholds_choose_is_never_dearer_than_another(
    leak: float, blocked: float, caveat: float, right: float, rates: bool, p: float
) -> None:
    costs = Costs(leak, blocked, caveat, rates)
    high, low = answer_thresholds(costs, right)
    of_right, of_wrong = weights_of(costs, right)
    given = (1 - p) * of_wrong * leak
    caveated = (p * of_right + (1 - p) * of_wrong) * caveat
    held = p * of_right * blocked
    assert 0 <= low <= high <= 1
    chosen = given if p >= high else caveated if p >= low else held
    # The thresholds are rounded to six digits, so beside them the chosen one may be dearer by as little.
    assert chosen <= min(given, caveated, held) + 2e-6 * (of_right + of_wrong) * (leak + blocked + caveat)


@given(outcomes=rows, threshold=st.floats(0, 1))
def test_where_a_caveat_costs_as_much_as_a_false_block_the_loss_of_rates_is_the_seeds(
    outcomes: list[Outcome], threshold: float
) -> None:
    # lambda_1 * FalseAbstentionRate + lambda_2 * HallucinationLeakRate, everything withheld or given.
    withheld = [Outcome(row.wrong, row.passes, 0.0) for row in outcomes]
    found = counted(withheld, Costs(7.0, 3.0, 3.0, rates=True), threshold, 0.0)
    right = [row for row in withheld if not row.wrong]
    wrong = [row for row in withheld if row.wrong]
    suppressed = sum(row.passes < threshold for row in right) / len(right) if right else 0.0
    leaked = sum(row.passes >= threshold for row in wrong) / len(wrong) if wrong else 0.0
    assert found.loss == pytest.approx((3.0 * suppressed + 7.0 * leaked) / 2)
