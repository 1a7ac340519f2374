"""The number words of German, French, Spanish, Italian and Portuguese, and how numbers are formed from them.

Each reader takes the folded words of one whole expression and returns its value, or none where the expression does not
follow the language's grammar, so that no number is read in part.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from assay.text.lexicon.lexemes import word_list, word_set

_THOUSAND, _MILLION, _MILLIARD = 1_000, 1_000_000, 1_000_000_000


def _numbered(words: str, first: int, step: int = 1) -> dict[str, int]:
    """Each word with its number: `first` for the first word, `step` more for each that follows."""
    return {word: first + step * at for at, word in enumerate(word_list(words))}


def _german() -> dict[str, int]:
    """All German numbers below a thousand, each one word."""
    ones = _numbered("ein zwei drei vier funf sechs sieben acht neun", 1)
    tens = _numbered("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig", 20, 10)
    teens = _numbered("zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn", 10)
    small = {**ones, "eins": 1, "zwo": 2, **teens, **tens}
    small |= {f"{one}und{ten}": tens[ten] + ones[one] for ten in tens for one in ones}
    hundreds = {"hundert": 100} | {f"{one}hundert": 100 * ones[one] for one in ones}
    joined = {f"{h}{und}{s}": hundreds[h] + small[s] for h in hundreds for s in small for und in ("", "und")}
    return small | hundreds | joined


def _italian() -> dict[str, int]:
    """All Italian numbers below a thousand, each one word; "ventuno" and "centotto" drop a vowel."""
    ones = _numbered("uno due tre quattro cinque sei sette otto nove", 1)
    teens = _numbered("dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove", 10)
    tens = _numbered("venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 20, 10)
    small = {**ones, **teens, **tens}
    small |= {(t[:-1] if o[0] in "uo" else t) + o: tens[t] + ones[o] for t in tens for o in ones}
    small |= {t[:-1] + "un": tens[t] + 1 for t in tens}
    hundreds = {"cento": 100} | {f"{one}cento": 100 * ones[one] for one in ones if ones[one] > 1}
    joined = {h + s: hundreds[h] + small[s] for h in hundreds for s in small}
    joined |= {h[:-1] + s: hundreds[h] + small[s] for h in hundreds for s in small if s[0] == "o"}
    return small | hundreds | joined


_GERMAN: Final = _german()
_ITALIAN: Final = _italian()


def german_word(word: str) -> int | None:
    """The value of one German word, from 2 to below a million; none for any other word.

    >>> german_word("zweitausenddreihundertfunfzig"), german_word("hunderte")
    (2350, None)
    """
    value = _GERMAN.get(word)
    if value is None and "tausend" in word:
        left, _, right = word.partition("tausend")
        head = _GERMAN.get(left) if left else 1
        tail = _GERMAN.get(right, _GERMAN.get(right.removeprefix("und"))) if right else 0
        value = None if head is None or tail is None else head * _THOUSAND + tail
    return value if value is not None and value > 1 else None


def italian_word(word: str) -> int | None:
    """The value of one Italian word, from 2 to below a million; none for any other word.

    >>> italian_word("duemilacinquecento"), italian_word("milano")
    (2500, None)
    """
    value = _ITALIAN.get(word)
    if value is None:
        left, thousand, right = word.partition("mille") if word.startswith("mille") else word.partition("mila")
        head = (1 if thousand == "mille" else _ITALIAN.get(left)) if thousand else None
        tail = _ITALIAN.get(right) if right else 0
        value = None if head is None or tail is None or (thousand == "mila" and head < 2) else head * _THOUSAND + tail
    return value if value is not None and value > 1 else None


_FR_ONES: Final = _numbered("un deux trois quatre cinq six sept huit neuf", 1) | {"une": 1}
_FR_TEENS: Final = _numbered("dix onze douze treize quatorze quinze seize", 10)
_FR_TENS: Final = _numbered("vingt trente quarante cinquante soixante septante huitante nonante", 20, 10)
_ES_ONES: Final = _numbered("uno dos tres cuatro cinco seis siete ocho nueve", 1) | {"un": 1, "una": 1}
_ES_SMALL: Final = (
    _numbered("diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte", 10)
    | _numbered("veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete", 21)
    | {"veintiocho": 28, "veintinueve": 29, "veintiun": 21, "veintiuna": 21}
)
_ES_TENS: Final = _numbered("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10)
_ES_HUNDREDS: Final = _numbered(
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos", 100, 100
) | _numbered(
    "doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas novecientas", 200, 100
)
_PT_ONES: Final = _numbered("um dois tres quatro cinco seis sete oito nove", 1) | {"uma": 1, "duas": 2}
_PT_TEENS: Final = _numbered("dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove", 10) | {
    "quatorze": 14,
    "dezasseis": 16,
    "dezassete": 17,
    "dezanove": 19,
}
_PT_TENS: Final = _numbered("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 20, 10)
_PT_HUNDREDS: Final = _numbered(
    "cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos", 100, 100
) | _numbered("duzentas trezentas quatrocentas quinhentas seiscentas setecentas oitocentas novecentas", 200, 100)

_NumberReader = Callable[[Sequence[str]], int | None]


def _split(words: Sequence[str], scale: frozenset[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """The words before and after the one scale word; none where there is not exactly one."""
    places = [at for at, word in enumerate(words) if word in scale]
    return (words[: places[0]], words[places[0] + 1 :]) if len(places) == 1 else None


def _french_small(words: Sequence[str]) -> int | None:
    row = list(words)
    if len(row) >= 2 and row[0] == "quatre" and row[1] in {"vingt", "vingts"}:
        tail = _french_teen(row[2:]) if row[2:] else 0
        return None if tail is None else 80 + tail
    if row and row[0] in _FR_TENS:
        tens, tail_words = _FR_TENS[row[0]], row[1:]
        if not tail_words:
            return tens
        if tail_words[0] == "et":
            if len(tail_words) != 2 or tail_words[1] not in ({"un", "une", "onze"} if tens == 60 else {"un", "une"}):
                return None
            return tens + (11 if tail_words[1] == "onze" else 1)
        tail = _french_teen(tail_words)
        return None if tail is None or tail == 1 or (tail > 9 and tens != 60) else tens + tail
    return _french_teen(row)


def _french_teen(row: Sequence[str]) -> int | None:
    if len(row) == 1:
        return _FR_ONES.get(row[0], _FR_TEENS.get(row[0]))
    if len(row) == 2 and row[0] == "dix" and row[1] in {"sept", "huit", "neuf"}:
        return 10 + _FR_ONES[row[1]]
    return None


def _french_below_thousand(words: Sequence[str]) -> int | None:
    cut = _split(words, word_set("cent cents"))
    if cut is None:
        return _french_small(words)
    left, right = cut
    head = (_FR_ONES.get(left[0]) if len(left) == 1 else None) if left else 1
    tail = _french_small(right) if right else 0
    return None if head is None or tail is None or (left and head < 2) else 100 * head + tail


def _spanish_below_thousand(words: Sequence[str]) -> int | None:
    row = list(words)
    if row == ["cien"]:
        return 100
    total = 0
    if row and row[0] in _ES_HUNDREDS:
        total = _ES_HUNDREDS[row.pop(0)]
        if not row:
            return total if total > 100 else None  # "ciento" alone is of "por ciento"
    if len(row) == 1:
        value = _ES_ONES.get(row[0], _ES_SMALL.get(row[0], _ES_TENS.get(row[0])))
        return None if value is None else total + value
    if len(row) == 3 and row[0] in _ES_TENS and row[1] == "y" and row[2] in _ES_ONES:
        return total + _ES_TENS[row[0]] + _ES_ONES[row[2]]
    return None


def _portuguese_below_thousand(words: Sequence[str]) -> int | None:
    if list(words) == ["cem"]:
        return 100
    if len(words) % 2 == 0 or any(word != "e" for word in words[1::2]):
        return None
    row, total = list(words[::2]), 0
    if row[0] in _PT_HUNDREDS:
        total = _PT_HUNDREDS[row.pop(0)]
        if not row:
            return total if total > 100 else None
    if len(row) == 2 and row[0] in _PT_TENS and row[1] in _PT_ONES:
        return total + _PT_TENS[row[0]] + _PT_ONES[row[1]]
    if len(row) == 1:
        value = _PT_ONES.get(row[0], _PT_TEENS.get(row[0], _PT_TENS.get(row[0])))
        return None if value is None else total + value
    return None


def _with_thousands(below: _NumberReader, scale: str, link: str = "") -> _NumberReader:
    """A reader of numbers below a million, for a language with a word of its own for a thousand."""

    def read(words: Sequence[str]) -> int | None:
        cut = _split(words, frozenset({scale}))
        if cut is None:
            return below(words)
        left, right = cut
        if link and right and right[0] == link:
            right = right[1:]
            if not right:
                return None
        head = below(left) if left else 1
        tail = below(right) if right else 0
        return None if head is None or tail is None or (left and head < 2) else _THOUSAND * head + tail

    return read


def _with_millions(
    below: _NumberReader, ones: frozenset[str], scales: Mapping[int, frozenset[str]], link: str = ""
) -> _NumberReader:
    """A reader of numbers with millions and milliards, from one of numbers below a million."""

    def read(words: Sequence[str]) -> int | None:
        for size, names in scales.items():
            cut = _split(words, names)
            if cut is None:
                if not names.isdisjoint(words):
                    return None
                continue
            left, right = cut
            if link and len(right) > 1 and right[0] == link:
                right = right[1:]
            head = 1 if len(left) == 1 and left[0] in ones else (below(left) if left else None)
            tail = (read(right) if size == _MILLIARD else below(right)) if right else 0
            return None if head is None or tail is None or tail >= size else size * head + tail
        return below(words)

    return read


def _one_word(reader: Callable[[str], int | None]) -> _NumberReader:
    return lambda words: reader(words[0]) if len(words) == 1 else None


_SCALES: Final[Mapping[str, Mapping[int, frozenset[str]]]] = {
    "German": {_MILLIARD: word_set("milliarde milliarden"), _MILLION: word_set("million millionen")},
    "French": {_MILLIARD: word_set("milliard milliards"), _MILLION: word_set("million millions")},
    "Spanish": {_MILLION: word_set("millon millones")},
    "Italian": {_MILLIARD: word_set("miliardo miliardi"), _MILLION: word_set("milione milioni")},
    "Portuguese": {_MILLION: word_set("milhao milhoes")},
}
LARGE_SCALES: Final = {name: frozenset().union(*scales.values()) for name, scales in _SCALES.items()}
"""By language, the words for a million and a thousand millions, which need a number in front."""
READERS: Final[Mapping[str, _NumberReader]] = {
    "German": _with_millions(_one_word(german_word), word_set("ein eine einer"), _SCALES["German"]),
    "French": _with_millions(_with_thousands(_french_below_thousand, "mille"), word_set("un"), _SCALES["French"]),
    "Spanish": _with_millions(_with_thousands(_spanish_below_thousand, "mil"), word_set("un"), _SCALES["Spanish"]),
    "Italian": _with_millions(_one_word(italian_word), word_set("un"), _SCALES["Italian"], "e"),
    "Portuguese": _with_millions(
        _with_thousands(_portuguese_below_thousand, "mil", "e"), word_set("um"), _SCALES["Portuguese"], "e"
    ),
}
"""By language, the reader of a whole expression of folded words."""
_SINGLE: Final = word_set("un une uno una um uma ein eins")
VOCABULARY: Final[Mapping[str, frozenset[str]]] = {
    name: (words | LARGE_SCALES[name]) - _SINGLE
    for name, words in {
        "German": frozenset(_GERMAN) | {"tausend"},
        "French": frozenset({*_FR_ONES, *_FR_TEENS, *_FR_TENS, "vingts", "cent", "cents", "mille"}),
        "Spanish": frozenset({*_ES_ONES, *_ES_SMALL, *_ES_TENS, *_ES_HUNDREDS, "cien", "mil"}),
        "Italian": frozenset(_ITALIAN) | {"mille", "mila"},
        "Portuguese": frozenset({*_PT_ONES, *_PT_TEENS, *_PT_TENS, *_PT_HUNDREDS, "cem", "mil"}),
    }.items()
}
"""By language, the folded words that numbers are made of. Words for one are left out, since they are articles too."""
LINKS: Final[Mapping[str, frozenset[str]]] = {
    "German": frozenset(),
    "French": frozenset({"et"}),
    "Spanish": frozenset({"y"}),
    "Italian": frozenset({"e"}),
    "Portuguese": frozenset({"e"}),
}
SINGLE_WORD_READERS: Final[Mapping[str, Callable[[str], int | None]]] = {"German": german_word, "Italian": italian_word}
"""Languages that write a number as one word, each with the reader of such a word."""
