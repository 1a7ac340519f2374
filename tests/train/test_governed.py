"""Rows whose evidence doubts, asks, conditions or weakens what the claim says as a fact."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train.edits.document import Document
from train.edits.generate import contradicted
from train.edits.governed import (
    conditions_in,
    governed_pair,
    governed_rows,
    modality_pair,
    question_of,
    question_pair,
    restricted,
    rule_pair,
    verb_forms,
    verb_span,
)
from train.edits.governed_texts import FIELDS, GOVERNORS, SLOTS
from train.rows import Row

MILL = (
    "The old mill was built in 1901 by the Lindholm family. Ingrid Vollmer designed the northern wall. "
    "The museum opened its doors in May. Bicycles can be stored behind the station."
)
HARBOUR = (
    "Thomas Berg won the regatta in Norway. The harbour is closed to large ships. The ferry serves eleven islands. "
    "The pilots guide every tanker through the strait if the fog is thick."
)
CANAL = (
    "Maria Lopez wrote a novel about the drought. The publisher sells maps of the coast. "
    "Gardeners may take water from the canal unless the level is low."
)
TEXTS = (MILL, HARBOUR, CANAL)
ROWS = [Row("fm2", (text,), "", "supported") for text in TEXTS]
DOCUMENTS = [Document((text,)) for text in TEXTS]
MADE = governed_rows(ROWS, 60, 3)


def test_the_same_seed_gives_the_same_rows() -> None:
    assert governed_rows(ROWS, 60, 3) == MADE
    assert governed_rows(ROWS, 60, 4) != MADE


def test_both_labels_are_there_in_equal_number_and_no_more_rows_than_asked_for() -> None:
    supported = sum(row.label == "supported" for row in MADE)
    assert len(MADE) <= 60
    assert supported == len(MADE) - supported > 5


def test_no_documents_give_no_rows() -> None:
    assert governed_rows([], 10, 1) == []


def test_spans_lie_in_claims_that_are_not_supported() -> None:
    for row in MADE:
        assert not (row.spans and row.label == "supported")
        for start, end in row.spans:
            assert row.claim[start:end] == row.claim[start:end].strip(" .") != ""


def test_the_exact_tier_speaks_against_no_supported_row() -> None:
    assert not any(contradicted(row) for row in MADE if row.label == "supported")


def rows_of(make: object, seeds: int = 150) -> list[tuple[Row, Row]]:
    pairs = [
        make(document, i, random.Random(seed))  # type: ignore[operator]
        for seed in range(seeds)
        for document in DOCUMENTS
        for i in document.usable
    ]
    return [pair for pair in pairs if pair is not None]


@pytest.mark.parametrize("make", [governed_pair, question_pair, modality_pair])
def test_a_claim_that_is_a_sentence_of_the_documents_stands_no_longer_plainly_in_the_evidence(make: object) -> None:
    pairs = rows_of(make, 30)
    plain = {document.pieces[i] for document in DOCUMENTS for i in document.usable}
    bare = [wrong for wrong, _ in pairs if wrong.claim in plain]
    assert bare
    for wrong in bare:
        assert wrong.claim not in re.split(r"(?<=[.?]) ", wrong.evidence[0])
        assert wrong.spans == (verb_span(wrong.claim),)


def test_a_claim_with_a_clause_around_it_that_the_evidence_lacks_is_wrong_there() -> None:
    first_words = {form.split("{s}")[0].split("{who}")[-1].strip() for g in GOVERNORS for form in g.forms}
    marked = [w for w, _ in rows_of(governed_pair, 40) if w.spans and w.spans[0][0] == 0]
    assert marked
    for wrong in marked:
        start, end = wrong.spans[0]
        said = wrong.claim[start:end]
        assert any(said.endswith(words) for words in first_words if words), wrong
        assert said not in wrong.evidence[0]


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=200)
def test_rules_under_a_condition_are_wrong_without_it_and_right_where_it_restricts_nothing(seed: int) -> None:
    pair = rule_pair(random.Random(seed))
    if pair is None:
        return
    wrong, right = pair
    assert (wrong.label, right.label) == ("not_supported", "supported")
    assert "{" not in " ".join((*wrong.evidence, *right.evidence, wrong.claim, right.claim))
    (start, end) = wrong.spans[0]
    assert 0 <= start < end < len(wrong.claim)
    assert wrong.claim not in re.split(r"(?<=\.) ", wrong.evidence[0])


def test_a_condition_stands_behind_or_before_and_its_place_is_known() -> None:
    document = DOCUMENTS[0]
    behind = restricted("The mill can be visited.", "if", "the owner agrees", document, first=False)
    before = restricted("The mill can be visited.", "unless", "the owner objects", document, first=True)
    assert behind == ("The mill can be visited if the owner agrees.", (24, 43))
    assert before == ("Unless the owner objects, the mill can be visited.", (0, 24))


def test_conditions_are_collected_from_documents() -> None:
    assert conditions_in(DOCUMENTS) == ["the fog is thick", "the level is low"]


def test_statements_become_questions_where_their_verb_allows_it() -> None:
    document = DOCUMENTS[0]
    assert question_of(document.pieces[0], document) == "Was the old mill built in 1901 by the Lindholm family?"
    assert question_of(document.pieces[1], document) == "Did Ingrid Vollmer design the northern wall?"
    assert question_of("Nothing here.", document) is None


def test_what_is_said_of_a_verb_is_put_in_its_form() -> None:
    found = verb_forms("The old mill was built in 1901.")
    assert found is not None
    place, forms = found
    assert "The old mill was built in 1901."[slice(*place)] == "was"
    assert "may have been" in forms["possible"]
    assert "was expected to be" in forms["expected"]
    person = verb_forms("Thomas Berg won the regatta in Norway.")
    assert person is not None
    assert "planned to win" in person[1]["planned"]


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(0, 99))
def test_hostile_text_crashes_no_maker(text: str, seed: int) -> None:
    governed_rows([Row("fm2", (f"{text} The old mill was built in 1901. {text}",), "", "supported")], 6, seed)


def test_every_brace_has_its_fillings_and_every_governor_one_place_for_the_statement() -> None:
    for field in FIELDS.values():
        for text in (*field.rules, *field.conditions):
            assert set(re.findall(r"\{(\w+)\}", text)) <= SLOTS.keys()
    for governor in GOVERNORS:
        for form in governor.forms:
            assert form.count("{s}") == 1
            assert form.endswith(".")
