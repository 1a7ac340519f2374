"""The simple judges that a verifier has to beat, over the same rows.

always supported    flags nothing
token overlap       the share of the claim's words, without the commonest, that are in the evidence
embedding cosine    the highest cosine between the claim and a piece of evidence of at most 100 words
exact tier alone    1 less the strongest contradiction or gap that the exact tier reports
network alone       the network's probability of entailment for the best window, uncalibrated

The last two read the signals that the guard's own run has left, so that they see the same evidence in the same windows.

A score needs a threshold before it flags anything. It is the one with the best balanced accuracy on the rows that
`--fit` names; without them it is a constant of the command, fitted in the same way on training rows where it was fitted
at all. AUROC and AUPRC do not depend on it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.stats import choose_threshold

if TYPE_CHECKING:
    from assay.evaluation.figures.sentence_embedding import SentenceEmbedder

ALWAYS: Final = "always supported"
OVERLAP: Final = "token overlap"
COSINE: Final = "embedding cosine"
EXACT: Final = "exact tier alone"
NETWORK: Final = "network alone"

_WORD: Final = re.compile(r"\w+")
_COMMON_WORDS: Final = (
    "a an and are as at be been but by do does did for from had has have he her his i in is it its of on or our "
    "she that the their them there they this to was we were will with you your"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_PIECE_WORDS: Final = 100
_EMBED_ROWS: Final = 64
_EXACT_AGAINST: Final = ("strongest_contradiction", "strongest_missing")


@dataclass(frozen=True, slots=True)
class Scored:
    """What one system says of the rows: a score of support each, none where it has none, and what it flags."""

    name: str
    scores: tuple[float | None, ...]
    flagged: tuple[bool, ...]
    threshold: float | None = None
    """The score below which it flags; none where it does not decide by a threshold."""


def words(text: str) -> list[str]:
    """The words that count for overlap: folded, without the commonest.

    >>> words("The leave is 2 weeks.")
    ['leave', '2', 'weeks']
    """
    found = _WORD.findall(text.casefold())
    return [word for word in found if word not in _COMMON] or found


def token_overlap(row: Row) -> float:
    """The share of the claim's words that stand anywhere in the evidence; 0 where the claim has no word."""
    claim = words(row.text)
    evidence = {word for piece in row.evidence for word in words(piece.text)}
    return sum(word in evidence for word in claim) / len(claim) if claim else 0.0


def cosines(rows: Sequence[Row], embedder: "SentenceEmbedder", progress: Callable[[int], None]) -> list[float]:
    """The highest cosine between each claim and a piece of its evidence; 0 without evidence."""
    found: list[float] = []
    for start in range(0, len(rows), _EMBED_ROWS):
        batch = rows[start : start + _EMBED_ROWS]
        cut = [_pieces(row) for row in batch]
        texts = sorted({row.text for row in batch} | {piece for pieces in cut for piece in pieces})
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        for row, pieces in zip(batch, cut, strict=True):
            best = max((float(np.dot(vectors[row.text], vectors[piece])) for piece in pieces), default=0.0)
            found.append(min(max(best, 0.0), 1.0))
        progress(len(batch))
    return found


def _pieces(row: Row) -> list[str]:
    pieces: list[str] = []
    for evidence in row.evidence:
        split = evidence.text.split()
        pieces.extend(" ".join(split[at : at + _PIECE_WORDS]) for at in range(0, len(split), _PIECE_WORDS))
    return pieces


def fit_threshold(scores: Sequence[float], wrong: Sequence[bool]) -> float:
    """The threshold below which flagging gives the best balanced accuracy; 0.5 where the rows are all of one sort.

    >>> fit_threshold([0.1, 0.2, 0.8, 0.9], [True, True, False, False])
    0.5
    """
    best = choose_threshold([not bad for bad in wrong], scores)
    return 0.5 if best is None else round(best[0], 6)


def decide(name: str, scores: Sequence[float | None], threshold: float) -> Scored:
    """Flags what scores below the threshold, and what has no score."""
    flagged = tuple(score is None or score < threshold for score in scores)
    return Scored(name, tuple(scores), flagged, threshold)


def always_supported(rows: int) -> Scored:
    """Flags nothing and scores all alike."""
    return Scored(ALWAYS, (1.0,) * rows, (False,) * rows)


def signal_scores(name: str, results: Sequence[Result]) -> list[float | None]:
    """The score of one tier alone, from the signals that it left; none where it left none."""
    return [SIGNALS[name](result.signals) for result in results]


def _of_exact(signals: Mapping[str, float]) -> float | None:
    found = [signals[name] for name in _EXACT_AGAINST if name in signals]
    return 1 - max(found) if found else None


def _of_network(signals: Mapping[str, float]) -> float | None:
    return signals.get("entail_max")


SIGNALS: Final[Mapping[str, Callable[[Mapping[str, float]], float | None]]] = {EXACT: _of_exact, NETWORK: _of_network}
"""The baselines that read the guard's signals."""
