"""The names in a text: runs of capitalised words, with initials, particles and acronyms."""

from dataclasses import dataclass
from itertools import compress
from operator import itemgetter

from assay.text.lexicon.lexemes import STOP_WORDS, Words, find_words, word_set

_PARTICLES = word_set("""of the de la le van von der den di da du del and for al bin ibn y zu & d l""")
_TITLES = word_set("""mr mrs ms dr prof sir dame lord lady st president king queen pope saint ceo cto cfo""")
_NOT_NAMES = word_set(
    """i january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday yes no however therefore thus moreover furthermore additionally
    overall finally meanwhile today yesterday tomorrow according based born died note key section article
    chapter page figure table step version level phase answer question q a source sources document documents
    example summary api cpu gpu ram url pdf faq usd eur gbp bc ad ce bce am pm ok q1 q2 q3 q4 fy spring
    summer autumn winter fall
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    """
)
_MAX_WORDS = 8
_CAPITAL = itemgetter(3)
"""`Lexeme.capital`, as a fast getter for all words of a text."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, as a half-open range of word indices and as characters."""

    start: int
    end: int
    first: int
    last: int
    keys: tuple[str, ...]
    """The folded words that identify the name, without particles, initials and titles."""
    sure: bool
    """False for a single word at the start of a sentence, which may be capitalised only for that reason."""
    acronym: bool
    """Whether it is one word of capitals."""


def _sentence_start(text: str, words: Words, at: int) -> bool:
    if at == 0:
        return True
    gap = text[words.ends[at - 1] : words.starts[at]]
    return any(c in '.!?:\n•*#|"“' for c in gap) and not (
        gap == ". " and words.ends[at - 1] - words.starts[at - 1] == 1
    )


def find_names(text: str, words: Words | None = None) -> tuple[Name, ...]:
    """The names of a text in reading order.

    >>> [n.keys for n in find_names("In 2019 Dr. Ada M. Lovelace joined the University of Oxford.")]
    [('ada', 'lovelace'), ('university', 'oxford')]
    """
    words = words if words is not None else find_words(text)
    found: list[Name] = []
    lexemes = words.lexemes
    at = 0
    while at < len(lexemes):
        lexeme = lexemes[at]
        if (
            not lexeme.capital
            or (lexeme.fold in STOP_WORDS and not _all_capitals(text, words, at))
            or lexeme.fold.partition("'")[0] in _NOT_NAMES  # "I'd", "Monday's"
        ):
            at += 1
            continue
        last = _name_end(text, words, at)
        name = _name(text, words, at, last)
        if name is not None:
            found.append(name)
        at = last
    return tuple(found)


def _all_capitals(text: str, words: Words, at: int) -> bool:
    form = text[words.starts[at] : words.ends[at]]
    return len(form) >= 2 and form.isupper() and form.isalpha() and len(form) <= 6


def _name_end(text: str, words: Words, first: int) -> int:
    """The index after the last word of the name that begins at `first`."""
    lexemes = words.lexemes
    last = first + 1
    at = first + 1
    while at < len(lexemes) and at - first < _MAX_WORDS:
        gap = text[words.ends[at - 1] : words.starts[at]]
        initial = words.ends[at - 1] - words.starts[at - 1] == 1 or lexemes[at - 1].fold in _TITLES
        if not (gap in {" ", "-", "\u00a0", "'", "’"} or (gap == ". " and initial) or (gap in {".", " & "})):
            break
        if text[words.ends[at - 1] - 2 : words.ends[at - 1]] in {"'s", "’s"}:
            break
        if lexemes[at].capital and lexemes[at].fold not in _NOT_NAMES:
            last = at + 1
        elif lexemes[at].fold not in _PARTICLES or lexemes[at].fold == "and":
            break
        at += 1
    return last


def _name(text: str, words: Words, first: int, last: int) -> Name | None:
    lexemes = words.lexemes
    starts_sentence = _sentence_start(text, words, first)
    if starts_sentence and last - first > 1 and lexemes[first].fold in STOP_WORDS:
        first += 1
        starts_sentence = False
    keys = tuple(
        lexemes[i].fold
        for i in range(first, last)
        if lexemes[i].fold not in _PARTICLES
        and lexemes[i].fold not in _TITLES
        and (words.ends[i] - words.starts[i] > 1 or last - first == 1)
    )
    if not keys or all(key.isdigit() for key in keys):
        return None
    acronym = last - first == 1 and _all_capitals(text, words, first)
    sure = not starts_sentence or last - first > 1 or acronym
    start, end = words.starts[first], words.ends[last - 1]
    if text[end - 2 : end] in {"'s", "’s"}:
        end -= 2
    return Name(start, end, first, last, keys, sure, acronym)


def find_acronyms(text: str, words: Words) -> dict[str, int]:
    """The acronyms of runs of capitalised words, each with the index of the run's first word.

    Both the form with the particles' letters and the one without are included.

    >>> text = "the World Health Organization"
    >>> find_acronyms(text, find_words(text))
    {'who': 1}
    """
    lexemes = words.lexemes
    capitals = list(compress(range(len(lexemes)), map(_CAPITAL, lexemes)))
    acronyms: dict[str, int] = {}
    at = 0
    while at < len(capitals):
        first = last = capitals[at]
        at += 1
        if not lexemes[first].weight:
            continue
        while (
            at < len(capitals) and capitals[at] - first < _MAX_WORDS and _in_one_name(text, words, last, capitals[at])
        ):
            last = capitals[at]
            at += 1
        if last > first:
            letters = [(w.fold[:1], w.capital) for w in lexemes[first : last + 1]]
            acronyms.setdefault("".join(letter for letter, _ in letters), first)
            acronyms.setdefault("".join(letter for letter, capital in letters if capital), first)
    return acronyms


def _in_one_name(text: str, words: Words, last: int, following: int) -> bool:
    """Whether two capitalised words belong to one name: side by side, or with particles between them."""
    if following - last > 3 or any(words.lexemes[i].fold not in _PARTICLES for i in range(last + 1, following)):
        return False
    gap = text[words.ends[last] : words.starts[following]]
    return not any(c in '.,;:!?()\n"' for c in gap)
