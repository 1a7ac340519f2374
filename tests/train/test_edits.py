"""The edits that training rows are made by: what is recorded as changed is exactly what changed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.edits import EDITS, Edit, rows_from_document, shorten, usable

DOCUMENT = [
    "The Harbour Bridge was opened on 12 March 1974 by Ingrid Vollmer.",
    "It is 1,240 metres long and carries all northern traffic of Lindholm.",
    "Construction began in May 1969 and cost more than 85 million crowns.",
    "Vollmer may close the bridge before storms, and the port authority must agree.",
    "The older ferry was larger but slower than the three buses that replaced it.",
    "Maintenance is not paid by the city of Lindholm.",
]
KINDS = {name for name, _, _ in EDITS}


def edits_of(sentence: str, seed: int) -> list[tuple[str, Edit]]:
    made = [(name, edit(sentence, DOCUMENT, random.Random(seed))) for name, _, edit in EDITS]
    return [(name, edit) for name, edit in made if edit is not None]


@given(st.sampled_from(DOCUMENT), st.integers(0, 10_000))
def test_an_edit_always_changes_the_claim(sentence: str, seed: int) -> None:
    for name, edit in edits_of(sentence, seed):
        assert edit.claim != sentence, name


@given(st.sampled_from(DOCUMENT), st.integers(0, 10_000))
def test_everything_outside_the_span_is_as_it_was(sentence: str, seed: int) -> None:
    for name, edit in edits_of(sentence, seed):
        start, end = edit.span
        assert sentence.startswith(edit.claim[:start]), name
        assert sentence.endswith(edit.claim[end:]), name


@given(st.sampled_from(DOCUMENT), st.integers(0, 10_000))
def test_a_span_lies_within_its_claim_and_names_something(sentence: str, seed: int) -> None:
    for name, edit in edits_of(sentence, seed):
        assert 0 <= edit.span[0] < edit.span[1] <= len(edit.claim), name


def test_every_kind_of_edit_occurs_on_a_document_that_offers_all() -> None:
    found = {name for seed in range(40) for sentence in DOCUMENT for name, _ in edits_of(sentence, seed)}
    assert found == KINDS - {"number_word"} | ({"number_word"} & found)
    assert "number" in found


@pytest.mark.parametrize("sentence", ["It was long.", "Short one.", "no capital at the start of this sentence here."])
def test_sentences_that_do_not_stand_alone_are_no_claims(sentence: str) -> None:
    assert not usable(sentence)


def test_a_shortened_sentence_uses_only_its_own_words() -> None:
    sentence = "The bridge (a toll road) is long, including its ramps, and white ."
    for seed in range(20):
        assert set(shorten(sentence, random.Random(seed)).split()) <= set(sentence.split())


def test_rows_of_one_document_have_true_wrong_and_absent_claims() -> None:
    rows = [row for seed in range(30) for row in rows_from_document([" ".join(DOCUMENT)], random.Random(seed))]
    assert {row.label for row in rows} == {"supported", "contradicted", "unsupported"}
    for row in rows:
        if row.label == "unsupported":
            assert row.claim not in row.evidence[0]
        if row.label == "contradicted":
            assert row.spans
