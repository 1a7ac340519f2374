from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.schema import Window
from assay.schema.premise import ClaimCandidates, Granularity, Premise
from assay.testing import FailingScorer, FakeScorer, ScriptedScorer
from assay.verify.network.entailment import ENTAILMENT_SIGNALS, judge

CLAIM = "The ferry leaves at six."
Scores = tuple[float, float, float]


def premise(text: str, granularity: Granularity = "passage", *ids: str) -> Premise:
    return Premise(text, granularity, tuple(Window(i, 0, len(text), text) for i in ids or ("e",)))


def scripted(**scores: Scores) -> ScriptedScorer:
    return ScriptedScorer({(text, CLAIM): row for text, row in scores.items()})


def candidates(*premises: Premise, claim: str = CLAIM) -> ClaimCandidates:
    return ClaimCandidates(claim, premises)


def test_all_pairs_of_all_claims_go_in_one_call() -> None:
    scorer = scripted()
    judge([candidates(premise("a"), premise("b")), candidates(premise("a"), claim="Another claim.")], scorer)
    assert scorer.calls == [[("a", CLAIM), ("b", CLAIM), ("a", "Another claim.")]]


def test_support_and_contradiction_stand_beside_each_other() -> None:
    scorer = scripted(a=(0.9, 0.1, 0.0), b=(0.1, 0.1, 0.8), c=(0.2, 0.8, 0.0))
    (result,) = judge([candidates(premise("a"), premise("b"), premise("c"))], scorer)
    assert (result.entailment, result.contradiction) == pytest.approx((0.9, 0.8))
    assert result.best_support is not None
    assert result.worst_contradiction is not None
    assert (result.best_support.premise.text, result.worst_contradiction.premise.text) == ("a", "b")
    assert result.signals["margin"] == pytest.approx(0.1)
    assert result.signals["entail_mean"] == pytest.approx(0.4)
    assert result.signals["entail_top"] == pytest.approx(0.9)
    assert result.signals["contra_top"] == 0
    assert result.judged == 3


def test_each_granularity_has_its_own_signals() -> None:
    scorer = scripted(a=(0.1, 0.9, 0.0), b=(0.2, 0.8, 0.0), c=(0.7, 0.3, 0.0))
    (result,) = judge([candidates(premise("a", "sentence"), premise("b"), premise("c", "document", "e", "f"))], scorer)
    values = [result.signals[f"entail_{g}"] for g in ("sentence", "passage", "document")]
    assert values == pytest.approx([0.1, 0.2, 0.7])


def test_a_granularity_without_premise_takes_the_maximum() -> None:
    (result,) = judge([candidates(premise("a", "sentence"))], scripted(a=(0.6, 0.1, 0.3)))
    assert result.signals["entail_document"] == pytest.approx(0.6)
    assert result.signals["contra_top"] == pytest.approx(0.3)


def test_a_contradiction_by_an_unrelated_premise_is_discounted() -> None:
    near, far = premise("The ferry leaves at seven."), premise("Bread is sold next door.")
    script = {(near.text, CLAIM): (0.0, 0.2, 0.8), (far.text, CLAIM): (0.0, 0.1, 0.9)}
    (result,) = judge([candidates(near, far)], ScriptedScorer(script))
    assert result.signals["contra_max"] == pytest.approx(0.9)
    assert result.signals["contra_related"] == pytest.approx(0.8 * 2 / 3)


def test_sources_that_disagree_are_reported_with_both() -> None:
    scorer = scripted(a=(0.9, 0.1, 0.0), b=(0.1, 0.1, 0.8), c=(0.0, 0.1, 0.9), d=(0.0, 0.0, 1.0))
    (result,) = judge(
        [
            candidates(
                premise("a", "passage", "x"),
                premise("b", "passage", "y"),
                premise("c", "passage", "x"),
                premise("d", "document", "x", "y"),
            )
        ],
        scorer,
    )
    conflict = result.conflict(0.7)
    assert conflict is not None
    assert (conflict.supporting.premise.text, conflict.contradicting.premise.text) == ("a", "b")
    assert result.conflict(0.85) is None


def test_one_source_that_disagrees_with_itself_is_no_conflict_of_sources() -> None:
    (result,) = judge([candidates(premise("a"), premise("b"))], scripted(a=(0.9, 0.1, 0.0), b=(0.0, 0.1, 0.9)))
    assert result.conflict(0.5) is None


def test_a_claim_without_premises_is_neither_supported_nor_failed() -> None:
    (result,) = judge([candidates()], FakeScorer())
    assert (result.entailment, result.contradiction, result.neutral, result.failed) == (0.0, 0.0, 1.0, None)
    assert result.signals == dict.fromkeys(ENTAILMENT_SIGNALS, 0.0)


def test_a_claim_that_leaves_no_room_fails_and_says_why() -> None:
    scorer = FakeScorer(max_pair_tokens=64)
    long, short = judge([candidates(premise("a b"), claim="word " * 60), candidates(premise(CLAIM))], scorer)
    assert long.failed is not None
    assert "60 tokens" in long.failed
    assert long.signals == {}
    assert short.failed is None
    assert short.entailment > 0.9


def test_a_premise_that_does_not_fit_is_read_in_parts_to_its_end() -> None:
    filler = "Gulls circle above the pier. " * 40
    scorer = FakeScorer(max_pair_tokens=64)
    for text in (f"{filler}{CLAIM}", f"{CLAIM} {filler}", f"{filler}{CLAIM} {filler}"):
        (result,) = judge([candidates(premise(text))], scorer)
        assert result.failed is None
        assert result.entailment > 0.9
        assert result.best_support is not None
        assert result.best_support.premise.text == text
        assert result.judged > 4


def test_parts_that_disagree_leave_the_contradiction_standing() -> None:
    filler = "Gulls circle above the pier. " * 40
    (result,) = judge(
        [candidates(premise(f"{CLAIM} {filler} The ferry never leaves at six."))], FakeScorer(max_pair_tokens=64)
    )
    assert result.contradiction > 0.8
    assert result.entailment == pytest.approx(1 - result.contradiction)


def test_one_bad_claim_does_not_take_the_others_with_it() -> None:
    work = [candidates(premise(CLAIM)), candidates(premise("a"), claim="poison"), candidates(premise(CLAIM))]
    first, bad, last = judge(work, FailingScorer("out of order", only="poison"))
    assert bad.failed == "out of order"
    assert bad.entailment == 0
    assert first == last
    assert first.failed is None


def test_a_dead_scorer_fails_every_claim() -> None:
    results = judge([candidates(premise("a")), candidates(premise("b"))], FailingScorer("gone"))
    assert [r.failed for r in results] == ["gone", "gone"]


class Nonsense(FakeScorer):
    def __init__(self, answer: NDArray[np.float32]) -> None:
        super().__init__()
        self.answer = answer

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self.answer


@pytest.mark.parametrize(
    "answer", [[[float("nan")] * 3], [[2.0, -1.0, 0.0]], [[0.1, 0.1, 0.1]], [[0.5, 0.5]], [], [[1, 0, 0]] * 2]
)
def test_a_scorer_that_answers_nonsense_has_failed(answer: list[list[float]]) -> None:
    (result,) = judge([candidates(premise("a"))], Nonsense(np.array(answer, np.float32)))
    assert result.failed is not None
    assert "fake" in result.failed


@settings(deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4))
def test_signals_have_fixed_names_and_ranges_and_depend_on_no_other_claim(texts: list[str], claims: list[str]) -> None:
    work = [candidates(*(premise(t, "passage", str(i)) for i, t in enumerate(texts)), claim=c) for c in claims]
    results = judge(work, FakeScorer())
    assert results == [judge([item], FakeScorer())[0] for item in work]
    for result in results:
        assert tuple(result.signals) == ENTAILMENT_SIGNALS
        assert all(0 <= v <= 1 for k, v in result.signals.items() if k != "margin")
        assert -1 <= result.signals["margin"] <= 1
        assert result.contradiction == result.signals["contra_max"]


def test_hostile_premises_are_divided_in_time() -> None:
    for text in ("x" * 100_000, "é\u0301" * 20_000, "." * 20_000):
        (result,) = judge([candidates(premise(text))], FakeScorer(max_pair_tokens=128))
        assert result.failed is None
        assert result.judged >= 1
