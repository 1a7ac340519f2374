"""The premises that a claim is checked against, at the three granularities of docs/concepts.md#entailment.

- sentence: the single sentence most like the claim, which is precise where one sentence decides. If everything else is
  from one source, also the best sentence of another source that is nearly as much like it, to find disagreement.
- passage: the window most like the claim: a sentence with its neighbours.
- document: the best sentences of all the evidence, in document order, as one text, so that sentences that are far apart
  or in different sources can support a claim together.
- other: the best sentence of each further source, which is only read for disagreement and contributes no score.

docs/adr/0017-what-is-read-for-a-claim.md gives their numbers and lengths.
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
_MAX_OTHER_SOURCES = 2
"""The most sentences from sources of which nothing else is read."""
_MAX_RIVALS = 16
_MAX_DISAGREEING_SOURCES = 3
"""The most sources that are read only for disagreement with a claim."""
_SHORT_SOURCE_SENTENCES = 2
"""The most sentences of a source that is read whatever its words are."""
_MAX_DISTANCE, _MAX_FILLERS = 12, 200
"""Sentences: the greatest distance from a chosen one at which others are added, and how many are tried beyond it."""
CANDIDATE_SENTENCES = 48
"""The sentences considered for the assembled premise, several times as many as fit into it."""


@dataclass(frozen=True, slots=True)
class PremiseOptions:
    """How many premises a claim gets and how long they are."""

    windows: WindowOptions = field(default_factory=WindowOptions)
    ranking: RankingOptions = field(default_factory=RankingOptions)
    passages: int | None = 1
    """Windows per claim; none reads all of them, so that nothing depends on the ranking."""
    sentences: int = 1
    """Single sentences per claim."""
    document_tokens: int = 224
    """Tokens of the assembled premise; 0 leaves it out."""
    other_source: float = 0.5
    """If all sentences and windows are from one source, the best sentence of another is read too if its score is at
    least this share of the best sentence's; above 1, none is."""
    other_terms: float = 0.6
    """The best sentence of a source of which nothing is read is read too if it contains at least this share of the
    claim's terms; above 1, none is. At most two sources."""


class EvidenceIndex:
    """Evidence that is cut, counted and indexed once and then queried for every claim.

    The results do not depend on the order of the evidence: it is read in the natural order of its ids, so that texts
    that were numbered on input keep their order. Safe to use from several threads.
    """

    def __init__(
        self, evidence: Sequence[Evidence], count_tokens: CountTokens, options: PremiseOptions | None = None
    ) -> None:
        self._options = options or PremiseOptions()
        ordered = sorted(evidence, key=lambda item: _natural_sort_key(item.id))
        self._text_of = {item.id: item.text for item in ordered}
        self._cut = cut_evidence(ordered, count_tokens, self._options.windows)
        self._windows = self._ranker(self._cut.windows)
        self._sentences = self._ranker(self._cut.sentences)
        self._short_source_sentences = self._first_of_short_sources()

    def _ranker(self, windows: Sequence[Window]) -> WindowRanker:
        """A ranker that sees each window with its heading, as the network does."""
        slices: dict[str, list[tuple[int, int]]] = {}
        for window in windows:
            slices.setdefault(window.evidence_id, []).append((window.start, window.end))
        window_term_lists = {
            name: iter(terms_of_slices(self._text_of[name], places)) for name, places in slices.items()
        }
        heading_terms = {name: terms(self._cut.heading_of[name][0]) for name in slices}
        window_terms = [
            heading_terms[window.evidence_id] + next(window_term_lists[window.evidence_id]) for window in windows
        ]
        return WindowRanker(windows, self._options.ranking, window_terms=window_terms)

    def _first_of_short_sources(self) -> dict[str, Window]:
        """The first sentence of each source that has one or two."""
        count = Counter(one.evidence_id for one in self._cut.sentences)
        first: dict[str, Window] = {}
        for one in self._cut.sentences:
            if count[one.evidence_id] <= _SHORT_SOURCE_SENTENCES:
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
        """The premises for one claim, the most relevant of each granularity first; empty without evidence.

        Args:
            claim: the hypothesis.
            query: the text to rank by, if not the claim itself, for example claim and question.
            passages: the number of windows, none for all; -1 is the number in the options.
            sentences: the number of single sentences; none is the number in the options. One of another source may be
                added.
        """
        query = claim if query is None else query
        count = self._options.passages if passages == -1 else passages
        sentence_count = self._options.sentences if sentences is None else sentences
        ranked = self._sentences.top(query, max(CANDIDATE_SENTENCES, sentence_count))
        nearest = self._windows.top(query, count)
        read_windows = [self.sentences[i] for i in ranked[:sentence_count]]
        read_windows += self._other_sources(query, [*read_windows, *(self.windows[i] for i in nearest)], ranked)
        premises = [self._premise("sentence", [sentence]) for sentence in read_windows]
        premises += [self._premise("passage", [self.windows[i]]) for i in nearest]
        assembled = self._assembled(query, ranked)
        if assembled:
            premises.append(self._premise("document", assembled))
        premises += [
            self._premise("other", [sentence]) for sentence in self._disagreeing_candidates(claim, premises, ranked)
        ]
        return ClaimCandidates(claim=claim, premises=tuple(premises))

    def _other_sources(self, query: str, read_windows: Sequence[Window], ranked: Sequence[int]) -> list[Window]:
        """The best sentence of up to two sources of which nothing else is read, if it is much like the claim.

        The claim's term that such a sentence lacks may be the one that its source contradicts ("in Frankfurt", not "in
        Dublin"): a rare term, without which the score is low.
        """
        already_read = {window.evidence_id for window in read_windows}
        if len(self._text_of) == 1 or not already_read:
            return []
        rivals: list[int] = []
        if len(already_read) == 1:
            rivals += self._sentences.rivals(query, min(already_read), self._options.other_source)[:_MAX_RIVALS]
        query_terms = frozenset(terms(query))
        enough = self._options.other_terms * len(query_terms)
        rivals += [i for i in ranked if len(query_terms & self._sentences.terms_of(i)) >= enough > 0]
        read_texts = {window.text for window in read_windows}
        chosen: list[Window] = []
        for index in rivals:
            window = self.sentences[index]
            if (
                window.evidence_id not in already_read
                and window.text not in read_texts
                and len(chosen) < _MAX_OTHER_SOURCES
            ):
                already_read.add(window.evidence_id)
                chosen.append(window)
        return chosen

    def _disagreeing_candidates(self, claim: str, premises: Sequence[Premise], ranked: Sequence[int]) -> list[Window]:
        """The best sentence of each source that no premise reads by itself and that has a term of the claim.

        A source that disagrees need not use the claim's words: "Opening day: 11 June" denies that the fair opens on 4
        June, and "Registered office: Linz" that the company is based in Graz. So a source of one or two sentences is
        read whatever its words, after those with a term of the claim.
        """
        if len(self._text_of) == 1:
            return []
        read_alone = {min(premise.evidence_ids) for premise in premises if len(premise.evidence_ids) == 1}
        query_terms = frozenset(terms(claim))
        best: dict[str, tuple[int, int, Window]] = {}
        for place, index in enumerate(ranked):
            window, shared = self.sentences[index], len(query_terms & self._sentences.terms_of(index))
            if shared and window.evidence_id not in read_alone:
                best[window.evidence_id] = max(
                    best.get(window.evidence_id, (0, 0, window)), (shared, -place, window), key=lambda one: one[:2]
                )
        chosen = [one[2] for one in sorted(best.values(), key=lambda one: one[:2], reverse=True)]
        chosen += [
            sentence
            for name, sentence in self._short_source_sentences.items()
            if name not in read_alone and name not in best
        ]
        return chosen[:_MAX_DISAGREEING_SOURCES]

    def _premise(self, granularity: Granularity, windows: Sequence[Window]) -> Premise:
        return Premise(premise_text(windows, self._cut.heading_of), granularity, tuple(windows))

    def _assembled(self, query: str, ranked: Sequence[int]) -> list[Window]:
        """The sentences of the assembled premise, in document order, with neighbours joined.

        All sentences if they fit; otherwise those that share a term with the query and as many others as fit, the
        closest to them first, because a sentence that supports a claim in other words shares no term with it.
        """
        tokens_left = self._options.document_tokens
        chosen: list[int] = []
        total_tokens = sum(self._cut.sentence_tokens) + sum(count for _, count in self._cut.heading_of.values())
        if total_tokens <= tokens_left:
            return self._join(self.sentences)
        with_heading: set[str] = set()
        read_texts: set[tuple[str, str]] = set()
        first = _covering_first(query, {i: self._sentences.terms_of(i) for i in ranked}) or list(ranked[:1])
        for index in [*first, *self._by_distance(first)]:
            window = self.sentences[index]
            if (window.evidence_id, window.text) in read_texts:
                continue
            cost = self._cut.sentence_tokens[index]
            if window.evidence_id not in with_heading:
                cost += self._cut.heading_of[window.evidence_id][1]
            if cost <= tokens_left:
                tokens_left -= cost
                with_heading.add(window.evidence_id)
                read_texts.add((window.evidence_id, window.text))
                chosen.append(index)
        return self._join([self.sentences[i] for i in sorted(chosen)])

    def _by_distance(self, chosen: Sequence[int]) -> Iterator[int]:
        """The other sentences, by distance from the nearest chosen one in their source, around the best one first."""
        if not chosen:
            return
        taken = set(chosen)
        for reach in range(1, _MAX_DISTANCE + 1):
            for index in chosen:
                for other in (index + reach, index - reach):
                    inside = 0 <= other < len(self.sentences) and other not in taken
                    if inside and self.sentences[other].evidence_id == self.sentences[index].evidence_id:
                        taken.add(other)
                        yield other
        yield from (i for i in range(min(len(self.sentences), _MAX_FILLERS)) if i not in taken)

    def _join(self, windows: Sequence[Window]) -> list[Window]:
        """The windows, with those that touch or overlap merged."""
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


def _natural_sort_key(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """A sort key that puts "2" before "10"; different names have different keys."""
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(name))
    for i in range(1, len(parts), 2):  # every second part is a number
        digits = str(parts[i]).lstrip("0")
        parts[i] = len(digits), digits
    return parts, name


def _covering_first(query: str, ranked: Mapping[int, frozenset[str]]) -> list[int]:
    """The ranked sentences that share a term with the query, first those that add one to the sentences before them."""
    query_terms = frozenset(terms(query))
    covered: set[str] = set()
    adding: list[int] = []
    rest: list[int] = []
    for index, term_set in ranked.items():
        shared = query_terms & term_set
        if shared:
            (adding if shared - covered else rest).append(index)
            covered |= shared
    return adding + rest


OVERHEAD = 500
"""Characters that an index counts in addition to its text: a sentence takes 17 KB, a long text 32 bytes a character."""


class IndexCache:
    """A cache of evidence indices by content, so that the same sources are indexed once. Safe to share."""

    def __init__(self, max_characters: int = 4_000_000) -> None:
        """Keep indices of at most `max_characters` of evidence, taken together: about 130 MB by default."""
        self._cache = LruCache[EvidenceIndex](max_characters)

    def get(
        self,
        evidence: Sequence[Evidence],
        count_tokens: CountTokens,
        digest: str,
        options: PremiseOptions | None = None,
    ) -> EvidenceIndex:
        """The index of this evidence, from the cache or new.

        Args:
            evidence: the evidence, in any order.
            count_tokens: the tokenizer of the model.
            digest: the digest of that model, which identifies `count_tokens` in the cache.
            options: how to cut the evidence and how many premises to return.
        """
        options = options or PremiseOptions()
        key = _content_key(evidence, digest, options)
        size = OVERHEAD + sum(len(item.text) for item in evidence)
        return self._cache.get(key, lambda: EvidenceIndex(evidence, count_tokens, options), size)


def _content_key(evidence: Sequence[Evidence], digest: str, options: PremiseOptions) -> bytes:
    """A digest of all that an index depends on."""
    state = hashlib.blake2b(repr((digest, options)).encode(), digest_size=16)
    for item in sorted(evidence, key=lambda e: e.id):
        fields = (item.id, item.title, item.effective_date, len(item.text))
        state.update(repr(fields).encode("utf-8", "surrogatepass"))
        state.update(item.text.encode("utf-8", "surrogatepass"))
    return state.digest()
