"""The premises that a claim is checked against, at the three granularities of docs/concepts.md#entailment.

- sentence: the sentence most like the claim, alone: sharp where one sentence decides. Where all that would be read is
  of one source, also the best sentence of another that is nearly as much alike: sources that disagree are found so.
- passage: the window most like the claim: a sentence with its neighbours.
- document: the best sentences of all the evidence in document order as one text: lets sentences that stand far apart,
  or in different sources, support a claim only together.
- other: the best sentence of each further source, read to see whether it disagrees; no score is made of it.

How many and how long: docs/adr/0017-what-is-read-for-a-claim.md.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay._lru import LruCache
from assay.retrieve.ranking import RankingOptions, WindowRanker, terms, terms_of_slices
from assay.retrieve.windows import CountTokens, WindowOptions, cut_evidence, premise_text
from assay.schema import ClaimCandidates, Evidence, Granularity, Premise, Window

_DIGITS = re.compile("([0-9]+)")
_MOST_OTHERS = 2
"""Sentences that are read of sources of which nothing else is."""
_MOST_RIVALS = 16
_MOST_HEARD = 3
"""Sources that are read for disagreement with a claim, besides those that are read for its support."""
_SENTENCES_OF_NOTE = 2
"""Sentences that a source has at most of which something is read whatever its words."""
_FARTHEST, _MOST_FILLED = 12, 200
"""How far from a chosen sentence others are looked for, and how many are tried beyond that."""
CANDIDATE_SENTENCES = 48
"""Sentences considered for the assembled premise: several times what fits into it."""


@dataclass(frozen=True, slots=True)
class PremiseOptions:
    """How many premises a claim gets and how long they are."""

    windows: WindowOptions = field(default_factory=WindowOptions)
    ranking: RankingOptions = field(default_factory=RankingOptions)
    passages: int | None = 1
    """Windows per claim; none is all of them, so that nothing rests on the ranking."""
    sentences: int = 1
    """Single sentences per claim."""
    document_tokens: int = 224
    """Tokens of the assembled premise; 0 leaves it out."""
    other_source: float = 0.5
    """Where sentences and windows are all of one source, the best sentence of another is read too if its score is at
    least this share of the best sentence's; above 1 none is."""
    other_terms: float = 0.6
    """The best sentence of a source of which nothing is read is read too if it has at least this share of the claim's
    terms; above 1 none is. Of at most two sources."""


class EvidenceIndex:
    """Evidence cut, counted and indexed once, to be asked for every claim.

    The answers do not depend on the order in which the evidence was given: it is read in the order of the ids, numbers
    in them as numbers, so that texts that were numbered on being given stand as they were given. Safe to use from
    several threads.
    """

    def __init__(
        self, evidence: Sequence[Evidence], count_tokens: CountTokens, options: PremiseOptions | None = None
    ) -> None:
        self._options = options or PremiseOptions()
        ordered = sorted(evidence, key=lambda item: _natural(item.id))
        self._text_of = {item.id: item.text for item in ordered}
        self._cut = cut_evidence(ordered, count_tokens, self._options.windows)
        self._windows = self._ranker(self._cut.windows)
        self._sentences = self._ranker(self._cut.sentences)
        self._notes = self._short()

    def _ranker(self, windows: Sequence[Window]) -> WindowRanker:
        """A ranker that sees each window with its heading, as the network does."""
        slices: dict[str, list[tuple[int, int]]] = {}
        for window in windows:
            slices.setdefault(window.evidence_id, []).append((window.start, window.end))
        own = {name: iter(terms_of_slices(self._text_of[name], places)) for name, places in slices.items()}
        ahead = {name: terms(self._cut.heading_of[name][0]) for name in slices}
        read = [ahead[window.evidence_id] + next(own[window.evidence_id]) for window in windows]
        return WindowRanker(windows, self._options.ranking, read=read)

    def _short(self) -> dict[str, Window]:
        """The first sentence of each source that has one or two."""
        count = Counter(one.evidence_id for one in self._cut.sentences)
        first: dict[str, Window] = {}
        for one in self._cut.sentences:
            if count[one.evidence_id] <= _SENTENCES_OF_NOTE:
                first.setdefault(one.evidence_id, one)
        return first

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows, by evidence and position."""
        return self._cut.windows

    @property
    def sentences(self) -> tuple[Window, ...]:
        """All sentences, by evidence and position."""
        return self._cut.sentences

    def candidates(
        self, claim: str, *, query: str | None = None, passages: int | None = -1, sentences: int | None = None
    ) -> ClaimCandidates:
        """The premises for one claim, the most relevant of each granularity first; none where there is no evidence.

        Args:
            claim: the hypothesis.
            query: what to rank by where it is not the claim itself, for example claim and question.
            passages: how many windows, none for all; -1 takes what the options say.
            sentences: how many single sentences; none takes what the options say. One of another source may come to
                them.
        """
        query = claim if query is None else query
        count = self._options.passages if passages == -1 else passages
        alone = self._options.sentences if sentences is None else sentences
        ranked = self._sentences.top(query, max(CANDIDATE_SENTENCES, alone))
        near = self._windows.top(query, count)
        read = [self.sentences[i] for i in ranked[:alone]]
        read += self._other_sources(query, [*read, *(self.windows[i] for i in near)], ranked)
        premises = [self._premise("sentence", [sentence]) for sentence in read]
        premises += [self._premise("passage", [self.windows[i]]) for i in near]
        together = self._together(query, ranked)
        if together:
            premises.append(self._premise("document", together))
        premises += [self._premise("other", [sentence]) for sentence in self._short_sources(claim, premises, ranked)]
        return ClaimCandidates(claim=claim, premises=tuple(premises))

    def _other_sources(self, query: str, read: Sequence[Window], ranked: Sequence[int]) -> list[Window]:
        """The best sentence of up to two sources of which nothing else is read, if it is much like the claim.

        What a sentence lacks of the claim's terms may be what its source says otherwise ("in Frankfurt", not "in
        Dublin"): a rare term, without which its score is low.
        """
        already_read = {window.evidence_id for window in read}
        if len(self._text_of) == 1 or not already_read:
            return []
        rivals: list[int] = []
        if len(already_read) == 1:
            rivals += self._sentences.rivals(query, min(already_read), self._options.other_source)[:_MOST_RIVALS]
        wanted = frozenset(terms(query))
        enough = self._options.other_terms * len(wanted)
        rivals += [i for i in ranked if len(wanted & self._sentences.terms_of(i)) >= enough > 0]
        said = {window.text for window in read}
        chosen: list[Window] = []
        for index in rivals:
            window = self.sentences[index]
            if window.evidence_id not in already_read and window.text not in said and len(chosen) < _MOST_OTHERS:
                already_read.add(window.evidence_id)
                chosen.append(window)
        return chosen

    def _short_sources(self, claim: str, premises: Sequence[Premise], ranked: Sequence[int]) -> list[Window]:
        """The best sentence of each source that no premise reads alone and that has a term of the claim.

        Sources that disagree need not be worded alike: "Opening day: 11 June" denies that the fair opens on 4 June, and
        "Registered office: Linz" that the company is based in Graz. So a source of one or two sentences is read
        whatever its words, behind those with a term of the claim.
        """
        if len(self._text_of) == 1:
            return []
        alone = {min(premise.evidence_ids) for premise in premises if len(premise.evidence_ids) == 1}
        wanted = frozenset(terms(claim))
        best: dict[str, tuple[int, int, Window]] = {}
        for place, index in enumerate(ranked):
            window, shared = self.sentences[index], len(wanted & self._sentences.terms_of(index))
            if shared and window.evidence_id not in alone:
                best[window.evidence_id] = max(
                    best.get(window.evidence_id, (0, 0, window)), (shared, -place, window), key=lambda one: one[:2]
                )
        chosen = [one[2] for one in sorted(best.values(), key=lambda one: one[:2], reverse=True)]
        chosen += [note for name, note in self._notes.items() if name not in alone and name not in best]
        return chosen[:_MOST_HEARD]

    def _premise(self, granularity: Granularity, windows: Sequence[Window]) -> Premise:
        return Premise(premise_text(windows, self._cut.heading_of), granularity, tuple(windows))

    def _together(self, query: str, ranked: Sequence[int]) -> list[Window]:
        """The sentences of the assembled premise, in document order, neighbours joined.

        All of them where they fit together; else those that share a term with the query, and as many of the others as
        fit, those closest to them first: what supports a claim in other words shares no term with it.
        """
        left = self._options.document_tokens
        chosen: list[int] = []
        whole = sum(self._cut.sentence_tokens) + sum(count for _, count in self._cut.heading_of.values())
        if whole <= left:
            return self._join(self.sentences)
        headed: set[str] = set()
        said: set[tuple[str, str]] = set()
        first = _covering_first(query, {i: self._sentences.terms_of(i) for i in ranked}) or list(ranked[:1])
        for index in [*first, *self._around(first)]:
            window = self.sentences[index]
            if (window.evidence_id, window.text) in said:
                continue
            cost = self._cut.sentence_tokens[index]
            if window.evidence_id not in headed:
                cost += self._cut.heading_of[window.evidence_id][1]
            if cost <= left:
                left -= cost
                headed.add(window.evidence_id)
                said.add((window.evidence_id, window.text))
                chosen.append(index)
        return self._join([self.sentences[i] for i in sorted(chosen)])

    def _around(self, chosen: Sequence[int]) -> Iterator[int]:
        """The other sentences, by their distance from the nearest chosen one of their source, the best one's first."""
        if not chosen:
            return
        taken = set(chosen)
        for reach in range(1, _FARTHEST + 1):
            for index in chosen:
                for other in (index + reach, index - reach):
                    inside = 0 <= other < len(self.sentences) and other not in taken
                    if inside and self.sentences[other].evidence_id == self.sentences[index].evidence_id:
                        taken.add(other)
                        yield other
        yield from (i for i in range(min(len(self.sentences), _MOST_FILLED)) if i not in taken)

    def _join(self, windows: Sequence[Window]) -> list[Window]:
        """Windows that touch or overlap become one."""
        joined: list[Window] = []
        for window in windows:
            last = joined[-1] if joined else None
            if last is None or last.evidence_id != window.evidence_id:
                joined.append(window)
                continue
            text = self._text_of[window.evidence_id]
            if window.start > last.end and text[last.end : window.start].strip():
                joined.append(window)
                continue
            end = max(last.end, window.end)
            joined[-1] = Window(last.evidence_id, last.start, end, text[last.start : end])
        return joined


def _natural(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """A key that puts "2" before "10"; names that differ have keys that differ."""
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(name))
    for i in range(1, len(parts), 2):  # every second part is a number
        digits = str(parts[i]).lstrip("0")
        parts[i] = len(digits), digits
    return parts, name


def _covering_first(query: str, ranked: Mapping[int, frozenset[str]]) -> list[int]:
    """The ranked term sets that share a term with the query, first those that add one to the sets before."""
    wanted = frozenset(terms(query))
    covered: set[str] = set()
    adding: list[int] = []
    rest: list[int] = []
    for index, own in ranked.items():
        shared = wanted & own
        if shared:
            (adding if shared - covered else rest).append(index)
            covered |= shared
    return adding + rest


OVERHEAD = 500
"""Characters that an index counts for beside its text: a sentence takes 17 KB, a long text 32 bytes a character."""


class IndexCache:
    """Evidence indices kept by content, so that the same sources are cut and indexed once. Safe to share."""

    def __init__(self, max_characters: int = 4_000_000) -> None:
        """Keep indices of at most `max_characters` of evidence, taken together: about 130 MB by default."""
        self._kept = LruCache[EvidenceIndex](max_characters)

    def get(
        self,
        evidence: Sequence[Evidence],
        count_tokens: CountTokens,
        digest: str,
        options: PremiseOptions | None = None,
    ) -> EvidenceIndex:
        """The index of this evidence, kept or new.

        Args:
            evidence: in any order.
            count_tokens: the tokenizer of the model.
            digest: the model's digest, for which `count_tokens` stands.
            options: how to cut and how many premises to give.
        """
        options = options or PremiseOptions()
        key = _content_key(evidence, digest, options)
        size = OVERHEAD + sum(len(item.text) for item in evidence)
        return self._kept.get(key, lambda: EvidenceIndex(evidence, count_tokens, options), size)


def _content_key(evidence: Sequence[Evidence], digest: str, options: PremiseOptions) -> bytes:
    """A digest of all that an index depends on."""
    state = hashlib.blake2b(repr((digest, options)).encode(), digest_size=16)
    for item in sorted(evidence, key=lambda e: e.id):
        fields = (item.id, item.title, item.effective_date, len(item.text))
        state.update(repr(fields).encode("utf-8", "surrogatepass"))
        state.update(item.text.encode("utf-8", "surrogatepass"))
    return state.digest()
