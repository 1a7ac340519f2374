"""The role of a number or a date in a claim: it states a fact, or describes the case to which the claim applies.

"A parcel of 12 kg may be sent as L" applies a rule to a case: a rule with 25 kg does not contradict it. What a claim
says of such a case is derived from the evidence, so that other numbers of the evidence do not surely contradict it
either.
"""

import re

from assay.text.lexicon import POLARITY_CUES, Negation, find_negations, word_set
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.surroundings import clause

_ADJUNCT_WORDS = word_set(
    """if when whenever where for with after of from in on at by as since because once under including per given
    suppose supposing assuming until till during within over above below beyond without between among having""",
)
"""Words that begin an adjunct or a condition before the main clause."""
_CONDITION_WORDS = word_set("if when whenever unless suppose supposing assuming provided whoever whichever")
_ANY_CASE_WORDS = word_set("a an any every each anyone anybody someone whoever")
"""Words that begin a subject for any case of a kind."""
_LONGEST_CASE = 7
"""The most words from the beginning of a claim to the number of such a subject."""
_VERBS = word_set(
    """is are was were be has have had will would can could may might must shall should do does did cannot gets get
    needs need takes take costs cost pays pay gives give makes make lasts last falls fall goes go comes come"""
)
_OPENING = re.compile(r"(?:(?:yes|no|so|then|thus|also|and|but|in short|that means)[,:]?\s+)*", re.IGNORECASE)
_ADJUNCT_END = re.compile(r"[,:;]")
_NEGATED_WITHIN = 8
"""The most words between a negation and a limit that it reverses: "nobody may book more than three"."""


def _adjunct_end(text: str, start: int) -> int | None:
    """Where an adjunct ends: at the first mark from `start` on that is not within a number or word."""
    marks = _ADJUNCT_END.finditer(text, start)
    return next((m.start() for m in marks if m.end() == len(text) or text[m.end()].isspace()), None)


def describes_case(claim: Claim, start: int, end: int) -> bool:
    """Whether a mention describes the case to which the claim applies, rather than what the claim states of it."""
    words = claim.words
    clause_start, _ = clause(claim.text, words, start, end, 0, len(words))
    lexemes = words.lexemes
    mention_index = next((i for i, s in enumerate(words.starts) if s >= start), len(words))
    if any(word.fold in _CONDITION_WORDS for word in lexemes[max(0, clause_start - 1) : mention_index]):
        return True
    opening = _OPENING.match(claim.text)
    first = next((i for i, s in enumerate(words.starts) if opening is None or s >= opening.end()), 0)
    if first > mention_index or first >= len(lexemes):
        return False
    lead = lexemes[first].fold
    if lead in _ADJUNCT_WORDS:
        adjunct_end = _adjunct_end(claim.text, words.ends[first])
        return adjunct_end is not None and end <= adjunct_end
    before = lexemes[first:mention_index]
    return (
        lead in _ANY_CASE_WORDS and mention_index - first <= _LONGEST_CASE and not any(w.fold in _VERBS for w in before)
    )


def claim_negations(claim: Claim) -> tuple[Negation, ...]:
    """The negations of a claim."""
    return () if POLARITY_CUES.isdisjoint(claim.folds) else find_negations(claim.text, claim.words)


def is_negated(claim: Claim, start: int, end: int) -> bool:
    """Whether a negation is shortly before a mention, in its clause."""
    negations = claim_negations(claim)
    if not negations:
        return False
    words = claim.words
    clause_start, _ = clause(claim.text, words, start, end, 0, len(words))
    mention_index = next((i for i, s in enumerate(words.starts) if s >= start), len(words))
    return any(
        clause_start <= negation.cue < mention_index and mention_index - negation.cue <= _NEGATED_WITHIN
        for negation in negations
    )
