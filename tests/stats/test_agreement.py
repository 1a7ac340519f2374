"""Votes over the fields of structured samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.agreement import samples_wanted, vote_fields

leaves = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=2))
documents = st.lists(st.dictionaries(st.sampled_from("ab~/"), leaves, max_size=3), min_size=1, max_size=5)


@given(samples=documents)
def test_shares_and_agreements_lie_in_their_range(samples: list[dict[str, object]]) -> None:
    found = vote_fields(samples)
    assert found.score is None or 0 <= found.score <= 1
    for vote in found.fields:
        assert 0 < vote.share <= 1
        assert not vote.decided or vote.share >= 0.5
        assert vote.decided or vote.value is None


@given(samples=documents)
def test_equal_documents_agree_wholly(samples: list[dict[str, object]]) -> None:
    found = vote_fields([samples[0]] * 3)
    assert found.undecided == ()
    assert found.score in (1.0, None) if not samples[0] else found.score == 1.0


def test_kinds_of_values_are_told_apart() -> None:
    assert vote_fields([{"a": 1}, {"a": True}, {"a": "1"}]).undecided == ("/a",)
    assert vote_fields([{"a": 1}, {"a": 1.0}]).fields[0].value == 1


def test_a_tie_is_no_majority_and_an_absent_field_has_a_vote() -> None:
    tie = vote_fields([{"a": 1}, {"a": 2}])
    assert (tie.fields[0].decided, tie.fields[0].value, tie.score) == (False, None, 0.0)
    absent = vote_fields([{"a": 1}, {}, {}])
    vote = next(vote for vote in absent.fields if vote.path == "/a")
    assert (vote.decided, vote.value) == (True, None)


def test_pointers_are_escaped_and_nesting_is_followed() -> None:
    found = vote_fields([{"a/b": {"~c": [1, {"d": 2}]}}])
    assert [vote.path for vote in found.fields] == ["/a~1b/~0c/0", "/a~1b/~0c/1/d"]


def test_deep_nesting_is_no_matter() -> None:
    document: object = 1
    for _ in range(5000):
        document = [document]
    assert len(vote_fields([document, document]).fields) == 1


def test_the_number_of_samples_rises_with_the_risk() -> None:
    assert [samples_wanted(risk / 100) for risk in (0, 9, 10, 39, 40, 100)] == [1, 1, 3, 3, 5, 5]
    with pytest.raises(InputError):
        samples_wanted(1.2)
    with pytest.raises(InputError):
        vote_fields([])
