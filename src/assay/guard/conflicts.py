"""Whether two sources really disagree about a claim, or one of them speaks of something else."""

from collections.abc import Callable

from assay.schema import Evidence
from assay.text.lexemes import find_words
from assay.text.names import find_names


def names_in(text: str) -> frozenset[str]:
    """The folded words of the names that a text surely has.

    >>> sorted(names_in("The library of Lindau opens at 9, says Ada Byron."))
    ['ada', 'byron', 'lindau']
    """
    return frozenset(key for name in find_names(text) if name.sure for key in name.keys)


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
    known = names_in(supporting)
    own = {key for name in find_names(claim) for key in name.keys if name.sure or key in known}
    theirs = names_in(contradicting)
    words = {word.fold for word in find_words(contradicting).lexemes}
    if not own - words or not theirs - {word.fold for word in find_words(claim).lexemes}:
        return False
    return bool({stem for stem, fold in _told(claim) if fold not in own} - {stem for stem, _ in _told(passage)})


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
