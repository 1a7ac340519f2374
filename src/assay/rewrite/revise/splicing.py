"""Merges a new version of a text into the old one so that only failed sentences change.

Both versions are split into sentences. Passed sentences that occur unchanged in the new version are anchors; between
two anchors the author's text replaces the failed sentences. A passed sentence that was changed or left out is restored
if its place is certain. If it is not, because the text in its place might be the correction of a failed sentence, the
version is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from rapidfuzz import fuzz

from assay.errors import InputError
from assay.schema import Span, TextChange
from assay.text.sentences import split_sentences

ALIKE: Final = 60.0
"""The similarity, in [0, 100], from which a sentence counts as a changed form of another."""
MOST_ALIGNED: Final = 200
"""The most sentences between two anchors that are aligned by similarity; with more the version is refused."""
MOST_COMPARED: Final = 4_000
"""The most words between the first and the last difference of two texts that are compared word by word; beyond that
everything in between counts as one change."""

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence of a text."""

    start: int
    end: int
    failed: bool
    """Whether it may change."""


@dataclass(frozen=True, slots=True)
class Spliced:
    """A new version in which all passed sentences are unchanged."""

    text: str
    restored: int = 0
    """Passed sentences that were restored."""
    dropped: int = 0
    """New sentences that were dropped because nothing had failed in their place."""


def parts_of(text: str, failed: Sequence[Span]) -> tuple[Part, ...]:
    """The sentences of a text; those that overlap a failed place may change.

    >>> [part.failed for part in parts_of("It is red. It is big.", [Span(start=0, end=5)])]
    [True, False]
    """
    marks = bytearray(len(text) + 1)
    for span in failed:
        end = min(max(span.end, span.start + 1), len(marks))  # an empty place counts as the character after it
        marks[span.start : end] = b"\1" * max(0, end - span.start)
    return tuple(Part(s.start, s.end, marks.find(1, s.start, s.end) >= 0) for s in split_sentences(text))


def splice(old: str, parts: Sequence[Part], new: str) -> Spliced | None:
    """The new version with all passed sentences restored; None if that is not safe.

    >>> text = "The hall is red. The roof is flat."
    >>> splice(text, parts_of(text, [Span(start=0, end=16)]), "The hall is blue. The roof is quite flat.").text
    'The hall is blue. The roof is flat.'
    """
    if all(part.failed for part in parts):
        return Spliced(new.strip())
    written = _Version(new, tuple((s.start, s.end) for s in split_sentences(new)))
    at = _anchors([None if part.failed else old[part.start : part.end] for part in parts], written.sentences)
    edges = [(-1, -1), *at, (len(parts), len(written.places))]
    replaced: dict[int, str] = {}
    restored = dropped = 0
    for (i, j), (next_i, next_j) in pairwise(edges):
        gap = _fill(old, parts, range(i + 1, next_i), written, range(j + 1, next_j))
        if gap is None:
            return None
        replaced |= gap.replaced
        restored += gap.restored
        dropped += gap.dropped
    return Spliced(_rebuilt(old, parts, replaced), restored, dropped)


def replace_parts(old: str, parts: Sequence[Part], replacements: Mapping[int, str]) -> Spliced:
    """The text with failed sentences replaced by number, from 1; an empty replacement removes the sentence.

    Raises:
        InputError: a number does not belong to a failed sentence.
    """
    numbers = [i for i, part in enumerate(parts) if part.failed]
    replaced: dict[int, str] = {i: old[parts[i].start : parts[i].end] for i in numbers}
    for number, text in replacements.items():
        if not isinstance(number, int) or not 1 <= number <= len(numbers) or not isinstance(text, str):
            raise InputError(
                f"replacements are texts for the sentences 1 to {len(numbers)}, got {text!r:.60} for {number!r:.20}"
            )
        replaced[numbers[number - 1]] = text.strip()
    return Spliced(_rebuilt(old, parts, replaced))


@dataclass(frozen=True, slots=True)
class _Version:
    """A new version and the places of its sentences."""

    text: str
    places: tuple[tuple[int, int], ...]

    @property
    def sentences(self) -> list[str]:
        return [self.text[start:end] for start, end in self.places]

    def words(self, some: range) -> str:
        """The text of consecutive sentences, including what is between them."""
        return self.text[self.places[some[0]][0] : self.places[some[-1]][1]] if some else ""


@dataclass(frozen=True, slots=True)
class _Gap:
    replaced: dict[int, str]
    restored: int
    dropped: int


def _anchors(old: Sequence[str | None], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indices of the passed sentences that are unchanged in the new version, in order."""
    # Failed sentences match nothing, since each is a distinct object.
    keys: list[object] = [text if text is not None else object() for text in old]
    matcher = SequenceMatcher(None, keys, list(new), autojunk=False)
    return [(i + k, j + k) for i, j, size in matcher.get_matching_blocks() for k in range(size)]


def _fill(old: str, parts: Sequence[Part], gap: range, new: _Version, news: range) -> _Gap | None:
    """The replacements of the failed sentences between two anchors; None if they are ambiguous."""
    failed = [i for i in gap if parts[i].failed]
    kept = len(gap) - len(failed)
    if not failed:
        return _Gap({}, kept, max(0, len(news) - kept))
    if not kept:
        return _Gap(_replaced(failed, new.words(news)), 0, 0)
    if not news:
        return _Gap(dict.fromkeys(failed, ""), kept, 0)
    if max(len(gap), len(news)) > MOST_ALIGNED:
        return None
    pairs = _aligned([old[parts[i].start : parts[i].end] for i in gap], [new.words(range(j, j + 1)) for j in news])
    at = [(gap[i], news[j]) for i, j in pairs if not parts[gap[i]].failed]
    if len(at) < kept and len(news) > len(at) and not _all_paired(pairs, len(news)):
        return None
    return _between(parts, gap, new, news, at, pairs, kept)


def _replaced(failed: Sequence[int], words: str) -> dict[int, str]:
    """One text that replaces several sentences: it takes the place of the first, and the others are removed."""
    return {i: words if i == failed[0] else "" for i in failed}


def _all_paired(pairs: Sequence[tuple[int, int]], number: int) -> bool:
    return len({j for _, j in pairs}) == number


def _between(
    parts: Sequence[Part],
    gap: range,
    new: _Version,
    news: range,
    at: Sequence[tuple[int, int]],
    pairs: Sequence[tuple[int, int]],
    kept: int,
) -> _Gap | None:
    """The replacements of the failed sentences between sentences that are restored; None if they are ambiguous."""
    replaced: dict[int, str] = {}
    dropped = 0
    edges = [(gap.start - 1, news.start - 1), *at, (gap.stop, news.stop)]
    for (i, j), (next_i, next_j) in pairwise(edges):
        failed = [k for k in range(i + 1, next_i) if parts[k].failed]
        written = range(j + 1, next_j)
        if not failed:
            dropped += len(written)
            continue
        lost = any(not parts[k].failed for k in range(failed[0], failed[-1]))
        if not lost:
            replaced |= _replaced(failed, new.words(written))
            continue
        own = {gap[a]: news[b] for a, b in pairs}
        if any(w not in own.values() for w in written):
            return None  # a passed sentence between them was left out, so the new text may belong to either side
        replaced |= {k: new.words(range(own[k], own[k] + 1)) if k in own else "" for k in failed}
    return _Gap(replaced, kept, dropped)


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of similar sentences, in order on both sides, with the greatest total similarity."""
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    like = [[score if (score := fuzz.ratio(a, b)) >= ALIKE else 0.0 for b in new] for a in old]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            both = like[i][j] + best[i + 1][j + 1] if like[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], both)
    pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if like[i][j] and best[i][j] == like[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _rebuilt(old: str, parts: Sequence[Part], replaced: Mapping[int, str]) -> str:
    """The old text with some sentences replaced; a removed sentence takes the space before it along."""
    pieces: list[str] = []
    at = 0
    for i, part in enumerate(parts):
        words = replaced.get(i, old[part.start : part.end])
        gap = old[at : part.start]
        at = part.end
        if words:
            pieces += [gap if pieces else (gap if i == 0 else ""), words]
    return "".join(pieces) + old[at:] if pieces else ""


def changes_between(old: str, new: str) -> tuple[TextChange, ...]:
    """Where two texts differ, word by word.

    >>> [(c.before, c.after) for c in changes_between("It is red.", "It is blue.")]
    [('red', 'blue')]
    """
    if old == new:
        return ()
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest = min(len(a), len(b)) - first
    last = next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)
    mine, theirs = a[first : len(a) - last], b[first : len(b) - last]
    start = sum(map(len, a[:first]))
    if max(len(mine), len(theirs)) > MOST_COMPARED:
        before = "".join(mine)
        return (TextChange(start=start, end=start + len(before), before=before, after="".join(theirs)),)
    offsets = [start]
    for word in mine:
        offsets.append(offsets[-1] + len(word))
    return tuple(
        TextChange(start=offsets[i], end=offsets[end_i], before="".join(mine[i:end_i]), after="".join(theirs[j:end_j]))
        for tag, i, end_i, j, end_j in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
        if tag != "equal"
    )
