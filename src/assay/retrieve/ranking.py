"""Selects the windows of evidence that the network reads for a claim: BM25 over an inverted index.

score(q, w) = sum over terms t of q:  idf(t) * f(t, w) * (k1 + 1) / (f(t, w) + k1 * (1 - b + b * |w| / mean|w|))
idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

with f the count of a term in a window, |w| its terms, N the windows and n(t) those that contain t (Robertson and
Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009). Terms are stemmed words, numbers without their
thousands separators, and pairs of characters in scripts without spaces. Ranking decides no verdict: what is not chosen
is only less similar, and `high-stakes` reads all windows.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from assay.schema import Window

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TERM = re.compile(r"\d+(?:[.,'\u00a0\u202f]\d+)*|[^\W\d_]+|\d+", re.UNICODE)
_SEPARATOR = re.compile(r"[,'\u00a0\u202f](?=\d{3}(?!\d))")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
MAX_TERM_LENGTH = 40
"""Characters; a longer run of letters is not a word, and only its beginning is compared."""
_COMMON = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at be been but by did do does for from had has have he her his i if in into is it its no not "
        "of on or our she so such than that the their them there they this to was we were which who will with would "
        "you your",
    )
)


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """The two constants of BM25, by default at values that suit most collections."""

    k1: float = 1.2
    """How fast repetition of a term stops counting."""
    b: float = 0.75
    """How strongly long windows are penalised, from 0 to 1."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """An English word approximately without its inflection; equal words have equal stems.

    >>> [stem(w) for w in ("policies", "policy", "approved", "approves", "approving", "bus")]
    ['policy', 'policy', 'approv', 'approv', 'approv', 'bus']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    if len(word) > 3 and word.endswith("s") and word[-2] not in "su":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def terms(text: str) -> list[str]:
    """The terms of a text in order, with repetitions.

    >>> terms("Revenues rose to $1,200.50.")
    ['revenu', 'rose', '1200.50']
    """
    return [term for word in _TERM.findall(text.lower()) for term in _terms_of_word(word)]


@lru_cache(maxsize=1 << 16)
def _cached_terms(word: str) -> tuple[str, ...]:
    if word[0].isdigit():
        return (_SEPARATOR.sub("", word)[:MAX_TERM_LENGTH],)
    if _UNSPACED.search(word):
        return tuple(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return () if word in _COMMON else (stem(word[:MAX_TERM_LENGTH]),)


def _terms_of_word(word: str) -> tuple[str, ...]:
    """The terms of one run of letters or digits, from a cache if the run is not too long."""
    return _cached_terms(word) if len(word) <= MAX_TERM_LENGTH else _cached_terms.__wrapped__(word)


def terms_of_slices(text: str, slices: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The terms of each slice of a text, equal to `terms` of the slice; the text is read only once.

    >>> terms_of_slices("Revenues rose. Costs fell.", [(0, 14), (0, 26), (3, 14)])
    [['revenu', 'rose'], ['revenu', 'rose', 'cost', 'fell'], ['enue', 'rose']]
    """
    lower = text.lower()
    if len(lower) != len(text) or "\u03a3" in text:  # a letter that grows, or whose form depends on its neighbours
        return [terms(text[start:end]) for start, end in slices]
    found = list(_TERM.finditer(lower))
    starts, ends = [m.start() for m in found], [m.end() for m in found]
    window_terms = [_terms_of_word(m.group()) for m in found]
    result = []
    for start, end in slices:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if (first and ends[first - 1] > start) or (last and ends[last - 1] > end):
            result.append(terms(text[start:end]))  # an edge within a word
        else:
            result.append(list(chain.from_iterable(window_terms[first:last])))
    return result


class WindowRanker:
    """An inverted index over windows; the cost of a query depends on its postings, not on the number of windows."""

    def __init__(
        self,
        windows: Sequence[Window],
        options: RankingOptions | None = None,
        *,
        texts: Sequence[str] | None = None,
        window_terms: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Index the windows by their own text, or by `texts` if more belongs to it, such as a title.

        Args:
            windows: the windows to rank.
            options: the constants of the formula.
            texts: the text by which each window is ranked.
            window_terms: the terms of each window, if they are known already; no text is read then.
        """
        self._options = options or RankingOptions()
        self._windows = tuple(windows)
        keys = [(w.evidence_id, w.start, w.end) for w in windows]
        self._order = sorted(range(len(keys)), key=keys.__getitem__)
        self._place_of = {index: place for place, index in enumerate(self._order)}
        self._terms: dict[int, frozenset[str]] = {}
        self._postings: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        if window_terms is None:
            window_terms = [terms(text) for text in (texts if texts is not None else (w.text for w in windows))]
        self._build(window_terms)

    def __len__(self) -> int:
        """The number of windows."""
        return len(self._windows)

    def _build(self, window_terms: Sequence[Sequence[str]]) -> None:
        """Fill the postings, in canonical order of the windows, with each window's contribution to a query."""
        import numpy as np

        counts = [Counter(window_terms[index]) for index in self._order]
        self._terms = {index: frozenset(count) for index, count in zip(self._order, counts, strict=True)}
        sizes = np.array([sum(c.values()) for c in counts], dtype=np.float64)
        mean = float(sizes.sum()) / max(1, len(sizes)) or 1.0
        length_penalty = self._options.k1 * (1 - self._options.b + self._options.b * sizes / mean)
        places: dict[str, list[int]] = {}
        for place, count in enumerate(counts):
            for term in count:
                places.setdefault(term, []).append(place)
        # One array for all postings: separate arrays for thousands of rare terms would take most of the time.
        frequencies = np.array(
            [counts[place][term] for term, found in places.items() for place in found], dtype=np.float64
        )
        window_places = np.array([place for found in places.values() for place in found], dtype=np.intp)
        idf = np.repeat([self.idf(len(found)) for found in places.values()], [len(found) for found in places.values()])
        weight = (
            frequencies * (self._options.k1 + 1) / (frequencies + length_penalty[window_places]) * idf
            if places
            else frequencies
        )
        begin = 0
        for term, found in places.items():
            end = begin + len(found)
            self._postings[term] = (window_places[begin:end], weight[begin:end])
            begin = end

    def terms_of(self, index: int) -> frozenset[str]:
        """The terms of a window."""
        return self._terms[index]

    def idf(self, containing: int) -> float:
        """The inverse document frequency of a term in this many windows; always positive."""
        return math.log(1 + (len(self._windows) - containing + 0.5) / (containing + 0.5))

    def _scores(self, claim: str) -> NDArray[np.float64]:
        import numpy as np

        scores = np.zeros(len(self._windows), dtype=np.float64)
        for term in sorted(set(terms(claim))):
            posting = self._postings.get(term)
            if posting is not None:
                scores[posting[0]] += posting[1]
        return scores

    def top(self, claim: str, k: int | None = None) -> list[int]:
        """Indices of the `k` windows most like the claim, the best first; all windows if `k` is none.

        Windows of equal score are in the order of evidence id and position, so that the order of the evidence does not
        matter.
        """
        import numpy as np

        if k is not None and k <= 0:
            return []
        scores = self._scores(claim)
        candidates = np.arange(len(scores))
        if k is not None and k < len(scores):
            threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
            above_threshold, ties = np.flatnonzero(scores > threshold), np.flatnonzero(scores == threshold)
            candidates = np.concatenate([above_threshold, ties[: k - len(above_threshold)]])
        best = candidates[np.lexsort((candidates, -scores[candidates]))]
        return [self._order[place] for place in best.tolist()]

    def rivals(self, claim: str, source: str, share: float) -> list[int]:
        """Windows of other sources than `source` with at least a share of the best score of all, the best first.

        Empty where no window shares a term with the claim.
        """
        import numpy as np

        scores = self._scores(claim)
        threshold = float(scores.max(initial=0.0)) * share
        if threshold <= 0:
            return []
        candidates = [place for place in np.flatnonzero(scores >= threshold).tolist() if self._source(place) != source]
        return [self._order[place] for place in sorted(candidates, key=lambda place: (-scores[place], place))]

    def _source(self, place: int) -> str:
        return self._windows[self._order[place]].evidence_id

    def score(self, claim: str) -> list[float]:
        """The BM25 score of every window, in the order of the windows passed in."""
        scores = self._scores(claim).tolist()
        return [scores[self._place_of[index]] for index in range(len(scores))]
