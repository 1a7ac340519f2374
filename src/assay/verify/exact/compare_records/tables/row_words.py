"""Words of statements about the rows of a table or the items of a list."""

from collections.abc import Mapping
from typing import Final

from assay.text.lexicon import lexeme, word_set


def stem_set(words: str) -> frozenset[str]:
    """The stems of words as they come in texts.

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
"""Words of the name of a price that is for one of what it is the price of."""
ROWS: Final = stem_set("row entry record item result line")
"""What the members of any list may be called."""
TELLING: Final = stem_set(
    """cover find found return returned cost costs sell sold have make come comes amount price there earn earns work
    works weigh weighs be being been pay pays"""
)
"""Verbs that say of a row that it has its value."""
FIELDS_OF_VERBS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("cost costs price priced pay pays"), PRICES),
    **dict.fromkeys(word_set("last lasts take takes"), LENGTHS),
    **dict.fromkeys(word_set("weigh weighs"), WEIGHTS),
}
"""Verbs that name a column by themselves."""
TOGETHER: Final = word_set("together combined altogether total totals sum overall")
AVERAGE: Final = word_set("average averages averaged mean")
LINKING: Final = word_set("than by from to with at of and the a an in all only just on for")
CONTAINERS: Final = stem_set("order invoice purchase basket cart bill receipt quote")
"""What is made of lines with a price each."""
WHOLE: Final = stem_set("whole entire complete everything")
