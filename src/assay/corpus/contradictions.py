"""Contradictions between documents, without holding every sentence against every other one (docs/adr/0065).

1. Each sentence of a document in force is compared with those of others that have its rarest words, through an index in
   the database with bounded lists.
2. Two sentences are of one matter where what stands around them is, where their documents are about a name that hardly
   any title has, or where they share a word that hardly any other document has: "it was founded in 1967" and "it was
   founded in 1923" are of two things. So are two documents each of which is about a name that the other never says, and
   values of two things that are named. A few pairs of each document, those in which most can contradict, are kept.
3. The network reads each kept pair once, in both directions, and those that may be a contradiction are judged as a
   check judges a claim of one source beside another. What it came to is kept by the words of both, so that a document
   that changes in one sentence has that one judged again and no other.
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

from assay.corpus.reader import unwrapped
from assay.corpus.state import OF_DOCUMENT, State, StoredStatement, number_of, number_of_name
from assay.guard import Guard, Pair, Statement, what_differs
from assay.retrieve import folded_words
from assay.schema import Evidence, PassageConflict
from assay.text.lexicon import find_words

RAREST: Final = 8
"""Words of a sentence by which others are found."""
POSTINGS: Final = 64
"""Sentences that are looked at for one word."""
MEASURED: Final = 12
"""Sentences of others that are measured for one, those with most of its rarest words."""
PARTNERS: Final = 3
"""Sentences of others that are kept for one."""
OF_ONE_MATTER: Final = 0.35
"""The least share, by weight, of what the one that says less says that the other one says too."""
AROUND: Final = 0.3
"""The cosine of two documents, or of two paragraphs, from which their sentences may be of one matter. Set by hand with
`benchmarks/gate/conflicts.jsonl` among passages of other matters in view, as are the next two (docs/adr/0065)."""
HARDLY_ANY: Final = (4, 20, 0.001)
"""A word that so many documents have, or this share of them, tells of one matter: at least, at most, and the share."""
LOOKED_AT: Final = 400
"""Sentences with a word among which its documents are counted; one that more have is no such word."""
SHARED_WORDS: Final = 2
"""Words that two sentences must share for one of them to tell."""
OFTEN: Final = 3
"""Sentences of a document without a name in its title that have a name for the document to be about it."""
PER_DOCUMENT: Final = 4
"""Pairs of a document that the network reads, over all of its sentences."""
FAMILY: Final = 6
"""Letters by which words are of one family, as in a screening."""
PER_BATCH: Final = 24
"""Pairs that are read in one call of the network."""
CONTEXT: Final = 2_000
"""Characters of a paragraph that a sentence is judged with."""
_PROMISE: Final = {"value": 0.5, "opposite": 0.35, "negation": 0.3, "name": 0.2, "words": 0.0}
_BATCH: Final = 100

Progress = Callable[[int], None]

ACTIVE: Final = "text IS NOT NULL AND standing = 'in_force' AND repeats IS NULL"
"""The documents whose sentences are compared: what is out of force or only repeats contradicts nobody."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    pair: tuple[int, int]
    shared: float
    differs: str

    @property
    def promise(self) -> float:
        return self.shared + _PROMISE[self.differs]


def find_pairs(state: State, progress: Progress) -> None:
    """Find the pairs of sentences that are worth asking about, for the documents that were not compared yet.

    Args:
        state: the corpus.
        progress: called with how many more documents were compared.
    """
    matters = _Matters(state)
    inactive = {row[0] for row in state.db.execute(f"SELECT id FROM documents WHERE NOT ({ACTIVE})")}  # noqa: S608
    last = int(state.db.execute("SELECT coalesce(max(id), 0) FROM statements").fetchone()[0])
    while True:
        sql = f"SELECT id FROM documents WHERE compared = 0 AND {ACTIVE} ORDER BY id LIMIT ?"  # noqa: S608 a constant
        open_ = state.db.execute(sql, (_BATCH,)).fetchall()
        if not open_:
            return
        for (document,) in open_:
            found: dict[tuple[int, int], _Candidate] = {}
            for one in state.statements_of(document):
                for candidate in _candidates(state, one, inactive, matters, last):
                    found.setdefault(candidate.pair, candidate)
            best = sorted(found.values(), key=lambda one: (-one.promise, one.pair))[:PER_DOCUMENT]
            state.db.executemany(
                "INSERT OR IGNORE INTO pairs (first, second, shared, differs) VALUES (?, ?, ?, ?)",
                [(*one.pair, one.shared, one.differs) for one in best],
            )
            state.db.execute("UPDATE documents SET compared = 1 WHERE id = ?", (document,))
        state.db.commit()
        progress(len(open_))


def _candidates(
    state: State, one: StoredStatement, inactive: set[int], matters: _Matters, last: int
) -> Iterator[_Candidate]:
    """The sentences of other documents that one is worth being checked against."""
    found_by = [number_of(stem) for stem in one.value.stems] + [number_of_name(name) for name in one.value.names]
    counts = state.counts_of(found_by)
    common = [word for word in found_by if counts[word] > 1]
    shared: dict[int, int] = defaultdict(int)
    for word in sorted(common, key=lambda word: (counts[word], word))[:RAREST]:
        for number in _near(state, word, counts[word], one.id, last):
            document = number // OF_DOCUMENT
            if document != one.document and document not in inactive:
                shared[number] += 1
    best = sorted(shared, key=lambda number: (-shared[number], number))[:MEASURED]
    weights = matters.weights(one.value.stems)
    weight = sum(weights.values())
    measured = []
    for number in best:
        other = state.statement(number)
        both = sum(value for stem, value in weights.items() if stem in other.value.stems)
        share = both / (min(weight, sum(matters.weights(other.value.stems).values())) or 1.0)
        if share >= OF_ONE_MATTER and matters.is_one(one, other):
            measured.append((min(1.0, share), other))
    for share, other in sorted(measured, key=lambda found: (-found[0], found[1].id))[:PARTNERS]:
        differs = what_differs(one.value, other.value)
        if differs == "value" and _names_another(one.value, other.value):
            continue
        if differs is not None:
            yield _Candidate((min(one.id, other.id), max(one.id, other.id)), share, differs)


def _names_another(one: Statement, other: Statement) -> bool:
    """Whether each of two sentences names somebody or something, and neither what the other one does."""
    return bool(one.names and other.names) and one.names.isdisjoint(other.names)


def _near(state: State, stem: int, count: int, place: int, last: int) -> list[int]:
    """Sentences with a word: all of them, or where there are too many some from a place of the sentence's own on."""
    if count <= POSTINGS:
        return [row[0] for row in state.db.execute("SELECT statement FROM postings WHERE stem = ?", (stem,))]
    found = []
    half = POSTINGS // 2
    for begin in (max(0, place - half * OF_DOCUMENT), number_of(f"{place}") % (last + 1)):
        rows = state.db.execute(
            "SELECT statement FROM postings WHERE stem = ? AND statement >= ? ORDER BY statement LIMIT ?",
            (stem, begin, half),
        )
        found += [row[0] for row in rows]
    return found


class _Matters:
    """Whether sentences of two documents are of one matter, by the words around them and how rare they are."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.total = int(state.db.execute("SELECT count(*) FROM statements").fetchone()[0])
        least, most, share = HARDLY_ANY
        self._hardly_any = max(least, min(most, int(share * state.count("text IS NOT NULL"))))
        self._documents = lru_cache(maxsize=16_384)(self._count_documents)
        self._around = lru_cache(maxsize=2_048)(self._vector)
        self._titled = lru_cache(maxsize=16_384)(self._count_titles)
        self._named = lru_cache(maxsize=8_192)(self._names)

    def weights(self, stems: Mapping[str, float]) -> dict[str, float]:
        """Words by how much they tell: how much they say by themselves, times how rare they are."""
        numbers = {stem: number_of(stem) for stem in stems}
        counts = self._state.counts_of(numbers.values())
        return {stem: value * math.log1p(self.total / max(1, counts[numbers[stem]])) for stem, value in stems.items()}

    def is_one(self, one: StoredStatement, other: StoredStatement) -> bool:
        """Whether two sentences are of one matter."""
        if self.of_two_things(one.document, other.document):
            return False
        if any(self._titled(name) <= self._hardly_any for name in self.on_both(one.document, other.document)):
            return True
        shared = [stem for stem in one.value.stems.keys() & other.value.stems.keys() if not stem[0].isdigit()]
        if len(shared) >= SHARED_WORDS:
            counts = self._state.counts_of([number_of(stem) for stem in shared])
            rarest, count = min(counts.items(), key=lambda found: (found[1], found[0]))
            if count <= self._hardly_any or (count <= LOOKED_AT and self._documents(rarest) <= self._hardly_any):
                return True
        whole = self._around(one.document, None), self._around(other.document, None)
        if _cosine(*whole) >= AROUND:
            return True
        return _cosine(self._around(one.document, one.begins), self._around(other.document, other.begins)) >= AROUND

    def of_two_things(self, one: int, other: int) -> bool:
        """Whether two documents are on two things: each is about a name that the other never says."""
        (mine, all_mine), (theirs, all_theirs) = self._named(one), self._named(other)
        return bool(mine - all_theirs) and bool(theirs - all_mine)

    def on_both(self, one: int, other: int) -> list[str]:
        """The names that two documents are about."""
        return sorted(self._named(one)[0] & self._named(other)[0])

    def _count_titles(self, name: str) -> int:
        """How many titles have a name."""
        sql = "SELECT count(*) FROM titles WHERE titles MATCH ?"
        return int(self._state.db.execute(sql, (f'"{name}"',)).fetchone()[0])

    def _names(self, document: int) -> tuple[frozenset[str], frozenset[str]]:
        """The names that a document is about, those in its title or else the one that it says most often, and all that
        it says."""
        title = frozenset(folded_words(self._state.passage(document).item.title or ""))
        counts = Counter(name for one in self._state.statements_of(document) for name in one.value.names)
        names = frozenset(counts)
        often = frozenset(name for name, count in counts.most_common(1) if count >= OFTEN)
        return (names & title) or often, names | title

    def _count_documents(self, stem: int) -> int:
        """In how many documents a word stands."""
        sql = f"SELECT count(DISTINCT statement / {OF_DOCUMENT}) FROM postings WHERE stem = ?"  # noqa: S608 a constant
        return int(self._state.db.execute(sql, (stem,)).fetchone()[0])

    def _vector(self, document: int, begins: int | None) -> dict[str, float]:
        """The words of a document, or of one paragraph of it, with those of its title; of length 1."""
        title = self._state.passage(document).item.title or ""
        stems = {word.stem[:FAMILY]: word.weight for word in find_words(title).lexemes if word.weight}
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
    """Have the pairs judged that were not yet.

    Args:
        state: the corpus.
        guard: what judges.
        progress: called with how many more pairs were judged.

    Raises:
        VerifierError: the network failed: whether there are contradictions is not known then.
    """
    while True:
        open_ = state.db.execute(
            "SELECT first, second, shared, differs FROM pairs WHERE judged IS NULL ORDER BY first, second LIMIT ?",
            (PER_BATCH,),
        ).fetchall()
        if not open_:
            state.db.execute("DELETE FROM judgements WHERE seen < ?", (state.seen - 5,))  # of texts that are gone
            state.db.commit()
            return
        _judge(state, guard, open_)
        state.db.commit()
        progress(len(open_))


def _judge(state: State, guard: Guard, open_: Sequence[tuple[int, int, float, str]]) -> None:
    items: list[Evidence] = []
    waiting: list[tuple[bytes, Pair]] = []
    for first, second, shared, differs in open_:
        sides = [_side(state, number) for number in (first, second)]
        key = _key(guard, sides)
        state.db.execute("UPDATE pairs SET judged = ? WHERE first = ? AND second = ?", (key, first, second))
        if state.db.execute("UPDATE judgements SET seen = ? WHERE key = ?", (state.seen, key)).rowcount:
            continue
        values = []
        for item, value in sides:
            values.append(replace(value, passage=len(items)))
            items.append(item)
        waiting.append((key, Pair(values[0], values[1], shared, differs)))
    found: dict[tuple[str, int, str, int], PassageConflict] = {}
    if waiting:
        for one in guard.contradictions([pair for _, pair in waiting], items):
            found[one.first, one.first_start, one.second, one.second_start] = one
    for key, pair in waiting:
        judgement = _encoded(pair, items, found)
        state.db.execute("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?)", (key, judgement, state.seen))


def _encoded(
    pair: Pair, items: Sequence[Evidence], found: dict[tuple[str, int, str, int], PassageConflict]
) -> str | None:
    names = items[pair.first.passage].id, items[pair.second.passage].id
    starts = pair.first.start, pair.second.start
    for here, there in ((0, 1), (1, 0)):
        conflict = found.get((names[here], starts[here], names[there], starts[there]))
        if conflict is not None:
            return json.dumps({"score": conflict.score, "found_by": conflict.found_by})
    return None


def _side(state: State, number: int) -> tuple[Evidence, Statement]:
    """A sentence with its paragraph, under the title of its document."""
    one = state.statement(number)
    whole = state.passage(one.document).item
    piece = unwrapped(whole.text[one.begins : one.ends])
    text = piece[one.start : one.start + one.length]
    item = whole.model_copy(update={"text": piece})
    if len(piece) > CONTEXT:
        item = whole.model_copy(update={"text": text})
        return item, replace(one.value, text=text, start=0)
    return item, replace(one.value, text=text)


def _key(guard: Guard, sides: Sequence[tuple[Evidence, Statement]]) -> bytes:
    """Names what is judged: both sentences, what stands around them, and who judges."""
    settings = [guard.verifier.digest, guard.policy.digest]
    settings += [part for item, one in sides for part in (item.title or "", item.text, one.text)]
    return hashlib.sha256(json.dumps(settings).encode()).digest()
