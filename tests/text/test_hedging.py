"""Hedges as a graded signal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.claims.hedging import WEIGHTS, hedge_score, hedges, without_hedges

SEED_001 = [
    "I think",
    "probably",
    "might be",
    "I'm not sure",
    "it's possible",
    "approximately",
    "roughly",
    "I believe",
    "as far as I know",
    "it seems",
]


@pytest.mark.parametrize("phrase", SEED_001)
def test_every_phrase_of_seed_001_is_a_hedge(phrase: str) -> None:
    assert hedge_score(f"Well, {phrase} 5 people came.") > 0


def test_an_approximation_weighs_less_than_a_doubt() -> None:
    assert hedge_score("It costs approximately $5.") < 0.2 < hedge_score("I think it costs $5.")


def test_about_is_a_hedge_before_a_number_only() -> None:
    assert hedges("The book is about whales.") == []
    assert [h.phrase for h in hedges("It is about 5.")] == ["about"]


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    assert hedge_score("I’m not sure.") == WEIGHTS["i'm not sure"]


@given(st.text(max_size=200))
def test_the_score_lies_between_nought_and_one_and_spans_slice_back(text: str) -> None:
    assert 0 <= hedge_score(text) <= 1
    for hedge in hedges(text):
        assert text[hedge.start : hedge.end].replace("’", "'").lower() == hedge.phrase


@given(st.sampled_from(sorted(WEIGHTS)), st.sampled_from(sorted(WEIGHTS)))
def test_a_further_hedge_never_lowers_the_score(a: str, b: str) -> None:
    assert hedge_score(f"{a} 5. {b} 5.") >= max(hedge_score(f"{a} 5."), hedge_score(f"{b} 5.")) - 1e-9


@pytest.mark.parametrize(
    ("hedged", "flat"),
    [
        ("Perhaps partners get 4 weeks.", "partners get 4 weeks."),
        ("It seems that the leave is paid.", "the leave is paid."),
        ("It seems to be four weeks.", "It is four weeks."),
        ("The shops appear to be closed.", "The shops are closed."),
        ("As far as I can tell, it is free.", "it is free."),
        ("The shop might open on Sundays.", "The shop does open on Sundays."),
        ("Partners might be entitled to it.", "Partners are entitled to it."),
        ("It is free, I think.", "It is free."),
        ("You may borrow the tools.", "You may borrow the tools."),
        ("It could be repaired.", "It could be repaired."),
        ("The might of the army was great.", "The might of the army was great."),
    ],
)
def test_a_statement_without_its_hedges_says_the_same_flatly(hedged: str, flat: str) -> None:
    said = hedged
    for start, end, words in reversed(without_hedges(hedged)):
        said = said[:start] + words + said[end:]
    assert said == flat


@given(st.text(alphabet="iIt semghpayrb,.'", max_size=80))
def test_what_takes_the_place_of_hedges_never_overlaps(text: str) -> None:
    at = 0
    for start, end, _ in without_hedges(text):
        assert at <= start < end <= len(text)
        at = end
