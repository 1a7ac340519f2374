"""What stands around a mention, and what the index remembers of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.text.lexicon.lexemes import find_words
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact import index as exact_index
from assay.verify.exact.surroundings import clause, complement, neighbours, surroundings

TEXT = "The north office has 12 rooms, and the south office has 15 days of leave."


def _around(text: str, mention: str) -> tuple[int, int]:
    start = text.index(mention)
    return start, start + len(mention)


def test_a_clause_ends_at_a_comma_and_at_a_conjunction() -> None:
    words = find_words(TEXT)
    low, high = clause(TEXT, words, *_around(TEXT, "12"), 0, len(words))
    assert [w.fold for w in words.lexemes[low:high]] == ["the", "north", "office", "has", "12", "rooms"]


def test_a_clause_takes_in_the_word_that_a_colon_gives_a_value_to() -> None:
    text = "Rooms, floors: 12"
    words = find_words(text)
    low, high = clause(text, words, *_around(text, "12"), 0, len(words))
    assert [w.fold for w in words.lexemes[low:high]] == ["floors", "12"]


def test_neighbours_are_padded_where_the_text_ends() -> None:
    words = find_words("has 12 rooms")
    assert neighbours(words, 4, 6) == ("", "", "has", "room", "", "")


def test_the_complement_is_what_follows_of() -> None:
    words = find_words(TEXT)
    assert complement(words, _around(TEXT, "15 days")[1]) == {"leav"}
    assert complement(words, _around(TEXT, "12 rooms")[1]) == frozenset()


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 20))
def test_the_surroundings_of_any_place_are_words_of_the_text(text: str, start: int, length: int) -> None:
    words = find_words(text)
    stems = {w.stem for w in words.lexemes}
    around = surroundings(text, words, start, start + length, 0, len(words))
    assert len(around.neighbours) == 6
    assert around.clause <= stems
    assert around.beside == set(around.neighbours) - {""}
    assert around.beside <= stems
    assert around.complement <= stems


def test_what_the_index_remembers_is_bounded_and_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [f"Office {n} of the north has {n + 30} rooms and opened in {1900 + n}, not later." for n in range(30)]
    claims = [f"Office {n} of the north had {n + 31} rooms and opened in {1901 + n}." for n in range(30)]
    evidence = [Evidence(id="e", text=" ".join(facts))]
    index = index_evidence(evidence)
    expected = [check_exact(claim, index_evidence(evidence)) for claim in claims]
    monkeypatch.setattr(exact_index, "_CACHE_SIZE", 4)
    assert [check_exact(claim, index) for claim in claims] == expected
    assert max(len(index._mentions), len(index._contents), len(index._readings)) <= 4


def test_a_claim_that_is_a_sentence_of_the_evidence_is_found_whole() -> None:
    sentence = "The archive has at least 12 rooms, opened in 1904, and never sells “any of its old papers” to others."
    index = index_evidence([Evidence(id="e", text=f"A note. {sentence} The harbour has 7 rooms since 1911.")])
    result = check_exact(sentence, index)
    assert result.findings == ()
    for name in ("verbatim", "numbers_found", "numbers_on_subject", "dates_found", "names_found", "quotes_found"):
        assert result.signals[name] == 1.0
    for name in ("has_numbers", "has_dates", "has_quotes", "claim_negated"):
        assert result.signals[name] == 1.0
    assert result.signals["negation_differs"] == 0.0


def test_a_number_that_surely_stands_on_its_subject_needs_no_other_look() -> None:
    index = index_evidence([Evidence(id="e", text="The archive has 12 rooms. The harbour has 7 rooms.")])
    result = check_exact("The archive has 12 rooms, as we know.", index)
    assert not [f for f in result.findings if f.effect == "contradicts"]
    wrong = check_exact("The archive has 7 rooms, as we know.", index)
    assert [f.code for f in wrong.findings if f.effect == "contradicts"] == ["number.wrong_subject"]
