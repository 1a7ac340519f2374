"""Whether two sentences are about two subjects, so that they cannot disagree."""

from dataclasses import dataclass
from typing import Final

from assay.text.claims import find_verb, subject_of
from assay.text.lexicon import Token, find_words, tokenise
from assay.text.sentences import split_sentences

_LONGEST: Final = 400
"""Characters of a sentence that are looked at."""
_MOST_SENTENCES: Final = 4
"""Sentences of a passage; one with more of them is of nothing in particular."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about."""

    head: frozenset[str]
    """The stem of its noun."""
    marks: frozenset[str]
    """Stems of what tells it from others of its kind: "east" of "the east lift", "4471" of "ticket 4471"."""


def subject(sentence: str) -> Subject | None:
    """The subject of a sentence with a finite verb; none where there is no such, or where a pronoun stands for it.

    What is in front of it ("since this morning the lift") and behind its noun is left out.

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
    marks = frozenset().union(*(_stems(token) for token in others if token not in amounts))
    return Subject(_stems(head), marks) if _stems(head) else None


def _stems(token: Token) -> frozenset[str]:
    return frozenset(w.stem for w in find_words(token.text).lexemes if w.weight or w.fold[:1].isdigit())


def _all_stems(text: str) -> frozenset[str]:
    return frozenset(w.stem for w in find_words(text).lexemes if w.weight or w.fold[:1].isdigit())


def has_other_subject(claim: str, own: str, passage: str, source: str) -> bool:
    """Whether each sentence of a passage is about another subject than a claim.

    It is where neither text has the other's noun, or where both have the same noun with other marks that the other
    text lacks. A sentence whose subject cannot be told may be about anything, the claim's included.

    >>> told = "The bridge is run by three people."
    >>> has_other_subject("A crew runs the lock.", "", told, told)
    True
    >>> told = "The lock is run by three people."
    >>> has_other_subject("A crew of five runs the lock.", "", told, told)
    False

    Args:
        claim: the claim.
        own: the source that supports it.
        passage: what contradicts it.
        source: the whole source of the passage, title included.
    """
    mine = subject(claim)
    if mine is None:
        return False
    sentences = [passage[one.start : one.end] for one in split_sentences(passage)]
    if not 0 < len(sentences) <= _MOST_SENTENCES:
        return False
    said, known = _all_stems(source), _all_stems(claim) | _all_stems(own)
    return all(_are_other_subjects(mine, subject(sentence), said, known) for sentence in sentences)


def _are_other_subjects(mine: Subject, theirs: Subject | None, said: frozenset[str], known: frozenset[str]) -> bool:
    if theirs is None:
        return False
    if mine.head != theirs.head:
        return not mine.head & said and not theirs.head & known
    return bool(mine.marks and theirs.marks) and not mine.marks & said and not theirs.marks & known
