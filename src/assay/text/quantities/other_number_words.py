"""Whole numbers written in German, French, Spanish, Italian and Portuguese words.

No word has two values in these languages, so that a number is read without telling which of them it is in. Some are
words of English as well ("once", "elf", "due"): a number counts where the text has more of the commonest words of one
of the languages than of English, or where a unit that English does not have follows.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.text.lexicon.lexemes import Words, word_list, word_set
from assay.text.quantities.units import OTHER_UNIT_WORDS
from assay.text.sentences.languages import leans_from_english


def _counted(words: str, first: int, step: int = 1) -> dict[str, int]:
    """The words with numbers from `first` on."""
    return {word: first + step * at for at, word in enumerate(word_list(words))}


_TENS: Final = {
    **_counted("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig", 20, 10),
    **_counted("vingt trente quarante cinquante soixante septante huitante nonante", 20, 10),
    **_counted("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", 20, 10),
    **_counted("venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 20, 10),
    **_counted("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 20, 10),
}
_ONES: Final = {
    **_counted("zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn", 2),
    **_counted("siebzehn achtzehn neunzehn", 17),
    **_counted("deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize", 2),
    **_counted("dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis", 2),
    **_counted("diecisiete dieciocho diecinueve", 17),
    **_counted("veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho", 21),
    **_counted("veintinueve", 29),
    **_counted("due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici", 2),
    **_counted("diciassette diciotto diciannove", 17),
    **_counted("dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis", 2),
    **_counted("dezesseis dezessete dezoito dezenove", 16),
    "duas": 2,
    "zwo": 2,
    "dezassete": 17,
    "dezanove": 19,
    "quatorze": 14,
}
"""Words, folded. What means one is an article in each of the languages, and no number here."""
_GERMAN: Final = {
    f"{one}und{ten}": tens + value
    for ten, tens in _counted("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig", 20, 10).items()
    for one, value in _counted("ein zwei drei vier funf sechs sieben acht neun", 1).items()
}
_ITALIAN: Final = {
    (ten[:-1] if one[0] in "uo" else ten) + one: tens + value
    for ten, tens in _counted("venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 20, 10).items()
    for one, value in _counted("uno due tre quattro cinque sei sette otto nove", 1).items()
}
"""In one word in both languages; "ventuno" and "ventotto" drop a vowel."""
_SCALES: Final = {
    **dict.fromkeys(word_list("hundert cent cents cien ciento cento cem"), 100),
    **dict.fromkeys(word_list("tausend mille mil mila"), 1000),
}
_OTHER: Final = {**_TENS, **_ONES, **_GERMAN, **_ITALIAN, **_SCALES}
_AND: Final = word_set("et y e")
_ONE: Final = word_set("un une uno una um uma")
_EIGHTY: Final = word_set("vingt vingts")
_VIGESIMAL: Final = frozenset({60, 80})
"""French counts on to 19 behind these: "soixante-quinze" is 75."""
_AFTER_DIX: Final = word_set("sept huit neuf")
_SPECIAL: Final = frozenset(_OTHER)


def _read(folds: Sequence[str], at: int) -> tuple[int, int]:
    """The index after the number that begins at a word, and its value."""
    word = folds[at]
    value, end = _OTHER[word], at + 1
    following = [*folds[end : end + 3], "", "", ""]
    if word == "quatre" and following[0] in _EIGHTY:
        value, end, following = 80, end + 1, following[1:]
    if word in _TENS or value == 80:
        joined = following[0] in _AND
        more = following[1] if joined else following[0]
        least_above = 20 if value in _VIGESIMAL and word in {"soixante", "quatre"} else 10
        rest = 1 if joined and more in _ONE else _ONES.get(more, 0)
        if 0 < rest < least_above:
            value, end = value + rest, end + 1 + joined
            if more == "dix" and end < len(folds) and folds[end] in _AFTER_DIX:
                value, end = value + _ONES[folds[end]], end + 1
    elif word == "dix" and following[0] in _AFTER_DIX:
        value, end = value + _ONES[following[0]], end + 1
    if end < len(folds) and folds[end] in _SCALES and word not in _SCALES:
        value, end = value * _SCALES[folds[end]], end + 1
    return end, value


def other_number_words(text: str, words: Words) -> Iterator[tuple[int, int, Decimal]]:
    """The written numbers of a text that are not English, as half-open ranges of word indices with their values.

    >>> from assay.text.lexicon.lexemes import find_words
    >>> german = "Der Urlaub dauert vierundzwanzig Tage."
    >>> [int(value) for _, _, value in other_number_words(german, find_words(german))]
    [24]
    >>> list(other_number_words("It was due once.", find_words("It was due once.")))
    []
    """
    folds = [one.fold for one in words.lexemes]
    if _SPECIAL.isdisjoint(folds):
        return
    leans: bool | None = None
    done = 0
    for at, fold in enumerate(folds):
        if at < done or fold not in _OTHER:
            continue
        end, value = _read(folds, at)
        unit = text[words.starts[end] : words.ends[end]].lower() if end < len(words) else ""
        if unit not in OTHER_UNIT_WORDS:
            leans = leans_from_english(text) if leans is None else leans
            if not leans or fold in _SCALES:  # "por ciento"
                continue
        done = end
        yield at, end, Decimal(value)
