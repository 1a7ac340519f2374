"""Words of statements about the rows of a table or the items of a list, and how their results are written."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Final

from assay.text.lexicon import lexeme, word_set
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.vocabulary import BLOCKERS, FRAME


def stem_set(words: str) -> frozenset[str]:
    """The stems of words in a string.

    >>> sorted(stem_set("more prices"))
    ['more', 'pric']
    """
    return frozenset(lexeme(word).stem for word in word_set(words))


PRICES: Final = stem_set("price cost fee rate amount charge fare")
LENGTHS: Final = stem_set("length duration distance")
SIZES: Final = stem_set("size area capacity")
WEIGHTS: Final = stem_set("weight mass")
QUANTITIES: Final = stem_set("quantity qty count pieces")
PER_ONE: Final = stem_set("unit each per piece single")
"""Stems in the name of a unit price."""
ROWS: Final = stem_set("row entry record item result line")
"""Stems of nouns for the members of any list."""
TELLING: Final = stem_set(
    """cover find found return returned cost costs sell sold have make come comes amount price there earn earns work
    works weigh weighs be being been pay pays"""
)
"""Stems of words that only connect a row with its value."""
FIELDS_OF_VERBS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("cost costs price priced pay pays"), PRICES),
    **dict.fromkeys(word_set("last lasts take takes"), LENGTHS),
    **dict.fromkeys(word_set("weigh weighs"), WEIGHTS),
}
"""Verbs that refer to a column without its name, with the stems of that column."""
TOGETHER: Final = word_set("together combined altogether total totals sum overall")
AVERAGE: Final = word_set("average averages averaged mean")
LINKING: Final = word_set("than by from to with at of and the a an in all only just on for")
CONTAINERS: Final = stem_set("order invoice purchase basket cart bill receipt quote")
"""Stems of nouns for documents whose lines have a price each."""
WHOLE: Final = stem_set("whole entire complete everything")


def is_explained(statement: Statement, used: AbstractSet[int], stems: AbstractSet[str]) -> bool:
    """Whether every word of content is among those used, has one of the stems, or only joins or presents."""
    for at, word in enumerate(statement.lexemes):
        if at in used or word.stem in stems or word.fold in LINKING or word.stem in TELLING:
            continue
        if word.fold in BLOCKERS or ((word.weight or word.digit) and word.stem not in FRAME | ROWS):
            return False
    return True


def format_sum(value: Decimal) -> str:
    """A sum or a difference of values of cells, without trailing zeros."""
    return f"{value.normalize():f}"
