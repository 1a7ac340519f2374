"""Languages in which the verifier's network judges no better than chance, so that its judgement does not count.

Measured claim by claim (`python -m train.measure_languages`; docs/limits.md has the figures). Some of the languages it
was trained on it never learnt to read, because its vocabulary cuts their words into single letters. A language that was
never measured counts as unread.
"""

from collections.abc import Iterable
from typing import Final

from assay.text.sentences import UNSTATED, language, language_votes, script_of

READ: Final = frozenset({"English", "German", "French", "Spanish", "Italian", "Portuguese", "Indonesian"})
"""The languages in which the network was measured to judge better than chance (French with few claims)."""
_LATIN: Final = "Latin script"
_AROUND: Final = ".,;:!?()[]{}'\"“”„«»‘’…"
SURE_VOTES: Final = 3
"""How many common words of its language a claim needs to count as in another language than its evidence: short words
such as "on" and "a" are common in several languages."""


def languages_of(texts: Iterable[str]) -> frozenset[str]:
    """The languages of texts, except of those whose language cannot be told."""
    return frozenset(language(text) for text in texts) - {UNSTATED}


def _foreign_word(claim: str, texts: Iterable[str]) -> str | None:
    """A word in a script other than Latin that no text has; single letters are symbols and do not count."""
    if claim.isascii():
        return None
    known = tuple(texts)
    for part in claim.split():
        word = part.strip(_AROUND)
        letters = "".join(filter(str.isalpha, word))
        if (
            len(letters) > 1
            and script_of(letters) not in {_LATIN, UNSTATED}
            and not any(word in text for text in known)
        ):
            return word
    return None


def why_unread(claim: str, evidence: frozenset[str], texts: Iterable[str] = ()) -> str | None:
    """Why the network's judgement of a claim does not count; None if it does.

    >>> why_unread("भागीदारों को चार सप्ताह की छुट्टी मिलती है।", frozenset())
    'it is in Devanagari script, which the embedded verifier does not read. A chat model as a judge may.'
    >>> why_unread("Der Vertrag ist nicht gültig.", frozenset({"German"})) is None
    True

    Args:
        claim: the claim.
        evidence: the languages of its evidence, from `languages_of`.
        texts: the texts of the evidence; a word in another script that stands in them may be a name.
    """
    spoken = language(claim)
    foreign = _foreign_word(claim, texts)
    if foreign is not None and (spoken in READ or spoken in {UNSTATED, _LATIN}):
        script = script_of(foreign)
        return f"it has a word in {script} that no evidence has, and the embedded verifier does not read it."
    if spoken in {UNSTATED, _LATIN}:
        return None
    if spoken not in READ:
        return f"it is in {spoken}, which the embedded verifier does not read. A chat model as a judge may."
    if evidence and spoken not in evidence and language_votes(claim)[spoken] >= SURE_VOTES:
        theirs = ", ".join(sorted(evidence))
        return (
            f"it is in {spoken} and the evidence in {theirs}: the embedded verifier does not compare across languages. "
            "A chat model as a judge may."
        )
    return None
