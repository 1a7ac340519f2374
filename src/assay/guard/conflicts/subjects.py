"""Whether two sentences are about two subjects and so cannot disagree."""

from dataclasses import dataclass
from typing import Final

from assay.text.claims import find_verb, subject_of
from assay.text.lexicon import find_words, tokenise
from assay.text.sentences import split_sentences

_LONGEST: Final = 400
"""The most characters of a sentence that are read."""
_MOST_SENTENCES: Final = 4
"""The most sentences of a passage that can be about one subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a sentence."""

    head: frozenset[str]
    """The stem of its noun."""
    marks: frozenset[str]
    """The stems that tell it from others of its kind: "east" in "the east lift", "4471" in "ticket 4471"."""


def subject(sentence: str) -> Subject | None:
    """The subject of a sentence with a finite verb; None if there is no such verb or the subject is a pronoun.

    Words before the subject ("since this morning the lift") and after its noun do not count.

    >>> found = subject("Since this morning the west lift has been working.")
    >>> sorted(found.head), sorted(found.marks)
    (['lift'], ['west'])
    >>> subject("They are open."), subject("Registered office: Linz")
    (None, None)
    """
    tokens = tokenise(sentence[:_LONGEST])
    verb = find_verb(tokens)
    words = subject_of(tokens, verb) if verb > 0 else []
    comma = max((i for i, token in enumerate(words) if token.tag == ","), default=-1)
    words = words[comma + 1 :]
    if words and words[0].tag in {"PREP", "SUB"}:
        words = words[max((i for i, token in enumerate(words) if token.tag == "DET"), default=len(words)) :]
    end = next((i for i, token in enumerate(words) if i and token.tag in {"PREP", "SUB"}), len(words))
    named = [token for token in words[:end] if token.tag not in {"DET", "ADV"}]
    if not named or any(token.tag == "PRON" for token in named):
        return None
    numbered = len(named) > 1 and any(sign.isdigit() for sign in named[-1].text)
    head, others = (named[-2], [*named[:-2], named[-1]]) if numbered else (named[-1], named[:-1])
    amounts = [] if numbered else [token for token in others if token.tag == "NUM"]  # how many, and not which
    marks = frozenset().union(*(_stems(token.text) for token in others if token not in amounts))
    noun = _stems(head.text)
    return Subject(noun, marks) if noun else None


def _stems(text: str) -> frozenset[str]:
    """The stems of content words and numbers."""
    return frozenset(w.stem for w in find_words(text).lexemes if w.weight or w.fold[:1].isdigit())


def has_other_subject(claim: str, own: str, passage: str, source: str) -> bool:
    """Whether every sentence of a passage is about another subject than a claim.

    Subjects differ if neither text has the other's noun, or if both have the same noun with different marks that the
    other text lacks. A sentence whose subject cannot be told may be about anything, including the claim's subject.

    >>> told = "The bridge is run by three people."
    >>> has_other_subject("A crew runs the lock.", "", told, told)
    True
    >>> told = "The lock is run by three people."
    >>> has_other_subject("A crew of five runs the lock.", "", told, told)
    False

    Args:
        claim: the claim.
        own: the source that supports it.
        passage: the passage that contradicts it.
        source: the whole source of the passage, title included.
    """
    mine = subject(claim)
    sentences = [passage[one.start : one.end] for one in split_sentences(passage)]
    if mine is None or not 0 < len(sentences) <= _MOST_SENTENCES:
        return False
    said, known = _stems(source), _stems(claim) | _stems(own)
    return all(_are_other_subjects(mine, subject(sentence), said, known) for sentence in sentences)


def _are_other_subjects(mine: Subject, theirs: Subject | None, said: frozenset[str], known: frozenset[str]) -> bool:
    if theirs is None:
        return False
    if mine.head != theirs.head:
        return not mine.head & said and not theirs.head & known
    return bool(mine.marks and theirs.marks) and not mine.marks & said and not theirs.marks & known
