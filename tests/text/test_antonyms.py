"""Words that cannot both be true."""

import pytest

from assay.text.lexicon.antonyms import DIRECTIONS, OPPOSITES, opposites
from assay.text.lexicon.lexemes import stem


def test_the_opposites_of_a_stem_are_those_of_both_tables() -> None:
    for one in (*DIRECTIONS, *OPPOSITES):
        assert opposites(one) == DIRECTIONS.get(one, frozenset()) | OPPOSITES.get(one, frozenset())


def test_opposition_is_mutual() -> None:
    for one in (*DIRECTIONS, *OPPOSITES):
        assert all(one in opposites(other) for other in opposites(one))


@pytest.mark.parametrize(("one", "other"), [("dissolvable", "solvable"), ("part", "impart"), ("red", "green")])
def test_words_that_merely_look_opposite_are_not(one: str, other: str) -> None:
    assert stem(other) not in opposites(stem(one))
