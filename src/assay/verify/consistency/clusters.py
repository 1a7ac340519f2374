"""Clusters the claims of several samples by meaning (docs/concepts.md#self-consistency).

Two claims mean the same if the embedded network finds that each entails the other, and their numbers and dates agree.
Cosine similarity is not used: "is safe" and "is not safe" have 0.95, so a threshold of 0.85 would join them.

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
"""The least probability of entailment, in both directions, of two claims that mean the same."""
MAJORITY: Final = 0.5
"""A cluster above this frequency is consistent."""
MINORITY: Final = 0.3
"""A cluster from this frequency on is uncertain rather than inconsistent."""
MOST_PAIRS: Final = 4_000
"""The most pairs of claims that one clustering scores, each in both directions."""
_RELATED: Final = 0.2
"""Two claims that share less than this share of the shorter claim's content words are not compared."""
_SPECIAL_TOKENS: Final = 4
"""Special tokens that a pair of texts costs the network at most."""


class Consistency(StrEnum):
    """How many of the samples contain the claims of a cluster."""

    CONSISTENT = "consistent"
    """More than half."""
    UNCERTAIN = "uncertain"
    """At least `MINORITY`, at most half."""
    INCONSISTENT = "inconsistent"
    """Fewer than `MINORITY`; the claim should not be repeated."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Claims that mean the same."""

    claims: tuple[str, ...]
    """In the order of the samples."""
    samples: tuple[int, ...]
    """The indices of the samples that contain them, each once, ascending."""
    frequency: float
    """The share of all samples, in (0, 1]."""
    representative: str
    """The commonest wording; of equally common ones, the first."""

    @property
    def consistency(self) -> Consistency:
        """The class of the frequency."""
        if self.frequency > MAJORITY:
            return Consistency.CONSISTENT
        return Consistency.UNCERTAIN if self.frequency >= MINORITY else Consistency.INCONSISTENT


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the samples agree."""

    clusters: tuple[Cluster, ...]
    """The most frequent first; equally frequent ones in the order of their first claim."""
    samples: int
    """The number of samples."""
    score: float | None
    """SC over all pairs of samples, in [0, 1]; none for fewer than two samples."""
    mean_frequency: float | None
    """The mean over the clusters; none without claims."""


def cluster_claims(samples: Sequence[Sequence[str]], scorer: PairScorer) -> Agreement:
    """Cluster the claims of several samples by meaning.

    Args:
        samples: the claims of each sample.
        scorer: the network.

    Raises:
        InputError: there is no sample, or there are more pairs of claims than `MOST_PAIRS`.
        VerifierError: the network failed, or a pair is longer than the network can read: agreement that was not
            measured would look like disagreement.

    >>> from assay.testing import FakeScorer
    >>> found = cluster_claims([["It opened in 1990."], ["It opened in 1990."], ["It opened in 1985."]], FakeScorer())
    >>> [(c.representative, round(c.frequency, 2)) for c in found.clusters]
    [('It opened in 1990.', 0.67), ('It opened in 1985.', 0.33)]
    """
    if not samples:
        raise InputError("expected at least one sample, got none")
    texts = list(dict.fromkeys(claim for claims in samples for claim in claims))
    equivalent_pairs = _equivalent_pairs(texts, scorer)
    groups: list[list[str]] = []
    for text in texts:
        home = next((group for group in groups if (group[0], text) in equivalent_pairs), None)
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
    claims = [claim for sample in samples for claim in sample if claim in members]
    indices = tuple(index for index, sample in enumerate(samples) if members & set(sample))
    commonest = Counter(claims).most_common(1)[0][0]
    return Cluster(tuple(claims), indices, len(indices) / len(samples), commonest)


def _score(clusters: Sequence[Cluster], samples: int) -> float | None:
    if samples < 2:
        return None
    clusters_of_samples = [
        {index for index, cluster in enumerate(clusters) if number in cluster.samples} for number in range(samples)
    ]
    agreements = [
        2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0
        for first, second in combinations(clusters_of_samples, 2)
    ]
    return sum(agreements) / len(agreements)


def _equivalent_pairs(texts: Sequence[str], scorer: PairScorer) -> frozenset[tuple[str, str]]:
    """The pairs that mean the same, each in the order of the texts."""
    pairs = [(a, b) for a, b in combinations(texts, 2) if related(a, b) and not values_differ(a, b)]
    if len(pairs) > MOST_PAIRS:
        raise InputError(f"expected at most {MOST_PAIRS:,} pairs of claims to compare, got {len(pairs):,}")
    probabilities = same_probability(pairs, scorer)
    return frozenset(pair for pair in pairs if probabilities[pair] >= SAME)


def same_probability(pairs: Sequence[tuple[str, str]], scorer: PairScorer) -> Mapping[tuple[str, str], float]:
    """For each pair, the smaller of the two probabilities that one claim entails the other.

    Raises:
        VerifierError: the network failed, or a pair is longer than the network can read.
    """
    directions = list(dict.fromkeys(direction for a, b in pairs for direction in ((a, b), (b, a))))
    if not directions:
        return {}
    counts = scorer.count_tokens([text for pair in directions for text in pair])
    longest = max(counts[2 * index] + counts[2 * index + 1] for index in range(len(directions)))
    if longest + _SPECIAL_TOKENS > scorer.max_pair_tokens:
        raise VerifierError(
            f"two claims of a sample have {longest} tokens together and the network reads {scorer.max_pair_tokens}; "
            "split them into shorter claims"
        )
    entailed = {pair: float(row[0]) for pair, row in zip(directions, scorer.score(directions).tolist(), strict=True)}
    return {(a, b): min(entailed[a, b], entailed[b, a]) for a, b in pairs}


def related(first: str, second: str) -> bool:
    """Whether two claims share enough content words to be compared; claims with fewer than two always are."""
    first_words, second_words = (_content(text) for text in (first, second))
    fewer = min(len(first_words), len(second_words))
    return fewer < 2 or len(first_words & second_words) / fewer >= _RELATED


def _content(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def values_differ(first: str, second: str) -> bool:
    """Whether two claims contain numbers or dates that cannot be equal.

    The network overlooks a changed digit; this does not. "14 days" equals "2 weeks", but not "15 days".

    >>> values_differ("Leave lasts 14 days.", "Leave lasts 2 weeks."), values_differ("It costs $5.", "It costs $50.")
    (False, True)
    """
    dates = [[d for d in find_dates(text) if d.minute is None] for text in (first, second)]
    for date in dates[0]:
        relations = {relate_dates(date, other) for other in dates[1]}
        if relations and relations <= {DateRelation.DIFFERENT, DateRelation.ORDER}:
            return True
    date_spans = [[(d.start, d.end) for d in spans] for spans in dates]
    numbers = [
        [q for q in find_quantities(text) if not q.weak and not any(a < q.end and q.start < b for a, b in skip)]
        for text, skip in zip((first, second), date_spans, strict=True)
    ]
    for own, other in (numbers, numbers[::-1]):
        for quantity in own:
            relations_of = {relate(quantity, theirs) for theirs in other} - {Relation.INCOMPARABLE}
            if relations_of and relations_of <= {Relation.DIFFERENT}:
                return True
    return False
