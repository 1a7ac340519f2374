"""What a number or a date does in a claim: it says what is so, or of which case it is so.

"A parcel of 12 kg may be sent as L" applies a rule to a case of its own: that the rule names 25 kg denies nothing. What
a claim says of a case that the evidence does not have is worked out from it, so that other numbers of the evidence do
not contradict it surely either.
"""

import re

from assay.text.lexicon import POLARITY_CUES, Negation, find_negations, word_set
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.surroundings import clause

_LEADS = word_set(
    """if when whenever where for with after of from in on at by as since because once under including per given
    suppose supposing assuming until till during within over above below beyond without between among having""",
)
"""Words that begin an adjunct or a condition in front of the main clause."""
_CONDITIONS = word_set("if when whenever unless suppose supposing assuming provided whoever whichever")
_ANY = word_set("a an any every each anyone anybody someone whoever")
"""Words that begin a subject that stands for any case of a kind."""
_LONGEST_CASE = 7
"""Words from the beginning of a claim within which such a subject has its number."""
_VERBS = word_set(
    """is are was were be has have had will would can could may might must shall should do does did cannot gets get
    needs need takes take costs cost pays pay gives give makes make lasts last falls fall goes go comes come"""
)
_OPENING = re.compile(r"(?:(?:yes|no|so|then|thus|also|and|but|in short|that means)[,:]?\s+)*", re.IGNORECASE)
_ENDS = re.compile(r"[,:;]")
_NEGATED_WITHIN = 8
"""Words between a negation and a limit that it turns round: "nobody may book more than three"."""


def is_given(claim: Claim, start: int, end: int) -> bool:
    """Whether the characters of a mention say which case the claim is about, rather than what is so of it."""
    words = claim.words
    low, _ = clause(claim.text, words, start, end, 0, len(words))
    lexemes = words.lexemes
    at = next((i for i, s in enumerate(words.starts) if s >= start), len(words))
    if any(word.fold in _CONDITIONS for word in lexemes[max(0, low - 1) : at]):
        return True
    opened = _OPENING.match(claim.text)
    first = next((i for i, s in enumerate(words.starts) if opened is None or s >= opened.end()), 0)
    if first > at or first >= len(lexemes):
        return False
    lead = lexemes[first].fold
    if lead in _LEADS:
        ended = _ENDS.search(claim.text, words.ends[first])
        while ended is not None and ended.end() < len(claim.text) and not claim.text[ended.end()].isspace():
            ended = _ENDS.search(claim.text, ended.end())
        return ended is not None and end <= ended.start()
    before = lexemes[first:at]
    return lead in _ANY and at - first <= _LONGEST_CASE and not any(w.fold in _VERBS for w in before)


def negations_of(claim: Claim) -> tuple[Negation, ...]:
    """The negations of a claim."""
    return () if POLARITY_CUES.isdisjoint(claim.folds) else find_negations(claim.text, claim.words)


def is_negated(claim: Claim, start: int, end: int) -> bool:
    """Whether a negation stands shortly before the characters of a mention, in its clause."""
    negations = negations_of(claim)
    if not negations:
        return False
    words = claim.words
    low, _ = clause(claim.text, words, start, end, 0, len(words))
    at = next((i for i, s in enumerate(words.starts) if s >= start), len(words))
    return any(low <= one.cue < at and at - one.cue <= _NEGATED_WITHIN for one in negations)
