"""Texts that ask for the same thing stand together, whatever their order and whatever is in them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text.lexicon.similarity import MAX_WORDS, MIN_LIKENESS, group_similar, likeness, rarity, words_of

words = st.sampled_from(
    ["how", "long", "sick", "leave", "dogs", "office", "tea", "parking", "bonus", "Übung", "7", "год", "休"]
)
questions = st.lists(st.lists(words, max_size=6).map(" ".join) | st.text(max_size=20), max_size=14)


def as_texts(texts: list[str]) -> set[frozenset[str]]:
    return {frozenset(texts[place] for place in group) for group in group_similar(texts)}


@given(texts=questions)
def test_every_text_stands_in_exactly_one_group(texts: list[str]) -> None:
    places = [place for group in group_similar(texts) for place in group]
    assert sorted(places) == list(range(len(texts)))


@settings(max_examples=60)
@given(texts=questions, data=st.data())
def test_the_order_of_the_texts_changes_no_group(texts: list[str], data: st.DataObject) -> None:
    assert as_texts(texts) == as_texts(data.draw(st.permutations(texts)))


@given(texts=questions)
def test_each_member_is_like_its_leader(texts: list[str]) -> None:
    own = [words_of(text) for text in texts]
    weights = rarity(own)
    for group in group_similar(texts):
        assert all(likeness(own[group[0]], own[place], weights) >= MIN_LIKENESS for place in group)


@given(texts=questions, text=st.sampled_from(["How long is sick leave?", "休", "год 7"]))
def test_texts_of_the_same_words_stand_together(texts: list[str], text: str) -> None:
    groups = group_similar([text, *texts, text.upper()])
    assert any({0, len(texts) + 1} <= set(group) for group in groups)


@given(one=st.lists(words, max_size=6), other=st.lists(words, max_size=6))
def test_likeness_is_symmetric_and_a_share(one: list[str], other: list[str]) -> None:
    weights = rarity([one, other])
    assert 0 <= likeness(one, other, weights) <= 1
    assert likeness(one, other, weights) == likeness(other, one, weights)
    assert likeness(one, one, weights) == 1


def test_questions_about_one_thing_are_found_among_others() -> None:
    texts = [
        "How many weeks of parental leave do fathers get?",
        "Is parking free on Sundays?",
        "How many weeks of parental leave does a father get",
        "What does parking cost on Sundays?",
        "parental leave for fathers: how many weeks?",
        "Who approves travel to Norway?",
    ]
    groups = group_similar(texts)
    assert groups[0] == [0, 2, 4]
    assert [5] in groups


def test_hostile_texts_are_read_in_bounds() -> None:
    texts = ["a" * 1_000_000, " ".join(f"w{n}" for n in range(100_000)), "\u202e<script>" * 10_000, "\ud800", ""]
    assert len(group_similar([*texts, *texts])) <= len(texts)
    assert all(len(words_of(text)) <= MAX_WORDS for text in texts)
