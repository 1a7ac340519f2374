"""Words, folded and stemmed."""

from assay.text.lexicon import lexemes
from assay.text.lexicon.lexemes import find_words, lexeme


def test_endless_words_are_read_and_not_remembered() -> None:
    kept = lexemes._cached_lexeme.cache_info().currsize
    words = [chr(ord("a") + i) * 1_000 for i in range(20)]
    found = find_words(" ".join(words))
    assert [word.fold for word in found.lexemes] == words
    assert lexemes._cached_lexeme.cache_info().currsize == kept


def test_a_possessive_is_its_noun() -> None:
    assert lexeme("Ada’s").stem == lexeme("ada").stem
