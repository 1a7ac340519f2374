"""Documents that share text: excerpts of one page, a premise and its edited form, one article in two sets.

A split by document means little where two documents of it are excerpts of one page, or where one claim stands beside
two wordings of one premise. Documents are kin where they share ten words in a row, or where one claim is made of both
and most of their words are the same; so are the kin of kin.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

RUN = 10
"""Words in a row that two documents must share."""
SHORT = 60
"""In documents of up to so many words every run counts; of longer ones only those that begin with a quarter of all
words (the same ones everywhere), which finds what shares a sentence or two as well."""
COMMON = 20
"""A run that stands in more documents than this is a formula, such as the head of a table, and joins none."""
ALIKE = 0.7
"""Share of the shorter document's words that the other must have, where one claim is made of both."""
SHORTEST_CLAIM = 4
"""Words; shorter claims are made of everything."""
MOST_OF_A_CLAIM = 50


def kin(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """For each pair the number of its group; the documents of two pairs are kin where the numbers are equal.

    >>> page = "the mill was built in 1820 by two brothers from the valley"
    >>> kin([(page, "a"), (page + " and burnt down", "b"), ("a mill is a house", "c")])
    [0, 0, 2]

    Args:
        pairs: document and claim, both folded: lower-case words joined by single spaces.
    """
    numbers: dict[str, int] = {}
    of_pair = [numbers.setdefault(document, len(numbers)) for document, _ in pairs]
    groups = _Groups(len(numbers))
    holders: dict[int, list[int]] = defaultdict(list)
    for document, number in numbers.items():
        for run in _runs(document.split()):
            holders[run].append(number)
    for some in holders.values():
        if 1 < len(some) <= COMMON:
            for other in some[1:]:
                groups.join(some[0], other)
    _join_by_claims(pairs, of_pair, groups)
    first: dict[int, int] = {}
    for at, number in enumerate(of_pair):
        first.setdefault(groups.find(number), at)
    return [first[groups.find(number)] for number in of_pair]


class _Groups:
    """Which numbers belong together (union by least number, with path halving)."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, number: int) -> int:
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.find(one), self.find(other)))
        self._parent[other] = one


_begins: dict[str, bool] = {}


def _begins_runs(word: str) -> bool:
    """Whether runs of long documents are taken from this word on; the same in every process."""
    known = _begins.get(word)
    if known is None:
        known = _begins[word] = zlib.crc32(word.encode()) % 4 == 0
    return known


def _runs(words: Sequence[str]) -> Iterable[int]:
    """Checksums of the runs of a document, each once."""
    every = len(words) <= SHORT
    return {
        zlib.crc32(" ".join(words[at : at + RUN]).encode())
        for at in range(len(words) - RUN + 1)
        if every or _begins_runs(words[at])
    }


def _join_by_claims(pairs: Sequence[tuple[str, str]], of_pair: Sequence[int], groups: _Groups) -> None:
    """Join documents of one claim that have most of their words in common."""
    by_claim: dict[str, set[int]] = defaultdict(set)
    texts: dict[int, str] = {}
    for (document, claim), number in zip(pairs, of_pair, strict=True):
        by_claim[claim].add(number)
        texts.setdefault(number, document)
    for claim, found in by_claim.items():
        if not 1 < len(found) <= MOST_OF_A_CLAIM or len(claim.split()) < SHORTEST_CLAIM:
            continue
        bags = [(number, set(texts[number].split())) for number in sorted(found)]
        for at, (number, bag) in enumerate(bags):
            for other, words in bags[:at]:
                least = min(len(bag), len(words))
                if least and len(bag & words) >= ALIKE * least:
                    groups.join(number, other)
