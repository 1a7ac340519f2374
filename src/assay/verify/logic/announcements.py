"""Reads announcements of a number of things: "There are four reasons:", "the following three documents:".

Only a number that plainly announces things counts: not "at least three", "choose two of these" or "three years".
"""

import re
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon import word_set

NUMBERS: Final = {
    word: n
    for n, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)  # noqa: SIM905
}
_NUMBER: Final = rf"(?:(?i:{'|'.join(NUMBERS)})|(?<![\d.,:/$€£-])(?:[2-9]|1[0-2])(?![\d.,:/%]))"
_NOUNS: Final = re.compile(
    rf"(?<![\w-])(?P<n>{_NUMBER})\s(?P<adjectives>(?:(?!of\b|or\b|and\b|to\b)[a-z][a-z-]{{1,20}}\s){{0,3}}?)"
    r"(?P<noun>[a-z][a-z-]{2,20}s|criteria|phenomena|people|children)\b"
)
_INEXACT_BEFORE: Final = re.compile(
    r"\b(?:least|most|than|over|about|around|up\sto|nearly|almost|another|any|choose|pick|select|first|next|last|top|other|per|every|some|"
    r"minimum|maximum|or|to|between|of|within|after|before|roughly|approximately|under|these|those|each|and|remaining|"
    r"additional|further|more|by|last|until|last|version|step|chapter|section|page|level|number|no\.)\s(?:the\s)?$",
    re.IGNORECASE,
)
"""Words before a number with which it is not exact, or does not announce a list."""
_INCOMPLETE: Final = re.compile(
    r"\b(?:includ\w+|such\sas|for\s(?:example|instance)|e\.g|among|notably|especially|at\sleast|etc|so\son|more\sthan|"
    r"depending|respectively|combined|between|either|any\sof|one\sof|some\sof|two\sof|examples?|highlights?|main\sones)\b",
    re.IGNORECASE,
)
"""Words of an announcement after which the list need not be complete."""
_UNITS: Final = word_set(
    """years days months weeks hours minutes seconds dollars euros pounds percents points kilometers kilometres miles
    meters metres times pages words characters decades centuries nights cents degrees inches grams kilograms kilos
    litres liters francs quarters semesters terms seasons generations copies halves thirds votes wins seats
    customers users visitors employees millions billions thousands dozens hundreds percentages lines bytes bits units
    series species"""
)
LIST_NOUNS: Final = word_set(
    """reasons conditions steps ways options things plans types kinds factors rules parts phases stages categories
    requirements exceptions cases methods documents items questions features benefits criteria principles tiers levels
    causes advantages disadvantages drawbacks problems issues points choices areas components elements examples
    aspects groups classes modes states versions models products services tools tasks goals objectives rights duties
    obligations differences similarities strategies approaches techniques tips mistakes errors risks changes measures
    ingredients colours colors sources branches pillars limitations restrictions grounds routes channels forms findings
    conclusions recommendations considerations circumstances scenarios arguments facts symptoms signs effects
    consequences"""
)
"""Nouns that announce a list even with other words between them and the colon."""
_TAIL_WORDS: Final = frozenset(
    {
        "below",
        "are",
        "as follows",
        "available",
        "apply",
        "signed",
        "joined",
        "remain",
        "qualify",
        "took part",
        "attended",
    }
)
"""Words that may come between any noun and the colon."""
_CONSISTS_OF: Final = re.compile(r"\b(?:consists?|made\sup|composed)\sof\s$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announced number of things."""

    number: int
    start: int
    """Where the number and its noun ("three plans") begin in the text."""
    end: int
    noun: str

    @property
    def listed(self) -> bool:
        """Whether the noun is one of those that announce lists (`LISTED`)."""
        return self.noun in LIST_NOUNS


def may_announce(words: str) -> bool:
    """Whether some words have a number with a plural noun; a quick test before `find_announcement`.

    >>> may_announce("There are four reasons:"), may_announce("It rained.")
    (True, False)
    """
    return _NOUNS.search(words) is not None


def find_announcement(words: str, at: int = 0) -> Announcement | None:
    """The announcement in some words, if they have exactly one.

    Args:
        words: the words before a colon, a bracket or a full stop.
        at: where they begin in the text.

    >>> find_announcement("There are four good reasons").number
    4
    """
    if _INCOMPLETE.search(words) is not None:
        return None
    found = [m for m in _NOUNS.finditer(words) if m.group("noun").lower() not in _UNITS]
    if len(found) != 1:
        return None
    match = found[0]
    before = words[max(0, match.start() - 24) : match.start()]
    if _INEXACT_BEFORE.search(before) is not None and _CONSISTS_OF.search(before) is None:
        return None
    number = match.group("n").lower()
    noun = match.group("noun").lower()
    tail = words[match.end() :].strip(" *_").lower()
    if tail and noun not in LIST_NOUNS and tail not in _TAIL_WORDS and not before.lower().endswith("following "):
        return None
    return Announcement(NUMBERS.get(number) or int(number), at + match.start(), at + match.end(), noun)
