"""The words of a text with their positions, folded and stemmed, as the lexical checks of the exact tier compare them.

A word is a run of letters and digits with combining marks and inner apostrophes; each ideograph or kana is a word of
its own. Folding removes case and diacritics. The stemmer is a small suffix stripper that makes inflected forms equal
("received", "receives", "receiving"), not a linguistic one; it never merges a word with its opposite.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u093c-\u094d"
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTER = rf"[^\W_{_IDEOGRAPHS}]"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|{_LETTER}+(?:[{_MARKS}]+{_LETTER}*|['’]{_LETTER}+[{_MARKS}]*)*")


def word_list(words: str) -> list[str]:
    """The words of a table written as one string, in order.

    >>> word_list("one two")
    ['one', 'two']
    """
    return words.split()


def word_set(words: str) -> frozenset[str]:
    """The words of a table written as one string, as a set."""
    return frozenset(words.split())


STOP_WORDS = word_set(
    """a an and are as at be been being but by can could did do does doing done for from had has have having he her
    hers him his how i if in into is it its itself just may me might more most must my no nor not of off on one
    or our ours out over own per shall she should so some such than that the their theirs them themselves then
    there these they this those through to too under until up upon us very was we were what when where which
    while who whom whose why will with within without would you your yours am any both each few all also about
    above after again against before below between during further here now only other same down because however
    although though yet else ever never neither either none cannot don't doesn't didn't isn't aren't wasn't
    weren't won't can't couldn't shouldn't wouldn't haven't hasn't hadn't mustn't it's that's there's he's she's
    they're we're you're i'm i've according around approximately nearly almost roughly least up etc via s t"""
)
"""Function words, which are never content and so never part of a recall or of a number's context."""

LIGHT_WORDS = word_set(
    """get give make take use provide include receive entitle say state show tell report mention call name know
    become remain contain consist comprise represent describe refer relate involve offer allow let enable come
    go put set keep hold help want need like year time way thing people person number amount total several many
    much various different certain new first last next own old total overall current currently document source
    text article passage accord fact information detail"""
)
"""Words with little meaning of their own; each counts as `LIGHT_WEIGHT` of a content word."""

LIGHT_WEIGHT = 0.35

_IRREGULAR = {
    form: base
    for base, forms in {
        "child": "children",
        "man": "men",
        "woman": "women",
        "foot": "feet",
        "person": "people",
        "mouse": "mice",
        "grow": "grew grown",
        "rise": "rose risen",
        "fall": "fell fallen",
        "pay": "paid",
        "make": "made",
        "sell": "sold",
        "buy": "bought",
        "win": "won",
        "lose": "lost",
        "hold": "held",
        "begin": "began begun",
        "write": "wrote written",
        "take": "took taken",
        "give": "gave given",
        "go": "went gone",
        "come": "came",
        "say": "said",
        "become": "became",
        "build": "built",
        "leave": "left",
        "lead": "led",
        "meet": "met",
        "find": "found",
        "speak": "spoke spoken",
        "sing": "sang sung",
        "run": "ran",
        "know": "knew known",
        "get": "got gotten",
        "keep": "kept",
        "send": "sent",
        "spend": "spent",
        "teach": "taught",
        "think": "thought",
        "bring": "brought",
        "catch": "caught",
        "choose": "chose chosen",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fly": "flew flown",
        "forget": "forgot forgotten",
        "hear": "heard",
        "see": "saw seen",
        "shoot": "shot",
        "show": "shown",
        "sit": "sat",
        "sleep": "slept",
        "stand": "stood",
        "steal": "stole stolen",
        "swim": "swam swum",
        "tell": "told",
        "throw": "threw thrown",
        "understand": "understood",
        "wear": "wore worn",
        "bear": "bore",
        "break": "broke broken",
        "draw": "drew drawn",
        "feel": "felt",
        "fight": "fought",
        "mean": "meant",
        "ride": "rode ridden",
        "seek": "sought",
        "sink": "sank sunk",
        "strike": "struck",
        "die": "dying died",
        "lie": "lying lied",
        "tie": "tying tied",
        "do": "done",
        "have": "has had having",
        "hide": "hid hidden",
        "shrink": "shrank shrunk",
        "overtake": "overtook",
        "withdraw": "withdrew withdrawn",
    }.items()
    for form in forms.split()
}

_MIN_STEMMED = 4
_MAX_STEMMED = 64
"""Characters; longer words are not stemmed or cached, since a hostile text may contain words of megabytes."""


class Lexeme(NamedTuple):
    """What is known of one word form, independently of the text."""

    fold: str
    """The form without case and diacritics, with a straight apostrophe and without a possessive."""
    stem: str
    """The fold without inflection."""
    weight: float
    """1 for content, `LIGHT_WEIGHT` for light words, 0 for function words and words that start with a digit."""
    capital: bool
    """Whether the form starts with a capital letter."""
    digit: bool = False
    """Whether the form starts with a digit."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in reading order, as three sequences of equal length."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    lexemes: tuple[Lexeme, ...]

    def __len__(self) -> int:
        return len(self.starts)


def fold(text: str) -> str:
    """The text without case, diacritics and typographic apostrophes.

    >>> fold("Beyoncé’s")
    "beyonce's"
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def _undouble(stem: str) -> str:
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lszaeiou":
        return stem[:-1]
    return stem


def _strip_inflection(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return _strip_inflection(word[:-1]) if word.endswith(("ings",)) else word[:-1]
    if word.endswith("ing") and len(word) > 5:
        return _undouble(word[:-3])
    if word.endswith("ed") and len(word) > 4 and not word.endswith("eed"):
        return _undouble(word[:-2])
    if word.endswith("ly") and len(word) > 5:
        return word[:-2]
    return word


def stem(folded: str) -> str:
    """The stem of a folded word.

    >>> stem("received") == stem("receives") == stem("receiving")
    True
    """
    irregular = _IRREGULAR.get(folded)
    if irregular is not None:
        folded = irregular
    if len(folded) < _MIN_STEMMED or len(folded) > _MAX_STEMMED:
        return folded
    stripped = _strip_inflection(folded)
    return stripped[:-1] if stripped.endswith("e") and len(stripped) > 3 else stripped


_LIGHT_STEMS = frozenset(stem(word) for word in LIGHT_WORDS)


def lexeme(form: str) -> Lexeme:
    """The lexeme of a word form as written."""
    return _cached_lexeme(form) if len(form) <= _MAX_STEMMED else _make_lexeme(form)


@lru_cache(maxsize=1 << 16)
def _cached_lexeme(form: str) -> Lexeme:
    """The lexeme of a form of bounded length, so that a hostile text cannot fill the cache with endless words."""
    return _make_lexeme(form)


def _make_lexeme(form: str) -> Lexeme:
    folded = fold(form)
    folded = folded.removesuffix("'s")
    if not folded or folded in STOP_WORDS:
        return Lexeme(folded, folded, 0.0, form[:1].isupper())
    if folded[0].isdigit():
        return Lexeme(folded, folded, 0.0, False, True)
    stemmed = stem(folded)
    return Lexeme(folded, stemmed, LIGHT_WEIGHT if stemmed in _LIGHT_STEMS else 1.0, form[0].isupper())


def find_words(text: str) -> Words:
    """The words of a text.

    >>> [w.stem for w in find_words("Partners received 2 weeks’ leave.").lexemes]
    ['partner', 'receiv', '2', 'week', 'leav']
    """
    return _cached_words(text) if len(text) <= _MAX_CACHED_TEXT else _read_words(text)


def _read_words(text: str) -> Words:
    spans = [match.span() for match in _WORD.finditer(text)]
    if not spans:
        return Words((), (), ())
    starts, ends = zip(*spans, strict=True)
    return Words(
        starts,
        ends,
        tuple([_cached_lexeme(text[a:b]) if b - a <= _MAX_STEMMED else _make_lexeme(text[a:b]) for a, b in spans]),
    )


_MAX_CACHED_TEXT = 600
"""Characters; the words of texts up to this length are cached, because every check asks for those of the claim."""
_cached_words = lru_cache(maxsize=1_024)(_read_words)


def content_stems(lexemes: Sequence[Lexeme]) -> set[str]:
    """The stems of the content words among some lexemes."""
    return {w.stem for w in lexemes if w.weight}
