from hypothesis import given, settings
from hypothesis import strategies as st

from assay.retrieve.ranking import RankingOptions, WindowRanker, stem, terms, terms_of_slices
from assay.schema import Window


def windows(*texts: str) -> list[Window]:
    return [Window(f"e{i}", 0, len(t), t) for i, t in enumerate(texts)]


SHELF = windows(
    "The archive was founded in 1871 by two brothers.",
    "Visitors may enter the archive between ten and four.",
    "The director resigned after the audit of 2019.",
    "An audit found $1,200,000 missing from the accounts.",
)


def test_the_window_that_shares_the_rare_words_comes_first() -> None:
    ranker = WindowRanker(SHELF)
    assert ranker.top("The audit found 1200000 dollars missing", 1) == [3]
    assert ranker.top("The archive is from 1871", 2) == [0, 1]


def test_all_windows_are_given_where_no_bound_is_set() -> None:
    assert sorted(WindowRanker(SHELF).top("audits")) == [0, 1, 2, 3]
    assert WindowRanker(SHELF).top("audits", 0) == []
    assert WindowRanker([]).top("anything", 3) == []
    assert WindowRanker([]).top("anything") == []


def test_windows_of_equal_score_stand_by_id_and_position() -> None:
    same = [Window("b", 5, 9, "text"), Window("a", 7, 11, "text"), Window("b", 0, 4, "text"), Window("a", 0, 4, "text")]
    assert WindowRanker(same).top("text") == [3, 1, 2, 0]
    assert WindowRanker(same).top("nothing alike", 3) == [3, 1, 2]


def test_rivals_are_windows_of_other_sources_that_are_nearly_as_much_alike() -> None:
    ranker = WindowRanker([*SHELF, Window("e1", 90, 99, "The archive was founded in 1872.")])
    assert ranker.rivals("The archive was founded in 1871.", "e0", 0.3) == [4]
    assert ranker.rivals("The archive was founded in 1871.", "e0", 0.01) == [4, 3, 1]
    assert ranker.rivals("The archive was founded in 1871.", "e1", 1.0) == [0]
    assert ranker.rivals("The archive was founded in 1871.", "e0", 1.0) == []
    assert ranker.rivals("Nothing alike.", "e0", 0.0) == []
    assert WindowRanker([]).rivals("anything", "e0", 0.5) == []


TEXT = st.text(alphabet="abc 12.,é漢", max_size=30)


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=12), TEXT, st.randoms(use_true_random=False), st.integers(0, 14))
def test_the_order_of_evidence_does_not_matter(texts: list[str], claim: str, rng: object, k: int) -> None:
    given_order = windows(*texts)
    shuffled = given_order.copy()
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    first = [given_order[i] for i in WindowRanker(given_order).top(claim, k)]
    second = [shuffled[i] for i in WindowRanker(shuffled).top(claim, k)]
    assert first == second
    assert first == [given_order[i] for i in WindowRanker(given_order).top(claim)[:k]]


@given(st.lists(TEXT, min_size=1, max_size=8), TEXT)
def test_the_inverted_index_gives_the_formula(texts: list[str], claim: str) -> None:
    ranker = WindowRanker(windows(*texts), RankingOptions(k1=1.5, b=0.5))
    bags = [terms(t) for t in texts]
    mean = sum(map(len, bags)) / len(bags) or 1.0
    for bag, score in zip(bags, ranker.score(claim), strict=True):
        expected = sum(
            ranker.idf(sum(t in b for b in bags))
            * bag.count(t)
            * 2.5
            / (bag.count(t) + 1.5 * (0.5 + 0.5 * len(bag) / mean))
            for t in set(terms(claim))
            if t in bag
        )
        assert abs(score - expected) < 1e-9


def test_terms_are_the_same_across_inflection_case_and_separators() -> None:
    assert terms("Approved policies of 12,500 EUROS") == terms("approves policy 12500 euro")
    assert terms("3.5") != terms("35")


def test_scripts_without_spaces_are_compared_by_pairs_of_characters() -> None:
    assert terms("東京都") == ["東京", "京都"]
    shelf = windows("大阪は西にあります。", "東京は日本の首都です。")
    assert WindowRanker(shelf).top("日本の首都は東京", 1) == [1]


def test_hostile_text_is_indexed() -> None:
    for text in ("1," * 50_000, "a" * 100_000, "1'000" * 20_000, "\u0301" * 50_000, "\ud800" * 10_000, "東" * 50_000):
        assert WindowRanker(windows(text, "plain")).top("plain", 1) == [1]


@given(st.text(alphabet=st.characters(categories=["Ll"]), min_size=1, max_size=12))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)


@given(
    st.text(st.sampled_from("ab Zé.,'\u00a0 1234\u03a3\u0130的語\u0e01\n") | st.characters(), max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5),
)
def test_slices_of_a_text_have_the_terms_that_they_have_alone(text: str, places: list[tuple[int, int]]) -> None:
    slices = [(min(pair), max(pair)) for pair in places]
    assert terms_of_slices(text, slices) == [terms(text[start:end]) for start, end in slices]


def test_windows_are_ranked_by_terms_that_are_known_already() -> None:
    read = [terms(f"Title {n}: {window.text}") for n, window in enumerate(SHELF)]
    known = WindowRanker(SHELF, window_terms=read)
    alone = WindowRanker(SHELF, texts=[f"Title {n}: {window.text}" for n, window in enumerate(SHELF)])
    assert known.score("title 2 audits") == alone.score("title 2 audits")
    assert known.terms_of(1) == alone.terms_of(1)
