"""Evidence for a prompt: the most relevant within a budget of tokens, placed where models look.

See docs/concepts.md#position-in-the-context.

Models use what stands at the beginning and at the end of a long context better than what stands in its middle:

    attention(p) = start * exp(-p / tau_start) + end * exp(-(L - p) / tau_end) + base

for a passage at position p of a context of length L. The most relevant passage gets the place with the most attention,
the next one the next best place: by the rearrangement inequality no other order gives a larger sum of relevance times
attention.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.models.chat.reading import estimate_tokens
from assay.prompts.evidence import evidence_record
from assay.retrieve.ranking import WindowRanker
from assay.retrieve.windows import WindowOptions, cut_windows
from assay.schema import Evidence, Window

_CITABLE: Final = re.compile(r"[^\W_][\w./:-]{1,79}|\d")
_NOT_CITABLE: Final = re.compile(r"[^\w./:-]+")
RECORD_TOKENS: Final = 24
"""About what the fields of a passage cost around its text."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The constants of the formula, lengths as shares of the context.

    The published curves fall off faster behind the beginning than they rise before the end, and the beginning is the
    better place; the values say that much and no more, since they differ from model to model.
    """

    start: float = 1.0
    end: float = 0.8
    tau_start: float = 0.15
    tau_end: float = 0.2
    base: float = 0.2

    def at(self, position: float) -> float:
        """The attention at a position from 0, the beginning, to 1, the end.

        >>> Attention().at(0.0) > Attention().at(1.0) > Attention().at(0.5)
        True
        """
        rise = self.start * math.exp(-position / self.tau_start)
        return rise + self.end * math.exp(-(1 - position) / self.tau_end) + self.base


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence as a model is shown it."""

    alias: str
    """`e1`, `e2` and so on, in the order in which they are shown."""
    evidence: Evidence
    text: str
    """The part of it that is shown: all of it, or its most relevant stretches with an ellipsis between them."""
    characters: int
    """Characters of the evidence that are shown."""

    @property
    def record(self) -> dict[str, Any]:
        """What a prompt shows of it."""
        return evidence_record(self.alias, self.evidence, self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is shown."""

    passages: tuple[Passage, ...]
    """In the order in which they are shown."""
    left_out: tuple[str, ...] = ()
    """Ids of evidence that there was no room for."""

    def by_alias(self, alias: str) -> Passage | None:
        """The passage of an alias."""
        return next((passage for passage in self.passages if passage.alias == alias), None)


def citable(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence with ids that can stand in brackets in a text; ids that can already stay as they are.

    >>> [e.id for e in citable([Evidence(id="Leave policy", text=""), Evidence(id="hr-2", text="")])]
    ['Leave-policy', 'hr-2']
    """
    taken = {item.id for item in evidence if _CITABLE.fullmatch(item.id)}
    made: list[Evidence] = []
    for item in evidence:
        if _CITABLE.fullmatch(item.id):
            made.append(item)
            continue
        slug = _NOT_CITABLE.sub("-", item.id).strip("-_./:")[:60]
        slug = slug if len(slug) > 1 else f"source-{slug or 1}"
        name, number = slug, 2
        while name in taken:
            name, number = f"{slug}-{number}", number + 1
        taken.add(name)
        made.append(item.model_copy(update={"id": name}))
    return tuple(made)


def choose_evidence(
    evidence: Sequence[Evidence], question: str, budget: int, attention: Attention | None = None
) -> Context:
    """The evidence that a model is shown for a question.

    All of it where it fits into the budget, else the windows most like the question. The order in which the evidence
    was given has no effect.

    Args:
        evidence: with ids as `citable` makes them.
        question: what relevance is measured by.
        budget: tokens, as estimated, that the passages may have.
        attention: how attention falls off.
    """
    items = sorted((item for item in evidence if item.text.strip()), key=lambda item: item.id)
    windows = _windows(items)
    ranker = WindowRanker(windows, texts=[f"{_title(items, window)} {window.text}" for window in windows])
    best = ranker.top(question)
    ranked = list(dict.fromkeys(windows[index].evidence_id for index in best))
    by_id = {item.id: item for item in items}
    whole = sum(_cost(item.text) for item in items) <= budget
    shown = {item.id: [(0, len(item.text))] for item in items} if whole else _within([windows[i] for i in best], budget)
    placed = by_attention([by_id[name] for name in ranked if name in shown], attention or Attention())
    passages = tuple(_passage(number, item, shown[item.id]) for number, item in enumerate(placed, start=1))
    return Context(passages, tuple(name for name in ranked if name not in shown))


def by_attention(ranked: Sequence[Evidence], attention: Attention) -> list[Evidence]:
    """The most relevant first in rank put into the places with the most attention.

    >>> items = [Evidence(id=str(i), text="x") for i in range(1, 6)]
    >>> "".join(item.id for item in by_attention(items, Attention()))
    '14532'
    """
    last = max(1, len(ranked) - 1)
    places = sorted(range(len(ranked)), key=lambda place: (-attention.at(place / last), place))
    at = dict(zip(places, ranked, strict=True))
    return [at[place] for place in range(len(ranked))]


def _windows(items: Sequence[Evidence]) -> list[Window]:
    return cut_windows(items, lambda texts: [estimate_tokens(text) for text in texts], WindowOptions(max_tokens=160))


def _title(items: Sequence[Evidence], window: Window) -> str:
    return next((item.title or "" for item in items if item.id == window.evidence_id), "")


def _within(ranked: Sequence[Window], budget: int) -> dict[str, list[tuple[int, int]]]:
    """The stretches of each evidence that fit, the most relevant windows first."""
    shown: dict[str, list[tuple[int, int]]] = {}
    left = budget
    for window in ranked:
        cost = estimate_tokens(window.text) + (0 if window.evidence_id in shown else RECORD_TOKENS)
        if cost <= left:
            shown.setdefault(window.evidence_id, []).append((window.start, window.end))
            left -= cost
    return {name: _joined(stretches) for name, stretches in shown.items()}


def _joined(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that meet made one."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if made and start <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made


def _passage(number: int, item: Evidence, stretches: Sequence[tuple[int, int]]) -> Passage:
    pieces = [item.text[start:end] for start, end in stretches]
    text = " […] ".join(pieces)
    if stretches and stretches[0][0] > 0:
        text = f"[…] {text}"
    if stretches and stretches[-1][1] < len(item.text):
        text = f"{text} […]"
    return Passage(f"e{number}", item, text, sum(len(piece) for piece in pieces))


def _cost(text: str) -> int:
    return estimate_tokens(text) + RECORD_TOKENS
