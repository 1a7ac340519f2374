"""Groups of texts that ask for the same thing: a cheap and deterministic clustering over the words that texts share.

Words count by how rare they are among all the texts, so that "policy" joins nothing where every question has it. Two
texts are as like as the weight of the words that they share is of the weight of all their words (weighted Jaccard).
Texts become leaders in a fixed order, and every other text joins the leader that it is most like, if it is like it
enough: no chains, so that each member of a group is like its leader.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from assay.text.lexicon.lexemes import find_words

LIKE: Final = 0.4
"""From this likeness on two texts are in one group."""
MOST_WORDS: Final = 48
"""Different words of a text that count, the first ones: a question has fewer."""
MOST_CHARACTERS: Final = 4_000
"""Characters of a text that are read."""
COMMON: Final = 64
"""Leaders that are found by one word at most; a word of more of them tells little, and others find them."""


def words_of(text: str) -> tuple[str, ...]:
    """The stems of the words that carry a text, each once, in order.

    >>> words_of("How many weeks of leave do partners get? And weeks of sick leave?")
    ('many', 'week', 'leav', 'partner', 'get', 'sick')
    """
    found = find_words(text[:MOST_CHARACTERS]).lexemes
    stems = dict.fromkeys(word.stem for word in found if word.weight or word.digit)
    return tuple(stems)[:MOST_WORDS]


def rarity(texts: Iterable[Sequence[str]]) -> dict[str, float]:
    """The weight of each word: ln(1 + n / (texts that have it)), positive for every word.

    >>> weights = rarity([("leav", "sick"), ("leav", "parent")])
    >>> weights["leav"] < weights["sick"]
    True
    """
    read = list(texts)
    counts = Counter(word for words in read for word in set(words))
    return {word: math.log1p(len(read) / count) for word, count in counts.items()}


def likeness(one: Iterable[str], other: Iterable[str], weights: Mapping[str, float]) -> float:
    """The weight of the words that two texts share, as a share of the weight of all their words, in [0, 1].

    Two texts without words are alike.

    >>> likeness(("leav", "sick"), ("leav", "sick"), {"leav": 1.0, "sick": 2.0})
    1.0
    """
    first, second = set(one), set(other)
    if not first and not second:
        return 1.0
    shared = math.fsum(weights[word] for word in first & second)
    return shared / math.fsum(weights[word] for word in first | second)


def group_similar(texts: Sequence[str], like: float = LIKE) -> list[list[int]]:
    """The groups of texts, by their places.

    Args:
        texts: the texts, in any order.
        like: the likeness from which two texts are in one group, in (0, 1].

    Returns:
        Groups of places, larger ones first. The first of a group is its leader, the text that most others repeat; the
        others follow in order. Which texts stand together does not depend on their order.

    >>> group_similar(["How long is sick leave?", "May dogs come to the office?", "how long is SICK leave", "Is tea free?"])
    [[0, 2], [1], [3]]
    """
    words = [words_of(text) for text in texts]
    same: dict[frozenset[str], list[int]] = {}
    for place, own in enumerate(words):
        same.setdefault(frozenset(own), []).append(place)
    weights = rarity(words)
    # What is asked most leads; ties are settled by the words themselves, never by the order of the texts.
    order = sorted(same, key=lambda own: (-len(same[own]), -len(own), sorted(own)))
    groups = _led(order, weights, like)
    found = [[place for own in group for place in same[own]] for group in groups]
    found = [[group[0], *sorted(group[1:])] for group in found]
    return sorted(found, key=lambda group: (-len(group), group[0]))


def _led(order: Sequence[frozenset[str]], weights: Mapping[str, float], like: float) -> list[list[frozenset[str]]]:
    groups: dict[frozenset[str], list[frozenset[str]]] = {}
    leaders: dict[str, list[frozenset[str]]] = {}
    whole = {own: math.fsum(weights[word] for word in own) for own in order}
    for own in order:
        telling = _telling(own, weights, whole[own], like)
        near = {leader for word in telling for leader in leaders.get(word, ())[:COMMON]}
        ranked = [
            (-likeness(own, leader, weights), sorted(leader), leader)
            for leader in near
            if _may_be_like(own, leader, weights, whole[own] + whole[leader], like)
        ]
        share, _, best = min(ranked, default=(0.0, [], own))
        if -share >= like:
            groups[best].append(own)
            continue
        groups[own] = [own]
        for word in telling:
            leaders.setdefault(word, []).append(own)
    return list(groups.values())


def _telling(own: frozenset[str], weights: Mapping[str, float], whole: float, like: float) -> list[str]:
    """The rarest words of a text, of which any text that is like it enough has at least one among its own.

    What two such texts share weighs at least `like` times all the words of each. So the rarest word that they share is
    not among the commonest ones of either that weigh less than that together.
    """
    rest, found = whole, []
    for word in sorted(own, key=lambda one: (-weights[one], one)):
        if rest < like * whole * (1 - _ROUNDED):
            break
        found.append(word)
        rest -= weights[word]
    return found


def _may_be_like(
    own: frozenset[str], other: frozenset[str], weights: Mapping[str, float], both: float, like: float
) -> bool:
    """Whether it is worth working out how like two texts are; `both` is the weight of the words of each, added up."""
    shared = sum(weights[word] for word in own & other)
    return shared >= like * (both - shared) * (1 - _ROUNDED)


_ROUNDED: Final = 1e-9
"""More than sums of weights lose by being rounded."""
