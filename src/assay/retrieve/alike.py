"""Which passages say the same: to the letter, nearly so, or as another version of one text; without all pairs.

Texts are compared as sets of runs of three words, by their Jaccard index. Candidates come from MinHash signatures cut
into bands (Broder 1997, "On the resemblance and containment of documents"; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, chapter 3): two sets with index J agree in one of b bands of r rows with probability 1 - (1 - J^r)^b,
which is 0.99 at J = 0.7 with 20 bands of 4 rows and 0.15 at J = 0.3. Each candidate pair is then measured exactly. Cost
is linear in the length of the texts; in a band that many share, each is compared with the first of them alone.
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
RUN: Final = 3
"""Words of a run."""
LONGEST: Final = 20_000
"""Words of a text that are compared."""
_PRIME: Final = (1 << 31) - 1
_WORD: Final = re.compile(r"\w+")
_SEED: Final = 20_261_126


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two texts, by their places, and how far they are the same."""

    first: int
    """The place of the earlier one."""
    second: int
    share: float
    """The Jaccard index of their runs of words, in (0, 1]."""
    contained: float
    """The share of the runs of the shorter one that the longer one has, in (0, 1]."""


def folded_words(text: str) -> list[str]:
    """The words and numbers of a text without case and marks; signs of scripts without spaces one by one.

    >>> folded_words("Leave: 2.5 weeks!")
    ['leave', '2', '5', 'weeks']
    """
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        words += list(word) if ord(word[0]) >= 0x3040 and not word[0].isdigit() else [word]
        if len(words) >= LONGEST:
            return words[:LONGEST]
    return words


def runs_of(words: Sequence[str]) -> frozenset[int]:
    """The runs of three words as numbers below 2^31 - 1; one run of all words where there are fewer."""
    if len(words) < RUN:
        return frozenset({_number(" ".join(words))}) if words else frozenset()
    return frozenset(_number(f"{a} {b} {c}") for a, b, c in zip(words, words[1:], words[2:], strict=False))


def _number(run: str) -> int:
    return zlib.crc32(run.encode("utf-8", "surrogatepass")) % _PRIME


def likenesses(texts: Sequence[str], least: float) -> list[Likeness]:
    """The pairs of texts whose Jaccard index, or containment, is at least so much, as far as bands find them.

    Each text is paired with earlier ones only; of several that are the same, with the first.

    Args:
        texts: in any order; the result depends on it only in which one of a pair is the first.
        least: the least index, in (0, 1].

    >>> [(one.first, one.second) for one in likenesses(["a b c d e f", "x y z", "A, b c d e f."], 0.9)]
    [(0, 2)]
    """
    sets = [runs_of(folded_words(text)) for text in texts]
    seen: dict[tuple[int, bytes], list[int]] = {}
    found: list[Likeness] = []
    for place, runs in enumerate(sets):
        if not runs:
            continue
        partners: set[int] = set()
        for band, signed in enumerate(bands_of(runs)):
            members = seen.setdefault((band, signed), [])
            partners.update(members[:1])
            members.append(place)
        for partner in sorted(partners):
            one = Likeness(partner, place, *shares_of(sets[partner], runs))
            if one.share >= least:
                found.append(one)
    return found


@lru_cache(maxsize=1)
def _hashes() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    drawn = np.random.Generator(np.random.PCG64(_SEED)).integers(1, _PRIME, size=(2, BANDS * ROWS), dtype=np.uint64)
    return drawn[0], drawn[1]


def bands_of(runs: Collection[int]) -> list[bytes]:
    """The signature of a text, a value for each band: two texts that are alike agree in one of them.

    Args:
        runs: of the text, at least one.
    """
    slopes, shifts = _hashes()
    values = np.fromiter(runs, dtype=np.uint64, count=len(runs))
    signature = np.min((values[:, None] * slopes + shifts) % np.uint64(_PRIME), axis=0).reshape(BANDS, ROWS)
    return [band.tobytes() for band in signature]


def shares_of(one: AbstractSet[int], other: AbstractSet[int]) -> tuple[float, float]:
    """The Jaccard index of two texts' runs, and the share of the shorter one's that the longer one has.

    >>> shares_of({1, 2, 3, 4}, {3, 4})
    (0.5, 1.0)
    """
    shared = len(one & other)
    return shared / ((len(one) + len(other) - shared) or 1), shared / (min(len(one), len(other)) or 1)
