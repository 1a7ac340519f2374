"""Whether two sources really disagree about a claim, or one of them speaks of something else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from assay.guard.remembered import Remembered
from assay.schema import Evidence
from assay.text.lexemes import find_words
from assay.text.names import find_names

LONGEST_REMEMBERED: Final = 20_000
"""Characters of a source whose names are remembered."""


@dataclass(frozen=True, slots=True)
class _Named:
    """What a source speaks of."""

    names: frozenset[str]
    """The folded words of the names that it surely has."""
    words: frozenset[str]
    """All its words, folded."""


_NAMED: Final = Remembered[_Named](64)
"""Every claim on which two sources seem to disagree asks the same of them."""


def _named(text: str) -> _Named:
    def read() -> _Named:
        words = find_words(text)
        names = frozenset(key for name in find_names(text, words) if name.sure for key in name.keys)
        return _Named(names, frozenset(word.fold for word in words.lexemes))

    return _NAMED.get(text, read) if len(text) <= LONGEST_REMEMBERED else read()


def speaks_of_another(claim: str, supporting: str, contradicting: str, passage: str) -> bool:
    """Whether a source that seems to contradict a claim names another subject than the claim does.

    It does where it lacks a name of the claim, has a name that the claim lacks, and says something else of it: the
    opening hours of the library in Bern are no conflict with those in Lindau. Where only the name differs, the name
    may be what the sources disagree about, and where a source names nobody, it may speak of the same.

    Args:
        claim: the claim.
        supporting: the whole source that supports it, title included.
        contradicting: the whole source that seems to contradict it, title included.
        passage: the part of that source that does.
    """
    theirs = _named(contradicting)
    stated = find_names(claim)
    # Nothing that the claim names is missing there, whether it is surely a name or not: asked first, being cheap.
    if theirs.words.issuperset(key for name in stated for key in name.keys):
        return False
    known = _named(supporting).names
    own = {key for name in stated for key in name.keys if name.sure or key in known}
    if not own - theirs.words or not theirs.names - {word.fold for word in find_words(claim).lexemes}:
        return False
    told = _told(claim)
    return bool({stem for stem, fold in told if fold not in own} - {stem for stem, _ in _told(passage)})


def _told(text: str) -> set[tuple[str, str]]:
    """The content words and the numbers of a text, stemmed and folded."""
    return {(w.stem, w.fold) for w in find_words(text).lexemes if w.weight or w.fold[:1].isdigit()}


def same_subject(claim: str, evidence: tuple[Evidence, ...]) -> Callable[[str, str, str], bool]:
    """A test for one claim: (id of the supporting source, id of the other, its passage) -> may they conflict?"""

    def whole(wanted: str) -> str:
        return "\n".join(f"{item.title or ''}\n{item.text}" for item in evidence if item.id == wanted)

    def may(supporting: str, contradicting: str, passage: str) -> bool:
        return not speaks_of_another(claim, whole(supporting), whole(contradicting), passage)

    return may
