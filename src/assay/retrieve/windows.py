"""Evidence cut into overlapping windows that the network can read whole, so that no part of it goes unseen.

Windows begin and end at sentences where they can. A sentence longer than a window is cut between words, and a word
longer than a window between characters. Every window is a slice of its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.schema import Evidence, Window
from assay.text.sentences import split_sentences

CountTokens = Callable[[Sequence[str]], list[int]]
"""The number of tokens of each text, without special tokens, as `PairScorer.count_tokens` gives it."""
_PIECE = re.compile(r"\w{1,24}|[^\w\s]|\s+")


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """How evidence is cut."""

    max_tokens: int = 96
    """Tokens of a window at most, the title in front of it included."""
    overlap_sentences: int = 1
    """Sentences that a window repeats from the one before, where they take at most half of it."""
    overlap_words: int = 12
    """Words that the parts of a sentence too long for a window repeat, where they take at most a quarter of it."""
    max_heading_tokens: int = 24
    """Tokens of title and date in front of a window; a longer title is left out there, being no evidence text."""

    def __post_init__(self) -> None:
        if self.max_tokens < 16 or self.overlap_sentences < 0 or self.overlap_words < 0 or self.max_heading_tokens < 0:
            raise ValueError(f"{self}: expected max_tokens of at least 16 and no negative number")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text and the number of its tokens."""

    start: int
    end: int
    tokens: int


def heading(evidence: Evidence) -> str:
    """What the reader of a passage must know of it: title and effective date, empty where neither is known.

    >>> heading(Evidence(id="hr", text="Two weeks.", title="Leave policy"))
    'Leave policy: '
    """
    date = f"(effective {evidence.effective_date.isoformat()})" if evidence.effective_date else ""
    known = " ".join(part for part in ((evidence.title or "").strip(), date) if part)
    return f"{known}: " if known else ""


def headings(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions
) -> dict[str, tuple[str, int]]:
    """By evidence id the heading that is read in front of its windows, and its tokens."""
    texts = [heading(item) for item in evidence]
    counts = count_tokens(texts) if any(texts) else [0] * len(texts)
    limit = min(options.max_heading_tokens, options.max_tokens // 2)
    return {
        item.id: (text, count) if count <= limit else ("", 0)
        for item, text, count in zip(evidence, texts, counts, strict=True)
    }


def premise_text(windows: Iterable[Window], heading_of: Mapping[str, tuple[str, int]]) -> str:
    """Windows as the network reads them: each run of one evidence has its heading in front."""
    parts: list[str] = []
    last: str | None = None
    for window in windows:
        if window.evidence_id != last:
            parts.append(heading_of.get(window.evidence_id, ("", 0))[0] + window.text)
        else:
            parts.append(window.text)
        last = window.evidence_id
    return " ".join(parts)


def _stretches(text: str) -> list[tuple[int, int]]:
    """The text as consecutive stretches, one a sentence; what lies between sentences belongs to the one before."""
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
    """Words between spaces, those with long runs of letters cut into parts of at most 24 characters."""
    found = [m.span() for m in _PIECE.finditer(text, start, end)]
    joined: list[tuple[int, int]] = []
    for a, b in found:
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


def _count(text: str, spans: Sequence[tuple[int, int]], count_tokens: CountTokens) -> list[Piece]:
    counts = count_tokens([text[a:b] for a, b in spans]) if spans else []
    return [Piece(a, b, n) for (a, b), n in zip(spans, counts, strict=True)]


def _fitting(text: str, pieces: Iterable[Piece], budget: int, count_tokens: CountTokens) -> list[Piece]:
    """The pieces, halved until each is within the budget; a single character always passes."""
    done: list[Piece] = []
    waiting = list(pieces)[::-1]
    while waiting:
        piece = waiting.pop()
        if piece.tokens <= budget or piece.end - piece.start <= 1:
            done.append(piece)
        else:
            halves = _halve(text, piece.start, piece.end)
            waiting.extend(_count(text, halves, count_tokens)[::-1])
    return done


def _group(pieces: Sequence[Piece], budget: int, overlap: int, overlap_tokens: int) -> list[tuple[int, int]]:
    """Runs of consecutive pieces within the budget; each begins with the last `overlap` pieces of the one before.

    Fewer are repeated where they would have more than `overlap_tokens` tokens or leave no room for the next piece.

    Every run reaches further than the one before, so that there are no more runs than pieces.
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


def _next_first(pieces: Sequence[Piece], first: int, last: int, overlap: int, room: int) -> int:
    """Where the next run begins: at most `overlap` pieces and `room` tokens before the piece after `last`."""
    begin = last + 1
    while begin > max(first + 1, last + 1 - overlap) and pieces[begin - 1].tokens <= room:
        begin -= 1
        room -= pieces[begin].tokens
    return begin


def sentence_pieces(text: str, count_tokens: CountTokens, budget: int, options: WindowOptions) -> list[Piece]:
    """The sentences of a text in order; those over the budget are cut between words into overlapping parts."""
    result: list[Piece] = []
    for piece in _count(text, _stretches(text), count_tokens):
        if piece.tokens <= budget:
            result.append(piece)
            continue
        words = _fitting(text, _count(text, _words(text, piece.start, piece.end), count_tokens), budget, count_tokens)
        runs = _group(words, budget, options.overlap_words, budget // 4)
        parts = _count(text, [(words[a].start, words[b].end) for a, b in runs], count_tokens)
        # A tokenizer may join over the seam of two words: what grew over the budget is halved.
        result.extend(_fitting(text, parts, budget, count_tokens))
    return result


@dataclass(frozen=True, slots=True)
class CutEvidence:
    """Evidence in windows and in sentences, each in the order in which the evidence was given."""

    windows: tuple[Window, ...]
    sentences: tuple[Window, ...]
    sentence_tokens: tuple[int, ...]
    """The tokens of each of the sentences."""
    heading_of: Mapping[str, tuple[str, int]]
    """By evidence id what is read in front of its windows, and its tokens."""


def cut_evidence(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions | None = None
) -> CutEvidence:
    """Cut all of the evidence into sentences, and the sentences into overlapping windows.

    Every character that is no space is in at least one window and at least one sentence, and no window with its
    heading has more than `max_tokens` tokens. Cost and number of windows are linear in the length of the evidence.
    """
    options = options or WindowOptions()
    heading_of = headings(evidence, count_tokens, options)
    windows: list[Window] = []
    sentences: list[Window] = []
    tokens: list[int] = []
    for item in evidence:
        budget = options.max_tokens - heading_of[item.id][1]
        pieces = sentence_pieces(item.text, count_tokens, budget, options)
        runs = _group(pieces, budget, options.overlap_sentences, budget // 2)
        whole = _count(item.text, [(pieces[a].start, pieces[b].end) for a, b in runs], count_tokens)
        windows.extend(_slice(item, piece) for piece in _fitting(item.text, whole, budget, count_tokens))
        sentences.extend(_slice(item, piece) for piece in pieces)
        tokens.extend(piece.tokens for piece in pieces)
    return CutEvidence(tuple(windows), tuple(sentences), tuple(tokens), heading_of)


def _slice(item: Evidence, piece: Piece) -> Window:
    return Window(evidence_id=item.id, start=piece.start, end=piece.end, text=item.text[piece.start : piece.end])


def cut_windows(
    evidence: Sequence[Evidence], count_tokens: CountTokens, options: WindowOptions | None = None
) -> list[Window]:
    """The windows of `cut_evidence`."""
    return list(cut_evidence(evidence, count_tokens, options).windows)
