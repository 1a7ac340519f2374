"""Negations of German, French, Spanish, Italian and Portuguese, and the words that tell nothing when two sentences are
compared but for one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon.lexemes import word_set

_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Grammar:
    """What of one language a comparison by rules has to know; words in lower case as they are written."""

    negations: frozenset[str]
    """Words that negate their clause by themselves."""
    paired: frozenset[str]
    """Words that do so only in a clause that `particles` has opened ("ne ... pas")."""
    particles: frozenset[str]
    undone: frozenset[str]
    """Words that, behind a negation, leave nothing negated: "nicht nur", "no solo"."""
    articles: frozenset[str]
    """Words that may differ between two sentences that say the same."""
    conditions: frozenset[str]
    """Words that open what a statement depends on."""


GRAMMARS: Final[Mapping[str, Grammar]] = {
    "German": Grammar(
        word_set("nicht nie niemals keineswegs kein keine keinen keinem keiner keines niemand nichts"),
        frozenset(),
        frozenset(),
        word_set("nur bloß allein"),
        word_set("der die das den dem des ein eine einen einem einer eines es"),
        word_set("wenn falls sofern soweit außer solange bevor nachdem bis ob statt sondern"),
    ),
    "French": Grammar(
        word_set("aucun aucune jamais nul nulle pas"),
        word_set("plus rien personne guère"),
        word_set("ne n"),
        word_set("seulement uniquement que"),
        word_set("le la les l un une des du de d"),
        word_set("si sauf lorsque quand sinon que avant après jusqu mais"),
    ),
    "Spanish": Grammar(
        word_set("no nunca jamás ningún ninguno ninguna nadie nada tampoco"),
        frozenset(),
        frozenset(),
        word_set("solo sólo solamente únicamente obstante"),
        word_set("el la los las lo un una unos unas"),
        word_set("si salvo excepto cuando hasta antes después sino pero"),
    ),
    "Italian": Grammar(
        word_set("non nessun nessuno nessuna niente nulla mai"),
        frozenset(),
        frozenset(),
        word_set("solo soltanto solamente"),
        word_set("il lo la i gli le l un uno una"),
        word_set("se salvo tranne quando finché prima dopo ma bensì"),
    ),
    "Portuguese": Grammar(
        word_set("não nunca jamais nenhum nenhuma ninguém nada nem"),
        frozenset(),
        frozenset(),
        word_set("só somente apenas obstante"),
        word_set("o a os as um uma uns umas"),
        word_set("se salvo exceto quando até antes depois senão mas"),
    ),
}
"""By the name of the language, as `assay.text.sentences.language` gives it."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """A sentence as its words without negations and articles, and what negates."""

    content: tuple[str, ...]
    cues: tuple[tuple[int, int], ...]
    """The characters of each negating word."""
    unsure: bool
    """Whether something is said on a condition or against something else, or a negation leaves nothing negated."""


def spelled(sentence: str, grammar: Grammar) -> Spelled:
    """Reads a sentence by the grammar of its language.

    >>> found = spelled("Der Urlaub wird nicht bezahlt.", GRAMMARS["German"])
    >>> found.content, found.cues
    (('urlaub', 'wird', 'bezahlt'), ((16, 21),))
    """
    matches = list(_WORD.finditer(sentence))
    words = [match.group().lower() for match in matches]
    opened = not grammar.particles.isdisjoint(words)
    negating = grammar.negations | (grammar.paired if opened else frozenset())
    cues = [at for at, word in enumerate(words) if word in negating]
    silent = negating | grammar.articles | grammar.particles
    return Spelled(
        tuple(word for word in words if word not in silent),
        tuple(matches[at].span() for at in cues),
        not grammar.conditions.isdisjoint(words)
        or any(not grammar.undone.isdisjoint(words[at + 1 : at + 2]) for at in cues)
        or (opened and not cues),  # "ne ... que" limits
    )
