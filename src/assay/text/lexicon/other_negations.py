"""Negations of German, French, Spanish, Italian and Portuguese, and the words to ignore when two sentences are compared
apart from a negation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon.lexemes import word_set

_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words of one language that a comparison by rules needs, in lower case as they are written."""

    negations: frozenset[str]
    """Words that negate their clause by themselves; a sentence with two of them is not judged."""
    paired: frozenset[str]
    """Words that negate only together with one of `openers`; a sentence with one alone is not judged."""
    openers: frozenset[str]
    """What a paired word needs: "ne" in French, which negates nothing by itself, and "non" in Italian, which does."""
    cancelling: frozenset[str]
    """Words that cancel a negation right before them: "nicht nur", "no solo"."""
    articles: frozenset[str]
    """Words that may differ between two sentences of the same meaning."""
    conditions: frozenset[str]
    """Words that open a condition, compare, or attribute the statement to someone."""


_MORE: Final = frozenset({"plus"})
"""A paired word that compares where it has no opener."""

GRAMMARS: Final[Mapping[str, Grammar]] = {
    "German": Grammar(
        word_set("nicht nie niemals keineswegs kein keine keinen keinem keiner keines niemand nichts"),
        frozenset(),
        frozenset(),
        word_set("nur bloß allein wahr zuletzt ohne"),
        word_set("der die das den dem des ein eine einen einem einer eines es"),
        word_set(
            """wenn falls sofern soweit außer solange bevor nachdem bis ob statt sondern als wie denn zuvor dass
            angeblich vermeintlich sagt sagen glaubt glauben behauptet behaupten meint meinen denkt denken falsch irrtum
            mythos gerücht"""
        ),
    ),
    "French": Grammar(
        frozenset(),
        word_set("pas jamais aucun aucune nul nulle plus rien personne guère"),
        word_set("ne n"),
        word_set("seulement uniquement que"),
        word_set("le la les l un une des du de d"),
        word_set(
            """si sauf lorsque quand sinon que avant après jusqu mais qu comme dit disent croit croient pense pensent
            affirme affirment prétend prétendent faux mythe rumeur sans"""
        ),
    ),
    "Spanish": Grammar(
        word_set("no nunca ningún ninguno ninguna nadie nada tampoco"),
        frozenset(),
        frozenset(),
        word_set("solo sólo solamente únicamente obstante"),
        word_set("el la los las lo un una unos unas"),
        word_set(
            """si salvo excepto cuando hasta antes después sino pero que como jamás más menos mayor menor mejor peor
            dice dicen cree creen piensa piensan afirma afirman falso mito rumor sin"""
        ),
    ),
    "Italian": Grammar(
        frozenset(),
        word_set("nessun nessuno nessuna niente nulla mai"),
        word_set("non"),
        word_set("solo soltanto solamente"),
        word_set("il lo la i gli le l un uno una"),
        word_set(
            """se salvo tranne quando finché prima dopo ma bensì che come più meno maggiore minore migliore peggiore
            dice dicono crede credono pensa pensano afferma affermano falso mito senza"""
        ),
    ),
    "Portuguese": Grammar(
        word_set("não nunca nenhum nenhuma ninguém nada nem"),
        frozenset(),
        frozenset(),
        word_set("só somente apenas obstante"),
        word_set("o a os as um uma uns umas"),
        word_set(
            """se salvo exceto quando até antes depois senão mas que como jamais mais menos maior menor melhor pior diz
            dizem acredita acreditam pensa pensam afirma afirmam falso mito boato sem"""
        ),
    ),
}
"""By the name of the language in `assay.text.sentences.language`."""


@dataclass(frozen=True, slots=True)
class NegationReading:
    """The words of a sentence without negations and articles, with its negating words."""

    content: tuple[str, ...]
    cues: tuple[tuple[int, int], ...]
    """The character range of each negating word."""
    unsure: bool
    """Whether the statement is conditional, compared or attributed, or its negation is cancelled or ambiguous."""


def read_negations(sentence: str, grammar: Grammar) -> NegationReading:
    """Reads the negations of a sentence by the grammar of its language.

    >>> found = read_negations("Der Urlaub wird nicht bezahlt.", GRAMMARS["German"])
    >>> found.content, found.cues
    (('urlaub', 'wird', 'bezahlt'), ((16, 21),))
    """
    matches = list(_WORD.finditer(sentence))
    words = [match.group().lower() for match in matches]
    openers = [at for at, word in enumerate(words) if word in grammar.openers]
    paired = [at for at, word in enumerate(words) if word in grammar.paired]
    unpaired = [at for at, word in enumerate(words) if word in grammar.negations]
    opener_negates = "non" in grammar.openers
    ignored = grammar.negations | grammar.paired | grammar.articles | grammar.openers
    cues = sorted([*unpaired, *(paired if openers else ()), *(openers if opener_negates else ())])
    return NegationReading(
        tuple(word for word in words if word not in ignored or (word in _MORE and not openers)),
        tuple(matches[at].span() for at in cues),
        not grammar.conditions.isdisjoint(words)
        or any(not grammar.cancelling.isdisjoint(words[at + 1 : at + 2]) for at in cues)
        or len(unpaired) > 1
        or len(openers) > 1
        or len(paired) > 1
        or bool(openers and not cues)  # "ne ... que" restricts
        or any(not openers and words[at] not in _MORE for at in paired),  # "jamais construit", "mai registrato"
    )
