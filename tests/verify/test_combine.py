"""The combination of the tiers' signals."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import VerifierError
from assay.verify.exact import EXACT_SIGNALS
from assay.verify.network.combination import AGAINST as SPOKEN_AGAINST
from assay.verify.network.combination import Combination, Judgement, Wording, load_combination, logit, sigmoid
from assay.verify.network.entailment import ENTAILMENT_SIGNALS

NAMES = (*EXACT_SIGNALS, *ENTAILMENT_SIGNALS, "evidence_size")
SMALL = {
    "support": {"intercept": -1.0, "weights": {"a": 2.0, "logit(a)": 0.5}},
    "against": {"intercept": 0.0, "weights": {"b": 3.0}},
    "contradiction": {"intercept": -1.0, "weights": {"logit(support)": -1.0, "logit(against)": 0.5}},
    "logits": ["a"],
    "prior": 0.5,
}


@given(st.lists(st.floats(0, 1), min_size=len(NAMES), max_size=len(NAMES)))
def test_probabilities_stay_probabilities_of_things_that_exclude_each_other(values: list[float]) -> None:
    judgement = load_combination().judge(dict(zip(NAMES, values, strict=True)))
    assert 0 <= judgement.contradiction <= 1
    assert 0 <= judgement.support <= 1 - judgement.contradiction + 1e-12


def test_the_shipped_coefficients_name_only_signals_that_the_tiers_give() -> None:
    judgement = load_combination().judge(dict.fromkeys(NAMES, 0.5))
    assert 0 < judgement.support < 1


def test_the_formula_is_the_logistic_one() -> None:
    judgement = Combination.from_json(json.dumps(SMALL)).judge({"a": 0.5, "b": 0.0})
    assert judgement.support == pytest.approx(sigmoid(-1.0 + 2.0 * 0.5 + 0.5 * logit(0.5)))
    assert judgement.contradiction == pytest.approx(sigmoid(-1.0 - logit(judgement.support)))


def test_contradiction_leaves_no_less_than_the_probability_of_support() -> None:
    sure = SMALL | {"contradiction": {"intercept": 5.0, "weights": {}}}
    judgement = Combination.from_json(json.dumps(sure)).judge({"a": 0.5, "b": 1.0})
    assert judgement.contradiction == pytest.approx(1 - judgement.support)


def test_a_missing_signal_is_an_error_and_never_a_zero() -> None:
    with pytest.raises(VerifierError, match="logit"):
        Combination.from_json(json.dumps(SMALL | {"logits": []})).judge({"a": 0.5, "b": 0.5})
    with pytest.raises(VerifierError, match="'a'"):
        Combination.from_json(json.dumps(SMALL)).judge({"b": 0.5})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"support": 1}', json.dumps(SMALL | {"logits": 3})])
def test_unreadable_coefficients_say_what_to_do(text: str) -> None:
    with pytest.raises(VerifierError, match=r"[Rr]efit"):
        Combination.from_json(text)


def test_the_digest_changes_with_any_coefficient() -> None:
    other = SMALL | {"logits": ["a", "b"]}
    assert Combination.from_json(json.dumps(SMALL)).digest != Combination.from_json(json.dumps(other)).digest


@given(st.floats(-700, 700))
def test_the_sigmoid_never_overflows(value: float) -> None:
    assert 0 <= sigmoid(value) <= 1


AGAINST = [name for name in NAMES if name.startswith(("contradicts_", "contra_", "strongest_"))]
FOR = [name for name in NAMES if name.startswith(("entail_", "word_recall", "verbatim")) or name.endswith("_found")]


@given(st.lists(st.floats(0, 1), min_size=len(NAMES), max_size=len(NAMES)), st.sampled_from(AGAINST), st.floats(0, 1))
def test_more_that_speaks_against_a_claim_never_helps_it(values: list[float], name: str, more: float) -> None:
    signals = dict(zip(NAMES, values, strict=True))
    before = load_combination().judge(signals)
    after = load_combination().judge(signals | {name: max(signals[name], more)})
    assert after.support <= before.support + 1e-12
    assert after.contradiction >= before.contradiction - 1e-12


@given(st.lists(st.floats(0, 1), min_size=len(NAMES), max_size=len(NAMES)), st.sampled_from(FOR), st.floats(0, 1))
def test_more_that_speaks_for_a_claim_never_hurts_it(values: list[float], name: str, more: float) -> None:
    signals = dict(zip(NAMES, values, strict=True))
    before = load_combination().judge(signals)
    after = load_combination().judge(signals | {name: max(signals[name], more)})
    assert after.support >= before.support - 1e-12


SHARES = st.floats(0.01, 0.99)


@given(SHARES, st.floats(0, 1), st.floats(0, 1), st.floats(0, 8))
def test_the_more_of_a_claim_is_the_evidences_wording_the_likelier_it_is(
    prior: float, less: float, more: float, weight: float
) -> None:
    wording, free = Wording(weight, 0.2), dict.fromkeys(SPOKEN_AGAINST, 0.0)
    less, more = sorted((less, more))
    low, high = (wording.share(prior, {**free, "trigram_precision": one}) for one in (less, more))
    assert 0 < low <= high < 1


@given(SHARES, st.floats(0, 1), st.sampled_from(SPOKEN_AGAINST))
def test_wording_says_nothing_of_a_claim_that_something_surely_speaks_against(
    prior: float, precision: float, name: str
) -> None:
    signals = dict.fromkeys(SPOKEN_AGAINST, 0.0) | {"trigram_precision": precision, name: 1.0}
    assert Wording(5.0, 0.2).share(prior, signals) == pytest.approx(prior)


def test_a_claim_of_central_wording_is_judged_at_the_policys_own_share() -> None:
    fitted = Combination.from_json(json.dumps(SMALL))
    worded = Combination.from_json(json.dumps(SMALL | {"wording": {"weight": 4.0, "centre": 0.2}}))
    signals = dict.fromkeys(SPOKEN_AGAINST, 0.0)
    judgement = Judgement(0.4, 0.2)
    plain = fitted.in_use(judgement, 0.9, {})
    assert worded.in_use(judgement, 0.9, {**signals, "trigram_precision": 0.2}).support == pytest.approx(plain.support)
    quoted = worded.in_use(judgement, 0.9, {**signals, "trigram_precision": 0.9})
    assert quoted.support > plain.support
    assert quoted.contradiction < plain.contradiction


@pytest.mark.parametrize(
    "wording", [{"weight": -1.0, "centre": 0.2}, {"weight": 1.0, "centre": 2.0}, {"weight": "x", "centre": 0.2}, {}]
)
def test_a_wording_that_makes_no_sense_says_what_to_do(wording: object) -> None:
    with pytest.raises(VerifierError, match=r"[Rr]efit"):
        Combination.from_json(json.dumps(SMALL | {"wording": wording}))
