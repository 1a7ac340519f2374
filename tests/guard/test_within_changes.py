"""Wrong words of a claim that repeats a sentence of the evidence but for some changes."""

from hypothesis import given
from hypothesis import strategies as st

from assay.guard.claims.wrong_spans import within_changes

CLAIM = "All of them had praised Oslo City Hall in 45.5 billion words."


def shown(pieces: list[str], changed: list[str]) -> list[str]:
    def places(texts: list[str]) -> list[tuple[int, int]]:
        return [(CLAIM.index(text), CLAIM.index(text) + len(text)) for text in texts]

    return [CLAIM[start:end] for start, end in within_changes(CLAIM, places(pieces), places(changed))]


def test_a_word_that_the_evidence_has_there_is_not_shown_as_wrong() -> None:
    assert shown(["All", "praised"], ["All"]) == ["All"]
    assert shown(["45.5 billion"], ["billion"]) == ["billion"]


def test_a_name_that_was_changed_is_shown_in_full_and_one_that_was_changed_in_part_is_not() -> None:
    assert shown(["Oslo"], ["Oslo City Hall"]) == ["Oslo City Hall"]
    assert shown(["Oslo"], ["Oslo"]) == ["Oslo"]


def test_what_the_network_names_outside_of_all_changes_stays() -> None:
    assert shown(["praised"], ["All"]) == ["praised"]


def test_where_the_network_names_nothing_the_only_change_is_shown() -> None:
    assert shown([], ["billion"]) == ["billion"]
    assert shown([], ["All", "billion"]) == []


PLACES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5).map(
    lambda some: sorted((start, min(start + length, len(CLAIM))) for start, length in some)
)


@given(PLACES, PLACES)
def test_what_is_shown_lies_in_the_claim_in_order_and_apart(
    pieces: list[tuple[int, int]], changed: list[tuple[int, int]]
) -> None:
    found = within_changes(CLAIM, pieces, changed)
    assert list(found) == sorted(found)
    assert all(0 <= start < end <= len(CLAIM) for start, end in found)
    assert bool(found) or not pieces
