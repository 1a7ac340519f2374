"""Evidence made ready once for all claims of a check: indexed for the exact tier and cut for the network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay._lru import LruCache
from assay.guard.claims.unread_languages import languages_of
from assay.models import PairScorer
from assay.retrieve import EvidenceIndex, IndexCache
from assay.schema import Evidence, Premise
from assay.verify.exact import ExactIndex, ExactIndexCache, ExactResult, check_exact, content_key


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one check reads. What lies beyond is reported as unchecked or unread, never passed over."""

    output_characters: int = 1_000_000
    """Characters of the output from which claims are extracted."""
    claims: int = 2_000
    """Claims that are judged."""
    citation_pairs: int = 4_000
    """Pairs of a cited source and its statement that are judged."""
    evidence_characters: int = 5_000_000
    """Characters of evidence that are read, over all of it, in the order of the evidence ids."""


_EXACT: Final = ExactIndexCache()
"""Indices of the process, whichever guard asks: they depend on the evidence alone."""
_FOUND: Final = LruCache[ExactResult](4_096)
"""What the exact tier found of claims, about 2 KB each: an answer that is revised, or that a stream has made longer by
a sentence, is checked again with nearly the same claims."""
_READ: Final = LruCache[tuple[Premise, ...]](1_024)
"""What the network reads for claims, about 10 KB each."""


@dataclass(frozen=True, slots=True)
class PreparedEvidence:
    """A body of evidence in the form that the tiers read."""

    evidence: tuple[Evidence, ...]
    """In the order of the ids, cut to the limit, so that the order in which it was given can have no effect."""
    given_order: tuple[str, ...]
    """The ids as they were given, which citations by number go by."""
    characters: int
    """Characters that were given."""
    unread: int
    """Characters beyond the limit."""
    index: ExactIndex
    windows: EvidenceIndex
    key: bytes
    """A digest of all that the two indices depend on."""
    languages: frozenset[str] = frozenset()
    """The languages of the sources, of those that tell one."""

    @property
    def readable(self) -> bool:
        """Whether there is anything in it to read."""
        return any(item.text.strip() for item in self.evidence)

    @property
    def size(self) -> float:
        """How much evidence there is, from 0 to 1: log2(1 + windows) / 12, at most 1.

        Words of a claim are found somewhere in much evidence more easily than in little.
        """
        return min(1.0, math.log2(1 + len(self.windows.windows)) / 12)

    def premises(self, hypothesis: str, passages: int | None) -> tuple[Premise, ...]:
        """What the network reads for one claim; all windows where `passages` is None."""
        if not self.readable:
            return ()

        def found() -> tuple[Premise, ...]:
            return self.windows.candidates(hypothesis, passages=passages).premises

        return _READ.get((self.key, hypothesis, passages), found)

    def exact_of(self, item: Evidence, claim: str, question: str | None) -> ExactResult:
        """What the exact tier finds of one claim where one source of the evidence is all there is."""
        locale = self.index.locale
        key = content_key([item], locale)
        index = _EXACT.get([item], locale, key)
        return _FOUND.get((key, claim, question), lambda: check_exact(claim, index, question=question))

    def exact(self, claim: str, question: str | None) -> ExactResult:
        """What the exact tier finds of one claim."""
        return _FOUND.get((self.key, claim, question), lambda: check_exact(claim, self.index, question=question))


def prepare(
    evidence: Sequence[Evidence], scorer: PairScorer, cache: IndexCache, limits: Limits, locale: str
) -> PreparedEvidence:
    """Sort, limit and index evidence."""
    kept: list[Evidence] = []
    left = limits.evidence_characters
    for item in sorted(evidence, key=lambda e: e.id):
        kept.append(item if len(item.text) <= left else item.model_copy(update={"text": item.text[:left]}))
        left -= len(kept[-1].text)
    given = sum(len(item.text) for item in evidence)
    key = content_key(kept, locale)
    return PreparedEvidence(
        evidence=tuple(kept),
        given_order=tuple(item.id for item in evidence),
        characters=given,
        unread=given - sum(len(item.text) for item in kept),
        index=_EXACT.get(kept, locale, key),
        windows=cache.get(kept, scorer.count_tokens, scorer.digest),
        key=key + scorer.digest.encode(),
        languages=languages_of(item.text for item in kept),
    )
