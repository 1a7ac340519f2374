import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.retrieve.premises import OVERHEAD, EvidenceIndex, IndexCache, PremiseOptions
from assay.schema import Evidence
from assay.schema.premise import Premise
from assay.testing import FakeScorer

COUNT = FakeScorer().count_tokens
FILLER = "Nothing of note happened on that day in the village. The weather stayed mild and dry for weeks. " * 12
SOURCES = [
    Evidence(id="b", text=f"{FILLER}Ana Prado runs the observatory. {FILLER}"),
    Evidence(id="a", text=f"{FILLER}The observatory stands on Mount Vela. {FILLER}", title="Sites"),
]
CLAIM = "The observatory on Mount Vela is run by Ana Prado."


def of(premises: tuple[Premise, ...], granularity: str) -> list[Premise]:
    return [p for p in premises if p.granularity == granularity]


def test_the_assembled_premise_brings_distant_sentences_together_in_document_order() -> None:
    found = EvidenceIndex(SOURCES, COUNT, PremiseOptions(document_tokens=22)).candidates(CLAIM)
    (document,) = of(found.premises, "document")
    assert document.text == "Sites: The observatory stands on Mount Vela. Ana Prado runs the observatory."
    assert [w.evidence_id for w in document.windows] == sorted(w.evidence_id for w in document.windows)
    assert COUNT([document.text])[0] <= 22


def test_what_shares_no_word_with_the_claim_is_read_too_where_there_is_room_the_nearest_first() -> None:
    steps = [f"Step {word} is written down here." for word in ("one", "two", "three", "four", "five", "six", "seven")]
    steps[3] = "The kiln is lit at dawn."
    evidence = [Evidence(id="a", text=" ".join(steps))]
    claim = "They light the kiln early."
    small, large = (
        of(EvidenceIndex(evidence, COUNT, PremiseOptions(document_tokens=size)).candidates(claim).premises, "document")
        for size in (24, 200)
    )
    assert small[0].text == " ".join(steps[2:5])
    assert large[0].text == " ".join(steps)


@given(st.integers(8, 300))
def test_the_assembled_premise_never_exceeds_its_tokens_and_says_no_sentence_twice(size: int) -> None:
    found = EvidenceIndex(SOURCES, COUNT, PremiseOptions(document_tokens=size)).candidates(CLAIM).premises
    for document in of(found, "document"):
        assert COUNT([document.text])[0] <= max(size, 12)
        assert document.text.count("Ana Prado runs") <= 1


def test_each_granularity_has_its_premises() -> None:
    options = PremiseOptions(passages=3, sentences=2, other_source=2)
    found = EvidenceIndex(SOURCES, COUNT, options).candidates(CLAIM).premises
    assert [p.granularity for p in found] == ["sentence"] * 2 + ["passage"] * 3 + ["document"]
    texts = {p.text for p in of(found, "sentence")}
    assert texts == {"Sites: The observatory stands on Mount Vela.", "Ana Prado runs the observatory."}


def test_by_default_a_claim_is_read_beside_a_sentence_a_window_and_the_assembled_text() -> None:
    found = EvidenceIndex(SOURCES[:1], COUNT).candidates("Ana Prado runs the observatory.").premises
    assert [p.granularity for p in found] == ["sentence", "passage", "document"]


TIMES = ("The ferry to Corvo leaves at six.", "The ferry to Corvo leaves at seven.", "Bread is sold at six.")


def test_a_sentence_of_a_second_source_that_says_nearly_the_same_is_read_too() -> None:
    evidence = [Evidence(id=f"e{i}", text=f"{FILLER}{text} {FILLER}") for i, text in enumerate(TIMES)]
    read = of(EvidenceIndex(evidence, COUNT).candidates(TIMES[0]).premises, "sentence")
    assert [p.text for p in read] == [TIMES[0], TIMES[1]]
    apart = of(EvidenceIndex(evidence[::2], COUNT).candidates(TIMES[0]).premises, "sentence")
    assert [p.text for p in apart] == [TIMES[0]]
    without = EvidenceIndex(evidence, COUNT, PremiseOptions(other_source=2, other_terms=2))
    assert len(of(without.candidates(TIMES[0]).premises, "sentence")) == 1


def test_a_second_source_that_lacks_only_the_telling_word_is_read_too() -> None:
    evidence = [
        Evidence(id="a", text="The server stands in Dublin."),
        Evidence(id="b", text="The server stands in Frankfurt."),
        Evidence(id="c", text="Lunch is at noon."),
    ]
    read = of(EvidenceIndex(evidence, COUNT).candidates("The server stands in Dublin.").premises, "sentence")
    assert [p.text for p in read] == ["The server stands in Dublin.", "The server stands in Frankfurt."]


def test_a_second_source_in_the_very_same_words_is_not_read_twice() -> None:
    evidence = [Evidence(id=i, text=f"{FILLER}{TIMES[0]} {FILLER}") for i in ("a", "b")]
    read = of(EvidenceIndex(evidence, COUNT).candidates(TIMES[0]).premises, "sentence")
    assert [p.text for p in read] == [TIMES[0]]


def test_where_two_sources_are_read_anyway_no_third_is_looked_for() -> None:
    evidence = [Evidence(id=f"e{i}", text=f"{FILLER}{text} {FILLER}") for i, text in enumerate(TIMES[:2])]
    read = EvidenceIndex(evidence, COUNT).candidates(TIMES[0], passages=3).premises
    assert len(of(read, "passage")) == 3
    assert {p.text for p in of(read, "sentence")} == {TIMES[0]}


def test_a_claim_that_shares_no_word_is_read_beside_one_sentence_only() -> None:
    assert len(of(EvidenceIndex(SOURCES, COUNT).candidates("Zebras graze.").premises, "sentence")) == 1


def test_numbered_texts_are_read_in_the_order_of_their_numbers() -> None:
    texts = [f"Gate {n} of the harbour opens when gate {n - 1} has closed." for n in range(1, 13)]
    evidence = [Evidence(id=str(n), text=text) for n, text in enumerate(texts, 1)]
    index = EvidenceIndex(evidence[::-1], COUNT, PremiseOptions(document_tokens=400))
    assert [w.evidence_id for w in index.windows] == [str(n) for n in range(1, 13)]
    (document,) = of(index.candidates("The gates of the harbour open one after the other.").premises, "document")
    assert document.text == " ".join(texts)


def test_ids_that_differ_only_in_zeros_in_front_have_one_order() -> None:
    evidence = [Evidence(id=i, text=f"The gate is {i}.") for i in ("a007", "a7", "a10", "a", "7", "b٣")]
    first = EvidenceIndex(evidence, COUNT)
    assert first.windows == EvidenceIndex(evidence[::-1], COUNT).windows
    assert [w.evidence_id for w in first.windows] == ["7", "a", "a007", "a7", "a10", "b٣"]


def test_without_a_bound_every_window_is_a_premise() -> None:
    index = EvidenceIndex(SOURCES, COUNT)
    every = of(index.candidates(CLAIM, passages=None).premises, "passage")
    assert {w for p in every for w in p.windows} == set(index.windows)
    assert len(of(index.candidates(CLAIM, passages=1).premises, "passage")) == 1


def test_the_order_of_evidence_does_not_change_the_premises() -> None:
    assert EvidenceIndex(SOURCES, COUNT).candidates(CLAIM) == EvidenceIndex(SOURCES[::-1], COUNT).candidates(CLAIM)


def test_premises_are_slices_of_their_evidence() -> None:
    text_of = {e.id: e.text for e in SOURCES}
    for premise in EvidenceIndex(SOURCES, COUNT).candidates(CLAIM).premises:
        for window in premise.windows:
            assert text_of[window.evidence_id][window.start : window.end] == window.text
            assert window.text in premise.text


def test_a_sentence_said_sixty_times_takes_its_room_once() -> None:
    index = EvidenceIndex([Evidence(id="e", text="The gate is open. " * 60 + "The key hangs inside.")], COUNT)
    (document,) = of(index.candidates("The gate is open and the key hangs inside.").premises, "document")
    assert document.text == "The gate is open. The key hangs inside."


def test_no_evidence_gives_no_premises() -> None:
    for evidence in ([], [Evidence(id="e", text="  ")]):
        assert EvidenceIndex(evidence, COUNT).candidates(CLAIM).premises == ()


def test_another_query_ranks_but_does_not_become_the_claim() -> None:
    found = EvidenceIndex(SOURCES, COUNT).candidates("She does.", query="Does Ana Prado run the observatory?")
    assert found.claim == "She does."
    assert found.premises[0].text == "Ana Prado runs the observatory."


@pytest.mark.parametrize("change", ["text", "title", "digest", "options"])
def test_the_cache_gives_the_same_index_for_the_same_content_only(change: str) -> None:
    cache = IndexCache()
    first = cache.get(SOURCES, COUNT, "m")
    assert cache.get(SOURCES[::-1], COUNT, "m") is first
    one = SOURCES[0]
    other = {
        "text": lambda: cache.get([one.model_copy(update={"text": one.text + "."}), SOURCES[1]], COUNT, "m"),
        "title": lambda: cache.get([one.model_copy(update={"title": "T"}), SOURCES[1]], COUNT, "m"),
        "digest": lambda: cache.get(SOURCES, COUNT, "n"),
        "options": lambda: cache.get(SOURCES, COUNT, "m", PremiseOptions(passages=9)),
    }[change]()
    assert other is not first


def test_the_cache_forgets_what_exceeds_its_bound() -> None:
    small = [Evidence(id="e", text="x " * 40)]
    cache = IndexCache(max_characters=100 + OVERHEAD)
    kept = cache.get(small, COUNT, "m")
    assert cache.get(small, COUNT, "m") is kept
    cache.get(SOURCES, COUNT, "m")
    assert cache.get(small, COUNT, "m") is kept
    cache.get([Evidence(id="f", text="y " * 40)], COUNT, "m")
    assert cache.get(small, COUNT, "m") is not kept
