"""A claim's date that lies in a span of the evidence, said for the network with the words of that span.

"The desk is open on Tuesday" follows from "open from Monday to Thursday" by counting days, and a network counts none:
it calls the claim contradicted. What holds over a span holds on each of its days, so the network is asked whether the
evidence says of the span what the claim says of the day; the counting is the exact tier's.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from assay.text.lexemes import word_set
from assay.verify.entailment import EntailmentResult
from assay.verify.exact import ExactResult

WITHIN: Final = "date.within"
AGREEING: Final = 0.95
"""The least agreement of the words around the span with those around the date: all that the claim says besides stands
in the span's own clause. Below it the span may be of something else (a project's years, a report's day)."""
_BEFORE: Final = re.compile(r"\b(?:on|in|at|during)\s+(?:(?:an?|the|any|every|each)\s+)?$", re.IGNORECASE)
_LONGEST_BEFORE: Final = 24
_SINGLING: Final = word_set("""
only just solely exclusively alone merely once single exactly first last most least best worst peak never other
another until till since before after by from
""")
"""Words with which a day is more than one of many: what is so only on Tuesday does not follow from a span."""
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Widened:
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


def widened(hypothesis: str, claim: str, exact: ExactResult) -> Widened:
    """A hypothesis as the network reads it.

    Args:
        hypothesis: the claim, after its question where it is a short answer.
        claim: the claim alone.
        exact: what the exact tier found of it.
    """
    same = Widened(hypothesis, hypothesis)
    found = [
        f for f in exact.findings if f.code == WITHIN and f.evidence is not None and f.evidence.score >= AGREEING
    ]  # fmt: skip
    if not found or any(word.lower() in _SINGLING for word in _WORD.findall(claim)):
        return same
    offset = len(hypothesis) - len(claim)
    text, at, places = "", 0, list[tuple[int, int, int, int]]()
    for finding in sorted(found, key=lambda one: one.claim_start):
        before = _BEFORE.search(claim[max(0, finding.claim_start - _LONGEST_BEFORE) : finding.claim_start])
        if before is None or finding.evidence is None:
            return same
        start = offset + finding.claim_start - len(before[0])
        text += hypothesis[at:start]
        at = offset + finding.claim_end
        places.append((start, at, len(text), len(text) + len(finding.evidence.text)))
        text += finding.evidence.text
    return Widened(text + hypothesis[at:], hypothesis, tuple(places))
