"""Evidence prepared once for all claims of a check: indexed for the exact tier, in windows for the network."""

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
    """How much one check reads. Anything beyond is reported as unchecked or unread, never skipped silently."""

    output_characters: int = 1_000_000
    """The most characters of the output from which claims are extracted."""
    claims: int = 2_000
    """The most claims that are judged."""
    citation_pairs: int = 4_000
    """The most pairs of a cited source and its statement that are judged."""
    evidence_characters: int = 5_000_000
    """The most characters of evidence that are read, in total, in the order of the evidence ids."""


_EXACT: Final = ExactIndexCache()
"""Exact indices, shared by all guards of the process, since they depend on the evidence alone."""
_EXACT_RESULTS: Final = LruCache[ExactResult](4_096)
"""Results of the exact tier for claims, about 2 KB each: a revised answer, or a stream that has grown by a sentence, is
checked again with nearly the same claims."""
_PREMISES: Final = LruCache[tuple[Premise, ...]](1_024)
"""The premises that the network reads for claims, about 10 KB each."""


@dataclass(frozen=True, slots=True)
class PreparedEvidence:
    """A body of evidence in the form that the tiers read."""

    evidence: tuple[Evidence, ...]
    """In the order of the ids and cut to the limit, so that the order in which it was given has no effect."""
    given_order: tuple[str, ...]
    """The ids in the order in which they were given; citations by number refer to it."""
    characters: int
    """The number of characters given."""
    unread: int
    """The number of characters beyond the limit."""
    index: ExactIndex
    windows: EvidenceIndex
    key: bytes
    """A digest of everything that the two indices depend on."""
    languages: frozenset[str] = frozenset()
    """The languages of the sources, where they are recognised."""

    @property
    def readable(self) -> bool:
        """Whether it contains any text."""
        return any(item.text.strip() for item in self.evidence)

    @property
    def size(self) -> float:
        """The amount of evidence, in [0, 1]: log2(1 + windows) / 12, at most 1.

        The words of a claim occur in a large body of evidence more easily than in a small one.
        """
        return min(1.0, math.log2(1 + len(self.windows.windows)) / 12)

    def premises(self, hypothesis: str, passages: int | None) -> tuple[Premise, ...]:
        """The premises that the network reads for one claim; all windows where `passages` is None."""
        if not self.readable:
            return ()

        def found() -> tuple[Premise, ...]:
            return self.windows.candidates(hypothesis, passages=passages).premises

        return _PREMISES.get((self.key, hypothesis, passages), found)

    def exact_of(self, item: Evidence, claim: str, question: str | None) -> ExactResult:
        """The result of the exact tier for one claim and a single source of the evidence."""
        locale = self.index.locale
        key = content_key([item], locale)
        index = _EXACT.get([item], locale, key)
        return _EXACT_RESULTS.get((key, claim, question), lambda: check_exact(claim, index, question=question))

    def exact(self, claim: str, question: str | None) -> ExactResult:
        """The result of the exact tier for one claim and all of the evidence."""
        key = self.key, claim, question
        return _EXACT_RESULTS.get(key, lambda: check_exact(claim, self.index, question=question))


def prepare(
    evidence: Sequence[Evidence], scorer: PairScorer, cache: IndexCache, limits: Limits, locale: str
) -> PreparedEvidence:
    """Sorts, limits and indexes evidence."""
    kept: list[Evidence] = []
    left = limits.evidence_characters
    for item in sorted(evidence, key=lambda e: e.id):
        kept.append(item if len(item.text) <= left else item.model_copy(update={"text": item.text[:left]}))
        left -= len(kept[-1].text)
    characters = sum(len(item.text) for item in evidence)
    key = content_key(kept, locale)
    return PreparedEvidence(
        evidence=tuple(kept),
        given_order=tuple(item.id for item in evidence),
        characters=characters,
        unread=characters - sum(len(item.text) for item in kept),
        index=_EXACT.get(kept, locale, key),
        windows=cache.get(kept, scorer.count_tokens, scorer.digest),
        key=key + scorer.digest.encode(),
        languages=languages_of(item.text for item in kept),
    )
