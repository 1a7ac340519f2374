"""The language of a text, recognised by its script and, in Latin script, by its most common words.

That is reliable enough to notice that a verifier does not cover a language, and that a word that looks English is in a
sentence that is not.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

UNSTATED: Final = "not stated"
"""The language of a text whose words and letters do not show it."""

_COMMON: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": (
            "the of and is was are were to that it for with his her from this which not has have by they be a an in "
            "on at as no do does did there he she i you we or but will would can could who what their its been had some"
        ),
        "German": "der die das und ist nicht ein eine den dem des von mit auf für im zu wird wurde sind auch sich",
        "French": "le la les des et est un une du dans que qui pour sur pas au aux par avec ne plus sont été ce",
        "Spanish": "el la los las de y es un una en que del por con para no se su al lo como fue son más",
        "Italian": "il lo la gli di e è un una in che del della per con non si sono da nel alla più anche",
        "Portuguese": "o a os as de e é um uma em que do da por com para não se no na ao foi são mais",
        "Dutch": "de het een en van is in dat op te niet zijn met voor door aan ook werd wordt er naar bij",
        "Swedish": "och att det som en ett är inte för av på med till den har de om var kan från vid ska",
        "Danish or Norwegian": "og at det som en er ikke for af av på med til den har de om var kan fra ved skal være",
        "Polish": "nie na się że do jest to jak ale po od za są był została przez dla oraz może które",
        "Czech": "je na se že do jak ale po od za jsou byl byla pro nebo může které není také",
        "Romanian": "și în de la cu pe nu este un o care din pentru mai sau sunt prin fi al ai ale poate",
        "Hungarian": "az és hogy nem is egy van meg ez de csak vagy mint már még ha volt lehet kell",
        "Finnish": "ja on ei se että oli mutta myös kuin ovat tai joka jos voi tämä ole vain sekä kun",
        "Turkish": "ve bir bu için ile de da olarak olan daha çok gibi ne en kadar değil var veya ise sonra",
        "Indonesian": "yang dan di dari ini itu untuk dengan pada tidak adalah dalam akan atau oleh juga ke telah",
        "Vietnamese": "của và là có không được cho trong các một này với những người khi để từ về đã",
    }.items()
}
_WORD: Final = re.compile(r"(?<!['’])\b[^\W\d_]+")
"""Letters that do not follow an apostrophe, unlike the "s" of "the girl's"."""
_SCRIPTS: Final[Mapping[str, str]] = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CJK": "Chinese",
    "CYRILLIC": "Cyrillic script",
    "GREEK": "Greek",
    "ARABIC": "Arabic script",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari script",
    "THAI": "Thai",
    "LATIN": "Latin script",
}
_LATIN: Final = "Latin script"
OTHER_LANGUAGES: Final = ("German", "French", "Spanish", "Italian", "Portuguese")
"""Languages other than English whose numbers, dates and negations are read by rules (docs/languages.md)."""
MIN_VOTES: Final = 2
"""The fewest common words that identify a language: a single one may be part of a name ("van", "de")."""
_CHARACTERS_READ: Final = 600
"""Characters of a text from which its language is recognised."""


def language_votes(text: str) -> dict[str, int]:
    """How many words of a text are among the most common ones of each language of Latin script.

    >>> language_votes("Die Katze ist im Haus.")["German"], language_votes("Die Katze ist im Haus.")["English"]
    (3, 0)
    """
    words = Counter(_WORD.findall(text[:_CHARACTERS_READ].lower()))
    return {name: sum(words[word] for word in common) for name, common in _COMMON.items()}


def looks_foreign(text: str) -> bool:
    """Whether a text has more common words of one of `OTHER_LANGUAGES` than of English.

    >>> looks_foreign("Le congé dure deux semaines."), looks_foreign("It was due once.")
    (True, False)
    """
    votes = language_votes(text)
    return max(votes[name] for name in OTHER_LANGUAGES) > votes["English"]


def is_common_word(word: str) -> bool:
    """Whether a word, in lower case, is among the most common ones of one of `OTHER_LANGUAGES`.

    >>> is_common_word("wird"), is_common_word("studenti")
    (True, False)
    """
    return any(word in _COMMON[name] for name in OTHER_LANGUAGES)


def is_foreign_word(word: str, text: str) -> bool:
    """Whether a word is a common one of a language of which the text has more common words than of English.

    This requires less than naming the language does: in a sentence of four words, a single one may be all there is.

    >>> is_foreign_word("die", "Die Steuer beträgt 40 Euro."), is_foreign_word("die", "Let the old entries die.")
    (True, False)
    >>> is_foreign_word("cancel", "Cancel it, Straße der Nationen 4.")
    False

    Args:
        word: the word in lower case.
        text: the text that contains it.
    """
    names = [name for name, common in _COMMON.items() if word in common and name != "English"]
    if not names:
        return False
    votes = language_votes(text)
    return any(votes[name] > votes["English"] for name in names)


def language(text: str) -> str:
    """The language of a text, or its script, or `not stated` where neither can be recognised.

    >>> language("The contract is not valid."), language("Der Vertrag ist nicht gültig."), language("42")
    ('English', 'German', 'not stated')
    """
    script = script_of(text)
    if script != _LATIN:
        return script
    votes = language_votes(text)
    best = max(votes, key=lambda name: votes[name])
    rivals = sorted(votes.values())
    return best if votes[best] >= MIN_VOTES and rivals[-1] > rivals[-2] else UNSTATED


def script_of(text: str) -> str:
    """The most common script among the letters; kana among Chinese characters make a text Japanese.

    >>> script_of("Привет, Bob"), script_of("42")
    ('Cyrillic script', 'not stated')
    """
    found: Counter[str] = Counter()
    for letter in filter(str.isalpha, text[:_CHARACTERS_READ]):
        found[_SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0].partition("-")[0], "another script")] += 1
    if not found:
        return UNSTATED
    most = found.most_common(1)[0][0]
    return "Japanese" if most == "Chinese" and found["Japanese"] else most
