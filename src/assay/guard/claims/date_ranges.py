"""The values of a claim in the form that the evidence has, for the network to read.

Hedges that the evidence does not share are left out: they are reported with the claim and do not make it truer. A value
that the evidence writes differently (`assay.verify.exact.same_values`) is put in the evidence's words. A date that lies
within a range of the evidence is replaced by the words of that range:

"The desk is open on Tuesday" follows from "open from Monday to Thursday" by counting days. A network does not count,
and calls the claim contradicted. What holds over a range holds on each of its days, so the network is asked whether the
evidence says of the range what the claim says of the day; the exact tier has done the counting.
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
"""The lowest agreement of the words around the range with those around the date: all else that the claim says stands in
the range's own clause. Below it the range may be of something else (a project's years, a report's day)."""
HEDGED: Final = 0.3
"""The score from which a sentence of the evidence counts as hedged itself."""
_BEFORE: Final = re.compile(r"\b(?:on|in|at|during)\s+(?:(?:an?|the|any|every|each)\s+)?$", re.IGNORECASE)
_LONGEST_BEFORE: Final = 24
_SINGLING: Final = word_set("""
only just solely exclusively alone merely once single exactly first last most least best worst peak never other
another until till since before after by from
""")
"""Words that single a day out: what holds only on Tuesday does not follow from a range."""
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ExpandedDates:
    """A hypothesis with values replaced, and the map back to the original."""

    text: str
    original: str
    places: tuple[tuple[int, int, int, int], ...] = ()
    """For each replaced part, in order: its start and end in the original, then its start and end in the text."""

    def restored(self, read: EntailmentResult) -> EntailmentResult:
        """The network's result, with the places of its words moved back to the original."""
        if not self.places or read.failed is not None:
            return read
        words = tuple((self._back(start, False), self._back(end, True)) for start, end in read.words)
        return replace(read, words=words, claim_length=len(self.original))

    def _back(self, at: int, end: bool) -> int:
        """An index of the text as one of the original; inside a replaced part, that part's start or `end`."""
        shift = 0
        for first, last, here, there in self.places:
            if at < here or (end and at == here):
                break
            if at < there or (end and at == there):
                return last if end else first
            shift = last - there
        return at + shift


def expand_dates(hypothesis: str, claim: str, exact: ExactResult, offset: int = 0) -> ExpandedDates:
    """The hypothesis that the network reads.

    Args:
        hypothesis: the claim, with its question or the sentence before it if it is read with either.
        claim: the claim alone.
        exact: the exact tier's result for the claim.
        offset: where the claim begins in the hypothesis. If it is not in there, nothing is replaced.
    """
    if offset + len(claim) > len(hypothesis) + 1:
        return ExpandedDates(hypothesis, hypothesis)
    parts = _spans(claim, exact)
    taken = {at for start, end, _ in parts for at in range(start, end)}
    parts += [(one.start, one.end, one.text) for one in exact.same if taken.isdisjoint(range(one.start, one.end))]
    taken = {at for start, end, _ in parts for at in range(start, end)}
    parts += [one for one in _unshared_hedges(claim, exact) if taken.isdisjoint(range(one[0], one[1]))]
    text, at, places = "", 0, list[tuple[int, int, int, int]]()
    for start, end, words in sorted(parts):
        text += hypothesis[at : offset + start]
        at = offset + end
        places.append((offset + start, at, len(text), len(text) + len(words)))
        text += words
    return ExpandedDates(text + hypothesis[at:], hypothesis, tuple(places))


def _unshared_hedges(claim: str, exact: ExactResult) -> list[tuple[int, int, str]]:
    """The hedges of a claim, if no close sentence of the evidence is hedged: what is said with a hedge must still hold.

    Given "2 weeks", "perhaps 4 weeks" is as wrong as without the hedge, and "probably 2 weeks" as right. A hedge that
    the evidence has too is part of the statement.
    """
    if any(hedge_score(span.text) >= HEDGED for span in exact.best):
        return []
    return without_hedges(claim)


def _spans(claim: str, exact: ExactResult) -> list[tuple[int, int, str]]:
    """The claim's dates that lie within ranges of the evidence: start and end with preposition, and the range."""
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
