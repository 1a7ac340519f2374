"""Simple baselines that a verifier has to beat on the same rows.

always supported    flags nothing
token overlap       the share of the claim's words, without the commonest, that are in the evidence
embedding cosine    the highest cosine between the claim and a piece of evidence of at most 100 words
exact tier alone    1 less the strongest contradiction or gap that the exact tier reports
network alone       the network's probability of entailment for the best window, uncalibrated

The last two read signals of the guard's own run, so that they see the same evidence in the same windows.

The threshold below which a score is flagged is the one with the best balanced accuracy on the rows of `--fit`; without
such rows it is a constant of the command, most of them fitted in the same way on training rows. AUROC and AUPRC do not
depend on it.
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
_ROWS_PER_EMBEDDING: Final = 64
_EXACT_SIGNALS: Final = ("strongest_contradiction", "strongest_missing")


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The output of one system on the rows: for each a score of support, if it has one, and whether it is flagged."""

    name: str
    scores: tuple[float | None, ...]
    flagged: tuple[bool, ...]
    threshold: float | None = None
    """The score below which a row is flagged; none if the system does not decide by a threshold."""


def content_words(text: str) -> list[str]:
    """The words that count for overlap: case-folded, without the commonest.

    >>> content_words("The leave is 2 weeks.")
    ['leave', '2', 'weeks']
    """
    all_words = _WORD.findall(text.casefold())
    return [word for word in all_words if word not in _COMMON] or all_words


def token_overlap(row: Row) -> float:
    """The share of the claim's words that occur anywhere in the evidence; 0 if the claim has no word."""
    claim = content_words(row.text)
    evidence = {word for piece in row.evidence for word in content_words(piece.text)}
    return sum(word in evidence for word in claim) / len(claim) if claim else 0.0


def cosines(rows: Sequence[Row], embedder: "SentenceEmbedder", progress: Callable[[int], None]) -> list[float]:
    """The highest cosine between each claim and a piece of its evidence; 0 without evidence."""
    scores: list[float] = []
    for start in range(0, len(rows), _ROWS_PER_EMBEDDING):
        batch = rows[start : start + _ROWS_PER_EMBEDDING]
        cut = [_pieces(row) for row in batch]
        texts = sorted({row.text for row in batch} | {piece for pieces in cut for piece in pieces})
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        for row, pieces in zip(batch, cut, strict=True):
            best = max((float(np.dot(vectors[row.text], vectors[piece])) for piece in pieces), default=0.0)
            scores.append(min(max(best, 0.0), 1.0))
        progress(len(batch))
    return scores


def _pieces(row: Row) -> list[str]:
    pieces: list[str] = []
    for evidence in row.evidence:
        split = evidence.text.split()
        pieces.extend(" ".join(split[at : at + _PIECE_WORDS]) for at in range(0, len(split), _PIECE_WORDS))
    return pieces


def fit_threshold(scores: Sequence[float], wrong: Sequence[bool]) -> float:
    """The threshold below which flagging gives the best balanced accuracy; 0.5 if the rows are all right or all wrong.

    >>> fit_threshold([0.1, 0.2, 0.8, 0.9], [True, True, False, False])
    0.5
    """
    best = choose_threshold([not is_wrong for is_wrong in wrong], scores)
    return 0.5 if best is None else round(best[0], 6)


def decide(name: str, scores: Sequence[float | None], threshold: float) -> SystemScores:
    """Flags the rows that score below the threshold, and those without a score."""
    flagged = tuple(score is None or score < threshold for score in scores)
    return SystemScores(name, tuple(scores), flagged, threshold)


def always_supported(rows: int) -> SystemScores:
    """A system that flags nothing and gives every row the same score."""
    return SystemScores(ALWAYS, (1.0,) * rows, (False,) * rows)


def signal_scores(name: str, results: Sequence[Result]) -> list[float | None]:
    """The score of one tier alone, from its signals in the results; none where it left none."""
    return [SIGNALS[name](result.signals) for result in results]


def _exact_score(signals: Mapping[str, float]) -> float | None:
    strengths = [signals[name] for name in _EXACT_SIGNALS if name in signals]
    return 1 - max(strengths) if strengths else None


def _network_score(signals: Mapping[str, float]) -> float | None:
    return signals.get("entail_max")


SIGNALS: Final[Mapping[str, Callable[[Mapping[str, float]], float | None]]] = {
    EXACT: _exact_score,
    NETWORK: _network_score,
}
"""The baselines that read the guard's signals."""
