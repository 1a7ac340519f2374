"""How likely it is that a passage bears on a question: features of the words and of the network, and a fitted model.

The network was trained to tell what supports a claim, not what a question asks for, and its probabilities are no
relevance by themselves. What it does know is whether a passage says anything of a matter: it is asked whether the text
says what the question asks, and how surely it calls that neutral counts. A logistic model makes one calibrated
probability of that and of the words that both have (Platt 1999, "Probabilistic outputs for support vector machines");
its coefficients are in `relevance.json`, with the rows that they were fitted on (`train/fit_relevance.py`). It is
calibrated where half of the passages bear on their question.

A passage is scored by itself: which other ones come with it changes nothing. Cost is one pair of the network a passage.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

from assay.errors import VerifierError
from assay.models import PairScorer
from assay.retrieve.windows import WindowOptions, cut_evidence
from assay.schema import Evidence, Window
from assay.text.lexicon import Lexeme, find_words

ASKING: Final = frozenset(
    {"long", "many", "much", "tell", "explain", "please", "happen", "mean", "know", "like", "say"}
)
"""Stems that belong to asking and not to what is asked about."""
LONGEST_QUESTION: Final = 600
"""Characters of a question that are compared; its end is kept, where conversations ask."""
NEAR: Final = 6
"""Words within which two words of a question count as standing together in a passage."""
COMMON_BEGINNING: Final = 5
"""Letters that two words begin with alike to be of one family, as `parent` and `parental`."""
FLOOR: Final = 0.001
STRETCH_TOKENS: Final = 64
"""Tokens of what the network reads of a passage: two or three sentences, the title included."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as passages are compared with it."""

    text: str
    stems: Mapping[str, float]
    """Its content stems, each with its weight."""
    pairs: frozenset[tuple[str, str]]
    """Content stems that stand next to each other, function words passed over."""
    names: frozenset[str]
    """Stems of what begins with a capital inside the question, and numbers."""
    statement: str
    """What the network is asked of a passage."""


@lru_cache(maxsize=64)
def asked_of(question: str) -> Asked:
    """What passages are compared with; empty where the question has no words."""
    text = " ".join(question.split())[-LONGEST_QUESTION:]
    words = find_words(text)
    kept = [
        (word, start, end)
        for word, start, end in zip(words.lexemes, words.starts, words.ends, strict=True)
        if (word.weight or word.digit) and word.stem not in ASKING
    ]
    stems = {word.stem: _weight(word) for word, _, _ in kept}
    order = [word.stem for word, _, _ in kept]
    named = {word.stem for word, start, _ in kept if word.digit or (word.capital and start > 0)}
    stripped = text.rstrip("?.! ")
    statement = f"This text says {stripped[:1].lower()}{stripped[1:]}."
    return Asked(text, stems, frozenset(pairwise(order)), frozenset(named), statement)


def _weight(word: Lexeme) -> float:
    """Longer words and numbers tell more of what is asked: they are rarer."""
    if word.digit:
        return 1.5
    return (word.weight or 1.0) * min(2.0, 0.5 + len(word.stem) / 8)


@dataclass(frozen=True, slots=True)
class Matched:
    """How the words of a stretch of text meet those of a question, each in [0, 1]."""

    share: float
    """The share of the question's content, by weight, that is there."""
    soft: float
    """The same where words of one family count as half."""
    together: float
    """The share of its neighbouring words that stand near each other there too."""
    named: float
    """The share of its names and numbers that is there; 1 where it has none."""


def matched(asked: Asked, stems: Sequence[str]) -> Matched:
    """How a text, as its stems in order, meets a question.

    >>> matched(asked_of("How long is parental leave?"), ["parental", "leav", "last", "16", "week"]).share
    1.0
    """
    there = set(stems)
    total = sum(asked.stems.values()) or 1.0
    found = {stem for stem in asked.stems if stem in there}
    missing = [stem for stem in asked.stems if stem not in there and len(stem) >= COMMON_BEGINNING]
    beginnings = {stem[:COMMON_BEGINNING] for stem in there} if missing else set()
    kin = {stem for stem in missing if stem[:COMMON_BEGINNING] in beginnings}
    share = sum(asked.stems[stem] for stem in found) / total
    soft = share + sum(asked.stems[stem] for stem in kin) / total / 2
    together = _together(asked.pairs, stems) if asked.pairs else share
    named = len(asked.names & there) / len(asked.names) if asked.names else 1.0
    return Matched(share, soft, together, named)


def _together(pairs: frozenset[tuple[str, str]], stems: Sequence[str]) -> float:
    places: dict[str, list[int]] = {}
    wanted = {stem for pair in pairs for stem in pair}
    for place, stem in enumerate(stems):
        if stem in wanted:
            places.setdefault(stem, []).append(place)
    near = sum(_near(places.get(one, ()), places.get(other, ())) for one, other in pairs)
    return near / len(pairs)


def _near(some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether two rising lists have a place each that lie near each other; linear in their length."""
    i = j = 0
    while i < len(some) and j < len(others):
        if abs(some[i] - others[j]) <= NEAR:
            return True
        if some[i] < others[j]:
            i += 1
        else:
            j += 1
    return False


def stems_of(text: str) -> list[str]:
    """The stems of the content words and numbers of a text, in order."""
    return [word.stem for word in find_words(text).lexemes if word.weight or word.digit]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a passage that meets a question best, as the network reads it."""

    window: Window
    text: str
    """With the passage's title and date in front."""
    best: Matched
    whole: Matched
    """Of the whole passage, title included."""


def stretches(question: str, passages: Sequence[Evidence], scorer: PairScorer) -> list[Stretch | None]:
    """For each passage the stretch that is read for a question; none for a passage that says nothing."""
    asked = asked_of(question)
    room = min(STRETCH_TOKENS, scorer.max_pair_tokens - scorer.count_tokens([asked.statement])[0] - 4)
    if room < 16:
        room = 16
    cut = cut_evidence(passages, scorer.count_tokens, WindowOptions(max_tokens=room))
    windows: dict[str, list[Window]] = {}
    for window in cut.windows:
        windows.setdefault(window.evidence_id, []).append(window)
    return [_stretch(asked, item, windows.get(item.id, ()), cut.heading_of[item.id][0]) for item in passages]


def _stretch(asked: Asked, item: Evidence, windows: Sequence[Window], head: str) -> Stretch | None:
    if not windows:
        return None
    title = stems_of(item.title or "")
    met = [matched(asked, [*title, *stems_of(window.text)]) for window in windows]
    at = max(range(len(met)), key=lambda i: (met[i].soft, met[i].together, -i))
    whole = met[0] if len(windows) == 1 else matched(asked, [*title, *stems_of(item.text)])
    return Stretch(windows[at], head + windows[at].text, met[at], whole)


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted model."""

    intercept: float
    weights: Mapping[str, float]
    digest: str

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that a passage bears on a question, in (0, 1)."""
        value = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))


@lru_cache(maxsize=1)
def load_relevance() -> RelevanceModel:
    """The model that ships with the package.

    Raises:
        VerifierError: its file cannot be read.
    """
    text = files("assay.retrieve").joinpath("relevance.json").read_text(encoding="utf-8")
    try:
        raw: Mapping[str, Any] = json.loads(text)
        return RelevanceModel(raw["intercept"], raw["weights"], hashlib.sha256(text.encode()).hexdigest())
    except (KeyError, TypeError, ValueError) as error:
        raise VerifierError(f"relevance.json cannot be read: {error}; install the package again") from error


def word_features(asked: Asked, stretch: Stretch) -> dict[str, float]:
    """The features of words: how the question meets the best stretch of a passage, and all of it."""
    best, whole = stretch.best, stretch.whole
    return {
        "best_soft": best.soft,
        "whole_soft": whole.soft,
        "whole_together": whole.together,
        "whole_named": whole.named,
        "words_asked": min(len(asked.stems), MOST_ASKED) / MOST_ASKED,
        "soft_of_few": best.soft * (len(asked.stems) <= FEW),
    }


MOST_ASKED: Final = 12
"""Content words of a question that count for its length."""
FEW: Final = 3
"""Content words of a short question: of three words one that is met by chance is a third."""


def network_features(scores: Sequence[float]) -> dict[str, float]:
    """What the network makes of one pair: entailment, neutral and contradiction."""
    return {"neutral": _logit(scores[1])}


UNASKED: Final = (0.005, 0.99, 0.005)
"""What stands for the network's word on a passage that shares no word with the question: nearly always it is that."""


def _logit(probability: float) -> float:
    held = min(max(probability, FLOOR), 1 - FLOOR)
    return math.log(held / (1 - held))


def relevances(question: str, passages: Sequence[Evidence], scorer: PairScorer) -> list[float]:
    """For each passage the calibrated probability that it bears on a question; 0 for one that says nothing.

    The network reads one stretch of at most `STRETCH_TOKENS` tokens of each passage that shares a word with the
    question.

    Raises:
        VerifierError: the network failed.
    """
    model, asked = load_relevance(), asked_of(question)
    read = stretches(question, passages, scorer)
    scored = readings(asked, read, scorer)
    return [
        0.0 if one is None else model.probability({**word_features(asked, one), **network_features(scores)})
        for one, scores in zip(read, scored, strict=True)
    ]


def readings(asked: Asked, read: Sequence[Stretch | None], scorer: PairScorer) -> list[Sequence[float]]:
    """What the network says of each stretch, in one call; `UNASKED` of those that it is not asked about."""
    scored: list[Sequence[float]] = [UNASKED] * len(read)
    open_ = [(place, one.text) for place, one in enumerate(read) if one is not None and one.whole.soft > 0]
    sizes = scorer.count_tokens([f"{text} {asked.statement}" for _, text in open_]) if open_ else []
    fitting = [one for one, size in zip(open_, sizes, strict=True) if size + 4 <= scorer.max_pair_tokens]
    scores = scorer.score([(text, asked.statement) for _, text in fitting]).tolist() if fitting else []
    for (place, _), row in zip(fitting, scores, strict=True):
        scored[place] = row
    return scored
