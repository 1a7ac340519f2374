"""Negations in German, French, Spanish, Italian and Portuguese, where a claim repeats a sentence but for them.

The rules for English read the scope of a negation. In these languages only what needs no scope is decided: two
sentences with the same words in the same order, of which exactly one is negated.
"""

import re
from collections.abc import Iterator
from typing import Final

from assay.schema import EvidenceSpan
from assay.text.lexicon import GRAMMARS, Spelled, spelled
from assay.text.sentences import BESIDE_ENGLISH, votes_of
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_SURE: Final = 0.9
_LOOKED_AT: Final = 4
_FEWEST: Final = 2
_LONGEST: Final = 400
"""Characters of a sentence that is compared."""
_BREAK: Final = re.compile(r"[,;:–—]\s|\s(?:und|et|y|e)\s", re.IGNORECASE)


def compare_near_copies(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that the claim has a sentence's words, or a clause's, and only one of the two is negated.

    Nothing is found where a sentence says the same as the claim does.
    """
    if len(claim.text) > _LONGEST:
        return
    opposed: ExactFinding | None = None
    for candidate in claim.candidates[:_LOOKED_AT]:
        here = index.sentences[candidate.sentence]
        sentence = index.passages[here.passage].text[here.start : here.end]
        name = _language(f"{claim.text}\n{sentence[:_LONGEST]}")
        if len(sentence) > _LONGEST or name is None:
            continue
        ours, whole = spelled(claim.text, GRAMMARS[name]), spelled(sentence, GRAMMARS[name])
        if len(ours.content) < _FEWEST or ours.unsure or whole.unsure:
            continue
        for low, high in _parts(sentence):
            theirs = spelled(sentence[low:high], GRAMMARS[name])
            if ours.content != theirs.content:
                continue
            if bool(ours.cues) == bool(theirs.cues):
                return
            first, last = theirs.cues[0] if theirs.cues else (0, high - low)
            place = here.start + low
            span = index.span(candidate.sentence, place + first, place + last, "contradicts", _SURE)
            opposed = opposed or _finding(claim.text, sentence[low:high].strip(), ours, span)
    if opposed is not None:
        yield opposed


def _language(text: str) -> str | None:
    """The language of a text, told by its commonest words, articles and negations; none where it is English."""
    votes = votes_of(text)
    words = frozenset(text.lower().split())
    told = {one: votes[one] + len(words & (GRAMMARS[one].negations | GRAMMARS[one].articles)) for one in BESIDE_ENGLISH}
    name = max(told, key=lambda one: told[one])
    return name if told[name] > votes["English"] else None


def _parts(sentence: str) -> Iterator[tuple[int, int]]:
    """The characters of the sentence, and of each of its clauses where it has several."""
    yield 0, len(sentence)
    breaks = [match.span() for match in _BREAK.finditer(sentence)]
    if breaks:
        yield from zip([0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(sentence)], strict=True)


def _finding(text: str, said: str, ours: Spelled, span: EvidenceSpan) -> ExactFinding:
    start, end = ours.cues[0] if ours.cues else (0, len(text.rstrip()))
    how = "without the negation" if ours.cues else "negated"
    message = f"The claim says {text.strip()!r}; the evidence says {said!r}: {how}."
    return ExactFinding("polarity.negation", message, start, end, span, "contradicts", _SURE)
