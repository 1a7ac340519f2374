"""Words of statements about records, besides names of fields and values."""

from collections.abc import Sequence
from typing import Final

from assay.text.lexicon import lexeme, word_set

FRAME: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """table record list lists listed give gives given show shows shown state stated states entry entries row
        column value values according information provide provided context text based answer yes following data
        document source have has had result results detail details say says name named called total number under
        mention mentioned passage clear article summary specifically question answer described section page
        report reported evidence available note indicate indicates it its there field record's recorded explain explains
        notes contain contains include includes carry carries hold holds comprise
        comprises show follows sure certainly short brief course okay"""
    )
)
"""Stems of words that present a value and state nothing about it."""

BLOCKERS: Final = word_set(
    """more most less least fewer than only just every each any some several both either neither nor or if unless
    except but without almost nearly approximately about around over above below between before during until since
    while although however should would could might may must can than another other same such too also again further
    against same when who whose which where because though yet per all one"""
)
"""Function words that make a statement of a value another kind of statement."""

NEGATIONS: Final = word_set(
    """not no never none don't doesn't didn't isn't aren't wasn't weren't won't can't couldn't hasn't haven't hadn't
    cannot"""
)
PLAIN_NEGATIONS: Final = frozenset({"not", "isn't", "aren't", "wasn't", "weren't", "doesn't", "didn't", "don't"})
"""The negations that deny a whole plain sentence."""

_DOING: Final = word_set("do does did")
"""Auxiliary verbs before the negation of another verb."""

CITED: Final = word_set("passage source document page section step text")
"""Words before the number of a piece of evidence: "passage 2"."""

PRESENTING: Final = word_set("is are was were be by as has have had lists list gives with under")
"""Words between the name of a field and its value."""

FUNCTION_WORDS: Final = word_set("a an the of in on at to for from by with is are was were and as its it has have had")
"""Words that are too common to find a record or to be a value alone."""


def negating_words(folds: Sequence[str], at: int) -> tuple[int, int]:
    """The range of words that a negation adds to a sentence or changes in it.

    >>> negating_words(("it", "is", "not", "4"), 2), negating_words(("it", "does", "not", "cost", "4"), 2)
    ((2, 3), (1, 4))

    Args:
        folds: the words of the sentence.
        at: the index of the word that negates.
    """
    doing = folds[at - 1] if at and folds[at - 1] in _DOING else ""
    changed = doing in ("does", "did")
    return at - bool(doing), min(at + 1 + changed, len(folds))
