"""Cuts evidence into overlapping windows that the network can read whole, so that no part of it is left unread.

Windows begin and end at sentences where possible. A sentence longer than a window is cut between words, and a word
longer than a window between characters. Every window is a slice of its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.schema import Evidence, Window
from assay.text.sentences import split_sentences

CountTokens = Callable[[Sequence[str]], list[int]]
"""The number of tokens of each text, without special tokens, as `PairScorer.count_tokens` returns it."""
_PIECE = re.compile(r"\w{1,24}|[^\w\s]|\s+")


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """How evidence is cut."""

    max_tokens: int = 96
    """The most tokens of a window, including the title before it."""
    overlap_sentences: int = 1
    """Sentences that a window repeats from the one before, if they take at most half of it."""
    overlap_words: int = 12
    """Words that the parts of a sentence too long for a window repeat, if they take at most a quarter of it."""
    max_heading_tokens: int = 24
    """The most tokens of title and date before a window; a longer title is left out, since it is not evidence text."""

    def __post_init__(self) -> None:
        if self.max_tokens < 16 or self.overlap_sentences < 0 or self.overlap_words < 0 or self.max_heading_tokens < 0:
            raise ValueError(f"{self}: expected max_tokens of at least 16 and no negative number")


@dataclass(frozen=True, slots=True)
class CountedSpan:
    """A span of one text and the number of its tokens."""

    start: int
    end: int
    tokens: int


def heading(evidence: Evidence) -> str:
    """The title and effective date of a passage, to be read before its text; empty where neither is known.

    >>> heading(Evidence(id="hr", text="Two weeks.", title="Leave policy"))
    'Leave policy: '
    """
    date = f"(effective {evidence.effective_date.isoformat()})" if evidence.effective_date else ""
    known = " ".join(part for part in ((evidence.title or "").strip(), date) if part)
    return f"{known}: " if known else ""


def headings(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions
) -> dict[str, tuple[str, int]]:
    """By evidence id, the heading that is read before its windows and the number of its tokens."""
    texts = [heading(item) for item in evidence]
    counts = count_tokens(texts) if any(texts) else [0] * len(texts)
    limit = min(options.max_heading_tokens, options.max_tokens // 2)
    return {
        item.id: (text, count) if count <= limit else ("", 0)
        for item, text, count in zip(evidence, texts, counts, strict=True)
    }


def premise_text(windows: Iterable[Window], heading_of: Mapping[str, tuple[str, int]]) -> str:
    """Windows as the network reads them: each run of windows from one piece of evidence follows its heading."""
    parts: list[str] = []
    last: str | None = None
    for window in windows:
        if window.evidence_id != last:
            parts.append(heading_of.get(window.evidence_id, ("", 0))[0] + window.text)
        else:
            parts.append(window.text)
        last = window.evidence_id
    return " ".join(parts)


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """The text as consecutive spans, one per sentence; what is between two sentences belongs to the first."""
    starts = [0, *(s.start for s in split_sentences(text) if s.start > 0)]
    ends = [*starts[1:], len(text)]
    return [s for s in (_trim(text, a, b) for a, b in zip(starts, ends, strict=True)) if s[0] < s[1]]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    stripped = part.strip()
    if not stripped:
        return start, start
    begin = start + part.index(stripped[0])
    return begin, begin + len(stripped)


def _words(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The words between spaces; long runs of letters are cut into parts of at most 24 characters."""
    spans = [m.span() for m in _PIECE.finditer(text, start, end)]
    joined: list[tuple[int, int]] = []
    for a, b in spans:
        if text[a].isspace():
            continue
        if joined and joined[-1][1] == a and b - joined[-1][0] <= 24:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return joined


def _halve(text: str, start: int, end: int) -> list[tuple[int, int]]:
    middle = (start + end) // 2
    return [s for s in (_trim(text, start, middle), _trim(text, middle, end)) if s[0] < s[1]]


def _counted(text: str, spans: Sequence[tuple[int, int]], count_tokens: CountTokens) -> list[CountedSpan]:
    counts = count_tokens([text[a:b] for a, b in spans]) if spans else []
    return [CountedSpan(a, b, n) for (a, b), n in zip(spans, counts, strict=True)]


def _halved_to_fit(
    text: str, pieces: Iterable[CountedSpan], budget: int, count_tokens: CountTokens
) -> list[CountedSpan]:
    """The spans, halved until each is within the budget; a single character is never halved."""
    fitting: list[CountedSpan] = []
    pending = list(pieces)[::-1]
    while pending:
        piece = pending.pop()
        if piece.tokens <= budget or piece.end - piece.start <= 1:
            fitting.append(piece)
        else:
            halves = _halve(text, piece.start, piece.end)
            pending.extend(_counted(text, halves, count_tokens)[::-1])
    return fitting


def _runs_within_budget(
    pieces: Sequence[CountedSpan], budget: int, overlap: int, overlap_tokens: int
) -> list[tuple[int, int]]:
    """Runs of consecutive spans within the budget; each begins with the last `overlap` spans of the one before.

    Fewer are repeated if they would have more than `overlap_tokens` tokens or leave no room for the next span. Every
    run reaches further than the one before, so that there are no more runs than spans.
    """
    runs: list[tuple[int, int]] = []
    first = 0
    while first < len(pieces):
        last, used = first, pieces[first].tokens
        while last + 1 < len(pieces) and used + pieces[last + 1].tokens <= budget:
            last += 1
            used += pieces[last].tokens
        runs.append((first, last))
        if last + 1 == len(pieces):
            break
        first = _next_first(pieces, first, last, overlap, min(overlap_tokens, budget - pieces[last + 1].tokens))
    return runs


def _next_first(pieces: Sequence[CountedSpan], first: int, last: int, overlap: int, room: int) -> int:
    """Where the next run begins: at most `overlap` spans and `room` tokens before the span after `last`."""
    begin = last + 1
    while begin > max(first + 1, last + 1 - overlap) and pieces[begin - 1].tokens <= room:
        begin -= 1
        room -= pieces[begin].tokens
    return begin


def sentence_pieces(text: str, count_tokens: CountTokens, budget: int, options: WindowOptions) -> list[CountedSpan]:
    """The sentences of a text in order; those over the budget are cut into overlapping parts between words."""
    result: list[CountedSpan] = []
    for piece in _counted(text, _sentence_spans(text), count_tokens):
        if piece.tokens <= budget:
            result.append(piece)
            continue
        words = _halved_to_fit(
            text, _counted(text, _words(text, piece.start, piece.end), count_tokens), budget, count_tokens
        )
        runs = _runs_within_budget(words, budget, options.overlap_words, budget // 4)
        parts = _counted(text, [(words[a].start, words[b].end) for a, b in runs], count_tokens)
        # Tokens may merge across two words, so a part may exceed the budget again; then it is halved.
        result.extend(_halved_to_fit(text, parts, budget, count_tokens))
    return result


@dataclass(frozen=True, slots=True)
class CutEvidence:
    """Evidence cut into windows and into sentences, both in the order of the evidence passed in."""

    windows: tuple[Window, ...]
    sentences: tuple[Window, ...]
    sentence_tokens: tuple[int, ...]
    """The tokens of each of the sentences."""
    heading_of: Mapping[str, tuple[str, int]]
    """By evidence id, the heading that is read before its windows and the number of its tokens."""


def cut_evidence(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions | None = None
) -> CutEvidence:
    """Cut all of the evidence into sentences, and group the sentences into overlapping windows.

    Every character but spaces is in at least one window and at least one sentence, and no window with its heading has
    more than `max_tokens` tokens. Cost and number of windows are linear in the length of the evidence.
    """
    options = options or WindowOptions()
    heading_of = headings(evidence, count_tokens, options)
    windows: list[Window] = []
    sentences: list[Window] = []
    tokens: list[int] = []
    for item in evidence:
        budget = options.max_tokens - heading_of[item.id][1]
        pieces = sentence_pieces(item.text, count_tokens, budget, options)
        runs = _runs_within_budget(pieces, budget, options.overlap_sentences, budget // 2)
        counted_runs = _counted(item.text, [(pieces[a].start, pieces[b].end) for a, b in runs], count_tokens)
        windows.extend(_window(item, piece) for piece in _halved_to_fit(item.text, counted_runs, budget, count_tokens))
        sentences.extend(_window(item, piece) for piece in pieces)
        tokens.extend(piece.tokens for piece in pieces)
    return CutEvidence(tuple(windows), tuple(sentences), tuple(tokens), heading_of)


def _window(item: Evidence, piece: CountedSpan) -> Window:
    return Window(evidence_id=item.id, start=piece.start, end=piece.end, text=item.text[piece.start : piece.end])


def cut_windows(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions | None = None
) -> list[Window]:
    """The windows of `cut_evidence`."""
    return list(cut_evidence(evidence, count_tokens, options).windows)
