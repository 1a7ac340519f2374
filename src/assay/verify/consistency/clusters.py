"""Claims of several samples put together by what they say (docs/concepts.md#self-consistency).

Two claims say the same if each entails the other, as the embedded network sees it, and their numbers and dates agree.
Cosine is not asked: "is safe" and "is not safe" lie at 0.95, and a threshold of 0.85 would put them together.

    frequency(cluster) = samples with a claim in it / k
    agree(O_i, O_j)    = 2 * |clusters of both| / (|clusters of O_i| + |clusters of O_j|)
    SC                 = 2 / (k (k - 1)) * sum over i < j of agree(O_i, O_j)

Clusters are made in the order of the claims: a claim joins the first cluster whose first claim it agrees with (the
greedy clustering of Kuhn et al. 2023, "Semantic uncertainty"). One call of the network for all pairs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

from assay.errors import InputError, VerifierError
from assay.models import PairScorer
from assay.text.dates import DateRelation, find_dates, relate_dates
from assay.text.lexicon import STOP_WORDS, find_words
from assay.text.quantities import Relation, find_quantities, relate

SAME: Final = 0.5
"""The probability of entailment, in both directions, from which two claims say the same."""
MAJORITY: Final = 0.5
"""The frequency that a consistent claim exceeds."""
MINORITY: Final = 0.3
"""The frequency from which a claim is uncertain rather than inconsistent."""
MOST_PAIRS: Final = 4_000
"""Pairs of claims that one clustering asks the network about, both directions of each."""
_RELATED: Final = 0.2
"""The share of the shorter claim's content words below which two claims are not compared."""
_SPECIAL_TOKENS: Final = 4


class Consistency(StrEnum):
    """What the samples say of one cluster."""

    CONSISTENT = "consistent"
    """More than half of the samples say it."""
    UNCERTAIN = "uncertain"
    """Some say it."""
    INCONSISTENT = "inconsistent"
    """Few do; not to be repeated."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Claims that say the same."""

    claims: tuple[str, ...]
    """In the order of the samples."""
    samples: tuple[int, ...]
    """The numbers of the samples that they come from, each once, rising."""
    frequency: float
    """The share of all samples, in (0, 1]."""
    representative: str
    """The commonest wording, of equally common ones the first."""

    @property
    def consistency(self) -> Consistency:
        """What the samples say of it."""
        if self.frequency > MAJORITY:
            return Consistency.CONSISTENT
        return Consistency.UNCERTAIN if self.frequency >= MINORITY else Consistency.INCONSISTENT


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the samples agree."""

    clusters: tuple[Cluster, ...]
    """The most frequent first, then in the order of their first claim."""
    samples: int
    score: float | None
    """SC over pairs of samples; none for fewer than two."""
    mean_frequency: float | None
    """The mean over the clusters; none without claims."""


def cluster_claims(samples: Sequence[Sequence[str]], scorer: PairScorer) -> Agreement:
    """Put the claims of several samples together.

    Args:
        samples: for each sample its claims.
        scorer: the network.

    Raises:
        InputError: there is no sample, or there are more pairs of claims than `MOST_PAIRS`.
        VerifierError: the network failed, or a claim is longer than it reads: agreement that nobody measured would
            look like disagreement.

    >>> from assay.testing import FakeScorer
    >>> found = cluster_claims([["It opened in 1990."], ["It opened in 1990."], ["It opened in 1985."]], FakeScorer())
    >>> [(c.representative, round(c.frequency, 2)) for c in found.clusters]
    [('It opened in 1990.', 0.67), ('It opened in 1985.', 0.33)]
    """
    if not samples:
        raise InputError("expected at least one sample, got none")
    texts = list(dict.fromkeys(claim for claims in samples for claim in claims))
    same = _same_pairs(texts, scorer)
    groups: list[list[str]] = []
    for text in texts:
        home = next((group for group in groups if (group[0], text) in same), None)
        if home is None:
            groups.append([text])
        else:
            home.append(text)
    clusters = [_cluster(group, samples) for group in groups]
    ordered = sorted(enumerate(clusters), key=lambda pair: (-pair[1].frequency, pair[0]))
    frequencies = [cluster.frequency for cluster in clusters]
    return Agreement(
        tuple(cluster for _, cluster in ordered),
        len(samples),
        _score(clusters, len(samples)),
        sum(frequencies) / len(frequencies) if frequencies else None,
    )


def _cluster(group: Sequence[str], samples: Sequence[Sequence[str]]) -> Cluster:
    members = set(group)
    claims = [claim for one in samples for claim in one if claim in members]
    numbers = tuple(number for number, one in enumerate(samples) if members & set(one))
    common = Counter(claims).most_common(1)[0][0]
    return Cluster(tuple(claims), numbers, len(numbers) / len(samples), common)


def _score(clusters: Sequence[Cluster], samples: int) -> float | None:
    if samples < 2:
        return None
    said = [{at for at, cluster in enumerate(clusters) if number in cluster.samples} for number in range(samples)]
    agreed = [
        2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0
        for first, second in combinations(said, 2)
    ]
    return sum(agreed) / len(agreed)


def _same_pairs(texts: Sequence[str], scorer: PairScorer) -> frozenset[tuple[str, str]]:
    """The pairs, in the order of the texts, that say the same."""
    pairs = [(a, b) for a, b in combinations(texts, 2) if related(a, b) and not values_differ(a, b)]
    if len(pairs) > MOST_PAIRS:
        raise InputError(f"expected at most {MOST_PAIRS:,} pairs of claims to compare, got {len(pairs):,}")
    likeness = same_probability(pairs, scorer)
    return frozenset(pair for pair in pairs if likeness[pair] >= SAME)


def same_probability(pairs: Sequence[tuple[str, str]], scorer: PairScorer) -> Mapping[tuple[str, str], float]:
    """For each pair the lesser of the probabilities that one entails the other, and the other the one.

    Raises:
        VerifierError: the network failed, or a pair is longer than it reads.
    """
    asked = list(dict.fromkeys(direction for a, b in pairs for direction in ((a, b), (b, a))))
    if not asked:
        return {}
    counts = scorer.count_tokens([text for pair in asked for text in pair])
    longest = max(counts[2 * at] + counts[2 * at + 1] for at in range(len(asked)))
    if longest + _SPECIAL_TOKENS > scorer.max_pair_tokens:
        raise VerifierError(
            f"two claims of a sample have {longest} tokens together and the network reads {scorer.max_pair_tokens}; "
            "split them into shorter claims"
        )
    entailed = {pair: float(row[0]) for pair, row in zip(asked, scorer.score(asked).tolist(), strict=True)}
    return {(a, b): min(entailed[a, b], entailed[b, a]) for a, b in pairs}


def related(first: str, second: str) -> bool:
    """Whether two claims share enough words to be compared; short ones always are."""
    ours, theirs = (_content(text) for text in (first, second))
    fewer = min(len(ours), len(theirs))
    return fewer < 2 or len(ours & theirs) / fewer >= _RELATED


def _content(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def values_differ(first: str, second: str) -> bool:
    """Whether two claims name numbers or dates that cannot be the same ones.

    The network passes over a digit; this does not. "14 days" and "2 weeks" are the same, 14 and 15 days are not.

    >>> values_differ("Leave lasts 14 days.", "Leave lasts 2 weeks."), values_differ("It costs $5.", "It costs $50.")
    (False, True)
    """
    dates = [[d for d in find_dates(text) if d.minute is None] for text in (first, second)]
    for mine in dates[0]:
        relations = {relate_dates(mine, other) for other in dates[1]}
        if relations and relations <= {DateRelation.DIFFERENT, DateRelation.ORDER}:
            return True
    skips = [[(d.start, d.end) for d in found] for found in dates]
    numbers = [
        [q for q in find_quantities(text) if not q.weak and not any(a < q.end and q.start < b for a, b in skip)]
        for text, skip in zip((first, second), skips, strict=True)
    ]
    for one, other in (numbers, numbers[::-1]):
        for quantity in one:
            relations_of = {relate(quantity, theirs) for theirs in other} - {Relation.INCOMPARABLE}
            if relations_of and relations_of <= {Relation.DIFFERENT}:
                return True
    return False
