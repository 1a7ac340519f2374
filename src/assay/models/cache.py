"""Keeps the scores of the network by content: what is streamed twice, or left alone in a revision, is judged once."""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.models.interface import PairScorer, WordScores, score_words, words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_BYTES = 480
"""Roughly what one entry takes: key, three scores, the scores of twenty words, the slot in the ordered map."""


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """How many entries are kept; the least recently used goes first."""

    max_entries: int = 65_536
    max_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """How often the cache had an answer so far, and how much it holds."""

    hits: int
    misses: int
    entries: int


def pair_key(digest: str, premise: str, claim: str) -> bytes:
    """A key of 16 bytes for a pair under one model; the length in front keeps premise and claim apart."""
    first = premise.encode("utf-8", "surrogatepass")
    content = b"%d:%s%s" % (len(first), first, claim.encode("utf-8", "surrogatepass"))
    return hashlib.blake2b(content, digest_size=16, key=digest.encode()[:64]).digest()


def _text_key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class CachedScorer:
    """A scorer in front of another one, which it asks only for pairs that are not in its bounded memory.

    Safe to use from several threads; two threads that miss the same pair at once both ask, and get the same scores.
    """

    def __init__(self, scorer: PairScorer, options: CacheOptions | None = None) -> None:
        options = options or CacheOptions()
        self._scorer = scorer
        self._limit = max(0, min(options.max_entries, options.max_bytes // ENTRY_BYTES))
        self._entries: OrderedDict[bytes, tuple[tuple[float, float, float], array[float]]] = OrderedDict()
        self._token_counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = 0
        self._misses = 0

    @property
    def name(self) -> str:
        """The name of the scorer behind."""
        return self._scorer.name

    @property
    def digest(self) -> str:
        """The digest of the scorer behind: a cache changes no score."""
        return self._scorer.digest

    @property
    def three_way(self) -> bool:
        """As the scorer behind."""
        return self._scorer.three_way

    @property
    def max_pair_tokens(self) -> int:
        """As the scorer behind."""
        return self._scorer.max_pair_tokens

    @property
    def counts(self) -> CacheCounts:
        """Pairs found and not found, and how many are kept."""
        with self._lock:
            return CacheCounts(hits=self._hits, misses=self._misses, entries=len(self._entries))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the scorer behind; the counts of texts that were counted before are remembered."""
        keys = [_text_key(text) for text in texts]
        with self._lock:
            known = [self._token_counts.get(key) for key in keys]
        new = [text for text, count in zip(texts, known, strict=True) if count is None]
        counted = iter(self._scorer.count_tokens(new) if new else ())
        counts = [next(counted) if count is None else count for count in known]
        with self._lock:
            for key, count in zip(keys, counts, strict=True):
                self._token_counts[key] = count
                self._token_counts.move_to_end(key)
            while len(self._token_counts) > self._limit:
                self._token_counts.popitem(last=False)
        return counts

    def words(self, claim: str) -> tuple[tuple[int, int], ...]:
        """As the scorer behind; none where it cannot tell words apart."""
        return words_of(self._scorer, claim)

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The scores of the pairs, remembered or new; a call that fails leaves nothing in the cache.

        Raises:
            VerifierError: the scorer behind failed.
        """
        return self.score_words(pairs)[0]

    def score_words(self, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[WordScores]]:
        """The scores of the pairs and of their claims' words, remembered or new.

        Raises:
            VerifierError: the scorer behind failed.
        """
        import numpy as np

        keys = [pair_key(self.digest, premise, claim) for premise, claim in pairs]
        result = np.zeros((len(pairs), 3), dtype=np.float32)
        words: list[WordScores] = [()] * len(pairs)
        missing: dict[bytes, list[int]] = {}
        with self._lock:
            for i, key in enumerate(keys):
                kept = self._entries.get(key)
                if kept is None:
                    missing.setdefault(key, []).append(i)
                    continue
                self._entries.move_to_end(key)
                result[i], words[i] = kept[0], tuple(kept[1])
            self._misses += len(missing)
            self._hits += len(pairs) - len(missing)
        if missing:
            fresh, fresh_words = score_words(self._scorer, [pairs[places[0]] for places in missing.values()])
            packed = [array("f", row) for row in fresh_words]
            for row, row_words, places in zip(fresh, packed, missing.values(), strict=True):
                result[places] = row
                for place in places:
                    words[place] = tuple(row_words)
            self._remember(list(missing), fresh, packed)
        return result, words

    def _remember(self, keys: Sequence[bytes], rows: NDArray[np.float32], words: Sequence[array[float]]) -> None:
        with self._lock:
            for key, row, row_words in zip(keys, rows.tolist(), words, strict=True):
                self._entries[key] = (row[0], row[1], row[2]), row_words
                self._entries.move_to_end(key)
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)
