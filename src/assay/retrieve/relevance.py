"""The probability that a passage is relevant to a question, from features of words and network and a fitted model.

The network was trained to recognise what supports a claim, not what a question asks for, so its probabilities are not
relevance by themselves. But it does recognise whether a passage is about a matter: it is asked whether the text says
what the question asks, and the probability of "neutral" is the feature. A logistic model turns this and the words that
both share into one calibrated probability (Platt 1999, "Probabilistic outputs for support vector machines"); its
coefficients are in `relevance.json`, with the rows that they were fitted on (`train/fit_relevance.py`). It is
calibrated for data in which half of the passages are relevant to their question.

Each passage is scored independently of the others. The cost is one pair of the network per passage.
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

QUESTION_STEMS: Final = frozenset(
    {"long", "many", "much", "tell", "explain", "please", "happen", "mean", "know", "like", "say"}
)
"""Stems that belong to the form of a question and not to its topic."""
MAX_QUESTION_LENGTH: Final = 600
"""Characters of a question that are compared; the last ones, since conversations ask at the end."""
NEAR_WORDS: Final = 6
"""Words; the greatest distance at which two words of a question count as close to each other in a passage."""
FAMILY_LETTERS: Final = 5
"""Letters; two words that share at least this prefix are of one family, such as `parent` and `parental`."""
PROBABILITY_FLOOR: Final = 0.001
WINDOW_TOKENS: Final = 64
"""Tokens of a passage that the network reads: two or three sentences with the title."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question, prepared for comparison with passages."""

    text: str
    stems: Mapping[str, float]
    """Its content stems, each with its weight."""
    pairs: frozenset[tuple[str, str]]
    """Neighbouring content stems, function words ignored."""
    names: frozenset[str]
    """Stems of capitalised words within the question, and numbers."""
    statement: str
    """The hypothesis that the network is asked about each passage."""


@lru_cache(maxsize=64)
def parse_question(question: str) -> ParsedQuestion:
    """Prepares a question; without words in it, the result is empty."""
    text = " ".join(question.split())[-MAX_QUESTION_LENGTH:]
    words = find_words(text)
    kept = [
        (word, start, end)
        for word, start, end in zip(words.lexemes, words.starts, words.ends, strict=True)
        if (word.weight or word.digit) and word.stem not in QUESTION_STEMS
    ]
    stems = {word.stem: _weight(word) for word, _, _ in kept}
    order = [word.stem for word, _, _ in kept]
    named = {word.stem for word, start, _ in kept if word.digit or (word.capital and start > 0)}
    stripped = text.rstrip("?.! ")
    statement = f"This text says {stripped[:1].lower()}{stripped[1:]}."
    return ParsedQuestion(text, stems, frozenset(pairwise(order)), frozenset(named), statement)


def _weight(word: Lexeme) -> float:
    """The weight of a word: longer words and numbers say more about the topic because they are rarer."""
    if word.digit:
        return 1.5
    return (word.weight or 1.0) * min(2.0, 0.5 + len(word.stem) / 8)


@dataclass(frozen=True, slots=True)
class WordMatch:
    """How well the words of a text match those of a question; each in [0, 1]."""

    share: float
    """The share of the question's content words, by weight, that the text contains."""
    soft: float
    """The same with words of one family counting half."""
    proximity: float
    """The share of its pairs of neighbouring words that are close to each other in the text too."""
    named: float
    """The share of its names and numbers that the text contains; 1 where it has none."""


def match_words(parsed: ParsedQuestion, stems: Sequence[str]) -> WordMatch:
    """How well a text, given as its stems in order, matches a question.

    >>> match_words(parse_question("How long is parental leave?"), ["parental", "leav", "last", "16", "week"]).share
    1.0
    """
    present = set(stems)
    total = sum(parsed.stems.values()) or 1.0
    found = {stem for stem in parsed.stems if stem in present}
    missing = [stem for stem in parsed.stems if stem not in present and len(stem) >= FAMILY_LETTERS]
    family_prefixes = {stem[:FAMILY_LETTERS] for stem in present} if missing else set()
    family_matches = {stem for stem in missing if stem[:FAMILY_LETTERS] in family_prefixes}
    share = sum(parsed.stems[stem] for stem in found) / total
    soft = share + sum(parsed.stems[stem] for stem in family_matches) / total / 2
    proximity = _proximity(parsed.pairs, stems) if parsed.pairs else share
    named = len(parsed.names & present) / len(parsed.names) if parsed.names else 1.0
    return WordMatch(share, soft, proximity, named)


def _proximity(pairs: frozenset[tuple[str, str]], stems: Sequence[str]) -> float:
    places: dict[str, list[int]] = {}
    wanted = {stem for pair in pairs for stem in pair}
    for place, stem in enumerate(stems):
        if stem in wanted:
            places.setdefault(stem, []).append(place)
    near = sum(_has_near_pair(places.get(one, ()), places.get(other, ())) for one, other in pairs)
    return near / len(pairs)


def _has_near_pair(some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether two increasing lists of positions have one each that are close; linear in their length."""
    i = j = 0
    while i < len(some) and j < len(others):
        if abs(some[i] - others[j]) <= NEAR_WORDS:
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
class BestWindow:
    """The window of a passage that matches a question best, as the network reads it."""

    window: Window
    text: str
    """The window with the passage's title and date before it."""
    best: WordMatch
    whole: WordMatch
    """The match of the whole passage with its title."""


def best_windows(question: str, passages: Sequence[Evidence], scorer: PairScorer) -> list[BestWindow | None]:
    """For each passage the window that is read for a question; none for a passage without text."""
    parsed = parse_question(question)
    room = min(WINDOW_TOKENS, scorer.max_pair_tokens - scorer.count_tokens([parsed.statement])[0] - 4)
    if room < 16:
        room = 16
    cut = cut_evidence(passages, scorer.count_tokens, WindowOptions(max_tokens=room))
    windows: dict[str, list[Window]] = {}
    for window in cut.windows:
        windows.setdefault(window.evidence_id, []).append(window)
    return [_best_window(parsed, item, windows.get(item.id, ()), cut.heading_of[item.id][0]) for item in passages]


def _best_window(parsed: ParsedQuestion, item: Evidence, windows: Sequence[Window], head: str) -> BestWindow | None:
    if not windows:
        return None
    title = stems_of(item.title or "")
    matches = [match_words(parsed, [*title, *stems_of(window.text)]) for window in windows]
    at = max(range(len(matches)), key=lambda i: (matches[i].soft, matches[i].proximity, -i))
    whole = matches[0] if len(windows) == 1 else match_words(parsed, [*title, *stems_of(item.text)])
    return BestWindow(windows[at], head + windows[at].text, matches[at], whole)


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted logistic model."""

    intercept: float
    weights: Mapping[str, float]
    digest: str

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that a passage is relevant to a question, in (0, 1)."""
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


def word_features(parsed: ParsedQuestion, best_window: BestWindow) -> dict[str, float]:
    """The word features: how well the best window and the whole passage match the question."""
    best, whole = best_window.best, best_window.whole
    return {
        "best_soft": best.soft,
        "whole_soft": whole.soft,
        "whole_together": whole.proximity,
        "whole_named": whole.named,
        "words_asked": min(len(parsed.stems), MAX_QUESTION_WORDS) / MAX_QUESTION_WORDS,
        "soft_of_few": best.soft * (len(parsed.stems) <= SHORT_QUESTION_WORDS),
    }


MAX_QUESTION_WORDS: Final = 12
"""Content words; a question of this many or more counts as long as can be."""
SHORT_QUESTION_WORDS: Final = 3
"""The most content words of a short question, in which one chance match is a third or more."""


def network_features(scores: Sequence[float]) -> dict[str, float]:
    """The network feature, from the probabilities of entailment, neutral and contradiction of one pair."""
    return {"neutral": _logit(scores[1])}


DEFAULT_SCORES: Final = (0.005, 0.99, 0.005)
"""The scores assumed for a passage without a word of the question; the network nearly always gives these."""


def _logit(probability: float) -> float:
    clamped = min(max(probability, PROBABILITY_FLOOR), 1 - PROBABILITY_FLOOR)
    return math.log(clamped / (1 - clamped))


def relevances(question: str, passages: Sequence[Evidence], scorer: PairScorer) -> list[float]:
    """For each passage the calibrated probability that it is relevant to a question; 0 for one without text.

    The network reads one window of at most `WINDOW_TOKENS` tokens of each passage that shares a word with the question.

    Raises:
        VerifierError: the network failed.
    """
    model, parsed = load_relevance(), parse_question(question)
    read = best_windows(question, passages, scorer)
    scored = network_scores(parsed, read, scorer)
    return [
        0.0 if one is None else model.probability({**word_features(parsed, one), **network_features(scores)})
        for one, scores in zip(read, scored, strict=True)
    ]


def network_scores(
    parsed: ParsedQuestion, read: Sequence[BestWindow | None], scorer: PairScorer
) -> list[Sequence[float]]:
    """The network's scores of each window, in one call; `DEFAULT_SCORES` for windows that it does not read."""
    scored: list[Sequence[float]] = [DEFAULT_SCORES] * len(read)
    pending = [(place, one.text) for place, one in enumerate(read) if one is not None and one.whole.soft > 0]
    sizes = scorer.count_tokens([f"{text} {parsed.statement}" for _, text in pending]) if pending else []
    fitting = [one for one, size in zip(pending, sizes, strict=True) if size + 4 <= scorer.max_pair_tokens]
    scores = scorer.score([(text, parsed.statement) for _, text in fitting]).tolist() if fitting else []
    for (place, _), row in zip(fitting, scores, strict=True):
        scored[place] = row
    return scored
