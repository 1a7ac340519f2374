"""Which windows of evidence are worth the network's time for a claim: BM25 over an inverted index.

score(q, w) = sum over terms t of q:  idf(t) * f(t, w) * (k1 + 1) / (f(t, w) + k1 * (1 - b + b * |w| / mean|w|))
idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

with f the count of a term in a window, |w| its terms, N the windows and n(t) those that contain t (Robertson and
Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009). Terms are stemmed words, numbers without
their thousands separators, and pairs of characters for scripts that write no spaces. Ranking never decides: what is
not chosen was only less alike, and `high-stakes` reads all windows.
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
LONGEST_TERM = 40
"""Characters of a term; a longer run of letters is no word, and only its beginning is compared."""
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
    """The two constants of BM25, at the values that most collections are well served by."""

    k1: float = 1.2
    """How fast repetition of a term stops counting."""
    b: float = 0.75
    """How much long windows are held back, from 0 to 1."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """An English word without its inflection, roughly; equal words stay equal.

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
def _kept_terms(word: str) -> tuple[str, ...]:
    if word[0].isdigit():
        return (_SEPARATOR.sub("", word)[:LONGEST_TERM],)
    if _UNSPACED.search(word):
        return tuple(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return () if word in _COMMON else (stem(word[:LONGEST_TERM]),)


def _terms_of_word(word: str) -> tuple[str, ...]:
    """What one run of letters or digits is compared by; runs of usual length are remembered."""
    return _kept_terms(word) if len(word) <= LONGEST_TERM else _kept_terms.__wrapped__(word)


def terms_of_slices(text: str, slices: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The terms of each slice of a text, as `terms` gives them for it alone; the text is read once.

    >>> terms_of_slices("Revenues rose. Costs fell.", [(0, 14), (0, 26), (3, 14)])
    [['revenu', 'rose'], ['revenu', 'rose', 'cost', 'fell'], ['enue', 'rose']]
    """
    lower = text.lower()
    if len(lower) != len(text) or "\u03a3" in text:  # a letter that grows, or whose form depends on its neighbours
        return [terms(text[start:end]) for start, end in slices]
    found = list(_TERM.finditer(lower))
    starts, ends = [m.start() for m in found], [m.end() for m in found]
    read = [_terms_of_word(m.group()) for m in found]
    result = []
    for start, end in slices:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if (first and ends[first - 1] > start) or (last and ends[last - 1] > end):
            result.append(terms(text[start:end]))  # an edge within a word
        else:
            result.append(list(chain.from_iterable(read[first:last])))
    return result


class WindowRanker:
    """An inverted index over windows; a query costs what its terms' postings hold, not the number of windows."""

    def __init__(
        self,
        windows: Sequence[Window],
        options: RankingOptions | None = None,
        *,
        texts: Sequence[str] | None = None,
        read: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Index the windows by their own text, or by `texts` where something, such as a title, belongs to it.

        Args:
            windows: what is ranked.
            options: the constants of the formula.
            texts: what each window is ranked by.
            read: the terms of each window, where they are known already; nothing else is read then.
        """
        self._options = options or RankingOptions()
        self._windows = tuple(windows)
        keys = [(w.evidence_id, w.start, w.end) for w in windows]
        self._order = sorted(range(len(keys)), key=keys.__getitem__)
        self._place = {index: place for place, index in enumerate(self._order)}
        self._terms: dict[int, frozenset[str]] = {}
        self._postings: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        if read is None:
            read = [terms(text) for text in (texts if texts is not None else (w.text for w in windows))]
        self._build(read)

    def __len__(self) -> int:
        """The number of windows."""
        return len(self._windows)

    def _build(self, read: Sequence[Sequence[str]]) -> None:
        """Fill the postings, places in the canonical order, with each window's whole contribution to a query."""
        import numpy as np

        counts = [Counter(read[index]) for index in self._order]
        self._terms = {index: frozenset(count) for index, count in zip(self._order, counts, strict=True)}
        sizes = np.array([sum(c.values()) for c in counts], dtype=np.float64)
        mean = float(sizes.sum()) / max(1, len(sizes)) or 1.0
        held_back = self._options.k1 * (1 - self._options.b + self._options.b * sizes / mean)
        places: dict[str, list[int]] = {}
        for place, count in enumerate(counts):
            for term in count:
                places.setdefault(term, []).append(place)
        # One array for all postings: arrays of their own for thousands of rare terms would cost most of the time.
        often = np.array([counts[place][term] for term, found in places.items() for place in found], dtype=np.float64)
        where = np.array([place for found in places.values() for place in found], dtype=np.intp)
        idf = np.repeat([self.idf(len(found)) for found in places.values()], [len(found) for found in places.values()])
        weight = often * (self._options.k1 + 1) / (often + held_back[where]) * idf if places else often
        begin = 0
        for term, found in places.items():
            end = begin + len(found)
            self._postings[term] = (where[begin:end], weight[begin:end])
            begin = end

    def terms_of(self, index: int) -> frozenset[str]:
        """The terms of a window."""
        return self._terms[index]

    def idf(self, containing: int) -> float:
        """How much a term tells that is in this many windows; always positive."""
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
        """Indices of the `k` windows most like the claim, best first; all of them where `k` is none.

        Windows of equal score are in the order of evidence id and position, so that the order in which evidence was
        given does not matter.
        """
        import numpy as np

        if k is not None and k <= 0:
            return []
        scores = self._scores(claim)
        candidates = np.arange(len(scores))
        if k is not None and k < len(scores):
            bar = np.partition(scores, len(scores) - k)[len(scores) - k]
            above, level = np.flatnonzero(scores > bar), np.flatnonzero(scores == bar)
            candidates = np.concatenate([above, level[: k - len(above)]])
        best = candidates[np.lexsort((candidates, -scores[candidates]))]
        return [self._order[place] for place in best.tolist()]

    def rivals(self, claim: str, source: str, share: float) -> list[int]:
        """Windows of other sources whose score is at least a share of the best score of all, best first.

        None where no window shares a term with the claim.
        """
        import numpy as np

        scores = self._scores(claim)
        bar = float(scores.max(initial=0.0)) * share
        if bar <= 0:
            return []
        near = [place for place in np.flatnonzero(scores >= bar).tolist() if self._source(place) != source]
        return [self._order[place] for place in sorted(near, key=lambda place: (-scores[place], place))]

    def _source(self, place: int) -> str:
        return self._windows[self._order[place]].evidence_id

    def score(self, claim: str) -> list[float]:
        """The BM25 score of every window, in the order in which the windows were given."""
        scores = self._scores(claim).tolist()
        return [scores[self._place[index]] for index in range(len(scores))]
