"""Two sentences of two sources are read both ways: what contradicts the other in either direction disagrees with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Guard
from assay.errors import VerifierError
from assay.guard.conflicts.both_ways import (
    MOST_SENTENCES,
    SIGNS,
    BothWays,
    SentencePair,
    load_both_ways,
    read_both_ways,
    sentence_pairs,
)
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.testing import ScriptedScorer

TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=200)
FAMILIES = {
    "state": ("The lift in the east wing is out of order.", "The lift in the east wing is working again."),
    "transport": ("The airline has dropped its route to Bergen.", "The airline flies to Bergen three times a week."),
    "price": ("The night bus costs nothing for students.", "Students pay 2 euros on the night bus, as all do."),
    "harm": ("The fungicide is harmless to bees.", "Bees die from contact with the fungicide."),
    "repair": ("The fly tower has been repaired.", "Repairs to the fly tower have yet to begin."),
}


def disclosed(first: str, second: str) -> bool:
    report = Guard().check(first, [Evidence(id="first", text=first), Evidence(id="second", text=second)])
    assert bool(report.retrieval.conflicts) or report.action is Action.EMIT
    return bool(report.retrieval.conflicts)


@pytest.mark.parametrize("family", FAMILIES)
def test_sources_that_cannot_both_be_right_are_shown_whichever_of_them_is_followed(family: str) -> None:
    first, second = FAMILIES[family]
    assert disclosed(first, second)
    assert disclosed(second, first)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_source_is_in_no_conflict_with_what_it_says_itself_or_with_another_matter(family: str) -> None:
    first, _ = FAMILIES[family]
    assert not disclosed(first, first)
    assert not disclosed(first, "The canteen serves soup from noon on.")


def test_two_sentences_are_read_as_the_premise_of_each_other_and_of_the_claim() -> None:
    pair = SentencePair("It is open.", "The pool is open.", "The pool is shut.")
    assert len(pair.pairs) == 4
    assert all((second, first) in pair.pairs for first, second in pair.pairs)


def test_signals_are_the_same_whichever_sentence_is_the_premise() -> None:
    one, other = "The pool is open.", "The pool is shut."
    against = (0.1, 0.2, 0.7)
    scorer = ScriptedScorer({(one, other): against, (other, one): (0.3, 0.3, 0.4)})
    swapped = ScriptedScorer({(other, one): against, (one, other): (0.3, 0.3, 0.4)})
    assert read_both_ways([SentencePair(one, one, other)], scorer) == read_both_ways(
        [SentencePair(one, one, other)], swapped
    )


def test_a_pair_that_is_too_long_for_the_network_says_nothing_and_the_others_are_read() -> None:
    short, long = (SentencePair(claim, "It is open.", "It is shut.") for claim in ("It is open.", "word " * 600))
    read, nothing = read_both_ways([short, long], ScriptedScorer({}))
    assert nothing is None
    assert read is not None


CODES = [f"{first}{second}{third}" for first in "QXZ" for second in "KVWJ" for third in "FGHJKMNPRT"]
ALL_CODES = f"The keeper of the store at Marlow lists the codes {', '.join(CODES)} as valid this year."
FEW_CODES = f"The keeper at Marlow lists the codes {', '.join(CODES[:60])}."


def on_codes() -> HallucinationReport:
    return Guard().check(ALL_CODES, [Evidence(id="all", text=ALL_CODES), Evidence(id="few", text=FEW_CODES)])


def test_a_long_sentence_of_a_source_does_not_end_a_check() -> None:
    assert [claim.verdict for claim in on_codes().claims] == [Verdict.SUPPORTED]


def test_a_network_that_fails_there_leaves_the_claim_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise VerifierError("the network is down")

    monkeypatch.setattr("assay.guard.conflicts.source_conflicts.read_both_ways", fails)
    evidence = [Evidence(id="all", text=ALL_CODES), Evidence(id="few", text=f"{FEW_CODES} The fee is 4 euros.")]
    found = Guard().check(f"{ALL_CODES} The fee is 9 euros.", evidence)
    assert [claim.verdict for claim in found.claims] == [Verdict.UNCHECKED, Verdict.CONTRADICTED]
    assert found.action is not Action.EMIT


@given(TEXTS, TEXTS, TEXTS)
def test_few_sentences_are_read_of_any_text_and_each_stands_in_its_source(claim: str, own: str, other: str) -> None:
    pairs = list(sentence_pairs(claim, own, other))
    assert len(pairs) <= MOST_SENTENCES
    assert all(one.behind in own and one.other in other for one in pairs)


def test_a_row_of_figures_is_no_sentence() -> None:
    assert not list(sentence_pairs("Riverside has 30 places.", "Riverside has 30 places.", "Riverside,150,8,30,72,80"))


def test_no_weight_of_the_shipped_model_goes_against_its_meaning() -> None:
    assert all(SIGNS[name] * weight > 0 for name, weight in load_both_ways().model.weights.items())


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"intercept": 0, "weights": {}, "threshold": "x"})])
def test_a_file_that_is_no_model_says_how_to_mend_it(text: str) -> None:
    with pytest.raises(VerifierError, match="fit_both_ways"):
        BothWays.from_json(text)
