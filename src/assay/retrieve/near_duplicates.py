"""Finds passages with the same wording: identical, nearly identical or versions of one text; without all pairs.

Texts are compared as sets of shingles (runs of three words) by their Jaccard index. Candidates come from MinHash
signatures cut into bands (Broder 1997, "On the resemblance and containment of documents"; Leskovec, Rajaraman and
Ullman, Mining of Massive Datasets, chapter 3): two sets with index J agree in one of b bands of r rows with probability
1 - (1 - J^r)^b, which is 0.99 at J = 0.7 with 20 bands of 4 rows and 0.15 at J = 0.3. Each candidate pair is then
measured exactly. Cost is linear in the length of the texts, since in a band that many share, each is compared only with
the first of them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

BANDS: Final = 20
ROWS: Final = 4
SHINGLE_WORDS: Final = 3
"""Words in a shingle."""
MAX_WORDS: Final = 20_000
"""The first so many words of a text are compared."""
_PRIME: Final = (1 << 31) - 1
_WORD: Final = re.compile(r"\w+")
_SEED: Final = 20_261_126


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two texts, by their indices, and how similar they are."""

    first: int
    """The index of the earlier one."""
    second: int
    jaccard: float
    """The Jaccard index of their shingles, in (0, 1]."""
    containment: float
    """The share of the shorter one's shingles that the longer one has too, in (0, 1]."""


def folded_words(text: str) -> list[str]:
    """The words and numbers of a text in folded case; characters of scripts without spaces are words of their own.

    >>> folded_words("Leave: 2.5 weeks!")
    ['leave', '2', '5', 'weeks']
    """
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        words += list(word) if ord(word[0]) >= 0x3040 and not word[0].isdigit() else [word]
        if len(words) >= MAX_WORDS:
            return words[:MAX_WORDS]
    return words


def word_shingles(words: Sequence[str]) -> frozenset[int]:
    """The shingles of a text, its runs of three words, as hashes below 2^31 - 1; fewer words are one shingle."""
    if len(words) < SHINGLE_WORDS:
        return frozenset({_number(" ".join(words))}) if words else frozenset()
    return frozenset(_number(f"{a} {b} {c}") for a, b, c in zip(words, words[1:], words[2:], strict=False))


def _number(run: str) -> int:
    return zlib.crc32(run.encode("utf-8", "surrogatepass")) % _PRIME


def similar_pairs(texts: Sequence[str], threshold: float) -> list[SimilarPair]:
    """The pairs of texts whose Jaccard index is at least a threshold, as far as MinHash bands find them.

    Each text is paired with earlier ones only, and in each band with the first text that shares it.

    Args:
        texts: in any order; the result depends on it only in which one of a pair is the first.
        threshold: the lowest Jaccard index, in (0, 1].

    >>> [(one.first, one.second) for one in similar_pairs(["a b c d e f", "x y z", "A, b c d e f."], 0.9)]
    [(0, 2)]
    """
    shingle_sets = [word_shingles(folded_words(text)) for text in texts]
    buckets: dict[tuple[int, bytes], list[int]] = {}
    found: list[SimilarPair] = []
    for index, shingles in enumerate(shingle_sets):
        if not shingles:
            continue
        candidates: set[int] = set()
        for band, signature in enumerate(minhash_bands(shingles)):
            bucket = buckets.setdefault((band, signature), [])
            candidates.update(bucket[:1])
            bucket.append(index)
        for candidate in sorted(candidates):
            one = SimilarPair(candidate, index, *jaccard_and_containment(shingle_sets[candidate], shingles))
            if one.jaccard >= threshold:
                found.append(one)
    return found


@lru_cache(maxsize=1)
def _hashes() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    coefficients = np.random.Generator(np.random.PCG64(_SEED)).integers(
        1, _PRIME, size=(2, BANDS * ROWS), dtype=np.uint64
    )
    return coefficients[0], coefficients[1]


def minhash_bands(shingles: Collection[int]) -> list[bytes]:
    """The MinHash signature of a text, a value for each band; similar texts have the same value in some band.

    Args:
        shingles: the shingles of the text, at least one.
    """
    slopes, shifts = _hashes()
    values = np.fromiter(shingles, dtype=np.uint64, count=len(shingles))
    signature = np.min((values[:, None] * slopes + shifts) % np.uint64(_PRIME), axis=0).reshape(BANDS, ROWS)
    return [band.tobytes() for band in signature]


def jaccard_and_containment(one: AbstractSet[int], other: AbstractSet[int]) -> tuple[float, float]:
    """The Jaccard index of two texts' shingles, and the share of the shorter one's that the longer one has.

    >>> jaccard_and_containment({1, 2, 3, 4}, {3, 4})
    (0.5, 1.0)
    """
    shared = len(one & other)
    return shared / ((len(one) + len(other) - shared) or 1), shared / (min(len(one), len(other)) or 1)
