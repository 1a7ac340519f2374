"""Groups texts that ask for the same thing: a cheap, deterministic clustering by shared words.

Words count by their rarity among all the texts, so that "policy" groups nothing where every question contains it. The
likeness of two texts is the weight of the words that they share divided by the weight of all their words (weighted
Jaccard index). Texts become leaders in a fixed order, and every other text joins the leader that it is most like, if
the two are like enough (leader clustering): no chains, so each member of a group is like its leader.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from assay.text.lexicon.lexemes import find_words

MIN_LIKENESS: Final = 0.4
"""The lowest likeness at which two texts are in one group."""
MAX_WORDS: Final = 48
"""The first so many different words of a text count; a question has fewer."""
MOST_CHARACTERS: Final = 4_000
"""Characters of a text that are read."""
MAX_LEADERS_PER_WORD: Final = 64
"""The most leaders that are looked up by one word; a word of more says little, and other words find them."""


def words_of(text: str) -> tuple[str, ...]:
    """The stems of the content words and numbers of a text, each once, in order.

    >>> words_of("How many weeks of leave do partners get? And weeks of sick leave?")
    ('many', 'week', 'leav', 'partner', 'get', 'sick')
    """
    found = find_words(text[:MOST_CHARACTERS]).lexemes
    stems = dict.fromkeys(word.stem for word in found if word.weight or word.digit)
    return tuple(stems)[:MAX_WORDS]


def rarity(texts: Iterable[Sequence[str]]) -> dict[str, float]:
    """The weight of each word: ln(1 + n / m) for n texts, m of which contain it; always positive.

    >>> weights = rarity([("leav", "sick"), ("leav", "parent")])
    >>> weights["leav"] < weights["sick"]
    True
    """
    read = list(texts)
    counts = Counter(word for words in read for word in set(words))
    return {word: math.log1p(len(read) / count) for word, count in counts.items()}


def likeness(one: Iterable[str], other: Iterable[str], weights: Mapping[str, float]) -> float:
    """The weight of the words that two texts share divided by the weight of all their words, in [0, 1].

    The likeness of two texts without words is 1.

    >>> likeness(("leav", "sick"), ("leav", "sick"), {"leav": 1.0, "sick": 2.0})
    1.0
    """
    first, second = set(one), set(other)
    if not first and not second:
        return 1.0
    shared = math.fsum(weights[word] for word in first & second)
    return shared / math.fsum(weights[word] for word in first | second)


def group_similar(texts: Sequence[str], like: float = MIN_LIKENESS) -> list[list[int]]:
    """The groups of similar texts, as indices into `texts`.

    Args:
        texts: the texts, in any order.
        like: the lowest likeness at which two texts are in one group, in (0, 1].

    Returns:
        Groups of indices, the largest first. The first index of a group is its leader, the text that is repeated most
        often; the others follow in order. Which texts are grouped does not depend on their order.

    >>> group_similar(["How long is sick leave?", "May dogs come in?", "how long is SICK leave", "Is tea free?"])
    [[0, 2], [1], [3]]
    """
    words = [words_of(text) for text in texts]
    places_of: dict[frozenset[str], list[int]] = {}
    for place, own in enumerate(words):
        places_of.setdefault(frozenset(own), []).append(place)
    weights = rarity(words)
    # The most frequent texts lead; ties are broken by the words themselves, never by the order of the texts.
    order = sorted(places_of, key=lambda own: (-len(places_of[own]), -len(own), sorted(own)))
    groups = _leader_groups(order, weights, like)
    found = [[place for own in group for place in places_of[own]] for group in groups]
    found = [[group[0], *sorted(group[1:])] for group in found]
    return sorted(found, key=lambda group: (-len(group), group[0]))


def _leader_groups(
    order: Sequence[frozenset[str]], weights: Mapping[str, float], like: float
) -> list[list[frozenset[str]]]:
    groups: dict[frozenset[str], list[frozenset[str]]] = {}
    leaders: dict[str, list[frozenset[str]]] = {}
    weight_of = {own: math.fsum(weights[word] for word in own) for own in order}
    for own in order:
        distinctive = _distinctive_words(own, weights, weight_of[own], like)
        candidates = {leader for word in distinctive for leader in leaders.get(word, ())[:MAX_LEADERS_PER_WORD]}
        ranked = [
            (-likeness(own, leader, weights), sorted(leader), leader)
            for leader in candidates
            if _may_be_like(own, leader, weights, weight_of[own] + weight_of[leader], like)
        ]
        share, _, best = min(ranked, default=(0.0, [], own))
        if -share >= like:
            groups[best].append(own)
            continue
        groups[own] = [own]
        for word in distinctive:
            leaders.setdefault(word, []).append(own)
    return list(groups.values())


def _distinctive_words(own: frozenset[str], weights: Mapping[str, float], total: float, like: float) -> list[str]:
    """The rarest words of a text; every text that is like it enough has at least one of them among its own.

    The words that two such texts share weigh at least `like` times all the words of each. So the rarest shared word is
    not among the most common words of either text whose weights add up to less than that.
    """
    rest, found = total, []
    for word in sorted(own, key=lambda one: (-weights[one], one)):
        if rest < like * total * (1 - _ROUNDING_ERROR):
            break
        found.append(word)
        rest -= weights[word]
    return found


def _may_be_like(
    own: frozenset[str], other: frozenset[str], weights: Mapping[str, float], both: float, like: float
) -> bool:
    """Whether two texts may be like enough; `both` is the sum of the weights of their words."""
    shared = sum(weights[word] for word in own & other)
    return shared >= like * (both - shared) * (1 - _ROUNDING_ERROR)


_ROUNDING_ERROR: Final = 1e-9
"""A relative bound on the rounding errors of sums of weights."""
