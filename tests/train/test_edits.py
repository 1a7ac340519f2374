"""The edits that training rows are made by: what is recorded as wrong is exactly what differs from the true claim."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.edits import EDITS, generate, is_single, make_rows, planted
from train.edits.context import Bank, Context
from train.edits.document import Document, clean, usable
from train.rows import Row

TEXTS = (
    "The Harbour Bridge was opened on 12 March 1974 by Ingrid Vollmer. It is 1,240 metres long and carries all northern "
    "traffic of Lindholm. Construction began in May 1969 and cost more than 85 million crowns. Ingrid Vollmer may close "
    "the bridge before storms if the wind exceeds 90 km an hour. The older ferry was larger but slower than the three "
    "buses that replaced it. Maintenance is not paid by the city of Lindholm because of rising costs.",
    "Acme Records signed Maria Lopez in 2004. Thomas Berg directed the film in Norway on a Tuesday. Maria Lopez won the "
    "first prize in Denmark. Thomas Berg was born in 1951 and died in 2010. Peter Holm defeated Carl Lund in Sweden. "
    "The club must pay its members two weeks of leave unless the board objects. Most members often met in London.",
    "Blue Valley is a small town in Ohio. Its population was 35,000 in 2010 and 41 percent of the people work in Dayton. "
    "The town had three public schools and a popular museum. The museum was founded by Anna Weiss in 1931. Green Valley "
    "has a population of 12,400 people. Some visitors may park for two hours behind the station.",
)
DOCUMENTS = [Document((text,)) for text in TEXTS]
BANK = Bank.of(DOCUMENTS)
ROWS = [Row("made", (text,), "", "supported") for text in TEXTS]
CLAIMS = [(document, i) for document in DOCUMENTS for i in document.usable]


@pytest.mark.parametrize(("kind", "make"), [(kind, make) for kind, _, make in EDITS])
def test_outside_of_the_span_an_edited_claim_is_as_it_was(kind: str, make: object) -> None:
    made = 0
    for seed in range(25):
        for document, i in CLAIMS:
            edit = make(document.pieces[i], Context(document, BANK, (i,)), random.Random(seed))  # type: ignore[operator]
            if edit is not None:
                made += 1
                assert is_single(document.pieces[i], edit), edit
                assert edit.claim[slice(*edit.span)].strip()
    assert made, kind


@given(st.text(max_size=300), st.sampled_from([make for _, _, make in EDITS]), st.integers(0, 99))
def test_hostile_text_crashes_no_edit(text: str, make: object, seed: int) -> None:
    make(text, Context(DOCUMENTS[0], BANK, ()), random.Random(seed))  # type: ignore[operator]


@given(st.text(max_size=400), st.integers(0, 9))
def test_hostile_evidence_gives_rows_or_none(text: str, seed: int) -> None:
    for row in make_rows([Row("made", (text, TEXTS[0]), "", "supported")], 10, seed):
        for start, end in row.spans:
            assert 0 <= start < end <= len(row.claim)


def test_a_seed_repeats_its_rows_and_another_gives_others() -> None:
    assert make_rows(ROWS, 60, 3) == make_rows(ROWS, 60, 3)
    assert make_rows(ROWS, 60, 3) != make_rows(ROWS, 60, 4)


def test_rows_have_all_labels_and_about_as_many_true_ones_as_asked() -> None:
    rows = make_rows(ROWS, 120, 1)
    assert {row.label for row in rows} >= {"supported", "contradicted", "unsupported", "not_supported"}
    assert 0.35 < sum(row.label == "supported" for row in rows) / len(rows) < 0.5


def test_wrong_rows_name_what_is_wrong_unless_the_whole_claim_is_absent() -> None:
    for row in make_rows(ROWS, 200, 5):
        if row.label == "supported" or row.source == "edit:absent":
            assert not row.spans
        else:
            ((start, end),) = row.spans
            assert row.claim[start:end].strip()


def test_few_true_rows_are_dropped_by_the_second_check() -> None:
    made = generate(ROWS, 200, 2)
    assert made.dropped.total() <= 0.05 * len(made.rows)


def test_planted_pairs_differ_within_their_span_alone() -> None:
    found = planted(ROWS, 2, 11)
    assert set(found) == {kind for kind, _, _ in EDITS}
    for pairs in found.values():
        for pair in pairs:
            ((start, end),) = pair.wrong.spans
            head, tail = pair.wrong.claim[:start].rstrip(" ,"), pair.wrong.claim[end:].lstrip(" ,")
            assert pair.twin.claim.startswith(head)
            assert pair.twin.claim.endswith(tail)
            assert pair.wrong.evidence == pair.twin.evidence


@pytest.mark.parametrize("sentence", ["It was long.", "Short one.", "no capital at the start of this sentence here."])
def test_sentences_that_do_not_stand_alone_are_no_claims(sentence: str) -> None:
    assert not usable(sentence)


@given(st.text(max_size=200))
def test_cleaning_text_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
