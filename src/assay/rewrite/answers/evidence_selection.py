"""Evidence for a prompt: the most relevant passages within a token budget, in the positions that models attend to most.

See docs/concepts.md#position-in-the-context.

Models use the beginning and the end of a long context better than its middle:

    attention(p) = start * exp(-p / tau_start) + end * exp(-(L - p) / tau_end) + base

for a passage at position p of a context of length L. The most relevant passage gets the position with the most
attention, the next one the next best position: by the rearrangement inequality no other order gives a larger sum of
relevance times attention.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.models.chat import estimate_tokens
from assay.prompts import evidence_record
from assay.retrieve import WindowOptions, WindowRanker, cut_windows
from assay.schema import Evidence, Window
from assay.text.sentences import split_sentences

_CITABLE: Final = re.compile(r"[^\W_][\w./:-]{1,79}|\d")
_NOT_CITABLE: Final = re.compile(r"[^\w./:-]+")
MOST_STATEMENTS, LONGEST_STATEMENT = 6, 300
"""The most statements of sources that are checked against the other sources before a model is asked, and the most
characters of one."""
RECORD_TOKENS: Final = 24
"""The estimated tokens of a passage's record in addition to its text."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The constants of the formula, with lengths as shares of the context.

    The published curves fall faster after the beginning than they rise towards the end, and the beginning is the better
    position. The values express no more than that, since the curves differ from model to model.
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
class PromptPassage:
    """A piece of evidence as it is shown to a model."""

    alias: str
    """`e1`, `e2` and so on, in the order in which they are shown."""
    evidence: Evidence
    text: str
    """The part of it that is shown: the whole text, or its most relevant excerpts joined by ellipses."""
    characters: int
    """The number of characters of the evidence that are shown."""
    contradicted_by: tuple[tuple[str, str, str], ...] = ()
    """The passages that contradict it: alias, what this passage says, and what the other one says."""
    replaced_by: str | None = None
    """The alias of the passage that supersedes it; empty where it is out of use for another reason."""

    @property
    def record(self) -> dict[str, Any]:
        """The record of the passage in a prompt."""
        record = evidence_record(self.alias, self.evidence, self.text)
        if self.contradicted_by:
            record["contradicted_by"] = [
                {"id": alias, "here": here, "there": there} for alias, here, there in self.contradicted_by
            ]
        if self.replaced_by is not None:
            record["out_of_use"] = {"replaced_by": self.replaced_by} if self.replaced_by else True
        return record


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a model is shown."""

    passages: tuple[PromptPassage, ...]
    """In the order in which they are shown."""
    left_out: tuple[str, ...] = ()
    """Ids of evidence that did not fit."""

    def by_alias(self, alias: str) -> PromptPassage | None:
        """The passage with an alias; None if there is no such passage."""
        return next((passage for passage in self.passages if passage.alias == alias), None)


def statements_on(question: str, evidence: Sequence[Evidence], most: int = MOST_STATEMENTS) -> tuple[str, ...]:
    """The sentence of each source that is most similar to a question, the most similar first.

    These are the statements that other sources may contradict. Rows of tables and records do not count as sentences.
    """
    windows = [
        Window(item.id, place.start, place.end, text)
        for item in evidence
        for place in split_sentences(item.text)
        for text in (item.text[place.start : place.end],)
        if text.rstrip().endswith((".", "!")) and "\n" not in text.strip() and len(text) <= LONGEST_STATEMENT
    ]
    best: dict[str, str] = {}
    for index in WindowRanker(windows).top(question) if windows else ():
        best.setdefault(windows[index].evidence_id, windows[index].text.strip())
    return tuple(best.values())[:most]


def _contradicted_by(
    contradictions: Sequence[tuple[tuple[str, str], tuple[str, str]]], alias: Mapping[str, str]
) -> dict[str, list[tuple[str, str, str]]]:
    """By the id of a source that is shown: the alias of each other one that contradicts it, and both statements."""
    against: dict[str, list[tuple[str, str, str]]] = {}
    for first, second in contradictions:
        for (mine, here), (theirs, there) in ((first, second), (second, first)):
            if mine in alias and theirs in alias and (alias[theirs], here, there) not in against.get(mine, ()):
                against.setdefault(mine, []).append((alias[theirs], here, there))
    return against


def with_source_status(
    context: PromptContext,
    contradictions: Sequence[tuple[tuple[str, str], tuple[str, str]]],
    superseded: Mapping[str, str],
) -> PromptContext:
    """The context with a note on each passage that others contradict, or that is out of use.

    Args:
        context: the passages that a model is shown.
        contradictions: pairs of contradicting statements, each with the id of its source.
        superseded: the ids of sources that are out of use, each with the id of its replacement, or an empty text.
    """
    alias = {passage.evidence.id: passage.alias for passage in context.passages}
    against = _contradicted_by(contradictions, alias)
    passages = tuple(
        replace(
            passage,
            contradicted_by=tuple(against.get(passage.evidence.id, ())),
            replaced_by=alias.get(superseded[passage.evidence.id], "") if passage.evidence.id in superseded else None,
        )
        for passage in context.passages
    )
    return replace(context, passages=passages)


def citable(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence with ids that can be written in brackets in a text; ids that already can are kept.

    >>> [e.id for e in citable([Evidence(id="Leave policy", text=""), Evidence(id="hr-2", text="")])]
    ['Leave-policy', 'hr-2']
    """
    taken = {item.id for item in evidence if _CITABLE.fullmatch(item.id)}
    items: list[Evidence] = []
    for item in evidence:
        if _CITABLE.fullmatch(item.id):
            items.append(item)
            continue
        slug = _NOT_CITABLE.sub("-", item.id).strip("-_./:")[:60]
        slug = slug if len(slug) > 1 else f"source-{slug or 1}"
        name, number = slug, 2
        while name in taken:
            name, number = f"{slug}-{number}", number + 1
        taken.add(name)
        items.append(item.model_copy(update={"id": name}))
    return tuple(items)


def choose_evidence(
    evidence: Sequence[Evidence], question: str, budget: int, attention: Attention | None = None
) -> PromptContext:
    """The evidence that a model is shown for a question.

    It is all of the evidence if that fits into the budget, otherwise the windows most similar to the question. The
    order in which the evidence is given has no effect.

    Args:
        evidence: the evidence, with ids as `citable` makes them.
        question: the text that relevance is measured against.
        budget: the estimated tokens that the passages may take.
        attention: the attention of models by position.
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
    return PromptContext(passages, tuple(name for name in ranked if name not in shown))


def by_attention(ranked: Sequence[Evidence], attention: Attention) -> list[Evidence]:
    """Puts evidence that is ranked by relevance into the positions with the most attention.

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
    """The parts of each piece of evidence that fit into the budget, the most relevant windows first."""
    shown: dict[str, list[tuple[int, int]]] = {}
    left = budget
    for window in ranked:
        cost = estimate_tokens(window.text) + (0 if window.evidence_id in shown else RECORD_TOKENS)
        if cost <= left:
            shown.setdefault(window.evidence_id, []).append((window.start, window.end))
            left -= cost
    return {name: _joined(stretches) for name, stretches in shown.items()}


def _joined(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, with adjacent ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _passage(number: int, item: Evidence, stretches: Sequence[tuple[int, int]]) -> PromptPassage:
    pieces = [item.text[start:end] for start, end in stretches]
    text = " […] ".join(pieces)
    if stretches and stretches[0][0] > 0:
        text = f"[…] {text}"
    if stretches and stretches[-1][1] < len(item.text):
        text = f"{text} […]"
    return PromptPassage(f"e{number}", item, text, sum(len(piece) for piece in pieces))


def _cost(text: str) -> int:
    return estimate_tokens(text) + RECORD_TOKENS
