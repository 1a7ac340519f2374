"""Words that cannot both be true."""

from assay.text import antonyms
from assay.text.antonyms import DIRECTIONS, EXCLUSIVE, OPPOSITES, opposites, prefix_opposites


def test_the_opposites_of_a_stem_are_those_of_every_table_and_of_the_prefixes() -> None:
    for stem in (*DIRECTIONS, *OPPOSITES, *EXCLUSIVE):
        expected = {*prefix_opposites(stem)}
        for table in (DIRECTIONS, OPPOSITES, EXCLUSIVE):
            expected |= table.get(stem, frozenset())
        assert opposites(stem) == expected


def test_endless_words_have_opposites_that_are_not_remembered() -> None:
    kept = antonyms._known_opposites.cache_info().currsize
    word = "z" * 5_000
    assert "un" + word in opposites(word)
    assert antonyms._known_opposites.cache_info().currsize == kept
