"""A claim's values as the network reads them: in the form that the evidence has.

Hedges that the evidence does not share are left out: the reserve is reported beside the claim and makes it no truer.

A value that the evidence writes otherwise (`assay.verify.exact.same_values`) is put in its words. So is a date that
lies in a span of the evidence, with the words of that span:

"The desk is open on Tuesday" follows from "open from Monday to Thursday" by counting days, and a network counts none:
it calls the claim contradicted. What holds over a span holds on each of its days, so the network is asked whether the
evidence says of the span what the claim says of the day; the counting is the exact tier's.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from assay.text.claims import hedge_score, without_hedges
from assay.text.lexicon import word_set
from assay.verify.exact import ExactResult
from assay.verify.network import EntailmentResult

WITHIN: Final = "date.within"
AGREEING: Final = 0.95
"""The least agreement of the words around the span with those around the date: all that the claim says besides stands
in the span's own clause. Below it the span may be of something else (a project's years, a report's day)."""
HEDGED: Final = 0.3
"""From this score on a sentence of the evidence holds back itself."""
_BEFORE: Final = re.compile(r"\b(?:on|in|at|during)\s+(?:(?:an?|the|any|every|each)\s+)?$", re.IGNORECASE)
_LONGEST_BEFORE: Final = 24
_SINGLING: Final = word_set("""
only just solely exclusively alone merely once single exactly first last most least best worst peak never other
another until till since before after by from
""")
"""Words with which a day is more than one of many: what is so only on Tuesday does not follow from a span."""
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ExpandedDates:
    """A hypothesis with spans in the place of dates, and the way back."""

    text: str
    original: str
    places: tuple[tuple[int, int, int, int], ...] = ()
    """Start and end in the original and start and end here of each part that was replaced, in order."""

    def restored(self, read: EntailmentResult) -> EntailmentResult:
        """What the network says, with its words at their places in the original."""
        if not self.places or read.failed is not None:
            return read
        words = tuple((self._back(start, False), self._back(end, True)) for start, end in read.words)
        return replace(read, words=words, claim_length=len(self.original))

    def _back(self, at: int, end: bool) -> int:
        """An index of this text in the original; within a replaced part its start, or its end for what ends there."""
        shift = 0
        for first, last, here, there in self.places:
            if at < here or (end and at == here):
                break
            if at < there or (end and at == there):
                return last if end else first
            shift = last - there
        return at + shift


def expand_dates(hypothesis: str, claim: str, exact: ExactResult, offset: int = 0) -> ExpandedDates:
    """A hypothesis as the network reads it.

    Args:
        hypothesis: the claim, with its question or the sentence before it where it is read with that.
        claim: the claim alone.
        exact: what the exact tier found of it.
        offset: where the claim begins in the hypothesis; nothing is replaced where that has none of it.
    """
    if offset + len(claim) > len(hypothesis) + 1:
        return ExpandedDates(hypothesis, hypothesis)
    parts = _spans(claim, exact)
    taken = {at for start, end, _ in parts for at in range(start, end)}
    parts += [(one.start, one.end, one.text) for one in exact.same if taken.isdisjoint(range(one.start, one.end))]
    taken = {at for start, end, _ in parts for at in range(start, end)}
    parts += [one for one in _reserves(claim, exact) if taken.isdisjoint(range(one[0], one[1]))]
    text, at, places = "", 0, list[tuple[int, int, int, int]]()
    for start, end, words in sorted(parts):
        text += hypothesis[at : offset + start]
        at = offset + end
        places.append((offset + start, at, len(text), len(text) + len(words)))
        text += words
    return ExpandedDates(text + hypothesis[at:], hypothesis, tuple(places))


def _reserves(claim: str, exact: ExactResult) -> list[tuple[int, int, str]]:
    """Hedges of a claim that no sentence near it has: what is said with reserve has to be so all the same.

    "Perhaps partners get 4 weeks" is as wrong beside "2 weeks" as without the word, and "probably 2 weeks" as right. A
    hedge that the evidence has too is part of what is said.
    """
    if any(hedge_score(span.text) >= HEDGED for span in exact.best):
        return []
    return without_hedges(claim)


def _spans(claim: str, exact: ExactResult) -> list[tuple[int, int, str]]:
    """Start and end of the claim's dates, prepositions included, that lie in spans of the evidence, and these."""
    found = [f for f in exact.findings if f.code == WITHIN and f.evidence is not None and f.evidence.score >= AGREEING]
    if not found or any(word.lower() in _SINGLING for word in _WORD.findall(claim)):
        return []
    parts: list[tuple[int, int, str]] = []
    for finding in found:
        before = _BEFORE.search(claim[max(0, finding.claim_start - _LONGEST_BEFORE) : finding.claim_start])
        if before is None or finding.evidence is None:
            return []
        parts.append((finding.claim_start - len(before[0]), finding.claim_end, finding.evidence.text))
    return parts
