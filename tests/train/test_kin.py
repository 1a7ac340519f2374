"""Which documents share text, so that a split by document does not part excerpts of one page."""

from hypothesis import given
from hypothesis import strategies as st
from train.kin import COMMON, RUN, SHORT, kin
from train.rows import Row, marked_shared, part_of

PAGE = [f"word{i}" for i in range(200)]


def page(first: int, last: int) -> str:
    return " ".join(PAGE[first:last])


def test_excerpts_of_one_page_that_overlap_are_kin() -> None:
    assert kin([(page(0, 40), "a"), (page(20, 60), "b")]) == [0, 0]


def test_excerpts_that_share_fewer_words_in_a_row_are_not() -> None:
    assert kin([(page(0, 20 + RUN - 1), "a"), (page(20, 60), "b")]) == [0, 1]


def test_kin_of_kin_are_kin() -> None:
    assert kin([(page(0, 40), "a"), (page(60, 100), "b"), (page(25, 75), "c")]) == [0, 0, 0]


def test_long_documents_that_share_a_few_sentences_are_kin() -> None:
    ours = " ".join(f"ours{i}" for i in range(SHORT)) + " " + page(0, 60)
    theirs = " ".join(f"theirs{i}" for i in range(SHORT)) + " " + page(0, 60)
    assert kin([(ours, "a"), (theirs, "b")]) == [0, 0]


def test_two_wordings_of_a_premise_beside_one_claim_are_kin() -> None:
    premise, edited = "two men play chess in a park", "two women play chess in a park"
    assert kin([(premise, "people are playing a game"), (edited, "people are playing a game")]) == [0, 0]
    assert kin([(premise, "people are playing a game"), (edited, "someone reads a book outside")]) == [0, 1]


def test_a_formula_that_many_documents_have_joins_none() -> None:
    head = page(0, RUN)
    pairs = [(f"{head} {i} only here {i} and {i} there", str(i)) for i in range(COMMON + 1)]
    assert kin(pairs) == list(range(COMMON + 1))
    assert kin(pairs[:COMMON]) == [0] * COMMON


@given(
    st.lists(
        st.tuples(st.sampled_from(["a b c d", page(0, 30), page(10, 50), page(45, 90), ""]), st.text("xy ")),
        max_size=12,
    )
)
def test_a_group_is_named_by_its_first_pair_and_one_document_is_in_one_group(pairs: list[tuple[str, str]]) -> None:
    found = kin(pairs)
    assert all(found[group] == group <= at for at, group in enumerate(found))
    for document, _ in pairs:
        assert len({group for (other, _), group in zip(pairs, found, strict=True) if other == document}) == 1


def rows_of(side: str, count: int) -> list[Row]:
    """Rows whose documents are on a side and share nothing."""
    made = (Row("set", (f"The report number {i} speaks of item {i} alone.",), "c", "supported") for i in range(4_000))
    return [row for row in made if part_of(row) == side][:count]


def test_a_held_out_document_that_shares_text_with_a_training_document_is_on_no_side() -> None:
    body = page(0, 30)
    one = next(r for i in range(400) if part_of(r := Row("s", (f"{body} train {i}",), "c", "supported")) == "train")
    other = next(r for i in range(400) if part_of(r := Row("s", (f"{body} test {i}",), "d", "supported")) == "test")
    alone = rows_of("test", 1)[0]
    assert [part_of(row) for row in marked_shared([other, one, alone])] == ["shared", "train", "test"]


def test_what_shares_text_with_a_document_of_the_fit_is_not_measured_either() -> None:
    body = page(0, 30)
    one = next(r for i in range(400) if part_of(r := Row("s", (f"{body} fit {i}",), "c", "supported")) == "fit")
    other = next(r for i in range(400) if part_of(r := Row("s", (f"{body} test {i}",), "d", "supported")) == "test")
    assert [part_of(row) for row in marked_shared([one, other])] == ["fit", "shared"]
