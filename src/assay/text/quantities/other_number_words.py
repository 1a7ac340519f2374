"""Whole numbers written in German, French, Spanish, Italian and Portuguese words, up to the millions.

An expression is read whole by the grammar of the text's language or not at all. Nothing is read next to a half, a
fraction, a limit, another number or a time of day, or where the word has another meaning too: a number that is cut
short is worse than one that is not read.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.text.lexicon.lexemes import Words, word_set
from assay.text.quantities.other_number_grammars import LARGE_SCALES, LINKS, READERS, SINGLE_WORD_READERS, VOCABULARY
from assay.text.quantities.units import OTHER_UNIT_WORDS, UNIT_WORDS
from assay.text.sentences.languages import OTHER_LANGUAGES, is_common_word, language_votes

_ARTICLES: Final = word_set("un une una uno um uma ein eine einer")
"""Articles, which mean one within a number of several words."""
_CONTAINS_THOUSAND: Final = re.compile(r"tausend|mila|mille", re.IGNORECASE)
_ALL_NUMERALS: Final = frozenset().union(*VOCABULARY.values())
_NUMERALS_ELSEWHERE_ONLY: Final = {
    "German": word_set("sei elf"),
    "French": frozenset[str](),
    "Spanish": word_set("sei"),
    "Italian": frozenset[str](),
    "Portuguese": word_set("dos doce sei"),
}
"""By language, words of it that are numbers in another of the five languages but not in this one."""
_AMBIGUOUS: Final = word_set("acht neuf cent sei venti once due elf six seize doce dos mille")
"""One-word numbers that often mean something else: read only before a unit, or where the language is known."""
_NEEDS_UNIT: Final = word_set("acht neuf cent sei venti")
"""Those of them that are ambiguous within their own language."""
_UNREAD_PARTS: Final = word_set(
    """halb halbe halben halber halbes einhalb anderthalb eineinhalb demi demie media medio medios medias mezza mezzo
    meia meio komma virgule coma virgola virgula punto ponto point punkt
    drittel viertel funftel zehntel tiers quart quarts cuarto cuartos tercio tercios terzo terzi quarto quarti terco
    tercos quartos quinto quintos quinti dixieme centieme
    dutzend dutzende douzaine douzaines docena docenas dozzina dozzine duzia duzias centaine centaines millier
    milliers centinaio centinaia migliaio migliaia centena centenas milhar milhares millar millares hunderte tausende
    dizaine dizaines quinzaine vingtaine trentaine cinquantaine decina decine ventina dezena dezenas decena decenas
    billion billionen billon billones bilhao bilhoes biliao bilioes trilhao
    mal fois veces volte vezes fach uhr"""
)
"""Parts of numbers that the grammars do not read, and words that make a number a time of day or a factor."""
_LIMITS: Final = word_set(
    """mindestens hochstens maximal minimal zu uber unter mehr weniger als fast knapp rund etwa circa ungefahr gut
    innerhalb binnen bis spatestens nahezu
    moins plus maximum minimum environ pres presque jusqu'a quelque autour
    menos mas maximo minimo casi unos unas hasta alrededor cerca
    meno piu massimo minimo quasi oltre fino almeno entro
    mais ate quase pelo acima abaixo aproximadamente
    nicht kein keine keinen pas ne non no nao nie jamais mai sondern sino bensi
    por per pour sur von entre zwischen tra fra between"""
)
"""Words before or after a number that make it something else than that exact number."""
_PERCENT_WORDS: Final = word_set("por per pour zu")
_CLOCK_PREPOSITIONS: Final = word_set("a des vers jusqu'a avant apres las as alle gegen um ab ore dalle desde")
_SHORT_WEEKS: Final = frozenset({8, 15})
"""Numbers of days that mean one week or two: "acht Tage", "quinze jours", "quince días"."""
_WORDS_BEFORE, _WORDS_AFTER = 3, 4
_JOINTS: Final = frozenset({" ", "-", "\u00a0", "\u2011"})


def _languages(text: str) -> tuple[frozenset[str], bool]:
    """The languages that a text may be in (none where it is English), and whether its words point to them."""
    votes = language_votes(text)
    most = max(votes[name] for name in OTHER_LANGUAGES)
    if most <= votes["English"]:
        return (frozenset() if votes["English"] else frozenset(OTHER_LANGUAGES)), False
    return frozenset(name for name in OTHER_LANGUAGES if votes[name] == most), True


class _Reader:
    """Reads the numbers of one text."""

    def __init__(self, text: str, words: Words) -> None:
        self.text, self.words = text, words
        self.folds = [one.fold for one in words.lexemes]
        self.languages, self.language_known = _languages(text)

    def adjacent(self, first: int, last: int) -> bool:
        """Whether only a space or a hyphen stands between two words."""
        return self.text[self.words.ends[first] : self.words.starts[last]] in _JOINTS

    def is_numeral(self, at: int, languages: Sequence[str]) -> bool:
        word = self.folds[at]
        return word[:1].isdigit() or any(_is_numeral(word, name) for name in languages)

    def expression_end(self, at: int, name: str) -> int:
        """The index after the longest sequence of words that may belong to one number."""
        end = last = at + 1
        while end < len(self.folds) and self.adjacent(end - 1, end):
            word = self.folds[end]
            if word not in LINKS[name]:
                if not (_is_numeral(word, name) or word in _ARTICLES):
                    break
                last = end + 1
            end += 1
        return last

    def read(self, at: int) -> tuple[int, int, int] | None:
        """First word, index after the last word and value of the number at a word; the value is 0 if uncertain."""
        found: set[tuple[int, int, int]] = set()
        for name in sorted(self.languages):
            if not _is_numeral(self.folds[at], name):
                continue
            end = self.expression_end(at, name)
            first = at - 1 if at and self.folds[at] in LARGE_SCALES[name] and self.folds[at - 1] in _ARTICLES else at
            value = READERS[name](self.folds[first:end])
            found.add((first, end, value or 0))
        if not found:
            return None
        first, end, value = max(found, key=lambda one: one[1])
        if len(found) > 1 or not value or not self._is_certain(first, end, value):
            return first, end, 0
        return first, end, value

    def _is_certain(self, first: int, end: int, value: int) -> bool:
        folds, languages = self.folds, sorted(self.languages)
        unit_end, units = self._unit_after(end)
        if any(folds[first] in _NUMERALS_ELSEWHERE_ONLY[name] for name in languages) and end - first == 1:
            return False
        if end - first == 1 and not units and (folds[first] in _NEEDS_UNIT or not self.language_known):
            return False
        if end - first == 1 and not self.language_known and folds[first] in _AMBIGUOUS - {"due", "six", "acht", "neuf"}:
            return False
        if not self.language_known and not units:
            return False
        if not units and not self._precedes_noun(end):
            return False
        low, high = self._window(first, end)
        around = [*range(low, first), *range(unit_end if units == "share" else end, high)]
        if any(self.is_numeral(i, languages) or folds[i] in _UNREAD_PARTS or folds[i].endswith("halb") for i in around):
            return False
        if any(folds[one] in _LIMITS for one in range(low, first)):
            return False
        if any(folds[one] in _LIMITS - _PERCENT_WORDS for one in range(end, min(high, unit_end + 2))):
            return False
        before = folds[first - 1] if first else ""
        if units == "time" and self._names_hours(end) and before in _CLOCK_PREPOSITIONS:
            return False
        if not units and before in {"las", "alle", "as", "um", "gegen"}:
            return False
        return not (units == "time" and value in _SHORT_WEEKS and self._names_days(end))

    def _window(self, first: int, end: int) -> tuple[int, int]:
        """The half-open range of words around a number, up to the next punctuation mark."""
        low, high = first, end
        while low > max(0, first - _WORDS_BEFORE) and not self._is_break(low - 1, low):
            low -= 1
        while high < min(len(self.folds), end + _WORDS_AFTER) and not self._is_break(high - 1, high):
            high += 1
        return low, high

    def _is_break(self, first: int, last: int) -> bool:
        return any(mark in ".;:!?()" for mark in self.text[self.words.ends[first] : self.words.starts[last]])

    def _word(self, at: int) -> str:
        return self.text[self.words.starts[at] : self.words.ends[at]].lower() if at < len(self.folds) else ""

    def _unit_after(self, end: int) -> tuple[int, str]:
        """The index after the unit that follows a number, and its dimension; an empty one where no unit follows."""
        if end >= len(self.folds) or not self.adjacent(end - 1, end):
            return end, ""
        pair = f"{self._word(end)} {self._word(end + 1)}"
        unit = UNIT_WORDS.get(pair) or OTHER_UNIT_WORDS.get(self._word(end)) or UNIT_WORDS.get(self._word(end))
        if unit is not None:
            return end + (2 if pair in UNIT_WORDS else 1), unit.dimension
        return (end + 1, "money") if self._word(end) in {"euro", "euros"} else (end, "")

    def _names_hours(self, end: int) -> bool:
        return self.folds[end] in {"heures", "horas", "hora", "heure"}

    def _names_days(self, end: int) -> bool:
        return self.folds[end] in {"tage", "tagen", "jours", "dias", "giorni"}

    def _precedes_noun(self, end: int) -> bool:
        """Whether a word that a number may count follows."""
        if end >= len(self.folds) or not self.adjacent(end - 1, end):
            return False
        word = self._word(end)
        return (
            (word[:1].isalpha() and not is_common_word(word)) or word in {"de", "di", "d"} or word[:2] in {"d'", "d’"}
        )


def _is_numeral(word: str, name: str) -> bool:
    return word in VOCABULARY[name] or (name in SINGLE_WORD_READERS and SINGLE_WORD_READERS[name](word) is not None)


def other_number_words(text: str, words: Words) -> Iterator[tuple[int, int, Decimal]]:
    """The numbers of a text in words of other languages, as half-open ranges of word indices with their values.

    >>> from assay.text.lexicon.lexemes import find_words
    >>> german = "Der Urlaub dauert vierundzwanzig Tage."
    >>> [int(value) for _, _, value in other_number_words(german, find_words(german))]
    [24]
    >>> list(other_number_words("It was due once.", find_words("It was due once.")))
    []
    """
    if _ALL_NUMERALS.isdisjoint(one.fold for one in words.lexemes) and _CONTAINS_THOUSAND.search(text) is None:
        return
    reader = _Reader(text, words)
    done = 0
    if not reader.languages:
        return
    for at in range(len(words)):
        if at < done:
            continue
        found = reader.read(at)
        if found is None:
            continue
        first, end, value = found
        done = end
        if value:
            yield first, end, Decimal(value)
