"""Finds contradictions between documents without comparing every sentence with every other one (docs/adr/0065).

1. Each sentence of a document in force is compared with sentences of other documents that contain its rarest words,
   through an index in the database with bounded lists.
2. Two sentences have the same topic if the text around them is similar, if their documents are about a name that hardly
   any title contains, or if they share a word that hardly any other document contains: "it was founded in 1967" and "it
   was founded in 1923" can be about two things. Different topics have two documents each of which is about a name that
   the other never mentions, and values of two things that are named. A few pairs of each document are kept, those with
   the most possible contradictions.
3. The network reads each kept pair once, in both directions, and possible contradictions are judged in the same way as
   a check judges a claim from one source against another. The result is stored under the words of both sentences, so
   that only the sentence that changes in a document is judged again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from assay.corpus.reader import unwrap_lines
from assay.corpus.state import STATEMENTS_PER_DOCUMENT, State, StoredStatement, name_hash, text_hash
from assay.guard import Guard, Pair, Statement, what_differs
from assay.retrieve import folded_words
from assay.schema import Evidence, PassageConflict
from assay.text.lexicon import find_words

MAX_RARE_WORDS: Final = 8
"""Rarest words of a sentence that are used to find others."""
MAX_POSTINGS: Final = 64
"""Sentences that are read from the index for one word."""
MAX_MEASURED: Final = 12
"""Sentences of other documents that are compared with one: those with most of its rarest words."""
MAX_PARTNERS: Final = 3
"""Sentences of other documents that are kept for one."""
MIN_SHARED_WEIGHT: Final = 0.35
"""The smallest weighted share of the words of the shorter sentence that the other one must contain."""
MIN_CONTEXT_COSINE: Final = 0.3
"""The cosine of two documents, or of two paragraphs, from which their sentences may have the same topic. Set by hand on
`benchmarks/gate/conflicts.jsonl` mixed with passages on other topics, as are the next two (docs/adr/0065)."""
RARE_WORD_DOCUMENTS: Final = (4, 20, 0.001)
"""The number of documents up to which a word in them indicates one topic: minimum, maximum, share of the corpus."""
MAX_COUNTED_SENTENCES: Final = 400
"""Sentences up to which the documents of a word are counted; a word in more sentences is not rare."""
MIN_SHARED_WORDS: Final = 2
"""Words that two sentences must share for a rare one among them to count."""
MIN_NAME_MENTIONS: Final = 3
"""Sentences that must contain a name for a document with no name in its title to be about that name."""
PAIRS_PER_DOCUMENT: Final = 4
"""Pairs for each document, over all of its sentences, that the network reads."""
FAMILY_LETTERS: Final = 6
"""Initial letters that words of one family share, as in screening."""
PAIRS_PER_BATCH: Final = 24
"""Pairs in one call of the network."""
MAX_CONTEXT_LENGTH: Final = 2_000
"""Characters of the paragraph with which a sentence is judged."""
KEPT_CHECKS: Final = 5
"""Checks for which the judgement of two sentences is kept after one of them is gone."""
_PROMISE: Final = {"value": 0.5, "opposite": 0.35, "negation": 0.3, "name": 0.2, "words": 0.0}
_BATCH: Final = 100

Progress = Callable[[int], None]

ACTIVE: Final = "text IS NOT NULL AND standing = 'in_force' AND repeats IS NULL"
"""The documents whose sentences are compared: those not in force and duplicates cannot contradict others."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    pair: tuple[int, int]
    shared: float
    differs: str

    @property
    def promise(self) -> float:
        return self.shared + _PROMISE[self.differs]


def find_pairs(state: State, progress: Progress) -> None:
    """Find the pairs of sentences to be judged, for the documents that were not compared yet.

    Args:
        state: the corpus.
        progress: called with the number of documents compared since the last call.
    """
    topics = _Topics(state)
    # Documents that were compared meanwhile were not compared with these: they are compared once they are active again.
    state.db.execute(f"UPDATE documents SET compared = 0 WHERE compared = 1 AND NOT ({ACTIVE})")  # noqa: S608 a constant
    inactive = {row[0] for row in state.db.execute(f"SELECT id FROM documents WHERE NOT ({ACTIVE})")}  # noqa: S608
    last = int(state.db.execute("SELECT coalesce(max(id), 0) FROM statements").fetchone()[0])
    while True:
        sql = f"SELECT id FROM documents WHERE compared = 0 AND {ACTIVE} ORDER BY id LIMIT ?"  # noqa: S608 a constant
        pending = state.db.execute(sql, (_BATCH,)).fetchall()
        if not pending:
            return
        for (document,) in pending:
            found: dict[tuple[int, int], _Candidate] = {}
            for one in state.statements_of(document):
                for candidate in _candidates(state, one, inactive, topics, last):
                    found.setdefault(candidate.pair, candidate)
            best = sorted(found.values(), key=lambda one: (-one.promise, one.pair))[:PAIRS_PER_DOCUMENT]
            state.db.executemany(
                "INSERT OR IGNORE INTO pairs (first, second, shared, differs) VALUES (?, ?, ?, ?)",
                [(*one.pair, one.shared, one.differs) for one in best],
            )
            state.db.execute("UPDATE documents SET compared = 1 WHERE id = ?", (document,))
        state.db.commit()
        progress(len(pending))


def _candidates(
    state: State, one: StoredStatement, inactive: set[int], topics: _Topics, last: int
) -> Iterator[_Candidate]:
    """The sentences of other documents that a sentence should be checked against."""
    found_by = [text_hash(stem) for stem in one.value.stems] + [name_hash(name) for name in one.value.names]
    counts = state.counts_of(found_by)
    common = [word for word in found_by if counts[word] > 1]
    shared: dict[int, int] = defaultdict(int)
    for word in sorted(common, key=lambda word: (counts[word], word))[:MAX_RARE_WORDS]:
        for number in _postings_near(state, word, counts[word], one.id, last):
            document = number // STATEMENTS_PER_DOCUMENT
            if document != one.document and document not in inactive:
                shared[number] += 1
    best = sorted(shared, key=lambda number: (-shared[number], number))[:MAX_MEASURED]
    weights = topics.weights(one.value.stems)
    weight = sum(weights.values())
    measured = []
    for number in best:
        other = state.statement(number)
        both = sum(value for stem, value in weights.items() if stem in other.value.stems)
        share = both / (min(weight, sum(topics.weights(other.value.stems).values())) or 1.0)
        if share >= MIN_SHARED_WEIGHT and topics.are_same(one, other):
            measured.append((min(1.0, share), other))
    for share, other in sorted(measured, key=lambda found: (-found[0], found[1].id))[:MAX_PARTNERS]:
        differs = what_differs(one.value, other.value)
        if differs == "value" and _names_another(one.value, other.value):
            continue
        if differs is not None:
            yield _Candidate((min(one.id, other.id), max(one.id, other.id)), share, differs)


def _names_another(one: Statement, other: Statement) -> bool:
    """Whether two sentences both contain names but none in common."""
    return bool(one.names and other.names) and one.names.isdisjoint(other.names)


def _postings_near(state: State, stem: int, count: int, place: int, last: int) -> list[int]:
    """Sentences with a word: all of them, or if there are too many, a range that starts at the sentence's own place."""
    if count <= MAX_POSTINGS:
        return [row[0] for row in state.db.execute("SELECT statement FROM postings WHERE stem = ?", (stem,))]
    found = []
    half = MAX_POSTINGS // 2
    for begin in (max(0, place - half * STATEMENTS_PER_DOCUMENT), text_hash(f"{place}") % (last + 1)):
        rows = state.db.execute(
            "SELECT statement FROM postings WHERE stem = ? AND statement >= ? ORDER BY statement LIMIT ?",
            (stem, begin, half),
        )
        found += [row[0] for row in rows]
    return found


class _Topics:
    """Decides whether sentences of two documents have the same topic, by the surrounding words and their rarity."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.total = int(state.db.execute("SELECT count(*) FROM statements").fetchone()[0])
        least, most, share = RARE_WORD_DOCUMENTS
        self._rare_word_limit = max(least, min(most, int(share * state.count("text IS NOT NULL"))))
        self._documents = lru_cache(maxsize=16_384)(self._count_documents)
        self._context_vector = lru_cache(maxsize=2_048)(self._vector)
        self._titles_with = lru_cache(maxsize=16_384)(self._count_titles)
        self._document_names = lru_cache(maxsize=8_192)(self._names)

    def weights(self, stems: Mapping[str, float]) -> dict[str, float]:
        """The weights of words: their own weight times their rarity."""
        numbers = {stem: text_hash(stem) for stem in stems}
        counts = self._state.counts_of(numbers.values())
        return {stem: value * math.log1p(self.total / max(1, counts[numbers[stem]])) for stem, value in stems.items()}

    def are_same(self, one: StoredStatement, other: StoredStatement) -> bool:
        """Whether two sentences have the same topic."""
        if self.have_different_subjects(one.document, other.document):
            return False
        if any(
            self._titles_with(name) <= self._rare_word_limit for name in self.common_names(one.document, other.document)
        ):
            return True
        shared = [stem for stem in one.value.stems.keys() & other.value.stems.keys() if not stem[0].isdigit()]
        if len(shared) >= MIN_SHARED_WORDS:
            counts = self._state.counts_of([text_hash(stem) for stem in shared])
            rarest, count = min(counts.items(), key=lambda found: (found[1], found[0]))
            if count <= self._rare_word_limit or (
                count <= MAX_COUNTED_SENTENCES and self._documents(rarest) <= self._rare_word_limit
            ):
                return True
        whole = self._context_vector(one.document, None), self._context_vector(other.document, None)
        if _cosine(*whole) >= MIN_CONTEXT_COSINE:
            return True
        return (
            _cosine(self._context_vector(one.document, one.begins), self._context_vector(other.document, other.begins))
            >= MIN_CONTEXT_COSINE
        )

    def have_different_subjects(self, one: int, other: int) -> bool:
        """Whether two documents have different subjects: each is about a name that the other never mentions."""
        (mine, all_mine), (theirs, all_theirs) = self._document_names(one), self._document_names(other)
        return bool(mine - all_theirs) and bool(theirs - all_mine)

    def common_names(self, one: int, other: int) -> list[str]:
        """The names that both documents are about."""
        return sorted(self._document_names(one)[0] & self._document_names(other)[0])

    def _count_titles(self, name: str) -> int:
        """Number of titles that contain a name."""
        sql = "SELECT count(*) FROM titles WHERE titles MATCH ?"
        return int(self._state.db.execute(sql, (f'"{name}"',)).fetchone()[0])

    def _names(self, document: int) -> tuple[frozenset[str], frozenset[str]]:
        """The names that a document is about (those in its title, or its most frequent one), and all names in it."""
        title = frozenset(folded_words(self._state.passage(document).item.title or ""))
        counts = Counter(name for one in self._state.statements_of(document) for name in one.value.names)
        names = frozenset(counts)
        often = frozenset(name for name, count in counts.most_common(1) if count >= MIN_NAME_MENTIONS)
        return (names & title) or often, names | title

    def _count_documents(self, stem: int) -> int:
        """Number of documents that contain a word."""
        sql = f"SELECT count(DISTINCT statement / {STATEMENTS_PER_DOCUMENT}) FROM postings WHERE stem = ?"  # noqa: S608 a constant
        return int(self._state.db.execute(sql, (stem,)).fetchone()[0])

    def _vector(self, document: int, begins: int | None) -> dict[str, float]:
        """The unit vector of word weights of a document, or of one of its paragraphs, with its title."""
        title = self._state.passage(document).item.title or ""
        stems = {word.stem[:FAMILY_LETTERS]: word.weight for word in find_words(title).lexemes if word.weight}
        for one in self._state.statements_of(document):
            if begins is None or one.begins == begins:
                for stem, value in one.value.stems.items():
                    stems[stem] = max(stems.get(stem, 0.0), value)
        weights = self.weights(stems)
        length = math.sqrt(sum(value * value for value in weights.values())) or 1.0
        return {stem: value / length for stem, value in weights.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(value * other[stem] for stem, value in one.items() if stem in other)


def judge_pairs(state: State, guard: Guard, progress: Progress) -> None:
    """Judge the pairs that were not judged yet.

    Args:
        state: the corpus.
        guard: judges the pairs.
        progress: called with the number of pairs judged since the last call.

    Raises:
        VerifierError: the network failed, so whether there are contradictions is not known.
    """
    while True:
        pending = state.db.execute(
            "SELECT first, second, shared, differs FROM pairs WHERE judged IS NULL ORDER BY first, second LIMIT ?",
            (PAIRS_PER_BATCH,),
        ).fetchall()
        if not pending:
            _forget_judgements(state)
            state.db.commit()
            return
        _judge(state, guard, pending)
        state.db.commit()
        progress(len(pending))


def _forget_judgements(state: State) -> None:
    """Remove the judgements that no pair has had in the last `KEPT_CHECKS` checks: of texts that no longer exist."""
    state.db.execute(
        "UPDATE judgements SET seen = ? WHERE key IN (SELECT judged FROM pairs WHERE judged IS NOT NULL)", (state.seen,)
    )
    state.db.execute("DELETE FROM judgements WHERE seen < ?", (state.seen - KEPT_CHECKS,))


def _judge(state: State, guard: Guard, pending: Sequence[tuple[int, int, float, str]]) -> None:
    items: list[Evidence] = []
    keys: list[tuple[bytes, int, int]] = []
    unjudged: list[tuple[bytes, Pair]] = []
    for first, second, shared, differs in pending:
        sides = [_side(state, number) for number in (first, second)]
        key = _key(guard, sides)
        keys.append((key, first, second))
        if state.db.execute("UPDATE judgements SET seen = ? WHERE key = ?", (state.seen, key)).rowcount:
            continue
        values = []
        for item, value in sides:
            values.append(replace(value, passage=len(items)))
            # Each side has an id of its own, since one document can be in several pairs.
            items.append(item.model_copy(update={"id": f"{len(items):06d}"}))
        unjudged.append((key, Pair(values[0], values[1], shared, differs)))
    found: dict[tuple[str, str], PassageConflict] = {}
    if unjudged:
        for one in guard.contradictions([pair for _, pair in unjudged], items):
            found[one.first, one.second] = one
    for key, pair in unjudged:
        conflict = found.get((items[pair.first.passage].id, items[pair.second.passage].id))
        judgement = None if conflict is None else {"score": conflict.score, "found_by": conflict.found_by}
        state.db.execute(
            "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?)",
            (key, None if judgement is None else json.dumps(judgement), state.seen),
        )
    state.db.executemany("UPDATE pairs SET judged = ? WHERE first = ? AND second = ?", keys)


def _side(state: State, number: int) -> tuple[Evidence, Statement]:
    """A sentence, with its paragraph under the title of its document as evidence."""
    one = state.statement(number)
    whole = state.passage(one.document).item
    paragraph = unwrap_lines(whole.text[one.begins : one.ends])
    text = paragraph[one.start : one.start + one.length]
    item = whole.model_copy(update={"text": paragraph})
    if len(paragraph) > MAX_CONTEXT_LENGTH:
        item = whole.model_copy(update={"text": text})
        return item, replace(one.value, text=text, start=0)
    return item, replace(one.value, text=text)


def _key(guard: Guard, sides: Sequence[tuple[Evidence, Statement]]) -> bytes:
    """The key of a judgement: both sentences, the text around them, and the verifier."""
    settings = [guard.verifier.digest, guard.policy.digest]
    settings += [part for item, one in sides for part in (item.title or "", item.text, one.text)]
    return hashlib.sha256(json.dumps(settings).encode()).digest()
